//! The rows of one bucket (or of a table without salt), range after range.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use saltwing_access::{RangeIter, TableError};
use saltwing_rowkey::{BucketRange, KeyRange};
use saltwing_store::Direction;

use crate::format::summary::Summary;
use crate::scan::cursor::segment::{RowSegment, RowSegments};
use crate::scan::cursor::{Walk, WalkContext};
use crate::scan::lookup::{KEYS_AT_ONCE, Keys, find_all};
use crate::scan::skip::Skipper;

/// Ranges in a row that held no row, after which the scan looks where the next row is: lists of keys that
/// are mostly not there, and products of lists above all, then cost as many steps as there are rows at most.
const MISSES_MAX: u32 = 1024;
/// Ranges between checks of cancel and time.
const CHECK_RANGES: u32 = 1024;

/// Walks the ranges of one bucket in one direction.
pub(crate) struct BucketScan {
    context: Arc<WalkContext>,
    bucket: Option<u8>,
    ranges: RangeIter,
    skipper: Option<Box<Skipper>>,
    /// Whether a merge takes the rows, and may stop at any.
    is_merged: bool,
    walk: Option<Walk>,
    /// The walk that it begins with, until then.
    first: Option<Walk>,
    /// The range that comes next, where it was taken already.
    range: Option<KeyRange>,
    /// Physical keys that are looked for together, and their rows.
    keys: Keys,
    found: VecDeque<RowSegment>,
    /// Ranges entered since the last row.
    misses: u32,
    /// Ranges taken, for [`CHECK_RANGES`].
    ranges_taken: u32,
    next_row: NextRow,
}

/// The first row after the ranges taken so far.
enum NextRow {
    /// It was not looked for.
    Unknown,
    /// It has this logical key.
    Row(Vec<u8>),
    /// There is none.
    End,
}

impl BucketScan {
    pub(crate) fn new(
        context: Arc<WalkContext>,
        bucket: Option<u8>,
        ranges: RangeIter,
        skipper: Option<Skipper>,
        is_merged: bool,
    ) -> Self {
        let (skipper, next_row) = (skipper.map(Box::new), NextRow::Unknown);
        let (walk, range, keys, found) = (None, None, Keys::default(), VecDeque::new());
        Self {
            context,
            bucket,
            ranges,
            skipper,
            is_merged,
            walk,
            first: None,
            range,
            keys,
            found,
            misses: 0,
            ranges_taken: 0,
            next_row,
        }
    }

    /// A scan of one range.
    pub(crate) fn over(keys: BucketRange, context: Arc<WalkContext>) -> Self {
        let BucketRange { bucket, range } = keys;
        let (start, end) = range.into_bounds();
        let first = Some(Walk::new(context.clone(), start, end));
        Self { first, ..Self::new(context, bucket, RangeIter::none(), None, false) }
    }

    /// The next visible rows, `most` at most.
    pub(crate) fn next(&mut self, most: usize) -> Result<Option<RowSegment>, TableError> {
        if let Some(first) = self.first.take() {
            self.count_entered();
            self.walk = Some(first);
        }
        loop {
            if let Some(walk) = &mut self.walk {
                let segment = match &mut self.skipper {
                    None => walk.next(most)?,
                    Some(skipper) => skipper.next(walk, most)?,
                };
                if let Some(segment) = segment {
                    self.misses = 0;
                    return Ok(Some(segment));
                }
                self.walk = None;
            }
            if let Some(segment) = self.found.pop_front() {
                return Ok(Some(segment));
            }
            self.take_ranges(if self.is_merged { 1 } else { most.clamp(1, KEYS_AT_ONCE) })?;
            if self.keys.len() > 0 {
                self.find_rows()?;
            } else if let Some(range) = self.range.take() {
                self.walk = Some(self.walk_over(&range, self.context.clone()));
            } else {
                return Ok(None);
            }
        }
    }

    /// As [`BucketScan::next`], with the following segments that are already found, `most` rows in all at most: if rows
    /// of deltas and blocks alternate, there are many. Returns whether there was one.
    pub(crate) fn next_several(&mut self, most: usize, out: &mut RowSegments) -> Result<bool, TableError> {
        let Some(first) = self.next(most)? else { return Ok(false) };
        let most = most - first.len();
        out.push(first);
        match &mut self.walk {
            Some(walk) if self.skipper.is_none() => walk.add_found(most, out),
            Some(_) => {}
            // Each is a row.
            None => out.extend(self.found.drain(..most.min(self.found.len()))),
        }
        Ok(true)
    }

