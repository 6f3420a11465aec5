//! Exact decimal numbers of up to 38 significant digits at any place.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use crate::error::shorten;
use crate::{SqlType, ValueError};
use ethnum::I256;

/// Most significant digits.
const DIGITS_MAX: u32 = 38;
/// 10^38: digits stay below it.
const DIGITS_END: i128 = 10i128.pow(DIGITS_MAX);
/// Most places that a quotient gets: as many as a bare DECIMAL is put out with.
const PLACES_MAX: i32 = 38;
/// Largest distance of the decimal point from the digits that is kept (either way).
const SCALE_MAX: i32 = 400;

/// `digits` x 10^-`scale`, with no trailing zero in `digits`; zero is 0 x 10^0.
///
/// One number has one form, so `==` is numeric equality: 1.50 is 1.5.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Decimal {
    digits: i128,
    scale: i32,
}

impl Decimal {
    /// Zero.
    pub const ZERO: Self = Self { digits: 0, scale: 0 };

    /// `digits` x 10^-`scale`, rounded half up to 38 significant digits.
    ///
    /// # Errors
    /// [`ValueError::OutOfRange`] when the decimal point is more than 400 places away.
    pub fn new(digits: i128, scale: i32) -> Result<Self, ValueError> {
        Self::from_wide(I256::from(digits), scale)
    }

    /// The digits without trailing zeros, sign included.
    pub fn digits(self) -> i128 {
        self.digits
    }

    /// Places after the decimal point; negative for whole multiples of ten.
    pub fn scale(self) -> i32 {
        self.scale
    }

    /// Number of significant digits; 0 for zero.
    pub fn precision(self) -> u32 {
        digit_count(self.digits.unsigned_abs())
    }

    /// Digits before the decimal point; 0 when |self| < 1, also negative for 0.001 and the like.
    pub fn integer_digits(self) -> i32 {
        if self.digits == 0 { 0 } else { self.precision() as i32 - self.scale }
    }

    /// Whether this is a whole number.
    pub fn is_integer(self) -> bool {
        self.scale <= 0
    }

    /// Whether this is below zero.
    pub fn is_negative(self) -> bool {
        self.digits < 0
    }

    /// The unscaled value at `scale`: 1.5 at 2 is 150. `None` when it takes more
    /// than 38 digits, or when digits would be lost.
    pub fn unscaled_at(self, scale: i32) -> Option<i128> {
        if self.digits == 0 {
            return Some(0);
        }
        let up = u32::try_from(scale.checked_sub(self.scale)?).ok()?;
        if up > DIGITS_MAX {
            return None;
        }
        let unscaled = self.digits.checked_mul(10i128.checked_pow(up)?)?;
        (unscaled.unsigned_abs() < DIGITS_END.unsigned_abs()).then_some(unscaled)
    }

    /// Truncates to `scale` decimal places.
    #[must_use]
    pub fn truncate(self, scale: i32) -> Self {
        if self.scale <= scale {
            return self;
        }
        let down = self.scale.saturating_sub(scale) as u32;
        if down > DIGITS_MAX {
            return Self::ZERO;
        }
        Self { digits: self.digits / pow10(down), scale }.normalized()
    }

    /// The largest multiple of 10^-`scale` that is not above `self`.
    pub fn floor(self, scale: i32) -> Result<Self, ValueError> {
        let cut = self.truncate(scale);
        if cut == self || !self.is_negative() {
            Ok(cut)
        } else {
            cut.checked_sub(Self { digits: 1, scale }.normalized())
        }
    }

    /// The smallest multiple of 10^-`scale` that is not below `self`.
    pub fn ceil(self, scale: i32) -> Result<Self, ValueError> {
        self.negated().floor(scale).map(Self::negated)
    }

    /// Rounds half away from zero to `scale` places.
    pub fn round(self, scale: i32) -> Result<Self, ValueError> {
        let half = Self { digits: 5 * self.digits.signum(), scale: scale + 1 };
        if self.scale <= scale { Ok(self) } else { self.checked_add(half.normalized()).map(|sum| sum.truncate(scale)) }
    }

