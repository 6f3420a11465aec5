//! Parameters in the text format, as PostgreSQL reads them.

use saltwing::{ErrorCode, SqlType, Timestamp, Value, text};

use super::datetime_reading::{Fault, Reading};
use super::error::WireError;
use super::pg_type::BaseType;
use super::{bytea, numeric};

/// The words for truth values, of which beginnings are enough if they are no other word's.
const WORDS: [(&str, bool); 6] =
    [("true", true), ("false", false), ("yes", true), ("no", false), ("on", true), ("off", false)];

/// Reads a text as a value of a type.
///
/// # Errors
/// By kind: [`WireError::BadText`] and [`WireError::BadDatetime`] for a text of another form, [`WireError::OutOfRange`] and
/// [`WireError::DatetimeOverflow`] for a value that the type has not.
pub(super) fn read(text: &str, ty: BaseType) -> Result<Value, WireError> {
    Ok(match ty {
        BaseType::Text | BaseType::Varchar | BaseType::Name | BaseType::Char => Value::text(text),
        // The padding is no part of the value.
        BaseType::Bpchar => Value::text(text.trim_end_matches(' ')),
        BaseType::Bool => Value::Bool(truth(text).ok_or_else(|| WireError::bad_text(ty, text))?),
        BaseType::Int2 => Value::Int(integer(text, ty, i16::MIN.into(), i16::MAX.into())?),
        BaseType::Int4 => Value::Int(integer(text, ty, i32::MIN.into(), i32::MAX.into())?),
        BaseType::Int8 => Value::Int(integer(text, ty, i64::MIN, i64::MAX)?),
        BaseType::Oid => Value::Int(integer(text, ty, 0, u32::MAX.into())?),
        BaseType::Float4 => {
            let number: f32 = float(text, ty)?;
            in_range(text, ty, number.is_infinite(), number == 0.0)?;
            Value::Float(number)
        }
        BaseType::Float8 => {
            let number: f64 = float(text, ty)?;
            in_range(text, ty, number.is_infinite(), number == 0.0)?;
            Value::Double(number)
        }
        BaseType::Numeric => Value::Decimal(numeric::read_text(text)?),
        BaseType::Bytea => Value::Bytes(bytea::read_text(text).ok_or_else(|| WireError::bad_text(ty, text))?),
        BaseType::Date => Value::Date(instant(text, ty, Reading::midnight)?.ms),
        BaseType::Time => Value::Date(instant(text, ty, Reading::time)?.ms),
        BaseType::Timestamp => Value::Timestamp(instant(text, ty, Reading::timestamp)?),
        BaseType::Timestamptz => Value::Timestamp(instant(text, ty, Reading::zoned_timestamp)?),
        BaseType::Uuid | BaseType::Json | BaseType::Jsonb | BaseType::Interval => by_the_library(text, ty)?,
    })
}

/// Reads a text as a value of TIME, which is an instant: of a date and a time, or of a time on 1970-01-01.
///
/// # Errors
/// As [`read`].
pub(super) fn read_time(text: &str) -> Result<Value, WireError> {
    let reading = |reading: Reading| if reading.has_date() { reading.timestamp() } else { reading.time() };
    Ok(Value::Timestamp(instant(text, BaseType::Timestamp, reading)?))
}

fn truth(text: &str) -> Option<bool> {
    let word = text.trim_ascii().to_ascii_lowercase();
    match word.as_str() {
        "1" => Some(true),
        "0" => Some(false),
        // `o` begins two words.
        "" | "o" => None,
        word => WORDS.iter().find(|(whole, _)| whole.starts_with(word)).map(|(_, value)| *value),
    }
}

fn integer(text: &str, ty: BaseType, low: i64, high: i64) -> Result<i64, WireError> {
    let number = text.trim_ascii();
    let digits = number.strip_prefix(['-', '+']).unwrap_or(number);
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return Err(WireError::bad_text(ty, text));
    }
    let parsed = number.parse().ok().filter(|number| (low..=high).contains(number));
    parsed.ok_or_else(|| WireError::out_of_range(ty, text))
}

fn float<T: std::str::FromStr>(text: &str, ty: BaseType) -> Result<T, WireError> {
    text.trim_ascii().parse().map_err(|_| WireError::bad_text(ty, text))
}

/// Refuses digits that became an infinity, or 0 although one of them is not.
fn in_range(text: &str, ty: BaseType, is_infinite: bool, is_zero: bool) -> Result<(), WireError> {
    let is_word = text.contains(['n', 'N']);
    let mantissa = text.split(['e', 'E']).next().unwrap_or(text);
    let was_small = is_zero && mantissa.contains(|digit: char| ('1'..='9').contains(&digit));
    if is_infinite && !is_word || was_small { Err(WireError::out_of_range(ty, text)) } else { Ok(()) }
}

fn instant(
    text: &str,
    ty: BaseType,
    part: impl Fn(Reading) -> Result<Timestamp, Fault>,
) -> Result<Timestamp, WireError> {
    Reading::of(text).and_then(part).map_err(|fault| match fault {
        Fault::Syntax => WireError::bad_datetime(ty, text),
        Fault::Range => WireError::datetime_overflow(ty, text),
    })
}

