//! What the tests of this crate share.

pub(crate) use saltwing_access::conformance::ManualClock;
use saltwing_access::{Direction, RangeIter, RangeSource};
use saltwing_rowkey::KeyRange;

/// The same ranges in every bucket.
pub(crate) struct Ranges(pub(crate) Vec<KeyRange>);

impl RangeSource for Ranges {
    fn ranges(&self, _bucket: Option<u8>, direction: Direction) -> RangeIter {
        let list = self.0.clone();
        match direction {
            Direction::Forward => Box::new(list.into_iter()),
            Direction::Reverse => Box::new(list.into_iter().rev()),
        }
    }
}
