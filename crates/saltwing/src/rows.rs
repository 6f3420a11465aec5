//! The rows of a result.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use arrow::array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use saltwing_access::ScanContext;
use saltwing_bind::ResultColumn;
use saltwing_exec::select::result_schema;
use saltwing_expr::{RowValues, ValueColumn, ValueRef};
use saltwing_types::interrupt::Entered;
use saltwing_types::table::is_same_name;
use saltwing_types::{ErrorCode, SqlType, Value};

use crate::block_on::block_on;
use crate::outcome::{BatchSource, RowsOutcome, Running, Stats};
use crate::pooled_rows::PooledRows;
use crate::shared::Shared;
use crate::{Error, FromValue};

/// A result as Arrow batches. Dropping it stops the statement.
pub struct ArrowRows {
    columns: Arc<[ResultColumn]>,
    /// Created on demand: a caller that reads values by row does not need it.
    schema: OnceLock<SchemaRef>,
    source: BatchSource,
    read: Stats,
    running: Option<Box<Running>>,
}

impl ArrowRows {
    pub(crate) fn new(outcome: RowsOutcome) -> Self {
        let RowsOutcome { columns, source, read, running } = outcome;
        Self { columns, schema: OnceLock::new(), source, read, running }
    }

    /// The same result, whose remaining rows are read on the library's threads.
    ///
    /// # Errors
    /// The threads cannot be started.
    pub(crate) fn pooled(mut self, shared: &Arc<Shared>) -> Result<Self, Error> {
        if self.source.reads() {
            let (mut source, columns) =
                (std::mem::replace(&mut self.source, BatchSource::Values(None)), self.columns.clone());
            let next = Box::new(move || source.next_blocking(&columns));
            let context = self.running.as_ref().map(|running| running.context.clone());
            self.source = BatchSource::Pooled(Box::new(PooledRows::start(shared, next, context)?));
        }
        Ok(self)
    }

    /// The same result, row by row.
    pub fn into_rows(mut self) -> Rows {
        let values = self.source.take_read().unwrap_or_else(|| RowValues::new(self.columns.len()));
        let left = 0..values.rows();
        let set = RowSet { columns: self.columns.clone(), cells: Cells::Values(values) };
        Rows { batches: self, set: Arc::new(set), left }
    }

    /// The columns.
    pub fn columns(&self) -> &[ResultColumn] {
        &self.columns
    }

    /// The batches' schema.
    pub fn schema(&self) -> &SchemaRef {
        self.schema.get_or_init(|| result_schema(&self.columns))
    }

    /// Notices for the user; after the last row also a notice about many rows (`rows_warn`).
    pub fn notices(&self) -> &[String] {
        self.running.as_ref().map_or(&[], |running| &running.notices)
    }

    /// The reads so far.
    pub fn stats(&self) -> Stats {
        let mut stats = self.read;
        self.running.iter().for_each(|running| stats += running.read());
        stats
    }

    /// Rows that the statement has written or deleted, such as the rows of an INSERT .. RETURNING; 0 for a query.
    pub fn rows_affected(&self) -> u64 {
        self.running.as_ref().map_or(0, |running| running.rows_affected)
    }

    /// The token of the next page, after all rows of a page (`SELECT .. LIMIT n AFTER token`) are read; `None` after the last page, and for
    /// other statements.
    pub fn next_page(&self) -> Option<String> {
        self.running.as_ref()?.next_page()
    }

    /// The next batch, never an empty one; `None` at the end.
    ///
    /// # Errors
    /// An error of the read or of the computation.
    pub async fn next(&mut self) -> Result<Option<RecordBatch>, Error> {
        let batch = match self.source.reads() {
            true => {
                let _statement = self.enter();
                self.source.next_blocking(&self.columns)
            }
            false => self.source.next(&self.columns).await,
        };
        let batch = batch.map_err(|error| self.placed(error))?;
        if batch.is_none() {
            self.running.iter_mut().for_each(|running| running.end());
        }
        Ok(batch)
    }

    /// As [`ArrowRows::next`], blocking the thread.
    ///
    /// # Errors
    /// Those of the async method.
    pub fn next_blocking(&mut self) -> Result<Option<RecordBatch>, Error> {
        block_on(self.next())
    }

