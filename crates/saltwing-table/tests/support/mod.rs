//! What the tests of this crate share.

use std::sync::atomic::{AtomicI64, Ordering};

use saltwing_access::{Clock, Direction, RangeIter, RangeSource};
use saltwing_rowkey::KeyRange;

/// A clock that stands where it is put, in milliseconds since 1970.
#[derive(Default)]
pub(crate) struct ManualClock(pub(crate) AtomicI64);

impl Clock for ManualClock {
    fn now_ms(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

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
