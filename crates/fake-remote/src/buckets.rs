//! The buckets of a scan, whose rows come one after the other, merged, or as they are there.

use std::collections::VecDeque;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use saltwing_access::{Direction, ScanContext, ScanOrder, StorageCause, StorageError, TableError};
use saltwing_types::interrupt;

use crate::bucket_scan::{BucketScan, Row};
use crate::client::NAME;
use crate::read_ahead::ReadAhead;

/// Those that are not read to their end, in their order.
pub(crate) struct Buckets {
    buckets: VecDeque<Bucket>,
    order: ScanOrder,
    direction: Direction,
    /// How many are read at once by threads of the store; 1: the scan's reader reads.
    at_once: usize,
    /// How long a page may take.
    answer_max: Duration,
    /// The error that a poll has found, for the next read.
    failed: Option<TableError>,
}

struct Bucket {
    /// Whether its keys begin with a byte of the bucket.
    is_salted: bool,
    rows: VecDeque<Row>,
    pages: Pages,
}

enum Pages {
    /// Read when they are wanted.
    Here(BucketScan),
    /// Read ahead by a thread.
    Ahead(ReadAhead),
    /// There are no more.
    None,
}

/// What comes next.
pub(crate) enum Next {
    Row(Row),
    /// A row would have to be waited for.
    Waits,
    End,
}

impl Bucket {
    /// Whether its next row is there, or it is at its end.
    fn poll(&mut self, task: &mut Context<'_>) -> Poll<Result<(), TableError>> {
        while self.rows.is_empty() {
            let page = match &mut self.pages {
                Pages::None => return Poll::Ready(Ok(())),
                Pages::Here(bucket) => bucket.next_page(),
                Pages::Ahead(ahead) => match ahead.poll_page(task) {
                    Poll::Ready(page) => page,
                    Poll::Pending => return Poll::Pending,
                },
            };
            match page {
                Ok(Some(page)) => self.rows = page,
                Ok(None) => self.pages = Pages::None,
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl Buckets {
    pub(crate) fn new(
        scans: impl Iterator<Item = BucketScan>,
        (order, direction): (ScanOrder, Direction),
        at_once: usize,
        answer_max: Duration,
    ) -> Self {
        let bucket = |scan: BucketScan| Bucket {
            is_salted: scan.bucket.is_some(),
            rows: VecDeque::new(),
            pages: Pages::Here(scan),
        };
        let buckets: VecDeque<Bucket> = scans.map(bucket).collect();
        // There is nothing to be read at the same time.
        let at_once = if buckets.len() > 1 { at_once } else { 1 };
        let order = if order == ScanOrder::Any && at_once == 1 { ScanOrder::ByBucket } else { order };
        Self { buckets, order, direction, at_once, answer_max, failed: None }
    }

    /// Whether threads of the store read ahead.
    fn are_read_ahead(&self) -> bool {
        self.at_once > 1
    }

    /// As [`RowSource::poll_ready`](saltwing_access::RowSource::poll_ready).
    pub(crate) fn poll_ready(&mut self, task: &mut Context<'_>) -> Option<Poll<()>> {
        if !self.are_read_ahead() {
            return None;
        }
        if self.failed.is_some() {
            return Some(Poll::Ready(()));
        }
        Some(self.poll(task).map(|ready| self.failed = ready.err()))
    }

    /// No more rows are wanted.
    pub(crate) fn end(&mut self) {
        self.buckets.clear();
    }

    /// The next row. Waits for it if `may_wait`.
    pub(crate) fn next(&mut self, context: &ScanContext, may_wait: bool) -> Result<Next, TableError> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let place = match may_wait && self.are_read_ahead() {
            false => self.poll(&mut Context::from_waker(Waker::noop())),
            true => {
                let limit = self.answer_max;
                let place = interrupt::wait(Some(context.statement()), limit, |task| self.poll(task))?;
                let late = || std::io::Error::other(format!("{NAME} gave no answer within {} ms", limit.as_millis()));
                Poll::Ready(place.ok_or_else(|| StorageError::new(StorageCause::Unavailable, late()))?)
            }
        };
        let Poll::Ready(place) = place else { return Ok(Next::Waits) };
        let row = place?.and_then(|place| self.buckets.get_mut(place)?.rows.pop_front());
        Ok(row.map_or(Next::End, Next::Row))
    }

    /// The place of the bucket whose row comes next, when it is there; `None` at the end.
    fn poll(&mut self, task: &mut Context<'_>) -> Poll<Result<Option<usize>, TableError>> {
        loop {
            self.read_ahead();
            let ready = match self.order {
                ScanOrder::ByBucket => self.poll_first(task),
                ScanOrder::Merged => self.poll_all(task),
                ScanOrder::Any => self.poll_any(task),
            };
            let Poll::Ready(ready) = ready else { return Poll::Pending };
            if let Err(error) = ready {
                return Poll::Ready(Err(error));
            }
            let before = self.buckets.len();
            self.buckets.retain(|bucket| !(bucket.rows.is_empty() && matches!(bucket.pages, Pages::None)));
            // A bucket that is at its end may have been the only one that was ready.
            if self.buckets.len() == before || self.buckets.is_empty() || self.order == ScanOrder::Merged {
                return Poll::Ready(Ok(self.next_place()));
            }
        }
    }

    /// Has threads read the first buckets; all of them if they are merged.
    fn read_ahead(&mut self) {
        let count = match (self.are_read_ahead(), self.order) {
            (false, _) => return,
            (true, ScanOrder::Merged) => self.buckets.len(),
            (true, _) => self.at_once,
        };
        for bucket in self.buckets.iter_mut().take(count) {
            if let Pages::Here(_) = &bucket.pages
                && let Pages::Here(scan) = std::mem::replace(&mut bucket.pages, Pages::None)
            {
                bucket.pages = Pages::Ahead(ReadAhead::start(scan));
            }
        }
    }

    fn poll_first(&mut self, task: &mut Context<'_>) -> Poll<Result<(), TableError>> {
        self.buckets.front_mut().map_or(Poll::Ready(Ok(())), |bucket| bucket.poll(task))
    }

    fn poll_all(&mut self, task: &mut Context<'_>) -> Poll<Result<(), TableError>> {
        let mut all = Poll::Ready(Ok(()));
        for bucket in &mut self.buckets {
            match bucket.poll(task) {
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => all = Poll::Pending,
            }
        }
        all
    }

    fn poll_any(&mut self, task: &mut Context<'_>) -> Poll<Result<(), TableError>> {
        let mut any = if self.buckets.is_empty() { Poll::Ready(Ok(())) } else { Poll::Pending };
        for bucket in self.buckets.iter_mut().filter(|bucket| !matches!(bucket.pages, Pages::Here(_))) {
            match bucket.poll(task) {
                Poll::Ready(Ok(())) => any = Poll::Ready(Ok(())),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => {}
            }
        }
        any
    }

    /// The bucket whose row comes next, of those whose rows are there.
    fn next_place(&self) -> Option<usize> {
        let mut there = self.buckets.iter().enumerate().filter_map(|(place, bucket)| {
            let (key, _) = bucket.rows.front()?;
            Some((place, key.get(usize::from(bucket.is_salted)..).unwrap_or_default()))
        });
        match self.order {
            ScanOrder::ByBucket | ScanOrder::Any => there.next().map(|(place, _)| place),
            ScanOrder::Merged => {
                let first = there.reduce(|a, b| if self.direction.is_before(b.1, a.1) { b } else { a });
                first.map(|(place, _)| place)
            }
        }
    }
}
