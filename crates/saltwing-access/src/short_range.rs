//! Reads of few rows, which need no scan: they are done at once.

use saltwing_expr::RowValues;
use saltwing_rowkey::BucketRange;
use saltwing_types::Direction;

/// Most rows of such a read.
pub const SHORT_RANGE_ROWS: usize = 32;

/// A range of physical keys that may have few rows, and the rows that are wanted of it.
#[derive(Clone, Copy, Debug)]
pub struct ShortRange<'k> {
    /// The range.
    pub keys: &'k BucketRange,
    /// The order of the rows.
    pub direction: Direction,
    /// Most rows.
    pub limit: Option<u64>,
}

/// The rows of such a read, and what it took.
#[derive(Debug)]
pub struct ShortRangeRows {
    /// The rows.
    pub values: RowValues,
    /// Rows that were read, those of indexes included.
    pub keys_read: u64,
    /// Positionings.
    pub seeks: u64,
    /// Buckets in which something was read; those of an index count by themselves.
    pub buckets: u32,
}
