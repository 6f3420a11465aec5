//! A statement's snapshot.

use std::sync::Arc;

use saltwing_access::{
    ColumnEstimate, Estimate, KeySet, Projection, RowSource, ScanContext, ScanRoute, ScanSpec, Snapshot, SplitTarget,
    Table, TableError,
};
use saltwing_rowkey::KeyRange;
use saltwing_types::{TableId, Value};

use crate::engine::storage_engine::{StorageEngine, TableMap};
use crate::engine::stored_table::{OpenTables, StoredTable};
use crate::engine::table_rows::TableRows;
use crate::format::delta_record::Record;
use crate::scan::estimate::{estimate, estimate_columns};
use crate::scan::lookup::find;
use crate::scan::row_values::RowShape;
use crate::scan::shape::ScanShape;
use crate::scan::split::split;
use crate::scan::table_scan::Scan;
use crate::scan::totals::is_known;

/// Blocks sampled to judge all of them.
const BLOCKS_ASKED: usize = 16;

/// The rows of all tables at one moment.
pub(crate) struct EmbeddedSnapshot {
    moment: TableMap,
    now_ms: i64,
    tables: Arc<OpenTables>,
}

impl EmbeddedSnapshot {
    pub(crate) fn new(moment: TableMap, packed: &StorageEngine) -> Self {
        // After the moment: no row that it has was dropped for a later time.
        Self { moment, now_ms: packed.clock().now_ms(), tables: packed.tables.clone() }
    }

    /// Everything committed so far.
    pub(crate) fn newest(packed: &StorageEngine) -> Self {
        let (moment, ()) = packed.moment(|| ());
        Self::new(moment, packed)
    }

    /// The same rows, and over them those of these records, as the newest rows of a memtable.
    pub(crate) fn with(&self, records: &[Record]) -> Self {
        let mut moment = self.moment.clone();
        for record in records {
            moment.entry(record.table.0).or_default().add(record);
        }
        Self { moment, now_ms: self.now_ms, tables: self.tables.clone() }
    }

    pub(crate) fn moment(&self) -> &TableMap {
        &self.moment
    }

    /// The compiled form of a scan specification.
    fn shape(&self, spec: &ScanSpec) -> Result<Arc<ScanShape>, TableError> {
        spec.compiled().get_or_compile(|| {
            let table = StoredTable::open(&self.tables, spec.table());
            ScanShape::new(&table, spec)
        })
    }

    /// The rows of a table, for a reader with this definition of it.
    ///
    /// # Errors
    /// [`TableError::DefinitionChanged`] where the rows may be written by a later one.
    pub(crate) fn rows_for(&self, table: &Table) -> Result<TableRows, TableError> {
        let rows = self.rows(table.def().id);
        match rows.definition > table.version() {
            true => Err(TableError::DefinitionChanged { table: table.def().name.to_string() }),
            false => Ok(rows),
        }
    }

    /// The rows of a table.
    pub(crate) fn rows(&self, table: TableId) -> TableRows {
        self.moment.get(&table.0).cloned().unwrap_or_default()
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
        let shape = RowShape::of(&self.tables, columns)?;
        let found = find(&self.rows_for(shape.table())?, row_key, shape.table().expired_ms(self.now_ms))?;
        found.map(|found| Ok(shape.values(found)?.values().collect())).transpose()
    }

    fn contains(&self, table: &Table, row_key: &[u8]) -> Result<bool, TableError> {
        Ok(find(&self.rows_for(table)?, row_key, table.expired_ms(self.now_ms))?.is_some())
    }

    fn split(&self, table: &Table, route: &ScanRoute, target: SplitTarget) -> Result<Vec<KeyRange>, TableError> {
        Ok(split(&self.rows_for(table)?, table, route, target))
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
        let block = rows.directory.entries().take(BLOCKS_ASKED).find_map(|entry| entry.lone_block());
        Ok(!shape.is_filtered() && block.is_some_and(|block| is_known(&block.summary, &shape.columns().all)))
    }
}