    /// The batches as an Arrow [`RecordBatchReader`], which blocks the thread.
    ///
    /// ```
    /// # fn main() -> Result<(), saltwing::Error> {
    /// use saltwing::arrow::array::RecordBatchReader;
    ///
    /// let connection = saltwing::Database::memory()?.connect().blocking();
    /// connection.execute("CREATE TABLE t (k BIGINT PRIMARY KEY)", ())?;
    /// connection.execute("UPSERT INTO t VALUES (1), (2)", ())?;
    /// let reader = connection.query_arrow("SELECT k FROM t WHERE k > 0", ())?.into_reader();
    /// assert_eq!(reader.schema().field(0).name(), "k");
    /// assert_eq!(reader.map(|batch| batch.map_or(0, |batch| batch.num_rows())).sum::<usize>(), 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn into_reader(self) -> impl RecordBatchReader + Send + 'static {
        let schema = self.schema().clone();
        let batches = std::iter::from_fn({
            let mut rows = self;
            move || rows.next_blocking().map_err(|error| ArrowError::ExternalError(Box::new(error))).transpose()
        });
        RecordBatchIterator::new(batches, schema)
    }

    /// Whether no rows and no notices are left.
    fn is_at_end(&self) -> bool {
        self.running.is_none() && matches!(self.source, BatchSource::Values(None))
    }

    /// Makes this statement the current one of the thread, if the thread must read its rows.
    fn enter(&self) -> Option<Entered> {
        let running = self.running.as_ref().filter(|_| self.source.reads())?;
        Some(running.context.enter())
    }

    /// `error` with the statement's text.
    fn placed(&self, error: Error) -> Error {
        self.running.iter().fold(error, |error, running| running.failed(error))
    }

    /// A function that stops the statement within a batch, from any thread.
    pub fn canceller(&self) -> impl Fn() + Send + Sync + use<> {
        let context = self.running.as_ref().map(|running| running.context.clone());
        move || context.iter().for_each(ScanContext::cancel)
    }

    /// A function that tells how many rows the statement has scanned so far, from any thread; `None` for a result that is complete already, such as that of a lookup.
    pub fn progress(&self) -> Option<impl Fn() -> u64 + Send + Sync + use<>> {
        let running = self.running.as_ref().filter(|_| !self.source.is_complete())?;
        let context = running.context.clone();
        Some(move || context.rows_scanned())
    }
}

impl Drop for ArrowRows {
    fn drop(&mut self) {
        self.running.iter().for_each(|running| running.context.cancel());
    }
}

/// The rows of a result, one by one. Dropping it stops the statement.
pub struct Rows {
    batches: ArrowRows,
    /// The current set of rows.
    set: Arc<RowSet>,
    /// The rows of `set` that the caller has not taken yet.
    left: Range<usize>,
}

impl Rows {
    pub(crate) fn new(outcome: RowsOutcome) -> Self {
        ArrowRows::new(outcome).into_rows()
    }

    /// As [`ArrowRows::pooled`].
    pub(crate) fn pooled(self, shared: &Arc<Shared>) -> Result<Self, Error> {
        Ok(Self { batches: self.batches.pooled(shared)?, ..self })
    }

    /// The columns.
    pub fn columns(&self) -> &[ResultColumn] {
        self.batches.columns()
    }

    /// As [`ArrowRows::notices`].
    pub fn notices(&self) -> &[String] {
        self.batches.notices()
    }

    /// The reads so far.
    pub fn stats(&self) -> Stats {
        self.batches.stats()
    }

    /// As [`ArrowRows::next_page`].
    pub fn next_page(&self) -> Option<String> {
        self.batches.next_page()
    }

    /// As [`ArrowRows::rows_affected`].
    pub fn rows_affected(&self) -> u64 {
        self.batches.rows_affected()
    }

    /// The next row; `None` at the end.
    ///
    /// # Errors
    /// An error of the read or of the computation.
    pub async fn next(&mut self) -> Result<Option<Row>, Error> {
        if self.left.is_empty() && self.needs_batch()? {
            let batch = self.batches.next().await?;
            self.put_batch(batch);
        }
        Ok(self.take())
    }

    /// The next row, if it is read already; `None` if [`Rows::next`] would wait for it, and at the end.
    #[inline]
    pub fn next_ready(&mut self) -> Option<Row> {
        self.take()
    }

