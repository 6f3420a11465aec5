//! The route of a scan.

use saltwing_rowkey::KeyRange;
use saltwing_types::{Direction, KeySchema};

use crate::{KeySet, Table};

/// In which order rows come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScanOrder {
    /// Bucket after bucket.
    ByBucket,
    /// Row-key order over all buckets, which are merged row by row.
    Merged,
    /// As the rows come: the rows of each bucket in order, and the buckets by turns. A store that need not wait reads them as
    /// [`ScanOrder::ByBucket`].
    Any,
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

    /// The rows of this route in a range of physical keys; `None` if no bucket has a key in it.
    #[must_use]
    pub fn within(&self, key: &KeySchema, part: &KeyRange) -> Option<Self> {
        Some(Self { keys: self.keys.within(key, part)?, ..self.clone() })
    }

    /// The routes, one after the other, of the rows that this route reads after the row of a physical key.
    pub fn after(&self, table: &Table, row_key: &[u8]) -> impl Iterator<Item = Self> {
        let (bucket, logical) = row_key.split_at(table.codec().bucket_bytes().min(row_key.len()));
        let rest = match self.direction {
            Direction::Forward => KeyRange::new([logical, &[0]].concat(), None),
            Direction::Reverse => KeyRange::new(Vec::new(), Some(logical.to_vec())),
        };
        let keys = match (rest, self.order, bucket.first()) {
            (None, ..) => [None, None],
            (Some(rest), ScanOrder::ByBucket | ScanOrder::Any, Some(bucket)) => {
                self.keys.remaining_after(&table.def().key, *bucket, &rest)
            }
            (Some(rest), ..) => [self.keys.rest(&rest), None],
        };
        keys.into_iter().flatten().map(|keys| Self { keys, ..self.clone() })
    }
}

/// The parts that [`Snapshot::split`](crate::Snapshot::split) makes, by the store's estimate of rows.
#[derive(Clone, Copy, Debug)]
pub struct SplitTarget {
    /// Rows of a part.
    pub rows_each: u64,
    /// A scan of fewer rows is not split.
    pub rows_min: u64,
}
