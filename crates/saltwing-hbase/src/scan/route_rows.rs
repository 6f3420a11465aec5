//! The rows of a route: bucket after bucket, or merged.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use saltwing_access::{ScanContext, ScanOrder, ScanRoute, Table, TableError};
use saltwing_types::interrupt;

use super::jobs::Jobs;
use super::reading::Reading;
use super::regions_ahead::RegionsAhead;
use super::stream::Stream;
use crate::HbaseError;
use crate::cluster::{Cluster, GRACE, Place};
use crate::phoenix_table::PhoenixTable;
use crate::rows::{AnswerReader, ReadRow};

/// About the bytes of an answer if all buckets are read at once, and else.
const MERGED_BYTES: u64 = 256 << 10;
const BYTES: u64 = 2 << 20;
/// Fewest rows of a call that is made for a few rows: a filter may drop most of them.
const FEW_ROWS_MIN: u64 = 64;

/// The rows of a route, whatever a filter says.
pub(crate) struct RouteRows {
    reading: Reading,
    /// The look-up of the table's regions, at which the jobs are divided.
    regions: Option<RegionsAhead>,
    /// Streams whose rows are merged; one if they come bucket after bucket.
    streams: Vec<Stream>,
    bucket_bytes: usize,
    /// The error that a poll has found, for the next read.
    failed: Option<TableError>,
}

/// What comes next.
pub(crate) enum Next {
    Row(ReadRow),
    /// A row would have to be waited for.
    Waits,
    End,
}

impl RouteRows {
    /// Starts to read, and does not wait. Without a filter servers need not give more rows than the limit.
    ///
    /// # Errors
    /// If the table is of another store.
    pub(crate) fn start(
        cluster: &Arc<Cluster>,
        table: &Table,
        route: &ScanRoute,
        reader: Arc<dyn AnswerReader>,
        is_whole: bool,
        context: &ScanContext,
    ) -> Result<Self, TableError> {
        let ScanRoute { keys, direction, order, limit, first_batch } = route;
        let phoenix = PhoenixTable::of(table)?;
        let buckets = keys.buckets(&table.def().key);
        let is_merged = *order == ScanOrder::Merged && buckets.len() > 1;
        let few = first_batch.or(*limit);
        let at_once = if few.is_some() { 1 } else { cluster.options.regions_at_once };
        let is_whole = is_whole && phoenix.has_all_rows();
        let reading = Reading {
            cluster: cluster.clone(),
            reader,
            direction: *direction,
            limit: limit.filter(|_| is_whole),
            rows_per_call: few.and_then(|rows| u32::try_from(rows.max(FEW_ROWS_MIN)).ok()),
            bytes_per_call: if is_merged { MERGED_BYTES } else { BYTES },
            deadline: context.statement().remaining().and_then(|left| Instant::now().checked_add(left)),
            context: context.clone(),
            table: cluster.client.table(phoenix.physical.clone()),
        };
        let of_bucket = |bucket: &Option<u8>| (*bucket, keys.ranges(*bucket, *direction));
        let streams: Vec<Stream> = match is_merged {
            false => vec![Stream::new(Jobs::new(buckets.iter().map(of_bucket), *direction), at_once)],
            true => buckets.iter().map(|one| Stream::new(Jobs::new([of_bucket(one)], *direction), 1)).collect(),
        };
        let regions = (at_once > 1 && !is_merged).then(|| RegionsAhead::start(&reading));
        Ok(Self { reading, regions, streams, bucket_bytes: table.codec().bucket_bytes(), failed: None })
    }

    /// Ends what is under way.
    pub(crate) fn end(&mut self) {
        (self.regions, self.failed) = (None, None);
        self.streams.clear();
    }

    /// As [`RowSource::poll_ready`](saltwing_access::RowSource::poll_ready).
    pub(super) fn poll_ready(&mut self, task: &mut Context<'_>) -> Poll<()> {
        if self.failed.is_some() {
            return Poll::Ready(());
        }
        self.poll(task).map(|ready| self.failed = ready.err())
    }

    /// The next row. Waits for it if `may_wait`.
    ///
    /// # Errors
    /// Those of calls and of damaged rows; cancel, timeout and budget.
    pub(crate) fn next(&mut self, may_wait: bool) -> Result<Next, TableError> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let place = match self.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(place) => place?,
            Poll::Pending if !may_wait => return Ok(Next::Waits),
            Poll::Pending => self.wait()?,
        };
        let row = place.and_then(|place| self.streams.get_mut(place)?.take());
        Ok(row.map_or(Next::End, Next::Row))
    }

    /// Waits until the next row is there.
    fn wait(&mut self) -> Result<Option<usize>, TableError> {
        let (cluster, context) = (self.reading.cluster.clone(), self.reading.context.clone());
        let limit = cluster.options.call_time.saturating_add(GRACE);
        let waited = interrupt::wait(Some(context.statement()), limit, |task| self.poll(task));
        let server = || {
            let of_first = self.streams.iter().find(|stream| stream.front().is_none());
            cluster.name_of(Place::Row(&self.reading.table, of_first.map_or(&[], Stream::place)))
        };
        match waited {
            Ok(Some(place)) => place,
            Ok(None) => Err(HbaseError::NoAnswer { server: server(), ms: limit.as_millis() }.into()),
            Err(interrupted) => Err(TableError::StoppedWaiting { server: server(), interrupted }),
        }
    }

    /// The place of the stream whose row comes next, when it is there; `None` at the end.
    fn poll(&mut self, task: &mut Context<'_>) -> Poll<Result<Option<usize>, TableError>> {
        if let Some(regions) = &mut self.regions {
            match regions.poll(task) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(regions)) => {
                    self.streams.iter_mut().for_each(|stream| stream.divide_at(regions.clone()))
                }
                Poll::Ready(Err(error)) => {
                    return Poll::Ready(Err(self
                        .reading
                        .cluster
                        .failed(Some(self.reading.context.statement()), error)));
                }
            }
            self.regions = None;
        }
        let mut is_pending = false;
        for stream in &mut self.streams {
            match stream.poll(&self.reading, task) {
                Poll::Ready(Ok(_)) => {}
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => is_pending = true,
            }
        }
        if is_pending { Poll::Pending } else { Poll::Ready(Ok(self.next_place())) }
    }

    /// The stream whose row comes next, if the next row of each is there.
    fn next_place(&self) -> Option<usize> {
        let logical = |row: &ReadRow| row.key.slice(self.bucket_bytes.min(row.key.len())..);
        let there = self.streams.iter().enumerate().filter_map(|(place, stream)| Some((place, stream.front()?)));
        let direction = self.reading.direction;
        there
            .reduce(|a, b| if direction.is_before(&logical(b.1), &logical(a.1)) { b } else { a })
            .map(|(place, _)| place)
    }
}
