//! Values of Rust's types as SQL values.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::SystemTime;

use crate::value::{Interval, Timestamp};
use crate::{Decimal, Value};

macro_rules! from_rust {
    ($($ty:ty => $make:expr),* $(,)?) => { $(
        impl From<$ty> for Value {
            fn from(value: $ty) -> Self {
                let make: fn($ty) -> Value = $make;
                make(value)
            }
        }
    )* };
}

from_rust! {
    bool => Value::Bool,
    i8 => |v| Value::Int(v.into()),
    i16 => |v| Value::Int(v.into()),
    i32 => |v| Value::Int(v.into()),
    i64 => Value::Int,
    isize => |v| Value::Int(v as i64),
    u8 => |v| Value::Int(v.into()),
    u16 => |v| Value::Int(v.into()),
    u32 => |v| Value::Int(v.into()),
    u64 => |v| i64::try_from(v).map_or_else(|_| Decimal::new(v.into(), 0).map_or(Value::Null, Value::Decimal), Value::Int),
    usize => |v| Value::from(v as u64),
    f32 => Value::Float,
    f64 => Value::Double,
    Decimal => Value::Decimal,
    char => |v| Value::Text(v.into()),
    &str => |v| Value::text(v),
    &String => |v| Value::Text(v.clone()),
    String => Value::Text,
    Box<str> => |v| Value::Text(v.into()),
    Arc<str> => |v| Value::text(&*v),
    Cow<'_, str> => |v| Value::Text(v.into_owned()),
    Vec<u8> => Value::Bytes,
    &Vec<u8> => |v| Value::Bytes(v.clone()),
    &[u8] => |v| Value::Bytes(v.to_vec()),
    Cow<'_, [u8]> => |v| Value::Bytes(v.into_owned()),
    Timestamp => Value::Timestamp,
    Interval => Value::Interval,
    SystemTime => |v| Value::Timestamp(v.into()),
    &Value => Value::clone,
}

/// References to values that are copied.
macro_rules! from_references {
    ($($ty:ty),* $(,)?) => { $(
        impl From<&$ty> for Value {
            fn from(value: &$ty) -> Self {
                Value::from(*value)
            }
        }
    )* };
}

from_references!(
    bool, i8, i16, i32, i64, isize, u8, u16, u32, u64, usize, f32, f64, Decimal, char, &str, Timestamp, Interval,
    SystemTime
);

impl<T: Clone + Into<Value>> From<&Option<T>> for Value {
    fn from(value: &Option<T>) -> Self {
        value.clone().into()
    }
}

/// Vectors and slices as arrays; those of bytes are binary values.
macro_rules! from_elements {
    ($($ty:ty),* $(,)?) => { $(
        impl From<Vec<$ty>> for Value {
            fn from(elements: Vec<$ty>) -> Self {
                Value::Array(elements.into_iter().map(Value::from).collect())
            }
        }

        impl From<Vec<Option<$ty>>> for Value {
            fn from(elements: Vec<Option<$ty>>) -> Self {
                Value::Array(elements.into_iter().map(Value::from).collect())
            }
        }

        impl From<&[$ty]> for Value {
            fn from(elements: &[$ty]) -> Self {
                Value::Array(elements.iter().cloned().map(Value::from).collect())
            }
        }
    )* };
}

from_elements!(bool, i8, i16, i32, i64, u16, u32, u64, f32, f64, Decimal, String, &str, Vec<u8>, Timestamp);

impl<const N: usize> From<&[u8; N]> for Value {
    fn from(value: &[u8; N]) -> Self {
        Value::Bytes(value.to_vec())
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Null, Into::into)
    }
}

impl Timestamp {
    /// From nanoseconds since 1970. A value beyond 64 bits of milliseconds becomes the farthest instant, which no
    /// column accepts.
    fn from_wide_nanos(nanos: i128) -> Self {
        let far = if nanos < 0 { i64::MIN } else { i64::MAX };
        let ms = i64::try_from(nanos.div_euclid(1_000_000)).unwrap_or(far);
        Self { ms, nanos: nanos.rem_euclid(1_000_000) as u32 }
    }

    /// Nanoseconds since 1970.
    fn wide_nanos(self) -> i128 {
        i128::from(self.ms) * 1_000_000 + i128::from(self.nanos)
    }
}

impl From<SystemTime> for Timestamp {
    fn from(at: SystemTime) -> Self {
        let nanos = |duration: std::time::Duration| i128::try_from(duration.as_nanos()).unwrap_or(i128::MAX);
        Self::from_wide_nanos(match at.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(after) => nanos(after),
            Err(before) => -nanos(before.duration()),
        })
    }
}

impl Timestamp {
    /// The same instant of the system's clock; `None` where that does not reach so far.
    pub fn to_system_time(self) -> Option<SystemTime> {
        let nanos = self.wide_nanos();
        let size = nanos.unsigned_abs();
        let seconds = u64::try_from(size / 1_000_000_000).ok()?;
        let duration = std::time::Duration::new(seconds, (size % 1_000_000_000) as u32);
        match nanos < 0 {
            true => SystemTime::UNIX_EPOCH.checked_sub(duration),
            false => SystemTime::UNIX_EPOCH.checked_add(duration),
        }
    }
}

