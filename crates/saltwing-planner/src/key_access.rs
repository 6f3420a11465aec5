//! What a SELECT reads of the key, encoded without a plan: see [`KeyTemplate`](super::key_template::KeyTemplate).

use std::sync::Arc;

use saltwing_access::{Buckets, Direction, KeySet, RangeIter, RangeSource, ScanRoute, Table};
use saltwing_plan::{Access, AccessKind};
use saltwing_rowkey::{BucketRange, KeyRange};

use crate::access::TableAccess;
use crate::direct::{DirectPlan, PlannedSelect};
use crate::row_list::{RowList, RowRanges};

/// What a SELECT reads of the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyAccess {
    /// The row of this physical key.
    Row(Vec<u8>),
    /// The rows of these keys.
    Range(BucketRange),
    /// The rows of several such ranges.
    List(Arc<RangeList>),
    /// The rows of several keys.
    Rows(Arc<RowList>),
}

/// Ranges of logical keys, each with its bucket where the table has such, in the order of the physical keys.
#[derive(Debug, PartialEq, Eq)]
pub struct RangeList(Vec<(Option<u8>, KeyRange)>);

impl RangeList {
    /// Of ranges that are the same or have no key in common.
    pub(super) fn new(mut ranges: Vec<(Option<u8>, KeyRange)>) -> Self {
        ranges.sort_unstable_by(|(a, x), (b, y)| (a, x.start()).cmp(&(b, y.start())));
        ranges.dedup();
        Self(ranges)
    }

    /// The buckets that the ranges lie in, ascending.
    fn buckets(&self) -> Option<Vec<u8>> {
        let mut buckets = self.0.iter().map(|(bucket, _)| *bucket).collect::<Option<Vec<u8>>>()?;
        buckets.dedup();
        Some(buckets)
    }
}

impl RangeSource for RangeList {
    fn ranges(&self, bucket: Option<u8>, direction: Direction) -> RangeIter {
        let start = self.0.partition_point(|(of, _)| *of < bucket);
        let own = self.0.iter().skip(start).take_while(|(of, _)| *of == bucket).map(|(_, range)| range.clone());
        match direction {
            Direction::Forward => Box::new(own.collect::<Vec<_>>().into_iter()),
            Direction::Reverse => Box::new(own.collect::<Vec<_>>().into_iter().rev()),
        }
    }
}

/// Bucket and logical key of a physical one.
fn row_range(key: &[u8], table: &Table) -> (Option<u8>, KeyRange) {
    let (bucket, logical) = key.split_at(table.codec().bucket_bytes().min(key.len()));
    (bucket.first().copied(), KeyRange::point(logical.to_vec()))
}

impl KeyAccess {
    /// Whether a plan reads what the conditions say of the key, and there is nothing more to it.
    pub(crate) fn is_all_of(planned: &PlannedSelect) -> bool {
        let Access { kind, residual, verdict, in_turn, skip, .. } = planned.access.access();
        !matches!(planned.plan, DirectPlan::KeyEnds { .. } | DirectPlan::DistinctPrefix { .. })
            && matches!(kind, AccessKind::Point | AccessKind::Range | AccessKind::SkipScan)
            && residual.is_empty()
            && in_turn.is_none()
            && skip.is_none()
            && verdict.allowed == Some(true)
    }

    /// The rows of this part, read as an access is, at most `limit`.
    pub fn route(self, access: &TableAccess, limit: Option<u64>) -> ScanRoute {
        let limit = limit.or(matches!(self, Self::Row(_)).then_some(1));
        let buckets_of = |own: Option<Vec<u8>>| own.map_or_else(|| access.buckets(), Buckets::Some);
        let keys = match self {
            Self::Range(keys) => KeySet::Range(keys),
            Self::Row(key) => {
                let list = RangeList::new(vec![row_range(&key, access.table())]);
                KeySet::Ranges { buckets: buckets_of(list.buckets()), ranges: Arc::new(list) }
            }
            Self::List(list) => KeySet::Ranges { buckets: buckets_of(list.buckets()), ranges: list },
            Self::Rows(list) => {
                KeySet::Ranges { buckets: buckets_of(list.buckets()), ranges: Arc::new(RowRanges(list)) }
            }
        };
        access.route_over(keys, limit)
    }

    /// Bucket and logical keys of a part that is no list.
    pub(super) fn into_logical(self, table: &Table) -> Option<(Option<u8>, KeyRange)> {
        match self {
            Self::Range(keys) => Some((keys.bucket, keys.logical())),
            Self::Row(key) => Some(row_range(&key, table)),
            Self::List(_) | Self::Rows(_) => None,
        }
    }

    /// The physical key, where it is one row.
    pub fn row_key(&self) -> Option<&[u8]> {
        if let Self::Row(key) = self { Some(key) } else { None }
    }
}