    /// The value as DECIMAL(`precision`,`scale`): digits beyond the scale are
    /// dropped, as Phoenix does.
    ///
    /// # Errors
    /// [`ValueError::OutOfRange`] when more digits stand before the point than the type has.
    pub fn fit(self, precision: u8, scale: u8) -> Result<Self, ValueError> {
        let cut = self.truncate(scale.into());
        if cut.integer_digits() > i32::from(precision) - i32::from(scale) {
            return Err(ValueError::OutOfRange {
                value: self.to_string(),
                target: SqlType::Decimal(Some((precision, scale))).to_string(),
            });
        }
        Ok(cut)
    }

    /// -self.
    #[must_use]
    pub fn negated(self) -> Self {
        Self { digits: -self.digits, scale: self.scale }
    }

    /// self + other, rounded half up to 38 digits.
    pub fn checked_add(self, other: Self) -> Result<Self, ValueError> {
        if self.digits == 0 {
            return Ok(other);
        }
        if other.digits == 0 {
            return Ok(self);
        }
        // An operand wholly below the other's 38 digits changes no digit of the result.
        let (high, low) = if self.scale < other.scale { (self, other) } else { (other, self) };
        let gap = (low.scale - high.scale) as u32;
        if high.precision() + gap >= 2 * DIGITS_MAX {
            return Ok(high);
        }
        Self::from_wide(I256::from(high.digits) * pow10_wide(gap) + I256::from(low.digits), low.scale)
    }

    /// self - other, rounded half up to 38 digits.
    pub fn checked_sub(self, other: Self) -> Result<Self, ValueError> {
        self.checked_add(other.negated())
    }

    /// self x other, rounded half up to 38 digits.
    pub fn checked_mul(self, other: Self) -> Result<Self, ValueError> {
        Self::from_wide(I256::from(self.digits) * I256::from(other.digits), self.scale + other.scale)
    }

    /// self / other, rounded half up to 38 digits and at most 38 places: 0.01 / 3 has a value that can be put out.
    ///
    /// # Errors
    /// [`ValueError::DivisionByZero`].
    pub fn checked_div(self, other: Self) -> Result<Self, ValueError> {
        if other.digits == 0 {
            return Err(ValueError::DivisionByZero);
        }
        Self::quotient(I256::from(self.digits), self.precision(), self.scale - other.scale, other.digits)
    }

    /// The average of `count` values, one at least, whose digits at this scale have the sum `high` * 2^128 + `low`; rounded as a
    /// quotient is, once.
    ///
    /// # Errors
    /// [`ValueError::DivisionByZero`] of no values; [`ValueError::OutOfRange`] beyond the largest scale.
    pub fn average((high, low): (i128, u128), scale: i32, count: u64) -> Result<Self, ValueError> {
        if count == 0 {
            return Err(ValueError::DivisionByZero);
        }
        // The smallest number has no opposite; its last digit is beyond those that are kept.
        let digits = I256::from_words(high, low as i128).max(I256::MIN + 1);
        let precision = match i128::try_from(digits) {
            Ok(small) => digit_count(small.unsigned_abs()),
            Err(_) => {
                (DIGITS_MAX..2 * DIGITS_MAX).find(|&places| digits.abs() < pow10_wide(places)).unwrap_or(2 * DIGITS_MAX)
            }
        };
        Self::quotient(digits, precision, scale, count.into())
    }

    /// `digits / divisor`, at a scale; the digits are `precision` many.
    fn quotient(digits: I256, precision: u32, scale: i32, divisor: i128) -> Result<Self, ValueError> {
        // Raised to 76 digits, which still fit 256 bits, the quotient has at least 38.
        let raise = (2 * DIGITS_MAX).saturating_sub(precision);
        let mut quotient = digits * pow10_wide(raise) / I256::from(divisor);
        let mut scale = scale + raise as i32;
        // One place more than the result has: digits beyond it do not affect rounding half up.
        if let Ok(down @ 1..) = u32::try_from(scale - PLACES_MAX - 1) {
            quotient = if down > 2 * DIGITS_MAX { I256::ZERO } else { quotient / pow10_wide(down) };
            scale = PLACES_MAX + 1;
        }
        // With more than 38 digits the place goes as they are rounded, once.
        if scale > PLACES_MAX && quotient.abs() < I256::from(DIGITS_END) {
            quotient = (quotient + I256::from(if quotient.is_negative() { -5 } else { 5 })) / 10;
            scale -= 1;
        }
        Self::from_wide(quotient, scale)
    }

