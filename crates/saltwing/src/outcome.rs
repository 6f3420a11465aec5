//! The result of a statement.

use std::collections::VecDeque;
use std::ops::AddAssign;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use arrow::array::RecordBatch;
use saltwing_access::{Counters, ScanContext, ShortRangeRows, TableError};
use saltwing_bind::ResultColumn;
use saltwing_exec::select::result_schema;
use saltwing_exec::{DirectRows, PageRows, TotalRow};
use saltwing_expr::{ColumnBuilder, RowValues};
use saltwing_types::{ErrorCode, SqlType};

use crate::Error;
use crate::block_on::block_on;
use crate::group_rows::{Again, GroupRows, LaterScans};
use crate::page_token::NextPage;
use crate::pooled_rows::{BatchReader, PooledRows};
use crate::transaction::RowStream;

/// The effect of a statement without rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExecResult {
    /// Rows written or deleted; 0 for DDL.
    pub rows_affected: u64,
    /// Notices for the user: options without effect, permitted full scans.
    pub notices: Vec<String>,
    /// The reads of the statement's scans. Rows that a write looks up by their keys do not count.
    pub stats: Stats,
    /// The token of the next page, if the statement reads a page (`SELECT .. AFTER`) and more rows may follow.
    pub next_page: Option<String>,
}

/// The reads of a statement: of rows, and of the entries of indexes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Visible rows inside the key ranges, up to where the scans stopped, without the rows that a seek skipped.
    pub keys_read: u64,
    /// Positionings: one for each range of each bucket, and one for each gap that was skipped inside a range.
    pub seeks: u64,
    /// Buckets in which rows were read.
    pub buckets: u32,
}

impl ExecResult {
    /// The effect of a statement that affects no rows.
    pub(crate) fn noticed(notices: Vec<String>) -> Self {
        Self { notices, ..Self::default() }
    }
}

impl Stats {
    pub(crate) fn of(counters: &Counters) -> Self {
        let mut stats = Self {
            keys_read: counters.keys_read.load(Relaxed),
            seeks: counters.seeks.load(Relaxed),
            buckets: counters.buckets_touched(),
        };
        for part in counters.fetched().into_iter().chain(counters.branches()) {
            stats += Self::of(part);
        }
        stats
    }
}

impl AddAssign for Stats {
    fn add_assign(&mut self, other: Self) {
        self.keys_read += other.keys_read;
        self.seeks += other.seeks;
        self.buckets += other.buckets;
    }
}

/// A statement's result inside the library.
pub(crate) enum Outcome {
    Done(ExecResult),
    Rows(RowsOutcome),
    /// Of a [try](crate::at_once) alone: nothing was done.
    NeedsThread,
}

/// The error for the outcome of a try that a caller takes for one of a run.
pub(crate) fn not_run() -> Error {
    debug_assert!(false, "a run ended as only a try may");
    Error::new(ErrorCode::Bug, "the statement was only tried, and did not run")
}

impl From<ExecResult> for Outcome {
    fn from(result: ExecResult) -> Self {
        Self::Done(result)
    }
}

/// Rows, read on demand.
pub(crate) struct RowsOutcome {
    pub(crate) columns: Arc<[ResultColumn]>,
    pub(crate) source: BatchSource,
    /// Reads already done, in addition to those that `running` counts.
    pub(crate) read: Stats,
    /// The part that still runs, and the notices; usually `None` for a result of one row.
    pub(crate) running: Option<Box<Running>>,
}

/// A running statement.
pub(crate) struct Running {
    /// The context, which can cancel the statement.
    pub(crate) context: ScanContext,
    /// Whether the statement is one scan, whose counters are in the context.
    pub(crate) is_scan: bool,
    /// The counters of each of the other scans.
    pub(crate) counters: Vec<Arc<Counters>>,
    /// The counters of scans that begin only when rows are read, if there may be such scans.
    pub(crate) later: Option<LaterScans>,
    pub(crate) notices: Vec<String>,
    /// The limits for notices at the end of the rows; `None` after the end.
    pub(crate) warnings: Option<Warnings>,
    /// The statement's text, for errors of later rows.
    pub(crate) sql: Option<Arc<str>>,
    /// The result's registration with its transaction.
    pub(crate) stream: Option<Arc<RowStream>>,
    /// Rows that the statement has written or deleted; a RETURNING returns some of them.
    pub(crate) rows_affected: u64,
    /// Where the next page begins, if the result is a page.
    pub(crate) page: Option<NextPage>,
}

