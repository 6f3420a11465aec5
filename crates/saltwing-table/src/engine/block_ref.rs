//! A stored block as a directory references it: its summary, and its parts once they are read.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Weak};

use parking_lot::{RwLock, RwLockReadGuard};
use saltwing_access::{StorageError, TableError};
use saltwing_store::{Bytes, Space, StoreError};
use smallvec::SmallVec;

use crate::engine::block_cache::CachedBlock;
use crate::engine::block_store::{BlockContext, Unread};
use crate::engine::overflow::OverflowValue;
use crate::format::directory_format::StoredEntry;
use crate::format::fix_part::FixPart;
use crate::format::overflow::OverflowSource;
use crate::format::prefetch::PrefetchStep;
use crate::format::spaces::{FIX, VAR, part_key};
use crate::format::summary::Summary;
use crate::format::var_part::VarPart;

/// An immutable block. While a directory that a reader holds names it, it stays in the store.
///
/// The fields that a point read needs come first, because they are seldom in a cache.
#[repr(C)]
pub(crate) struct BlockRef {
    parts: RwLock<Parts>,
    /// How often a part was found in memory.
    hits: AtomicU32,
    /// Whether a part was read since the cache looked last.
    used: AtomicBool,
    /// Whether a merge has put other blocks in its place.
    replaced: AtomicBool,
    pub(crate) id: u64,
    pub(crate) summary: Summary,
    /// Overflow values of its rows.
    pub(crate) overflow: Vec<Arc<OverflowValue>>,
    context: Arc<BlockContext>,
}

#[derive(Default)]
struct Parts {
    fix: SmallVec<[(u8, Arc<FixPart>); 1]>,
    /// `None`: the family has no column of variable width.
    var: SmallVec<[(u8, Option<Arc<VarPart>>); 1]>,
    bytes: usize,
}

impl Parts {
    /// The fixed part of a family, if it is in memory.
    #[inline]
    fn fix(&self, family: u8) -> Option<&Arc<FixPart>> {
        self.fix.iter().find(|(of, _)| *of == family).map(|(_, part)| part)
    }

    /// The variable part of a family, if it is known; `Some(None)` if the family has none.
    #[inline]
    fn var(&self, family: u8) -> Option<&Option<Arc<VarPart>>> {
        self.var.iter().find(|(of, _)| *of == family).map(|(_, part)| part)
    }
}

/// The parts of a block that are in memory.
///
/// Holds the read lock of the block's parts. The holder must not request another part meanwhile: a thread that waits to
/// write this lock would block that request, and the holder would wait for itself (deadlock).
pub(crate) struct PartsInMemory<'b> {
    block: &'b BlockRef,
    parts: RwLockReadGuard<'b, Parts>,
}

impl PartsInMemory<'_> {
    /// The reads of a prefetch in the parts.
    #[inline]
    pub(crate) fn prefetch(&self, step: PrefetchStep) -> usize {
        let fix = self.parts.fix.first().map_or(0, |(_, part)| part.prefetch(step));
        fix ^ self.parts.var.first().and_then(|(_, part)| part.as_deref()).map_or(0, |part| part.prefetch(step))
    }

    /// The fixed part of the first family, if it is in memory.
    #[inline]
    pub(crate) fn lead(&self) -> Option<Arc<FixPart>> {
        let fix = self.parts.fix(0)?;
        self.block.hit();
        Some(fix.clone())
    }

    /// The parts of the first family, if the fixed one is in memory.
    #[inline]
    pub(crate) fn lead_parts(&self) -> Option<LeadParts> {
        let fix = self.lead()?;
        Some(LeadParts { fix, var: self.parts.var(0).cloned().flatten() })
    }
}

/// The parts of a block's first family.
pub(crate) struct LeadParts {
    /// Keys and write times, and the columns of fixed width.
    pub(crate) fix: Arc<FixPart>,
    /// `None` if it was not in memory, or if the family has no column of variable width.
    pub(crate) var: Option<Arc<VarPart>>,
}

impl LeadParts {
    /// The reads of a prefetch of the keys and values near a key, before it is searched for.
    #[inline]
    pub(crate) fn prefetch_near(&self, key: &[u8]) -> usize {
        let row = self.fix.first_near(key);
        self.prefetch(PrefetchStep::Keys(row)) ^ self.prefetch(PrefetchStep::Row(row))
    }

