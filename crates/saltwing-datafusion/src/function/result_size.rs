//! Upper bounds for the sizes of function results, known before a result is allocated.
//!
//! Each estimate bounds the bytes of one row's value. A function whose results are never larger than its arguments has
//! none. Functions of our own language have bounds in the registry.

use arrow::array::{Array, AsArray};
use arrow::datatypes::{DataType, Int64Type};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::ColumnarValue;

/// An upper bound of the bytes that a function makes of the arguments in a row.
pub(crate) type RowBytes = fn(&[ColumnarValue], usize) -> u64;

/// Bytes of an element of a list, at least: of an integer.
const ELEMENT_BYTES: u64 = 8;
const DAY_NS: i128 = 86_400_000_000_000;

/// The estimate for a function of DataFusion's, if its results can be larger than its arguments.
pub(crate) fn row_bytes(function: &str) -> Option<RowBytes> {
    Some(match function {
        "regexp_replace" => regexp_replaced,
        "overlay" => |args, row| (0..args.len()).map(|arg| bytes(args, arg, row)).fold(0, u64::saturating_add),
        "array_to_string" => |args, row| {
            let list = bytes(args, 0, row);
            list.saturating_mul(4).saturating_add(list.saturating_mul(bytes(args, 1, row)))
        },
        "array_repeat" => |args, row| bytes(args, 0, row).max(ELEMENT_BYTES).saturating_mul(count(args, 1, row)),
        "array_resize" => |args, row| {
            let element = bytes(args, 2, row).max(ELEMENT_BYTES);
            bytes(args, 0, row).saturating_add(element.saturating_mul(count(args, 1, row)))
        },
        "range" | "generate_series" => series,
        _ => return None,
    })
}

/// Each match becomes the replacement, in which the match may stand several times.
fn regexp_replaced(args: &[ColumnarValue], row: usize) -> u64 {
    let (whole, replacement) = (bytes(args, 0, row), text(args, 2, row).unwrap_or_default());
    let references = replacement.bytes().filter(|b| matches!(b, b'\\' | b'$')).count() as u64;
    let everywhere = text(args, 3, row).is_some_and(|flags| flags.contains('g'));
    let places = if everywhere { whole.saturating_add(1) } else { 1 };
    let inserted = places.saturating_mul(replacement.len() as u64);
    whole.saturating_add(inserted).saturating_add(whole.saturating_mul(references))
}

fn series(args: &[ColumnarValue], row: usize) -> u64 {
    let at = |arg| args.get(arg).and_then(|value| ticks(&scalar(value, row)?));
    let (start, stop) = match args.len() {
        1 => (Some(0), at(0)),
        _ => (at(0), at(1)),
    };
    let step = if args.len() > 2 { at(2) } else { Some(1) };
    let (Some(start), Some(stop), Some(step)) = (start, stop, step) else { return 0 };
    let elements = stop.abs_diff(start) / step.unsigned_abs().max(1) + 1;
    u64::try_from(elements).unwrap_or(u64::MAX).saturating_mul(ELEMENT_BYTES)
}

/// A number, or the nanoseconds of a point in time or of an interval, months taken for as short as they can be.
fn ticks(value: &ScalarValue) -> Option<i128> {
    let ns = |value: i64, unit_ns: i128| i128::from(value) * unit_ns;
    match value {
        ScalarValue::Date32(days) => Some(i128::from((*days)?) * DAY_NS),
        ScalarValue::TimestampSecond(at, _) => Some(ns((*at)?, 1_000_000_000)),
        ScalarValue::TimestampMillisecond(at, _) => Some(ns((*at)?, 1_000_000)),
        ScalarValue::TimestampMicrosecond(at, _) => Some(ns((*at)?, 1000)),
        ScalarValue::TimestampNanosecond(at, _) => Some(ns((*at)?, 1)),
        ScalarValue::IntervalMonthDayNano(interval) => {
            let interval = (*interval)?;
            let days = i128::from(interval.months) * 28 + i128::from(interval.days);
            Some(days * DAY_NS + i128::from(interval.nanoseconds))
        }
        other => match other.cast_to(&DataType::Int64).ok()? {
            ScalarValue::Int64(value) => value.map(i128::from),
            _ => None,
        },
    }
}

fn scalar(value: &ColumnarValue, row: usize) -> Option<ScalarValue> {
    match value {
        ColumnarValue::Scalar(scalar) => Some(scalar.clone()),
        ColumnarValue::Array(array) => ScalarValue::try_from_array(array, row).ok(),
    }
}

/// A text argument; `None` for NULL, a missing argument, and other types.
fn text(args: &[ColumnarValue], arg: usize, row: usize) -> Option<&str> {
    match args.get(arg)? {
        ColumnarValue::Scalar(scalar) => scalar.try_as_str().flatten(),
        ColumnarValue::Array(array) if array.is_null(row) => None,
        ColumnarValue::Array(array) => match array.data_type() {
            DataType::Utf8 => Some(array.as_string::<i32>().value(row)),
            DataType::LargeUtf8 => Some(array.as_string::<i64>().value(row)),
            DataType::Utf8View => Some(array.as_string_view().value(row)),
            _ => None,
        },
    }
}

/// The bytes of an argument's value.
fn bytes(args: &[ColumnarValue], arg: usize, row: usize) -> u64 {
    if let Some(text) = text(args, arg, row) {
        return text.len() as u64;
    }
    match args.get(arg) {
        None => 0,
        Some(ColumnarValue::Scalar(scalar)) => match scalar.is_null() || scalar.try_as_str().is_some() {
            true => 0,
            false => scalar.size() as u64,
        },
        Some(ColumnarValue::Array(array)) if array.is_null(row) => 0,
        Some(ColumnarValue::Array(array)) => match array.data_type().primitive_width() {
            Some(width) => width as u64,
            None => array.slice(row, 1).to_data().get_slice_memory_size().unwrap_or_default() as u64,
        },
    }
}

/// A number of times, 0 for NULL and below.
fn count(args: &[ColumnarValue], arg: usize, row: usize) -> u64 {
    let number = match args.get(arg) {
        Some(ColumnarValue::Scalar(ScalarValue::Int64(number))) => *number,
        Some(ColumnarValue::Array(array)) if array.data_type() == &DataType::Int64 => {
            let numbers = array.as_primitive::<Int64Type>();
            numbers.is_valid(row).then(|| numbers.value(row))
        }
        Some(other) => scalar(other, row).and_then(|value| ticks(&value)).map(|n| i64::try_from(n).unwrap_or(i64::MAX)),
        None => None,
    };
    number.map_or(0, |number| u64::try_from(number).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> ColumnarValue {
        ColumnarValue::Scalar(ScalarValue::from(text))
    }

    fn int(number: i64) -> ColumnarValue {
        ColumnarValue::Scalar(ScalarValue::from(number))
    }

    #[test]
    fn estimates_are_close() {
        let of = |function: &str, args: &[ColumnarValue]| row_bytes(function).map(|estimate| estimate(args, 0));
        let all = [text("xax"), text("x"), text("12"), text("g")];
        assert_eq!(of("regexp_replace", &all), Some(3 + 4 * 2));
        assert_eq!(of("array_repeat", &[int(1), int(1000)]).map(|bytes| bytes >= 8000), Some(true));
        assert_eq!(of("range", &[int(0), int(1000), int(10)]), Some(8 * 101));
        assert_eq!(of("generate_series", &[int(i64::MIN), int(i64::MAX)]), Some(u64::MAX));
        assert_eq!(of("upper", &[text("a")]), None);
    }
}
