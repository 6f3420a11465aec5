//! The ranges of a scan, in portions that one scanner reads.

use std::collections::VecDeque;
use std::iter::Peekable;
use std::ops::Bound;

use hbase_client::{Filter, RowRange, Scan};
use saltwing_access::{Direction, RangeIter};
use saltwing_rowkey::KeyRange;

/// Most ranges of one scanner: servers look for the range of each row, and the message with all of them is sent to each region.
const RANGES_MAX: usize = 1000;

/// Ranges of physical keys that one scanner reads: ascending and disjoint, at least one. One that has no end is alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Job {
    ranges: Vec<KeyRange>,
}

impl Job {
    /// The first key that is read, or one before it.
    pub(crate) fn start(&self) -> &[u8] {
        self.ranges.first().map_or(&[], KeyRange::start)
    }

    /// The first key after all that are read; `None` if they reach to the end of the table.
    fn end(&self) -> Option<&[u8]> {
        self.ranges.last().and_then(KeyRange::end)
    }

    /// Whether all of it is one key.
    pub(crate) fn is_point(&self) -> bool {
        matches!(self.ranges.as_slice(), [range] if range.is_point())
    }

    /// The scan of these ranges, in the order of the direction.
    pub(crate) fn scan(&self, direction: Direction) -> Scan {
        let stop = self.end().map_or(Bound::Unbounded, Bound::Excluded);
        let scan = Scan::range::<&[u8]>((Bound::Included(self.start()), stop));
        let scan = match self.ranges.as_slice() {
            [] | [_] => scan,
            ranges => scan.filter(Filter::row_ranges(ranges.iter().map(|range| {
                let stop = range.end().map_or(Bound::Unbounded, Bound::Excluded);
                RowRange::new::<&[u8]>((Bound::Included(range.start()), stop))
            }))),
        };
        if direction == Direction::Reverse { scan.reversed() } else { scan }
    }

    /// The parts of it in regions with these bounds, ascending: the first key, and the one after the last.
    fn by_regions(&self, regions: &[KeyRange]) -> Vec<Self> {
        let first = regions.partition_point(|region| region.end().is_some_and(|end| end <= self.start()));
        let part = |region: &KeyRange| {
            let from = self.ranges.partition_point(|range| range.end().is_some_and(|end| end <= region.start()));
            let of_region = self.ranges.iter().skip(from).map_while(|range| range.intersect(region));
            Self { ranges: of_region.collect() }
        };
        let parts = regions.iter().skip(first).take_while(|region| self.end().is_none_or(|end| region.start() < end));
        parts.map(part).filter(|part| !part.ranges.is_empty()).collect()
    }
}

/// The jobs of some buckets, in the order of a scan.
pub(crate) struct Jobs {
    /// The ranges of logical keys in each bucket that is left.
    buckets: VecDeque<(Option<u8>, Peekable<RangeIter>)>,
    direction: Direction,
    /// The bounds of regions, ascending; empty if jobs are not divided by them.
    regions: Vec<KeyRange>,
    /// The parts of a job that was divided.
    parts: VecDeque<Job>,
}

/// What the next job begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Begun {
    /// The bucket; 0 without buckets.
    pub(crate) bucket: u8,
    /// Ranges.
    pub(crate) ranges: u64,
}

impl Jobs {
    /// The jobs of these buckets with their ranges.
    pub(crate) fn new(buckets: impl IntoIterator<Item = (Option<u8>, RangeIter)>, direction: Direction) -> Self {
        let buckets = buckets.into_iter().map(|(bucket, ranges)| (bucket, ranges.peekable())).collect();
        Self { buckets, direction, regions: Vec::new(), parts: VecDeque::new() }
    }

    /// Divides the jobs that are left at these bounds of regions, which are ascending and have all keys.
    pub(crate) fn divide_at(&mut self, regions: Vec<KeyRange>) {
        self.regions = regions;
    }

    /// The next job, and what begins with it; `None` at the end.
    pub(crate) fn next(&mut self) -> Option<(Job, Begun)> {
        if let Some(part) = self.parts.pop_front() {
            return Some((part, Begun::default()));
        }
        let (job, begun) = self.next_whole()?;
        if self.regions.is_empty() || job.is_point() {
            return Some((job, begun));
        }
        self.parts = job.by_regions(&self.regions).into();
        if self.direction == Direction::Reverse {
            self.parts.make_contiguous().reverse();
        }
        debug_assert!(!self.parts.is_empty(), "regions have all keys");
        Some((self.parts.pop_front().unwrap_or(job), begun))
    }