    /// The reads of a prefetch in the parts.
    #[inline]
    pub(crate) fn prefetch(&self, step: PrefetchStep) -> usize {
        self.fix.prefetch(step) ^ self.var.as_ref().map_or(0, |part| part.prefetch(step))
    }
}

impl BlockRef {
    pub(crate) fn new(
        id: u64,
        summary: Summary,
        overflow: Vec<Arc<OverflowValue>>,
        context: Arc<BlockContext>,
    ) -> Self {
        let [used, replaced] = [false; 2].map(AtomicBool::new);
        let (parts, hits) = (RwLock::default(), AtomicU32::new(0));
        Self { id, summary, overflow, parts, used, hits, replaced, context }
    }

    /// The block that a stored directory entry names.
    pub(crate) fn of_stored(entry: &StoredEntry<'_>, context: &Arc<BlockContext>) -> Self {
        let overflow = entry.overflow_ids().map(|id| Arc::new(OverflowValue::new(id, context.clone()))).collect();
        Self::new(entry.block.id(), entry.block.summary(), overflow, context.clone())
    }

    /// A part was found in memory. Not one atomic step: readers that meet would wait for each other, and a hit
    /// that goes uncounted harms nobody.
    #[inline]
    fn hit(&self) {
        self.used.store(true, Relaxed);
        self.hits.store(self.hits.load(Relaxed).wrapping_add(1), Relaxed);
    }

    /// How often a part was found in memory.
    pub(crate) fn hits(&self) -> u64 {
        self.hits.load(Relaxed).into()
    }

    /// The reads of a prefetch in the block itself. Takes no lock, because a lock would wait for each block separately.
    pub(crate) fn prefetch(&self) -> usize {
        usize::from(self.parts.is_locked()) ^ self.hits.load(Relaxed) as usize ^ self.summary.rows as usize
    }

