//! A table's directory: which block owns which keys.
//!
//! # Invariants
//! 1. Fences ascend, and the first is empty: entry i owns the keys from its fence to the next one.
//! 2. An entry owns all keys of its block and of its rows in runs.
//! 3. An entry that is not dirty has no row in a delta of any reader with this directory; point reads and counts use
//!    its runs and its block alone, and would miss such a row.
//! 4. An entry without a block has no runs.

use std::ops::Range;
use std::sync::Arc;

use saltwing_store::Bytes;

use crate::engine::chunk::{CHUNK_ENTRIES_MIN, Chunk, ChunkStats, DirectoryPart};
use crate::engine::run::Run;
use crate::engine::zone_sum::ZoneSums;

use crate::engine::entry::Owner;
pub(crate) use crate::engine::entry::{Entry, Size};
use crate::engine::fence_heads::{FenceHeads, FenceKey};

/// The blocks of one table in key order. Immutable, except for the dirty marks.
///
/// A merge step publishes a new directory that shares all chunks without changes, so its cost is that of the changed
/// chunks and one reference count per chunk.
pub(crate) struct Directory {
    /// None of them empty, but for what all are.
    chunks: Vec<Arc<Chunk>>,
    /// The first fences of the chunks, and how many entries come before each.
    heads: FenceHeads,
    starts: Vec<usize>,
    size: Size,
}

impl Default for Directory {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

/// Ranges of entries, ascending, and their replacements.
pub(crate) type Edits = Vec<(Range<usize>, Vec<Arc<Entry>>)>;

impl Directory {
    /// A directory of entries with ascending fences.
    pub(crate) fn new(entries: Vec<Arc<Entry>>) -> Self {
        let mut chunks = Chunks::default();
        entries.into_iter().for_each(|entry| chunks.push(entry));
        chunks.finish()
    }

    /// A directory of consecutive parts.
    pub(crate) fn of_parts(parts: impl IntoIterator<Item = DirectoryPart>) -> Self {
        let mut chunks = Chunks::default();
        for chunk in parts.into_iter().flat_map(|part| part.0) {
            if chunks.can_share(&chunk) {
                chunks.share(&chunk);
            } else {
                chunk.made().entries.iter().for_each(|entry| chunks.push(entry.clone()));
            }
        }
        chunks.finish()
    }

    /// The directory after some edits, and where in it entries own other keys than before: the new ones, and those in
    /// front of them.
    pub(crate) fn edited(&self, edits: Edits) -> (Self, Vec<Range<usize>>) {
        let mut chunks = Chunks::default();
        let mut touched = Vec::with_capacity(edits.len());
        let mut at = 0;
        for (range, new) in edits {
            self.copy(at..range.start, &mut chunks);
            // If the first entry keeps its fence, the entry before it owns the same keys as before.
            let fences = (self.entry(range.start).map(|old| &old.fence), new.first().map(|new| &new.fence));
            let before = chunks.count.saturating_sub(usize::from(fences.0 != fences.1));
            new.into_iter().for_each(|entry| chunks.push(entry));
            touched.push(before..chunks.count);
            at = range.end;
        }
        self.copy(at..self.len(), &mut chunks);
        (chunks.finish(), touched)
    }

    /// Adds some of the entries: those of whole chunks by their chunks.
    fn copy(&self, range: Range<usize>, to: &mut Chunks) {
        let mut at = range.start;
        while at < range.end
            && let Some((chunk, start)) = self.chunk_of(at)
        {
            let end = (start + chunk.len).min(range.end);
            if at == start && end == start + chunk.len && to.can_share(chunk) {
                to.share(chunk);
            } else {
                let entries = chunk.made().entries.get(at - start..end - start).unwrap_or_default();
                entries.iter().for_each(|entry| to.push(entry.clone()));
            }
            at = end;
        }
    }

    /// How many entries there are.
    pub(crate) fn len(&self) -> usize {
        self.starts.last().copied().unwrap_or(0) + self.chunks.last().map_or(0, |chunk| chunk.len)
    }

    /// All entries in key order.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.chunks.iter().flat_map(|chunk| &chunk.made().entries)
    }

    /// Those entries that somebody may have read since opening, in key order.
    pub(crate) fn decoded_entries(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.chunks.iter().filter_map(|chunk| chunk.if_decoded()).flat_map(|made| &made.entries)
    }

    /// Has `see` see the runs that entries name, each as often as it is named.
    pub(crate) fn visit_runs(&self, mut see: impl FnMut(&Arc<Run>)) {
        self.chunks.iter().for_each(|chunk| chunk.visit_runs(&mut see));
    }

