//! Values in the type that a key keeps them in.
//!
//! The key of a table keeps each column in its own type. The key of an index keeps nullable columns of fixed width in
//! another type, so that NULL has a form, as Apache Phoenix does: numbers, instants and BOOLEAN as DECIMAL, CHAR as
//! VARCHAR with its padding, BINARY as VARBINARY.
//!
//! # Law
//! The form keeps the order of values, so spans and points stay what they are. It keeps different values apart, except
//! NULL and empty texts and bytes: both have no bytes in a nullable column ([`key_form_of_entry`]).

use crate::{Decimal, SqlType, Value, ValueError, number};

/// The type in which an index keeps the values of a nullable column of this type.
pub fn index_type(ty: SqlType) -> SqlType {
    match ty {
        SqlType::Char(_) => SqlType::Varchar(None),
        SqlType::Binary(_) => SqlType::Varbinary,
        ty if ty.fixed_key_bytes().is_none() => ty,
        SqlType::Uuid => SqlType::VarbinaryEncoded,
        _ => SqlType::Decimal(None),
    }
}

/// Whether an index may have a part of this type: one whose values have an order.
pub fn can_be_indexed(ty: SqlType) -> bool {
    !matches!(ty, SqlType::Array(..) | SqlType::Json | SqlType::Interval | SqlType::Null)
}

/// The form of `value`, of the type `ty`, in a key column of the type `key_ty`.
///
/// # Errors
/// A value without a form: NaN and infinity in a DECIMAL, instants with more digits than it has, other types.
pub fn key_form(value: &Value, ty: SqlType, key_ty: SqlType) -> Result<Value, ValueError> {
    match (value, key_ty) {
        _ if ty == key_ty => Ok(value.clone()),
        (Value::Null, _) => Ok(Value::Null),
        (Value::Text(text), SqlType::Varchar(_)) => match ty {
            SqlType::Char(width) => {
                let padding = (width as usize).saturating_sub(text.len());
                Ok(Value::Text(format!("{text}{}", " ".repeat(padding))))
            }
            _ => Ok(value.clone()),
        },
        (Value::Bytes(_), SqlType::Varbinary | SqlType::VarbinaryEncoded) => Ok(value.clone()),
        (Value::Bool(b), SqlType::Decimal(None)) => Ok(Value::Decimal(Decimal::from(i64::from(*b)))),
        (Value::Date(ms), SqlType::Decimal(None)) => Ok(Value::Decimal(Decimal::from(*ms))),
        (Value::Timestamp(at), SqlType::Decimal(None)) => {
            let nanos = i128::from(at.ms) * 1_000_000 + i128::from(at.nanos);
            Decimal::new(nanos, 6).map(Value::Decimal)
        }
        (value, SqlType::Decimal(None)) => number::to_decimal(value).map(Value::Decimal),
        _ => Err(ValueError::TypeMismatch(format!("{ty} has no form in a key column of type {key_ty}"))),
    }
}

/// The form that a value has in the key of an index entry: empty texts and bytes are NULL, whose bytes they would have.
///
/// # Errors
/// As [`key_form`].
pub fn key_form_of_entry(value: &Value, ty: SqlType, key_ty: SqlType) -> Result<Value, ValueError> {
    Ok(match key_form(value, ty, key_ty)? {
        Value::Text(text) if text.is_empty() => Value::Null,
        Value::Bytes(bytes) if bytes.is_empty() => Value::Null,
        form => form,
    })
}
