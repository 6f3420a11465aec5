//! Some of a run of rows of a block.

use std::ops::Range;

use saltwing_store::Direction;

use crate::scan::condition::Truth;

/// Rows of a mask that are tested together.
const WORD_ROWS: usize = 8;

/// A run of rows of a block with a byte for each, which is a [`Truth`]. Rows whose byte is 0 are excluded.
///
/// Most selections are never written: a block's summary says that all of its rows are in, or none.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    rows: Range<usize>,
    /// Empty as long as all rows are in.
    mask: Vec<u8>,
    /// How many rows are in.
    count: usize,
    scratch: Vec<u8>,
    list: Vec<u32>,
}

impl Selection {
    /// All of some rows.
    pub(crate) fn begin(&mut self, rows: Range<usize>) {
        self.count = rows.len();
        self.rows = rows;
        self.mask.clear();
    }

    /// Of how many rows it is a selection.
    pub(crate) fn len_of_all(&self) -> usize {
        self.rows.len()
    }

    /// How many rows are in.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Takes all rows out.
    pub(crate) fn clear(&mut self) {
        self.count = 0;
    }

    /// The rows of the selection, and a byte for each, which is 0 for an excluded row; empty if all rows are selected.
    pub(crate) fn mask(&self) -> (Range<usize>, &[u8]) {
        (self.rows.clone(), &self.mask)
    }

    /// A condition that is the same for all rows.
    pub(crate) fn keep_all_as(&mut self, truth: Truth) {
        match truth {
            Truth::True => {}
            Truth::False => self.clear(),
            Truth::Unknown => {
                let _ = self.keep_with(|_, mask, _| {
                    mask.iter_mut().for_each(|kept| *kept &= Truth::Unknown as u8);
                    Some(())
                });
            }
        }
    }

    /// Lets a condition write into the bytes of the rows; returns `None` if the condition does, because it cannot
    /// decide. The rows are materialized first.
    pub(crate) fn keep_with(
        &mut self,
        keep: impl FnOnce(Range<usize>, &mut [u8], &mut Vec<u8>) -> Option<()>,
    ) -> Option<()> {
        if self.mask.is_empty() {
            self.mask.resize(self.rows.len(), Truth::True as u8);
        }
        keep(self.rows.clone(), &mut self.mask, &mut self.scratch)?;
        self.count = count_kept(&self.mask);
        Some(())
    }

    /// Calls for each row that is in, in ascending order.
    #[inline]
    pub(crate) fn for_each(&self, mut each: impl FnMut(usize)) {
        if self.count == self.rows.len() {
            return self.rows.clone().for_each(each);
        }
        if self.count == 0 {
            return;
        }
        let (words, rest) = self.mask.as_chunks::<WORD_ROWS>();
        let mut first = self.rows.start;
        for word in words {
            let mut left = u64::from_le_bytes(*word);
            while left != 0 {
                let byte = left.trailing_zeros() / 8;
                each(first + byte as usize);
                left &= !(0xff << (8 * byte));
            }
            first += WORD_ROWS;
        }
        for (i, _) in rest.iter().enumerate().filter(|(_, kept)| **kept != 0) {
            each(first + i);
        }
    }

    /// The rows that are in, in the direction of the scan.
    pub(crate) fn list(&mut self, direction: Direction) -> &[u32] {
        let mut list = std::mem::take(&mut self.list);
        list.clear();
        self.for_each(|row| list.push(row as u32));
        if direction == Direction::Reverse {
            list.reverse();
        }
        self.list = list;
        &self.list
    }

    /// Adds which of the rows that are in are unknown: their places among these, in the direction of the scan, `shift` and more.
    pub(crate) fn unknown(&self, direction: Direction, shift: usize, out: &mut Vec<usize>) {
        if self.is_empty() || !self.mask.contains(&(Truth::Unknown as u8)) {
            return;
        }
        for (place, kept) in self.mask.iter().filter(|kept| **kept != 0).enumerate() {
            if *kept == Truth::Unknown as u8 {
                let from_start = if direction == Direction::Forward { place } else { self.count - 1 - place };
                out.push(shift + from_start);
            }
        }
    }
}

/// How many bytes of a mask are not 0: of the truths that are in the second bit is set.
fn count_kept(mask: &[u8]) -> usize {
    let (words, rest) = mask.as_chunks::<WORD_ROWS>();
    let mut count: usize = rest.iter().map(|kept| usize::from(kept >> 1)).sum();
    // As many words as a byte can count.
    for words in words.chunks(u8::MAX.into()) {
        let by_byte =
            words.iter().fold(0, |sum, word| sum + (u64::from_le_bytes(*word) >> 1 & u64::from_le_bytes([1; 8])));
        count += by_byte.to_le_bytes().iter().map(|count| usize::from(*count)).sum::<usize>();
    }
    count
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn rows_that_are_in_are_counted(truths in prop::collection::vec(prop::sample::select(vec![0u8, 2, 3]), 0..40), times in 0usize..300) {
            let mask = truths.repeat(times);
            prop_assert_eq!(count_kept(&mask), mask.iter().filter(|truth| **truth != 0).count());
        }

        #[test]
        fn rows_that_are_in_come_in_order(
            start in 0usize..300,
            truths in prop::collection::vec(prop::sample::select(vec![0u8, 2, 3]), 1..40),
            reverse: bool,
        ) {
            let rows = start..start + truths.len();
            let mut selection = Selection::default();
            selection.begin(0..3);
            selection.clear();
            selection.begin(rows.clone());
            prop_assert_eq!(selection.list(Direction::Forward).len(), truths.len());
            let written = selection.keep_with(|of, mask, _| {
                mask.iter_mut().zip(&truths).for_each(|(kept, truth)| *kept &= truth);
                (of == rows).then_some(())
            });
            prop_assert!(written.is_some());
            let direction = if reverse { Direction::Reverse } else { Direction::Forward };
            let mut kept: Vec<(usize, u8)> = rows.zip(truths).filter(|(_, truth)| *truth != 0).collect();
            if reverse {
                kept.reverse();
            }
            prop_assert_eq!(selection.len(), kept.len());
            prop_assert_eq!(selection.list(direction), kept.iter().map(|(row, _)| *row as u32).collect::<Vec<_>>());
            let mut unknown = Vec::new();
            selection.unknown(direction, 7, &mut unknown);
            unknown.sort_unstable();
            let places = kept.iter().enumerate().filter(|(_, (_, truth))| *truth == 2).map(|(place, _)| place + 7);
            prop_assert_eq!(unknown, places.collect::<Vec<_>>());
        }
    }
}
