//! The rows of a scan.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;

use super::assembler::Assembler;
use super::counts::ScanCounts;
use super::limits::Limits;
use super::open_scanner::OpenScanner;
use super::position::Position;
use crate::cluster::Cluster;
use crate::connection::{Answer, Server};
use crate::context::CallContext;
use crate::error::Error;
use crate::proto::{ScanRequest, ScanResponse};
use crate::region::Region;
use crate::request::Scan;
use crate::retries::Retries;
use crate::row::{Row, pieces_of};
use crate::server_error::Reaction;
use crate::table_name::TableName;

/// The most bytes of a row that comes in pieces.
const ROW_BYTES_MAX: usize = 256 << 20;

/// The classes of exceptions after which a call was certainly not begun: the scanner is as it was.
const NOT_BEGUN: &[&str] = &["CallQueueTooBigException", "CallDroppedException", "RpcThrottlingException"];

/// The rows of a scan, over all regions of its range.
///
/// Each row is given once, and none is left out, while regions split, merge and move, leases expire and servers die: after a failure
/// the scan goes on after the last complete row. It is no snapshot: a row is read as it is when a server comes to it.
///
/// A future of a call that is dropped costs a scanner and no rows: the next call opens another. If the scanner is dropped, the server is
/// told to close its own.
pub struct Scanner {
    cluster: Arc<Cluster>,
    table: TableName,
    scan: Scan,
    position: Position,
    open: Option<OpenScanner>,
    assembler: Assembler,
    limits: Limits,
    is_done: bool,
    /// Rows for [`Self::next_row`].
    ready: VecDeque<Row>,
    counts: ScanCounts,
}

