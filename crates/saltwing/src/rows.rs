//! The rows of a result.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use saltwing_bind::ResultColumn;
use saltwing_exec::select::result_schema;
use saltwing_expr::value_at;
use saltwing_table::{Counters, ScanContext};
use saltwing_types::{ErrorCode, Value};

use crate::outcome::{BatchSource, RowsOutcome, ScanWarning, Stats};
use crate::{Error, FromValue};

/// A result as Arrow batches. Dropping it stops the statement.
pub struct ArrowRows {
    columns: Arc<[ResultColumn]>,
    schema: SchemaRef,
    source: BatchSource,
    context: Option<ScanContext>,
    counters: Vec<Arc<Counters>>,
    notices: Vec<String>,
    warning: Option<ScanWarning>,
}

impl ArrowRows {
    pub(crate) fn new(outcome: RowsOutcome) -> Self {
        let schema = result_schema(&outcome.columns);
        let RowsOutcome { columns, source, context, counters, notices, warning } = outcome;
        Self { columns, schema, source, context, counters, notices, warning }
    }

    /// The columns.
    pub fn columns(&self) -> &[ResultColumn] {
        &self.columns
    }

    /// The batches' schema.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// What the user should know; when the rows were read to the end, also that they were many (`rows_warn`).
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// What was read so far.
    pub fn stats(&self) -> Stats {
        let mut stats = Stats::default();
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
    current: Option<(Arc<RecordBatch>, usize)>,
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
        if self.current.is_none() {
            self.current = self.batches.next().await?.map(|batch| (Arc::new(batch), 0));
        }
        Ok(self.take())
    }

    /// As [`Rows::next`], blocking the thread.
    ///
    /// # Errors
    /// What reading or computing failed with.
    pub fn next_blocking(&mut self) -> Result<Option<Row>, Error> {
        if self.current.is_none() {
            self.current = self.batches.next_blocking()?.map(|batch| (Arc::new(batch), 0));
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

    fn take(&mut self) -> Option<Row> {
        let (batch, index) = self.current.take()?;
        if index + 1 < batch.num_rows() {
            self.current = Some((batch.clone(), index + 1));
        }
        Some(Row { columns: self.batches.columns.clone(), batch, index })
    }
}

/// One row.
#[derive(Clone, Debug)]
pub struct Row {
    columns: Arc<[ResultColumn]>,
    batch: Arc<RecordBatch>,
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
        &self.columns
    }

    /// A value as a Rust type; `Option` takes NULL.
    ///
    /// # Errors
    /// No such column; a value that is none of the type; NULL where the type takes none.
    pub fn get<T: FromValue>(&self, column: impl ColumnIndex) -> Result<T, Error> {
        let missing = || Error::new(ErrorCode::NoSuchColumn, format!("the result has no {}", column.describe()));
        let place = column.place(&self.columns).ok_or_else(missing)?;
        let meta = self.columns.get(place).ok_or_else(missing)?;
        let value = value_at(self.batch.column(place), self.index, meta.ty)?;
        let shown = saltwing_types::text::literal(&value, meta.ty);
        T::from_value(value, meta.ty).ok_or_else(|| {
            let text = format!("{}: {shown} is {}, and {} was asked for", column.describe(), meta.ty, T::EXPECTED);
            Error::new(ErrorCode::TypeMismatch, text)
        })
    }

    /// All values.
    ///
    /// # Errors
    /// A value that has no form: a broken invariant.
    pub fn values(&self) -> Result<Vec<Value>, Error> {
        (0..self.columns.len()).map(|i| self.get(i)).collect()
    }
}
