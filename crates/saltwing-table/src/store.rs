//! Tables over one ordered store.

use std::ops::Range;
use std::sync::Arc;

use parking_lot::Mutex;
use saltwing_access::{
    AtomicScope, Capabilities, Clock, CommitNo, Examine, Examined, PointRow, Projection, ScanContext, Snapshot,
    SnapshotScope, StorageError, Table, TableError, TableStore, TakeRow, Transaction, WriteBatch,
};
use saltwing_heat::Slot;
use saltwing_store::OrderedKv;
use saltwing_types::TableId;

use crate::engine::options::LayoutOptions;
use crate::engine::stats::StorageStats;
use crate::engine::storage_engine::StorageEngine;
use crate::engine::stored_table::StoredTable;
use crate::engine::worker::Worker;
use crate::scan::lookup::locate;
use crate::scan::row_values::RowShape;
use crate::scan::snapshot::EmbeddedSnapshot;
use crate::transaction::Committer;

/// Tables on an [`OrderedKv`] in this process.
pub struct EmbeddedTables {
    committer: Committer,
    capabilities: Capabilities,
    /// Ends before the layout does.
    worker: Mutex<Option<Worker>>,
}

impl EmbeddedTables {
    /// The tables on `kv`: directories and recent rows are read, nothing is written; no table is open yet.
    ///
    /// # Errors
    /// The store's; [`TableError::CorruptLayout`], [`TableError::OtherLayout`].
    pub fn open(kv: Arc<dyn OrderedKv>, clock: Arc<dyn Clock>) -> Result<Self, TableError> {
        Self::open_with(kv, clock, LayoutOptions::default())
    }

    /// As [`EmbeddedTables::open`], with sizes of one's own.
    ///
    /// # Errors
    /// As there.
    pub fn open_with(
        kv: Arc<dyn OrderedKv>,
        clock: Arc<dyn Clock>,
        options: LayoutOptions,
    ) -> Result<Self, TableError> {
        let saltwing_store::Capabilities { name, persistent, durability, .. } = *kv.capabilities();
        let (atomic, snapshots) = (AtomicScope::Store, SnapshotScope::Store);
        let capabilities = Capabilities { name, atomic, snapshots, sets_columns: false, persistent, durability };
        let committer = Committer { packed: Arc::new(StorageEngine::open(kv, clock, options)?), log: Arc::default() };
        Ok(Self { committer, capabilities, worker: Mutex::default() })
    }

    /// Starts the thread that merges recent rows into blocks, if the options have one. It resumes an unfinished merge
    /// of an earlier process. Call it after all tables are registered: rows of other tables are taken for rows of
    /// dropped tables and deleted.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn start_merging(&self) -> Result<(), TableError> {
        let mut worker = self.worker.lock();
        if worker.is_none() && self.committer.packed.is_merged_by_thread() {
            *worker = Some(Worker::start(self.committer.packed.clone())?);
        }
        Ok(())
    }

    /// Brings every recent row into blocks now.
    ///
    /// # Errors
    /// The store's; [`StorageCause::Poisoned`](saltwing_access::StorageCause) after a merge whose outcome is unknown.
    pub fn merge(&self) -> Result<(), TableError> {
        self.committer.packed.merge_all()
    }

    /// Merges every recent row into blocks now, and rewrites blocks of this table that are larger or much smaller than
    /// they should be, as after a change of its limits. Then the store frees the space of replaced blocks. All of that
    /// is done on return.
    ///
    /// `context` can stop it, while it waits for another merge and between its steps. Merged rows stay merged.
    ///
    /// # Errors
    /// [`TableError::NoSuchTable`]; as [`ScanContext::check`] and [`EmbeddedTables::merge`].
    pub fn compact(&self, id: TableId, context: &ScanContext) -> Result<(), TableError> {
        self.table(id)?;
        self.committer.packed.compact(id, &|| context.check())
    }

    /// The sizes of the open tables, and their counters since they were opened.
    ///
    /// Costs a walk over the recent rows; holds nobody off.
    pub fn storage_stats(&self) -> StorageStats {
        self.committer.packed.storage_stats()
    }

    /// Logs and keeps what failed in the background, outside of the storage itself.
    pub fn note_failure(&self, task: &'static str, error: &dyn std::error::Error) {
        self.packed().note_failure(task, error);
    }

    /// Deletes the expired rows of all tables; returns how many.
    ///
    /// # Errors
    /// As [`EmbeddedTables::merge`].
    pub fn sweep(&self) -> Result<u64, TableError> {
        self.committer.packed.sweep()
    }

    pub(crate) fn packed(&self) -> &StorageEngine {
        &self.committer.packed
    }

    /// The clock that rows are stamped by.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        self.committer.packed.clock()
    }

    /// The layout of a table's rows: cached for an open table, computed again for an earlier definition.
    pub(crate) fn stored(&self, table: &Arc<Table>) -> Arc<StoredTable> {
        StoredTable::open(&self.committer.packed.tables, table)
    }

    /// Brings everything acknowledged to the disk, and recent rows into blocks if they are more than a delta should have:
    /// the next opening reads recent rows into memory.
    ///
    /// # Errors
    /// The store's.
    pub fn close(&self) -> Result<(), TableError> {
        let merged = self.committer.packed.merge_surplus();
        self.committer.packed.kv().close().map_err(StorageError::from)?;
        merged
    }
}

