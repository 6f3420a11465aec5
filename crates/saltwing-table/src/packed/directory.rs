//! A table's directory: which block owns which keys.
//!
//! # Invariants
//! 1. Fences ascend, and the first is empty: entry i owns the keys from its fence to the next one.
//! 2. All keys of an entry's block lie among those that it owns.
//! 3. An entry that is not dirty has no row in a delta of any reader that got the directory: its block alone is true.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use saltwing_store::Bytes;
use saltwing_types::TableId;

use super::bits::Reader;
use super::block_ref::{BlockRef, Shelf, Summary};
use super::far::Far;
use super::zone::{Bounds, Zone};

/// Flags of a column's smallest and largest value: one is NULL; there are such; they take 16 bytes, else 8.
const HAS_NULL: u8 = 1;
const HAS_BOUNDS: u8 = 2;
const HAS_WIDE: u8 = 4;

/// One block and the keys that it owns.
pub(crate) struct Entry {
    pub(crate) fence: Bytes,
    /// `None` only in the first entry, when no block is there for the first keys.
    pub(crate) block: Option<Arc<BlockRef>>,
    dirty: AtomicBool,
}

impl Entry {
    pub(crate) fn new(fence: Bytes, block: Option<Arc<BlockRef>>, dirty: bool) -> Self {
        Self { fence, block, dirty: AtomicBool::new(dirty) }
    }

    /// Whether a delta may have a row of this entry. Read where the row map was taken: a write says so before
    /// its row can be in a map.
    pub(crate) fn is_dirty(&self) -> bool {
        self.dirty.load(Relaxed)
    }

    pub(crate) fn mark_dirty(&self) {
        self.dirty.store(true, Relaxed);
    }
}

/// The blocks of one table in key order. It never changes, but for what is dirty.
pub(crate) struct Directory {
    entries: Vec<Arc<Entry>>,
    /// The first bytes of each fence as a number: most look-ups need no more.
    heads: Vec<u128>,
    rows: u64,
}

/// The first bytes of a key; what is missing is zero, so that order is kept. Half as many would not do: keys of a bucket
/// often begin with the same letters or digits.
fn head(key: &[u8]) -> u128 {
    let mut bytes = [0; 16];
    match key.first_chunk() {
        Some(first) => bytes = *first,
        None => bytes.iter_mut().zip(key).for_each(|(to, from)| *to = *from),
    }
    u128::from_be_bytes(bytes)
}

impl Default for Directory {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

impl Directory {
    /// A directory of entries with ascending fences.
    pub(crate) fn new(mut entries: Vec<Arc<Entry>>) -> Self {
        if entries.first().is_none_or(|first| !first.fence.is_empty()) {
            entries.insert(0, Arc::new(Entry::new(Bytes::default(), None, false)));
        }
        let rows = entries.iter().filter_map(|e| e.block.as_ref()).map(|b| u64::from(b.summary.rows)).sum();
        let heads = entries.iter().map(|entry| head(&entry.fence)).collect();
        Self { entries, heads, rows }
    }

    pub(crate) fn entries(&self) -> &[Arc<Entry>] {
        &self.entries
    }

    /// Rows in blocks.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// The entry that owns a key.
    pub(crate) fn floor(&self, key: &[u8]) -> usize {
        self.count_before(key, |fence| *fence <= *key).saturating_sub(1)
    }

    /// The last entry that owns a key below `end`; `None` is above all keys.
    pub(crate) fn last_below(&self, end: Option<&[u8]>) -> usize {
        let count = end.map_or(self.entries.len(), |end| self.count_before(end, |fence| *fence < *end));
        count.saturating_sub(1)
    }

    /// How many fences, which are those that `is_before` holds for, come before a key.
    fn count_before(&self, key: &[u8], is_before: impl Fn(&[u8]) -> bool) -> usize {
        let wanted = head(key);
        let start = self.heads.partition_point(|head| *head < wanted);
        let same = self.heads.get(start..).unwrap_or_default().partition_point(|head| *head == wanted);
        let entries = self.entries.get(start..start + same).unwrap_or_default();
        start + entries.partition_point(|entry| is_before(&entry.fence))
    }

    pub(crate) fn entry(&self, index: usize) -> Option<&Arc<Entry>> {
        self.entries.get(index)
    }

