//! What a statement gives.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use arrow::array::RecordBatch;
use saltwing_bind::ResultColumn;
use saltwing_exec::DirectRows;
use saltwing_table::{Counters, ScanContext};

use crate::Error;

/// What a statement did that gives no rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExecResult {
    /// Rows written or deleted; 0 for DDL.
    pub rows_affected: u64,
    /// What the user should know: options without effect, full scans that were let pass.
    pub notices: Vec<String>,
}

/// What a statement read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Visible rows inside the key ranges, up to where the scans stopped.
    pub keys_read: u64,
    /// Positionings: one for each bucket and range.
    pub seeks: u64,
    /// Buckets in which something was read.
    pub buckets: u32,
}

/// A statement's result inside the library.
pub(crate) enum Outcome {
    Done(ExecResult),
    Rows(RowsOutcome),
}

/// Rows, as they come.
pub(crate) struct RowsOutcome {
    pub(crate) columns: Arc<[ResultColumn]>,
    pub(crate) source: BatchSource,
    /// What the statement is stopped by, if anything of it is still to run.
    pub(crate) context: Option<ScanContext>,
    /// What each of its scans counts.
    pub(crate) counters: Vec<Arc<Counters>>,
    pub(crate) notices: Vec<String>,
    /// What else may have to be noticed when the rows were read to the end.
    pub(crate) warning: Option<ScanWarning>,
}

/// What a statement scans, watched for being much: from how much on there is a notice.
#[derive(Clone)]
pub(crate) struct ScanWarning {
    pub(crate) context: ScanContext,
    pub(crate) rows: Option<u64>,
    pub(crate) bytes: Option<u64>,
    pub(crate) time: Option<Duration>,
}

impl ScanWarning {
    /// What is to be said of the scan so far.
    pub(crate) fn notices(&self) -> Vec<String> {
        let mut notices = Vec::new();
        let (rows, bytes, time) = (self.context.rows_scanned(), self.context.bytes_scanned(), self.context.elapsed());
        if let Some(limit) = self.rows.filter(|limit| rows >= *limit) {
            notices.push(format!("{rows} rows were scanned; SET rows_warn = {limit} says so"));
        }
        if let Some(limit) = self.bytes.filter(|limit| bytes >= *limit) {
            notices.push(format!("{bytes} bytes were scanned; SET bytes_warn = {limit} says so"));
        }
        if let Some(limit) = self.time.filter(|limit| time >= *limit) {
            let (took, limit) = (time.as_millis(), limit.as_millis());
            notices.push(format!("it took {took} ms; SET time_warn = {limit} says so"));
        }
        notices
    }
}

/// Where batches come from.
pub(crate) enum BatchSource {
    /// Made already.
    Ready(VecDeque<RecordBatch>),
    /// The direct path, read on the caller's thread.
    Direct(Box<DirectRows>),
    /// Another thread or task.
    Channel(async_channel::Receiver<Result<RecordBatch, Error>>),
}

impl BatchSource {
    /// The next batch with rows in it, on the caller's thread.
    pub(crate) fn next_blocking(&mut self) -> Result<Option<RecordBatch>, Error> {
        loop {
            let batch = match self {
                BatchSource::Ready(batches) => batches.pop_front(),
                BatchSource::Direct(rows) => rows.next_batch()?,
                BatchSource::Channel(receiver) => receiver.recv_blocking().ok().transpose()?,
            };
            if batch.as_ref().is_none_or(|batch| batch.num_rows() > 0) {
                return Ok(batch);
            }
        }
    }

    /// The next batch with rows in it; only of what is ready or comes from elsewhere.
    pub(crate) async fn next(&mut self) -> Result<Option<RecordBatch>, Error> {
        loop {
            let BatchSource::Channel(receiver) = &mut *self else { return self.next_blocking() };
            let batch = receiver.recv().await.ok().transpose()?;
            if batch.as_ref().is_none_or(|batch| batch.num_rows() > 0) {
                return Ok(batch);
            }
        }
    }
}

impl RowsOutcome {
    /// A result that is made already: `columns` with one batch.
    pub(crate) fn ready(columns: Vec<ResultColumn>, batch: RecordBatch) -> Self {
        let source = BatchSource::Ready(VecDeque::from([batch]));
        Self {
            columns: columns.into(),
            source,
            context: None,
            counters: Vec::new(),
            notices: Vec::new(),
            warning: None,
        }
    }
}
