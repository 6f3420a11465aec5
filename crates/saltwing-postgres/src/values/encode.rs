//! Values of rows, as bytes of a DataRow message.
//!
//! This runs for every value of every row, so nothing is allocated for a value, but for decimals, intervals and arrays as text.

use std::fmt::Write;

use bytes::{BufMut, BytesMut};
use saltwing::{Decimal, Interval, SqlType, Timestamp, Value, ValueRef};

use super::error::WireError;
use super::format::Format;
use super::pg_type::{BaseType, PgType};
use super::{array, bytea, datetime, digits, float_text, numeric};

/// The bytes of the length before a value.
const LENGTH_BYTES: usize = size_of::<i32>();
/// The length that NULL has.
const NULL_LENGTH: i32 = -1;

/// Appends a value of a column of type `ty`: the length of its bytes, and the bytes; of NULL the length -1.
///
/// The text format is what `psql` shows. If there is an error, nothing is appended.
///
/// # Errors
/// [`WireError::OutOfRange`] and [`WireError::DatetimeOverflow`] for a computed value beyond the type; [`WireError::TooLong`];
/// [`WireError::WrongType`] for a value of another type than the column's, which is a bug.
#[inline]
pub(crate) fn encode(value: &ValueRef<'_>, ty: SqlType, format: Format, out: &mut BytesMut) -> Result<(), WireError> {
    let content = match value {
        ValueRef::Null => Content::Null,
        ValueRef::Int(number) => Content::Int(*number),
        ValueRef::Text(text) => Content::Text(text),
        ValueRef::Bytes(bytes) => Content::Bytes(bytes),
        ValueRef::Owned(value) => Content::of(value),
    };
    push_value(out, content, ty, format)
}

