//! Binary search among ascending rows.

use std::cmp::Ordering;
use std::ops::Range;

/// The one of ascending rows that compares as equal, or the first one that is not below.
#[inline]
pub(crate) fn search_by(rows: Range<usize>, compare: impl Fn(usize) -> Ordering) -> Result<usize, usize> {
    let Range { start: mut low, end: mut high } = rows;
    while low < high {
        let middle = low.midpoint(high);
        match compare(middle) {
            Ordering::Less => low = middle + 1,
            Ordering::Equal => return Ok(middle),
            Ordering::Greater => high = middle,
        }
    }
    Err(low)
}
