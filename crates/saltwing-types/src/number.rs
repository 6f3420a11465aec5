//! Values brought to a type: on writing, in casts, from text, and where a literal meets a column.

use crate::error::shorten;
use crate::sql_type::TypeFamily;
use crate::value::Timestamp;
use crate::{Decimal, Interval, SqlType, Value, ValueError, array_text, datetime, json, text};

/// Brings a value to a column's type for storing it.
///
/// Numbers must be in range and, for integers, whole; DECIMAL(p,s) drops digits
/// beyond s, as Phoenix does; text is parsed where the type is no text; -0.0 becomes 0.0. Of an array each element is brought
/// to the element type.
///
/// # Errors
/// [`ValueError`] by kind: out of range, too long, unreadable text, types that do not meet.
pub fn assign(value: Value, ty: SqlType) -> Result<Value, ValueError> {
    let out_of_range = |value: &Value| ValueError::OutOfRange { value: shown(value), target: ty.to_string() };
    let mismatch =
        |value: &Value| Err(ValueError::TypeMismatch(format!("{} is no {ty}", text::literal(value, SqlType::Null))));
    let is_in_range = |n: &i64| ty.integer_range().is_some_and(|(low, high)| (low..=high).contains(n));
    match (value, ty) {
        (Value::Null, _) => Ok(Value::Null),
        (Value::Int(n), _) if is_in_range(&n) => Ok(Value::Int(n)),
        (value, SqlType::Null) => Ok(value),
        (value @ Value::Bool(_), SqlType::Boolean) => Ok(value),
        (Value::Text(text), SqlType::Char(_) | SqlType::Varchar(_)) => fit_text(text, ty),
        (Value::Text(text), SqlType::Json) => json::check(&text).map(|()| Value::Text(text)),
        (Value::Text(text), _) => parse(&text, ty),
        (Value::Bytes(bytes), SqlType::Binary(_) | SqlType::Varbinary | SqlType::VarbinaryEncoded) => {
            fit_bytes(bytes, ty)
        }
        (Value::Bytes(bytes), SqlType::Uuid) if bytes.len() == 16 => Ok(Value::Bytes(bytes)),
        (value @ Value::Interval(_), SqlType::Interval) => Ok(value),
        (Value::Array(elements), SqlType::Array(element, _)) => {
            let assign =
                |(index, value)| assign(value, element.sql_type()).map_err(|error: ValueError| error.in_element(index));
            elements.into_iter().enumerate().map(assign).collect::<Result<_, _>>().map(Value::Array)
        }
        (value @ (Value::Date(_) | Value::Timestamp(_)), ty) => match (text::instant(&value), ty) {
            (Some(at), _) if ty.is_unsigned() && at.ms < 0 => Err(out_of_range(&value)),
            (Some(at), _) if !datetime::has_text(at.ms) => {
                Err(ValueError::DatetimeOverflow { value: format!("{} ms since 1970", at.ms), target: ty.to_string() })
            }
            (Some(at), SqlType::Timestamp | SqlType::UnsignedTimestamp) => Ok(Value::Timestamp(at)),
            (Some(at), SqlType::Date | SqlType::Time | SqlType::UnsignedDate | SqlType::UnsignedTime) => {
                Ok(Value::Date(at.ms))
            }
            _ => mismatch(&value),
        },
        (value @ (Value::Int(_) | Value::Float(_) | Value::Double(_) | Value::Decimal(_)), ty) => {
            match to_number(&value, ty) {
                None => mismatch(&value),
                Some(Err(())) => Err(out_of_range(&value)),
                Some(Ok(Value::Decimal(decimal))) => match ty {
                    SqlType::Decimal(Some((precision, scale))) => decimal.fit(precision, scale).map(Value::Decimal),
                    _ => Ok(Value::Decimal(decimal)),
                },
                Some(Ok(number)) => Ok(number),
            }
        }
        (value, _) => mismatch(&value),
    }
}

