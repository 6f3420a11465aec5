//! The counters of each open table.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use parking_lot::RwLock;
use saltwing_types::TableId;

/// The counters of one table.
#[derive(Debug, Default)]
pub(crate) struct TableCounters {
    pub(crate) rows_written: AtomicU64,
    pub(crate) bytes_written: AtomicU64,
    pub(crate) merge_steps: AtomicU64,
    pub(crate) folds: AtomicU64,
    pub(crate) run_rows_written: AtomicU64,
    pub(crate) block_rows_written: AtomicU64,
    pub(crate) block_bytes_written: AtomicU64,
    /// Hits of deleted blocks; existing blocks count their own.
    pub(crate) cache_hits: AtomicU64,
    pub(crate) cache_misses: AtomicU64,
}

/// The counters of all tables.
#[derive(Debug, Default)]
pub(crate) struct AllCounters(RwLock<BTreeMap<TableId, Arc<TableCounters>>>);

impl AllCounters {
    /// Those of a table, from zero if it has none yet.
    pub(crate) fn of(&self, table: TableId) -> Arc<TableCounters> {
        if let Some(counters) = self.0.read().get(&table) {
            return counters.clone();
        }
        self.0.write().entry(table).or_default().clone()
    }

    /// The table is gone.
    pub(crate) fn forget(&self, table: TableId) {
        self.0.write().remove(&table);
    }
}