    /// The first entry of some that `is_meant` holds for; chunks that `may_have` rules out are not looked into.
    pub(crate) fn find(
        &self,
        range: Range<usize>,
        may_have: impl Fn(&ChunkStats) -> bool,
        is_meant: impl Fn(usize, &Entry) -> bool,
    ) -> Option<usize> {
        let mut at = range.start;
        while at < range.end
            && let Some((chunk, start)) = self.chunk_of(at)
        {
            let end = (start + chunk.len).min(range.end);
            if may_have(&chunk.facts) {
                let entries = chunk.made().entries.get(at - start..end - start).unwrap_or_default();
                let meant = (at..end).zip(entries).find(|(index, entry)| is_meant(*index, entry));
                if let Some((index, _)) = meant {
                    return Some(index);
                }
            }
            at = end;
        }
        None
    }

    /// A delta has rows of some ascending keys.
    pub(crate) fn mark_owners<'k>(&self, keys: impl Iterator<Item = &'k [u8]>) {
        let mut keys = keys.peekable();
        while let Some(&key) = keys.peek() {
            let index = self.chunk_before(FenceKey::new(key), &|fence: &[u8]| *fence <= *key);
            let end = self.chunks.get(index + 1).map(|next| &*next.first_fence);
            let Some(chunk) = self.chunks.get(index) else { return };
            chunk.mark_owners(std::iter::from_fn(|| keys.next_if(|key| end.is_none_or(|end| *key < end))));
        }
    }

    /// The total size of the blocks.
    pub(crate) fn size(&self) -> Size {
        self.size
    }

    /// The total size of some of the entries; whole chunks among them are not decoded.
    pub(crate) fn size_of(&self, range: Range<usize>) -> Size {
        let mut size = Size::default();
        let mut at = range.start;
        while at < range.end
            && let Some((chunk, start)) = self.chunk_of(at)
        {
            let end = (start + chunk.len).min(range.end);
            size = size.add(if end - at == chunk.len {
                chunk.facts.size
            } else {
                let entries = chunk.made().entries.get(at - start..end - start).unwrap_or_default();
                entries.iter().map(|entry| entry.size()).fold(Size::default(), Size::add)
            });
            at = end;
        }
        size
    }

    /// The sums of the zones of all blocks and runs. A chunk computes its own at the first request.
    pub(crate) fn zones(&self) -> ZoneSums {
        let mut all = ZoneSums::default();
        self.chunks.iter().for_each(|chunk| all.add_all(chunk.zones()));
        all
    }

    /// The entry that owns a key.
    pub(crate) fn owner(&self, key: &[u8]) -> Option<Owner<'_>> {
        let key = FenceKey::new(key);
        let chunk = self.chunks.get(self.chunk_before(key, &|fence: &[u8]| *fence <= *key.bytes))?;
        chunk.made().owner(key)
    }

    /// The index of the entry that owns a key.
    pub(crate) fn floor(&self, key: &[u8]) -> usize {
        self.index(self.count_before(key, |fence| *fence <= *key))
    }

    /// The last entry that owns a key below `end`; `None` is above all keys.
    pub(crate) fn last_below(&self, end: Option<&[u8]>) -> usize {
        match end {
            Some(end) => self.index(self.count_before(end, |fence| *fence < *end)),
            None => self.len().saturating_sub(1),
        }
    }

    fn index(&self, (chunk, count): (usize, usize)) -> usize {
        (self.starts.get(chunk).copied().unwrap_or(0) + count).saturating_sub(1)
    }

    /// The last chunk with a fence for which `is_before` holds, and the number of such fences in it. `is_before` compares a fence
    /// with `key`: it holds for the fences below the key, or for those not above it.
    fn count_before(&self, key: &[u8], is_before: impl Fn(&[u8]) -> bool) -> (usize, usize) {
        let key = FenceKey::new(key);
        let index = self.chunk_before(key, &is_before);
        let Some(chunk) = self.chunks.get(index) else { return (0, 0) };
        (index, chunk.made().count_before(key, is_before))
    }

    /// The last chunk whose first fence `is_before` holds for, as in [`Directory::count_before`]; the first chunk if there is none.
    fn chunk_before(&self, key: FenceKey<'_>, is_before: &impl Fn(&[u8]) -> bool) -> usize {
        if self.chunks.len() == 1 {
            return 0;
        }
        let first = |at: usize| self.chunks.get(at).is_some_and(|chunk| is_before(&chunk.first_fence));
        self.heads.count_before(key, first).saturating_sub(1)
    }

    /// The chunk of an entry, and how many entries come before it.
    fn chunk_of(&self, index: usize) -> Option<(&Arc<Chunk>, usize)> {
        let at = self.chunk_index(index)?;
        Some((self.chunks.get(at)?, *self.starts.get(at)?))
    }

    fn chunk_index(&self, index: usize) -> Option<usize> {
        self.starts.partition_point(|start| *start <= index).checked_sub(1)
    }

    pub(crate) fn entry(&self, index: usize) -> Option<&Arc<Entry>> {
        let (chunk, start) = self.chunk_of(index)?;
        chunk.made().entries.get(index - start)
    }

    /// The entries from an index on that stand together, `most` at most.
    pub(crate) fn neighbours(&self, index: usize, most: usize) -> &[Arc<Entry>] {
        let Some((chunk, start)) = self.chunk_of(index) else { return &[] };
        let from = chunk.made().entries.get(index - start..).unwrap_or_default();
        from.get(..most).unwrap_or(from)
    }

    /// An entry, and the first key that it does not own any more.
    pub(crate) fn owned(&self, index: usize) -> Option<(&Arc<Entry>, Option<&Bytes>)> {
        let at = self.chunk_index(index)?;
        let (chunk, start) = (self.chunks.get(at)?, *self.starts.get(at)?);
        let entries = &chunk.made().entries;
        let entry = entries.get(index - start)?;
        let end = match entries.get(index - start + 1) {
            Some(next) => Some(&next.fence),
            None => self.chunks.get(at + 1).map(|next| &next.first_fence),
        };
        Some((entry, end))
    }
}

