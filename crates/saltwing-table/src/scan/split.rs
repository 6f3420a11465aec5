//! A scan in parts: each reads what lies between two places of the table.
//!
//! ```text
//! bucket 0          bucket 1                    bucket 2
//! [ range ]         [ range              ]      [ range ]
//! part 0 ───────────────────┤ part 1 ───────────────────┤
//! ```
//!
//! # Laws
//! 1. The parts, one behind the other, read what the whole reads, in its order, and count together what it counts, but
//!    for batches.
//! 2. Where a part ends hangs on the ranges and on what is stored, never on who reads it. It is a key, and no place
//!    of the view's: a part may be read on a later view too.
//!
//! # Left to others
//! Whether dividing pays, and reading the parts at the same time.

use std::ops::Range;
use std::sync::Arc;

use saltwing_access::{
    Buckets, KeySet, RangeIter, RangeSource, RangeWalk, ScanOrder, ScanRoute, SkipFilter, SplitTarget, Table,
};
use saltwing_rowkey::KeyRange;
use saltwing_store::Direction;

use crate::engine::entry::Entry;
use crate::engine::table_rows::TableRows;
use crate::format::prefetch::prefetch;

/// Most ranges, each in a bucket, of a scan that is divided.
const RANGES_MAX: usize = 1024;

/// Entries whose blocks are looked at side by side, since each lies in a place of its own: they are waited for together.
const ENTRIES_AHEAD: usize = 16;

/// The scan in parts; in one part, where it cannot be divided: it stops early, goes backwards or by turns through buckets,
/// or skips rows, or it has many ranges.
pub(crate) fn split(rows: &TableRows, table: &Table, route: &ScanRoute, division: SplitTarget) -> Vec<ScanRoute> {
    let whole = || vec![route.clone()];
    let KeySet::Ranges { ranges: all, buckets } = &route.keys else { return whole() };
    let buckets = buckets.of(&table.def().key);
    let is_plain = route.limit.is_none()
        && route.first_batch.is_none()
        && route.direction == Direction::Forward
        && (route.order == ScanOrder::ByBucket || buckets.len() < 2)
        && all.skip_filter(route.direction).is_none();
    if !is_plain {
        return whole();
    }
    let mut places = Vec::new();
    let (mut rows_of_all, mut counted) = (0, 0);
    for bucket in &buckets {
        for range in all.ranges(*bucket, route.direction) {
            if places.len() == RANGES_MAX {
                return whole();
            }
            let entries = entries_of(rows, *bucket, &range);
            if !range.is_point() {
                let size = rows.directory.size_of(entries.start.max(counted)..entries.end);
                rows_of_all += size.rows + size.run_rows;
                counted = counted.max(entries.end);
            }
            places.push((*bucket, range, entries));
        }
    }
    if rows_of_all < division.rows_min {
        return whole();
    }
    let mut parts =
        Parts { rows_each: division.rows_each.max(1), done: Vec::new(), open: Vec::new(), rows: 0, counted: 0 };
    let mut places = places.into_iter().peekable();
    for bucket in buckets {
        parts.begin(bucket);
        while let Some((_, range, entries)) = places.next_if(|(of, ..)| *of == bucket) {
            if !range.is_point() {
                parts.add(rows, bucket, &range, entries);
            }
        }
    }
    let slices = parts.finish();
    if slices.len() < 2 {
        return whole();
    }
    let route_of = |slices: Vec<Slice>| {
        let buckets = match slices.iter().map(|slice| slice.bucket).collect() {
            Some(buckets) => Buckets::Some(buckets),
            None => Buckets::All,
        };
        let ranges = Arc::new(Within { all: all.clone(), slices });
        ScanRoute { keys: KeySet::Ranges { ranges, buckets }, ..route.clone() }
    };
    slices.into_iter().map(route_of).collect()
}

/// The logical keys of a bucket from `start` to `end`.
struct Slice {
    bucket: Option<u8>,
    start: Vec<u8>,
    end: Option<Vec<u8>>,
}

/// Parts while they are made, each of slices of buckets one behind the other.
struct Parts {
    rows_each: u64,
    done: Vec<Vec<Slice>>,
    open: Vec<Slice>,
    /// Rows in the open ones.
    rows: u64,
    /// The first entry that was not counted yet: neighbours among ranges may share one.
    counted: usize,
}