    /// As [`Rows::next`], blocking the thread.
    ///
    /// # Errors
    /// Those of the async method.
    #[inline]
    pub fn next_blocking(&mut self) -> Result<Option<Row>, Error> {
        if self.left.is_empty() && self.needs_batch()? {
            let batch = self.batches.next_blocking()?;
            self.put_batch(batch);
        }
        Ok(self.take())
    }

    /// The only row, if there is one, blocking the thread.
    ///
    /// # Errors
    /// As [`Rows::next`]; more than one row.
    pub(crate) fn only<R: FromRow>(mut self) -> Result<Option<R>, Error> {
        let Some(row) = self.next_blocking()? else { return Ok(None) };
        match self.next_blocking()? {
            None => R::from_row(&row).map(Some),
            Some(_) => {
                let text = "the statement gives several rows, and one was asked for";
                Err(Error::new(ErrorCode::SeveralRows, text).with_help(Some("add LIMIT 1, or use query")))
            }
        }
    }

    /// Whether the next row, or the end, must come from a batch.
    fn needs_batch(&mut self) -> Result<bool, Error> {
        Ok(!self.batches.is_at_end() && !self.next_values()?)
    }

    /// Takes the next rows if they come as values; otherwise, and at the end, the caller takes a batch.
    fn next_values(&mut self) -> Result<bool, Error> {
        // If the caller has dropped all rows of the set, its memory is used for the next rows.
        let fresh = || Arc::new(RowSet::of_values(&self.batches.columns));
        if Arc::get_mut(&mut self.set).is_none() {
            self.set = fresh();
        }
        let Some(RowSet { cells: Cells::Values(values), .. }) = Arc::get_mut(&mut self.set) else { return Ok(false) };
        values.clear();
        let statement = self.batches.enter();
        let has_rows = self.batches.source.next_values(values);
        drop(statement);
        self.left = 0..values.rows();
        has_rows.map(|has_rows| has_rows == Some(true)).map_err(|error| self.batches.placed(error))
    }

    fn put_batch(&mut self, batch: Option<RecordBatch>) {
        let Some(batch) = batch else { return };
        let columns = &self.batches.columns;
        let typed = batch.columns().iter().zip(columns.iter().map(|column| column.ty));
        let cells = Cells::Batch(typed.map(|(array, ty)| ValueColumn::new(array, ty)).collect());
        self.set = Arc::new(RowSet { columns: columns.clone(), cells });
        self.left = 0..batch.num_rows();
    }

    #[inline]
    fn take(&mut self) -> Option<Row> {
        let index = self.left.next()?;
        Some(Row { set: self.set.clone(), index })
    }
}

/// Rows that were read together.
#[derive(Debug)]
struct RowSet {
    columns: Arc<[ResultColumn]>,
    cells: Cells,
}

#[derive(Debug)]
enum Cells {
    Values(RowValues),
    /// The columns of a batch.
    Batch(Vec<ValueColumn>),
}

impl RowSet {
    /// An empty set of values.
    fn of_values(columns: &Arc<[ResultColumn]>) -> Self {
        Self { columns: columns.clone(), cells: Cells::Values(RowValues::new(columns.len())) }
    }

    fn value(&self, row: usize, column: usize) -> Result<ValueRef<'_>, Error> {
        match &self.cells {
            Cells::Values(values) => Ok(values.get(row, column)),
            Cells::Batch(columns) => match columns.get(column) {
                Some(column) => Ok(column.get(row)?),
                None => Ok(ValueRef::Null),
            },
        }
    }
}

/// One row.
#[derive(Clone, Debug)]
pub struct Row {
    set: Arc<RowSet>,
    index: usize,
}

/// A column of a row: its position from 0, or its label in any case.
pub trait ColumnIndex {
    /// The position of the column, from 0; `None` if there is no such column.
    fn place(&self, columns: &[ResultColumn]) -> Option<usize>;
    /// The column as error texts name it.
    fn describe(&self) -> String;
}

impl ColumnIndex for usize {
    #[inline]
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
        exact.or_else(|| columns.iter().position(|c| is_same_name(&c.label, self)))
    }
    fn describe(&self) -> String {
        format!("column {self}")
    }
}

impl ColumnIndex for &String {
    fn place(&self, columns: &[ResultColumn]) -> Option<usize> {
        self.as_str().place(columns)
    }
    fn describe(&self) -> String {
        self.as_str().describe()
    }
}