/// Whether a range that ends at `end` ends in an entry, or right after it. `entry_end` is the first key that the entry does
/// not own any more; `None` is the end of all keys.
pub(crate) fn ends_in_entry(end: Option<&[u8]>, entry_end: Option<&[u8]>) -> bool {
    match (end, entry_end) {
        (Some(end), Some(entry_end)) => end <= entry_end,
        (_, entry_end) => entry_end.is_none(),
    }
}

/// The chunks of a directory that is being made.
#[derive(Default)]
struct Chunks {
    chunks: Vec<Arc<Chunk>>,
    /// Entries after them.
    open: Vec<Arc<Entry>>,
    /// Entries in all.
    count: usize,
}

impl Chunks {
    /// Adds an entry; in front of the first, one that owns the keys before it.
    fn push(&mut self, entry: Arc<Entry>) {
        if self.count == 0 && !entry.fence.is_empty() {
            self.push(Arc::new(Entry::new(Bytes::default(), None)));
        }
        self.open.push(entry);
        self.count += 1;
    }

    /// Whether this chunk can be shared as it is: the pending entries are enough for a chunk of their own, or there are
    /// none; and the first chunk of a directory must start with the empty fence.
    fn can_share(&self, chunk: &Chunk) -> bool {
        match self.count {
            0 => chunk.first_fence.is_empty(),
            _ => self.open.is_empty() || self.open.len() >= CHUNK_ENTRIES_MIN,
        }
    }

    /// Adds a chunk of another directory.
    fn share(&mut self, chunk: &Arc<Chunk>) {
        self.close();
        self.count += chunk.len;
        self.chunks.push(chunk.clone());
    }

    /// Makes chunks of the entries after the last one.
    fn close(&mut self) {
        self.chunks.extend(DirectoryPart::new(std::mem::take(&mut self.open)).0);
    }

    fn finish(mut self) -> Directory {
        if self.count == 0 {
            self.push(Arc::new(Entry::new(Bytes::default(), None)));
        }
        if (1..CHUNK_ENTRIES_MIN).contains(&self.open.len())
            && let Some(last) = self.chunks.pop()
        {
            self.open.splice(0..0, last.made().entries.iter().cloned());
        }
        self.close();
        let mut starts = Vec::with_capacity(self.chunks.len());
        let mut start = 0;
        for chunk in &self.chunks {
            starts.push(start);
            start += chunk.len;
        }
        let heads = FenceHeads::new(self.chunks.iter().map(|chunk| &chunk.first_fence));
        let size = self.chunks.iter().map(|chunk| chunk.facts.size).fold(Size::default(), Size::add);
        Directory { chunks: self.chunks, heads, starts, size }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::engine::chunk::CHUNK_ENTRIES_MAX;

    /// Short keys, and long ones that differ at their ends.
    fn key() -> impl Strategy<Value = Vec<u8>> {
        let bytes = || prop_oneof![Just(0u8), Just(1), Just(255)];
        prop_oneof![
            prop::collection::vec(bytes(), 0..11),
            prop::collection::vec(bytes(), 0..5).prop_map(|end| [&[1; 14], &end[..]].concat()),
        ]
    }

    fn entry(fence: &[u8]) -> Arc<Entry> {
        Arc::new(Entry::new(Bytes::from(fence), None))
    }

    fn fences(directory: &Directory) -> Vec<Bytes> {
        directory.entries().map(|entry| entry.fence.clone()).collect()
    }

    /// Keys that are far enough apart to stand in many chunks.
    fn numbered(number: u32) -> Vec<u8> {
        [&[1; 14], &number.to_be_bytes()[..]].concat()
    }

    proptest! {
        #[test]
        fn look_ups_find_the_owner(fences in prop::collection::btree_set(key(), 0..30), key in key()) {
            let directory = Directory::new(fences.iter().map(|fence| entry(fence)).collect());
            let entries: Vec<_> = directory.entries().collect();
            let last = |holds: &dyn Fn(&[u8]) -> bool| {
                entries.iter().rposition(|entry| holds(&entry.fence)).unwrap_or(0)
            };
            prop_assert_eq!(directory.floor(&key), last(&|fence| *fence <= *key));
            prop_assert!(Arc::ptr_eq(directory.owner(&key).unwrap().entry, entries[last(&|fence| *fence <= *key)]));
            prop_assert_eq!(directory.last_below(Some(&key)), last(&|fence| *fence < *key));
            prop_assert_eq!(directory.last_below(None), entries.len() - 1);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.div_ceil(12)))]

