//! A statement's snapshot.

use std::sync::Arc;

use saltwing_access::{
    ColumnEstimate, Estimate, KeySet, Projection, RowSource, ScanContext, ScanRoute, ScanSpec, ShortRange, Snapshot,
    SplitTarget, Table, TableError,
};
use saltwing_expr::RowValues;
use saltwing_heat::KeyPrefix;
use saltwing_rowkey::KeyRange;
use saltwing_types::{Direction, Value};

use crate::engine::storage_engine::{StorageEngine, TableMap};
use crate::engine::stored_table::StoredTable;
use crate::engine::table_rows::TableRows;
use crate::format::delta_record::Record;
use crate::scan::estimate::{estimate, estimate_columns};
use crate::scan::few::few_rows;
use crate::scan::lookup::find;
use crate::scan::row_values::RowShape;
use crate::scan::rows_of_keys::append_all;
use crate::scan::shape::ScanShape;
use crate::scan::snapshot_rows::SnapshotRows;
use crate::scan::split::split;
use crate::scan::table_scan::Scan;
use crate::scan::totals::is_known;

/// Blocks sampled to judge all of them.
const BLOCKS_SAMPLED: usize = 16;

/// Ranges of a bucket that are looked through one by one for older rows; more are taken for one range.
const RANGES_MAX: usize = 64;

/// The rows of all tables as of one commit, and of the transaction that reads.
pub(crate) struct EmbeddedSnapshot {
    rows: SnapshotRows,
    now_ms: i64,
    engine: Arc<StorageEngine>,
}

impl EmbeddedSnapshot {
    pub(crate) fn new(tables: TableMap, engine: &Arc<StorageEngine>) -> Self {
        // The clock is read after the rows: a row that was dropped as expired is expired at this time, too.
        Self { rows: SnapshotRows::new(tables), now_ms: engine.clock().now_ms(), engine: engine.clone() }
    }

    /// Everything committed so far.
    pub(crate) fn newest(engine: &Arc<StorageEngine>) -> Self {
        let (tables, ()) = engine.freeze_tables(|| ());
        Self::new(tables, engine)
    }

    /// The same rows, which expire by another time.
    fn expiring_at(self, now_ms: i64) -> Self {
        Self { now_ms, ..self }
    }

    /// The same rows, and over them those of these records, as the newest rows of a memtable.
    pub(crate) fn with(&self, records: &[Record]) -> Self {
        Self { rows: self.rows.with(records), now_ms: self.now_ms, engine: self.engine.clone() }
    }

    pub(crate) fn tables(&self) -> &TableMap {
        self.rows.tables()
    }

    /// The compiled form of a scan specification.
    fn shape(&self, spec: &ScanSpec) -> Result<Arc<ScanShape>, TableError> {
        spec.compiled().get_or_compile(|| {
            let table = StoredTable::open(&self.engine.tables, spec.table());
            ScanShape::new(&table, spec)
        })
    }

    /// The rows of a table, for a reader with this definition of it.
    ///
    /// # Errors
    /// [`TableError::DefinitionChanged`] where the rows may be written by a later one.
    pub(crate) fn rows_for(&self, table: &Table) -> Result<TableRows, TableError> {
        Ok(self.known_rows(table)?.cloned().unwrap_or_default())
    }

    /// As [`EmbeddedSnapshot::rows_for`]; `None` if the table has never had rows.
    fn known_rows(&self, table: &Table) -> Result<Option<&TableRows>, TableError> {
        let rows = self.tables().get(&table.def().id.0);
        match rows.is_some_and(|rows| rows.definition > table.version()) {
            true => Err(TableError::DefinitionChanged { table: table.def().name.to_string() }),
            false => Ok(rows),
        }
    }
}

impl Snapshot for EmbeddedSnapshot {
    fn now_ms(&self) -> i64 {
        self.now_ms
    }

    fn scan(&self, spec: &ScanSpec, route: ScanRoute, context: ScanContext) -> Result<Box<dyn RowSource>, TableError> {
        let shape = self.shape(spec)?;
        let rows = self.rows_for(shape.table())?;
        Ok(Box::new(Scan::new(rows, self.now_ms, shape, route, context)?))
    }