/// The amounts of scanned rows, bytes and time from which a statement gets a notice.
#[derive(Clone)]
pub(crate) struct Warnings {
    pub(crate) rows: Option<u64>,
    pub(crate) bytes: Option<u64>,
    pub(crate) time: Option<Duration>,
}

impl Warnings {
    /// The notices of a statement so far.
    pub(crate) fn notices(&self, context: &ScanContext) -> Vec<String> {
        let mut notices = Vec::new();
        let (rows, bytes) = (context.rows_scanned(), context.bytes_scanned());
        if let Some(limit) = self.rows.filter(|limit| rows >= *limit) {
            notices.push(format!("{rows} rows were scanned; SET rows_warn = {limit} says so"));
        }
        if let Some(limit) = self.bytes.filter(|limit| bytes >= *limit) {
            notices.push(format!("{bytes} bytes were scanned; SET bytes_warn = {limit} says so"));
        }
        // The clock is read only if there is a limit.
        if let Some((limit, time)) = self.time.map(|limit| (limit, context.elapsed()))
            && time >= limit
        {
            let (took, limit) = (time.as_millis(), limit.as_millis());
            notices.push(format!("it took {took} ms; SET time_warn = {limit} says so"));
        }
        notices
    }
}

impl Running {
    /// A statement whose scans have these counters.
    pub(crate) fn new(context: ScanContext, counters: Vec<Arc<Counters>>, notices: Vec<String>) -> Self {
        let (warnings, sql, stream, page, later) = (None, None, None, None, None);
        Self { context, is_scan: false, counters, later, notices, warnings, sql, stream, rows_affected: 0, page }
    }

    /// A statement that is one scan with this context.
    pub(crate) fn of_scan(context: ScanContext, notices: Vec<String>) -> Self {
        Self { is_scan: true, ..Self::new(context, Vec::new(), notices) }
    }

    /// The reads of all scans so far.
    pub(crate) fn read(&self) -> Stats {
        let mut read = Stats::default();
        self.scans().for_each(|scan| read += Stats::of(scan));
        read
    }

    /// The counters of all scans.
    pub(crate) fn scans(&self) -> impl Iterator<Item = &Arc<Counters>> {
        let later = self.later.iter().filter_map(|later| later.get()).flatten();
        self.is_scan.then_some(&self.context.counters).into_iter().chain(&self.counters).chain(later)
    }

    /// The token of the next page, after the rows are read.
    pub(crate) fn next_page(&self) -> Option<String> {
        self.page.as_ref()?.token()
    }

    /// Handles an error of a row: marks the transaction as failed, and adds the statement's text to the error.
    pub(crate) fn failed(&self, error: Error) -> Error {
        let error = self.stream.iter().fold(error, |error, stream| stream.failed(error));
        self.sql.iter().fold(error, |error, sql| error.in_sql(sql))
    }

    /// Records the end of the rows.
    pub(crate) fn end(&mut self) {
        if let Some(warnings) = self.warnings.take() {
            self.notices.extend(warnings.notices(&self.context));
            self.notices.extend(self.page.iter().filter_map(NextPage::notice));
        }
    }
}

/// The source of batches.
pub(crate) enum BatchSource {
    /// Complete batches.
    Ready(VecDeque<RecordBatch>),
    /// The values of one row, or of few; `None` if there is no row or the caller has taken them.
    Values(Option<Values>),
    /// The direct path, read on the caller's thread.
    Direct(Box<DirectRows>),
    /// Groups, read on the caller's thread.
    Groups(Box<GroupRows>),
    /// A page, read on the caller's thread.
    Page(Box<PageRows>),
    /// Another source, each of whose batches is changed.
    Mapped(Box<MappedRows>),
    /// Texts made from the rows of several other results.
    Texts(BatchReader),
    /// Another source, read on the library's threads.
    Pooled(Box<PooledRows>),
    /// A relational query, which runs on threads of the library.
    #[cfg_attr(not(feature = "datafusion"), allow(dead_code))] // nothing else sends batches
    Channel(async_channel::Receiver<Result<RecordBatch, Error>>),
}

/// Rows each of whose batches is changed, on the caller's thread.
pub(crate) struct MappedRows {
    pub(crate) rows: BatchSource,
    /// The columns of `rows`.
    pub(crate) columns: Arc<[ResultColumn]>,
    pub(crate) map: BatchMap,
}

/// A change of batches, perhaps to other rows and columns.
pub(crate) type BatchMap = Box<dyn FnMut(&RecordBatch) -> Result<RecordBatch, Error> + Send>;

