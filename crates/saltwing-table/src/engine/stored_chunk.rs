//! Neighbouring entries of a directory as opening has read them.
//!
//! The bytes of a chunk are one allocation: slices of the store's buffers would keep the whole buffers, and one
//! allocation per entry would fragment the heap.
//!
//! ```text
//! bytes    fence, block, ids of values in OVERFLOW | fence, block, ..
//! entries  where each begins, how long its parts are, and what opening asks of it
//! ```

use std::sync::Arc;

use saltwing_store::Bytes;

use crate::engine::block_ref::BlockRef;
use crate::engine::block_store::BlockContext;
use crate::engine::entry::{Entry, Size};
use crate::engine::run::RunPart;
use crate::format::directory_format::StoredEntry;

/// A chunk with this many bytes takes no more entries. Most need a tenth, but this much is reserved first: glibc takes
/// such an allocation from the system rather than from a heap of the reading thread, whose freed memory other threads
/// could not use.
const CHUNK_BYTES: usize = 1 << 20;

/// Entries with ascending fences.
#[derive(Default)]
pub(crate) struct StoredChunk {
    bytes: Vec<u8>,
    entries: Vec<Place>,
}

/// The offset of an entry in the bytes, and its statistics.
struct Place {
    at: u32,
    fence_bytes: u16,
    /// Whether a delta has rows of it.
    is_dirty: bool,
    block_bytes: u32,
    overflow_bytes: u32,
    rows: u32,
    row_bytes: u32,
    id: u64,
    oldest_ms: i64,
}

impl StoredChunk {
    /// With capacity for this many entries.
    pub(crate) fn with_room(entries: usize) -> Self {
        Self { bytes: Vec::with_capacity(CHUNK_BYTES), entries: Vec::with_capacity(entries) }
    }

    /// Adds an entry as it is stored; `None` when the bytes are none.
    pub(crate) fn push(&mut self, fence: &[u8], value: &[u8]) -> Option<()> {
        let entry = StoredEntry::read(value)?;
        let (block, overflow) = entry.bytes();
        self.entries.push(Place {
            at: u32::try_from(self.bytes.len()).ok()?,
            fence_bytes: u16::try_from(fence.len()).ok()?,
            is_dirty: false,
            block_bytes: u32::try_from(block.len()).ok()?,
            overflow_bytes: u32::try_from(overflow.len()).ok()?,
            rows: entry.block.rows(),
            row_bytes: entry.block.row_bytes(),
            id: entry.block.id(),
            oldest_ms: entry.block.times_ms().0,
        });
        [fence, block, overflow].into_iter().for_each(|part| self.bytes.extend_from_slice(part));
        Some(())
    }

    /// Whether it has `entries` entries, or no more space.
    pub(crate) fn is_full(&self, entries: usize) -> bool {
        self.entries.len() >= entries || self.bytes.len() >= CHUNK_BYTES
    }

    /// Frees the unused capacity.
    pub(crate) fn end(&mut self) {
        self.bytes.shrink_to_fit();
        self.entries.shrink_to_fit();
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    fn part(&self, at: usize, bytes: usize) -> &[u8] {
        self.bytes.get(at..at + bytes).unwrap_or_default()
    }

    fn fence_of(&self, place: &Place) -> &[u8] {
        self.part(place.at as usize, place.fence_bytes.into())
    }

    pub(crate) fn fence(&self, index: usize) -> Option<&[u8]> {
        self.entries.get(index).map(|place| self.fence_of(place))
    }

    /// How many entries from one on have fences at or before a key.
    pub(crate) fn count_to(&self, from: usize, key: &[u8]) -> usize {
        self.entries.get(from..).unwrap_or_default().partition_point(|place| self.fence_of(place) <= key)
    }

    pub(crate) fn mark_dirty(&mut self, index: usize) {
        self.entries.get_mut(index).into_iter().for_each(|place| place.is_dirty = true);
    }

    /// The numbers of the entries' blocks.
    pub(crate) fn ids(&self) -> impl Iterator<Item = u64> {
        self.entries.iter().map(|place| place.id)
    }

    /// The sizes of the entries' blocks, and the write time of the oldest row of each.
    pub(crate) fn sizes(&self) -> impl Iterator<Item = (Size, i64)> {
        self.entries.iter().map(|place| (Size::of_block(place.rows, place.row_bytes), place.oldest_ms))
    }

    /// The entries as they are stored.
    pub(crate) fn stored(&self) -> impl Iterator<Item = StoredEntry<'_>> {
        self.entries.iter().map(|place| self.stored_of(place))
    }

    fn stored_of(&self, place: &Place) -> StoredEntry<'_> {
        let block_at = place.at as usize + usize::from(place.fence_bytes);
        let block_bytes = place.block_bytes as usize;
        StoredEntry::of_read(
            self.part(block_at, block_bytes),
            self.part(block_at + block_bytes, place.overflow_bytes as usize),
        )
    }

    /// The entries, with the runs that `runs` gives of each, by index: newest first.
    pub(crate) fn make(
        &self,
        context: &Arc<BlockContext>,
        mut runs: impl FnMut(u32) -> Box<[RunPart]>,
    ) -> Vec<Arc<Entry>> {
        let make = |(index, place): (u32, &Place)| {
            let block = BlockRef::of_stored(&self.stored_of(place), context);
            let fence = Bytes::from(self.fence_of(place));
            Arc::new(Entry::of_parts(fence, Arc::new(block), runs(index), place.is_dirty))
        };
        (0..).zip(&self.entries).map(make).collect()
    }
}