    fn get(&self, columns: &Projection, row_key: &[u8]) -> Result<Option<Vec<Value>>, TableError> {
        let shape = RowShape::of(&self.engine.tables, columns)?;
        let Some(rows) = self.known_rows(shape.table())? else { return Ok(None) };
        shape.table().count_read(row_key);
        let found = find(rows, row_key, shape.table().expired_ms(self.now_ms))?;
        found.map(|found| Ok(shape.values(row_key, found)?.values().collect())).transpose()
    }

    fn get_all(
        &self,
        columns: &Projection,
        keys: &[Vec<u8>],
        values: &mut RowValues,
        context: Option<&ScanContext>,
    ) -> Result<usize, TableError> {
        let shape = RowShape::of(&self.engine.tables, columns)?;
        let Some(rows) = self.known_rows(shape.table())? else { return Ok(0) };
        shape.table().count_reads(keys.len(), |index| keys.get(index).map(|key| KeyPrefix::of(key)));
        append_all((rows, shape.table().expired_ms(self.now_ms)), &shape, keys, values, context)
    }

    fn get_range(
        &self,
        columns: &Projection,
        range: ShortRange<'_>,
        values: &mut RowValues,
    ) -> Result<Option<usize>, TableError> {
        let shape = RowShape::of(&self.engine.tables, columns)?;
        let Some(rows) = self.known_rows(shape.table())? else { return Ok(None) };
        match few_rows(rows, shape.table().expired_ms(self.now_ms), range) {
            None => Ok(None),
            Some(few) => {
                shape.table().count_reads(1, |_| Some(few.first_key(&range)));
                few.append_to(values, &shape, range.direction).map(Some)
            }
        }
    }

    fn get_range_keys(
        &self,
        table: &Table,
        range: ShortRange<'_>,
        each: &mut dyn FnMut(&[u8]) -> Result<(), TableError>,
    ) -> Result<bool, TableError> {
        let Some(rows) = self.known_rows(table)? else { return Ok(false) };
        match few_rows(rows, table.expired_ms(self.now_ms), range) {
            None => Ok(false),
            Some(few) => {
                rows.count_read(|| few.first_key(&range));
                few.each_key(range.direction, each).map(|()| true)
            }
        }
    }

    fn contains(&self, table: &Table, row_key: &[u8]) -> Result<bool, TableError> {
        let Some(rows) = self.known_rows(table)? else { return Ok(false) };
        rows.count_read(|| KeyPrefix::of(row_key));
        Ok(find(rows, row_key, table.expired_ms(self.now_ms))?.is_some())
    }

    fn split(&self, table: &Table, route: &ScanRoute, target: SplitTarget) -> Result<Vec<KeyRange>, TableError> {
        Ok(split(&self.rows_for(table)?, table, route, target))
    }

    fn reads_wait(&self) -> bool {
        false
    }

    fn estimate(&self, table: &Table, keys: &KeySet) -> Result<Estimate, TableError> {
        Ok(estimate(&self.rows_for(table)?, table, keys))
    }

    fn estimate_columns(&self, table: &Table, columns: &[usize]) -> Result<Vec<ColumnEstimate>, TableError> {
        Ok(estimate_columns(&self.rows_for(table)?, table, columns))
    }

    fn adds_up(&self, spec: &ScanSpec) -> Result<bool, TableError> {
        Ok(self.shape(spec)?.is_decided_early())
    }

    fn knows_totals(&self, spec: &ScanSpec) -> Result<bool, TableError> {
        let (shape, rows) = (self.shape(spec)?, self.rows_for(spec.table())?);
        // One block is representative of most.
        let block = rows.directory.entries().take(BLOCKS_SAMPLED).find_map(|entry| entry.lone_block());
        Ok(!shape.is_filtered() && block.is_some_and(|block| is_known(&block.summary, &shape.columns().all)))
    }

    fn as_of(&self, table: &Table, at_ms: i64) -> Result<Arc<dyn Snapshot>, TableError> {
        Ok(Arc::new(PastSnapshot::new(&self.engine, table, at_ms)?))
    }
}