/// A value, borrowed: the same of a value of a row and of an element of an array.
#[derive(Clone, Copy, Debug)]
pub(super) enum Content<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Float(f32),
    Double(f64),
    Decimal(Decimal),
    /// Of DATE, TIME and TIMESTAMP.
    Instant(Timestamp),
    Interval(Interval),
    Text(&'a str),
    Bytes(&'a [u8]),
    Array(&'a [Value]),
}

impl<'a> Content<'a> {
    /// That of a value.
    pub(super) fn of(value: &'a Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(*value),
            Value::Int(number) => Self::Int(*number),
            Value::Float(number) => Self::Float(*number),
            Value::Double(number) => Self::Double(*number),
            Value::Decimal(number) => Self::Decimal(*number),
            Value::Date(ms) => Self::Instant(Timestamp { ms: *ms, nanos: 0 }),
            Value::Timestamp(at) => Self::Instant(*at),
            Value::Interval(length) => Self::Interval(*length),
            Value::Text(text) => Self::Text(text),
            Value::Bytes(bytes) => Self::Bytes(bytes),
            Value::Array(elements) => Self::Array(elements),
        }
    }

    /// A type that has such values; `None` for NULL and for an array of arrays.
    fn natural_type(self) -> Option<SqlType> {
        Some(match self {
            Self::Null => return None,
            Self::Bool(_) => SqlType::Boolean,
            Self::Int(_) => SqlType::BigInt,
            Self::Float(_) => SqlType::Float,
            Self::Double(_) => SqlType::Double,
            Self::Decimal(_) => SqlType::Decimal(None),
            Self::Instant(_) => SqlType::Timestamp,
            Self::Interval(_) => SqlType::Interval,
            Self::Text(_) => SqlType::Varchar(None),
            Self::Bytes(_) => SqlType::Varbinary,
            Self::Array(elements) => {
                let element = match elements.iter().find(|value| !value.is_null()) {
                    Some(value) => Content::of(value).natural_type()?,
                    None => SqlType::Null,
                };
                return SqlType::array(element);
            }
        })
    }
}

/// Appends the length and the bytes of a value; nothing if there is an error, which is one of [`encode`].
pub(super) fn push_value(
    out: &mut BytesMut,
    content: Content<'_>,
    ty: SqlType,
    format: Format,
) -> Result<(), WireError> {
    if let Content::Null = content {
        out.put_i32(NULL_LENGTH);
        return Ok(());
    }
    let start = out.len();
    out.put_i32(0);
    let pushed = match format {
        Format::Text => push_text_body(out, content, ty),
        Format::Binary => push_binary_body(out, content, ty),
    };
    let bytes = out.len() - start - LENGTH_BYTES;
    let length = pushed.and_then(|()| i32::try_from(bytes).map_err(|_| WireError::TooLong { bytes }));
    match length {
        Ok(length) => {
            out[start..start + LENGTH_BYTES].copy_from_slice(&length.to_be_bytes());
            Ok(())
        }
        Err(error) => {
            out.truncate(start);
            Err(error)
        }
    }
}

/// Appends the text of a value that is not NULL; anything if there is an error.
pub(super) fn push_text_body(out: &mut BytesMut, content: Content<'_>, ty: SqlType) -> Result<(), WireError> {
    if let (Content::Array(elements), Some(element)) = (content, ty.element()) {
        return array::push_text(out, elements, |out, value| push_text_body(out, Content::of(value), element));
    }
    let PgType::Base(base) = PgType::of_sql(ty) else { return Err(wrong_type(ty)) };
    match (content, base) {
        (Content::Int(number), BaseType::Int2) => digits::push_signed(out, narrowed::<i16>(number, base)?.into()),
        (Content::Int(number), BaseType::Int4) => digits::push_signed(out, narrowed::<i32>(number, base)?.into()),
        (Content::Int(number), BaseType::Int8) => digits::push_signed(out, number),
        (Content::Text(text), BaseType::Varchar | BaseType::Text | BaseType::Json) => out.put_slice(text.as_bytes()),
        (Content::Text(text), BaseType::Bpchar) => push_padded(out, text, ty),
        (Content::Instant(at), BaseType::Timestamp) => return datetime::push_text(out, at),
        (Content::Instant(at), BaseType::Time) => datetime::push_time_text(out, at),
        (Content::Double(number), BaseType::Float8) => float_text::push_double(out, number).map_err(|_| no_text(ty))?,
        (Content::Float(number), BaseType::Float4) => float_text::push_single(out, number).map_err(|_| no_text(ty))?,
        (Content::Decimal(number), BaseType::Numeric) => match places(ty) {
            Some(places) => out.put_slice(number.to_fixed(places).as_bytes()),
            None => write!(out, "{number}").map_err(|_| no_text(ty))?,
        },
        (Content::Bool(value), BaseType::Bool) => out.put_u8(if value { b't' } else { b'f' }),
        (Content::Bytes(bytes), BaseType::Bytea) => bytea::push_text(out, bytes),
        (Content::Bytes(bytes), BaseType::Uuid) => bytea::push_uuid(out, uuid(bytes, ty)?),
        (Content::Interval(length), BaseType::Interval) => {
            datetime::push_interval_text(out, length).map_err(|_| no_text(ty))?;
        }
        // A value of no type has the text of the type that it could have.
        (content, BaseType::Text) => {
            let natural = content.natural_type().ok_or_else(|| wrong_type(ty))?;
            return push_text_body(out, content, natural);
        }
        _ => return Err(wrong_type(ty)),
    }
    Ok(())
}

/// Appends the bytes of a value that is not NULL; anything if there is an error.
fn push_binary_body(out: &mut BytesMut, content: Content<'_>, ty: SqlType) -> Result<(), WireError> {
    if let (Content::Array(elements), Some(element)) = (content, ty.element()) {
        return array::push_binary(out, elements, element, |out, value| {
            push_value(out, Content::of(value), element, Format::Binary)
        });
    }
    let PgType::Base(base) = PgType::of_sql(ty) else { return Err(wrong_type(ty)) };
    match (content, base) {
        (Content::Int(number), BaseType::Int2) => out.put_i16(narrowed(number, base)?),
        (Content::Int(number), BaseType::Int4) => out.put_i32(narrowed(number, base)?),
        (Content::Int(number), BaseType::Int8) => out.put_i64(number),
        (Content::Instant(at), BaseType::Timestamp) => return datetime::push_binary(out, at),
        (Content::Instant(at), BaseType::Time) => out.put_i64(datetime::time_of_day(at)),
        (Content::Double(number), BaseType::Float8) => out.put_f64(number),
        (Content::Float(number), BaseType::Float4) => out.put_f32(number),
        (Content::Decimal(number), BaseType::Numeric) => numeric::push(out, number, places(ty)),
        (Content::Bool(value), BaseType::Bool) => out.put_u8(value.into()),
        (Content::Bytes(bytes), BaseType::Bytea) => out.put_slice(bytes),
        (Content::Bytes(bytes), BaseType::Uuid) => out.put_slice(uuid(bytes, ty)?),
        (Content::Interval(length), BaseType::Interval) => datetime::push_interval_binary(out, length),
        // The bytes of a text are its binary form.
        (_, BaseType::Varchar | BaseType::Bpchar | BaseType::Text | BaseType::Json) => {
            return push_text_body(out, content, ty);
        }
        _ => return Err(wrong_type(ty)),
    }
    Ok(())
}

/// A number in the width of its column. The engine computes in wider numbers, so a result may be too large.
fn narrowed<T: TryFrom<i64>>(number: i64, ty: BaseType) -> Result<T, WireError> {
    number.try_into().map_err(|_| WireError::out_of_range(ty, &number.to_string()))
}

/// Appends a text of CHAR(n) with its padding, which values are kept without.
fn push_padded(out: &mut BytesMut, text: &str, ty: SqlType) {
    out.put_slice(text.as_bytes());
    if let SqlType::Char(width) = ty {
        out.put_bytes(b' ', (width as usize).saturating_sub(text.chars().count()));
    }
}

/// The digits of the fraction that each value of a type has; `None` if they differ.
fn places(ty: SqlType) -> Option<u8> {
    if let SqlType::Decimal(Some((_, scale))) = ty { Some(scale) } else { None }
}

fn uuid(bytes: &[u8], ty: SqlType) -> Result<&[u8; 16], WireError> {
    bytes.try_into().map_err(|_| wrong_type(ty))
}

fn wrong_type(ty: SqlType) -> WireError {
    debug_assert!(false, "a column of type {ty} has a value of another type");
    WireError::WrongType { ty }
}

fn no_text(ty: SqlType) -> WireError {
    debug_assert!(false, "a buffer takes the text of any value");
    WireError::NoText { ty }
}
