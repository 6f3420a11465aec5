//! Rows of a block in the direction of the scan.

use std::ops::Range;

use saltwing_store::Direction;

/// One of some rows: forward counted from their start, in reverse from their end. There are more than `i`.
#[inline]
pub(crate) fn nth(rows: &Range<usize>, direction: Direction, i: usize) -> usize {
    if direction == Direction::Forward { rows.start + i } else { rows.end - 1 - i }
}

/// Rows of a block in the direction of the scan.
#[derive(Clone)]
pub(crate) enum RowSelection<'a> {
    /// All from one to another.
    Run(Range<usize>, Direction),
    /// Some, which stand in that direction already.
    List(&'a [u32]),
}

impl RowSelection<'_> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Run(rows, _) => rows.len(),
            Self::List(list) => list.len(),
        }
    }

    /// The row at index `i`, which must be below the count.
    #[inline]
    pub(crate) fn nth(&self, i: usize) -> usize {
        match self {
            Self::Run(rows, direction) => nth(rows, *direction, i),
            Self::List(list) => list.get(i).map_or(0, |row| *row as usize),
        }
    }

    /// The range in the block from the first of them to the last.
    pub(crate) fn cover(&self) -> Range<usize> {
        match self {
            Self::Run(rows, _) => rows.clone(),
            Self::List(_) if self.len() == 0 => 0..0,
            Self::List(_) => {
                let (a, b) = (self.nth(0), self.nth(self.len() - 1));
                a.min(b)..a.max(b) + 1
            }
        }
    }

    /// Takes the first `count` off; there are as many at least.
    pub(crate) fn take_first(&mut self, count: usize) -> Self {
        match self {
            Self::Run(rows, direction) => Self::Run(take_first(rows, *direction, count), *direction),
            Self::List(list) => {
                let (first, rest) = list.split_at_checked(count).unwrap_or((list, &[]));
                *list = rest;
                Self::List(first)
            }
        }
    }
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