/// Types that a whole row can be read as: a tuple of up to twelve values, by position, a struct that derives `FromRow`, or the
/// [`Row`] itself.
pub trait FromRow: Sized {
    /// Converts the row.
    ///
    /// # Errors
    /// The row has another number of columns than the tuple; as [`Row::get`].
    fn from_row(row: &Row) -> Result<Self, Error>;
}

impl FromRow for Row {
    fn from_row(row: &Row) -> Result<Self, Error> {
        Ok(row.clone())
    }
}

macro_rules! row_tuples {
    ($(($($name:ident $place:tt),+) $count:literal;)*) => { $(
        impl<$($name: FromValue),+> FromRow for ($($name,)+) {
            fn from_row(row: &Row) -> Result<Self, Error> {
                row.check_width($count)?;
                Ok(($(row.get::<$name>($place)?,)+))
            }
        }
    )* };
}
row_tuples! {
    (A 0) 1;
    (A 0, B 1) 2;
    (A 0, B 1, C 2) 3;
    (A 0, B 1, C 2, D 3) 4;
    (A 0, B 1, C 2, D 3, E 4) 5;
    (A 0, B 1, C 2, D 3, E 4, F 5) 6;
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6) 7;
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7) 8;
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8) 9;
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9) 10;
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10) 11;
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11) 12;
}

pub(crate) fn no_row() -> Error {
    Error::new(ErrorCode::NoRow, "the statement gives no row, and one was asked for").with_help(Some("use query_opt"))
}

fn no_column(described: &str) -> Error {
    Error::new(ErrorCode::NoSuchColumn, format!("the result has no {described}"))
}

impl Row {
    /// The row as a tuple: `let (host, up): (String, i64) = row.to()?`.
    ///
    /// # Errors
    /// The row has another number of columns than the tuple; as [`Row::get`].
    pub fn to<R: FromRow>(&self) -> Result<R, Error> {
        R::from_row(self)
    }

    /// Refuses a row whose number of columns is not `wanted`.
    #[doc(hidden)] // for derived implementations of `FromRow`
    pub fn check_width(&self, wanted: usize) -> Result<(), Error> {
        match self.columns().len() {
            count if count == wanted => Ok(()),
            count => {
                let text = format!("the row has {count} columns, and {wanted} were asked for");
                Err(Error::new(ErrorCode::TypeMismatch, text))
            }
        }
    }

    /// The columns.
    #[inline]
    pub fn columns(&self) -> &[ResultColumn] {
        &self.set.columns
    }

    /// A value as a Rust type; `Option` takes NULL.
    ///
    /// # Errors
    /// No such column; a value that the type cannot hold; NULL for a type without NULL.
    #[inline]
    pub fn get<T: FromValue>(&self, column: impl ColumnIndex) -> Result<T, Error> {
        let Some((place, meta)) = column.place(self.columns()).and_then(|i| Some((i, self.columns().get(i)?))) else {
            return Err(no_column(&column.describe()));
        };
        let wanted = match &self.set.cells {
            // A short path for the most common rows.
            Cells::Values(values) => T::from_ref(values.get(self.index, place), meta.ty),
            Cells::Batch(_) => T::from_ref(self.set.value(self.index, place)?, meta.ty),
        };
        match wanted {
            Some(wanted) => Ok(wanted),
            None => Err(self.mismatch(place, meta.ty, &column.describe(), T::EXPECTED)),
        }
    }

    /// A reference to a value, without a copy: [`ValueRef::as_str`] is the text of a VARCHAR.
    ///
    /// ```
    /// # fn main() -> Result<(), saltwing::Error> {
    /// let connection = saltwing::Database::memory()?.connect().blocking();
    /// connection.execute("CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR)", ())?;
    /// connection.execute("UPSERT INTO t VALUES (1, 'one')", ())?;
    /// let row = connection.query_one::<saltwing::Row>("SELECT v FROM t WHERE k = 1", ())?;
    /// assert_eq!(row.get_ref("v")?.as_str(), Some("one"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// No such column; a value that cannot be represented: a broken invariant.
    pub fn get_ref(&self, column: impl ColumnIndex) -> Result<ValueRef<'_>, Error> {
        match column.place(self.columns()) {
            Some(place) => self.set.value(self.index, place),
            None => Err(no_column(&column.describe())),
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
    /// A value that cannot be represented: a broken invariant.
    pub fn values(&self) -> Result<Vec<Value>, Error> {
        (0..self.columns().len()).map(|i| self.get(i)).collect()
    }
}