    /// The first key that an entry does not own any more.
    pub(crate) fn end(&self, index: usize) -> Option<&Bytes> {
        self.entries.get(index + 1).map(|next| &next.fence)
    }
}

impl Summary {
    /// The directory entry of a block that names these values, as stored.
    pub(super) fn write(&self, id: u64, far: &[u64]) -> Vec<u8> {
        let mut out = Vec::with_capacity(64);
        out.extend_from_slice(&id.to_le_bytes());
        out.extend_from_slice(&self.rows.to_le_bytes());
        out.extend_from_slice(&self.bytes.to_le_bytes());
        out.extend_from_slice(&self.times_ms.0.to_le_bytes());
        out.extend_from_slice(&self.times_ms.1.to_le_bytes());
        out.extend_from_slice(&(self.last_key.len() as u16).to_le_bytes());
        out.extend_from_slice(&self.last_key);
        out.push(self.families.len() as u8);
        out.extend_from_slice(&self.families);
        out.extend_from_slice(&(self.zones.len() as u16).to_le_bytes());
        for (family, zone) in &self.zones {
            out.push(*family);
            out.extend_from_slice(&zone.slot.to_le_bytes());
            let has_null = if zone.has_null { HAS_NULL } else { 0 };
            match &zone.bounds {
                None => out.push(has_null),
                Some(Bounds::Narrow(min, max)) => {
                    out.push(has_null | HAS_BOUNDS);
                    out.extend_from_slice(&min.to_le_bytes());
                    out.extend_from_slice(&max.to_le_bytes());
                }
                Some(Bounds::Wide(bounds)) => {
                    out.push(has_null | HAS_BOUNDS | HAS_WIDE);
                    out.extend_from_slice(&bounds.0.to_le_bytes());
                    out.extend_from_slice(&bounds.1.to_le_bytes());
                }
            }
        }
        out.extend_from_slice(&(far.len() as u32).to_le_bytes());
        far.iter().for_each(|id| out.extend_from_slice(&id.to_le_bytes()));
        super::bits::seal(out)
    }

    fn read(bytes: &[u8]) -> Option<(u64, Self, Vec<u64>)> {
        let mut reader = Reader::checked(bytes)?;
        let (id, rows, bytes) = (reader.u64()?, reader.u32()?, reader.u32()?);
        let times_ms = (reader.i64()?, reader.i64()?);
        let key_bytes = reader.u16()?;
        let last_key = Bytes::from(reader.bytes(key_bytes.into())?);
        let family_count = reader.u8()?;
        let families = reader.bytes(family_count.into())?.to_vec();
        let zone_count = reader.u16()?;
        let mut zones = Vec::with_capacity(zone_count.into());
        for _ in 0..zone_count {
            let (family, slot, flags) = (reader.u8()?, reader.u16()?, reader.u8()?);
            let bounds = match flags & (HAS_BOUNDS | HAS_WIDE) {
                0 => None,
                HAS_BOUNDS => Some(Bounds::Narrow(reader.u64()?, reader.u64()?)),
                _ => Some(Bounds::Wide(Box::new((reader.u128()?, reader.u128()?)))),
            };
            zones.push((family, Zone { slot, bounds, has_null: flags & HAS_NULL != 0 }));
        }
        let far_count = reader.u32()?;
        let far = (0..far_count).map_while(|_| reader.u64()).collect();
        reader.is_at_end().then_some((id, Self { rows, bytes, last_key, times_ms, families, zones }, far))
    }
}

impl Entry {
    /// An entry as stored; `None` when the bytes are none.
    pub(super) fn read(table: TableId, fence: &[u8], bytes: &[u8], shelf: &Arc<Shelf>) -> Option<Self> {
        let (id, summary, far) = Summary::read(bytes)?;
        let far = far.into_iter().map(|id| Arc::new(Far::new(id, table, shelf.clone()))).collect();
        let block = Arc::new(BlockRef::new(id, table, summary, far, shelf.clone()));
        Some(Self::new(Bytes::from(fence), Some(block), false))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Short keys, and long ones that differ at their ends.
    fn key() -> impl Strategy<Value = Vec<u8>> {
        let bytes = || prop_oneof![Just(0u8), Just(1), Just(255)];
        prop_oneof![
            prop::collection::vec(bytes(), 0..11),
            prop::collection::vec(bytes(), 0..5).prop_map(|end| [&[1; 14], &end[..]].concat()),
        ]
    }

    proptest! {
        #[test]
        fn look_ups_find_the_owner(fences in prop::collection::btree_set(key(), 0..30), key in key()) {
            let entry = |fence: &Vec<u8>| Arc::new(Entry::new(Bytes::from(fence), None, false));
            let directory = Directory::new(fences.iter().map(entry).collect());
            let last = |holds: &dyn Fn(&[u8]) -> bool| {
                directory.entries().iter().rposition(|entry| holds(&entry.fence)).unwrap_or(0)
            };
            prop_assert_eq!(directory.floor(&key), last(&|fence| *fence <= *key));
            prop_assert_eq!(directory.last_below(Some(&key)), last(&|fence| *fence < *key));
            prop_assert_eq!(directory.last_below(None), directory.entries().len() - 1);
        }
    }

    #[test]
    fn a_summary_reads_as_it_was_written() {
        let zone = |slot, bounds| Zone { slot, bounds, has_null: slot == 1 };
        let summary = Summary {
            rows: 256,
            bytes: 1000,
            last_key: Bytes::from(b"last key of more than twenty bytes"),
            times_ms: (-1, i64::MAX),
            families: vec![0, 2],
            zones: vec![
                (0, zone(0, Some(Bounds::Narrow(0, 5)))),
                (2, zone(1, None)),
                (2, zone(3, Some(Bounds::Wide(Box::new((7, u128::MAX)))))),
            ],
        };
        let stored = summary.write(7, &[9, u64::MAX]);
        assert_eq!(Summary::read(&stored), Some((7, summary, vec![9, u64::MAX])));
        for at in 0..stored.len() {
            assert_eq!(Summary::read(&stored[..at]), None);
        }
    }
}