    /// The remainder of self / other, with the sign of self.
    ///
    /// # Errors
    /// [`ValueError::DivisionByZero`].
    pub fn checked_rem(self, other: Self) -> Result<Self, ValueError> {
        if other.digits == 0 {
            return Err(ValueError::DivisionByZero);
        }
        // Exactly, on the digits at the finer of both scales: a quotient to 38 digits may be one too many.
        let divisor = I256::from(other.digits);
        let up = self.scale.abs_diff(other.scale);
        if self.scale <= other.scale {
            let raised = (0..up).fold(I256::from(self.digits) % divisor, |rest, _| rest * 10 % divisor);
            return Self::from_wide(raised, other.scale);
        }
        if other.precision() + up > 2 * DIGITS_MAX {
            return Ok(self);
        }
        Self::from_wide(I256::from(self.digits) % (divisor * pow10_wide(up)), self.scale)
    }

    /// The decimal with the fewest digits that reads back as `value`: 0.1 for the double 0.1.
    ///
    /// # Errors
    /// [`ValueError::OutOfRange`] for NaN and the infinities.
    pub fn from_f64(value: f64) -> Result<Self, ValueError> {
        if value.is_finite() { format!("{value:e}").parse() } else { Err(out_of_range(&value.to_string())) }
    }

    /// As [`Decimal::from_f64`], for 32 bits.
    pub fn from_f32(value: f32) -> Result<Self, ValueError> {
        if value.is_finite() { format!("{value:e}").parse() } else { Err(out_of_range(&value.to_string())) }
    }

    /// The nearest double.
    pub fn to_f64(self) -> f64 {
        self.exponent_text().parse().unwrap_or(f64::NAN)
    }

    /// The nearest 32-bit float.
    pub fn to_f32(self) -> f32 {
        self.exponent_text().parse().unwrap_or(f32::NAN)
    }

    /// The whole part, when it fits 64 bits.
    pub fn to_i64(self) -> Option<i64> {
        self.truncate(0).unscaled_at(0)?.try_into().ok()
    }

    /// With exactly `scale` places: 1.5 at 2 is `1.50`. Digits beyond are dropped.
    pub fn to_fixed(self, scale: u8) -> String {
        let text = self.truncate(scale.into()).to_string();
        let places = text.split_once('.').map_or(0, |(_, fraction)| fraction.len());
        let missing = usize::from(scale) - places;
        match (places, missing) {
            (_, 0) => text,
            (0, _) => format!("{text}.{}", "0".repeat(missing)),
            _ => format!("{text}{}", "0".repeat(missing)),
        }
    }

    fn exponent_text(self) -> String {
        format!("{}e{}", self.digits, -self.scale)
    }

    fn normalized(mut self) -> Self {
        if self.digits == 0 {
            return Self::ZERO;
        }
        while self.digits % 10 == 0 {
            self.digits /= 10;
            self.scale -= 1;
        }
        self
    }

    fn from_wide(mut digits: I256, mut scale: i32) -> Result<Self, ValueError> {
        let end = I256::from(DIGITS_END);
        // Truncation down to 39 digits, then one rounding step: rounding twice would be wrong.
        while digits.abs() >= end * 10 {
            digits /= 10;
            scale -= 1;
        }
        if digits.abs() >= end {
            let half = if digits.is_negative() { -5 } else { 5 };
            digits = (digits + I256::from(half)) / 10;
            scale -= 1;
        }
        if digits.abs() >= end {
            digits /= 10;
            scale -= 1;
        }
        let result = Self { digits: digits.as_i128(), scale }.normalized();
        if result.scale.abs() > SCALE_MAX {
            return Err(out_of_range(&result.exponent_text()));
        }
        Ok(result)
    }
}

fn out_of_range(value: &str) -> ValueError {
    ValueError::OutOfRange { value: shorten(value), target: SqlType::Decimal(None).to_string() }
}

fn digit_count(value: u128) -> u32 {
    if value == 0 { 0 } else { value.ilog10() + 1 }
}

fn pow10(exponent: u32) -> i128 {
    10i128.pow(exponent.min(DIGITS_MAX))
}

fn pow10_wide(exponent: u32) -> I256 {
    I256::from(10).pow(exponent.min(2 * DIGITS_MAX))
}

