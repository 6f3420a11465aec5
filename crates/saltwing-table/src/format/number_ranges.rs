//! The wanted sort numbers of a condition, and the test of a column's numbers.

/// Most ranges that are looked through one after the other.
const LOOKED_THROUGH_MAX: usize = 8;

/// Ranges of sort numbers, ends included: ascending, and apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NumberRanges<T>(Box<[(T, T)]>);

/// The share of some values that pass a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Share {
    All,
    None,
    Perhaps,
}

impl Share {
    /// That of the opposite.
    pub(crate) fn negated(self) -> Self {
        match self {
            Self::All => Self::None,
            Self::None => Self::All,
            Self::Perhaps => Self::Perhaps,
        }
    }
}

impl<T: Copy + Ord> NumberRanges<T> {
    /// Ranges in any order; those that overlap become one.
    pub(crate) fn new(mut ranges: Vec<(T, T)>) -> Self {
        ranges.retain(|(low, high)| low <= high);
        ranges.sort_unstable();
        ranges.dedup_by(|next, before| {
            let overlap = next.0 <= before.1;
            if overlap {
                before.1 = before.1.max(next.1);
            }
            overlap
        });
        Self(ranges.into())
    }

    /// The ranges.
    pub(crate) fn as_slice(&self) -> &[(T, T)] {
        &self.0
    }

    /// Whether a number is wanted.
    #[inline]
    pub(crate) fn holds(&self, number: T) -> bool {
        match &*self.0 {
            [(low, high)] => *low <= number && number <= *high,
            few if few.len() <= LOOKED_THROUGH_MAX => few.iter().any(|(low, high)| *low <= number && number <= *high),
            many => many.get(many.partition_point(|(_, high)| *high < number)).is_some_and(|(low, _)| *low <= number),
        }
    }

    /// Which of the numbers from `min` to `max` are wanted.
    pub(crate) fn share_of(&self, min: T, max: T) -> Share {
        match self.0.get(self.0.partition_point(|(_, high)| *high < min)) {
            Some((low, high)) if *low <= min && max <= *high => Share::All,
            Some((low, _)) if *low <= max => Share::Perhaps,
            _ => Share::None,
        }
    }
}

impl NumberRanges<u128> {
    /// The same among numbers that all fit 64 bits.
    pub(crate) fn narrow(&self) -> NumberRanges<u64> {
        let narrow =
            |(low, high): &(u128, u128)| Some((u64::try_from(*low).ok()?, u64::try_from(*high).unwrap_or(u64::MAX)));
        NumberRanges(self.0.iter().filter_map(narrow).collect())
    }
}

/// Rows tested together: the bytes of a SIMD vector.
const ROWS_TOGETHER: usize = 16;

/// Keeps of a mask, a byte a row, those whose test is `wanted`: the bytes of the others become 0.
#[inline]
pub(crate) fn keep(mask: &mut [u8], wanted: bool, tests: impl Iterator<Item = bool>) {
    for (kept, test) in mask.iter_mut().zip(tests) {
        *kept &= kept_by(test, wanted);
    }
}

/// As [`keep`], of values in a slice.
///
/// So many rows at once, without branches: the compiler makes vector code of it where the test is simple, which takes
/// whole vectors of bytes at the end, too.
#[inline]
pub(crate) fn keep_each<T: Copy>(mask: &mut [u8], wanted: bool, values: &[T], test: impl Fn(T) -> bool) {
    let (masks, mask) = mask.as_chunks_mut::<ROWS_TOGETHER>();
    let (several, values) = values.as_chunks::<ROWS_TOGETHER>();
    for (mask, values) in masks.iter_mut().zip(several) {
        let tested = values.map(|value| kept_by(test(value), wanted));
        mask.iter_mut().zip(tested).for_each(|(kept, tested)| *kept &= tested);
    }
    for (kept, value) in mask.iter_mut().zip(values) {
        *kept &= kept_by(test(*value), wanted);
    }
}

/// All bits where the test is as wanted, or none.
#[inline]
fn kept_by(test: bool, wanted: bool) -> u8 {
    0u8.wrapping_sub(u8::from(test)) ^ if wanted { 0 } else { u8::MAX }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ranges_hold_what_was_put_in(
            ranges in prop::collection::vec((0u128..60, 0u128..60), 0..14),
            ends in (0u128..60, 0u128..60),
        ) {
            let holds = |number: u128| ranges.iter().any(|(low, high)| (*low..=*high).contains(&number));
            let (wide, (min, max)) = (NumberRanges::new(ranges.clone()), (ends.0.min(ends.1), ends.0.max(ends.1)));
            let narrow = wide.narrow();
            for number in 0..60 {
                prop_assert_eq!(wide.holds(number), holds(number));
                prop_assert_eq!(narrow.holds(number as u64), holds(number));
            }
            prop_assert!(wide.as_slice().windows(2).all(|pair| pair[0].1 < pair[1].0));
            let found = (min..=max).filter(|number| holds(*number)).count() as u128;
            match wide.share_of(min, max) {
                Share::All => prop_assert_eq!(found, max - min + 1),
                Share::None => prop_assert_eq!(found, 0),
                // Neighbours that touch are two ranges: then the answer is not exact.
                Share::Perhaps => prop_assert!(found > 0),
            }
        }
    }

    #[test]
    fn narrow_ranges_lose_what_no_narrow_number_has() {
        let wide = NumberRanges::new(vec![(5, u128::MAX), (1 << 70, 1 << 71)]);
        assert_eq!(wide.narrow().as_slice(), [(5, u64::MAX)]);
        assert_eq!(NumberRanges::new(vec![(1 << 70, 1 << 71)]).narrow().as_slice(), []);
    }
}
