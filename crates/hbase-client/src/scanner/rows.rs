//! The rows of a scan.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;

use super::arrival::Arrival;
use super::counts::ScanCounts;
use super::flight::Flight;
use super::open_scanner::OpenScanner;
use super::opening;
use super::progress::Progress;
use super::stop::Stop;
use crate::cluster::Cluster;
use crate::context::CallContext;
use crate::error::Error;
use crate::proto::{ScanRequest, ScanResponse};
use crate::region::Region;
use crate::request::Scan;
use crate::retries::Retries;
use crate::row::Row;
use crate::server_error::Reaction;
use crate::table_name::TableName;

/// The rows of a scan, over all regions of its range.
///
/// Each row is given once, and none is left out, while regions split, merge and move, leases expire and servers die: after a failure
/// the scan goes on after the last complete row. It is no snapshot: a row is read as it is when a server comes to it.
///
/// While the caller works on the rows of one answer, the next call is under way: the scanner holds one answer more than the
/// caller has taken, and a scan that is not read to its end has made one call too many, unless it has a [limit](Scan::limit).
///
/// If the caller drops the future of a call, no rows are lost: the next call goes on. If the caller drops the scanner, the client tells the
/// server to close the server's scanner. If a call is under way, the client does so after that call has ended.
pub struct Scanner {
    cluster: Arc<Cluster>,
    progress: Progress,
    /// The scanner at a server if no call is under way.
    open: Option<OpenScanner>,
    /// The call that is under way.
    flight: Option<Flight>,
    /// An answer that a renewal has waited for.
    arrival: Option<Arrival>,
    /// Rows for [`Self::next_row`].
    ready: VecDeque<Row>,
}

impl Scanner {
    pub(crate) fn new(cluster: Arc<Cluster>, table: TableName, scan: Scan) -> Self {
        let progress = Progress::new(table, scan);
        Self { cluster, progress, open: None, flight: None, arrival: None, ready: VecDeque::new() }
    }

    /// The next row; `None` at the end.
    ///
    /// # Errors
    /// As [`Self::next_rows`].
    pub async fn next_row(&mut self, context: &CallContext) -> Result<Option<Row>, Error> {
        if self.ready.is_empty() {
            self.ready = self.next_rows(context).await?.into();
        }
        Ok(self.ready.pop_front())
    }

    /// The next rows, those of one answer; none at the end.
    ///
    /// # Errors
    /// [`Error`]. After an error the next call goes on after the last row that was given; a scan of computed rows has ended if rows of
    /// the region were given.
    pub async fn next_rows(&mut self, context: &CallContext) -> Result<Vec<Row>, Error> {
        if !self.ready.is_empty() {
            return Ok(std::mem::take(&mut self.ready).into());
        }
        self.progress.scan.check()?;
        let mut retries = Retries::new(context);
        while !self.progress.is_done {
            let rows = match self.step(context).await {
                Ok(rows) => rows,
                // The scanner may be as it was: then it goes on.
                Err(Stop::Failed(failure, _)) if self.progress.position.is_stuck() && self.open.is_none() => {
                    self.progress.is_done = true;
                    return Err(failure);
                }
                Err(Stop::Failed(failure, region)) => {
                    self.progress.counts.failures += 1;
                    self.recover(context, failure, &region, &mut retries).await?;
                    continue;
                }
                Err(Stop::Ended(error)) => return Err(error),
            };
            if !rows.is_empty() {
                self.read_ahead(context);
                return Ok(rows);
            }
            retries.progress();
        }
        Ok(Vec::new())
    }

    /// Tells the server that the scanner is still in use: a scanner that is not asked for a minute, or what the server has for its
    /// lease, is closed. Whoever works long on the rows of one call may call this; otherwise the scan opens another scanner, and
    /// loses nothing but time.
    pub async fn renew(&mut self, context: &CallContext) {
        let until = context.attempt_until();
        // The calls of a scanner have an order: a renewal comes after the call that is under way.
        if let Some(flight) = &mut self.flight {
            let arrival = flight.arrival(until).await;
            self.flight = None;
            self.arrival = arrival.ok();
        }
        let arrived = self.arrival.as_mut().filter(|arrival| arrival.answer.is_ok()).map(|arrival| &mut arrival.open);
        let Some(open) = arrived.or(self.open.as_mut()).filter(|open| !open.has_ended) else { return };
        let request = ScanRequest { renew: Some(true), number_of_rows: Some(0), ..open.request() };
        match open.server.call::<ScanResponse>("Scan", &request, Bytes::new(), until).await {
            // A renewal has a number, too.
            Ok(_) => open.next_call += 1,
            Err(error) => open.note_failure(&error),
        }
        self.open.take_if(|open| open.has_ended);
    }

    /// What the scan has done so far.
    pub fn counts(&self) -> ScanCounts {
        self.progress.counts
    }

    /// Asks for the rows after those that the caller is given: their region, or the one after it if the client knows its place.
    fn read_ahead(&mut self, context: &CallContext) {
        if self.progress.is_done {
            return;
        }
        let until = context.attempt_ahead_until();
        self.flight = match self.open.take() {
            Some(open) => {
                let request = self.progress.limits.request(open.request());
                Some(Flight::send(open, request, until))
            }
            None => opening::next(&self.cluster, &self.progress).map(|opening| Flight::open(opening, until)),
        };
        self.progress.counts.ahead += u64::from(self.flight.is_some());
    }

    /// The rows of one answer. If this is cancelled while the call is under way, the next step gets the answer.
    async fn step(&mut self, context: &CallContext) -> Result<Vec<Row>, Stop> {
        let Some(Arrival { mut open, opens, answer }) = self.next_arrival(context).await? else {
            return Ok(Vec::new());
        };
        match answer {
            Ok(answer) => {
                self.progress.counts.opened += u64::from(opens);
                let (rows, open) = self.progress.take(open, answer).map_err(Stop::Ended)?;
                self.open = open;
                Ok(rows)
            }
            Err(error) => {
                let region = open.region.clone();
                open.note_failure(&error);
                self.open = Some(open).filter(|open| !open.has_ended);
                Err(Stop::Failed(error.of_table(&self.progress.table), region))
            }
        }
    }

    /// The answer that is there, of the call that is under way, or of a new call; `None` at the end of the scan.
    async fn next_arrival(&mut self, context: &CallContext) -> Result<Option<Arrival>, Stop> {
        if let Some(arrival) = self.arrival.take() {
            return Ok(Some(arrival));
        }
        let until = context.attempt_until();
        if let Some(open) = self.open.take() {
            let request = self.progress.limits.request(open.request());
            self.flight = Some(Flight::send(open, request, until));
        }
        let Some(flight) = &mut self.flight else {
            return opening::open(&self.cluster, context, &mut self.progress).await;
        };
        let arrival = flight.arrival(until).await;
        let region = flight.region().clone();
        self.flight = None;
        arrival.map(Some).map_err(|error| Stop::Failed(error, region))
    }

    /// Notes what a failure tells, and waits for the next try.
    async fn recover(
        &self,
        context: &CallContext,
        failure: Error,
        region: &Region,
        retries: &mut Retries<'_>,
    ) -> Result<(), Error> {
        match failure.reaction() {
            Reaction::Final => Err(failure),
            // The scanner alone is gone: another one needs no wait, but a try of the budget.
            Reaction::OpenScannerAgain if retries.failures() == 0 && context.take_retry() => Ok(()),
            _ => self.cluster.recover(context, &self.progress.table, region, failure, retries).await,
        }
    }
}
