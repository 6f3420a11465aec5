//! Tables over one ordered store.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use parking_lot::{Mutex, RwLock, RwLockWriteGuard};
use saltwing_store::{Capabilities, Durability, OrderedKv, WriteBatch};
use saltwing_types::{TableDef, TableId, Value};

use crate::bucket::get_row;
use crate::decode::row_values;
use crate::layout::{ROWS, store_key};
use crate::scan::{BatchStream, Scan, ScanRequest};
use crate::write_set::RowWrite;
use crate::{CommitLog, CommitNo, ReadToken, ReadView, ScanContext, Table, TableError, WriteSet};

/// What the store below lets tables promise, as data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableCapabilities {
    /// The store's name.
    pub store: &'static str,
    /// Whether a commit over several rows is atomic.
    pub atomic_batches: bool,
    /// Whether rows can be handed out while others commit. If not, a statement
    /// reads its rows to the end before it returns.
    pub streams: bool,
    /// Whether anything is there after the process ends.
    pub persistent: bool,
}

/// Tables, read and written by whoever executes.
///
/// Asynchronous, because a store may be a network away; what is in this process is
/// reached without by [`TableStore::lane`].
#[async_trait]
pub trait TableStore: Send + Sync {
    /// What this store can do.
    fn capabilities(&self) -> &TableCapabilities;

    /// Everything committed so far.
    async fn view(&self) -> Result<Arc<ReadView>, TableError>;

    /// Starts a scan.
    async fn scan(
        &self,
        view: Arc<ReadView>,
        request: ScanRequest,
        context: ScanContext,
    ) -> Result<BatchStream, TableError>;

    /// Writes rows, all or none, unless another commit was first on one of them since `read_at`.
    async fn commit(
        &self,
        writes: WriteSet,
        read_at: Option<Arc<ReadToken>>,
        durability: Durability,
    ) -> Result<CommitNo, TableError>;

    /// The synchronous lane, if the tables are in this process.
    fn lane(&self) -> Option<&EmbeddedTables>;
}

/// Tells the time: milliseconds since 1970.
pub trait Clock: Send + Sync {
    /// Now.
    fn now_ms(&self) -> i64;
}

/// The computer's clock.
#[derive(Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now_ms(&self) -> i64 {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis() as i64)
    }
}

/// Tables on an [`OrderedKv`] in this process.
pub struct EmbeddedTables {
    pub(crate) kv: Arc<dyn OrderedKv>,
    capabilities: TableCapabilities,
    tables: RwLock<HashMap<TableId, Arc<Table>>>,
    log: Arc<CommitLog>,
    /// Held from the conflict check until the batch is in the store.
    pub(crate) commit_lock: Mutex<()>,
    /// Without snapshots: read by views, written by commits.
    reads: Arc<RwLock<()>>,
    clock: Arc<dyn Clock>,
}

impl EmbeddedTables {
    /// Tables on `kv`; none is open yet.
    pub fn new(kv: Arc<dyn OrderedKv>, clock: Arc<dyn Clock>) -> Self {
        let Capabilities { name, atomic, snapshots, persistent, .. } = *kv.capabilities();
        let capabilities = TableCapabilities {
            store: name,
            atomic_batches: atomic == saltwing_store::AtomicScope::Batch,
            streams: snapshots,
            persistent,
        };
        Self {
            kv,
            capabilities,
            tables: RwLock::default(),
            log: Arc::default(),
            commit_lock: Mutex::default(),
            reads: Arc::default(),
            clock,
        }
    }

    /// What the store below lets tables promise.
    pub fn capabilities(&self) -> &TableCapabilities {
        &self.capabilities
    }

    /// The clock that rows are stamped by.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// Opens a table, or replaces its definition.
    ///
    /// # Errors
    /// [`TableError::RowKey`] when its key cannot be encoded.
    pub fn register(&self, def: Arc<TableDef>) -> Result<Arc<Table>, TableError> {
        let table = Arc::new(Table::new(def)?);
        self.tables.write().insert(table.def().id, table.clone());
        Ok(table)
    }

    /// Closes a table; its rows stay until [`EmbeddedTables::purge`].
    pub fn unregister(&self, id: TableId) {
        self.tables.write().remove(&id);
    }

    /// An open table.
    ///
    /// # Errors
    /// [`TableError::NoSuchTable`].
    pub fn table(&self, id: TableId) -> Result<Arc<Table>, TableError> {
        self.tables.read().get(&id).cloned().ok_or(TableError::NoSuchTable(id.0))
    }

    /// All open tables.
    pub(crate) fn tables(&self) -> Vec<Arc<Table>> {
        self.tables.read().values().cloned().collect()
    }