impl Parts {
    /// Goes on with a bucket; with a new part where the one before is full.
    fn begin(&mut self, bucket: Option<u8>) {
        if self.rows >= self.rows_each {
            self.close();
        }
        self.open.push(Slice { bucket, start: Vec::new(), end: None });
    }

    fn close(&mut self) {
        self.done.push(std::mem::take(&mut self.open));
        self.rows = 0;
    }

    /// Adds the rows of a range, with a cut at each fence at which there are enough.
    fn add(&mut self, rows: &TableRows, bucket: Option<u8>, range: &KeyRange, entries: Range<usize>) {
        let mut looked_until = entries.start;
        for index in entries {
            if index >= looked_until {
                looked_until = index + prefetch_blocks(rows.directory.neighbours(index, ENTRIES_AHEAD));
            }
            let Some(entry) = rows.directory.entry(index) else { continue };
            if self.rows >= self.rows_each
                && let Some(fence) = logical(&entry.fence, bucket).filter(|fence| range.start() < *fence)
            {
                self.cut(bucket, fence);
            }
            if index >= self.counted {
                let size = entry.size();
                self.rows += size.rows + size.run_rows;
                self.counted = index + 1;
            }
        }
    }

    fn cut(&mut self, bucket: Option<u8>, fence: &[u8]) {
        if let Some(slice) = self.open.last_mut() {
            slice.end = Some(fence.to_vec());
        }
        self.close();
        self.open.push(Slice { bucket, start: fence.to_vec(), end: None });
    }

    fn finish(mut self) -> Vec<Vec<Slice>> {
        self.close();
        self.done
    }
}

/// Prefetches the blocks of some entries: how many entries these are.
fn prefetch_blocks(entries: &[Arc<Entry>]) -> usize {
    prefetch(entries.iter().map(|entry| entry.block.as_ref().map_or(0, |block| block.summary.rows as usize)));
    entries.len()
}

/// The entries that own the keys of a range in a bucket.
fn entries_of(rows: &TableRows, bucket: Option<u8>, range: &KeyRange) -> Range<usize> {
    let place = bucket.map_or_else(|| range.clone(), |bucket| range.in_bucket(bucket));
    rows.directory.floor(place.start())..rows.directory.last_below(place.end()) + 1
}

/// A physical key of a bucket without the bucket's byte.
fn logical(key: &[u8], bucket: Option<u8>) -> Option<&[u8]> {
    match bucket {
        None => Some(key),
        Some(bucket) => key.split_first().filter(|(first, _)| **first == bucket).map(|(_, rest)| rest),
    }
}

/// The ranges that lie in some slices.
struct Within {
    all: Arc<dyn RangeSource>,
    slices: Vec<Slice>,
}

impl RangeSource for Within {
    fn ranges(&self, bucket: Option<u8>, direction: Direction) -> RangeIter {
        let slice = self.slices.iter().find(|slice| slice.bucket == bucket);
        let slice = slice.and_then(|slice| KeyRange::new(slice.start.clone(), slice.end.clone()));
        match slice {
            Some(slice) if slice.is_all() => self.all.ranges(bucket, direction),
            Some(slice) => Box::new(Cut { all: self.all.ranges(bucket, direction), slice, continues: false }),
            None => Box::new(Vec::new().into_iter()),
        }
    }

    fn skip_filter(&self, direction: Direction) -> Option<Box<dyn SkipFilter>> {
        self.all.skip_filter(direction)
    }
}

/// What of some ranges lies in a slice.
struct Cut {
    all: RangeIter,
    slice: KeyRange,
    continues: bool,
}

impl Iterator for Cut {
    type Item = KeyRange;

    fn next(&mut self) -> Option<KeyRange> {
        loop {
            let range = self.all.next()?;
            if let Some(cut) = range.intersect(&self.slice) {
                self.continues = range.start() < self.slice.start();
                return Some(cut);
            }
        }
    }
}

impl RangeWalk for Cut {
    fn skip_to(&mut self, key: &[u8]) {
        self.all.skip_to(key);
    }

    fn continues(&self) -> bool {
        self.continues
    }
}
