//! Ranges one after the other.

use std::ops::Range;
use std::sync::Arc;

use saltwing_plan::{Ranges, ScanRange};
use saltwing_rowkey::KeyRange;
use saltwing_types::Direction;

use super::key_list::{KeyList, KeyWalk};
use super::range_list::RangeList;

/// How ranges are written down.
#[derive(Clone, Debug)]
pub(super) enum RangeForm {
    /// Single keys.
    Keys(Arc<KeyList>),
    /// Ranges as bytes.
    List(Arc<RangeList>),
    /// Values and spans of key columns, which are multiplied out as the ranges are read.
    Product(Ranges),
}

/// The ranges of one bucket in one direction, made on demand.
#[derive(Debug)]
pub struct RangeIter {
    walk: Walk,
    direction: Direction,
    clip: Option<Box<Clip>>,
    continues: bool,
}

#[derive(Debug)]
enum Walk {
    One(Option<KeyRange>),
    Keys(KeyWalk),
    List { list: Arc<RangeList>, left: Range<usize> },
    Product { ranges: saltwing_plan::RangeIter, bucket: Option<u8> },
}

/// The bounds of the logical keys that are read.
#[derive(Debug)]
struct Clip {
    range: KeyRange,
    /// Where the part of the scan begins that has them: of a range that begins before, an earlier part has the beginning. Empty
    /// if no earlier part has any of them.
    part_start: Vec<u8>,
}

impl RangeIter {
    pub(super) fn of(form: &RangeForm, bucket: Option<u8>, direction: Direction) -> Self {
        let walk = match form {
            RangeForm::Keys(list) => Walk::Keys(KeyWalk::new(list, bucket, direction)),
            RangeForm::List(list) => {
                let (list, left) = RangeList::in_bucket(list, bucket);
                Walk::List { list, left }
            }
            RangeForm::Product(ranges) => Walk::Product { ranges: ranges.walk(direction), bucket },
        };
        Self { walk, direction, clip: None, continues: false }
    }

    /// One range.
    pub fn one(range: KeyRange) -> Self {
        Self { walk: Walk::One(Some(range)), direction: Direction::Forward, clip: None, continues: false }
    }

    /// No range.
    pub fn none() -> Self {
        Self { walk: Walk::One(None), direction: Direction::Forward, clip: None, continues: false }
    }

    /// The intersection of the ranges with both of these.
    pub(super) fn clipped(mut self, rest: Option<&KeyRange>, part: KeyRange) -> Self {
        let range = match rest {
            None => Some(part.clone()),
            Some(rest) => rest.intersect(&part),
        };
        let Some(range) = range else { return Self::none() };
        match (self.direction, rest.and_then(KeyRange::end)) {
            (Direction::Forward, _) => rest.iter().for_each(|rest| self.skip_to(rest.start())),
            (Direction::Reverse, Some(end)) => self.skip_to(end),
            (Direction::Reverse, None) => {}
        }
        let is_first = rest.is_some_and(|rest| part.start() <= rest.start());
        let part_start = if is_first { Vec::new() } else { part.into_bounds().0 };
        Self { clip: Some(Box::new(Clip { range, part_start })), ..self }
    }

    /// The scan knows that no row is between the last returned range and `key`, so ranges there need not be returned.
    /// If they are, the scan skips them.
    pub fn skip_to(&mut self, key: &[u8]) {
        match &mut self.walk {
            Walk::Keys(keys) => keys.skip_to(key),
            Walk::Product { ranges, .. } => ranges.skip_to(key),
            Walk::One(_) | Walk::List { .. } => {}
        }
    }

    /// If the next range is a key of a list, adds it to `out`, and passes it over. Otherwise nothing happens. It is quicker
    /// than asking for the range.
    pub fn take_key(&mut self, out: &mut Vec<u8>) -> bool {
        match &mut self.walk {
            Walk::Keys(keys) if self.clip.is_none() => keys.take(out),
            _ => false,
        }
    }

    /// Whether the range given last is the rest of one that another part of the scan begins: the plan asks for no seek there.
    pub fn continues(&self) -> bool {
        self.continues
    }
}

impl Walk {
    fn next(&mut self, direction: Direction) -> Option<KeyRange> {
        match self {
            Self::One(range) => range.take(),
            Self::Keys(keys) => keys.next(),
            Self::List { list, left } => {
                let index = match direction {
                    Direction::Forward => left.next(),
                    Direction::Reverse => left.next_back(),
                };
                list.range(index?).cloned()
            }
            Self::Product { ranges, bucket } => {
                let is_read = |range: &ScanRange| range.bucket.is_none() || range.bucket == *bucket;
                ranges.find(is_read).map(|own| own.range)
            }
        }
    }
}

impl Iterator for RangeIter {
    type Item = KeyRange;

    fn next(&mut self) -> Option<KeyRange> {
        loop {
            let range = self.walk.next(self.direction)?;
            let Some(clip) = &self.clip else { return Some(range) };
            let is_past = match self.direction {
                Direction::Forward => clip.range.end().is_some_and(|end| end <= range.start()),
                Direction::Reverse => range.end().is_some_and(|end| end <= clip.range.start()),
            };
            if is_past {
                return None;
            }
            if let Some(inside) = range.intersect(&clip.range) {
                self.continues = range.start() < clip.part_start.as_slice();
                return Some(inside);
            }
        }
    }
}
