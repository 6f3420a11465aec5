//! The progress of long statements.

use parking_lot::Mutex;

/// The progress of a COPY FROM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyProgress {
    /// Rows committed.
    pub rows: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Bytes of the file, if its size is known.
    pub bytes_total: Option<u64>,
}

/// The progress of an index build: a CREATE INDEX, or an ALTER INDEX REBUILD.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexProgress {
    /// Rows whose entries are committed.
    pub rows: u64,
    /// The approximate number of rows of the table, which other statements may change meanwhile.
    pub rows_estimated: u64,
}

type Report<P> = Mutex<Option<Box<dyn Fn(P) + Send + Sync>>>;

/// The callbacks to which the statements of a connection report their progress.
#[derive(Default)]
pub(crate) struct ProgressReports {
    copy: Report<CopyProgress>,
    index: Report<IndexProgress>,
}

impl ProgressReports {
    pub(crate) fn on_copy(&self, report: impl Fn(CopyProgress) + Send + Sync + 'static) {
        *self.copy.lock() = Some(Box::new(report));
    }

    pub(crate) fn on_index(&self, report: impl Fn(IndexProgress) + Send + Sync + 'static) {
        *self.index.lock() = Some(Box::new(report));
    }

    pub(crate) fn copy(&self, progress: CopyProgress) {
        if let Some(report) = self.copy.lock().as_ref() {
            report(progress);
        }
    }

    pub(crate) fn index(&self, progress: IndexProgress) {
        if let Some(report) = self.index.lock().as_ref() {
            report(progress);
        }
    }
}