impl TableStore for EmbeddedTables {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn now_ms(&self) -> i64 {
        self.clock().now_ms()
    }

    fn newest_commit(&self) -> CommitNo {
        self.committer.log.newest()
    }

    fn open_table(&self, table: Table) -> Arc<Table> {
        let table = Arc::new(table);
        self.packed().open_table(table.clone());
        table
    }

    fn close_table(&self, id: TableId) {
        self.packed().tables.write().remove(&id);
    }

    fn table(&self, id: TableId) -> Result<Arc<Table>, TableError> {
        let tables = self.packed().tables.read();
        tables.get(&id).map(|stored| stored.table().clone()).ok_or(TableError::NoSuchTable(id.0))
    }

    fn purge(&self, id: TableId) -> Result<(), TableError> {
        self.packed().purge(id)
    }

    fn snapshot(&self) -> Result<Arc<dyn Snapshot>, TableError> {
        Ok(Arc::new(EmbeddedSnapshot::newest(&self.committer.packed)))
    }

    fn point(&self, columns: &Projection, row_key: &[u8]) -> Result<Option<PointRow>, TableError> {
        let shape = RowShape::of(&self.packed().tables, columns)?;
        let table = shape.table();
        table.count_read(row_key);
        let found = self.packed().with_rows(table.def().id, |rows| Some((rows.definition, locate(rows, row_key))));
        let Some((definition, location)) = found else { return Ok(None) };
        if definition > table.version() {
            return Err(TableError::DefinitionChanged { table: table.def().name.to_string() });
        }
        // The clock is read after the rows, as for a snapshot.
        let expired_ms = table.def().ttl_s.and_then(|_| table.expired_ms(self.clock().now_ms()));
        let Some(found) = location.map_or(Ok(None), |location| location.read_alone(row_key, expired_ms))? else {
            return Ok(None);
        };
        let bytes = if shape.width() == 0 { 0 } else { found.segment.bytes() };
        Ok(Some(PointRow { values: shape.values(row_key, found)?, bytes }))
    }

    fn batch(&self) -> Box<dyn WriteBatch> {
        Box::new(self.committer.batch())
    }

    fn begin(&self) -> Result<Box<dyn Transaction>, TableError> {
        Ok(Box::new(self.committer.begin()))
    }

    fn allocate_row_ids(&self, table: &Arc<Table>, count: usize) -> Result<Range<i64>, TableError> {
        self.next_row_ids(table, count)
    }

    fn accesses(&self, id: TableId) -> Option<Vec<Slot>> {
        self.packed().table(id)?.accesses().map(|accesses| accesses.slots())
    }
}

impl Examine for EmbeddedTables {
    fn examine(&self, table: &Arc<Table>, context: &ScanContext, take: TakeRow<'_>) -> Result<Examined, TableError> {
        self.packed().examine(&self.stored(table), &|| context.check(), take)
    }
}
