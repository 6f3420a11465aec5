//! Ascending keys among the rows of a block, one after the other.

use std::cmp::Ordering;
use std::ops::Range;

use crate::format::fix_part::FixPart;
use crate::format::search::search_by;

/// Rows of a block that are passed over in the order of their keys.
///
/// Each key is looked for from where the one before was found, in steps that double: mostly it is near.
pub(crate) struct Seeker<'p> {
    part: &'p FixPart,
    rows: Range<usize>,
    numbers: Option<NumericSuffix>,
}

/// How suffixes of one length are read as numbers, whose order is theirs.
#[derive(Clone, Copy)]
struct NumericSuffix {
    /// Where the bytes of row 0's begin that end with its suffix.
    at: usize,
    stride: usize,
    mask: u128,
}

impl FixPart {
    /// A seeker among some of the rows.
    pub(crate) fn seeker(&self, rows: Range<usize>) -> Seeker<'_> {
        let numbers = self.suffix_stride().and_then(|(at, stride)| {
            let at = (at + stride).checked_sub(size_of::<u128>())?;
            let bits = u32::try_from(8 * stride).ok().filter(|bits| *bits <= u128::BITS)?;
            Some(NumericSuffix { at, stride, mask: u128::MAX.checked_shr(u128::BITS - bits).unwrap_or(0) })
        });
        Seeker { part: self, rows, numbers }
    }
}

impl Seeker<'_> {
    /// The rows that were not passed over.
    pub(crate) fn rest(&self) -> Range<usize> {
        self.rows.clone()
    }

    /// Passes over the rows below a key, which it gives, and over the one that has it.
    ///
    /// # Law
    /// They end where [`FixPart::search_in`] finds the key, or where it would be, among those not passed over before.
    pub(crate) fn pass(&mut self, key: &[u8]) -> Range<usize> {
        let start = self.rows.start;
        let (below, is_there) = match self.seek(key) {
            Ok(row) => (row, true),
            Err(row) => (row, false),
        };
        self.rows.start = below + usize::from(is_there);
        start..below
    }

    fn seek(&self, key: &[u8]) -> Result<usize, usize> {
        let suffix = self.part.suffix_of(key, &self.rows)?;
        let bytes = self.part.bytes();
        match self.numbers {
            Some(NumericSuffix { at, stride, mask }) if suffix.len() == stride => {
                // Of a key as long as a number its last bytes are at hand as one.
                let wanted = match key.last_chunk() {
                    Some(last) => u128::from_be_bytes(*last) & mask,
                    None => suffix.iter().fold(0, |number, byte| number << 8 | u128::from(*byte)),
                };
                self.find(|row| {
                    let stored = bytes.get(at + row * stride..).and_then(<[u8]>::first_chunk);
                    debug_assert!(stored.is_some(), "the part ends before the key of row {row}");
                    (stored.map_or(0, |stored| u128::from_be_bytes(*stored)) & mask).cmp(&wanted)
                })
            }
            _ => self.find(|row| self.part.key(row).1.cmp(suffix)),
        }
    }

    /// The row that compares as equal, or the first one that is not below.
    #[inline]
    fn find(&self, compare: impl Fn(usize) -> Ordering) -> Result<usize, usize> {
        let (mut low, mut high, mut step) = (self.rows.start, self.rows.end, 1);
        while low + step <= high {
            let row = low + step - 1;
            match compare(row) {
                Ordering::Less => low = row + 1,
                Ordering::Equal => return Ok(row),
                Ordering::Greater => {
                    high = row;
                    break;
                }
            }
            step *= 2;
        }
        search_by(low..high, compare)
    }
}
