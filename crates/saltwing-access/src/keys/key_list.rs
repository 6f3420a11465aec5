//! Row keys that are looked up together.

use std::ops::Range;
use std::sync::Arc;

use saltwing_plan::ScanRange;
use saltwing_rowkey::KeyRange;
use saltwing_types::Direction;

use crate::Table;

/// Physical row keys, ascending, each once.
#[derive(Debug, PartialEq, Eq)]
pub struct KeyList {
    bucket_bytes: usize,
    /// The keys, one after the other.
    bytes: Vec<u8>,
    /// Where each stands, in key order.
    places: Vec<Range<usize>>,
}

impl KeyList {
    /// The key of each of some rows, with `bucket_bytes` bytes in front that say the bucket. `write` adds the key of a row to the
    /// bytes of those before it; `None` if it fails.
    pub fn new<T>(
        bucket_bytes: usize,
        rows: impl ExactSizeIterator<Item = T>,
        mut write: impl FnMut(T, &mut Vec<u8>) -> Option<()>,
    ) -> Option<Self> {
        const KEY_BYTES_EXPECTED: usize = 32;
        let mut bytes = Vec::with_capacity(rows.len() * KEY_BYTES_EXPECTED);
        let mut places = Vec::with_capacity(rows.len());
        for row in rows {
            let start = bytes.len();
            write(row, &mut bytes)?;
            places.push(start..bytes.len());
        }
        Some(Self::sorted(bucket_bytes, bytes, places))
    }

    /// These physical keys of a table.
    pub(crate) fn of(table: &Table, keys: &[Vec<u8>]) -> Self {
        let ends = keys.iter().scan(0, |end, key| {
            *end += key.len();
            Some(*end - key.len()..*end)
        });
        Self::sorted(table.codec().bucket_bytes(), keys.concat(), ends.collect())
    }

    fn sorted(bucket_bytes: usize, bytes: Vec<u8>, mut places: Vec<Range<usize>>) -> Self {
        let key = |place: &Range<usize>| bytes.get(place.clone()).unwrap_or_default();
        places.sort_unstable_by(|a, b| key(a).cmp(key(b)));
        places.dedup_by(|a, b| key(a) == key(b));
        Self { bucket_bytes, bytes, places }
    }

    fn key(&self, index: usize) -> &[u8] {
        self.places.get(index).and_then(|place| self.bytes.get(place.clone())).unwrap_or_default()
    }

    /// A key without its bucket.
    fn logical(&self, index: usize) -> &[u8] {
        self.key(index).get(self.bucket_bytes..).unwrap_or_default()
    }

    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// The keys as ranges, in the order of the physical keys.
    pub(super) fn scan_ranges(&self) -> impl Iterator<Item = ScanRange> {
        (0..self.len()).map(|index| ScanRange {
            range: KeyRange::point(self.logical(index).to_vec()),
            bucket: self.key(index).first().copied().filter(|_| self.bucket_bytes > 0),
        })
    }

    /// How many of some keys, ascending, are those that `is_before` holds for.
    fn count_before(&self, keys: &Range<usize>, is_before: impl Fn(&[u8]) -> bool) -> usize {
        let places = self.places.get(keys.clone()).unwrap_or_default();
        places.partition_point(|place| is_before(self.bytes.get(place.clone()).unwrap_or_default()))
    }

    /// The buckets that the keys lie in, ascending; `None` if the table has none.
    pub(super) fn buckets(&self) -> Option<Vec<u8>> {
        if self.bucket_bytes == 0 {
            return None;
        }
        let mut buckets: Vec<u8> =
            (0..self.places.len()).filter_map(|index| self.key(index).first().copied()).collect();
        buckets.dedup();
        Some(buckets)
    }
}

/// Keys of a bucket that were not taken yet.
#[derive(Debug)]
pub(super) struct KeyWalk {
    list: Arc<KeyList>,
    keys: Range<usize>,
    direction: Direction,
}

impl KeyWalk {
    pub(super) fn new(list: &Arc<KeyList>, bucket: Option<u8>, direction: Direction) -> Self {
        let all = 0..list.places.len();
        let keys = match bucket {
            None => all,
            Some(bucket) => {
                let first = |key: &[u8]| key.first().copied().unwrap_or(0);
                let start = list.count_before(&all, |key| first(key) < bucket);
                start..start + list.count_before(&(start..all.end), |key| first(key) == bucket)
            }
        };
        Self { list: list.clone(), keys, direction }
    }

