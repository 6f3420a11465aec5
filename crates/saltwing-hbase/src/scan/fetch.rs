//! The reading of a job, on the threads of the cluster.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hbase_client::{CallContext, Row, Scan, Scanner, Table};
use saltwing_access::ScanContext;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::AbortHandle;

use super::reading::{Reading, while_running};
use crate::HbaseError;
use crate::rows::{AnswerReader, ReadRow};

/// Answers of a server that wait to be taken: with them the scanner's next one is under way.
const ANSWERS_MAX: usize = 1;
/// How long the server is looked for that gave no answer.
const NAMING_MAX: Duration = Duration::from_millis(20);

/// What a job comes to.
pub(super) enum Fetched {
    /// The rows of one answer.
    Rows {
        /// Those of the table.
        rows: Vec<ReadRow>,
        /// All that the server has read.
        scanned: u64,
        /// Bytes of the others.
        bytes: u64,
    },
    /// There are no more.
    End,
}

/// A job that is read. It ends when this is dropped.
pub(super) struct Fetch {
    /// Its first key, or one before it.
    pub(super) start: Vec<u8>,
    pub(super) answers: Receiver<Result<Fetched, HbaseError>>,
    task: AbortHandle,
}

impl Drop for Fetch {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Fetch {
    /// Starts to read a scan that begins at a key.
    pub(super) fn start(reading: &Reading, start: &[u8], scan: Scan) -> Self {
        let (sender, answers) = channel(ANSWERS_MAX);
        let work = Work {
            table: reading.table.clone(),
            start: start.to_vec(),
            reader: reading.reader.clone(),
            call_time: reading.cluster.options.call_time,
            deadline: reading.deadline,
            context: reading.context.clone(),
        };
        let task = reading.cluster.spawn(async move {
            if let Err(error) = work.read(scan, &sender).await {
                // If nobody waits any more, nobody wants to know.
                let _ = sender.send(Err(error)).await;
            }
        });
        Self { start: start.to_vec(), answers, task: task.abort_handle() }
    }
}

/// What a job needs.
struct Work {
    table: Table,
    start: Vec<u8>,
    reader: Arc<dyn AnswerReader>,
    call_time: Duration,
    deadline: Option<Instant>,
    context: ScanContext,
}

impl Work {
    async fn read(&self, scan: Scan, sender: &Sender<Result<Fetched, HbaseError>>) -> Result<(), HbaseError> {
        let mut scanner = self.table.scan(self.reader.ask(scan));
        loop {
            let answer = self.answer(&mut scanner).await?;
            if answer.is_empty() {
                let _ = sender.send(Ok(Fetched::End)).await;
                return Ok(());
            }
            let (mut rows, mut scanned, mut bytes) = (Vec::with_capacity(answer.len()), 0, 0);
            for row in &answer {
                let before = rows.len();
                scanned += self.reader.read(row, &mut rows)?;
                if rows.len() == before {
                    bytes += row.key().len() as u64;
                }
            }
            if sender.send(Ok(Fetched::Rows { rows, scanned, bytes })).await.is_err() {
                return Ok(());
            }
        }
    }

    /// The rows of the next answer. Ends soon after the statement must stop.
    async fn answer(&self, scanner: &mut Scanner) -> Result<Vec<Row>, HbaseError> {
        let began = Instant::now();
        let left = self.deadline.map(|deadline| deadline.saturating_duration_since(began));
        let context = CallContext::within(left.map_or(self.call_time, |left| left.min(self.call_time)));
        match while_running(&self.context, scanner.next_rows(&context)).await {
            Some(rows) => Ok(rows?),
            None => Err(HbaseError::NoAnswer { server: self.server().await, ms: began.elapsed().as_millis() }),
        }
    }

    /// The server of the first region of the job.
    async fn server(&self) -> String {
        match self.table.region(&CallContext::within(NAMING_MAX), &self.start).await {
            Ok(region) => region.server().to_string(),
            Err(_) => format!("a region server of {}", self.table.name()),
        }
    }
}
