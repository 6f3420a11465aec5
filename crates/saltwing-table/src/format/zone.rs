//! The zone of a block's column: its smallest and largest value, as numbers in the order of the values, and the sum of
//! integers.
//!
//! # Law
//! Of two values of one column, the smaller one never has the larger number; where numbers are exact, it has the
//! smaller one. Text and bytes have those of their first 16 bytes, which are not exact.

use saltwing_types::value::Timestamp;

/// Bytes of text that count.
const TEXT_BYTES: usize = 16;

/// The zone map entry of one column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Zone {
    /// The column's slot in its family.
    pub(crate) slot: u16,
    /// Smallest and largest value; `None` when all rows are NULL.
    pub(crate) bounds: Option<(u128, u128)>,
    /// Whether a row is NULL.
    pub(crate) has_null: bool,
    /// How many rows are not, and their sum: of integers, where it fits 64 bits.
    pub(crate) sum: Option<(u32, i64)>,
}

/// The smallest and the largest of some numbers; `None` of none.
pub(crate) fn bounds_of(numbers: impl Iterator<Item = u128>) -> Option<(u128, u128)> {
    numbers.fold(None, |bounds: Option<(u128, u128)>, number| {
        Some(bounds.map_or((number, number), |(min, max)| (min.min(number), max.max(number))))
    })
}

/// The number of an integer, a boolean or a DATE.
pub(crate) fn int_number(value: i64) -> u128 {
    u128::from((value as u64) ^ 1 << 63)
}

/// The integer of a number.
pub(crate) fn int_of(number: u128) -> Option<i64> {
    u64::try_from(number).ok().map(|number| (number ^ 1 << 63) as i64)
}

/// The number of a FLOAT or DOUBLE: NaN is one value and the largest, -0.0 is 0.0.
pub(crate) fn float_number(value: f64) -> u128 {
    float_number_narrow(value).into()
}

/// The same in 64 bits; without branches, for loops over columns.
#[inline]
pub(crate) fn float_number_narrow(value: f64) -> u64 {
    // Of -0.0 the sum is 0.0.
    let bits = (value + 0.0).to_bits();
    let turned = ((bits as i64) >> 63) as u64 | 1 << 63;
    if value.is_nan() { u64::MAX } else { bits ^ turned }
}

/// The float of a number.
pub(crate) fn float_of(number: u128) -> Option<f64> {
    let number = u64::try_from(number).ok()?;
    Some(match number {
        u64::MAX => f64::NAN,
        _ => f64::from_bits(if number >> 63 == 1 { number ^ 1 << 63 } else { !number }),
    })
}

/// The number of a TIMESTAMP.
pub(crate) fn timestamp_number(at: Timestamp) -> u128 {
    int_number(at.ms) << 32 | u128::from(at.nanos)
}

/// The TIMESTAMP of a number.
pub(crate) fn timestamp_of(number: u128) -> Option<Timestamp> {
    Some(Timestamp { ms: int_of(number >> 32)?, nanos: number as u32 })
}

/// The number of a DECIMAL(p,s) by its digits at that scale.
pub(crate) fn decimal_number(unscaled: i128) -> u128 {
    (unscaled as u128) ^ 1 << 127
}

/// The digits of a number.
pub(crate) fn decimal_of(number: u128) -> i128 {
    (number ^ 1 << 127) as i128
}

/// The number of text or bytes.
pub(crate) fn text_number(text: &[u8]) -> u128 {
    let mut first = [0; TEXT_BYTES];
    first.iter_mut().zip(text).for_each(|(to, from)| *to = *from);
    u128::from_be_bytes(first)
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use proptest::prelude::*;
    use saltwing_types::Value;

    use super::*;

    fn float() -> impl Strategy<Value = f64> {
        prop_oneof![
            any::<f64>(),
            Just(0.0),
            Just(-0.0),
            Just(f64::NAN),
            Just(-f64::NAN),
            Just(f64::INFINITY),
            Just(f64::NEG_INFINITY),
            Just(f64::MIN_POSITIVE / 2.0),
            (-3i32..3).prop_map(f64::from)
        ]
    }

    fn text() -> impl Strategy<Value = Vec<u8>> {
        let byte = || prop_oneof![Just(0u8), Just(b'a'), Just(255)];
        prop_oneof![prop::collection::vec(byte(), 0..4), prop::collection::vec(byte(), 15..18)]
    }

    fn holds(a: Value, b: Value, numbers: (u128, u128), is_exact: bool) -> Result<(), TestCaseError> {
        let (by_value, by_number) = (a.compare(&b).unwrap(), numbers.0.cmp(&numbers.1));
        prop_assert!(by_value == by_number || !is_exact && by_number == Ordering::Equal, "{:?} {:?}", a, b);
        Ok(())
    }

    proptest! {
        #[test]
        fn numbers_give_their_values_back(int: i64, float in float(), at in (any::<i64>(), 0u32..1_000_000), digits in -10i128.pow(38) + 1..10i128.pow(38)) {
            prop_assert_eq!(int_of(int_number(int)), Some(int));
            let back = float_of(float_number(float)).unwrap();
            prop_assert!(back == float || back.is_nan() && float.is_nan());
            let at = Timestamp { ms: at.0, nanos: at.1 };
            prop_assert_eq!(timestamp_of(timestamp_number(at)), Some(at));
            prop_assert_eq!(decimal_of(decimal_number(digits)), digits);
        }

        #[test]
        fn numbers_sort_as_values_do(
            ints: (i64, i64),
            floats in (float(), float()),
            times in ((any::<i64>(), 0u32..1_000_000), (any::<i64>(), 0u32..1_000_000)),
            decimals in (-10i128.pow(38) + 1..10i128.pow(38), -3i128..3),
            texts in (text(), text()),
        ) {
            let int = |v: i64| (Value::Int(v), int_number(v));
            let double = |v: f64| (Value::Double(v), float_number(v));
            let single = |v: f64| (Value::Float(v as f32), float_number((v as f32).into()));
            let time = |(ms, nanos)| (Value::Timestamp(Timestamp { ms, nanos }), timestamp_number(Timestamp { ms, nanos }));
            let decimal = |v: i128| (Value::Decimal(saltwing_types::Decimal::new(v, 3).unwrap()), decimal_number(v));
            let bytes = |v: Vec<u8>| (Value::Bytes(v.clone()), text_number(&v));
            let near = (times.0, (times.0.0, times.1.1));
            for ((a, x), (b, y), is_exact) in [
                (int(ints.0), int(ints.1), true),
                (double(floats.0), double(floats.1), true),
                (single(floats.0), single(floats.1), true),
                (time(times.0), time(times.1), true),
                (time(near.0), time(near.1), true),
                (decimal(decimals.0), decimal(decimals.1), true),
                (bytes(texts.0.clone()), bytes(texts.1.clone()), false),
            ] {
                holds(a, b, (x, y), is_exact)?;
            }
        }
    }
}
