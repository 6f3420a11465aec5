//! Ranges of keys that are known as bytes.

use std::ops::Range;
use std::sync::Arc;

use saltwing_plan::ScanRange;
use saltwing_rowkey::KeyRange;

/// Ranges of logical keys, each in one bucket or in all: by bucket, those of all buckets first, and then in key order.
#[derive(Debug, PartialEq, Eq)]
pub struct RangeList(Vec<ScanRange>);

impl RangeList {
    /// A list of ranges that are the same, or have no key in common.
    pub fn new(mut ranges: Vec<ScanRange>) -> Self {
        ranges.sort_unstable_by(|a, b| (a.bucket, a.range.start()).cmp(&(b.bucket, b.range.start())));
        ranges.dedup();
        Self(ranges)
    }

    /// The buckets that the ranges lie in, ascending; `None` if one may lie in any.
    pub(super) fn buckets(&self) -> Option<Vec<u8>> {
        let mut buckets = self.0.iter().map(|range| range.bucket).collect::<Option<Vec<u8>>>()?;
        buckets.dedup();
        Some(buckets)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &ScanRange> {
        self.0.iter()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn range(&self, index: usize) -> Option<&KeyRange> {
        self.0.get(index).map(|own| &own.range)
    }

    /// A list in which the ranges that are read in a bucket stand one after the other, in key order, and where.
    pub(super) fn in_bucket(list: &Arc<Self>, bucket: Option<u8>) -> (Arc<Self>, Range<usize>) {
        let shared = 0..list.0.partition_point(|range| range.bucket.is_none());
        if bucket.is_none() {
            return (list.clone(), shared);
        }
        let own = list.0.partition_point(|range| range.bucket < bucket)
            ..list.0.partition_point(|range| range.bucket <= bucket);
        if shared.is_empty() || own.is_empty() {
            let indexes = if shared.is_empty() { own } else { shared };
            return (list.clone(), indexes);
        }
        let both = [shared, own].into_iter().flatten().filter_map(|index| list.range(index).cloned());
        let both = Self::new(both.map(ScanRange::from).collect());
        let indexes = 0..both.len();
        (Arc::new(both), indexes)
    }
}