        /// A directory after many edits equals one built from its entries at once, and shares unchanged chunks.
        #[test]
        fn edits_put_entries_in_the_place_of_others(
            count in 0u32..6000,
            rounds in prop::collection::vec(prop::collection::vec((0u32..6000, 1u32..3000, prop_oneof![0u32..5, 0u32..2500]), 0..4), 1..4),
            probes in prop::collection::vec(0u32..90_000, 10),
        ) {
            let mut directory = Directory::new((0..count).map(|i| entry(&numbered(10 * i))).collect());
            for round in rounds {
                let mut wanted = fences(&directory);
                let mut edits = Vec::new();
                let mut after = 0;
                for (start, length, new) in round {
                    let start = after + start as usize;
                    let end = start + length as usize;
                    // Keys that do not stand between those around them would be no directory.
                    let (Some(first), Some(_)) = (wanted.get(start), wanted.get(end)) else { break };
                    let new: Vec<_> = (0..new).map(|i| entry(&[&first[..], &i.to_be_bytes()].concat())).collect();
                    edits.push((start..end, new));
                    after = end;
                }
                for (range, new) in edits.iter().rev() {
                    wanted.splice(range.clone(), new.iter().map(|entry| entry.fence.clone()));
                }
                if wanted.first().is_none_or(|first| !first.is_empty()) {
                    wanted.insert(0, Bytes::default());
                }
                let news: Vec<Arc<Entry>> = edits.iter().flat_map(|(_, new)| new.clone()).collect();
                let left_alone = directory.chunks.len().saturating_sub(
                    edits.iter().map(|(range, _)| 3 + range.len() / CHUNK_ENTRIES_MIN).sum::<usize>());
                let (edited, touched) = directory.edited(edits);
                prop_assert_eq!(&fences(&edited), &wanted);
                prop_assert_eq!(edited.len(), wanted.len());
                let shared = edited.chunks.iter().filter(|new| directory.chunks.iter().any(|old| Arc::ptr_eq(old, new)));
                prop_assert!(shared.count() >= left_alone);
                prop_assert!(edited.chunks.iter().all(|chunk| chunk.len <= CHUNK_ENTRIES_MAX));
                prop_assert!(edited.chunks.len() <= 1 || edited.chunks.iter().all(|chunk| chunk.len >= CHUNK_ENTRIES_MIN));
                for new in &news {
                    let index = (0..edited.len()).find(|i| Arc::ptr_eq(edited.entry(*i).unwrap(), new)).unwrap();
                    prop_assert!(touched.iter().any(|range| range.contains(&index)));
                }
                for probe in &probes {
                    let key = numbered(*probe);
                    let owner = wanted.partition_point(|fence| **fence <= *key) - 1;
                    prop_assert_eq!(edited.floor(&key), owner);
                    prop_assert_eq!(&edited.owner(&key).unwrap().entry.fence, &wanted[owner]);
                    prop_assert_eq!(edited.owned(owner).unwrap().1, wanted.get(owner + 1));
                    let beside = edited.neighbours(owner, 8);
                    prop_assert!((1..=8).contains(&beside.len()));
                    prop_assert!(beside.iter().zip(owner..).all(|(found, i)| Arc::ptr_eq(found, edited.entry(i).unwrap())));
                    prop_assert_eq!(edited.last_below(Some(&key)), wanted.partition_point(|fence| **fence < *key).saturating_sub(1));
                }
                directory = edited;
            }
        }
    }
}