/// One table's rows at an earlier time: the newest rows, and over them those that were changed since, as they were.
struct PastSnapshot {
    newest: EmbeddedSnapshot,
    engine: Arc<StorageEngine>,
    table: Arc<StoredTable>,
}

impl PastSnapshot {
    /// # Errors
    /// [`TableError::NoVersions`], [`TableError::BeyondVersions`], [`TableError::FutureTime`].
    fn new(engine: &Arc<StorageEngine>, table: &Table, at_ms: i64) -> Result<Self, TableError> {
        let id = table.def().id;
        // The open one: it knows since when versions are kept.
        let table = engine.table(id).ok_or(TableError::NoSuchTable(id.0))?;
        let newest = EmbeddedSnapshot::newest(engine).expiring_at(at_ms);
        engine.check_time(&table, at_ms)?;
        Ok(Self { newest, engine: engine.clone(), table })
    }

    /// A snapshot that is right for the keys of these ranges.
    fn within(&self, ranges: &[KeyRange], context: Option<&ScanContext>) -> Result<EmbeddedSnapshot, TableError> {
        let go_on = || context.map_or(Ok(()), ScanContext::check);
        let at_ms = self.newest.now_ms();
        let mut snapshot = self.newest.with(&[]);
        for range in ranges {
            let rows = self.engine.rows_at(&self.table, (range.start(), range.end()), at_ms, &go_on)?;
            snapshot = snapshot.with(&rows);
        }
        Ok(snapshot)
    }

    /// Ranges of physical keys that contain these keys.
    fn ranges(&self, keys: &KeySet) -> Vec<KeyRange> {
        let in_bucket = |bucket: Option<u8>| {
            let physical = |range: KeyRange| range.in_bucket(bucket);
            let some: Vec<KeyRange> = keys.ranges(bucket, Direction::Forward).take(RANGES_MAX + 1).collect();
            if some.len() <= RANGES_MAX {
                return some.into_iter().map(physical).collect();
            }
            let last = keys.ranges(bucket, Direction::Reverse).next();
            let (first, end) = (some.into_iter().next(), last.and_then(|last| last.into_bounds().1));
            first
                .and_then(|first| KeyRange::new(first.into_bounds().0, end))
                .map(physical)
                .into_iter()
                .collect::<Vec<_>>()
        };
        keys.buckets(&self.table.def().key).into_iter().flat_map(in_bucket).collect()
    }
}

impl Snapshot for PastSnapshot {
    fn now_ms(&self) -> i64 {
        self.newest.now_ms()
    }

    fn scan(&self, spec: &ScanSpec, route: ScanRoute, context: ScanContext) -> Result<Box<dyn RowSource>, TableError> {
        self.within(&self.ranges(&route.keys), Some(&context))?.scan(spec, route, context)
    }

    fn get(&self, columns: &Projection, row_key: &[u8]) -> Result<Option<Vec<Value>>, TableError> {
        self.within(&[KeyRange::point(row_key.to_vec())], None)?.get(columns, row_key)
    }

    fn contains(&self, table: &Table, row_key: &[u8]) -> Result<bool, TableError> {
        self.within(&[KeyRange::point(row_key.to_vec())], None)?.contains(table, row_key)
    }

    fn split(&self, table: &Table, route: &ScanRoute, target: SplitTarget) -> Result<Vec<KeyRange>, TableError> {
        self.newest.split(table, route, target)
    }

    fn reads_wait(&self) -> bool {
        self.newest.reads_wait()
    }

    fn estimate(&self, table: &Table, keys: &KeySet) -> Result<Estimate, TableError> {
        Ok(Estimate { is_exact: false, ..self.newest.estimate(table, keys)? })
    }

    fn estimate_columns(&self, table: &Table, columns: &[usize]) -> Result<Vec<ColumnEstimate>, TableError> {
        self.newest.estimate_columns(table, columns)
    }

    fn adds_up(&self, spec: &ScanSpec) -> Result<bool, TableError> {
        self.newest.adds_up(spec)
    }

    fn knows_totals(&self, _: &ScanSpec) -> Result<bool, TableError> {
        Ok(false)
    }

    fn as_of(&self, table: &Table, at_ms: i64) -> Result<Arc<dyn Snapshot>, TableError> {
        self.newest.as_of(table, at_ms)
    }
}
