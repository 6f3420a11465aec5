//! Half-open ranges of encoded keys.

use std::fmt;

use saltwing_types::Direction;
use saltwing_types::text::hex;

/// An encoded key, logical or physical as the place says.
pub type Key = Vec<u8>;

/// Encoded keys from `start`, included, to `end`, excluded.
///
/// Half-open is the only form, so two ranges hold the same keys exactly when
/// they are `==`. "To the last key" is `None`, never an empty key. Ranges are
/// over logical keys until [`KeyRange::in_bucket`] puts a bucket byte in front.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct KeyRange {
    start: Key,
    end: Option<Key>,
}

impl KeyRange {
    /// Returns `None` for a range with no keys in it: an empty scan is decided
    /// by the planner and never reaches a store.
    pub fn new(start: Key, end: Option<Key>) -> Option<Self> {
        match &end {
            Some(end) if *end <= start => None,
            _ => Some(Self { start, end }),
        }
    }

    /// Every key.
    pub fn all() -> Self {
        Self { start: Key::new(), end: None }
    }

    /// One key: [K, K 00).
    pub fn point(key: Key) -> Self {
        let mut end = Key::with_capacity(key.len() + 1);
        end.extend_from_slice(&key);
        end.push(0);
        Self { start: key, end: Some(end) }
    }

    /// First key, included.
    pub fn start(&self) -> &[u8] {
        &self.start
    }

    /// First key after the range; `None` when it reaches to the last key.
    pub fn end(&self) -> Option<&[u8]> {
        self.end.as_deref()
    }

    /// Both: the first key, and the first one after the range.
    pub fn into_bounds(self) -> (Key, Option<Key>) {
        (self.start, self.end)
    }

    /// Whether `key` lies in the range.
    pub fn contains(&self, key: &[u8]) -> bool {
        self.start.as_slice() <= key && self.end().is_none_or(|end| key < end)
    }

    /// Whether this is every key.
    pub fn is_all(&self) -> bool {
        self.start.is_empty() && self.end.is_none()
    }

    /// Whether the range holds one key only, its start.
    pub fn is_point(&self) -> bool {
        self.end().and_then(|end| end.strip_suffix(&[0])) == Some(&self.start)
    }

    /// The keys in both, if any.
    pub fn intersect(&self, other: &Self) -> Option<Self> {
        let end = match (self.end(), other.end()) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        Self::new(self.start().max(other.start()).to_vec(), end.map(<[u8]>::to_vec))
    }

    /// Whether all of the range comes before a key in this direction.
    pub fn is_before(&self, key: &[u8], direction: Direction) -> bool {
        match direction {
            Direction::Forward => self.end().is_some_and(|end| end <= key),
            Direction::Reverse => self.start() > key,
        }
    }

    /// The physical keys of this range of logical keys in one bucket; `None` if the table has no buckets.
    #[must_use]
    pub fn in_bucket(&self, bucket: Option<u8>) -> Self {
        let Some(bucket) = bucket else { return self.clone() };
        let prefixed = |key: &[u8]| [&[bucket], key].concat();
        let end = match self.end() {
            Some(end) => Some(prefixed(end)),
            None => end_of_bucket(bucket),
        };
        Self { start: prefixed(&self.start), end }
    }

    /// The logical keys of what [`KeyRange::in_bucket`] gave.
    #[must_use]
    pub fn out_of_bucket(&self, bucket: Option<u8>) -> Self {
        let Some(bucket) = bucket else { return self.clone() };
        let logical =
            |key: &[u8]| key.split_first().filter(|(first, _)| **first == bucket).map(|(_, key)| key.to_vec());
        Self { start: logical(&self.start).unwrap_or_default(), end: self.end().and_then(logical) }
    }
}

/// The first key after a bucket; `None` for the last one.
pub(crate) fn end_of_bucket(bucket: u8) -> Option<Key> {
    bucket.checked_add(1).map(|next| vec![next])
}

