//! Floats as PostgreSQL writes them: the fewest digits that read back as the same number, and an exponent only if the number is
//! small or large.
//!
//! Of two texts with the fewest digits that are as near, the one with an even last digit is taken. A text that lies exactly between
//! two numbers reads back as the even one of them, and is taken for it; PostgreSQL writes another digit there: 1e+23 is its
//! 9.999999999999999e+22.
//!
//! # Law
//! The text reads back as the number, bit by bit, NaNs apart.

use std::fmt::{self, LowerExp, Write};
use std::str::FromStr;

use bytes::{BufMut, BytesMut};

use super::digits::push_unsigned;

/// The digits before the point from which on a number of 32 bits has an exponent.
const SINGLE_DIGITS_MAX: i32 = 6;
/// The same for 64 bits.
const DOUBLE_DIGITS_MAX: i32 = 15;
/// The smallest power of ten that is written without an exponent.
const PLAIN_POWER_MIN: i32 = -4;

/// Appends a float of 32 bits.
///
/// # Errors
/// None that a number could cause.
pub(super) fn push_single(out: &mut BytesMut, number: f32) -> fmt::Result {
    match word(number.into()) {
        Some(word) => out.write_str(word),
        None => push_finite(out, number, SINGLE_DIGITS_MAX),
    }
}

/// Appends a float of 64 bits.
///
/// # Errors
/// None that a number could cause.
pub(super) fn push_double(out: &mut BytesMut, number: f64) -> fmt::Result {
    match word(number) {
        Some(word) => out.write_str(word),
        None => push_finite(out, number, DOUBLE_DIGITS_MAX),
    }
}

/// The word for what is no number.
fn word(number: f64) -> Option<&'static str> {
    match number {
        f64::INFINITY => Some("Infinity"),
        f64::NEG_INFINITY => Some("-Infinity"),
        number if number.is_nan() => Some("NaN"),
        _ => None,
    }
}

/// Text of a few bytes on the stack. The longest float has 24: `-2.2250738585072014e-308`.
#[derive(Default)]
struct Short {
    bytes: [u8; 32],
    length: usize,
}

/// The parts of a text such as `-d.ddde-xx`.
struct Parts<'a> {
    is_negative: bool,
    /// The digit before the point.
    first: &'a str,
    /// The digits after the point.
    more: &'a str,
    /// The power of ten.
    power: i32,
}

impl Short {
    fn text(&self) -> Option<&str> {
        std::str::from_utf8(self.bytes.get(..self.length)?).ok()
    }

    /// `None` of another text.
    fn parts(&self) -> Option<Parts<'_>> {
        let (mantissa, power) = self.text()?.split_once('e')?;
        let size = mantissa.strip_prefix('-').unwrap_or(mantissa);
        let (first, more) = size.split_once('.').unwrap_or((size, ""));
        Some(Parts { is_negative: size.len() < mantissa.len(), first, more, power: power.parse().ok()? })
    }
}

impl Write for Short {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.length.checked_add(text.len()).ok_or(fmt::Error)?;
        self.bytes.get_mut(self.length..end).ok_or(fmt::Error)?.copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}