/// As [`assign`], of a value of type `from`: a number, a boolean, an instant or an interval goes into a column of text as CAST writes it.
///
/// # Errors
/// As [`assign`].
#[inline]
pub fn assign_from(value: Value, from: SqlType, ty: SqlType) -> Result<Value, ValueError> {
    let has_text = !matches!(value, Value::Null | Value::Text(_) | Value::Bytes(_) | Value::Array(_));
    match ty {
        SqlType::Char(_) | SqlType::Varchar(_) if has_text => cast(value, from, ty),
        _ => assign(value, ty),
    }
}

/// `CAST(value AS ty)`, where `from` is the value's type.
///
/// A decimal or float becomes an integer rounded half away from zero;
/// DECIMAL(p,s) drops digits beyond s; an instant meets an integer as
/// milliseconds since 1970; VARCHAR(n) and CHAR(n) refuse what is too long.
///
/// # Errors
/// As [`assign`].
pub fn cast(value: Value, from: SqlType, ty: SqlType) -> Result<Value, ValueError> {
    match (value, ty.family()) {
        (Value::Null, _) => Ok(Value::Null),
        (Value::Text(text), _) => assign(Value::Text(text), ty),
        (Value::Array(elements), TypeFamily::Array) => {
            let [from, ty] = [from, ty].map(|ty| ty.element().unwrap_or(SqlType::Null));
            let cast = |(index, value)| cast(value, from, ty).map_err(|error| error.in_element(index));
            elements.into_iter().enumerate().map(cast).collect::<Result<_, _>>().map(Value::Array)
        }
        (value, TypeFamily::Text) => {
            let text = text::format(&value, from).map_or(Value::Null, Value::Text);
            assign(text, ty)
        }
        (Value::Bool(b), TypeFamily::Number) => assign(Value::Int(b.into()), ty),
        (Value::Int(i), TypeFamily::Boolean) => Ok(Value::Bool(i != 0)),
        (value @ (Value::Date(_) | Value::Timestamp(_)), TypeFamily::Number) => {
            let ms = text::instant(&value).map_or(Value::Null, |at| Value::Int(at.ms));
            assign(ms, ty)
        }
        (Value::Int(ms), TypeFamily::Instant) => assign(Value::Date(ms), ty),
        (Value::Decimal(d), _) if ty.is_integer() => assign(Value::Decimal(d.round(0)?), ty),
        (Value::Float(f), _) if ty.is_integer() => assign(Value::Double(f64::from(f).round()), ty),
        (Value::Double(d), _) if ty.is_integer() => assign(Value::Double(d.round()), ty),
        (value, _) => assign(value, ty),
    }
}

/// Reads text as a value of `ty`: what [`text::format`] writes, ISO 8601, and PostgreSQL's form of arrays.
///
/// Limits of the type (length, range) are checked.
///
/// # Errors
/// [`ValueError::BadText`] or [`ValueError::BadDatetime`] when the text is no such value;
/// [`ValueError::OutOfRange`] or [`ValueError::TooLong`] when it is beyond the type.
pub fn parse(text: &str, ty: SqlType) -> Result<Value, ValueError> {
    let bad = || ValueError::BadText { text: shorten(text), target: ty.to_string() };
    let value = match ty {
        SqlType::Null => Value::text(text),
        SqlType::Boolean => match text.trim().to_ascii_lowercase().as_str() {
            "true" | "t" | "1" | "yes" | "on" => Value::Bool(true),
            "false" | "f" | "0" | "no" | "off" => Value::Bool(false),
            _ => return Err(bad()),
        },
        SqlType::Date | SqlType::UnsignedDate | SqlType::Time | SqlType::UnsignedTime => {
            Value::Date(parse_instant(text, ty)?.ms)
        }
        SqlType::Timestamp | SqlType::UnsignedTimestamp => Value::Timestamp(parse_instant(text, ty)?),
        SqlType::Char(_) | SqlType::Varchar(_) | SqlType::Json => Value::text(text),
        SqlType::Binary(_) | SqlType::Varbinary | SqlType::VarbinaryEncoded => {
            // Clients of PostgreSQL write `\x` before the digits.
            let digits = text.trim();
            Value::Bytes(text::unhex(digits.strip_prefix("\\x").unwrap_or(digits)).ok_or_else(bad)?)
        }
        SqlType::Uuid => Value::Bytes(parse_uuid(text).ok_or_else(bad)?),
        SqlType::Interval => Value::Interval(Interval::parse(text)?),
        SqlType::Array(element, _) => return array_text::parse(text, ty, |text| parse(text, element.sql_type())),
        _ => match parse_number(text.trim(), ty).ok_or_else(bad)? {
            // Digits, not the word, that became an infinity.
            number if to_f64(&number).is_infinite() && !text.contains(['n', 'N']) => {
                return Err(ValueError::OutOfRange { value: shorten(text), target: ty.to_string() });
            }
            number => number,
        },
    };
    assign(value, ty)
}