/// Types whose texts the library reads as PostgreSQL does.
fn by_the_library(text: &str, ty: BaseType) -> Result<Value, WireError> {
    let sql_type = ty.sql_type();
    text::parse(text, sql_type).map_err(|error| match (error.code(), sql_type) {
        (ErrorCode::OutOfRange, SqlType::Interval) => WireError::datetime_overflow(ty, text),
        (_, SqlType::Interval) => WireError::bad_datetime(ty, text),
        _ => WireError::bad_text(ty, text),
    })
}

#[cfg(test)]
mod tests {
    use super::BaseType::*;
    use super::*;

    /// What PostgreSQL 15 reads.
    #[test]
    fn texts_of_postgresql() {
        for (ty, text, expected) in [
            (Bool, "t", Value::Bool(true)),
            (Bool, "tru", Value::Bool(true)),
            (Bool, " yes ", Value::Bool(true)),
            (Bool, "ON", Value::Bool(true)),
            (Bool, "of", Value::Bool(false)),
            (Bool, "n", Value::Bool(false)),
            (Bool, "0", Value::Bool(false)),
            (Int2, " 5 ", Value::Int(5)),
            (Int2, "+5", Value::Int(5)),
            (Int2, "-0", Value::Int(0)),
            (Int4, "-2147483648", Value::Int(i32::MIN.into())),
            (Int8, "9223372036854775807", Value::Int(i64::MAX)),
            (Oid, "4294967295", Value::Int(u32::MAX.into())),
            (Float8, "nan", Value::Double(f64::NAN)),
            (Float8, "-nan", Value::Double(f64::NAN)),
            (Float8, " inf", Value::Double(f64::INFINITY)),
            (Float8, "+infinity", Value::Double(f64::INFINITY)),
            (Float8, "-Infinity", Value::Double(f64::NEG_INFINITY)),
            (Float8, ".5", Value::Double(0.5)),
            (Float8, "5.", Value::Double(5.0)),
            (Float8, "0e-400", Value::Double(0.0)),
            (Float4, "0.1", Value::Float(0.1)),
            (Bytea, "\\x00ff", Value::Bytes(vec![0, 255])),
            (Date, "2024-05-01 12:30", Value::Date(1_714_521_600_000)),
            (Time, "12:30:00.1239", Value::Date(45_000_123)),
            (
                Timestamp,
                "2024-05-01 12:30+02",
                Value::Timestamp(saltwing::Timestamp { ms: 1_714_566_600_000, nanos: 0 }),
            ),
            (
                Timestamptz,
                "2024-05-01 12:30+02",
                Value::Timestamp(saltwing::Timestamp { ms: 1_714_559_400_000, nanos: 0 }),
            ),
            (
                Uuid,
                "{A0EEBC999C0B4EF8BB6D6BB9BD380A11}",
                Value::Bytes(text::unhex("a0eebc999c0b4ef8bb6d6bb9bd380a11").unwrap()),
            ),
            (Json, "{\"a\": 1}", Value::text("{\"a\": 1}")),
            (Interval, "P1DT2H", Value::Interval(saltwing::Interval { months: 0, days: 1, nanos: 7_200_000_000_000 })),
            (Bpchar, "ab  ", Value::text("ab")),
            (Varchar, "ab  ", Value::text("ab  ")),
            (Name, "", Value::text("")),
        ] {
            assert_eq!(read(text, ty).unwrap(), expected, "{ty:?} {text}");
        }
    }

    #[test]
    fn refuses() {
        for (ty, text, state) in [
            (Bool, "o", "22P02"),
            (Bool, "2", "22P02"),
            (Bool, "", "22P02"),
            (Bool, "nope", "22P02"),
            (Int2, "--5", "22P02"),
            (Int2, "5.0", "22P02"),
            (Int2, "1_0", "22P02"),
            (Int2, "", "22P02"),
            (Int2, "+", "22P02"),
            (Int2, "40000", "22003"),
            (Int4, "-2147483649", "22003"),
            (Int8, "9223372036854775808", "22003"),
            (Oid, "4294967296", "22003"),
            (Oid, "-1", "22003"),
            (Float8, "1e400", "22003"),
            (Float8, "-1e400", "22003"),
            (Float8, "1e-400", "22003"),
            (Float4, "1e39", "22003"),
            (Float4, "1e-50", "22003"),
            (Float8, "1e", "22P02"),
            (Float8, "infinit", "22P02"),
            (Float8, "", "22P02"),
            (Numeric, "NaN", "22003"),
            (Bytea, "\\x0", "22P02"),
            (Date, "2024-02-30", "22008"),
            (Date, "12:30", "22007"),
            (Time, "25:00", "22008"),
            (Time, "noon", "22007"),
            (Timestamp, "abc", "22007"),
            (Timestamptz, "infinity", "22008"),
            (Uuid, "x", "22P02"),
            (Json, "{a}", "22P02"),
            (Jsonb, "", "22P02"),
            (Interval, "x", "22007"),
            (Interval, "99999999999 years", "22008"),
        ] {
            assert_eq!(read(text, ty).unwrap_err().sqlstate(), state, "{ty:?} {text}");
        }
    }

    #[test]
    fn a_time_may_have_a_date() {
        let at = |ms| Value::Timestamp(saltwing::Timestamp { ms, nanos: 0 });
        assert_eq!(read_time("12:30").unwrap(), at(45_000_000));
        assert_eq!(read_time("2024-05-01 12:30:00").unwrap(), at(1_714_566_600_000));
        assert_eq!(read_time("2024-05-01").unwrap(), at(1_714_521_600_000));
        assert_eq!(read_time("x").unwrap_err().sqlstate(), "22007");
    }
}
