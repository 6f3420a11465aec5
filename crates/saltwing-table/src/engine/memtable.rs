//! The ordered map of a delta: most comparisons use the first bytes of keys, stored inline.
//!
//! Longer keys are on the heap, each in its own allocation, and a search would miss the cache for each comparison. So a
//! key's first bytes are stored as numbers next to its pointer, and decide the comparison if they differ.

use std::cmp::Ordering;
use std::ops::Bound;

use equivalent::{Comparable, Equivalent};
use imbl::OrdMap;
use saltwing_store::Bytes;

use crate::format::stored_row::{RecentRow, StoredRow};

/// Row keys to rows; `None` is a row that was deleted. A copy costs a reference count, and never changes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Delta(OrdMap<DeltaKey, Option<StoredRow>>);

/// The first bytes of a key as numbers; missing bytes are zero, which keeps the order. Adjacent rows often differ only
/// after a common prefix: in a time after a name, for example.
type Head = [u64; HEAD_NUMBERS];

const HEAD_NUMBERS: usize = 3;

fn head_of(key: &[u8]) -> Head {
    let mut bytes = [0; 8 * HEAD_NUMBERS];
    match key.first_chunk() {
        Some(first) => bytes = *first,
        None => bytes.iter_mut().zip(key).for_each(|(to, from)| *to = *from),
    }
    let (numbers, _) = bytes.as_chunks();
    std::array::from_fn(|i| numbers.get(i).map_or(0, |number| u64::from_be_bytes(*number)))
}

/// A key of the map. Its order is that of the key: heads order as keys do, but for equal ones.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct DeltaKey {
    head: Head,
    key: Bytes,
}

/// A key that is looked for.
struct LookupKey<'k> {
    head: Head,
    key: &'k [u8],
}

impl<'k> LookupKey<'k> {
    fn new(key: &'k [u8]) -> Self {
        Self { head: head_of(key), key }
    }
}

impl Equivalent<DeltaKey> for LookupKey<'_> {
    fn equivalent(&self, key: &DeltaKey) -> bool {
        self.compare(key).is_eq()
    }
}

impl Comparable<DeltaKey> for LookupKey<'_> {
    fn compare(&self, key: &DeltaKey) -> Ordering {
        self.head.cmp(&key.head).then_with(|| self.key.cmp(&key.key))
    }
}

impl Delta {
    /// The row of a key, or its deletion; `None` if the memtable does not have the key.
    pub(crate) fn get(&self, key: &[u8]) -> Option<&Option<StoredRow>> {
        self.0.get(&LookupKey::new(key))
    }

    pub(crate) fn contains(&self, key: &[u8]) -> bool {
        self.0.contains_key(&LookupKey::new(key))
    }

    /// Inserts a row, or replaces the existing one.
    pub(crate) fn insert(&mut self, key: Bytes, row: Option<StoredRow>) {
        self.0.insert(DeltaKey { head: head_of(&key), key }, row);
    }

    /// The delta after these rows, in the order of their commits: of several of one key the last one counts.
    ///
    /// They are sorted first: a map takes ascending keys several times as fast as keys that lead it to another place each.
    pub(crate) fn of_commits(rows: impl IntoIterator<Item = RecentRow>) -> Self {
        let keyed = |(key, row): RecentRow| (DeltaKey { head: head_of(&key), key }, row);
        let mut rows: Vec<_> = rows.into_iter().map(keyed).collect();
        rows.sort_by(|(a, _), (b, _)| a.cmp(b));
        Self(rows.into_iter().collect())
    }

    /// The rows from `start`, included, to `end`, in key order; also from their end on.
    pub(crate) fn range(
        &self,
        start: &[u8],
        end: Option<&[u8]>,
    ) -> impl DoubleEndedIterator<Item = (&Bytes, &Option<StoredRow>)> {
        let end = end.map_or(Bound::Unbounded, |end| Bound::Excluded(LookupKey::new(end)));
        self.0.range((Bound::Included(LookupKey::new(start)), end)).map(|(key, row)| (&key.key, row))
    }

    /// All rows in key order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Bytes, &Option<StoredRow>)> {
        self.0.iter().map(|(key, row)| (&key.key, row))
    }

    /// The greatest key.
    pub(crate) fn last_key(&self) -> Option<&Bytes> {
        self.0.get_max().map(|(key, _)| &key.key)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Bytes of a row of a delta, its key included.
pub(crate) fn row_bytes((key, row): (&Bytes, &Option<StoredRow>)) -> u64 {
    (key.len() + row.as_ref().map_or(0, |row| row.0.len())) as u64
}

impl FromIterator<(Bytes, Option<StoredRow>)> for Delta {
    fn from_iter<I: IntoIterator<Item = (Bytes, Option<StoredRow>)>>(rows: I) -> Self {
        Self(rows.into_iter().map(|(key, row)| (DeltaKey { head: head_of(&key), key }, row)).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    /// Short keys, and long ones that differ at their ends.
    fn key() -> impl Strategy<Value = Vec<u8>> {
        let bytes = || prop_oneof![Just(0u8), Just(1), Just(255)];
        prop_oneof![
            prop::collection::vec(bytes(), 0..6),
            (13..17usize, prop::collection::vec(bytes(), 0..4)).prop_map(|(n, end)| [&vec![1; n][..], &end].concat()),
        ]
    }

    proptest! {
        #[test]
        fn a_delta_is_a_map_in_key_order(
            keys in prop::collection::vec((key(), any::<u8>()), 0..200),
            start in key(),
            end in proptest::option::of(key()),
            at_once: bool,
        ) {
            let (start, end) = match end {
                Some(end) if end < start => (end, Some(start)),
                Some(end) if end == start => (start, None),
                end => (start, end),
            };
            let row = |mark: u8| (mark > 50).then(|| StoredRow(Bytes::from(&[mark])));
            let (mut delta, mut model) = (Delta::default(), BTreeMap::new());
            if at_once {
                delta = Delta::of_commits(keys.iter().map(|(key, mark)| (Bytes::new(key), row(*mark))));
            }
            for (key, mark) in keys {
                if !at_once {
                    delta.insert(Bytes::new(&key), row(mark));
                }
                model.insert(key, row(mark));
            }
            let same = |(key, row): (&Bytes, &Option<StoredRow>)| (key.to_vec(), row.clone());
            let inside = model.iter().filter(|(key, _)| **key >= start && end.as_ref().is_none_or(|end| *key < end));
            let wanted: Vec<_> = inside.map(|(key, row)| (key.clone(), row.clone())).collect();
            let mut found: Vec<_> = delta.range(&start, end.as_deref()).rev().map(same).collect();
            found.reverse();
            prop_assert_eq!(&found, &wanted);
            prop_assert_eq!(delta.range(&start, end.as_deref()).map(same).collect::<Vec<_>>(), wanted);
            prop_assert_eq!(delta.get(&start), model.get(&start));
            prop_assert_eq!(delta.contains(&start), model.contains_key(&start));
            prop_assert_eq!(delta.last_key().map(|key| key.to_vec()), model.keys().next_back().cloned());
            prop_assert_eq!(delta.iter().map(same).collect::<Vec<_>>(), model.into_iter().collect::<Vec<_>>());
        }
    }
}