    /// The parts in memory; `None` while another thread changes them.
    pub(crate) fn in_memory(&self) -> Option<PartsInMemory<'_>> {
        self.parts.try_read().map(|parts| PartsInMemory { block: self, parts })
    }

    /// The fixed part of a family; `None` where the block has no value of it.
    pub(crate) fn fix(self: &Arc<Self>, family: u8) -> Result<Option<Arc<FixPart>>, TableError> {
        if let Some(part) = self.parts.read().fix(family) {
            self.hit();
            return Ok(Some(part.clone()));
        }
        if !self.summary.families().contains(&family) {
            return Ok(None);
        }
        let bytes = self.load(FIX, family)?.ok_or_else(|| self.damaged("a part is missing"))?;
        let part = self.read_fix(family, bytes)?;
        let read = part.clone();
        self.keep(part.bytes().len(), |parts| parts.fix.push((family, read)));
        Ok(Some(part))
    }

    fn read_fix(&self, family: u8, bytes: Bytes) -> Result<Arc<FixPart>, TableError> {
        let part = FixPart::read(bytes, family).ok_or_else(|| self.damaged("its fixed part"))?;
        match part.rows() == self.summary.rows as usize {
            true => Ok(Arc::new(part)),
            false => Err(self.damaged("its row count")),
        }
    }

    /// Keys and write times, and the first family's columns.
    pub(crate) fn lead(self: &Arc<Self>) -> Result<Arc<FixPart>, TableError> {
        self.fix(0)?.ok_or_else(|| self.damaged("its first family is missing"))
    }

    /// As [`BlockRef::lead`], with the variable part if it is in memory.
    pub(crate) fn lead_parts(self: &Arc<Self>) -> Result<LeadParts, TableError> {
        match self.in_memory().and_then(|parts| parts.lead_parts()) {
            Some(lead) => Ok(lead),
            None => Ok(LeadParts { fix: self.lead()?, var: None }),
        }
    }

    /// The variable part of a family; `None` where it has no column of variable width.
    pub(crate) fn var(self: &Arc<Self>, family: u8) -> Result<Option<Arc<VarPart>>, TableError> {
        if let Some(part) = self.parts.read().var(family) {
            self.hit();
            return Ok(part.clone());
        }
        let part = self.load(VAR, family)?.map(|bytes| self.read_var(family, bytes)).transpose()?;
        let read = part.clone();
        self.keep(self.var_size(part.as_deref()), |parts| parts.var.push((family, read)));
        Ok(part)
    }

    fn read_var(self: &Arc<Self>, family: u8, bytes: Bytes) -> Result<Arc<VarPart>, TableError> {
        let part = VarPart::read(bytes, family, self.summary.rows as usize)
            .and_then(|part| part.with_sources(|id| self.overflow_source(id)));
        part.map(Arc::new).ok_or_else(|| self.damaged("its variable part"))
    }

    /// The source of one of the overflow values that the block names.
    fn overflow_source(self: &Arc<Self>, id: u64) -> Option<Arc<dyn OverflowSource>> {
        let value = self.overflow.iter().find(|value| value.id == id)?.clone();
        Some(Arc::new(CountedOverflow { value, block: Arc::downgrade(self) }))
    }

    /// Counted as if expanded: a scan expands all of it.
    fn var_size(&self, part: Option<&VarPart>) -> usize {
        part.map_or(0, |part| part.bytes().len() + part.expanded_bytes() + 4 * self.summary.rows as usize)
    }

    /// Caches the parts of a new block, by family, because new rows are often read next.
    pub(crate) fn keep_made(self: &Arc<Self>, made: Vec<(u8, Bytes, Option<Bytes>)>) -> Result<(), TableError> {
        let (mut size, mut fix, mut var) = (0, SmallVec::new(), SmallVec::new());
        for (family, fix_bytes, var_bytes) in made {
            let fix_part = self.read_fix(family, fix_bytes)?;
            let var_part = var_bytes.map(|bytes| self.read_var(family, bytes)).transpose()?;
            size += fix_part.bytes().len() + self.var_size(var_part.as_deref());
            fix.push((family, fix_part));
            var.push((family, var_part));
        }
        self.keep(size, |parts| (parts.fix, parts.var) = (fix, var));
        Ok(())
    }

    fn load(&self, space: Space, family: u8) -> Result<Option<Bytes>, TableError> {
        let context = &self.context;
        context.counters.cache_misses.fetch_add(1, Relaxed);
        let read = context.store.kv.get(space, &part_key(context.table, self.id, family));
        let read = read.inspect_err(|error| {
            if let StoreError::Corrupt { why, .. } = error {
                context.counters.damage.note(self.id, why);
            }
        });
        Ok(read.map_err(StorageError::from)?)
    }

    /// The first read does not mark the part as used, so parts read only once are evicted before parts read again.
    fn keep(self: &Arc<Self>, size: usize, add: impl FnOnce(&mut Parts)) {
        let first = {
            let mut parts = self.parts.write();
            let first = parts.fix.is_empty() && parts.var.is_empty();
            add(&mut parts);
            parts.bytes += size;
            first
        };
        let new = first.then(|| -> Weak<dyn CachedBlock> { Arc::<Self>::downgrade(self) });
        self.context.store.cache.add(size, new);
    }

    /// An overflow value was read into one of the parts.
    pub(crate) fn grow(self: &Arc<Self>, size: usize) {
        self.context.counters.cache_misses.fetch_add(1, Relaxed);
        {
            let mut parts = self.parts.write();
            // The part was evicted; only the current reader still has it.
            if parts.var.is_empty() {
                return;
            }
            parts.bytes += size;
        }
        self.context.store.cache.add(size, None);
    }

    /// Other blocks stand in its place: it is deleted when no reader has it any more.
    pub(crate) fn replace(&self) {
        self.replaced.store(true, Relaxed);
    }

    /// Whether the store could not read a part of it: merges leave it as it is.
    pub(crate) fn is_damaged(&self) -> bool {
        self.context.counters.damage.has(self.id)
    }

    /// Whether a merge has put other blocks in its place, or its table is gone: a reader alone keeps it.
    pub(crate) fn is_replaced(&self) -> bool {
        self.replaced.load(Relaxed)
    }

    /// What does not fit, or the failure of the store that it comes from.
    pub(crate) fn damaged(&self, what: &'static str) -> TableError {
        if let Some(error) = self.overflow.iter().find_map(|overflow| overflow.failure()) {
            return StorageError::from(error).into();
        }
        TableError::CorruptBlock { table: self.context.table_name(), block: self.id, what }
    }
}

impl CachedBlock for BlockRef {
    fn take_used(&self) -> bool {
        self.used.swap(false, Relaxed)
    }

    fn evict(&self) -> usize {
        std::mem::take(&mut *self.parts.write()).bytes
    }
}

/// An overflow value whose bytes, once they are read, count as those of the block that names it.
struct CountedOverflow {
    value: Arc<OverflowValue>,
    block: Weak<BlockRef>,
}

