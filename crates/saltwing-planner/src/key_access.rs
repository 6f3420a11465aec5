//! The part of the key that a SELECT reads, encoded without a plan: see
//! [`KeyTemplate`](super::key_template::KeyTemplate).

use std::sync::Arc;

use saltwing_access::keys::{KeyList, RangeForm, RangeList};
use saltwing_access::{Buckets, KeyRanges, KeySet, ScanRange, ScanRoute, Table};
use saltwing_plan::{Access, AccessKind};
use saltwing_rowkey::{BucketRange, KeyRange};

use crate::access::TableAccess;
use crate::direct::{DirectPlan, PlannedSelect};

/// The part of the key that a SELECT reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyAccess {
    /// The row of this physical key.
    Row(Vec<u8>),
    /// The rows of these keys.
    Range(BucketRange),
    /// The rows of several such ranges.
    List(Arc<RangeList>),
    /// The rows of several keys.
    Rows(Arc<KeyList>),
}

/// Bucket and logical key of a physical one.
fn row_range(key: &[u8], table: &Table) -> ScanRange {
    let (bucket, logical) = key.split_at(table.codec().bucket_bytes().min(key.len()));
    ScanRange { bucket: bucket.first().copied(), range: KeyRange::point(logical.to_vec()) }
}

impl KeyAccess {
    /// Whether a plan reads exactly the part of the key that the conditions give.
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
        let listed = |form, own: Option<Vec<u8>>| {
            let buckets = own.map_or_else(|| access.buckets(), Buckets::Some);
            KeySet::Ranges { ranges: KeyRanges::new(form), buckets }
        };
        let keys = match self {
            Self::Range(keys) => KeySet::Range(keys),
            Self::Row(key) => {
                let list = RangeList::new(vec![row_range(&key, access.table())]);
                let buckets = list.buckets();
                listed(RangeForm::List(Arc::new(list)), buckets)
            }
            Self::List(list) => listed(RangeForm::List(list.clone()), list.buckets()),
            Self::Rows(list) => listed(RangeForm::Keys(list.clone()), list.buckets()),
        };
        access.route_over(keys, limit)
    }

    /// Bucket and logical keys of a part that is no list.
    pub(super) fn into_logical(self, table: &Table) -> Option<ScanRange> {
        match self {
            Self::Range(keys) => Some(ScanRange { bucket: keys.bucket, range: keys.logical() }),
            Self::Row(key) => Some(row_range(&key, table)),
            Self::List(_) | Self::Rows(_) => None,
        }
    }

    /// The physical key, where it is one row.
    pub fn row_key(&self) -> Option<&[u8]> {
        if let Self::Row(key) = self { Some(key) } else { None }
    }
}
