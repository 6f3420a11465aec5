//! Jobs one after the other, several of them under way.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use hbase_client::{Error as CallError, Scan, Table};
use saltwing_access::{Direction, ScanContext, TableError};
use saltwing_types::interrupt::{self, Interrupt};

use super::fetch::{Fetch, Fetched};
use super::jobs::{Job, Jobs};
use crate::HbaseError;
use crate::cluster::{Cluster, GRACE, Place};
use crate::rows::{ReadRow, RowReader};

/// What all jobs of a scan share.
pub(super) struct Reading {
    pub(super) cluster: Arc<Cluster>,
    pub(super) table: Table,
    pub(super) reader: Arc<RowReader>,
    pub(super) direction: Direction,
    /// Most rows of a job, if no filter is between its rows and those of the scan.
    pub(super) limit: Option<u64>,
    /// Rows of the first calls, where few may be enough.
    pub(super) rows_per_call: Option<u32>,
    pub(super) bytes_per_call: u64,
    pub(super) deadline: Option<Instant>,
    pub(super) context: ScanContext,
}

impl Reading {
    fn start(&self, job: &Job) -> Fetch {
        let mut scan: Scan = job.scan(self.direction).bytes_per_call(self.bytes_per_call);
        if let Some(limit) = self.limit {
            scan = scan.limit(limit);
        }
        if let Some(rows) = self.rows_per_call {
            scan = scan.rows_per_call(rows);
        }
        if job.is_point() {
            scan = scan.limit(1);
        }
        Fetch::start(&self.cluster, &self.table, scan, self.reader.clone(), self.deadline)
    }
}

/// The rows of jobs, in their order.
pub(super) struct Stream {
    jobs: Jobs,
    /// Jobs under way, the one whose rows come first in front.
    running: VecDeque<(Job, Fetch)>,
    at_once: usize,
    rows: VecDeque<ReadRow>,
}

impl Stream {
    /// The rows of some jobs, of which so many are read side by side.
    pub(super) fn new(jobs: Jobs, at_once: usize) -> Self {
        Self { jobs, running: VecDeque::new(), at_once: at_once.max(1), rows: VecDeque::new() }
    }

    /// The next row, which stays; `None` at the end.
    ///
    /// # Errors
    /// Those of calls; cancel, timeout and budget.
    pub(super) fn peek(&mut self, reading: &Reading) -> Result<Option<&ReadRow>, TableError> {
        while self.rows.is_empty() {
            self.start_jobs(reading);
            let Some((job, fetch)) = self.running.front_mut() else { return Ok(None) };
            match receive(reading, job, fetch)? {
                Fetched::End => drop(self.running.pop_front()),
                Fetched::Rows { rows, scanned, bytes } => {
                    let bytes = bytes + rows.iter().map(|row| row.bytes).sum::<u64>();
                    reading.context.charge(scanned, bytes)?;
                    self.rows.extend(rows);
                }
            }
        }
        Ok(self.rows.front())
    }

    /// The next row; `None` at the end.
    ///
    /// # Errors
    /// As [`Stream::peek`].
    pub(super) fn next(&mut self, reading: &Reading) -> Result<Option<ReadRow>, TableError> {
        self.peek(reading)?;
        Ok(self.rows.pop_front())
    }

    /// Starts as many jobs as may be under way.
    pub(super) fn start_jobs(&mut self, reading: &Reading) {
        while self.running.len() < self.at_once
            && let Some((job, begun)) = self.jobs.next()
        {
            let counters = &reading.context.counters;
            counters.touch_bucket(begun.bucket);
            (0..begun.ranges).for_each(|_| counters.count_seek());
            let fetch = reading.start(&job);
            self.running.push_back((job, fetch));
        }
    }
}

/// Waits for the next answer of a job.
fn receive(reading: &Reading, job: &Job, fetch: &mut Fetch) -> Result<Fetched, TableError> {
    let statement: &dyn Interrupt = reading.context.statement();
    let limit = reading.cluster.options.call_time.saturating_add(GRACE);
    let waited = interrupt::wait(Some(statement), limit, |context| fetch.answers.poll_recv(context));
    let place = || reading.cluster.name_of(Place::Row(&reading.table, job.start()));
    match waited {
        Ok(Some(Some(Ok(fetched)))) => Ok(fetched),
        Ok(Some(Some(Err(error)))) => Err(reading.cluster.failed(Some(statement), error)),
        Ok(Some(None)) => {
            let reason = "the reading of a range ended without its end".to_owned();
            Err(HbaseError::from(CallError::Task { reason }).into())
        }
        Ok(None) => Err(HbaseError::NoAnswer { server: place(), ms: limit.as_millis() }.into()),
        Err(interrupted) => Err(TableError::StoppedWaiting { server: place(), interrupted }),
    }
}
