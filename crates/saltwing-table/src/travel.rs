//! Rows of a block in the direction of travel.

use std::ops::Range;

use saltwing_store::Direction;

/// One of some rows: forward counted from their start, in reverse from their end. There are more than `i`.
#[inline]
pub(crate) fn nth(rows: &Range<usize>, direction: Direction, i: usize) -> usize {
    if direction == Direction::Forward { rows.start + i } else { rows.end - 1 - i }
}

/// Takes the first `count` rows off; there are as many at least.
pub(crate) fn take_first(rows: &mut Range<usize>, direction: Direction, count: usize) -> Range<usize> {
    match direction {
        Direction::Forward => {
            rows.start += count;
            rows.start - count..rows.start
        }
        Direction::Reverse => {
            rows.end -= count;
            rows.end..rows.end + count
        }
    }
}
