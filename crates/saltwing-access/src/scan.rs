//! The route of a scan.

use saltwing_types::Direction;

use crate::KeySet;

/// In which order rows come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScanOrder {
    /// Bucket after bucket.
    ByBucket,
    /// Row-key order over all buckets, which are merged row by row.
    Merged,
}

/// Which rows of a table a scan reads, and in which order.
#[derive(Clone, Debug)]
pub struct ScanRoute {
    /// Keys.
    pub keys: KeySet,
    /// Direction.
    pub direction: Direction,
    /// Order.
    pub order: ScanOrder,
    /// Most rows put out.
    pub limit: Option<u64>,
    /// Rows of the first batch, where few may be enough: each later one reads twice as many. `None` leaves it
    /// to the limit.
    pub first_batch: Option<u64>,
}

impl ScanRoute {
    /// These keys forward, bucket after bucket, to the end.
    pub fn of(keys: KeySet) -> Self {
        Self { keys, direction: Direction::Forward, order: ScanOrder::ByBucket, limit: None, first_batch: None }
    }
}

/// How a scan is divided: by rows in blocks, all of an entry where a range begins or ends inside.
#[derive(Clone, Copy, Debug)]
pub struct SplitTarget {
    /// Rows of a part.
    pub rows_each: u64,
    /// Rows from which on a scan is divided at all.
    pub rows_min: u64,
}
