//! Jobs one after the other, several of them under way.

use std::collections::VecDeque;
use std::task::{Context, Poll};

use hbase_client::{Error as CallError, Scan};
use saltwing_access::TableError;
use saltwing_rowkey::KeyRange;

use super::fetch::{Fetch, Fetched};
use super::jobs::{Job, Jobs};
use super::reading::Reading;
use crate::HbaseError;
use crate::rows::ReadRow;

/// The rows of jobs, in their order.
pub(super) struct Stream {
    jobs: Jobs,
    /// Jobs under way, the one whose rows come first in front.
    running: VecDeque<Fetch>,
    at_once: usize,
    rows: VecDeque<ReadRow>,
}

impl Stream {
    /// The rows of some jobs, of which so many are read side by side.
    pub(super) fn new(jobs: Jobs, at_once: usize) -> Self {
        Self { jobs, running: VecDeque::new(), at_once: at_once.max(1), rows: VecDeque::new() }
    }

    /// Whether the next row is there, `false` at the end.
    ///
    /// # Errors
    /// Those of calls and of damaged rows; budget, and cancel and timeout if a call has noticed them.
    pub(super) fn poll(&mut self, reading: &Reading, task: &mut Context<'_>) -> Poll<Result<bool, TableError>> {
        while self.rows.is_empty() {
            self.start_jobs(reading);
            let Some(fetch) = self.running.front_mut() else { return Poll::Ready(Ok(false)) };
            match fetch.answers.poll_recv(task) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Some(Ok(Fetched::End))) => drop(self.running.pop_front()),
                Poll::Ready(Some(Ok(Fetched::Rows { rows, scanned, bytes }))) => {
                    let bytes = bytes + rows.iter().map(|row| row.bytes).sum::<u64>();
                    if let Err(error) = reading.context.charge(scanned, bytes) {
                        return Poll::Ready(Err(error));
                    }
                    self.rows.extend(rows);
                }
                Poll::Ready(Some(Err(error))) => {
                    return Poll::Ready(Err(reading.cluster.failed(Some(reading.context.statement()), error)));
                }
                Poll::Ready(None) => {
                    let reason = "the reading of a range ended without its end".to_owned();
                    return Poll::Ready(Err(HbaseError::from(CallError::Task { reason }).into()));
                }
            }
        }
        Poll::Ready(Ok(true))
    }

    /// The next row, if it is there.
    pub(super) fn front(&self) -> Option<&ReadRow> {
        self.rows.front()
    }

    /// Takes the next row, if it is there.
    pub(super) fn take(&mut self) -> Option<ReadRow> {
        self.rows.pop_front()
    }

    /// The first key of the job whose rows come next, or one before it.
    pub(super) fn place(&self) -> &[u8] {
        self.running.front().map_or(&[], |fetch| &fetch.start)
    }

    /// Divides the jobs that are left at these bounds of regions.
    pub(super) fn divide_at(&mut self, regions: Vec<KeyRange>) {
        self.jobs.divide_at(regions);
    }

    /// Starts as many jobs as may be under way.
    pub(super) fn start_jobs(&mut self, reading: &Reading) {
        while self.running.len() < self.at_once
            && let Some((job, begun)) = self.jobs.next()
        {
            let counters = &reading.context.counters;
            counters.touch_bucket(begun.bucket);
            (0..begun.ranges).for_each(|_| counters.count_seek());
            self.running.push_back(start(reading, &job));
        }
    }
}

/// Starts to read a job.
fn start(reading: &Reading, job: &Job) -> Fetch {
    let mut scan: Scan = job.scan(reading.direction).bytes_per_call(reading.bytes_per_call);
    if let Some(limit) = reading.limit {
        scan = scan.limit(limit);
    }
    if let Some(rows) = reading.rows_per_call {
        scan = scan.rows_per_call(rows);
    }
    if job.is_point() && !reading.reader.is_computed() {
        scan = scan.limit(1);
    }
    Fetch::start(reading, job.start(), scan)
}
