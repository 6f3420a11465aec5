//! Tables over one ordered store.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use saltwing_access::{
    ColumnEstimate, Division, Estimate, RangeSample, ScanContext, ScanRequest, ScanRoute, Table, TableError,
};
use saltwing_expr::RowValues;
use saltwing_rowkey::BucketRange;
use saltwing_store::{Announced, Capabilities, Direction, Durability, DurabilityScope, OrderedKv};
use saltwing_types::{TableDef, TableId, Value};

use crate::division::divide;
use crate::estimate::{estimate, estimate_columns};
use crate::packed::delta_record::keyed_rows;
use crate::packed::{LayoutOptions, Moment, Packed, StorageStats, Worker};
use crate::row_values::RowShape;
use crate::scan::Scan;
use crate::shape::ScanShape;
use crate::totals::is_known;
use crate::walk::{find, place};
use crate::{CommitLog, CommitNo, ReadToken, ReadView, StoredTable, WriteSet};

/// Blocks that are looked at to expect something of all.
const BLOCKS_ASKED: usize = 16;

/// What the store below lets tables promise, as data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableCapabilities {
    /// The store's name.
    pub store: &'static str,
    /// Whether a commit over several rows is atomic.
    pub atomic_batches: bool,
    /// Whether anything is there after the process ends.
    pub persistent: bool,
    /// What an acknowledged synced commit survives.
    pub durability: DurabilityScope,
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

/// A row that was read by its key.
#[derive(Clone, Debug)]
pub struct PointRow {
    /// The columns asked for, of the one row.
    pub values: RowValues,
    /// Stored bytes that were touched for them, about.
    pub bytes: u64,
}