    /// As [`Walk::pass_blocks`], where a range is being walked without skips.
    pub(crate) fn pass_blocks(&mut self, takes: impl FnMut(&Summary) -> bool) -> u64 {
        match &mut self.walk {
            Some(walk) if self.skipper.is_none() => walk.pass_blocks(takes),
            _ => 0,
        }
    }

    /// Takes the next keys to look up together, `most` at most, or the next range. Never more keys than wanted rows, so
    /// that the counters equal those of single lookups.
    fn take_ranges(&mut self, most: usize) -> Result<(), TableError> {
        self.keys.clear();
        while self.range.is_none() && self.keys.len() < most {
            if self.take_key()? {
                continue;
            }
            match self.next_range()? {
                None => break,
                Some(range) if range.is_point() => {
                    let bucket = self.bucket;
                    self.keys.add(|key| {
                        key.extend(bucket);
                        key.extend_from_slice(range.start());
                        true
                    });
                }
                range => self.range = range,
            }
        }
        Ok(())
    }

    /// Takes the next range as a key, if it is one and is not before the rows already read.
    fn take_key(&mut self) -> Result<bool, TableError> {
        if self.misses >= MISSES_MAX || !matches!(self.next_row, NextRow::Unknown) {
            return Ok(false);
        }
        let Self { keys, ranges, bucket, .. } = self;
        let is_key = keys.add(|key| {
            key.extend(*bucket);
            ranges.take_key(key)
        });
        if is_key {
            self.count_taken()?;
            self.count_entered();
        }
        Ok(is_key)
    }

    /// Finds the rows of the keys that were taken.
    fn find_rows(&mut self) -> Result<(), TableError> {
        for found in find_all(&self.context.rows, self.keys.iter(), self.context.expired_ms)?.into_iter().flatten() {
            if found.lead.is_some() {
                self.context.scan.counters.blocks_read.fetch_add(1, Relaxed);
            }
            self.misses = 0;
            self.found.push_back(found.segment);
        }
        Ok(())
    }

    /// A range was made.
    fn count_taken(&mut self) -> Result<(), TableError> {
        self.ranges_taken = self.ranges_taken.wrapping_add(1);
        if self.ranges_taken.is_multiple_of(CHECK_RANGES) { self.context.scan.check() } else { Ok(()) }
    }

    /// A range is entered.
    fn count_entered(&mut self) {
        self.misses = self.misses.saturating_add(1);
        if !self.ranges.continues() {
            self.context.scan.counters.count_seek();
        }
        self.context.scan.counters.touch_bucket(self.bucket.unwrap_or(0));
    }

    /// The next range that may have a row.
    fn next_range(&mut self) -> Result<Option<KeyRange>, TableError> {
        let direction = self.context.direction;
        loop {
            let Some(range) = self.ranges.next() else { return Ok(None) };
            self.count_taken()?;
            let is_past =
                matches!(&self.next_row, NextRow::Row(key) if !range.is_before(key, direction) && !range.contains(key));
            if self.misses >= MISSES_MAX && (is_past || matches!(self.next_row, NextRow::Unknown)) {
                self.find_next_row(&range)?;
            }
            match &self.next_row {
                NextRow::End => return Ok(None),
                NextRow::Row(key) if range.is_before(key, direction) => {}
                _ => {
                    self.count_entered();
                    return Ok(Some(range));
                }
            }
        }
    }

    /// Finds the first row in or after a range, and leaves out the ranges before it.
    fn find_next_row(&mut self, range: &KeyRange) -> Result<(), TableError> {
        let rest = match self.context.direction {
            Direction::Forward => KeyRange::new(range.start().to_vec(), None),
            Direction::Reverse => KeyRange::new(Vec::new(), range.end().map(<[u8]>::to_vec)),
        };
        // The end of a range is after its start, so that the rest is never empty.
        let rest = rest.unwrap_or_else(KeyRange::all);
        self.context.scan.counters.count_seek();
        // Expired rows count: they too are where a range may end.
        let WalkContext { rows, scan, direction, .. } = &*self.context;
        let (rows, scan) = (rows.clone(), scan.clone());
        let context = WalkContext { rows, scan, direction: *direction, expired_ms: None, zones: None };
        self.next_row = match self.walk_over(&rest, Arc::new(context)).next(1)? {
            None => NextRow::End,
            Some(segment) => {
                let mut key = Vec::new();
                segment.first_key(self.context.direction, &mut key)?;
                key.drain(..usize::from(self.bucket.is_some()).min(key.len()));
                self.ranges.skip_to(&key);
                NextRow::Row(key)
            }
        };
        Ok(())
    }

    fn walk_over(&self, range: &KeyRange, context: Arc<WalkContext>) -> Walk {
        let physical = range.in_bucket(self.bucket);
        let (start, end) = physical.into_bounds();
        Walk::new(context, start, end)
    }
}
