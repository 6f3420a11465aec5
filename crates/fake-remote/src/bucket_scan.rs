//! The pages of a scan in one bucket: each is the answer to a call, and lies in one region.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use saltwing_access::{Direction, RangeIter, ScanContext, Table, TableError};

use crate::client::Link;
use crate::cluster::{CallError, Keys};
use crate::rows::StoredRow;

/// Most ranges that a call reads.
const RANGES_MAX: usize = 1024;

/// A row and its physical key.
pub(crate) type Row = (Vec<u8>, Arc<StoredRow>);

/// What a scan reads in one bucket.
pub(crate) struct BucketScan {
    pub(crate) link: Link,
    pub(crate) table: Arc<Table>,
    pub(crate) bucket: Option<u8>,
    pub(crate) direction: Direction,
    pub(crate) ranges: RangeIter,
    /// The next ranges, in the order of the scan: a call reads several.
    pub(crate) left: VecDeque<RangeLeft>,
    /// Most rows of the next answer.
    pub(crate) page_rows: usize,
    /// Most rows of any answer.
    pub(crate) page_rows_max: usize,
    pub(crate) context: ScanContext,
}

/// A range of keys that a scan has still to read, or the rest of one.
pub(crate) struct RangeLeft {
    keys: Keys,
    /// Whether the scan begins it by a seek.
    is_seek: bool,
}

impl BucketScan {
    /// The rows of the next page that has some; `None` at the end.
    pub(crate) fn next_page(&mut self) -> Result<Option<VecDeque<Row>>, TableError> {
        loop {
            self.context.check()?;
            while self.left.len() < RANGES_MAX
                && let Some(range) = self.ranges.next()
            {
                let is_seek = !self.ranges.continues();
                self.left.push_back(RangeLeft { keys: range.in_bucket(self.bucket).into_bounds(), is_seek });
            }
            if self.left.is_empty() {
                return Ok(None);
            }
            let page = self.read_page()?;
            self.page_rows = self.page_rows.saturating_mul(2).min(self.page_rows_max);
            if !page.is_empty() {
                return Ok(Some(page));
            }
        }
    }

    /// Reads a page of the ranges that are left, in one region, however often that takes.
    fn read_page(&mut self) -> Result<VecDeque<Row>, TableError> {
        let id = self.table.def().id;
        let keys: Vec<Keys> = self.left.iter().map(|left| left.keys.clone()).collect();
        let Some((start, end)) = keys.first() else { return Ok(VecDeque::new()) };
        let (region, (page, is_last)) = self.link.call_in(&self.context, &self.table, || {
            let place = match self.direction {
                Direction::Forward => Some(&start[..]),
                Direction::Reverse => end.as_deref(),
            };
            let region = self.link.cluster.locate(id, place, self.direction);
            let page = self.link.cluster.page(&region, &keys, self.direction, self.link.at, self.page_rows)?;
            Ok::<_, CallError>((region, page))
        })?;
        let last = page.last().map(|(key, _)| key.clone());
        // The keys of the scan up to here are read; `None` is all of them.
        let read_to = match (self.direction, is_last) {
            (Direction::Forward, false) => last.map(|last| [&last[..], &[0]].concat()),
            (Direction::Reverse, false) => last,
            (Direction::Forward, true) => region.end,
            (Direction::Reverse, true) => Some(region.start).filter(|start| !start.is_empty()),
        };
        let mut rows: BTreeMap<Vec<u8>, Arc<StoredRow>> = page.into_iter().collect();
        for (start, end) in self.pass(read_to.as_deref()) {
            for (key, row) in self.link.own_between(&self.table, &start, end.as_deref()) {
                match row {
                    Some(row) => drop(rows.insert(key.clone(), row.clone())),
                    None => drop(rows.remove(key)),
                }
            }
        }
        let alive = rows.into_iter().filter(|(_, row)| self.link.is_alive(&self.table, row));
        Ok(match self.direction {
            Direction::Forward => alive.collect(),
            Direction::Reverse => alive.rev().collect(),
        })
    }

    /// Takes the keys up to `read_to` away from the ranges that are left; gives them.
    fn pass(&mut self, read_to: Option<&[u8]>) -> Vec<Keys> {
        let mut passed = Vec::new();
        while let Some(RangeLeft { keys: (start, end), is_seek }) = self.left.pop_front() {
            let (read, rest) = match (self.direction, read_to) {
                (_, None) => (Some((start, end)), None),
                (Direction::Forward, Some(to)) if *start >= *to => (None, Some((start, end))),
                (Direction::Forward, Some(to)) if end.as_deref().is_none_or(|end| end > to) => {
                    (Some((start, Some(to.to_vec()))), Some((to.to_vec(), end)))
                }
                (Direction::Reverse, Some(to)) if end.as_deref().is_some_and(|end| end <= to) => {
                    (None, Some((start, end)))
                }
                (Direction::Reverse, Some(to)) if *start < *to => {
                    (Some((to.to_vec(), end)), Some((start, Some(to.to_vec()))))
                }
                (_, Some(_)) => (Some((start, end)), None),
            };
            if read.is_some() {
                self.context.counters.touch_bucket(self.bucket.unwrap_or(0));
                if is_seek {
                    self.context.counters.count_seek();
                }
            }
            let was_begun = read.is_some();
            passed.extend(read);
            if let Some(keys) = rest {
                self.left.push_front(RangeLeft { keys, is_seek: is_seek && !was_begun });
                break;
            }
        }
        passed
    }
}
