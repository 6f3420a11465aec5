//! A plan's ranges, and what it skips inside them, as a scan takes them.

use saltwing_plan::{Ranges, Skip, Stretches};
use saltwing_rowkey::KeyRange;
use saltwing_table::{Direction, KeyStretches, RangeIter, RangeSource, RangeWalk, Stretch};

/// A plan's ranges for one bucket after the other.
pub(super) struct PlannedRanges {
    ranges: Ranges,
    skip: Option<Skip>,
}

impl PlannedRanges {
    pub(super) fn new(ranges: Ranges, skip: Option<Skip>) -> Self {
        Self { ranges, skip }
    }
}

impl RangeSource for PlannedRanges {
    fn ranges(&self, bucket: Option<u8>, direction: Direction) -> RangeIter {
        let all = match direction {
            Direction::Forward => self.ranges.iter(),
            Direction::Reverse => self.ranges.iter_reverse(),
        };
        Box::new(BucketRanges { all, bucket })
    }

    fn stretches(&self, direction: Direction) -> Option<Box<dyn KeyStretches>> {
        let skip = self.skip.as_ref()?;
        Some(Box::new(PlannedStretches(match direction {
            Direction::Forward => skip.forward(),
            Direction::Reverse => skip.reverse(),
        })))
    }
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
        self.all.find(|range| range.bucket.is_none() || range.bucket == bucket).map(|range| range.range)
    }
}

impl RangeWalk for BucketRanges {
    fn skip_to(&mut self, key: &[u8]) {
        self.all.skip_to(key);
    }
}

struct PlannedStretches(Stretches);

impl KeyStretches for PlannedStretches {
    fn at(&mut self, logical: &[u8]) -> Stretch<'_> {
        match self.0.at(logical) {
            saltwing_plan::Stretch::Wanted(place) => Stretch::Wanted(place),
            saltwing_plan::Stretch::Unwanted(place) => Stretch::Unwanted(place),
        }
    }
}
