//! A stored block as a directory names it: what is known of it without reading, and its parts once they are read.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Weak};

use parking_lot::{Mutex, RwLock, RwLockReadGuard};
use saltwing_access::TableError;
use saltwing_store::{Bytes, OrderedKv, Space, StoreError};
use saltwing_types::TableId;
use smallvec::SmallVec;

use super::OpenTables;
use super::block::{FixPart, VarPart};
use super::block_columns::BlockColumns;
use super::overflow::OverflowValue;
use super::spaces::{FIX, OVERFLOW, VAR, id_key, part_key};
use super::stats::{AllCounters, TableCounters};
use super::zone::Zone;

/// An immutable block. While a directory that a reader holds names it, it stays in the store.
///
/// What a reader of a row needs stands first: mostly no cache has it.
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
    /// Values of its rows that lie by themselves.
    pub(super) overflow: Vec<Arc<OverflowValue>>,
    context: Arc<BlockContext>,
}

/// Where the blocks of a table come from.
///
/// Who makes many blocks has one for them, and each of several threads its own: they would wait for each other at its count.
pub(crate) struct BlockContext {
    table: TableId,
    counters: Arc<TableCounters>,
    cache: Arc<BlockCache>,
}

impl BlockContext {
    pub(super) fn new(table: TableId, cache: &Arc<BlockCache>) -> Arc<Self> {
        Arc::new(Self { table, counters: cache.counters(table), cache: cache.clone() })
    }

    /// The table's name, or its number where its definition is not open.
    fn table_name(&self) -> String {
        // A thread that meets damage may hold the lock already, as a check does: it must not wait behind a writer.
        let tables = self.cache.tables.read_recursive();
        tables
            .get(&self.table)
            .map_or_else(|| format!("table number {}", self.table.0), |table| table.def().name.to_string())
    }

    /// A value that lies by itself, as stored.
    pub(super) fn load_overflow(&self, id: u64) -> Result<Option<Bytes>, StoreError> {
        self.cache.kv.get(OVERFLOW, &id_key(self.table, id))
    }

    /// Nobody reads a value any more that no block names.
    pub(super) fn leave_overflow(&self, id: u64) {
        self.cache.return_unread(vec![Unread::overflow(self.table, id)]);
    }
}

/// A replaced block, or a value that lay by itself, that nobody reads any more.
#[derive(Debug)]
pub(crate) struct Unread {
    pub(crate) table: TableId,
    pub(crate) id: u64,
    /// Those of the block; a value has none.
    pub(crate) families: Vec<u8>,
}

impl Unread {
    /// A value that no block names.
    pub(super) fn overflow(table: TableId, id: u64) -> Self {
        Self { table, id, families: Vec::new() }
    }
}

/// What a directory knows of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Summary {
    pub(crate) rows: u32,
    /// Bytes of its rows as a delta has them, about; of a value that lies by itself a little.
    pub(crate) bytes: u32,
    pub(crate) last_key: Bytes,
    /// Oldest and newest write time.
    pub(crate) times_ms: (i64, i64),
    /// Families that have parts, and what is known of their columns.
    pub(super) columns: BlockColumns,
}

impl Summary {
    /// Looks at what is known of columns.
    pub(crate) fn look(&self) -> usize {
        self.columns.bytes().first().copied().unwrap_or(0).into()
    }

    /// Families that have parts, ascending; the first always has.
    pub(crate) fn families(&self) -> &[u8] {
        self.columns.families()
    }

    /// What is known of columns that filters can make use of, each with its family.
    pub(crate) fn zones(&self) -> impl Iterator<Item = (u8, Zone)> {
        self.columns.zones(self.rows)
    }

    /// What is known of one column.
    pub(crate) fn zone(&self, family: u8, slot: u16) -> Option<Zone> {
        self.zones().find(|(of, zone)| (*of, zone.slot) == (family, slot)).map(|(_, zone)| zone)
    }
}

#[derive(Default)]
struct Parts {
    fix: SmallVec<[(u8, Arc<FixPart>); 1]>,
    /// `None`: the family has no column of variable width.
    var: SmallVec<[(u8, Option<Arc<VarPart>>); 1]>,
    bytes: usize,
}

/// The parts of a block that are in memory. Looking at one brings what it looks at nearer; what it gives is of no use.
///
/// No other part is asked for while this is there: who waits for the block would be waited for.
pub(crate) struct PartsInMemory<'b>(RwLockReadGuard<'b, Parts>);