impl MappedRows {
    fn next(&mut self) -> Result<Option<RecordBatch>, Error> {
        let batch = self.rows.next_blocking(&self.columns)?;
        batch.map(|batch| (self.map)(&batch)).transpose()
    }
}

/// Rows as values, without a batch.
pub(crate) enum Values {
    /// Already read.
    Read(RowValues),
    /// Totals that are not added up yet.
    Total(TotalRow),
}

impl Values {
    /// The values.
    pub(crate) fn read(self) -> Result<RowValues, Error> {
        match self {
            Self::Read(values) => Ok(values),
            Self::Total(row) => Ok(row.values()?),
        }
    }
}

impl BatchSource {
    /// Adds the next rows to `values`; `None` if the source has batches only.
    pub(crate) fn next_values(&mut self, values: &mut RowValues) -> Result<Option<bool>, Error> {
        match self {
            BatchSource::Values(row) => {
                let Some(row) = row.take() else { return Ok(Some(false)) };
                debug_assert_eq!(values.rows(), 0, "a row in place of others");
                *values = row.read()?;
                Ok(Some(true))
            }
            BatchSource::Direct(rows) => {
                let has_rows = rows.next_values(values)?;
                // The caller takes a batch at the end; there is none, and nothing is left to be read for it.
                if has_rows == Some(false) {
                    *self = BatchSource::Values(None);
                }
                Ok(has_rows)
            }
            BatchSource::Ready(_)
            | BatchSource::Groups(_)
            | BatchSource::Page(_)
            | BatchSource::Mapped(_)
            | BatchSource::Texts(_)
            | BatchSource::Pooled(_)
            | BatchSource::Channel(_) => Ok(None),
        }
    }

    /// Takes the values of a row that is already read.
    pub(crate) fn take_read(&mut self) -> Option<RowValues> {
        match self {
            Self::Values(row @ Some(Values::Read(_))) => row.take().and_then(|row| row.read().ok()),
            _ => None,
        }
    }

    /// All rows, read on this thread.
    fn collected(mut self, columns: &[ResultColumn]) -> Result<Self, Error> {
        let mut values = RowValues::new(columns.len());
        match self.next_values(&mut values)? {
            Some(false) => return Ok(Self::Values(None)),
            Some(true) => {
                while self.next_values(&mut values)? == Some(true) {}
                return Ok(Self::Values(Some(Values::Read(values))));
            }
            None => {}
        }
        let mut batches = VecDeque::new();
        while let Some(batch) = self.next_blocking(columns)? {
            batches.push_back(batch);
        }
        Ok(Self::Ready(batches))
    }

    /// Whether all rows are read.
    pub(crate) fn is_complete(&self) -> bool {
        matches!(self, Self::Ready(_) | Self::Values(None | Some(Values::Read(_))))
    }

    /// Whether the caller's thread must read further rows.
    pub(crate) fn reads(&self) -> bool {
        matches!(
            self,
            Self::Direct(_)
                | Self::Groups(_)
                | Self::Page(_)
                | Self::Mapped(_)
                | Self::Texts(_)
                | Self::Values(Some(Values::Total(_)))
        )
    }

    /// As [`BatchSource::next`], blocking the thread.
    pub(crate) fn next_blocking(&mut self, columns: &[ResultColumn]) -> Result<Option<RecordBatch>, Error> {
        block_on(self.next(columns))
    }

    /// The next batch that is not empty; `columns` are those of the result. A source that [reads](BatchSource::reads) blocks the thread.
    pub(crate) async fn next(&mut self, columns: &[ResultColumn]) -> Result<Option<RecordBatch>, Error> {
        loop {
            let batch = match self {
                BatchSource::Ready(batches) => batches.pop_front(),
                BatchSource::Values(values) => {
                    values.take().map(|values| batch_of_values(columns, &values.read()?)).transpose()?
                }
                BatchSource::Direct(rows) => rows.next_batch()?,
                BatchSource::Groups(rows) => rows.next()?,
                BatchSource::Page(rows) => rows.next_batch()?,
                BatchSource::Mapped(rows) => rows.next()?,
                BatchSource::Texts(next) => next()?,
                BatchSource::Pooled(rows) => rows.next().await?,
                BatchSource::Channel(receiver) => receiver.recv().await.ok().transpose()?,
            };
            if batch.as_ref().is_none_or(|batch| batch.num_rows() > 0) {
                return Ok(batch);
            }
        }
    }
}