/// Tables on an [`OrderedKv`] in this process.
pub struct EmbeddedTables {
    packed: Arc<Packed>,
    capabilities: TableCapabilities,
    log: Arc<CommitLog>,
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
        let Capabilities { name, atomic, persistent, durability, .. } = *kv.capabilities();
        let atomic_batches = atomic == saltwing_store::AtomicScope::Batch;
        let capabilities = TableCapabilities { store: name, atomic_batches, persistent, durability };
        let packed = Arc::new(Packed::open(kv, clock, options)?);
        Ok(Self { packed, capabilities, log: Arc::default(), worker: Mutex::default() })
    }

    /// Starts the thread that brings recent rows into blocks, where it is a thread that does. It goes on with what
    /// an earlier process left unfinished. Call it when all tables are registered: rows of others are taken for
    /// those of dropped tables, and go.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn start_merging(&self) -> Result<(), TableError> {
        let mut worker = self.worker.lock();
        if worker.is_none() && self.packed.is_merged_by_thread() {
            *worker = Some(Worker::start(self.packed.clone())?);
        }
        Ok(())
    }

    /// Brings every recent row into blocks now.
    ///
    /// # Errors
    /// The store's; [`TableError::MergeStalled`].
    pub fn merge(&self) -> Result<(), TableError> {
        self.packed.merge_all()
    }

    /// Brings every recent row into blocks now, and cuts blocks of this table anew that are larger or much smaller
    /// than they should be, as after a change of its limits. Then the store gives back what replaced blocks took. When it
    /// returns, that is done.
    ///
    /// `context` can stop it: while it waits for another merge, and between its steps. What was merged stays so.
    ///
    /// # Errors
    /// [`TableError::NoSuchTable`]; as [`ScanContext::check`] and [`EmbeddedTables::merge`].
    pub fn compact(&self, id: TableId, context: &ScanContext) -> Result<(), TableError> {
        self.table(id)?;
        self.packed.compact(id, &|| context.check())
    }

    /// What is stored of the open tables, and what was written and read since they were opened.
    ///
    /// Costs a walk over the recent rows; holds nobody off.
    pub fn storage_stats(&self) -> StorageStats {
        self.packed.storage_stats()
    }

    /// Deletes the expired rows of all tables; returns how many.
    ///
    /// # Errors
    /// As [`EmbeddedTables::merge`].
    pub fn sweep(&self) -> Result<u64, TableError> {
        self.packed.sweep()
    }

    /// Deletes every row of a table that is no longer open.
    ///
    /// # Errors
    /// As [`EmbeddedTables::merge`]. What was deleted until then stays deleted; call it again.
    pub fn purge(&self, id: TableId) -> Result<(), TableError> {
        self.packed.purge(id)
    }

    pub(crate) fn packed(&self) -> &Packed {
        &self.packed
    }

    /// What the store below lets tables promise.
    pub fn capabilities(&self) -> &TableCapabilities {
        &self.capabilities
    }

    /// The clock that rows are stamped by.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        self.packed.clock()
    }

    /// Opens a table, or replaces its definition.
    ///
    /// # Errors
    /// [`TableError::RowKey`] when its key cannot be encoded.
    pub fn register(&self, def: Arc<TableDef>) -> Result<Arc<Table>, TableError> {
        Ok(self.replace(Table::new(def)?))
    }

    /// Opens a table, or puts its next definition in the place of the one before.
    ///
    /// From then on no commit writes rows by an older one ([`TableError::DefinitionChanged`]): such a row would take
    /// the place of what is in columns that it does not know.
    pub fn replace(&self, table: Table) -> Arc<Table> {
        let table = Arc::new(table);
        self.packed.open_table(Arc::new(StoredTable::new(table.clone())));
        table
    }

    /// Closes a table; its rows stay until [`EmbeddedTables::purge`].
    pub fn unregister(&self, id: TableId) {
        self.packed.tables.write().remove(&id);
    }

    /// An open table.
    ///
    /// # Errors
    /// [`TableError::NoSuchTable`].
    pub fn table(&self, id: TableId) -> Result<Arc<Table>, TableError> {
        self.packed.tables.read().get(&id).map(|stored| Arc::clone(stored.table())).ok_or(TableError::NoSuchTable(id.0))
    }

    /// The layout of a table's rows: of an open table it is there, an earlier definition's is made again.
    pub(crate) fn stored(&self, table: &Arc<Table>) -> Arc<StoredTable> {
        StoredTable::open(&self.packed.tables, table)
    }

    /// Everything committed so far.
    ///
    /// # Errors
    /// None on an embedded store.
    pub fn view(&self) -> Result<Arc<ReadView>, TableError> {
        let (moment, ()) = self.packed.moment(|| ());
        Ok(self.view_of(moment))
    }

    /// Everything committed so far, and what a commit on it is checked against: while the token lives, later commits are
    /// remembered. It may outlive the view.
    ///
    /// # Errors
    /// None on an embedded store.
    pub fn begin(&self) -> Result<(Arc<ReadView>, Arc<ReadToken>), TableError> {
        let (moment, token) = self.packed.moment(|| self.log.begin());
        Ok((self.view_of(moment), Arc::new(token)))
    }

    fn view_of(&self, moment: Moment) -> Arc<ReadView> {
        // After the moment: no row that it has was dropped for a later time.
        Arc::new(ReadView::new(moment, self.clock().now_ms()))
    }

    /// Starts a scan.
    ///
    /// # Errors
    /// The store's.
    pub fn scan(&self, view: Arc<ReadView>, request: ScanRequest, context: ScanContext) -> Result<Scan, TableError> {
        let ScanRequest { table, ranges, buckets, columns, filter, direction, order, limit, first_batch } = request;
        let shape = Arc::new(ScanShape::of(&self.stored(&table), &columns, filter)?);
        let route = ScanRoute { ranges, buckets, direction, order, limit, first_batch };
        Scan::new(&view, shape, route, context)
    }

    /// Starts a scan of a shape that was made ready before.
    ///
    /// # Errors
    /// As [`EmbeddedTables::scan`].
    pub fn scan_shaped(
        &self,
        view: &ReadView,
        shape: &Arc<ScanShape>,
        route: ScanRoute,
        context: ScanContext,
    ) -> Result<Scan, TableError> {
        Scan::new(view, shape.clone(), route, context)
    }

    /// Starts a scan of the rows of one range, at most `limit`.
    ///
    /// # Errors
    /// As [`EmbeddedTables::scan`].
    pub fn scan_range(
        &self,
        view: &ReadView,
        shape: &Arc<ScanShape>,
        keys: BucketRange,
        (direction, limit): (Direction, Option<u64>),
        context: ScanContext,
    ) -> Result<Scan, TableError> {
        Scan::over(view, shape.clone(), keys, direction, limit, context)
    }

    /// About how many rows lie in some ranges: nothing is read for it.
    ///
    /// # Errors
    /// [`TableError::DefinitionChanged`].
    pub fn estimate(&self, view: &ReadView, table: &Table, ranges: &RangeSample) -> Result<Estimate, TableError> {
        Ok(estimate(&view.rows_for(table)?, table, ranges))
    }

    /// What is known of the values of these columns, by index: nothing is read for it.
    ///
    /// # Errors
    /// [`TableError::DefinitionChanged`].
    pub fn estimate_columns(
        &self,
        view: &ReadView,
        table: &Table,
        columns: &[usize],
    ) -> Result<Vec<ColumnEstimate>, TableError> {
        Ok(estimate_columns(&view.rows_for(table)?, table, columns))
    }

    /// A scan in parts, which one behind the other read what it reads, in its order; in one part where it cannot be
    /// divided, or has few rows in blocks. A part can be read on a later view too.
    ///
    /// # Errors
    /// [`TableError::DefinitionChanged`].
    pub fn divide(
        &self,
        view: &ReadView,
        table: &Table,
        route: &ScanRoute,
        division: Division,
    ) -> Result<Vec<ScanRoute>, TableError> {
        Ok(divide(&view.rows_for(table)?, table, route, division))
    }

    /// Whether a scan that adds rows up can be expected to read no blocks: the directory knows what they come to.
    ///
    /// # Errors
    /// [`TableError::DefinitionChanged`].
    pub fn knows_totals(&self, view: &ReadView, shape: &ScanShape) -> Result<bool, TableError> {
        let rows = view.rows_for(shape.table())?;
        // What is known of one block is known of most.
        let block = rows.directory.entries().take(BLOCKS_ASKED).find_map(|entry| entry.lone_block());
        Ok(!shape.is_filtered() && block.is_some_and(|block| is_known(&block.summary, &shape.columns().all)))
    }

    /// One row by its physical key: a value for each column of the table; `None` when it is not there.
    ///
    /// # Errors
    /// The store's; [`TableError::Corrupt`], [`TableError::CorruptBlock`].
    pub fn get(&self, view: &ReadView, table: &Arc<Table>, row_key: &[u8]) -> Result<Option<Vec<Value>>, TableError> {
        let found = find(&view.rows_for(table)?, row_key, table.expired_ms(view.now_ms()))?;
        let shape = RowShape::of(&self.stored(table), 0..table.def().columns.len());
        found.map(|found| Ok(shape.values(found)?.values().collect())).transpose()
    }

    /// One row as it is now, by its physical key, without a view; `None` when it is not there.
    ///
    /// # Errors
    /// As [`EmbeddedTables::get`]; [`TableError::DefinitionChanged`] where the row may be written by a later definition.
    pub fn point(&self, shape: &RowShape, row_key: &[u8]) -> Result<Option<PointRow>, TableError> {
        let table = shape.table();
        let found = self.packed.with_rows(table.def().id, |rows| Some((rows.definition, place(rows, row_key))));
        let Some((definition, place)) = found else { return Ok(None) };
        if definition > table.version() {
            return Err(TableError::DefinitionChanged { table: table.def().name.to_string() });
        }
        // After the moment, as for a view.
        let expired_ms = table.def().ttl_s.and_then(|_| table.expired_ms(self.clock().now_ms()));
        let Some(found) = place.map_or(Ok(None), |place| place.read_alone(row_key, expired_ms))? else {
            return Ok(None);
        };
        let bytes = if shape.width() == 0 { 0 } else { found.piece.bytes() };
        Ok(Some(PointRow { values: shape.values(found)?, bytes }))
    }

    /// Whether a row is there.
    ///
    /// # Errors
    /// The store's; [`TableError::CorruptBlock`].
    pub fn contains(&self, view: &ReadView, table: &Table, row_key: &[u8]) -> Result<bool, TableError> {
        Ok(find(&view.rows_for(table)?, row_key, table.expired_ms(view.now_ms()))?.is_some())
    }

    /// Writes rows, all or none.
    ///
    /// With `read_at`, only if no other commit wrote one of the keys since; without,
    /// whatever was there.
    ///
    /// # Errors
    /// [`TableError::Conflict`], [`TableError::SnapshotTooOld`]; [`TableError::DefinitionChanged`] when a table has
    /// another definition by now; the store's.
    pub fn commit(
        &self,
        writes: &WriteSet,
        read_at: Option<&ReadToken>,
        durability: Durability,
    ) -> Result<CommitNo, TableError> {
        if writes.takes_space() {
            self.packed.refuse_when_nearly_full()?;
        }
        let records = writes.records();
        let keys = || records.iter().flat_map(|record| keyed_rows(&record.bytes).map(|(key, _)| (record.table, key)));
        let check = || {
            self.check_definitions(writes)?;
            match read_at {
                Some(token) => self.log.check(token, keys(), |id| writes.table_name(id)),
                None => Ok(()),
            }
        };
        let record = || self.log.record(keys(), read_at);
        let (number, announced) = self.packed.write(&records, durability, check, record)?;
        // Outside the lock, so that commits at the same time share one sync.
        announced.map_or(Ok(()), Announced::wait)?;
        Ok(number)
    }

    /// A set of writes whose rows are stamped with the time of now.
    pub fn write_set(&self) -> WriteSet {
        WriteSet::new(self.clock().now_ms(), self.packed.tables.clone())
    }

    /// Rows are written by the newest definition of their table only.
    fn check_definitions(&self, writes: &WriteSet) -> Result<(), TableError> {
        let tables = self.packed.tables.read();
        for table in writes.tables() {
            // One that is not open was dropped, or has another number since it was truncated.
            if tables.get(&table.def().id).is_none_or(|newest| newest.version() != table.version()) {
                return Err(TableError::DefinitionChanged { table: table.def().name.to_string() });
            }
        }
        Ok(())
    }

    /// Brings everything acknowledged to the disk, and recent rows into blocks if they are more than a delta should have:
    /// the next opening reads recent rows into memory.
    ///
    /// # Errors
    /// The store's.
    pub fn close(&self) -> Result<(), TableError> {
        let merged = self.packed.merge_surplus();
        self.packed.kv().close()?;
        merged
    }
}