/// The instant that a text is for a type of instants, with all of its digits: for TIME a time of day is one of 1970-01-01.
///
/// # Errors
/// [`ValueError::BadDatetime`], [`ValueError::BadTime`] or [`ValueError::NoSuchInstant`] when the text is none.
fn parse_instant(text: &str, ty: SqlType) -> Result<Timestamp, ValueError> {
    let is_time = matches!(ty, SqlType::Time | SqlType::UnsignedTime);
    let clock = || if is_time { datetime::parse_clock(text) } else { None };
    datetime::parse(text).or_else(clock).ok_or_else(|| {
        let (text, target) = (shorten(text), ty.to_string());
        match (datetime::missing_part(&text, is_time), datetime::ambiguity(&text)) {
            (Some(part), _) => ValueError::NoSuchInstant { text, target, part },
            (None, Some(why)) => ValueError::AmbiguousDate { text, target, why },
            _ if is_time => ValueError::BadTime { text },
            _ => ValueError::BadDatetime { text, target },
        }
    })
}

fn parse_number(text: &str, ty: SqlType) -> Option<Value> {
    if ty.is_integer()
        && let Ok(value) = text.parse::<i64>()
    {
        return Some(Value::Int(value));
    }
    if ty.is_float() {
        let word = text.trim_start_matches(['-', '+']).to_ascii_lowercase();
        let named = matches!(word.as_str(), "nan" | "inf" | "infinity");
        if !named && !text.bytes().all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b)) {
            return None;
        }
        return match ty.is_single_float() {
            true => text.parse().ok().map(Value::Float),
            false => text.parse().ok().map(Value::Double),
        };
    }
    text.parse::<Decimal>().ok().map(Value::Decimal)
}

/// A UUID from its text; as in PostgreSQL in either case, in braces or not, with hyphens after any group of four digits or none.
fn parse_uuid(text: &str) -> Option<Vec<u8>> {
    let text = text.trim();
    let text = text.strip_prefix('{').map_or(Some(text), |inside| inside.strip_suffix('}'))?;
    let mut digits = String::with_capacity(32);
    for group in text.split('-') {
        if group.is_empty() || !group.len().is_multiple_of(4) {
            return None;
        }
        digits.push_str(group);
    }
    text::unhex(&digits).filter(|bytes| bytes.len() == 16)
}