impl Scanner {
    pub(crate) fn new(cluster: Arc<Cluster>, table: TableName, scan: Scan) -> Self {
        Self {
            position: Position::new(&scan),
            open: None,
            assembler: Assembler::default(),
            limits: Limits::new(&scan),
            is_done: scan.rows_max == Some(0),
            ready: VecDeque::new(),
            counts: ScanCounts::default(),
            cluster,
            table,
            scan,
        }
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
        self.scan.check()?;
        let mut retries = Retries::new(context);
        while !self.is_done {
            let rows = match self.step(context).await {
                Ok(rows) => rows,
                // The scanner may be as it was: then it goes on.
                Err(Stop::Failed(failure, _)) if self.position.is_stuck() && self.open.is_none() => {
                    self.is_done = true;
                    return Err(failure);
                }
                Err(Stop::Failed(failure, region)) => {
                    self.counts.failures += 1;
                    self.recover(context, failure, &region, &mut retries).await?;
                    continue;
                }
                Err(Stop::Ended(error)) => return Err(error),
            };
            if !rows.is_empty() {
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
        let Some(mut open) = self.open.take() else { return };
        let request = ScanRequest { renew: Some(true), number_of_rows: Some(0), ..open.request() };
        let until = context.attempt_until();
        let renewed = open.server.call::<ScanResponse>("Scan", &request, Bytes::new(), until).await;
        match renewed {
            // A renewal has a number, too.
            Ok(_) => {
                open.next_call += 1;
                self.open = Some(open);
            }
            Err(error) => self.lose(open, &error),
        }
    }

    /// What the scan has done so far.
    pub fn counts(&self) -> ScanCounts {
        self.counts
    }

    /// One call; its rows. While it runs, nothing of the open scanner is in `self`: if it is cancelled, the scanner is closed.
    async fn step(&mut self, context: &CallContext) -> Result<Vec<Row>, Stop> {
        let Some(mut open) = self.open.take() else { return self.open(context).await };
        let request = self.limits.request(open.request());
        let until = context.attempt_until();
        match open.server.call::<ScanResponse>("Scan", &request, Bytes::new(), until).await {
            Ok(answer) => {
                open.next_call += 1;
                self.take(open, answer)
            }
            Err(error) => {
                let region = open.region.clone();
                self.lose(open, &error);
                Err(Stop::Failed(error, region))
            }
        }
    }

    /// Opens a scanner where the scan goes on; the rows of the same call.
    async fn open(&mut self, context: &CallContext) -> Result<Vec<Row>, Stop> {
        if self.position.is_stuck() {
            self.is_done = true;
            let reason = "a scan of computed rows can't go on after a call that was cancelled";
            return Err(Stop::Ended(Error::Unsupported { reason }));
        }
        if self.position.is_at_end(&self.scan) {
            self.is_done = true;
            return Ok(Vec::new());
        }
        let (start, includes_start) = self.position.start();
        let side = self.position.side(&self.scan);
        let located = self.cluster.locator.locate(context, &self.table, &start, side).await;
        let region = located.map_err(Stop::Ended)?;
        // A server takes any start row. One outside of the region would give no rows, and no error.
        if !side.is_in(&region, &start) {
            debug_assert!(false, "the locator gives regions that have the row");
            let (table, row) = (self.table.to_string(), start.escape_ascii().to_string());
            return Err(Stop::Failed(Error::NoRegion { table, row }, region));
        }
        let server = self.cluster.server_of(&region);
        // A scan that fits into one call is opened, read and closed at once. If it does not fit after all, it goes on with a scanner.
        let is_short = self.counts.opened == 0 && !self.scan.is_computed && self.limits.fit_one_call();
        let request = ScanRequest {
            region: Some(region.specifier()),
            scan: Some(self.scan.message(start, includes_start)),
            close_scanner: Some(is_short),
            ..ScanRequest::default()
        };
        let until = context.attempt_until();
        let request = self.limits.request(request);
        let answer = server.call::<ScanResponse>("Scan", &request, Bytes::new(), until).await;
        let answer = answer.map_err(|error| Stop::Failed(error, region.clone()))?;
        self.counts.opened += 1;
        let id = answer.message.scanner_id;
        let has_ended = is_short || id.is_none();
        let open = OpenScanner { server, region, id: id.unwrap_or(0), next_call: 0, has_ended };
        self.take(open, answer)
    }

    /// The rows of an answer, and what it says of the scanner.
    fn take(&mut self, mut open: OpenScanner, answer: Answer<ScanResponse>) -> Result<Vec<Row>, Stop> {
        self.counts.calls += 1;
        let Answer { message, cells } = answer;
        let ends_region = message.more_results_in_region == Some(false);
        let ends_scan = message.more_results == Some(false);
        self.counts.heartbeats += u64::from(message.heartbeat_message == Some(true));
        let mut rows = self.assemble(&open.server, &message, cells)?;
        if ends_region || ends_scan {
            self.assembler.complete(&mut rows);
            open.has_ended = true;
        } else if open.has_ended {
            // The call has closed the scanner in the middle of a row perhaps: that row is read again.
            self.assembler.clear();
        }
        if self.position.pass(&self.scan, &open.region, &rows).is_err() {
            self.assembler.clear();
            let (table, server) = (self.table.to_string(), open.server.address().clone());
            return Err(Stop::Ended(Error::RowsOutOfOrder { table, server }));
        }
        self.is_done |= self.limits.take(&mut rows);
        self.counts.rows += rows.len() as u64;
        if ends_scan {
            self.is_done = true;
        } else if ends_region {
            self.is_done |= !self.position.leave(&self.scan, &open.region);
        } else if !open.has_ended && !self.is_done {
            self.open = Some(open);
        }
        Ok(rows)
    }

    fn assemble(&mut self, server: &Server, message: &ScanResponse, cells: Bytes) -> Result<Vec<Row>, Stop> {
        let pieces = match pieces_of(message, cells) {
            Ok(pieces) => pieces,
            Err(error) => {
                self.assembler.clear();
                return Err(Stop::Ended(server.damaged("Scan", error)));
            }
        };
        let mut rows = Vec::with_capacity(pieces.len());
        for piece in pieces {
            if self.assembler.add(piece, ROW_BYTES_MAX, &mut rows).is_err() {
                self.assembler.clear();
                let (table, row_bytes_max) = (self.table.to_string(), ROW_BYTES_MAX);
                return Err(Stop::Ended(Error::RowTooLarge { table, row_bytes_max }));
            }
        }
        Ok(rows)
    }

    /// Gives up a scanner after a failed call, unless the call was certainly not begun.
    fn lose(&mut self, mut open: OpenScanner, error: &Error) {
        let class = error.server_error().map_or("", |error| error.short_class());
        if NOT_BEGUN.contains(&class) {
            self.open = Some(open);
            return;
        }
        let is_gone = matches!(error.reaction(), Reaction::OpenScannerAgain | Reaction::LookUpAgain);
        open.has_ended |= is_gone;
        self.assembler.clear();
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
            _ => self.cluster.recover(context, &self.table, region, failure, retries).await,
        }
    }
}

/// Why a call has no rows.
enum Stop {
    /// The call failed; the scan may go on.
    Failed(Error, Region),
    /// The scan can't go on.
    Ended(Error),
}
