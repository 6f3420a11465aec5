//! Which keys a cursor walks, and which way.

use std::ops::Bound;

use saltwing_types::Direction;

/// Keys from `start`, included, to `end`, excluded.
///
/// Half-open is the only form. An empty `start` is the first key there can be;
/// "to the last key" is an `end` of `None`. Bounds without a key in them are
/// legal, and a cursor over them is at its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyBounds {
    start: Vec<u8>,
    end: Option<Vec<u8>>,
}

impl KeyBounds {
    /// Every key of a space.
    pub fn all() -> Self {
        Self { start: Vec::new(), end: None }
    }

    /// The keys `k` with `start <= k`, and `k < end` where there is an end.
    pub fn new(start: impl Into<Vec<u8>>, end: Option<Vec<u8>>) -> Self {
        Self { start: start.into(), end }
    }

    /// The keys that begin with `prefix`.
    ///
    /// The end is the prefix with its last byte below `ff` raised and the rest
    /// cut: `61 ff` ends before `62`; a prefix of `ff` only has no end.
    pub fn prefix(prefix: &[u8]) -> Self {
        let end =
            prefix.iter().rposition(|&byte| byte < 0xff).map(|last| [&prefix[..last], &[prefix[last] + 1]].concat());
        Self { start: prefix.to_vec(), end }
    }

    /// The smallest key inside, or empty for no lower limit.
    pub fn start(&self) -> &[u8] {
        &self.start
    }

    /// The smallest key beyond, or `None` for no upper limit.
    pub fn end(&self) -> Option<&[u8]> {
        self.end.as_deref()
    }

    /// Whether no key can be inside.
    pub fn is_empty(&self) -> bool {
        self.end.as_ref().is_some_and(|end| *end <= self.start)
    }

    /// Whether `key` is inside.
    pub fn contains(&self, key: &[u8]) -> bool {
        self.start.as_slice() <= key && self.end.as_ref().is_none_or(|end| key < end.as_slice())
    }

    /// These bounds as the standard library's, for a store whose keys are not
    /// empty and have at most `key_bytes_max` bytes.
    ///
    /// A limit longer than any key is cut, because some stores refuse (or panic
    /// on) such keys in bounds too. With P the first `key_bytes_max` bytes of a
    /// longer limit L, only P itself lies between "after P" and "from L on". So
    /// `k >= L` is `k > P`, and `k < L` is `k <= P`.
    ///
    /// The pair may be inverted when the bounds are empty: ask [`Self::is_empty`]
    /// before it goes to a map that panics on that.
    pub fn limits(&self, key_bytes_max: usize) -> (Bound<&[u8]>, Bound<&[u8]>) {
        let start = match self.start.get(..key_bytes_max) {
            Some(cut) if self.start.len() > key_bytes_max => Bound::Excluded(cut),
            _ if self.start.is_empty() => Bound::Unbounded,
            _ => Bound::Included(&self.start[..]),
        };
        let end = match &self.end {
            None => Bound::Unbounded,
            Some(end) if end.len() > key_bytes_max => Bound::Included(&end[..key_bytes_max]),
            Some(end) => Bound::Excluded(&end[..]),
        };
        (start, end)
    }

    /// Removes the keys before `key` in `direction`; `key` itself stays.
    pub fn skip_to(&mut self, key: &[u8], direction: Direction) {
        match direction {
            Direction::Forward => self.raise_start(key),
            Direction::Reverse => self.lower_end(&after(key)),
        }
    }

    /// Leaves out `key` too.
    pub fn skip_past(&mut self, key: &[u8], direction: Direction) {
        match direction {
            Direction::Forward => self.raise_start(&after(key)),
            Direction::Reverse => self.lower_end(key),
        }
    }

    fn raise_start(&mut self, key: &[u8]) {
        if key > self.start.as_slice() {
            self.start = key.to_vec();
        }
    }

    fn lower_end(&mut self, key: &[u8]) {
        if self.end.as_ref().is_none_or(|end| key < end.as_slice()) {
            self.end = Some(key.to_vec());
        }
    }
}

/// The smallest key above `key`.
fn after(key: &[u8]) -> Vec<u8> {
    [key, &[0]].concat()
}

#[cfg(test)]
mod tests {
    use std::ops::RangeBounds;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::{Direction, KeyBounds};

    fn short_key() -> impl Strategy<Value = Vec<u8>> {
        vec(prop_oneof![Just(0u8), Just(1), Just(0xfe), Just(0xff)], 0..5)
    }

    proptest! {
        #[test]
        fn limits_hold_the_same_keys(
            start in short_key(),
            end in proptest::option::of(short_key()),
            key in vec(prop_oneof![Just(0u8), Just(1), Just(0xfe), Just(0xff)], 1..4),
        ) {
            let bounds = KeyBounds::new(start, end);
            let limits = bounds.limits(3);
            prop_assert_eq!(RangeBounds::<[u8]>::contains(&limits, &key[..]), bounds.contains(&key));
            prop_assert!(!(bounds.is_empty() && bounds.contains(&key)));
        }

        #[test]
        fn skips_leave_out_what_is_passed_and_nothing_else(
            start in short_key(),
            end in proptest::option::of(short_key()),
            to in short_key(),
            key in short_key(),
            reverse: bool,
        ) {
            let direction = if reverse { Direction::Reverse } else { Direction::Forward };
            let bounds = KeyBounds::new(start, end);
            let (mut from, mut after) = (bounds.clone(), bounds.clone());
            from.skip_to(&to, direction);
            after.skip_past(&to, direction);
            prop_assert_eq!(from.contains(&key), bounds.contains(&key) && !direction.is_before(&key, &to));
            prop_assert_eq!(after.contains(&key), bounds.contains(&key) && direction.is_before(&to, &key));
        }

        #[test]
        fn prefix_bounds_hold_exactly_the_keys_with_it(prefix in short_key(), key in short_key()) {
            prop_assert_eq!(KeyBounds::prefix(&prefix).contains(&key), key.starts_with(&prefix));
        }
    }
}