impl OverflowSource for CountedOverflow {
    fn read(&self, bytes: u32) -> Option<Bytes> {
        let value = self.value.read(bytes)?;
        if let Some(block) = self.block.upgrade() {
            block.grow(value.len());
        }
        Some(value)
    }
}

impl Drop for BlockRef {
    fn drop(&mut self) {
        let bytes = self.evict();
        self.context.store.cache.remove(bytes);
        self.context.counters.cache_hits.fetch_add(self.hits(), Relaxed);
        if self.replaced.load(Relaxed) {
            self.context.counters.damage.forget(self.id);
            let families = self.summary.families().to_vec();
            let unread = Unread { table: self.context.table, id: self.id, families };
            self.context.store.add_unread([unread]);
        }
    }
}

#[cfg(test)]
mod tests {
    use saltwing_store::{Durability, MemoryStore, OrderedKv, WriteBatch};

    use super::*;
    use crate::engine::block_store::BlockStore;
    use crate::format::block_builder::{RowHeads, fix_part};
    use crate::format::block_columns::BlockColumns;
    use saltwing_types::TableId;

    /// Blocks of one row, and the bytes of one's part.
    fn blocks(count: u64, bytes_max: impl Fn(usize) -> usize) -> (Vec<Arc<BlockRef>>, Arc<BlockStore>, usize) {
        let kv = Arc::new(MemoryStore::new());
        let part = fix_part(0, &RowHeads { keys: vec![b"key"], times: vec![0], deleted: vec![false] }, &[]);
        let cache = Arc::new(BlockStore::new(kv.clone(), bytes_max(part.len())));
        let summary = Summary {
            rows: 1,
            bytes: 1,
            last_key: Bytes::from(b"key"),
            times_ms: (0, 0),
            columns: BlockColumns::new(&[0], &[]),
        };
        let (mut batch, context) = (WriteBatch::new(), BlockContext::new(TableId(1), &cache));
        let block = |id| {
            batch.put(FIX, part_key(TableId(1), id, 0), part.clone());
            Arc::new(BlockRef::new(id, summary.clone(), Vec::new(), context.clone()))
        };
        let blocks = (0..count).map(block).collect();
        kv.write(batch, Durability::Buffered).unwrap();
        (blocks, cache, part.len())
    }

    /// Parts found in memory, by live blocks, and parts read from the store.
    fn counted(cache: &BlockStore, blocks: &[Arc<BlockRef>]) -> (u64, u64) {
        let counters = cache.counters(TableId(1));
        let hits = counters.cache_hits.load(Relaxed) + blocks.iter().map(|block| block.hits()).sum::<u64>();
        (hits, counters.cache_misses.load(Relaxed))
    }

    #[test]
    fn memory_is_bounded_and_what_is_used_stays() {
        let (blocks, cache, size) = blocks(100, |part| 10 * part);
        for block in &blocks {
            block.lead().unwrap();
            blocks[0].lead().unwrap();
            assert!(cache.cache.bytes() <= 10 * size);
        }
        assert_eq!(counted(&cache, &blocks), (100, 100), "the block in use is read once");
        blocks[1].lead().unwrap();
        assert_eq!(counted(&cache, &blocks), (100, 101), "others had to go");
        drop(blocks);
        assert_eq!(counted(&cache, &[]), (100, 101), "what is gone has counted");
        assert_eq!(cache.cache.bytes(), 0);
    }

    #[test]
    fn a_replaced_block_is_unread_when_its_last_reader_goes() {
        let (mut blocks, cache, _) = blocks(2, |part| 10 * part);
        let reader = blocks[0].clone();
        blocks[0].replace();
        blocks.clear();
        assert!(cache.take_unread().is_empty());
        drop(reader);
        let unread = cache.take_unread();
        assert_eq!(unread.iter().map(|block| (block.id, &block.families[..])).collect::<Vec<_>>(), [(0, &[0u8][..])]);
    }

    #[test]
    fn a_missing_part_is_an_error() {
        let (blocks, cache, _) = blocks(1, |part| part);
        let other = BlockRef::new(7, blocks[0].summary.clone(), Vec::new(), BlockContext::new(TableId(1), &cache));
        assert!(matches!(Arc::new(other).lead(), Err(TableError::CorruptBlock { block: 7, .. })));
    }
}