/// A number in another numeric type: `None` when `ty` is not numeric, `Err`
/// when the value is out of its range or, for an integer type, not whole.
fn to_number(value: &Value, ty: SqlType) -> Option<Result<Value, ()>> {
    if let Some((low, high)) = ty.integer_range() {
        let whole = match value {
            Value::Int(i) => Some(*i),
            Value::Decimal(d) if d.is_integer() => d.to_i64(),
            Value::Float(f) => whole_float((*f).into()),
            Value::Double(d) => whole_float(*d),
            _ => None,
        };
        return Some(whole.filter(|i| (low..=high).contains(i)).map(Value::Int).ok_or(()));
    }
    if ty.is_float() {
        let converted = if ty.is_single_float() { Value::Float(to_f32(value)) } else { Value::Double(to_f64(value)) };
        let given_infinite =
            matches!(value, Value::Float(f) if f.is_infinite()) || matches!(value, Value::Double(d) if d.is_infinite());
        let as_f64 = to_f64(&converted);
        let fits = (as_f64.is_finite() || as_f64.is_nan() || given_infinite) && !(ty.is_unsigned() && as_f64 < 0.0);
        // Adding 0.0 turns -0.0 into 0.0 and leaves the rest.
        return Some(match converted {
            _ if !fits => Err(()),
            Value::Float(f) => Ok(Value::Float(f + 0.0)),
            _ => Ok(Value::Double(as_f64 + 0.0)),
        });
    }
    matches!(ty, SqlType::Decimal(_)).then(|| to_decimal(value).map(Value::Decimal).map_err(|_| ()))
}

fn whole_float(value: f64) -> Option<i64> {
    (value.fract() == 0.0 && (-(2f64.powi(63))..2f64.powi(63)).contains(&value)).then_some(value as i64)
}

/// The nearest double of a number; NaN for anything else.
pub fn to_f64(value: &Value) -> f64 {
    match value {
        Value::Int(i) => *i as f64,
        Value::Float(f) => (*f).into(),
        Value::Double(d) => *d,
        Value::Decimal(d) => d.to_f64(),
        _ => f64::NAN,
    }
}

fn to_f32(value: &Value) -> f32 {
    match value {
        Value::Int(i) => *i as f32,
        Value::Float(f) => *f,
        Value::Double(d) => *d as f32,
        Value::Decimal(d) => d.to_f32(),
        _ => f32::NAN,
    }
}

/// A number as a decimal: floats by their shortest text.
///
/// # Errors
/// [`ValueError::OutOfRange`] for NaN and the infinities; a type mismatch for values that are not numbers.
pub fn to_decimal(value: &Value) -> Result<Decimal, ValueError> {
    match value {
        Value::Int(i) => Ok(Decimal::from(*i)),
        Value::Float(f) => Decimal::from_f32(*f),
        Value::Double(d) => Decimal::from_f64(*d),
        Value::Decimal(d) => Ok(*d),
        other => Err(ValueError::TypeMismatch(format!("{} is not a number", shown(other)))),
    }
}

fn fit_text(text: String, ty: SqlType) -> Result<Value, ValueError> {
    let too_long = |text: &str| ValueError::TooLong { value: format!("'{}'", shorten(text)), target: ty.to_string() };
    match ty {
        SqlType::Varchar(Some(limit)) if text.encode_utf16().count() > limit as usize => Err(too_long(&text)),
        SqlType::Char(limit) => {
            let trimmed = text.trim_end_matches(' ');
            if !trimmed.is_ascii() {
                return Err(ValueError::BadText {
                    text: shorten(trimmed),
                    target: format!("{ty}: it takes single-byte characters only"),
                });
            }
            if trimmed.len() > limit as usize { Err(too_long(trimmed)) } else { Ok(Value::text(trimmed)) }
        }
        _ => Ok(Value::Text(text)),
    }
}

fn fit_bytes(mut bytes: Vec<u8>, ty: SqlType) -> Result<Value, ValueError> {
    if let SqlType::Binary(width) = ty {
        if bytes.len() > width as usize {
            return Err(ValueError::TooLong {
                value: format!("X'{}'", shorten(&text::hex(&bytes))),
                target: ty.to_string(),
            });
        }
        bytes.resize(width as usize, 0);
    }
    Ok(Value::Bytes(bytes))
}

fn shown(value: &Value) -> String {
    shorten(&text::literal(value, SqlType::Null))
}

