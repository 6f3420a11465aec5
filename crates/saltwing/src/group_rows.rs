//! Groups of the direct path, which keeps them in memory. If they exceed the memory limit, the relational engine runs the query again,
//! with temporary files.

use std::sync::{Arc, OnceLock};

use arrow::array::RecordBatch;
use saltwing_access::{Counters, TableError};
use saltwing_exec::{DirectRows, ExecError};

use crate::Error;

/// The groups of a query, read on the caller's thread.
pub(crate) struct GroupRows {
    rows: Rows,
    /// Receives the counters of the scans if the query begins again.
    later: LaterScans,
}

enum Rows {
    /// No group has been returned yet, so the query can begin again.
    Gathering(Box<DirectRows>, Again),
    Direct(Box<DirectRows>),
    Relational(Batches),
    /// After an error.
    Ended,
}

/// Batches of the relational engine.
pub(crate) type Batches = async_channel::Receiver<Result<RecordBatch, Error>>;

/// Begins the query again in the relational engine; `None` if the engine cannot run it.
pub(crate) type Again = Box<dyn FnOnce() -> Result<Option<Reading>, Error> + Send>;

/// The counters of scans that begin only when rows are read.
pub(crate) type LaterScans = Arc<OnceLock<Vec<Arc<Counters>>>>;

/// A query that runs in the relational engine.
#[cfg_attr(not(feature = "datafusion"), allow(dead_code))] // only that engine creates one
pub(crate) struct Reading {
    pub(crate) batches: Batches,
    pub(crate) counters: Vec<Arc<Counters>>,
}

impl GroupRows {
    pub(crate) fn new(rows: Box<DirectRows>, again: Again, later: LaterScans) -> Self {
        Self { rows: Rows::Gathering(rows, again), later }
    }

    /// The next batch.
    pub(crate) fn next(&mut self) -> Result<Option<RecordBatch>, Error> {
        match &mut self.rows {
            Rows::Gathering(..) => self.first(),
            Rows::Direct(rows) => Ok(rows.next_batch()?),
            Rows::Relational(batches) => batches.recv_blocking().ok().transpose(),
            Rows::Ended => Ok(None),
        }
    }

    fn first(&mut self) -> Result<Option<RecordBatch>, Error> {
        let Rows::Gathering(mut rows, again) = std::mem::replace(&mut self.rows, Rows::Ended) else { return Ok(None) };
        let error = match rows.next_batch() {
            Err(error) if is_of_memory(&error) => error,
            batch => {
                self.rows = Rows::Direct(rows);
                return Ok(batch?);
            }
        };
        // Releases the memory of the groups so far.
        drop(rows);
        let Some(Reading { batches, counters }) = again()? else { return Err(error.into()) };
        // The cell is empty: this is the only place that sets it.
        let _ = self.later.set(counters);
        self.rows = Rows::Relational(batches);
        self.next()
    }
}

fn is_of_memory(error: &ExecError) -> bool {
    matches!(error, ExecError::OutOfMemory { .. } | ExecError::Table(TableError::OutOfMemory { .. }))
}
