//! What all jobs of a scan share.

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hbase_client::Table;
use saltwing_access::{Direction, ScanContext};

use crate::cluster::Cluster;
use crate::rows::AnswerReader;

/// How soon a call notices that the statement must stop. A reader that waits on a thread notices it at once.
const CHECKED_EVERY: Duration = Duration::from_millis(50);

/// Waits for an answer until the statement must stop; `None` soon after that.
pub(super) async fn while_running<T>(context: &ScanContext, answer: impl Future<Output = T>) -> Option<T> {
    tokio::pin!(answer);
    loop {
        match tokio::time::timeout(CHECKED_EVERY, &mut answer).await {
            Ok(answer) => return Some(answer),
            Err(_) if context.check().is_ok() => {}
            Err(_) => return None,
        }
    }
}

/// What all jobs of a scan share.
pub(super) struct Reading {
    pub(super) cluster: Arc<Cluster>,
    pub(super) table: Table,
    pub(super) reader: Arc<dyn AnswerReader>,
    pub(super) direction: Direction,
    /// Most rows of a job, if no filter is between its rows and those of the scan.
    pub(super) limit: Option<u64>,
    /// Rows of the first calls, where few may be enough.
    pub(super) rows_per_call: Option<u32>,
    pub(super) bytes_per_call: u64,
    pub(super) deadline: Option<Instant>,
    pub(super) context: ScanContext,
}
