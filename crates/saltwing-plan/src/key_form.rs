//! A table column's values in the type that a key keeps them in.
//!
//! The key of a table keeps each column in its own type. An index keeps nullable
//! columns of fixed width in another one, so that NULL has a form, as
//! Apache Phoenix does: numbers, instants and BOOLEAN as DECIMAL,
//! CHAR as VARCHAR with its padding, BINARY as VARBINARY.
//!
//! # Law
//! The form is strictly monotone: it keeps the order of values, so spans and
//! points stay what they are.

use saltwing_types::{Decimal, SqlType, Value, number};

use crate::PlanError;

/// The form of `value`, of the type `ty`, in a key column of the type `key_ty`.
pub(crate) fn key_form(value: &Value, ty: SqlType, key_ty: SqlType) -> Result<Value, PlanError> {
    let formed = match (value, key_ty) {
        _ if ty == key_ty => Some(value.clone()),
        (Value::Null, _) => Some(Value::Null),
        (Value::Text(text), SqlType::Varchar(_)) => match ty {
            SqlType::Char(width) => {
                let padding = (width as usize).saturating_sub(text.len());
                Some(Value::Text(format!("{text}{}", " ".repeat(padding))))
            }
            _ => Some(value.clone()),
        },
        (Value::Bytes(_), SqlType::Varbinary | SqlType::VarbinaryEncoded) => Some(value.clone()),
        (Value::Bool(b), SqlType::Decimal(None)) => Some(Value::Decimal(Decimal::from(i64::from(*b)))),
        (Value::Date(ms), SqlType::Decimal(None)) => Some(Value::Decimal(Decimal::from(*ms))),
        (Value::Timestamp(at), SqlType::Decimal(None)) => {
            let nanos = i128::from(at.ms) * 1_000_000 + i128::from(at.nanos);
            Decimal::new(nanos, 6).ok().map(Value::Decimal)
        }
        (value, SqlType::Decimal(None)) => number::to_decimal(value).ok().map(Value::Decimal),
        _ => None,
    };
    formed.ok_or(PlanError::NoKeyForm { ty, key_ty })
}