impl PartsInMemory<'_> {
    fn fix(&self, look: impl FnOnce(&FixPart) -> usize) -> usize {
        self.0.fix.first().map_or(0, |(_, part)| look(part))
    }

    fn var(&self, look: impl FnOnce(&VarPart) -> usize) -> usize {
        self.0.var.first().and_then(|(_, part)| part.as_deref()).map_or(0, look)
    }

    /// At what tells where keys and columns stand.
    pub(crate) fn look_at_keys(&self) -> usize {
        self.fix(FixPart::look_at_places) ^ self.var(VarPart::look_at_places)
    }

    /// At what tells where columns stand.
    pub(crate) fn look_at_columns(&self) -> usize {
        self.fix(FixPart::look_at_columns)
    }

    /// At the first keys that a search looks at.
    pub(crate) fn look_into_keys(&self) -> usize {
        self.fix(FixPart::look_at_first_key)
    }

    /// At a row's columns.
    pub(crate) fn look_at_row(&self, row: usize) -> usize {
        self.fix(|part| part.look_at_row(row)) ^ self.var(|part| part.look_at_row(row))
    }

    /// At a row's bytes of variable width.
    pub(crate) fn look_into_row(&self, row: usize) -> usize {
        self.var(|part| part.look_into_row(row))
    }
}

impl BlockRef {
    pub(crate) fn new(
        id: u64,
        summary: Summary,
        overflow: Vec<Arc<OverflowValue>>,
        context: Arc<BlockContext>,
    ) -> Self {
        let (used, replaced, hits) = (AtomicBool::new(false), AtomicBool::new(false), AtomicU32::new(0));
        Self { id, summary, overflow, parts: RwLock::default(), used, hits, replaced, context }
    }

    /// A part was found in memory. Not one atomic step: readers that meet would wait for each other, and a hit
    /// that goes uncounted harms nobody.
    #[inline]
    fn hit(&self) {
        self.used.store(true, Relaxed);
        self.hits.store(self.hits.load(Relaxed).wrapping_add(1), Relaxed);
    }

    /// How often a part was found in memory.
    pub(super) fn hits(&self) -> u64 {
        self.hits.load(Relaxed).into()
    }

    /// Looks at what stands in the block itself. Nothing is locked, which would wait for each block by itself.
    pub(crate) fn look_at_itself(&self) -> usize {
        usize::from(self.parts.is_locked()) ^ self.hits.load(Relaxed) as usize ^ self.summary.rows as usize
    }

