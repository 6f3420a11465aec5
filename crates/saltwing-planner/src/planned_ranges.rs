//! A plan's ranges, and what it skips inside them, as a scan takes them.

use saltwing_access::{Direction, KeyRegion, RangeIter, RangeSource, RangeWalk, SkipFilter};
use saltwing_plan::{KeyRegions, Ranges, ScanRange, Skip};
use saltwing_rowkey::KeyRange;

/// Ranges up to which they are made once for all buckets.
const FEW_RANGES: u128 = 16;

/// A plan's ranges for one bucket after the other.
pub(super) struct PlannedRanges {
    ranges: Ranges,
    /// All of them in key order, where they are few.
    few: Option<Vec<ScanRange>>,
    skip: Option<Skip>,
}

impl PlannedRanges {
    pub(super) fn new(ranges: Ranges, skip: Option<Skip>) -> Self {
        let is_few = ranges.total_max().is_some_and(|most| most <= FEW_RANGES);
        let few = is_few.then(|| ranges.iter().collect());
        Self { ranges, few, skip }
    }
}

impl RangeSource for PlannedRanges {
    fn ranges(&self, bucket: Option<u8>, direction: Direction) -> RangeIter {
        if let Some(few) = &self.few {
            let own = few.iter().filter(|range| is_read_in(range, bucket)).map(|range| range.range.clone());
            let own: Vec<KeyRange> = own.collect();
            return match direction {
                Direction::Forward => Box::new(own.into_iter()),
                Direction::Reverse => Box::new(own.into_iter().rev()),
            };
        }
        let all = match direction {
            Direction::Forward => self.ranges.iter(),
            Direction::Reverse => self.ranges.iter_reverse(),
        };
        Box::new(BucketRanges { all, bucket })
    }

    fn skip_filter(&self, direction: Direction) -> Option<Box<dyn SkipFilter>> {
        let skip = self.skip.as_ref()?;
        Some(Box::new(PlannedStretches(match direction {
            Direction::Forward => skip.forward(),
            Direction::Reverse => skip.reverse(),
        })))
    }
}

/// Whether rows of a range may lie in a bucket.
fn is_read_in(range: &ScanRange, bucket: Option<u8>) -> bool {
    range.bucket.is_none() || range.bucket == bucket
}

/// Of a plan's ranges those that are read in one bucket.
struct BucketRanges {
    all: saltwing_plan::RangeIter,
    bucket: Option<u8>,
}

impl Iterator for BucketRanges {
    type Item = KeyRange;

    fn next(&mut self) -> Option<KeyRange> {
        let bucket = self.bucket;
        self.all.find(|range| is_read_in(range, bucket)).map(|range| range.range)
    }
}

impl RangeWalk for BucketRanges {
    fn skip_to(&mut self, key: &[u8]) {
        self.all.skip_to(key);
    }
}

struct PlannedStretches(KeyRegions);

impl SkipFilter for PlannedStretches {
    fn at(&mut self, logical: &[u8]) -> KeyRegion<'_> {
        match self.0.at(logical) {
            saltwing_plan::KeyRegion::Match(place) => KeyRegion::Match(place),
            saltwing_plan::KeyRegion::Gap(place) => KeyRegion::Gap(place),
        }
    }
}
