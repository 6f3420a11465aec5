//! The reading of a job, on the threads of the cluster.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hbase_client::{CallContext, Scan, Table};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::AbortHandle;

use crate::HbaseError;
use crate::cluster::Cluster;
use crate::rows::{ReadRow, RowReader};

/// Answers of a server that wait to be taken: with them the scanner's next one is under way.
const ANSWERS_MAX: usize = 1;

/// What a job comes to.
pub(super) enum Fetched {
    /// The rows of one answer.
    Rows {
        /// Those of the table.
        rows: Vec<ReadRow>,
        /// All that the server gave.
        scanned: u64,
        /// Bytes of the others.
        bytes: u64,
    },
    /// There are no more.
    End,
}

/// A job that is read. It ends when this is dropped.
pub(super) struct Fetch {
    pub(super) answers: Receiver<Result<Fetched, HbaseError>>,
    task: AbortHandle,
}

impl Drop for Fetch {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Fetch {
    /// Starts to read a scan, by `deadline` if the statement has one.
    pub(super) fn start(
        cluster: &Cluster,
        table: &Table,
        scan: Scan,
        reader: Arc<RowReader>,
        deadline: Option<Instant>,
    ) -> Self {
        let (sender, answers) = channel(ANSWERS_MAX);
        let (table, call_time) = (table.clone(), cluster.options.call_time);
        let work = async move {
            if let Err(error) = read(&table, scan, &reader, call_time, deadline, &sender).await {
                // If nobody waits any more, nobody wants to know.
                let _ = sender.send(Err(error)).await;
            }
        };
        Self { answers, task: cluster.spawn(work).abort_handle() }
    }
}

async fn read(
    table: &Table,
    scan: Scan,
    reader: &RowReader,
    call_time: Duration,
    deadline: Option<Instant>,
    sender: &Sender<Result<Fetched, HbaseError>>,
) -> Result<(), HbaseError> {
    let mut scanner = table.scan(reader.select(scan));
    loop {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let context = CallContext::within(left.map_or(call_time, |left| left.min(call_time)));
        let answer = scanner.next_rows(&context).await?;
        if answer.is_empty() {
            let _ = sender.send(Ok(Fetched::End)).await;
            return Ok(());
        }
        let (mut rows, mut bytes) = (Vec::with_capacity(answer.len()), 0);
        for row in &answer {
            match reader.read(row)? {
                Some(read) => rows.push(read),
                None => bytes += row.key().len() as u64,
            }
        }
        if sender.send(Ok(Fetched::Rows { rows, scanned: answer.len() as u64, bytes })).await.is_err() {
            return Ok(());
        }
    }
}
