//! Conversion of values to Rust types.

use std::time::SystemTime;

use saltwing_expr::ValueRef;
use saltwing_types::value::Timestamp;
use saltwing_types::{Decimal, Interval, SqlType, Value, text};

/// A Rust type to which a column's value can be converted.
pub trait FromValue: Sized {
    /// The accepted values, for error texts.
    const EXPECTED: &'static str;

    /// The value, if this type can hold it; `ty` is the column's type.
    fn from_value(value: Value, ty: SqlType) -> Option<Self>;

    /// The same for a reference to a value in a result. Types that do not need an intermediate [`Value`] override it. The result is that of
    /// [`FromValue::from_value`].
    fn from_ref(value: ValueRef<'_>, ty: SqlType) -> Option<Self> {
        Self::from_value(value.into_value(), ty)
    }
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
    #[inline]
    fn from_ref(value: ValueRef<'_>, ty: SqlType) -> Option<Self> {
        match value {
            ValueRef::Null => Some(None),
            value => T::from_ref(value, ty).map(Some),
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
            #[inline]
            fn from_ref(value: ValueRef<'_>, ty: SqlType) -> Option<Self> {
                match value {
                    ValueRef::Int(i) => i.try_into().ok(),
                    ValueRef::Owned(value) => Self::from_value(value, ty),
                    ValueRef::Null | ValueRef::Text(_) | ValueRef::Bytes(_) => None,
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

impl FromValue for String {
    const EXPECTED: &'static str = "a value with a text";
    fn from_value(value: Value, ty: SqlType) -> Option<Self> {
        match value {
            Value::Text(text) => Some(text),
            value => text::format(&value, ty),
        }
    }
    #[inline]
    fn from_ref(value: ValueRef<'_>, ty: SqlType) -> Option<Self> {
        match value {
            ValueRef::Text(text) => Some(text.to_owned()),
            ValueRef::Owned(value) => Self::from_value(value, ty),
            value @ (ValueRef::Int(_) | ValueRef::Bytes(_)) => Self::from_value(value.into_value(), ty),
            ValueRef::Null => None,
        }
    }
}

/// Types of one kind of value each.
macro_rules! of_one_kind {
    ($($rust:ty, $kind:ident, $expected:literal;)*) => { $(
        impl FromValue for $rust {
            const EXPECTED: &'static str = $expected;
            fn from_value(value: Value, _: SqlType) -> Option<Self> {
                if let Value::$kind(value) = value { Some(value) } else { None }
            }
        }
    )* };
}
of_one_kind! {
    f32, Float, "a FLOAT";
    bool, Bool, "a BOOLEAN";
    Vec<u8>, Bytes, "bytes";
}

/// Arrays: elements that may be NULL are options. The elements of a `Vec<u8>` are bytes of a binary value.
macro_rules! arrays {
    ($($ty:ty),*) => { $(
        impl FromValue for Vec<$ty> {
            const EXPECTED: &'static str = concat!("an array without NULL, of elements that are ", stringify!($ty));
            fn from_value(value: Value, ty: SqlType) -> Option<Self> {
                elements(value, ty)
            }
        }

        impl FromValue for Vec<Option<$ty>> {
            const EXPECTED: &'static str = concat!("an array of elements that are ", stringify!($ty));
            fn from_value(value: Value, ty: SqlType) -> Option<Self> {
                elements(value, ty)
            }
        }
    )* };
}
arrays!(bool, i8, i16, i32, i64, u16, u32, u64, f32, f64, Decimal, String, Vec<u8>, Timestamp, Value);

fn elements<T: FromValue>(value: Value, ty: SqlType) -> Option<Vec<T>> {
    let Value::Array(elements) = value else { return None };
    let element = ty.element().unwrap_or(SqlType::Null);
    elements.into_iter().map(|value| T::from_value(value, element)).collect()
}

impl FromValue for Decimal {
    const EXPECTED: &'static str = "a number";
    fn from_value(value: Value, _: SqlType) -> Option<Self> {
        saltwing_types::number::to_decimal(&value).ok()
    }
}

impl FromValue for char {
    const EXPECTED: &'static str = "a text of one character";
    fn from_value(value: Value, _: SqlType) -> Option<Self> {
        let Value::Text(text) = value else { return None };
        let mut chars = text.chars();
        chars.next().filter(|_| chars.next().is_none())
    }
}

impl FromValue for Timestamp {
    const EXPECTED: &'static str = "a date or an instant";
    fn from_value(value: Value, _: SqlType) -> Option<Self> {
        match value {
            Value::Date(ms) => Some(Self { ms, nanos: 0 }),
            Value::Timestamp(at) => Some(at),
            _ => None,
        }
    }
}

impl FromValue for Interval {
    const EXPECTED: &'static str = "an interval";
    fn from_value(value: Value, _: SqlType) -> Option<Self> {
        match value {
            Value::Interval(length) => Some(length),
            Value::Text(text) => Self::parse(&text).ok(),
            _ => None,
        }
    }
}

impl FromValue for SystemTime {
    const EXPECTED: &'static str = "a date or an instant";
    fn from_value(value: Value, ty: SqlType) -> Option<Self> {
        Timestamp::from_value(value, ty)?.to_system_time()
    }
}

/// From 16 bytes, or from a text.
#[cfg(feature = "uuid")]
impl FromValue for uuid::Uuid {
    const EXPECTED: &'static str = "a UUID";
    fn from_value(value: Value, _: SqlType) -> Option<Self> {
        match value {
            Value::Bytes(bytes) => Self::from_slice(&bytes).ok(),
            Value::Text(text) => Self::parse_str(&text).ok(),
            _ => None,
        }
    }
}

#[cfg(feature = "rust_decimal")]
impl FromValue for rust_decimal::Decimal {
    const EXPECTED: &'static str = "a number of up to 28 digits";
    fn from_value(value: Value, ty: SqlType) -> Option<Self> {
        let number = Decimal::from_value(value, ty)?;
        Self::from_str_exact(&number.to_string()).ok()
    }
}

#[cfg(feature = "chrono")]
mod chrono {
    use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, Utc};
    use saltwing_types::value::Timestamp;
    use saltwing_types::{SqlType, Value};

    use super::FromValue;

    impl FromValue for DateTime<Utc> {
        const EXPECTED: &'static str = "a date or an instant";
        fn from_value(value: Value, ty: SqlType) -> Option<Self> {
            Timestamp::from_value(value, ty)?.to_chrono()
        }
    }

    impl FromValue for NaiveDateTime {
        const EXPECTED: &'static str = "a date or an instant";
        fn from_value(value: Value, ty: SqlType) -> Option<Self> {
            DateTime::<Utc>::from_value(value, ty).map(|at| at.naive_utc())
        }
    }

    impl FromValue for NaiveDate {
        const EXPECTED: &'static str = "a date without a time of day";
        fn from_value(value: Value, ty: SqlType) -> Option<Self> {
            let at = NaiveDateTime::from_value(value, ty)?;
            (at.time() == NaiveTime::MIN).then(|| at.date())
        }
    }
}

#[cfg(feature = "time")]
mod time {
    use saltwing_types::value::Timestamp;
    use saltwing_types::{SqlType, Value};
    use time::{Date, OffsetDateTime, PrimitiveDateTime, Time};

    use super::FromValue;

    impl FromValue for OffsetDateTime {
        const EXPECTED: &'static str = "a date or an instant";
        fn from_value(value: Value, ty: SqlType) -> Option<Self> {
            Timestamp::from_value(value, ty)?.to_time()
        }
    }

    impl FromValue for PrimitiveDateTime {
        const EXPECTED: &'static str = "a date or an instant";
        fn from_value(value: Value, ty: SqlType) -> Option<Self> {
            OffsetDateTime::from_value(value, ty).map(|at| PrimitiveDateTime::new(at.date(), at.time()))
        }
    }

    impl FromValue for Date {
        const EXPECTED: &'static str = "a date without a time of day";
        fn from_value(value: Value, ty: SqlType) -> Option<Self> {
            let at = OffsetDateTime::from_value(value, ty)?;
            (at.time() == Time::MIDNIGHT).then(|| at.date())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use super::*;

    fn same<T: FromValue + Debug + PartialEq>(value: &Value) {
        let ty = SqlType::Varchar(None);
        assert_eq!(T::from_ref(ValueRef::from(value), ty), T::from_value(value.clone(), ty), "{value:?}");
        assert_eq!(Option::<T>::from_ref(value.into(), ty), Option::<T>::from_value(value.clone(), ty), "{value:?}");
    }

    #[test]
    fn a_value_is_read_the_same_where_it_lies() {
        let values = [
            Value::Null,
            Value::Bool(true),
            Value::Int(-1),
            Value::Int(i64::MAX),
            Value::Double(0.5),
            Value::Decimal("12".parse().unwrap()),
            Value::Decimal("1.5".parse().unwrap()),
            Value::Date(7),
            Value::text("12"),
            Value::Bytes(vec![1]),
            Value::Array(vec![Value::Int(1), Value::Null]),
        ];
        for value in &values {
            same::<Value>(value);
            same::<u8>(value);
            same::<i64>(value);
            same::<f64>(value);
            same::<bool>(value);
            same::<String>(value);
            same::<Vec<u8>>(value);
            same::<Vec<i64>>(value);
            same::<Vec<Option<i64>>>(value);
            same::<Decimal>(value);
        }
    }
}
