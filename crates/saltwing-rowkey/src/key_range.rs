//! Half-open ranges of encoded keys.

use std::fmt;

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

    /// First key behind the range; `None` when it reaches to the last key.
    pub fn end(&self) -> Option<&[u8]> {
        self.end.as_deref()
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

    /// The physical keys of this range of logical keys in one bucket.
    #[must_use]
    pub fn in_bucket(&self, bucket: u8) -> Self {
        let prefixed = |key: &[u8]| [&[bucket], key].concat();
        let end = match self.end() {
            Some(end) => Some(prefixed(end)),
            None => bucket.checked_add(1).map(|next| vec![next]),
        };
        Self { start: prefixed(&self.start), end }
    }
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
