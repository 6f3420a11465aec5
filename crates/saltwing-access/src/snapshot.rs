//! Reads: snapshots and their row sources.

use std::sync::Arc;
use std::task::{self, Poll};

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use saltwing_expr::{RowValues, value_at};
use saltwing_rowkey::KeyRange;
use saltwing_types::{TableName, Value};

use crate::keys::KeyList;
use crate::short_range::ShortRange;
use crate::{
    Aggregation, ColumnEstimate, Estimate, KeySet, PartialSource, Projection, ScanContext, ScanRoute, ScanSpec,
    SplitTarget, Table, TableError, Total, Totals,
};

/// All rows at one instant: it never changes, and it blocks no one.
///
/// A snapshot keeps its data from being reclaimed: hold it for a statement or a transaction, not for hours. Take it
/// before the definitions of the tables: rows can be read by their own definition or a later one, never by an earlier
/// one ([`TableError::DefinitionChanged`]).
pub trait Snapshot: Send + Sync {
    /// The time by which rows expire, in milliseconds since 1970.
    fn now_ms(&self) -> i64;

    /// Starts a scan. It does not wait for a server: the first read does, or [`RowSource::poll_ready`].
    ///
    /// # Errors
    /// [`TableError::DefinitionChanged`]; the store's.
    fn scan(&self, spec: &ScanSpec, route: ScanRoute, context: ScanContext) -> Result<Box<dyn RowSource>, TableError>;

    /// The row of this physical key: a value for each column; `None` if there is no row.
    ///
    /// # Errors
    /// As [`Snapshot::scan`].
    fn get(&self, columns: &Projection, row_key: &[u8]) -> Result<Option<Vec<Value>>, TableError>;

    /// Adds the rows of some physical keys to `values`, which has these columns, in the order of the keys; how many there are.
    /// The keys differ. A row that is not there is left out, and then the others may come in any order. Without a context the
    /// rows are neither counted nor limited.
    ///
    /// # Errors
    /// As [`Snapshot::scan`], and those of its [`RowSource`].
    fn get_all(
        &self,
        columns: &Projection,
        keys: &[Vec<u8>],
        values: &mut RowValues,
        context: Option<&ScanContext>,
    ) -> Result<usize, TableError> {
        let context = context.cloned().unwrap_or_else(ScanContext::of_look_up);
        let spec = ScanSpec::new(columns.table(), columns.columns().to_vec(), Vec::new())?;
        let first = values.rows();
        let mut scan = self.scan(&spec, ScanRoute::of(KeyList::of(columns.table(), keys).into()), context)?;
        while scan.next_values(columns, values)? {}
        let rows = values.rows() - first;
        if rows == keys.len() && !keys.is_sorted() {
            values.reorder(first, &places_in_key_order(keys));
        }
        Ok(rows)
    }

    /// Adds the rows of a range to `values`, which has these columns, if they are few and together in memory; how many there
    /// are. `None` if they must be scanned: then nothing was added. The rows are neither counted nor limited.
    ///
    /// # Law
    /// They are the rows that a scan of the range returns.
    ///
    /// # Errors
    /// As [`Snapshot::scan`], and those of its [`RowSource`].
    fn get_range(
        &self,
        columns: &Projection,
        range: ShortRange<'_>,
        values: &mut RowValues,
    ) -> Result<Option<usize>, TableError> {
        let _ = (columns, range, values);
        Ok(None)
    }

    /// As [`Snapshot::get_range`], for the physical keys of the rows, each of which is given to `each`; whether they were read. An error
    /// of `each` ends the read.
    ///
    /// # Errors
    /// As there, and those of `each`.
    fn get_range_keys(
        &self,
        table: &Table,
        range: ShortRange<'_>,
        each: &mut dyn FnMut(&[u8]) -> Result<(), TableError>,
    ) -> Result<bool, TableError> {
        let _ = (table, range, each);
        Ok(false)
    }

    /// Whether there is a row of this physical key.
    ///
    /// # Errors
    /// As [`Snapshot::scan`].
    fn contains(&self, table: &Table, row_key: &[u8]) -> Result<bool, TableError>;

    /// Splits a scan into consecutive parts, in its order: ranges of physical keys, which together are all keys of the
    /// table. One part if the scan cannot be split, or has few rows. [`ScanRoute::within`] is the route of a part. A part
    /// can also be read on a later snapshot, and the same parts split a scan of other keys.
    ///
    /// # Errors
    /// [`TableError::DefinitionChanged`].
    fn split(&self, table: &Table, route: &ScanRoute, target: SplitTarget) -> Result<Vec<KeyRange>, TableError>;

    /// Whether a read may wait long, for example for another machine. A caller with few threads then reads on other threads.
    fn reads_wait(&self) -> bool;

    /// About how many rows have one of these keys: nothing is read for it.
    ///
    /// # Errors
    /// [`TableError::DefinitionChanged`].
    fn estimate(&self, table: &Table, keys: &KeySet) -> Result<Estimate, TableError>;

    /// The statistics of these columns, by index, without reads.
    ///
    /// # Errors
    /// [`TableError::DefinitionChanged`].
    fn estimate_columns(&self, table: &Table, columns: &[usize]) -> Result<Vec<ColumnEstimate>, TableError>;

    /// Starts an aggregation where the rows are; `None` if the store does not make it, and its rows are to be scanned. Only for a store whose
    /// [reads wait](Snapshot::reads_wait): it saves sending the rows. The limit, the order and the direction of the route say nothing.
    ///
    /// # Errors
    /// As [`Snapshot::scan`].
    fn aggregate(
        &self,
        aggregation: &Aggregation<'_>,
        route: ScanRoute,
        context: ScanContext,
    ) -> Result<Option<Box<dyn PartialSource>>, TableError> {
        let _ = (aggregation, route, context);
        Ok(None)
    }

