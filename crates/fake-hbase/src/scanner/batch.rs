//! What a scanner reads, what bounds a call, and what it gives.

use std::ops::Bound;

use bytes::Bytes;
use hbase_client::cell::Cell;

use crate::fault::ScanStop;
use crate::row_key::RowKey;

/// The rows of a scanner: bounds of keys, and the direction.
#[derive(Clone, Debug)]
pub(crate) struct Range {
    pub(crate) low: Bound<RowKey>,
    pub(crate) high: Bound<RowKey>,
    pub(crate) is_reversed: bool,
}

/// What bounds a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The most results, each a row or a part of one.
    pub(crate) results: usize,
    /// The most complete rows of the whole scan that are still wanted.
    pub(crate) rows: Option<usize>,
    pub(crate) bytes: u64,
    /// Whether the client handles parts of rows, and heartbeats.
    pub(crate) partials: bool,
    pub(crate) heartbeats: bool,
    pub(crate) stop: Option<ScanStop>,
}

/// Cells of a row, and whether more of the row may follow.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Part {
    pub(crate) cells: Vec<Cell>,
    pub(crate) is_partial: bool,
}

/// What a call gives.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) parts: Vec<Part>,
    pub(crate) more_in_region: bool,
    /// Whether the rows that the client wants are all there.
    pub(crate) is_enough: bool,
    pub(crate) is_heartbeat: bool,
    /// The row that comes next, for a heartbeat.
    pub(crate) cursor: Option<Bytes>,
}

impl Range {
    /// Whether no key lies between the bounds; maps refuse to be asked for such ranges.
    pub(crate) fn is_empty(&self) -> bool {
        match (&self.low, &self.high) {
            (Bound::Unbounded, _) | (_, Bound::Unbounded) => false,
            (Bound::Included(low), Bound::Included(high)) => low > high,
            (Bound::Included(low) | Bound::Excluded(low), Bound::Included(high) | Bound::Excluded(high)) => low >= high,
        }
    }
}

impl Limits {
    /// Whether so many complete rows are all that the scan wants.
    pub(crate) fn is_enough(&self, complete_rows: usize) -> bool {
        self.rows.is_some_and(|rows| complete_rows >= rows)
    }
}