fn push_finite<T: LowerExp + FromStr + PartialEq>(out: &mut BytesMut, number: T, digits_max: i32) -> fmt::Result {
    let mut shortest = Short::default();
    write!(shortest, "{number:e}")?;
    let mut parts = shortest.parts().ok_or(fmt::Error)?;
    // Only numbers with about as many digits as the type has can lie halfway between two texts. Below a power of two numbers
    // are nearer to each other than above it, so the even text may belong to the number before.
    let mut even = Short::default();
    if parts.more.len() + 1 >= digits_max.unsigned_abs() as usize {
        write!(even, "{number:.*e}", parts.more.len())?;
        let read = even.text().and_then(|text| text.parse::<T>().ok());
        if read.is_some_and(|read| read == number) {
            parts = even.parts().ok_or(fmt::Error)?;
        }
    }
    let Parts { is_negative, first, more, power } = parts;
    if is_negative {
        out.put_u8(b'-');
    }
    match power {
        PLAIN_POWER_MIN..0 => {
            out.put_slice(b"0.");
            out.put_bytes(b'0', power.unsigned_abs() as usize - 1);
            out.put_slice(first.as_bytes());
            out.put_slice(more.as_bytes());
        }
        0.. if power < digits_max => {
            let whole = power.unsigned_abs() as usize;
            out.put_slice(first.as_bytes());
            match more.split_at_checked(whole) {
                Some((before, after)) if !after.is_empty() => {
                    out.put_slice(before.as_bytes());
                    out.put_u8(b'.');
                    out.put_slice(after.as_bytes());
                }
                _ => {
                    out.put_slice(more.as_bytes());
                    out.put_bytes(b'0', whole.saturating_sub(more.len()));
                }
            }
        }
        _ => {
            out.put_slice(first.as_bytes());
            if !more.is_empty() {
                out.put_u8(b'.');
                out.put_slice(more.as_bytes());
            }
            out.put_slice(if power < 0 { b"e-" } else { b"e+" });
            push_unsigned(out, power.unsigned_abs().into(), 2);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn double(number: f64) -> String {
        let mut out = BytesMut::new();
        push_double(&mut out, number).unwrap();
        String::from_utf8(out.to_vec()).unwrap()
    }

    fn single(number: f32) -> String {
        let mut out = BytesMut::new();
        push_single(&mut out, number).unwrap();
        String::from_utf8(out.to_vec()).unwrap()
    }

    proptest! {
        #[test]
        fn texts_read_back(bits: u64, number in -1e7f64..1e7, half: u32) {
            for number in [f64::from_bits(bits), number, number.trunc()] {
                let read: f64 = double(number).parse().unwrap();
                prop_assert!(read.to_bits() == number.to_bits() || number.is_nan() && read.is_nan(), "{}", number);
            }
            let number = f32::from_bits(half);
            let read: f32 = single(number).parse().unwrap();
            prop_assert!(read.to_bits() == number.to_bits() || number.is_nan() && read.is_nan(), "{}", number);
        }
    }

    /// The numbers below a power of two are nearer to it than those above.
    #[test]
    fn powers_of_two_read_back() {
        for power in 0..2047u64 {
            for bits in [power << 52, (power << 52) + 1, ((power + 1) << 52) - 1] {
                let number = f64::from_bits(bits);
                assert_eq!(double(number).parse::<f64>().unwrap().to_bits(), bits, "{number:e}");
            }
        }
        for power in 0..255u32 {
            for bits in [power << 23, (power << 23) + 1, ((power + 1) << 23) - 1] {
                let number = f32::from_bits(bits);
                assert_eq!(single(number).parse::<f32>().unwrap().to_bits(), bits, "{number:e}");
            }
        }
    }

    /// What PostgreSQL 15 prints.
    #[test]
    fn texts_of_postgresql() {
        for (number, text) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (0.1, "0.1"),
            (1.0, "1"),
            (-1.5, "-1.5"),
            (100_000.0, "100000"),
            (123_456.789, "123456.789"),
            (999_999_999_999_999.0, "999999999999999"),
            (1e15, "1e+15"),
            (123_456_789_012_345_680.0, "1.2345678901234568e+17"),
            (9_007_199_254_740_992.0, "9.007199254740992e+15"),
            (0.0001, "0.0001"),
            (0.00012345, "0.00012345"),
            (0.00001, "1e-05"),
            (2.5e-7, "2.5e-07"),
            (1e100, "1e+100"),
            (f64::MAX, "1.7976931348623157e+308"),
            (5e-324, "5e-324"),
            // Halfway between two texts.
            (f64::from_bits(0xc309_f94e_73f1_3e1a), "-913873720715203.2"),
            (f64::from_bits(0x42ef_5b70_84e4_f634), "275820721940401.62"),
            (f64::from_bits(0xc2d3_4bdb_61f8_8688), "-84866096423450.12"),
            (f64::from_bits(0x4300_17cb_e100_9fa2), "566220506010612.2"),
            (f64::NAN, "NaN"),
            (-f64::NAN, "NaN"),
            (f64::INFINITY, "Infinity"),
            (f64::NEG_INFINITY, "-Infinity"),
        ] {
            assert_eq!(double(number), text);
        }
        for (number, text) in [
            (0.1, "0.1"),
            (100_000.0, "100000"),
            (999_999.0, "999999"),
            (1e6, "1e+06"),
            (1_234_567.0, "1.234567e+06"),
            (16_777_216.0, "1.6777216e+07"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (f32::MAX, "3.4028235e+38"),
            (1e-45, "1e-45"),
            (-1.5, "-1.5"),
            (f32::NEG_INFINITY, "-Infinity"),
        ] {
            assert_eq!(single(number), text);
        }
    }
    /// PostgreSQL writes another digit here.
    #[test]
    fn a_text_between_two_numbers_is_the_even_one() {
        assert_eq!(double(1e23), "1e+23");
        assert_eq!(double(f64::from_bits(0x4360_c42a_463b_b59a)), "3.775428378687406e+16");
    }
}
