//! All types that cells have, and random values of each.

use proptest::prelude::*;
use saltwing_types::value::Timestamp;
use saltwing_types::{Decimal, SqlType as T, Value as V};

/// The types of one value.
pub const SCALARS: [T; 26] = [
    T::TinyInt,
    T::SmallInt,
    T::Integer,
    T::BigInt,
    T::UnsignedTinyInt,
    T::UnsignedSmallInt,
    T::UnsignedInt,
    T::UnsignedLong,
    T::Float,
    T::Double,
    T::UnsignedFloat,
    T::UnsignedDouble,
    T::Decimal(None),
    T::Decimal(Some((12, 4))),
    T::Boolean,
    T::Date,
    T::Time,
    T::Timestamp,
    T::UnsignedDate,
    T::UnsignedTimestamp,
    T::Char(5),
    T::Varchar(None),
    T::Varchar(Some(7)),
    T::Binary(4),
    T::Varbinary,
    T::VarbinaryEncoded,
];

/// Every type, arrays and JSON among them.
pub fn any_type() -> impl Strategy<Value = T> {
    let scalar = || prop::sample::select(SCALARS.to_vec());
    prop_oneof![4 => scalar(), 2 => scalar().prop_map(|ty| T::array(ty).unwrap()), 1 => Just(T::Json)]
}

/// A value of `ty` that a cell gives back as it is: never empty, a BINARY of full width, no blank at the end of a CHAR.
pub fn value(ty: T) -> BoxedStrategy<V> {
    if let Some(element) = ty.element() {
        let sound = value(element).prop_filter("begins like NULL", |value| !begins_like_null(value));
        let element = match element.fixed_key_bytes() {
            Some(_) => sound.boxed(),
            None => prop_oneof![3 => sound, 1 => Just(V::Null)].boxed(),
        };
        return prop::collection::vec(element, 1..8).prop_map(V::Array).boxed();
    }
    let day = prop_oneof![Just(0i64), -4_000_000_000_000..4_000_000_000_000i64, any::<i64>()];
    let date = move |ty: T| day.clone().prop_map(move |ms| if ty.is_unsigned() { ms & i64::MAX } else { ms });
    match ty {
        T::Boolean => any::<bool>().prop_map(V::Bool).boxed(),
        T::Float => any::<f32>().prop_map(|f| V::Float(f + 0.0)).boxed(),
        T::UnsignedFloat => any::<f32>().prop_map(|f| V::Float(f.abs())).boxed(),
        T::Double => any::<f64>().prop_map(|f| V::Double(f + 0.0)).boxed(),
        T::UnsignedDouble => any::<f64>().prop_map(|f| V::Double(f.abs())).boxed(),
        T::Date | T::Time | T::UnsignedDate | T::UnsignedTime => date(ty).prop_map(V::Date).boxed(),
        T::Timestamp | T::UnsignedTimestamp => {
            (date(ty), 0..1_000_000u32).prop_map(|(ms, nanos)| V::Timestamp(Timestamp { ms, nanos })).boxed()
        }
        T::Decimal(Some((_, scale))) => (-99_999_999i128..99_999_999, 0..=i32::from(scale))
            .prop_map(|(digits, scale)| decimal(digits, scale))
            .boxed(),
        T::Decimal(None) => {
            let end = 10i128.pow(38);
            (-end + 1..end, 0..38u32, -40..=40i32)
                .prop_map(|(digits, cut, scale)| decimal(digits / 10i128.pow(cut), scale))
                .boxed()
        }
        T::Char(_) => "[ -~]{0,4}[!-~]".prop_map(V::Text).boxed(),
        T::Varchar(Some(_)) => "[a-c\u{e9}\u{6f22}\\x00]{1,7}".prop_map(V::Text).boxed(),
        T::Varchar(None) | T::Json => "[a-c\u{e9}\u{6f22}\u{1f600}\\x00\"{}]{1,9}".prop_map(V::Text).boxed(),
        T::Binary(n) => prop::collection::vec(any::<u8>(), n as usize).prop_map(V::Bytes).boxed(),
        T::Varbinary | T::VarbinaryEncoded => {
            prop::collection::vec(crate::hostile::byte(), 1..9).prop_map(V::Bytes).boxed()
        }
        ty => {
            let (low, high) = ty.integer_range().unwrap();
            prop_oneof![Just(low), Just(high), low..=high, Just(0)].prop_map(V::Int).boxed()
        }
    }
}

fn decimal(digits: i128, scale: i32) -> V {
    V::Decimal(Decimal::new(digits, scale).unwrap())
}

/// Whether an array that holds this element is refused.
fn begins_like_null(value: &V) -> bool {
    match value {
        V::Text(text) => text.starts_with('\0'),
        V::Bytes(bytes) => matches!(bytes.first(), Some(0 | 0xff)),
        _ => false,
    }
}
