//! The rows of a result.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, OnceLock};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use saltwing_bind::ResultColumn;
use saltwing_exec::select::result_schema;
use saltwing_expr::{ValueColumn, ValueRef};
use saltwing_table::{Counters, ScanContext};
use saltwing_types::{ErrorCode, SqlType, Value};

use crate::outcome::{BatchSource, RowsOutcome, ScanWarning, Stats, Values};
use crate::{Error, FromValue};

/// A result as Arrow batches. Dropping it stops the statement.
pub struct ArrowRows {
    columns: Arc<[ResultColumn]>,
    /// Made when it is asked for: who takes values by row needs none.
    schema: OnceLock<SchemaRef>,
    source: BatchSource,
    context: Option<ScanContext>,
    counters: Vec<Arc<Counters>>,
    read: Stats,
    notices: Vec<String>,
    warning: Option<ScanWarning>,
}

impl ArrowRows {
    pub(crate) fn new(outcome: RowsOutcome) -> Self {
        let RowsOutcome { columns, source, context, counters, read, notices, warning } = outcome;
        Self { columns, schema: OnceLock::new(), source, context, counters, read, notices, warning }
    }

    /// The columns.
    pub fn columns(&self) -> &[ResultColumn] {
        &self.columns
    }

    /// The batches' schema.
    pub fn schema(&self) -> &SchemaRef {
        self.schema.get_or_init(|| result_schema(&self.columns))
    }

    /// What the user should know; when the rows were read to the end, also that they were many (`rows_warn`).
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// What was read so far.
    pub fn stats(&self) -> Stats {
        let mut stats = self.read;
        for scan in &self.counters {
            stats.keys_read += scan.keys_read.load(Relaxed);
            stats.seeks += scan.seeks.load(Relaxed);
            stats.buckets += scan.buckets_touched();
        }
        stats
    }

    /// The next batch, never an empty one; `None` at the end.
    ///
    /// # Errors
    /// What reading or computing failed with.
    pub async fn next(&mut self) -> Result<Option<RecordBatch>, Error> {
        let batch = self.source.next().await?;
        Ok(self.noticed(batch))
    }

    /// As [`ArrowRows::next`], blocking the thread.
    ///
    /// # Errors
    /// What reading or computing failed with.
    pub fn next_blocking(&mut self) -> Result<Option<RecordBatch>, Error> {
        let batch = self.source.next_blocking()?;
        Ok(self.noticed(batch))
    }

    /// Takes note of the end.
    fn noticed(&mut self, batch: Option<RecordBatch>) -> Option<RecordBatch> {
        if batch.is_none() {
            self.notices.extend(self.warning.take().into_iter().flat_map(|warning| warning.notices()));
        }
        batch
    }

    /// Makes the statement stop within a batch, from any thread.
    pub fn canceller(&self) -> impl Fn() + Send + Sync + use<> {
        let context = self.context.clone();
        move || context.iter().for_each(ScanContext::cancel)
    }
}

impl Drop for ArrowRows {
    fn drop(&mut self) {
        self.context.iter().for_each(ScanContext::cancel);
    }
}

/// The rows of a result, one by one. Dropping it stops the statement.
pub struct Rows {
    batches: ArrowRows,
    /// The rows that came last, and how many of them are given out.
    current: Option<(Arc<RowSet>, usize)>,
}

impl Rows {
    pub(crate) fn new(outcome: RowsOutcome) -> Self {
        Self { batches: ArrowRows::new(outcome), current: None }
    }

    /// The columns.
    pub fn columns(&self) -> &[ResultColumn] {
        self.batches.columns()
    }

    /// As [`ArrowRows::notices`].
    pub fn notices(&self) -> &[String] {
        self.batches.notices()
    }

    /// What was read so far.
    pub fn stats(&self) -> Stats {
        self.batches.stats()
    }

    /// The next row; `None` at the end.
    ///
    /// # Errors
    /// What reading or computing failed with.
    pub async fn next(&mut self) -> Result<Option<Row>, Error> {
        if self.is_used_up() && !self.take_values()? {
            let batch = self.batches.next().await?;
            self.put_batch(batch);
        }
        Ok(self.take())
    }

    /// As [`Rows::next`], blocking the thread.
    ///
    /// # Errors
    /// What reading or computing failed with.
    pub fn next_blocking(&mut self) -> Result<Option<Row>, Error> {
        if self.is_used_up() && !self.take_values()? {
            let batch = self.batches.next_blocking()?;
            self.put_batch(batch);
        }
        Ok(self.take())
    }

    /// All rows that are left.
    ///
    /// # Errors
    /// What reading or computing failed with.
    pub async fn collect(mut self) -> Result<Vec<Row>, Error> {
        let mut rows = Vec::new();
        while let Some(row) = self.next().await? {
            rows.push(row);
        }
        Ok(rows)
    }

