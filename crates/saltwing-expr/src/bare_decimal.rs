//! Decimals as Arrow's unscaled integers.
//!
//! A bare DECIMAL's column holds digits x 10^38 in 256 bits, so it takes values
//! below 10^38 with at most 38 places; [`Decimal`] itself goes further.

use arrow::datatypes::i256;
use saltwing_types::{Decimal, SqlType, ValueError};

use crate::arrow_type::BARE_DECIMAL_SCALE;

/// Largest power of ten in 128 bits, and most digits of a [`Decimal`].
const DIGITS_MAX: u32 = 38;

pub(crate) fn pow10(exponent: u32) -> i128 {
    10i128.pow(exponent.min(DIGITS_MAX))
}

/// 10^`exponent`, up to 10^76.
pub(crate) fn pow10_wide(exponent: u32) -> i256 {
    let low = exponent.min(DIGITS_MAX);
    i256::from_i128(pow10(low)).wrapping_mul(i256::from_i128(pow10(exponent - low)))
}

/// `decimal` x 10^38; `None` where a bare DECIMAL's column does not take it.
pub(crate) fn to_unscaled(decimal: Decimal) -> Option<i256> {
    let places = i32::from(BARE_DECIMAL_SCALE);
    if decimal.scale() > places || decimal.integer_digits() > places {
        return None;
    }
    // At most 38 digits stand before the point, so the factor is at most 10^75.
    let up = u32::try_from(places - decimal.scale()).ok()?;
    Some(i256::from_i128(decimal.digits()).wrapping_mul(pow10_wide(up)))
}

/// As [`to_unscaled`].
///
/// # Errors
/// [`ValueError::OutOfRange`] where the column does not take it.
pub(crate) fn unscaled(decimal: Decimal) -> Result<i256, ValueError> {
    to_unscaled(decimal).ok_or_else(|| ValueError::OutOfRange {
        value: shorten(decimal),
        target: "output and computing: DECIMAL takes values below 1E38 with at most 38 places there".into(),
    })
}

/// A decimal of hundreds of digits is shown with an exponent.
fn shorten(decimal: Decimal) -> String {
    if decimal.scale().unsigned_abs() <= DIGITS_MAX {
        decimal.to_string()
    } else {
        format!("{}e{}", decimal.digits(), -decimal.scale())
    }
}

/// The parts of `unscaled` above and below 10^38; `None` beyond 76 digits.
pub(crate) fn split(unscaled: i256) -> Option<(i128, i128)> {
    let end = i256::from_i128(pow10(DIGITS_MAX));
    // One division: the remainder comes cheaper by multiplying back.
    let high = unscaled.wrapping_div(end);
    let low = unscaled.wrapping_sub(high.wrapping_mul(end));
    Some((high.to_i128()?, low.to_i128()?))
}

/// `unscaled` x 10^-`scale`, rounded to 38 digits.
///
/// # Errors
/// [`ValueError::OutOfRange`] beyond 76 digits.
pub(crate) fn from_unscaled(unscaled: i256, scale: i8) -> Result<Decimal, ValueError> {
    let scale = i32::from(scale);
    let (high, low) = split(unscaled).ok_or_else(|| ValueError::OutOfRange {
        value: unscaled.to_string(),
        target: SqlType::Decimal(None).to_string(),
    })?;
    let (low_digits, zeros) = strip_zeros(low);
    // Ordinary numbers have few places: both parts together fit 38 digits.
    let digits = high.checked_mul(pow10(DIGITS_MAX - zeros)).and_then(|digits| digits.checked_add(low_digits));
    match digits {
        Some(digits) => Decimal::new(digits, scale - zeros as i32),
        None => Decimal::new(high, scale - DIGITS_MAX as i32)?.checked_add(Decimal::new(low, scale)?),
    }
}

/// A number below 10^38 without its trailing zeros, and how many those were; of zero, all 38.
fn strip_zeros(mut number: i128) -> (i128, u32) {
    if number == 0 {
        return (0, DIGITS_MAX);
    }
    let mut zeros = 0;
    for step in [32, 16, 8, 4, 2, 1] {
        if number % pow10(step) == 0 {
            number /= pow10(step);
            zeros += step;
        }
    }
    (number, zeros)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Values that fit the column come back from it.
        #[test]
        fn unscaled_comes_back(digits in -10i128.pow(38) + 1..10i128.pow(38), scale in -40i32..=42) {
            let decimal = Decimal::new(digits, scale).unwrap();
            match to_unscaled(decimal) {
                Some(unscaled) => prop_assert_eq!(from_unscaled(unscaled, BARE_DECIMAL_SCALE).unwrap(), decimal),
                None => prop_assert!(decimal.scale() > 38 || decimal.integer_digits() > 38),
            }
        }
    }

    #[test]
    fn limits_of_a_bare_column() {
        for (text, fits) in [
            ("99999999999999999999999999999999999999", true),
            ("1e37", true),
            ("1e38", false),
            ("-1e38", false),
            ("1e-38", true),
            ("1e-39", false),
            ("1.5e-38", false),
            ("0", true),
        ] {
            assert_eq!(to_unscaled(text.parse().unwrap()).is_some(), fits, "{text}");
        }
        assert_eq!(unscaled("1e300".parse().unwrap()).unwrap_err().code().as_str(), "out_of_range");
    }
}
