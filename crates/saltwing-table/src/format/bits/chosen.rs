//! Filters rows by their stored integers, and reads integers of selected rows.

use std::ops::Range;

use crate::format::bits::{Difference, Ints, Width};
use crate::format::number_ranges::{NumberRanges, keep, keep_each};

impl Ints {
    /// The sum of the integers of those among `rows` whose byte of `mask` is not 0; `count` of them are.
    pub(crate) fn sum_kept(&self, part: &[u8], rows: Range<usize>, mask: &[u8], count: usize) -> i128 {
        let stored = self.stored(part, &rows);
        if let Width::Eight = self.width {
            let kept = stored.as_chunks::<8>().0.iter().zip(mask).filter(|(_, kept)| **kept != 0);
            return kept.map(|(d, _)| i128::from(d.above(self.base))).sum();
        }
        let differences: u64 = by_width!(self.width, stored,
            all => all.iter().zip(mask).map(|(d, kept)| if *kept == 0 { 0 } else { d.number() }).sum(),
            zero => 0
        );
        i128::from(self.base) * count as i128 + i128::from(differences)
    }

    /// Filters a mask with a byte for each of `rows`: sets the byte to 0 unless `expected` holds for the integer's sort
    /// number.
    pub(crate) fn keep(
        &self,
        part: &[u8],
        rows: Range<usize>,
        wanted: &NumberRanges<u64>,
        expected: bool,
        mask: &mut [u8],
    ) {
        let stored = self.stored(part, &rows);
        let number = |value: i64| value as u64 ^ 1 << 63;
        let [(low, high)] = *wanted.as_slice() else {
            return self.each(stored, rows.len(), |value| wanted.holds(number(value)), expected, mask);
        };
        // The wanted differences are a range too, so stored values are compared directly.
        if let Width::Eight = self.width {
            let (from, most) = (number(self.base).wrapping_sub(low), high - low);
            let test = |d| u64::from_le_bytes(d).wrapping_add(from) <= most;
            return keep_each(mask, expected, stored.as_chunks().0, test);
        }
        let most = (1 << (8 * self.width.bytes())) - 1;
        let (low, high) = match (low.saturating_sub(number(self.base)), high.checked_sub(number(self.base))) {
            (low, Some(high)) if low <= most => (low, high.min(most)),
            _ => return keep(mask, expected, rows.map(|_| false)),
        };
        let span = high - low;
        match self.width {
            _ if span == most => keep(mask, expected, rows.map(|_| true)),
            Width::One => keep_each(mask, expected, stored, |d| d.wrapping_sub(low as u8) <= span as u8),
            Width::Two => keep_each(mask, expected, stored.as_chunks().0, |d| {
                u16::from_le_bytes(d).wrapping_sub(low as u16) <= span as u16
            }),
            _ => keep_each(mask, expected, stored.as_chunks().0, |d| {
                u32::from_le_bytes(d).wrapping_sub(low as u32) <= span as u32
            }),
        }
    }

    /// As [`Ints::keep`] by a test of each integer.
    fn each(&self, stored: &[u8], rows: usize, test: impl Fn(i64) -> bool, expected: bool, mask: &mut [u8]) {
        let base = self.base;
        by_width!(self.width, stored,
            all => keep_each(mask, expected, all, |d| test(d.above(base))),
            zero => keep(mask, expected, std::iter::repeat_n(test(base), rows))
        );
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::format::bits::Reader;
    use crate::format::row_order::RowSelection;
    use crate::format::zone::int_number;

    fn value() -> impl Strategy<Value = i64> {
        let near = |base: i64, width: i64| base..base + width;
        prop_oneof![
            any::<i64>(),
            near(-3, 10),
            near(i64::MIN, 300),
            near(i64::MAX - 300, 300),
            near(1_700_000_000_000, 70_000),
            near(-5, 1 << 33),
        ]
    }

    proptest! {
        /// One kind of values a column, mostly: of each width.
        #[test]
        fn chosen_rows_are_those_whose_integers_are_wanted(
            values in prop_oneof![
                prop::collection::vec(value(), 0..40),
                prop::collection::vec(-5i64..250, 0..40),
                prop::collection::vec(i64::MAX - 60_000..i64::MAX, 0..40),
                prop::collection::vec(i64::MIN..i64::MIN + (1 << 31), 0..40),
                prop::collection::vec(Just(7i64), 0..40),
            ],
            picked in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), -1i64..2), 0..12),
            others in prop::collection::vec((value(), value()), 0..2),
            start in any::<prop::sample::Index>(),
        ) {
            let mut part = vec![7];
            Ints::write(&values, &mut part);
            let mut reader = Reader::new(&part);
            reader.u8().unwrap();
            let ints = reader.ints(values.len()).unwrap();
            let start = start.index(values.len() + 1);
            let number = |v: i64| u64::try_from(int_number(v)).unwrap();
            let near = picked.iter().filter(|_| !values.is_empty()).map(|(a, b, beside)| {
                (values[a.index(values.len())].wrapping_add(*beside), values[b.index(values.len())])
            });
            let ranges = near.chain(others).map(|(a, b)| (number(a), number(b)));
            let wanted = NumberRanges::new(ranges.collect());
            for expected in [false, true] {
                let is_kept = |row: &usize| wanted.holds(number(values[*row])) == expected;
                let rows: Vec<usize> = (start..values.len()).filter(is_kept).collect();
                let before = |row: usize| if row % 5 == 3 { 2 } else { 3 };
                let mut mask: Vec<u8> = (start..values.len()).map(before).collect();
                ints.keep(&part, start..values.len(), &wanted, expected, &mut mask);
                let kept: Vec<u8> = (start..values.len()).map(|row| if is_kept(&row) { before(row) } else { 0 }).collect();
                prop_assert_eq!(&mask, &kept);
                let list: Vec<u32> = rows.iter().map(|row| *row as u32).collect();
                let mut out: Vec<i64> = Vec::new();
                ints.append(&part, &RowSelection::List(&list), &mut out, |v| v);
                prop_assert_eq!(&out, &rows.iter().map(|row| values[*row]).collect::<Vec<_>>());
                let sum = out.iter().map(|&v| i128::from(v)).sum::<i128>();
                prop_assert_eq!(ints.sum_kept(&part, start..values.len(), &mask, rows.len()), sum);
            }
        }
    }
}
