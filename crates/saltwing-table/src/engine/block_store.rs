//! Where the blocks of all tables come from, and the blocks that no reader needs any more.

use std::sync::Arc;

use parking_lot::Mutex;
use saltwing_store::{Bytes, OrderedKv, StoreError};
use saltwing_types::TableId;

use crate::engine::block_cache::BlockCache;
use crate::engine::counters::{AllCounters, TableCounters};
use crate::engine::stored_table::OpenTables;
use crate::format::spaces::{OVERFLOW, id_key};

/// The blocks of all tables: the store that has them, and the parts of them that are in memory.
pub(crate) struct BlockStore {
    pub(crate) kv: Arc<dyn OrderedKv>,
    pub(crate) cache: BlockCache,
    counters: AllCounters,
    /// Open tables: by them errors name the table of a block.
    tables: Arc<OpenTables>,
    /// Replaced blocks that no reader has any more.
    unread: Mutex<Vec<Unread>>,
}

impl BlockStore {
    pub(crate) fn new(kv: Arc<dyn OrderedKv>, cache_bytes_max: usize) -> Self {
        let (counters, tables, unread) = (AllCounters::default(), Arc::default(), Mutex::default());
        Self { kv, cache: BlockCache::new(cache_bytes_max), counters, tables, unread }
    }

    pub(crate) fn tables(&self) -> &Arc<OpenTables> {
        &self.tables
    }

    /// The counters of a table.
    pub(crate) fn counters(&self, table: TableId) -> Arc<TableCounters> {
        self.counters.of(table)
    }

    /// Blocks of all tables that reads have found damaged.
    pub(crate) fn damaged_blocks(&self) -> usize {
        self.counters.damaged_blocks()
    }

    /// The table is gone: it counts from zero if it comes again.
    pub(crate) fn forget_table(&self, table: TableId) {
        self.counters.forget(table);
    }

    /// Takes the replaced blocks and the values that nobody reads any more.
    pub(crate) fn take_unread(&self) -> Vec<Unread> {
        std::mem::take(&mut *self.unread.lock())
    }

    /// Adds blocks and values that nobody reads any more: the next compaction deletes them.
    pub(crate) fn add_unread(&self, unread: impl IntoIterator<Item = Unread>) {
        self.unread.lock().extend(unread);
    }
}

/// Where the blocks of a table come from.
///
/// All blocks made by one thread share one. Each thread needs its own, because threads that share a reference count
/// wait for each other.
pub(crate) struct BlockContext {
    pub(crate) table: TableId,
    pub(crate) counters: Arc<TableCounters>,
    pub(crate) store: Arc<BlockStore>,
}

impl BlockContext {
    pub(crate) fn new(table: TableId, store: &Arc<BlockStore>) -> Arc<Self> {
        Arc::new(Self { table, counters: store.counters(table), store: store.clone() })
    }

    /// The table's name, or its number where its definition is not open.
    pub(crate) fn table_name(&self) -> String {
        // A thread that meets damage may hold the lock already, as a check does: it must not wait for a queued writer.
        let tables = self.store.tables.read_recursive();
        tables
            .get(&self.table)
            .map_or_else(|| format!("table number {}", self.table.0), |table| table.def().name.to_string())
    }

    /// An overflow value, as stored.
    pub(crate) fn load_overflow(&self, id: u64) -> Result<Option<Bytes>, StoreError> {
        self.store.kv.get(OVERFLOW, &id_key(self.table, id))
    }

    /// Nobody reads a value any more that no block names.
    pub(crate) fn leave_overflow(&self, id: u64) {
        self.store.add_unread([Unread::overflow(self.table, id)]);
    }
}

/// A replaced block or overflow value without readers.
#[derive(Debug)]
pub(crate) struct Unread {
    pub(crate) table: TableId,
    pub(crate) id: u64,
    /// Those of the block; a value has none.
    pub(crate) families: Vec<u8>,
}

impl Unread {
    /// A value that no block names.
    pub(crate) fn overflow(table: TableId, id: u64) -> Self {
        Self { table, id, families: Vec::new() }
    }
}
