//! Values of columns as text (`docs/contracts.md#text-of-values`).
//!
//! For columns that we make, the text is written directly from the column's own form; for others through [`value_at()`]
//! and [`text::format`], which define the result.

use std::fmt::Write;

use arrow::array::{Array, AsArray};
use arrow::datatypes::*;
use saltwing_types::sql_type::TypeFamily;
use saltwing_types::{SqlType, ValueError, text};

use crate::bare_decimal::{pow10, split};
use crate::{arrow_type, value_at};

const MS_PER_DAY: i64 = 86_400_000;
const NANOS_PER_DAY: i64 = 86_400_000_000_000;
/// Days since 1970 of 0000-01-01 and of 9999-12-31: the years that take four digits.
const FOUR_DIGIT_DAYS: std::ops::RangeInclusive<i64> = -719_528..=2_932_896;
/// Most significant digits of a decimal.
const DIGITS_MAX: u32 = 38;

/// The text of a value; `None` for NULL.
///
/// # Errors
/// As [`value_at()`].
pub fn text_at(array: &dyn Array, row: usize, ty: SqlType) -> Result<Option<String>, ValueError> {
    let mut text = String::new();
    Ok(write_text(array, row, ty, &mut text)?.then_some(text))
}

/// Appends the text of a value to `out`; `false` for NULL, which appends nothing.
///
/// # Errors
/// As [`value_at()`].
pub fn write_text(array: &dyn Array, row: usize, ty: SqlType, out: &mut String) -> Result<bool, ValueError> {
    if row < array.len() {
        if array.is_null(row) {
            return Ok(false);
        }
        if write_native(array, row, ty, out).is_some() {
            return Ok(true);
        }
    }
    let text = text::format(&value_at(array, row, ty)?, ty);
    if let Some(text) = &text {
        out.push_str(text);
    }
    Ok(text.is_some())
}

/// Writes a value that is not NULL; `None`, with nothing written, where there is no direct way.
fn write_native(array: &dyn Array, row: usize, ty: SqlType, out: &mut String) -> Option<()> {
    let data_type = array.data_type();
    if *data_type == DataType::Utf8View && ty.family() == TypeFamily::Text {
        out.push_str(array.as_string_view_opt()?.value(row));
        return Some(());
    }
    if *data_type != arrow_type(ty) {
        return None;
    }
    match data_type {
        DataType::Boolean => out.push_str(if array.as_boolean_opt()?.value(row) { "true" } else { "false" }),
        DataType::Int8 => write_integer(array.as_primitive_opt::<Int8Type>()?.value(row).into(), out),
        DataType::Int16 => write_integer(array.as_primitive_opt::<Int16Type>()?.value(row).into(), out),
        DataType::Int32 => write_integer(array.as_primitive_opt::<Int32Type>()?.value(row).into(), out),
        DataType::Int64 => write_integer(array.as_primitive_opt::<Int64Type>()?.value(row), out),
        DataType::Float32 => {
            let value = array.as_primitive_opt::<Float32Type>()?.value(row);
            write_float(out, value.is_finite(), format_args!("{value:?}"), format_args!("{value:e}"))?;
        }
        DataType::Float64 => {
            let value = array.as_primitive_opt::<Float64Type>()?.value(row);
            write_float(out, value.is_finite(), format_args!("{value:?}"), format_args!("{value:e}"))?;
        }
        DataType::Decimal128(_, scale) => {
            write_decimal(array.as_primitive_opt::<Decimal128Type>()?.value(row), *scale, out)?;
        }
        DataType::Decimal256(_, _) => {
            write_bare_decimal(array.as_primitive_opt::<Decimal256Type>()?.value(row), out)?;
        }
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            write_date(array.as_primitive_opt::<TimestampMillisecondType>()?.value(row), out)?;
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            write_timestamp(array.as_primitive_opt::<TimestampNanosecondType>()?.value(row), out)?;
        }
        DataType::Utf8 => out.push_str(array.as_string_opt::<i32>()?.value(row)),
        DataType::Binary if ty == SqlType::Uuid => {
            out.push_str(&text::format_uuid(array.as_binary_opt::<i32>()?.value(row)))
        }
        DataType::Binary => write_hex(array.as_binary_opt::<i32>()?.value(row), out),
        _ => return None,
    }
    Some(())
}