/// `[7800 .. 7801)` in hex, with nothing for an open end.
impl fmt::Display for KeyRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{} .. {})", hex(&self.start), self.end().map(hex).unwrap_or_default())
    }
}

impl fmt::Debug for KeyRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The same keys as sorted, disjoint ranges; those that overlap or touch become one.
pub fn merge_ranges(mut ranges: Vec<KeyRange>) -> Vec<KeyRange> {
    if ranges.len() < 2 {
        return ranges;
    }
    ranges.sort_unstable_by(|a, b| a.start.cmp(&b.start));
    let mut merged: Vec<KeyRange> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match merged.last_mut() {
            Some(last) if last.end().is_none_or(|end| range.start() <= end) => {
                // An open end is largest, so `None` must win: it is smallest as an `Option`.
                if last.end.is_some() && (range.end.is_none() || range.end > last.end) {
                    last.end = range.end;
                }
            }
            _ => merged.push(range),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn range(start: &[u8], end: Option<&[u8]>) -> Option<KeyRange> {
        KeyRange::new(start.to_vec(), end.map(<[u8]>::to_vec))
    }

    fn key() -> impl Strategy<Value = Key> {
        prop::collection::vec(prop::sample::select(vec![0u8, 1, 0x78, 0xff]), 0..4)
    }

    fn ranges() -> impl Strategy<Value = Vec<KeyRange>> {
        let range = (key(), prop::option::weighted(0.9, key())).prop_map(|(start, end)| KeyRange::new(start, end));
        prop::collection::vec(range, 0..6).prop_map(|ranges| ranges.into_iter().flatten().collect())
    }

    #[test]
    fn empty_ranges_do_not_exist() {
        assert_eq!(range(b"b", Some(b"b")), None);
        assert_eq!(range(b"b", Some(b"a")), None);
        assert_eq!(range(b"", Some(b"")), None);
        assert_eq!(range(b"", None), Some(KeyRange::all()));
        assert!(KeyRange::all().is_all());
    }

    #[test]
    fn points() {
        let point = KeyRange::point(b"x".to_vec());
        assert!(point.is_point() && point.contains(b"x") && !point.contains(b"x\0") && !point.contains(b"w"));
        assert_eq!(point.to_string(), "[78 .. 7800)");
        let others = [range(b"x", Some(b"x\x01")), range(b"x", Some(b"y")), range(b"x", None), range(b"", None)];
        assert!(others.iter().flatten().all(|range| !range.is_point()));
        assert!(KeyRange::point(Key::new()).is_point());
    }

    #[test]
    fn buckets_are_apart() {
        assert_eq!(KeyRange::all().in_bucket(Some(0)).to_string(), "[00 .. 01)");
        assert_eq!(KeyRange::all().in_bucket(Some(255)).to_string(), "[ff .. )");
        assert_eq!(KeyRange::point(b"x".to_vec()).in_bucket(Some(3)).to_string(), "[0378 .. 037800)");
    }

    proptest! {
        #[test]
        fn what_was_put_into_a_bucket_comes_out(range in ranges(), bucket: u8) {
            for range in range {
                prop_assert_eq!(range.in_bucket(Some(bucket)).out_of_bucket(Some(bucket)), range);
            }
        }

        #[test]
        fn intersection_and_merge_keep_the_keys(all in ranges(), keys in prop::collection::vec(key(), 20)) {
            let merged = merge_ranges(all.clone());
            for key in &keys {
                let inside = all.iter().any(|range| range.contains(key));
                prop_assert_eq!(merged.iter().any(|range| range.contains(key)), inside);
                for (a, b) in all.iter().zip(all.iter().skip(1)) {
                    let both = a.intersect(b).is_some_and(|range| range.contains(key));
                    prop_assert_eq!(both, a.contains(key) && b.contains(key));
                }
            }
            for pair in merged.windows(2) {
                let gap = matches!(pair, [a, b] if a.end().is_some_and(|end| end < b.start()));
                prop_assert!(gap, "{:?}", merged);
            }
        }
    }
}