    /// Everything committed so far.
    ///
    /// # Errors
    /// The store's.
    pub fn view(&self) -> Result<Arc<ReadView>, TableError> {
        let now_ms = self.clock.now_ms();
        if !self.capabilities.streams {
            let guard = self.reads.read_arc_recursive();
            return Ok(Arc::new(ReadView::locked(self.kv.clone(), guard, now_ms, self.log.begin())));
        }
        // Under the commit lock, so that number and snapshot are of one moment.
        let _commits_wait = self.commit_lock.lock();
        let token = self.log.begin();
        Ok(Arc::new(ReadView::of_snapshot(self.kv.snapshot()?, now_ms, token)))
    }

    /// Starts a scan.
    ///
    /// # Errors
    /// The store's.
    pub fn scan(&self, view: Arc<ReadView>, request: ScanRequest, context: ScanContext) -> Result<Scan, TableError> {
        Scan::new(view, request, context)
    }

    /// One row by its physical key: a value for each column of the table; `None` when it is not there.
    ///
    /// # Errors
    /// The store's; [`TableError::Corrupt`].
    pub fn get(&self, view: &ReadView, table: &Table, row_key: &[u8]) -> Result<Option<Vec<Value>>, TableError> {
        let others: Vec<u8> = (1..table.family_count()).map(|f| f as u8).collect();
        get_row(view, table, row_key, &others)?.map(|pair| row_values(table, &pair)).transpose()
    }

    /// Whether a row is there.
    ///
    /// # Errors
    /// The store's.
    pub fn contains(&self, view: &ReadView, table: &Table, row_key: &[u8]) -> Result<bool, TableError> {
        Ok(get_row(view, table, row_key, &[])?.is_some())
    }

    /// Writes rows, all or none.
    ///
    /// With `read_at`, only if no other commit wrote one of the keys since; without,
    /// whatever was there. On a store without snapshots this waits for all views: drop your own first.
    ///
    /// # Errors
    /// [`TableError::Conflict`], [`TableError::SnapshotTooOld`]; the store's.
    pub fn commit(
        &self,
        writes: &WriteSet,
        read_at: Option<&ReadToken>,
        durability: Durability,
    ) -> Result<CommitNo, TableError> {
        let batch = self.encode(writes);
        let number = {
            let _reads_wait = self.wait_for_reads();
            let _one_by_one = self.commit_lock.lock();
            if let Some(token) = read_at {
                self.log.check(token, writes.keys(), |id| writes.table_name(id))?;
            }
            self.kv.write(batch, Durability::Buffered)?;
            self.log.record(writes.keys())
        };
        // Outside the lock, so that commits at the same time share one sync.
        if durability == Durability::Synced {
            self.kv.write(WriteBatch::new(), Durability::Synced)?;
        }
        Ok(number)
    }

    /// On a store without snapshots: waits until no view is left, and keeps new ones out.
    pub(crate) fn wait_for_reads(&self) -> Option<RwLockWriteGuard<'_, ()>> {
        (!self.capabilities.streams).then(|| self.reads.write())
    }

    fn encode(&self, writes: &WriteSet) -> WriteBatch {
        let time_ms = self.clock.now_ms();
        let mut batch = WriteBatch::with_capacity(writes.len());
        for RowWrite { table, key, row } in &writes.writes {
            let id = table.def().id;
            for family in 0..table.family_count() {
                let store_key = store_key(id, family as u8, key);
                match (row, table.layout(family)) {
                    (Some(row), Some(layout)) if family == 0 || table.has_value(family, row) => {
                        let value = layout.encode(time_ms, |slot| table.slot_value(family, slot, row));
                        batch.put(ROWS, store_key, value);
                    }
                    _ => batch.delete(ROWS, store_key),
                }
            }
        }
        batch
    }

    /// Brings everything acknowledged to the disk.
    ///
    /// # Errors
    /// The store's.
    pub fn close(&self) -> Result<(), TableError> {
        Ok(self.kv.close()?)
    }
}

#[async_trait]
impl TableStore for EmbeddedTables {
    fn capabilities(&self) -> &TableCapabilities {
        &self.capabilities
    }

    async fn view(&self) -> Result<Arc<ReadView>, TableError> {
        EmbeddedTables::view(self)
    }

    async fn scan(
        &self,
        view: Arc<ReadView>,
        request: ScanRequest,
        context: ScanContext,
    ) -> Result<BatchStream, TableError> {
        let scan = EmbeddedTables::scan(self, view, request, context)?;
        Ok(Box::pin(futures_util::stream::try_unfold(scan, |mut scan| async move {
            Ok(scan.next_batch()?.map(|batch| (batch, scan)))
        })))
    }

    async fn commit(
        &self,
        writes: WriteSet,
        read_at: Option<Arc<ReadToken>>,
        durability: Durability,
    ) -> Result<CommitNo, TableError> {
        EmbeddedTables::commit(self, &writes, read_at.as_deref(), durability)
    }

    fn lane(&self) -> Option<&EmbeddedTables> {
        Some(self)
    }
}