    fn next_whole(&mut self) -> Option<(Job, Begun)> {
        loop {
            let (bucket, left) = self.buckets.front_mut()?;
            let bucket = *bucket;
            let mut ranges: Vec<KeyRange> = Vec::new();
            let is_endless = |range: &KeyRange| range.in_bucket(bucket).end().is_none();
            while ranges.len() < RANGES_MAX
                && let Some(range) = left.next_if(|next| ranges.is_empty() || !is_endless(next))
            {
                let range = range.in_bucket(bucket);
                let is_alone = range.end().is_none();
                ranges.push(range);
                if is_alone {
                    break;
                }
            }
            if ranges.is_empty() {
                self.buckets.pop_front();
                continue;
            }
            if self.direction == Direction::Reverse {
                ranges.reverse();
            }
            let begun = Begun { bucket: bucket.unwrap_or(0), ranges: ranges.len() as u64 };
            return Some((Job { ranges }, begun));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start: &str, end: &str) -> KeyRange {
        KeyRange::new(start.into(), (!end.is_empty()).then(|| end.into())).unwrap()
    }

    fn ranges(direction: Direction, all: &[(&str, &str)]) -> RangeIter {
        saltwing_access::KeyRanges::from_iter(all.iter().map(|(start, end)| range(start, end))).ranges(None, direction)
    }

    fn jobs(direction: Direction, all: &[(&str, &str)], regions: &[(&str, &str)]) -> Vec<Vec<KeyRange>> {
        let mut jobs = Jobs::new([(None, ranges(direction, all))], direction);
        jobs.divide_at(regions.iter().map(|(start, end)| range(start, end)).collect());
        std::iter::from_fn(|| jobs.next()).map(|(job, _)| job.ranges).collect()
    }

    #[test]
    fn a_range_without_an_end_is_alone() {
        let all = [("a", "b"), ("c", "d"), ("e", "")];
        let expected = vec![vec![range("a", "b"), range("c", "d")], vec![range("e", "")]];
        assert_eq!(jobs(Direction::Forward, &all, &[]), expected);
        let expected = vec![vec![range("e", "")], vec![range("a", "b"), range("c", "d")]];
        assert_eq!(jobs(Direction::Reverse, &all, &[]), expected);
    }

    #[test]
    fn jobs_are_divided_at_regions() {
        let all = [("a", "d"), ("e", "f"), ("k", "l")];
        let regions = [("", "b"), ("b", "c"), ("c", "g"), ("g", "h"), ("h", "")];
        let parts = vec![
            vec![range("a", "b")],
            vec![range("b", "c")],
            vec![range("c", "d"), range("e", "f")],
            vec![range("k", "l")],
        ];
        assert_eq!(jobs(Direction::Forward, &all, &regions), parts);
        assert_eq!(jobs(Direction::Reverse, &all, &regions), parts.into_iter().rev().collect::<Vec<_>>());
        let whole = vec![vec![range("", "m")], vec![range("m", "")]];
        assert_eq!(jobs(Direction::Forward, &[("", "")], &[("", "m"), ("m", "")]), whole);
    }

    #[test]
    fn many_ranges_are_several_jobs() {
        let keys: Vec<KeyRange> = (0..2500u32).map(|key| KeyRange::point(key.to_be_bytes().to_vec())).collect();
        for direction in [Direction::Forward, Direction::Reverse] {
            let all = saltwing_access::KeyRanges::from_iter(keys.clone()).ranges(None, direction);
            let mut jobs = Jobs::new([(None, all)], direction);
            let mut sizes = Vec::new();
            let mut read = Vec::new();
            while let Some((mut job, begun)) = jobs.next() {
                assert!(job.ranges.is_sorted_by_key(KeyRange::start));
                assert_eq!(begun, Begun { bucket: 0, ranges: job.ranges.len() as u64 });
                sizes.push(job.ranges.len());
                if direction == Direction::Reverse {
                    job.ranges.reverse();
                }
                read.append(&mut job.ranges);
            }
            if direction == Direction::Reverse {
                read.reverse();
            }
            assert_eq!((sizes, read), (vec![1000, 1000, 500], keys.clone()));
        }
    }
}