    fn next_index(&mut self) -> Option<usize> {
        match self.direction {
            Direction::Forward => self.keys.next(),
            Direction::Reverse => self.keys.next_back(),
        }
    }

    pub(super) fn next(&mut self) -> Option<KeyRange> {
        let index = self.next_index()?;
        Some(KeyRange::point(self.list.logical(index).to_vec()))
    }

    /// Adds the next key to `out`; whether there was one.
    pub(super) fn take(&mut self, out: &mut Vec<u8>) -> bool {
        let Some(index) = self.next_index() else { return false };
        out.extend_from_slice(self.list.logical(index));
        true
    }

    pub(super) fn skip_to(&mut self, key: &[u8]) {
        let logical = |stored: &'_ [u8]| stored.get(self.list.bucket_bytes..).unwrap_or_default().cmp(key);
        match self.direction {
            Direction::Forward => {
                self.keys.start += self.list.count_before(&self.keys, |stored| logical(stored).is_lt())
            }
            Direction::Reverse => {
                self.keys.end = self.keys.start + self.list.count_before(&self.keys, |stored| logical(stored).is_le());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::keys::{RangeForm, RangeIter};

    fn list(keys: &[Vec<u8>], bucket_bytes: usize) -> KeyList {
        let write = |key: &Vec<u8>, out: &mut Vec<u8>| {
            out.extend_from_slice(key);
            Some(())
        };
        KeyList::new(bucket_bytes, keys.iter(), write).unwrap()
    }

    proptest! {
        #[test]
        fn keys_come_once_and_in_order(
            keys in prop::collection::vec(prop::collection::vec(0u8..4, 1..4), 0..20),
            reverse: bool,
            skip in prop::option::of((0usize..4, prop::collection::vec(0u8..4, 0..4))),
        ) {
            let direction = if reverse { Direction::Reverse } else { Direction::Forward };
            let all: BTreeSet<Vec<u8>> = keys.iter().cloned().collect();
            for bucket_bytes in [0, 1] {
                let list = Arc::new(list(&keys, bucket_bytes));
                let of = |bucket: Option<u8>| RangeIter::of(&RangeForm::Keys(list.clone()), bucket, direction);
                let buckets: BTreeSet<u8> = all.iter().map(|key| key[0]).collect();
                let buckets = (bucket_bytes == 1).then(|| buckets.into_iter().collect::<Vec<_>>());
                prop_assert_eq!(&list.buckets(), &buckets);
                for bucket in buckets.map_or(vec![None], |known| (0..5).map(Some).chain(known.into_iter().map(Some)).collect()) {
                    let own = all.iter().filter(|key| bucket.is_none_or(|bucket| key[0] == bucket));
                    let mut wanted: Vec<Vec<u8>> = own.map(|key| key[bucket_bytes..].to_vec()).collect();
                    if reverse {
                        wanted.reverse();
                    }
                    let ranges: Vec<KeyRange> = of(bucket).collect();
                    prop_assert_eq!(&ranges, &wanted.iter().cloned().map(KeyRange::point).collect::<Vec<_>>());
                    // By turns, and after a place.
                    let (mut walk, mut found) = (of(bucket), Vec::new());
                    let mut skip = skip.clone();
                    let mut key = Vec::new();
                    loop {
                        if let Some((_, place)) = skip.take_if(|(after, _)| *after == found.len()) {
                            walk.skip_to(&place);
                            let is_after = |key: &Vec<u8>| if reverse { *key <= place } else { *key >= place };
                            let passed = found.len();
                            wanted = wanted.into_iter().enumerate().filter(|(i, key)| *i < passed || is_after(key)).map(|(_, key)| key).collect();
                        }
                        key.clear();
                        let taken = match found.len() % 2 {
                            0 => walk.take_key(&mut key).then(|| key.clone()),
                            _ => walk.next().map(|range| range.start().to_vec()),
                        };
                        let Some(taken) = taken else { break };
                        found.push(taken);
                    }
                    prop_assert_eq!(found, wanted);
                }
            }
        }
    }

    #[test]
    fn a_key_that_cannot_be_written_is_no_list() {
        assert_eq!(KeyList::new(0, [1, 2].iter(), |row, _| (*row == 1).then_some(())), None);
    }
}
