//! The rows of a result of the async API, read on the library's threads.

use std::sync::{Arc, Weak};

use arrow::array::RecordBatch;
use saltwing_access::ScanContext;
use saltwing_types::ErrorCode;

use crate::Error;
use crate::shared::Shared;

/// Reads the next batch.
pub(crate) type BatchReader = Box<dyn FnMut() -> Result<Option<RecordBatch>, Error> + Send>;

/// Rows that are read on the library's threads: each batch by a task of its own, one batch ahead of the caller. Between two batches the
/// result holds no thread, so any number of results may be open.
pub(crate) struct PooledRows {
    rows: Rows,
    /// Empty after the database is closed: then the caller's thread reads.
    shared: Weak<Shared>,
}

enum Rows {
    Unread(Unread),
    /// A task reads the next batch, and sends it.
    Reading(async_channel::Receiver<Sent>),
    /// After the last batch, or an error.
    Ended,
}

/// The source of the remaining rows.
struct Unread {
    next: BatchReader,
    context: Option<ScanContext>,
}

/// The message of a task.
enum Sent {
    /// The next batch, and the rows after it.
    Read(Result<Option<RecordBatch>, Error>, Unread),
    /// The source of the rows, if the closing database dropped the task before it began.
    Dropped(Unread),
}

/// Reads one batch.
struct Task {
    unread: Option<Unread>,
    sender: async_channel::Sender<Sent>,
}

impl Unread {
    fn read(mut self) -> Sent {
        let statement = self.context.as_ref().map(ScanContext::enter);
        let batch = (self.next)();
        drop(statement);
        Sent::Read(batch, self)
    }
}

impl Task {
    fn run(mut self) {
        if let Some(unread) = self.unread.take() {
            // If the receiver is gone, the rows are not needed.
            let _ = self.sender.send_blocking(unread.read());
        }
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        if let Some(unread) = self.unread.take() {
            // The channel has room, because a task sends once.
            let _ = self.sender.try_send(Sent::Dropped(unread));
        }
    }
}

impl PooledRows {
    /// Starts to read rows.
    ///
    /// # Errors
    /// The threads cannot be started.
    pub(crate) fn start(shared: &Arc<Shared>, next: BatchReader, context: Option<ScanContext>) -> Result<Self, Error> {
        let rows = Rows::Unread(Unread { next, context });
        let mut this = Self { rows, shared: Arc::downgrade(shared) };
        this.read_ahead()?;
        Ok(this)
    }

    /// Starts a task that reads the next batch.
    fn read_ahead(&mut self) -> Result<(), Error> {
        let Some(shared) = self.shared.upgrade() else { return Ok(()) };
        self.rows = match std::mem::replace(&mut self.rows, Rows::Ended) {
            Rows::Unread(unread) => {
                let (sender, receiver) = async_channel::bounded(1);
                let task = Task { unread: Some(unread), sender };
                shared.pools.spawn_blocking(move || task.run())?;
                Rows::Reading(receiver)
            }
            other => other,
        };
        Ok(())
    }

    /// The next batch. No rows are lost if the future is dropped before it is ready.
    pub(crate) async fn next(&mut self) -> Result<Option<RecordBatch>, Error> {
        let sent = match &self.rows {
            Rows::Reading(receiver) => receiver.recv().await.ok(),
            _ => None,
        };
        self.take(sent)
    }

    /// Handles the message of a task, if one was running.
    fn take(&mut self, sent: Option<Sent>) -> Result<Option<RecordBatch>, Error> {
        let sent = match (sent, std::mem::replace(&mut self.rows, Rows::Ended)) {
            (Some(sent), _) => sent,
            (None, Rows::Unread(unread)) => unread.read(),
            (None, Rows::Ended) => return Ok(None),
            (None, Rows::Reading(_)) => return Err(Error::new(ErrorCode::Bug, "a thread panicked while it read rows")),
        };
        let (batch, unread) = match sent {
            Sent::Read(batch, unread) => (batch?, unread),
            Sent::Dropped(unread) => {
                self.rows = Rows::Unread(unread);
                return self.take(None);
            }
        };
        if batch.is_some() {
            self.rows = Rows::Unread(unread);
            self.read_ahead()?;
        }
        Ok(batch)
    }
}