    /// What is in memory, to be looked at before it is read; `None` while somebody changes that.
    pub(crate) fn in_memory(&self) -> Option<PartsInMemory<'_>> {
        self.parts.try_read().map(PartsInMemory)
    }

    /// The fixed part of a family; `None` where the block has no value of it.
    pub(crate) fn fix(self: &Arc<Self>, family: u8) -> Result<Option<Arc<FixPart>>, TableError> {
        if let Some((_, part)) = self.parts.read().fix.iter().find(|(f, _)| *f == family) {
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

    /// The variable part of a family; `None` where it has no column of variable width.
    pub(crate) fn var(self: &Arc<Self>, family: u8) -> Result<Option<Arc<VarPart>>, TableError> {
        if let Some((_, part)) = self.parts.read().var.iter().find(|(f, _)| *f == family) {
            self.hit();
            return Ok(part.clone());
        }
        let part = self.load(VAR, family)?.map(|bytes| self.read_var(family, bytes)).transpose()?;
        let read = part.clone();
        self.keep(self.var_size(part.as_deref()), |parts| parts.var.push((family, read)));
        Ok(part)
    }

    fn read_var(self: &Arc<Self>, family: u8, bytes: Bytes) -> Result<Arc<VarPart>, TableError> {
        let part = VarPart::read(bytes, family, self.summary.rows as usize).and_then(|part| part.named_by(self));
        part.map(Arc::new).ok_or_else(|| self.damaged("its variable part"))
    }

    /// Counted as if expanded: a scan expands all of it.
    fn var_size(&self, part: Option<&VarPart>) -> usize {
        part.map_or(0, |part| part.bytes().len() + part.expanded_bytes() + 4 * self.summary.rows as usize)
    }

    /// Keeps the parts of a new block, by family: what was written last is often read next.
    pub(super) fn keep_made(self: &Arc<Self>, made: Vec<(u8, Bytes, Option<Bytes>)>) -> Result<(), TableError> {
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
        self.context.counters.cache_misses.fetch_add(1, Relaxed);
        Ok(self.context.cache.kv.get(space, &part_key(self.context.table, self.id, family))?)
    }

    /// Being read for the first time is no use yet: what is read once only goes before what is read again.
    fn keep(self: &Arc<Self>, size: usize, add: impl FnOnce(&mut Parts)) {
        let first = {
            let mut parts = self.parts.write();
            let first = parts.fix.is_empty() && parts.var.is_empty();
            add(&mut parts);
            parts.bytes += size;
            first
        };
        self.context.cache.keep(self, size, first);
    }

    /// A value that lies by itself was read into one of the parts.
    pub(super) fn grow(self: &Arc<Self>, size: usize) {
        self.context.counters.cache_misses.fetch_add(1, Relaxed);
        {
            let mut parts = self.parts.write();
            // The part is no more in memory but for who reads it now.
            if parts.var.is_empty() {
                return;
            }
            parts.bytes += size;
        }
        self.context.cache.keep(self, size, false);
    }

    /// Takes the parts out of memory; who reads them now keeps theirs.
    fn forget(&self) -> usize {
        std::mem::take(&mut *self.parts.write()).bytes
    }

    /// Other blocks stand in its place: it is deleted when no reader has it any more.
    pub(crate) fn replace(&self) {
        self.replaced.store(true, Relaxed);
    }

    /// What does not fit, or the failure of the store that it comes from.
    pub(crate) fn damaged(&self, what: &'static str) -> TableError {
        if let Some(error) = self.overflow.iter().find_map(|overflow| overflow.failure()) {
            return error.into();
        }
        TableError::CorruptBlock { table: self.context.table_name(), block: self.id, what }
    }
}

impl Drop for BlockRef {
    fn drop(&mut self) {
        let bytes = self.forget();
        self.context.cache.bytes.fetch_sub(bytes, Relaxed);
        self.context.counters.cache_hits.fetch_add(self.hits(), Relaxed);
        if self.replaced.load(Relaxed) {
            let families = self.summary.families().to_vec();
            self.context.cache.unread.lock().push(Unread { table: self.context.table, id: self.id, families });
        }
    }
}

/// Where blocks come from: the store, and a bounded memory of what was read.
///
/// The oldest block in memory goes first, unless it was read since it was looked at last.
pub(crate) struct BlockCache {
    kv: Arc<dyn OrderedKv>,
    bytes_max: usize,
    bytes: AtomicUsize,
    counters: AllCounters,
    /// Open tables: by them errors name the table of a block.
    tables: Arc<OpenTables>,
    ring: Mutex<VecDeque<Weak<BlockRef>>>,
    /// Replaced blocks that nobody reads any more.
    unread: Mutex<Vec<Unread>>,
}

impl BlockCache {
    pub(crate) fn new(kv: Arc<dyn OrderedKv>, bytes_max: usize) -> Self {
        let (ring, unread) = (Mutex::default(), Mutex::default());
        let (counters, tables) = (AllCounters::default(), Arc::default());
        Self { kv, bytes_max, bytes: AtomicUsize::new(0), counters, tables, ring, unread }
    }

    pub(crate) fn tables(&self) -> &Arc<OpenTables> {
        &self.tables
    }

    fn keep(&self, block: &Arc<BlockRef>, size: usize, first: bool) {
        let held = self.bytes.fetch_add(size, Relaxed) + size;
        let mut ring = self.ring.lock();
        if first {
            ring.push_back(Arc::downgrade(block));
        }
        let mut held = held;
        // Each block is looked at twice at most: once used, once not.
        for _ in 0..2 * ring.len() {
            if held <= self.bytes_max {
                break;
            }
            let Some(oldest) = ring.pop_front() else { break };
            let Some(block) = oldest.upgrade() else { continue };
            if block.used.swap(false, Relaxed) {
                ring.push_back(oldest);
            } else {
                let freed = block.forget();
                held = self.bytes.fetch_sub(freed, Relaxed).saturating_sub(freed);
            }
        }
    }

    /// Bytes in memory now.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Relaxed)
    }

    /// What is counted of a table.
    pub(super) fn counters(&self, table: TableId) -> Arc<TableCounters> {
        self.counters.of(table)
    }

    /// The table is gone: it counts from zero if it comes again.
    pub(super) fn forget_table(&self, table: TableId) {
        self.counters.forget(table);
    }

    /// Takes the replaced blocks and the values that nobody reads any more.
    pub(crate) fn take_unread(&self) -> Vec<Unread> {
        std::mem::take(&mut *self.unread.lock())
    }

    /// Gives back what [`BlockCache::take_unread`] took and could not be deleted.
    pub(crate) fn return_unread(&self, blocks: Vec<Unread>) {
        self.unread.lock().extend(blocks);
    }
}

#[cfg(test)]
mod tests {
    use saltwing_store::{Durability, MemoryStore, WriteBatch};

    use super::*;
    use crate::packed::block_builder::{RowHeads, fix_part};

    /// Blocks of one row, and the bytes of one's part.
    fn blocks(count: u64, bytes_max: impl Fn(usize) -> usize) -> (Vec<Arc<BlockRef>>, Arc<BlockCache>, usize) {
        let kv = Arc::new(MemoryStore::new());
        let part = fix_part(0, &RowHeads { keys: vec![b"key"], times: vec![0], deleted: vec![false] }, &[]);
        let cache = Arc::new(BlockCache::new(kv.clone(), bytes_max(part.len())));
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
    fn counted(cache: &BlockCache, blocks: &[Arc<BlockRef>]) -> (u64, u64) {
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
            assert!(cache.bytes() <= 10 * size);
        }
        assert_eq!(counted(&cache, &blocks), (100, 100), "the block in use is read once");
        blocks[1].lead().unwrap();
        assert_eq!(counted(&cache, &blocks), (100, 101), "others had to go");
        drop(blocks);
        assert_eq!(counted(&cache, &[]), (100, 101), "what is gone has counted");
        assert_eq!(cache.bytes(), 0);
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