impl From<i64> for Decimal {
    fn from(value: i64) -> Self {
        Self { digits: value.into(), scale: 0 }.normalized()
    }
}

impl FromStr for Decimal {
    type Err = ValueError;

    /// Reads `-12.5`, `.5`, `5.`, `1e10`; digits beyond 38 are rounded half up.
    fn from_str(text: &str) -> Result<Self, ValueError> {
        let bad = || ValueError::BadText { text: shorten(text), target: "DECIMAL".into() };
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().map_err(|_| bad())?),
            None => (text, 0),
        };
        // The least number has no counterpart above 0.
        if exponent.unsigned_abs() > 10 * SCALE_MAX.unsigned_abs() {
            return Err(out_of_range(text));
        }
        let (negative, unsigned) = match mantissa.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, mantissa.strip_prefix('+').unwrap_or(mantissa)),
        };
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        if whole.len() + fraction.len() == 0 || !whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit()) {
            return Err(bad());
        }
        let mut digits = I256::ZERO;
        let mut scale = -exponent;
        let mut kept = 0;
        for (i, digit) in whole.bytes().chain(fraction.bytes()).enumerate() {
            let after_point = i >= whole.len();
            // 60 digits are more than rounding to 38 can see.
            if kept < 60 {
                digits = digits * 10 + I256::from(digit - b'0');
                kept += i32::from(digits != I256::ZERO);
                scale += i32::from(after_point);
            } else if !after_point {
                scale -= 1;
            }
        }
        Self::from_wide(if negative { -digits } else { digits }, scale)
    }
}

impl fmt::Display for Decimal {
    /// Plain notation, no exponent, no trailing zeros after the point.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.digits < 0 { "-" } else { "" };
        let digits = self.digits.unsigned_abs().to_string();
        if self.scale <= 0 {
            let zeros = if self.digits == 0 { 0 } else { self.scale.unsigned_abs() as usize };
            return write!(f, "{sign}{digits}{}", "0".repeat(zeros));
        }
        let scale = self.scale as usize;
        if digits.len() > scale {
            let (whole, fraction) = digits.split_at(digits.len() - scale);
            write!(f, "{sign}{whole}.{fraction}")
        } else {
            write!(f, "{sign}0.{}{digits}", "0".repeat(scale - digits.len()))
        }
    }
}