impl RowsOutcome {
    /// A complete result of one batch.
    pub(crate) fn ready(columns: Arc<[ResultColumn]>, batch: RecordBatch) -> Self {
        Self::of(columns, BatchSource::Ready(VecDeque::from([batch])), Stats::default())
    }

    /// The same result with all its rows read, on this thread.
    ///
    /// # Errors
    /// An error of the read or of the computation.
    pub(crate) fn collected(mut self) -> Result<Self, Error> {
        let _statement = self.running.as_ref().map(|running| running.context.enter());
        self.source = self.source.collected(&self.columns)?;
        Ok(self)
    }

    /// The result of a lookup by a whole key: one row, or none.
    pub(crate) fn point(columns: Arc<[ResultColumn]>, row: Option<RowValues>) -> Self {
        let read = Stats { keys_read: row.is_some().into(), seeks: 1, buckets: 1 };
        Self::of(columns, BatchSource::Values(row.map(Values::Read)), read)
    }

    /// A complete result: few rows.
    pub(crate) fn few(columns: Arc<[ResultColumn]>, few: ShortRangeRows) -> Self {
        let ShortRangeRows { values, keys_read, seeks, buckets } = few;
        let values = (values.rows() > 0).then_some(Values::Read(values));
        Self::of(columns, BatchSource::Values(values), Stats { keys_read, seeks, buckets })
    }

    /// A complete result.
    fn of(columns: Arc<[ResultColumn]>, source: BatchSource, read: Stats) -> Self {
        Self { columns, source, read, running: None }
    }

    /// A result whose rows are read on demand.
    pub(crate) fn running(columns: Arc<[ResultColumn]>, source: BatchSource, running: Running) -> Self {
        Self { columns, source, read: Stats::default(), running: Some(Box::new(running)) }
    }

    /// The same rows; if their groups exceed the memory limit, the statement begins [again](Again).
    pub(crate) fn or_again(self, again: Again) -> Self {
        match (self.source, self.running) {
            (BatchSource::Direct(rows), Some(mut running)) => {
                let later = LaterScans::default();
                running.later = Some(later.clone());
                let source = BatchSource::Groups(Box::new(GroupRows::new(rows, again, later)));
                Self { source, running: Some(running), ..self }
            }
            (source, running) => Self { source, running, ..self },
        }
    }

    /// The types of the columns.
    pub(crate) fn types(&self) -> Vec<SqlType> {
        self.columns.iter().map(|column| column.ty).collect()
    }

    /// Passes all batches to `take`; returns the value of `take`, and the statement's reads and notices.
    pub(crate) fn drain<T>(
        self,
        take: impl FnOnce(&mut dyn Iterator<Item = Result<RecordBatch, Error>>) -> Result<T, Error>,
    ) -> Result<(T, ExecResult), Error> {
        let Self { columns, mut source, mut running, mut read } = self;
        let context = running.as_ref().map(|running| running.context.clone());
        let failed = |error| running.iter().fold(error, |error, running| running.failed(error));
        let mut next = || {
            let _statement = context.as_ref().map(ScanContext::enter);
            source.next_blocking(&columns).map_err(failed).transpose()
        };
        let taken = take(&mut std::iter::from_fn(&mut next))?;
        if let Some(running) = &mut running {
            running.end();
            read += running.read();
        }
        let Some(running) = running else { return Ok((taken, ExecResult { stats: read, ..ExecResult::default() })) };
        let next_page = running.next_page();
        let Running { rows_affected, notices, .. } = *running;
        Ok((taken, ExecResult { rows_affected, notices, stats: read, next_page }))
    }

    /// Reads all rows and discards them.
    pub(crate) fn read_all(self) -> Result<ExecResult, Error> {
        let read = |batches: &mut dyn Iterator<Item = Result<RecordBatch, Error>>| {
            for batch in batches {
                batch?;
            }
            Ok(())
        };
        self.drain(read).map(|((), result)| result)
    }
}

fn batch_of_values(columns: &[ResultColumn], values: &RowValues) -> Result<RecordBatch, Error> {
    let array = |(place, column): (usize, &ResultColumn)| {
        let mut builder = ColumnBuilder::new(column.ty, values.rows());
        values.column(place).try_for_each(|value| builder.append_value(&value))?;
        Ok::<_, Error>(builder.finish())
    };
    let arrays = columns.iter().enumerate().map(array).collect::<Result<_, _>>()?;
    Ok(RecordBatch::try_new(result_schema(columns), arrays).map_err(TableError::from)?)
}
