//! Splits a scan into parts, each between two keys of the table.
//!
//! ```text
//! bucket 0          bucket 1                    bucket 2
//! [ range ]         [ range              ]      [ range ]
//! part 0 ───────────────────┤ part 1 ───────────────────┤
//! ```
//!
//! # Laws
//! 1. The parts in sequence read the rows of the whole in its order, and their counters add up to the whole's, except
//!    for batches.
//! 2. The end of a part depends on the ranges and on the stored data, never on the number of threads. It is a key, not
//!    a position of the view, so a part may also be read on a later view.
//!
//! # Left to others
//! Whether dividing pays, and reading the parts at the same time.

use std::sync::Arc;

use saltwing_access::{Direction, KeyRanges, KeySet, ScanOrder, ScanRoute, SplitTarget, Table};
use saltwing_rowkey::KeyRange;

use crate::engine::entry::Entry;
use crate::engine::table_rows::TableRows;
use crate::format::prefetch::prefetch;
use crate::scan::estimate::estimate;

/// Most ranges, each in a bucket, of a scan that is split at fences.
const RANGES_MAX: usize = 1024;

/// Entries prefetched together: each is in a separate allocation, so their cache misses overlap.
const ENTRIES_AHEAD: usize = 16;

/// The parts of the scan, which together are all keys of the table. They begin at fences of the directory, or at the points of
/// SPLIT ON if these are more. There is one part if the scan has few rows, stops
/// early, goes backwards, or merges buckets.
pub(crate) fn split(rows: &TableRows, table: &Table, route: &ScanRoute, target: SplitTarget) -> Vec<KeyRange> {
    let cuts = cuts(rows, table, route, target);
    let ends = cuts.iter().cloned().map(Some).chain([None]);
    let starts = std::iter::once(Vec::new()).chain(cuts.iter().cloned());
    starts.zip(ends).filter_map(|(start, end)| KeyRange::new(start, end)).collect()
}

/// The physical keys at which parts begin, except for the first part.
fn cuts(rows: &TableRows, table: &Table, route: &ScanRoute, target: SplitTarget) -> Vec<Vec<u8>> {
    let KeySet::Ranges { ranges, buckets } = &route.keys else { return Vec::new() };
    let buckets = buckets.of(&table.def().key);
    let is_plain = route.limit.is_none()
        && route.first_batch.is_none()
        && route.direction == Direction::Forward
        && (route.order != ScanOrder::Merged || buckets.len() < 2);
    if !is_plain {
        return Vec::new();
    }
    let (all, rows_each) = (estimate(rows, table, &route.keys).rows, target.rows_each.max(1));
    if all < target.rows_min {
        return Vec::new();
    }
    let cuts = Cuts { rows_each, ..Cuts::default() }.at_fences(rows, ranges, &buckets).unwrap_or_default();
    let points = at_split_points(table, ranges);
    if points.len() > cuts.len() {
        return points;
    }
    if !cuts.is_empty() {
        return cuts;
    }
    // The directory does not count these rows. Buckets are taken to be equally large.
    let parts = all.div_ceil(rows_each).clamp(1, buckets.len().max(1) as u64);
    let each = buckets.len().div_ceil(parts as usize).max(1);
    buckets.iter().flatten().step_by(each).skip(1).map(|bucket| vec![*bucket]).collect()
}

/// The points of SPLIT ON inside the ranges: they divide a table whose directory has few fences. Tables with buckets have none.
fn at_split_points(table: &Table, ranges: &KeyRanges) -> Vec<Vec<u8>> {
    let points = table.split_keys();
    if points.is_empty() {
        return Vec::new();
    }
    let mut cuts: Vec<Vec<u8>> = Vec::new();
    for range in ranges.ranges(None, Direction::Forward).take(RANGES_MAX) {
        let from = points.partition_point(|point| point.as_slice() <= range.start());
        let inside = points.iter().skip(from).take_while(|point| range.contains(point));
        cuts.extend(inside.cloned());
    }
    cuts
}

/// Cuts at fences and between buckets, by the rows in blocks and runs.
#[derive(Default)]
struct Cuts {
    rows_each: u64,
    keys: Vec<Vec<u8>>,
    /// Rows of the part so far.
    rows: u64,
    /// The first entry that was not counted yet: neighbours among ranges may share one.
    counted: usize,
}

impl Cuts {
    /// The cuts of some ranges, in each of the buckets; `None` if there are too many ranges, or a skip jumps over rows that
    /// fences count.
    fn at_fences(mut self, rows: &TableRows, ranges: &KeyRanges, buckets: &[Option<u8>]) -> Option<Vec<Vec<u8>>> {
        if ranges.skip_filter(Direction::Forward).is_some() {
            return None;
        }
        let mut count = 0;
        for bucket in buckets {
            self.begin(*bucket);
            for range in ranges.ranges(*bucket, Direction::Forward) {
                count += 1;
                if count > RANGES_MAX {
                    return None;
                }
                if !range.is_point() {
                    let range = range.in_bucket(*bucket);
                    self.add(rows, &range);
                }
            }
        }
        Some(self.keys)
    }

    /// Goes on with a bucket; with a new part if the one before is full.
    fn begin(&mut self, bucket: Option<u8>) {
        if self.rows >= self.rows_each {
            self.cut(bucket.into_iter().collect());
        }
    }

    fn cut(&mut self, key: Vec<u8>) {
        self.keys.push(key);
        self.rows = 0;
    }

    /// Adds the rows of a range of physical keys, with a cut at each fence at which there are enough.
    fn add(&mut self, rows: &TableRows, range: &KeyRange) {
        let entries = rows.directory.floor(range.start())..rows.directory.last_below(range.end()) + 1;
        let mut looked_until = entries.start;
        for index in entries {
            if index >= looked_until {
                looked_until = index + prefetch_blocks(rows.directory.neighbours(index, ENTRIES_AHEAD));
            }
            let Some(entry) = rows.directory.entry(index) else { continue };
            if self.rows >= self.rows_each && range.start() < &*entry.fence {
                self.cut(entry.fence.to_vec());
            }
            if index >= self.counted {
                let size = entry.size();
                self.rows += size.rows + size.run_rows;
                self.counted = index + 1;
            }
        }
    }
}

/// Prefetches the blocks of some entries: how many entries these are.
fn prefetch_blocks(entries: &[Arc<Entry>]) -> usize {
    prefetch(entries.iter().map(|entry| entry.block.as_ref().map_or(0, |block| block.summary.rows as usize)));
    entries.len()
}