/// A UUID is 16 bytes, as columns UUID and BINARY(16) have it.
#[cfg(feature = "uuid")]
impl From<uuid::Uuid> for Value {
    fn from(id: uuid::Uuid) -> Self {
        Value::Bytes(id.into_bytes().to_vec())
    }
}

#[cfg(feature = "rust_decimal")]
impl From<rust_decimal::Decimal> for Value {
    fn from(number: rust_decimal::Decimal) -> Self {
        // At most 29 digits, and 28 of them after the point: every such number is one of ours.
        Decimal::new(number.mantissa(), number.scale() as i32).map_or(Value::Null, Value::Decimal)
    }
}

/// chrono's dates and instants: a date is its midnight, an instant without a zone is UTC.
#[cfg(feature = "chrono")]
mod chrono {
    use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, TimeZone, Utc};

    use super::{Timestamp, Value};

    impl From<NaiveDate> for Value {
        fn from(date: NaiveDate) -> Self {
            Value::Date(date.and_time(NaiveTime::MIN).and_utc().timestamp_millis())
        }
    }

    impl From<NaiveDateTime> for Value {
        fn from(at: NaiveDateTime) -> Self {
            at.and_utc().into()
        }
    }

    impl<Tz: TimeZone> From<DateTime<Tz>> for Value {
        fn from(at: DateTime<Tz>) -> Self {
            let nanos = i128::from(at.timestamp()) * 1_000_000_000 + i128::from(at.timestamp_subsec_nanos());
            Value::Timestamp(Timestamp::from_wide_nanos(nanos))
        }
    }

    impl Timestamp {
        /// The same instant as chrono has it; `None` where that does not reach so far.
        pub fn to_chrono(self) -> Option<DateTime<Utc>> {
            let nanos = self.wide_nanos();
            let seconds = i64::try_from(nanos.div_euclid(1_000_000_000)).ok()?;
            DateTime::from_timestamp(seconds, nanos.rem_euclid(1_000_000_000) as u32)
        }
    }
}

/// The dates and instants of the crate `time`: a date is its midnight, an instant without a zone is UTC.
#[cfg(feature = "time")]
mod time {
    use time::{Date, OffsetDateTime, PrimitiveDateTime, Time};

    use super::{Timestamp, Value};

    impl From<Date> for Value {
        fn from(date: Date) -> Self {
            let nanos = PrimitiveDateTime::new(date, Time::MIDNIGHT).assume_utc().unix_timestamp_nanos();
            Value::Date(Timestamp::from_wide_nanos(nanos).ms)
        }
    }

    impl From<PrimitiveDateTime> for Value {
        fn from(at: PrimitiveDateTime) -> Self {
            at.assume_utc().into()
        }
    }

    impl From<OffsetDateTime> for Value {
        fn from(at: OffsetDateTime) -> Self {
            Value::Timestamp(Timestamp::from_wide_nanos(at.unix_timestamp_nanos()))
        }
    }

    impl Timestamp {
        /// The same instant as the crate `time` has it, in UTC; `None` where that does not reach so far.
        pub fn to_time(self) -> Option<OffsetDateTime> {
            OffsetDateTime::from_unix_timestamp_nanos(self.wide_nanos()).ok()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn instants_of_the_system_clock_keep_their_nanoseconds() {
        for (seconds, nanos) in [(0, 0), (1, 1), (1_700_000_000, 123_456_789), (7_000_000_000, 999_999_999)] {
            let duration = Duration::new(seconds, nanos);
            for at in [SystemTime::UNIX_EPOCH + duration, SystemTime::UNIX_EPOCH - duration] {
                assert_eq!(Timestamp::from(at).to_system_time(), Some(at));
            }
        }
        let before = SystemTime::UNIX_EPOCH - Duration::from_nanos(1);
        assert_eq!(Timestamp::from(before), Timestamp { ms: -1, nanos: 999_999 });
    }

    #[test]
    fn texts_and_numbers_of_all_kinds() {
        let text = String::from("a");
        for value in [Value::from(&text), 'a'.into(), Cow::from("a").into(), Arc::<str>::from("a").into()] {
            assert_eq!(value, Value::text("a"));
        }
        assert_eq!(Value::from(3usize), Value::Int(3));
        assert_eq!(Value::from(usize::MAX).to_string_for_test(), u64::MAX.to_string());
        assert_eq!(Value::from(b"ab"), Value::Bytes(b"ab".to_vec()));
        let array = Value::Array(vec![Value::Int(1), Value::Int(2)]);
        assert_eq!([Value::from(vec![1, 2]), Value::from(&[1i64, 2][..])], [array.clone(), array]);
        assert_eq!(Value::from(vec![Some("a"), None]), Value::Array(vec![Value::text("a"), Value::Null]));
    }

    impl Value {
        fn to_string_for_test(&self) -> String {
            match self {
                Value::Decimal(decimal) => decimal.to_string(),
                other => format!("{other:?}"),
            }
        }
    }
}