fn write_integer(value: i64, out: &mut String) {
    // Writing to a String does not fail.
    let _ = write!(out, "{value}");
}

fn write_digits(value: u128, out: &mut String) {
    // 64 bits are written much faster, and most numbers fit them.
    let _ = match u64::try_from(value) {
        Ok(small) => write!(out, "{small}"),
        Err(_) => write!(out, "{value}"),
    };
}

/// The shorter of plain digits and digits with an exponent, as [`text::format_f64`] chooses.
fn write_float(
    out: &mut String,
    is_finite: bool,
    plain: std::fmt::Arguments<'_>,
    exponent: std::fmt::Arguments<'_>,
) -> Option<()> {
    let start = out.len();
    if !is_finite {
        return None;
    }
    let _ = out.write_fmt(plain);
    if out.get(start..).is_some_and(|digits| digits.contains('e')) {
        out.truncate(start);
        let _ = out.write_fmt(exponent);
    }
    Some(())
}

fn write_decimal(unscaled: i128, scale: i8, out: &mut String) -> Option<()> {
    let scale = u32::try_from(scale).ok().filter(|scale| *scale <= DIGITS_MAX)?;
    let digits = unscaled.unsigned_abs();
    let unit = pow10(scale).unsigned_abs();
    if digits >= pow10(DIGITS_MAX).unsigned_abs() {
        return None;
    }
    if unscaled < 0 {
        out.push('-');
    }
    write_digits(digits / unit, out);
    if scale > 0 {
        let _ = write!(out, ".{:0width$}", digits % unit, width = scale as usize);
    }
    Some(())
}

fn write_bare_decimal(unscaled: i256, out: &mut String) -> Option<()> {
    let (whole, fraction) = split(unscaled)?;
    let start = out.len();
    if whole < 0 || fraction < 0 {
        out.push('-');
    }
    write_digits(whole.unsigned_abs(), out);
    if fraction != 0 {
        let _ = write!(out, ".{:0width$}", fraction.unsigned_abs(), width = DIGITS_MAX as usize);
        let trimmed = out.trim_end_matches('0').len();
        out.truncate(trimmed);
        // A column that is not ours may hold more digits than a decimal has: it is rounded.
        let digits = out.get(start..).map_or(0, |text| text.bytes().filter(u8::is_ascii_digit).count());
        if whole != 0 && digits > DIGITS_MAX as usize {
            out.truncate(start);
            return None;
        }
    }
    Some(())
}

fn write_hex(bytes: &[u8], out: &mut String) {
    out.reserve(bytes.len() * 2);
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            out.push(char::from_digit(digit.into(), 16).unwrap_or('0'));
        }
    }
}

/// `yyyy-MM-dd`, and ` HH:mm:ss[.SSS]` when not midnight; `None` for years without four digits.
fn write_date(ms: i64, out: &mut String) -> Option<()> {
    let ms_of_day = ms.rem_euclid(MS_PER_DAY) as u32;
    write_day(ms.div_euclid(MS_PER_DAY), out)?;
    if ms_of_day != 0 {
        write_clock(ms_of_day / 1000, out);
        if !ms_of_day.is_multiple_of(1000) {
            let _ = write!(out, ".{:03}", ms_of_day % 1000);
        }
    }
    Some(())
}

/// `yyyy-MM-dd HH:mm:ss` with 0, 3, 6 or 9 digits.
fn write_timestamp(nanos: i64, out: &mut String) -> Option<()> {
    write_day(nanos.div_euclid(NANOS_PER_DAY), out)?;
    let of_day = nanos.rem_euclid(NANOS_PER_DAY);
    write_clock((of_day / 1_000_000_000) as u32, out);
    let _ = match of_day % 1_000_000_000 {
        0 => Ok(()),
        n if n % 1_000_000 == 0 => write!(out, ".{:03}", n / 1_000_000),
        n if n % 1_000 == 0 => write!(out, ".{:06}", n / 1_000),
        n => write!(out, ".{n:09}"),
    };
    Some(())
}

fn write_two(value: u32, out: &mut String) {
    for digit in [value / 10 % 10, value % 10] {
        out.push(char::from_digit(digit, 10).unwrap_or('0'));
    }
}