    /// Whether [`RowSource::totals`] of such a scan adds rows up where they are. A store that declines decodes their columns,
    /// as the statement would.
    ///
    /// # Errors
    /// Errors of the compilation of the scan.
    fn adds_up(&self, spec: &ScanSpec) -> Result<bool, TableError>;

    /// Whether [`RowSource::totals`] of such a scan probably reads few rows, as the store knows what many rows have together.
    ///
    /// # Errors
    /// [`TableError::DefinitionChanged`].
    fn knows_totals(&self, spec: &ScanSpec) -> Result<bool, TableError>;

    /// The rows of a table as they were at an instant, in milliseconds since 1970: all commits until then, whichever
    /// commits this snapshot has. Other tables are not to be read from it. Rows expire by that instant.
    ///
    /// # Errors
    /// [`TableError::NoVersions`], also of a store that keeps none; [`TableError::BeyondVersions`];
    /// [`TableError::FutureTime`].
    fn as_of(&self, table: &Table, at_ms: i64) -> Result<Arc<dyn Snapshot>, TableError> {
        let _ = at_ms;
        Err(TableError::NoVersions { table: table.def().name.to_string() })
    }
}

/// The snapshot from which a statement that sees `snapshot` reads a table: another one if it reads the table as it was, or if
/// the table is one of an attached database.
///
/// # Errors
/// As [`Snapshot::as_of`].
pub fn snapshot_of(table: &Table, snapshot: Arc<dyn Snapshot>) -> Result<Arc<dyn Snapshot>, TableError> {
    let snapshot = table.rows::<AttachedRows>().map_or(snapshot, |rows| rows.0.clone());
    match table.as_of_ms() {
        None => Ok(snapshot),
        Some(at_ms) => snapshot.as_of(table, at_ms),
    }
}

/// The rows of an attached database.
struct AttachedRows(Arc<dyn Snapshot>);

/// A table of an attached database under the name that it has here: each statement reads its rows from this snapshot.
pub fn attached_table(table: &Table, name: TableName, rows: Arc<dyn Snapshot>) -> Table {
    table.with_rows(name, Arc::new(AttachedRows(rows)))
}

/// The place that each of some keys has among them in key order.
pub(crate) fn places_in_key_order(keys: &[Vec<u8>]) -> Vec<u32> {
    let mut sorted: Vec<(&Vec<u8>, usize)> = keys.iter().zip(0..).collect();
    sorted.sort_unstable();
    let mut places = vec![0; keys.len()];
    for ((_, key), place) in sorted.into_iter().zip(0..) {
        if let Some(of_key) = places.get_mut(key) {
            *of_key = place;
        }
    }
    places
}

/// Rows as they are read. Of the three ways to read them, a caller takes one from the first row to the last.
pub trait RowSource: Send {
    /// The schema of the requested columns, named as declared.
    fn schema(&self) -> &SchemaRef;

    /// Whether the next read can be made without waiting for a server. After `Pending` the source wakes the task when it can, or when the statement
    /// must stop; meanwhile the scan holds no thread. `None` means that the source cannot tell: its reads may block the caller's thread.
    fn poll_ready(&mut self, task: &mut task::Context<'_>) -> Option<Poll<()>> {
        let _ = task;
        None
    }

    /// The columns of the next rows, never of none, and how many rows they have; `None` at the end.
    ///
    /// # Errors
    /// Errors of the store and of the filter; cancel, timeout and budget.
    fn next_columns(&mut self) -> Result<Option<(Vec<ArrayRef>, usize)>, TableError>;

    /// Adds the next rows to `values`, which has these columns; `false` at the end.
    ///
    /// # Law
    /// They are the values that [`RowSource::next_columns`] gives, where the scan puts out these columns.
    ///
    /// # Errors
    /// As [`RowSource::next_columns`].
    fn next_values(&mut self, columns: &Projection, values: &mut RowValues) -> Result<bool, TableError>;

    /// Reads to the end, and returns the totals of the rows.
    ///
    /// # Law
    /// They are the totals of the columns that [`RowSource::next_columns`] gives.
    ///
    /// # Errors
    /// As [`RowSource::next_columns`].
    fn totals(&mut self) -> Result<Totals, TableError>;
}

impl dyn RowSource + '_ {
    /// As [`RowSource::next_columns`], as a batch.
    ///
    /// # Errors
    /// As there.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>, TableError> {
        let Some((columns, rows)) = self.next_columns()? else { return Ok(None) };
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        Ok(Some(RecordBatch::try_new_with_options(self.schema().clone(), columns, &options)?))
    }

    /// [`RowSource::totals`] of a source that decodes its rows, which have these columns of the table.
    ///
    /// # Errors
    /// As [`RowSource::next_columns`].
    pub fn totals_of_columns(&mut self, table: &Table, columns: &[usize]) -> Result<Totals, TableError> {
        let mut totals = Totals { rows: 0, columns: vec![Total::default(); columns.len()] };
        while let Some((arrays, rows)) = self.next_columns()? {
            totals.rows += rows as u64;
            for ((array, &column), total) in arrays.iter().zip(columns).zip(&mut totals.columns) {
                for row in 0..rows {
                    *total = total.with(&value_at(array, row, table.column_type(column))?, 1);
                }
            }
        }
        Ok(totals)
    }
}
