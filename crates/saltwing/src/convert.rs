//! Values into Rust's types.

use saltwing_types::{Decimal, SqlType, Value, text};

/// A type that a column's value can be read as.
pub trait FromValue: Sized {
    /// What it takes, for the error's text.
    const EXPECTED: &'static str;

    /// The value, if it is one of this type; `ty` is the column's.
    fn from_value(value: Value, ty: SqlType) -> Option<Self>;
}

impl FromValue for Value {
    const EXPECTED: &'static str = "any value";
    fn from_value(value: Value, _: SqlType) -> Option<Self> {
        Some(value)
    }
}

impl<T: FromValue> FromValue for Option<T> {
    const EXPECTED: &'static str = T::EXPECTED;
    fn from_value(value: Value, ty: SqlType) -> Option<Self> {
        match value {
            Value::Null => Some(None),
            value => T::from_value(value, ty).map(Some),
        }
    }
}

macro_rules! integers {
    ($($ty:ty),*) => { $(
        impl FromValue for $ty {
            const EXPECTED: &'static str = "an integer in range";
            fn from_value(value: Value, _: SqlType) -> Option<Self> {
                match value {
                    Value::Int(i) => i.try_into().ok(),
                    Value::Decimal(d) if d.is_integer() => d.to_i64()?.try_into().ok(),
                    _ => None,
                }
            }
        }
    )* };
}
integers!(i8, i16, i32, i64, u8, u16, u32, u64, usize);

impl FromValue for f64 {
    const EXPECTED: &'static str = "a number";
    fn from_value(value: Value, _: SqlType) -> Option<Self> {
        match value {
            Value::Double(d) => Some(d),
            Value::Float(f) => Some(f.into()),
            Value::Int(i) => Some(i as f64),
            Value::Decimal(d) => Some(d.to_f64()),
            _ => None,
        }
    }
}

impl FromValue for f32 {
    const EXPECTED: &'static str = "a FLOAT";
    fn from_value(value: Value, _: SqlType) -> Option<Self> {
        if let Value::Float(f) = value { Some(f) } else { None }
    }
}

impl FromValue for bool {
    const EXPECTED: &'static str = "a BOOLEAN";
    fn from_value(value: Value, _: SqlType) -> Option<Self> {
        if let Value::Bool(b) = value { Some(b) } else { None }
    }
}

impl FromValue for String {
    const EXPECTED: &'static str = "a value with a text";
    fn from_value(value: Value, ty: SqlType) -> Option<Self> {
        match value {
            Value::Text(text) => Some(text),
            value => text::format(&value, ty),
        }
    }
}

impl FromValue for Vec<u8> {
    const EXPECTED: &'static str = "bytes";
    fn from_value(value: Value, _: SqlType) -> Option<Self> {
        if let Value::Bytes(bytes) = value { Some(bytes) } else { None }
    }
}

impl FromValue for Decimal {
    const EXPECTED: &'static str = "a number";
    fn from_value(value: Value, _: SqlType) -> Option<Self> {
        saltwing_types::number::to_decimal(&value).ok()
    }
}