fn write_clock(second_of_day: u32, out: &mut String) {
    for (before, part) in [(' ', second_of_day / 3600), (':', second_of_day / 60 % 60), (':', second_of_day % 60)] {
        out.push(before);
        write_two(part, out);
    }
}

/// The day of the proleptic Gregorian calendar.
///
/// Years are counted from March, so that a leap day is a year's last: within an era
/// of 400 years (146,097 days) year and day then follow by division. 2000-03-01,
/// day 11,017, is the first day of an era: year 0, day 0 of it.
fn write_day(day: i64, out: &mut String) -> Option<()> {
    if !FOUR_DIGIT_DAYS.contains(&day) {
        return None;
    }
    let from_march_0000 = day + 719_468;
    let (era, of_era) = (from_march_0000.div_euclid(146_097), from_march_0000.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // March to July have 153 days, and so do the next five months.
    let month_from_march = (5 * of_year + 2) / 153;
    let day_of_month = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = (era * 400 + year_of_era + i64::from(month <= 2)) as u32;
    write_two(year / 100, out);
    write_two(year % 100, out);
    out.push('-');
    write_two(month as u32, out);
    out.push('-');
    write_two(day_of_month as u32, out);
    Some(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::*;
    use proptest::prelude::*;

    use super::*;
    use crate::tests::generators::{any_type, any_value, to_array};

    fn check(array: &dyn Array, ty: SqlType) -> Result<(), TestCaseError> {
        for row in 0..array.len() {
            let expected = text::format(&value_at(array, row, ty).unwrap(), ty);
            let mut out = "before".to_owned();
            prop_assert_eq!(write_text(array, row, ty, &mut out).unwrap(), expected.is_some());
            prop_assert_eq!(out.strip_prefix("before"), Some(expected.as_deref().unwrap_or("")));
            prop_assert_eq!(text_at(array, row, ty).unwrap(), expected);
        }
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 4))]

        /// Law 4.
        #[test]
        fn texts_are_those_of_values((ty, values) in any_type().prop_flat_map(|ty| {
            (Just(ty), prop::collection::vec(any_value(ty), 0..20))
        })) {
            check(&to_array(ty, &values), ty)?;
        }

        #[test]
        fn instants_and_floats_of_any_bits(bits in any::<i64>(), day in -800_000i64..3_000_000, ms in 0..MS_PER_DAY) {
            check(&TimestampMillisecondArray::from(vec![bits, day * MS_PER_DAY, day * MS_PER_DAY + ms]), SqlType::Date)?;
            check(&TimestampNanosecondArray::from(vec![bits]), SqlType::Timestamp)?;
            check(&Float64Array::from(vec![f64::from_bits(bits as u64)]), SqlType::Double)?;
            check(&Float32Array::from(vec![f32::from_bits(bits as u32)]), SqlType::Float)?;
        }

        /// Also for decimals of more digits than we make.
        #[test]
        fn decimals_of_any_digits(low in any::<u128>(), high in -(1i128 << 123)..1i128 << 123, narrow in any::<bool>()) {
            let unscaled = i256::from_parts(low, if narrow { high >> 90 } else { high });
            let array = Decimal256Array::from(vec![unscaled]).with_data_type(arrow_type(SqlType::Decimal(None)));
            check(&array, SqlType::Decimal(None))?;
        }
    }

    #[test]
    fn columns_of_the_engine() {
        let view: ArrayRef = Arc::new(StringViewArray::from(vec![Some("a"), None]));
        assert_eq!(text_at(&view, 0, SqlType::Varchar(None)).unwrap().as_deref(), Some("a"));
        assert_eq!(text_at(&view, 1, SqlType::Varchar(None)).unwrap(), None);
        assert_eq!(text_at(&UInt64Array::from(vec![7]), 0, SqlType::BigInt).unwrap().as_deref(), Some("7"));
        let whole: ArrayRef = Arc::new(Int64Array::from(vec![7]));
        assert_eq!(text_at(&whole, 0, SqlType::Double).unwrap().as_deref(), Some("7.0"));
        assert!(text_at(&whole, 1, SqlType::BigInt).is_err());
    }
}