/// Converts a literal to the type of the other operand, if that changes no comparison.
///
/// Text is parsed as the type; a number becomes the type's own if it is one of
/// its values (a FLOAT column meets 0.1 as the float nearest to it, as it was
/// stored); otherwise it stays, to be compared exactly: a whole number that no
/// FLOAT is, too.
///
/// # Errors
/// As [`parse`] for text that is no value of the type; a type mismatch for another family.
pub fn meet(value: Value, value_ty: SqlType, ty: SqlType) -> Result<(Value, SqlType), ValueError> {
    match (&value, ty) {
        (Value::Null, _) => Ok((value, ty)),
        (Value::Text(text), SqlType::Char(_) | SqlType::Varchar(_)) => {
            let text = if matches!(ty, SqlType::Char(_)) { text.trim_end_matches(' ') } else { text };
            Ok((Value::text(text), ty))
        }
        (Value::Text(text), _) => match parse_loosely(text, ty)? {
            (value, true) => Ok((value, ty)),
            (value, false) => Ok((value, SqlType::Null)),
        },
        (Value::Array(elements), SqlType::Array(element, _)) => {
            meet_elements(elements, value_ty, element.sql_type(), ty)
        }
        (Value::Bytes(bytes), SqlType::Binary(width)) if bytes.len() < width as usize => {
            Ok((fit_bytes(bytes.clone(), ty)?, ty))
        }
        (Value::Date(ms), SqlType::Timestamp | SqlType::UnsignedTimestamp) => {
            Ok((Value::Timestamp(Timestamp { ms: *ms, nanos: 0 }), ty))
        }
        (Value::Timestamp(at), SqlType::Date | SqlType::Time | SqlType::UnsignedDate | SqlType::UnsignedTime)
            if at.nanos == 0 =>
        {
            Ok((Value::Date(at.ms), ty))
        }
        _ => Ok(meet_number(value, value_ty, ty)),
    }
}

/// The array with its elements converted, if all of them become values of the element type.
fn meet_elements(
    elements: &[Value],
    value_ty: SqlType,
    element: SqlType,
    ty: SqlType,
) -> Result<(Value, SqlType), ValueError> {
    let own = value_ty.element().unwrap_or(SqlType::Null);
    let met: Vec<(Value, SqlType)> =
        elements.iter().map(|value| meet(value.clone(), own, element)).collect::<Result<_, _>>()?;
    if met.iter().any(|(_, met)| *met != element) {
        return Ok((Value::Array(elements.to_vec()), value_ty));
    }
    Ok((Value::Array(met.into_iter().map(|(value, _)| value).collect()), ty))
}

fn meet_number(value: Value, value_ty: SqlType, ty: SqlType) -> (Value, SqlType) {
    match to_number(&value, ty) {
        // A whole number says exactly what it is, while 0.1 stands for the float nearest to it.
        Some(Ok(converted))
            if (ty.is_float() && !matches!(value, Value::Int(_)))
                || converted.compare(&value) == Some(std::cmp::Ordering::Equal) =>
        {
            (converted, ty)
        }
        _ => (value, value_ty),
    }
}

/// Text as a value of `ty`, or as the nearest exact thing when it is one of its family but beyond its limits.
fn parse_loosely(text: &str, ty: SqlType) -> Result<(Value, bool), ValueError> {
    let exact = parse(text, ty);
    let decimal = || text.trim().parse::<Decimal>().map(|d| (Value::Decimal(d), false));
    match exact {
        Ok(Value::Decimal(_)) => decimal().map(|(value, _)| (value, true)),
        Ok(Value::Date(_)) => Ok(match parse_instant(text, ty)? {
            at if at.nanos == 0 => (Value::Date(at.ms), true),
            at => (Value::Timestamp(at), false),
        }),
        Ok(value) => Ok((value, true)),
        Err(ValueError::OutOfRange { .. }) if ty.is_integer() || ty.is_float() || matches!(ty, SqlType::Decimal(_)) => {
            decimal()
        }
        Err(ValueError::OutOfRange { .. }) if ty.is_unsigned() => {
            Ok((Value::Timestamp(parse_instant(text, ty)?), false))
        }
        Err(error) => Err(error),
    }
}