impl fmt::Debug for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_sign = self.digits.signum().cmp(&other.digits.signum());
        if by_sign.is_ne() || self.digits == 0 {
            return by_sign;
        }
        let by_size = self.integer_digits().cmp(&other.integer_digits()).then_with(|| {
            // The leading digits stand at one place, so raising the shorter one aligns both.
            let raise = |d: &Self| I256::from(d.digits.unsigned_abs()) * pow10_wide(DIGITS_MAX - d.precision());
            raise(self).cmp(&raise(other))
        });
        if self.digits < 0 { by_size.reverse() } else { by_size }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn d(text: &str) -> Decimal {
        text.parse().unwrap()
    }

    #[test]
    fn reads_and_prints() {
        for (text, printed) in [
            ("0", "0"),
            ("-0.0", "0"),
            ("1.50", "1.5"),
            ("1e10", "10000000000"),
            ("1E-3", "0.001"),
            (".5", "0.5"),
            ("5.", "5"),
            ("-12345.678", "-12345.678"),
            ("99999999999999999999999999999999999999", "99999999999999999999999999999999999999"),
            ("999999999999999999999999999999999999995", "1000000000000000000000000000000000000000"),
        ] {
            assert_eq!(d(text).to_string(), printed, "{text}");
        }
        for bad in ["", ".", "-", "1e", "1x", "--1", "1.2.3", "1e99999", "1e2147483647", "1e-2147483648"] {
            assert!(bad.parse::<Decimal>().is_err(), "{bad}");
        }
    }

    /// The sum of the values has more digits than a decimal.
    #[test]
    fn averages_are_rounded_once() {
        let largest = DIGITS_END - 1;
        for (value, count) in [(largest, 1), (largest, 3), (-largest, 7), (largest - 4, 1_000_003), (3, 2)] {
            let sum = I256::from(value) * I256::from(count);
            let (high, low) = sum.into_words();
            let average = Decimal::average((high, low as u128), 2, count as u64).unwrap();
            assert_eq!(average, Decimal::new(value, 2).unwrap(), "{value} {count}");
        }
        let (high, low) = (I256::from(largest) * 10 + I256::from(5)).into_words();
        assert_eq!(Decimal::average((high, low as u128), 0, 10).unwrap(), d("100000000000000000000000000000000000000"));
        let extremes = [
            (i128::MIN, 0, "-57896044618658097711785492504343953927"),
            (i128::MAX, u128::MAX, "57896044618658097711785492504343953927"),
        ];
        for (high, low, digits) in extremes {
            let average = Decimal::average((high, low), 0, 1).unwrap().to_string();
            assert!(average.starts_with(digits) && average.trim_start_matches('-').len() == 77, "{average}");
        }
        assert!(Decimal::average((0, 1), 0, 0).is_err());
    }

    #[test]
    fn orders() {
        let sorted = ["-1e20", "-2", "-1.5", "-0.001", "0", "0.0009", "0.001", "1", "1.5", "2", "10", "1e20"];
        for pair in sorted.windows(2) {
            assert!(d(pair[0]) < d(pair[1]), "{pair:?}");
        }
    }

    #[test]
    fn computes() {
        assert_eq!(d("1.5").checked_add(d("2.75")).unwrap(), d("4.25"));
        assert_eq!(d("1e30").checked_add(d("1e-5")).unwrap(), d("1000000000000000000000000000000.00001"));
        assert_eq!(d("1e60").checked_add(d("-1e-60")).unwrap(), d("1e60"));
        assert_eq!(d("1.5").checked_mul(d("-2")).unwrap(), d("-3"));
        assert_eq!(d("1").checked_div(d("3")).unwrap(), d("0.33333333333333333333333333333333333333"));
        assert_eq!(d("10").checked_div(d("4")).unwrap(), d("2.5"));
        assert_eq!(d("0.01").checked_div(d("3")).unwrap(), d("0.00333333333333333333333333333333333333"));
        assert_eq!(d("-2").checked_div(d("300")).unwrap(), d("-0.00666666666666666666666666666666666667"));
        assert_eq!(d("2").checked_div(d("3")).unwrap(), d("0.66666666666666666666666666666666666667"));
        assert_eq!(d("5").checked_div(d("3e38")).unwrap(), d("2e-38"));
        assert_eq!(d("1").checked_div(d("3e38")).unwrap(), Decimal::ZERO);
        assert_eq!(d("1e-300").checked_div(d("7")).unwrap(), Decimal::ZERO);
        assert_eq!(d("1e50").checked_div(d("3e10")).unwrap(), d("3333333333333333333333333333333333333300"));
        assert_eq!(d("-7").checked_rem(d("2.5")).unwrap(), d("-2"));
        assert_eq!(d("7.5").checked_rem(d("-2")).unwrap(), d("1.5"));
        assert_eq!(d("0").checked_rem(d("3")).unwrap(), Decimal::ZERO);
        assert_eq!(d("99999999999999999999999999999999999997").checked_rem(d("1.5")).unwrap(), d("1"));
        assert_eq!(d("1e37").checked_rem(d("0.03")).unwrap(), d("0.01"));
        assert_eq!(d("1e300").checked_rem(d("7e-100")).unwrap(), d("4e-100"));
        assert_eq!(d("1e-300").checked_rem(d("7e100")).unwrap(), d("1e-300"));
        assert_eq!(d("12.34").checked_rem(d("5e50")).unwrap(), d("12.34"));
        assert_eq!(d("1").checked_rem(d("0")), Err(ValueError::DivisionByZero));
        assert_eq!(d("1").checked_div(d("0")), Err(ValueError::DivisionByZero));
        assert_eq!(d("-1.5").floor(0).unwrap(), d("-2"));
        assert_eq!(d("-1.5").ceil(0).unwrap(), d("-1"));
        assert_eq!(d("2.5").round(0).unwrap(), d("3"));
        assert_eq!(d("-2.45").round(1).unwrap(), d("-2.5"));
        assert_eq!(d("1.999").fit(5, 2).unwrap(), d("1.99"));
        assert!(d("1000").fit(5, 2).is_err());
        assert_eq!(d("1.5").to_fixed(3), "1.500");
        assert_eq!(Decimal::from_f64(0.1).unwrap(), d("0.1"));
    }
}