    fn is_used_up(&self) -> bool {
        self.current.as_ref().is_none_or(|(set, given)| *given >= set.rows())
    }

    /// Takes rows that come as values, if there are any: they need no batch.
    fn take_values(&mut self) -> Result<bool, Error> {
        let BatchSource::Values(values, _) = &mut self.batches.source else { return Ok(false) };
        let values = values.take().map(Values::read).transpose()?;
        Ok(self.put(values.filter(|values| !values.is_empty()).map(Cells::Values)))
    }

    fn put_batch(&mut self, batch: Option<RecordBatch>) -> bool {
        let types = self.batches.columns.iter().map(|column| column.ty);
        let cells = batch.map(|batch| Cells::Batch {
            rows: batch.num_rows(),
            columns: batch.columns().iter().zip(types).map(|(array, ty)| ValueColumn::new(array, ty)).collect(),
        });
        self.put(cells)
    }

    fn put(&mut self, cells: Option<Cells>) -> bool {
        let set = |cells| Arc::new(RowSet { columns: self.batches.columns.clone(), cells });
        self.current = cells.map(|cells| (set(cells), 0));
        self.current.is_some()
    }

    fn take(&mut self) -> Option<Row> {
        let (set, given) = self.current.as_mut()?;
        *given += 1;
        Some(Row { set: set.clone(), index: *given - 1 })
    }
}

/// Rows that came together.
#[derive(Debug)]
struct RowSet {
    columns: Arc<[ResultColumn]>,
    cells: Cells,
}

#[derive(Debug)]
enum Cells {
    /// Rows of a batch.
    Batch { rows: usize, columns: Vec<ValueColumn> },
    /// The values of rows, one behind the other.
    Values(Vec<Value>),
}

impl RowSet {
    fn rows(&self) -> usize {
        match &self.cells {
            Cells::Batch { rows, .. } => *rows,
            Cells::Values(values) => values.len() / self.columns.len().max(1),
        }
    }

    #[inline]
    fn value(&self, row: usize, column: usize) -> Result<ValueRef<'_>, Error> {
        match &self.cells {
            Cells::Batch { columns, .. } => match columns.get(column) {
                Some(column) => Ok(column.get(row)?),
                None => Ok(ValueRef::Null),
            },
            Cells::Values(values) => {
                let place = row * self.columns.len() + column;
                Ok(values.get(place).map_or(ValueRef::Null, ValueRef::from))
            }
        }
    }
}

/// One row.
#[derive(Clone, Debug)]
pub struct Row {
    set: Arc<RowSet>,
    index: usize,
}

/// A column of a row: its place from 0, or its label in any case.
pub trait ColumnIndex {
    /// The place.
    fn place(&self, columns: &[ResultColumn]) -> Option<usize>;
    /// For the error's text.
    fn describe(&self) -> String;
}

impl ColumnIndex for usize {
    fn place(&self, columns: &[ResultColumn]) -> Option<usize> {
        (*self < columns.len()).then_some(*self)
    }
    fn describe(&self) -> String {
        format!("column {self}")
    }
}

impl ColumnIndex for &str {
    fn place(&self, columns: &[ResultColumn]) -> Option<usize> {
        let exact = columns.iter().position(|c| c.label == *self);
        exact.or_else(|| columns.iter().position(|c| c.label.to_lowercase() == self.to_lowercase()))
    }
    fn describe(&self) -> String {
        format!("column {self}")
    }
}

impl Row {
    /// The columns.
    pub fn columns(&self) -> &[ResultColumn] {
        &self.set.columns
    }

    /// A value as a Rust type; `Option` takes NULL.
    ///
    /// # Errors
    /// No such column; a value that is none of the type; NULL where the type takes none.
    pub fn get<T: FromValue>(&self, column: impl ColumnIndex) -> Result<T, Error> {
        let Some((place, meta)) = column.place(self.columns()).and_then(|i| Some((i, self.columns().get(i)?))) else {
            let text = format!("the result has no {}", column.describe());
            return Err(Error::new(ErrorCode::NoSuchColumn, text));
        };
        match T::from_ref(self.set.value(self.index, place)?, meta.ty) {
            Some(wanted) => Ok(wanted),
            None => Err(self.mismatch(place, meta.ty, &column.describe(), T::EXPECTED)),
        }
    }

    fn mismatch(&self, place: usize, ty: SqlType, column: &str, expected: &str) -> Error {
        let value = match self.set.value(self.index, place) {
            Ok(value) => value.into_value(),
            Err(error) => return error,
        };
        let shown = saltwing_types::text::literal(&value, ty);
        Error::new(ErrorCode::TypeMismatch, format!("{column}: {shown} is {ty}, and {expected} was asked for"))
    }

    /// All values.
    ///
    /// # Errors
    /// A value that has no form: a broken invariant.
    pub fn values(&self) -> Result<Vec<Value>, Error> {
        (0..self.columns().len()).map(|i| self.get(i)).collect()
    }
}
