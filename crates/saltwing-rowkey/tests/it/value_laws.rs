//! Byte order is value order, and bytes read back, for values all over their types.

use proptest::prelude::*;
use saltwing_rowkey::ValueCodec;
use saltwing_types::value::Timestamp;
use saltwing_types::{Decimal, SortOrder, SqlType as T, Value as V};

fn stored(ty: T, order: SortOrder, value: &V) -> Vec<u8> {
    let mut bytes = Vec::new();
    ValueCodec::new(ty, order).encode(value, &mut bytes).unwrap();
    bytes
}

/// Both laws, in both directions; `separators` end values of variable width.
fn check(ty: T, values: &[V], separators: [&[u8]; 2]) -> Result<(), TestCaseError> {
    for (order, separator) in [SortOrder::Asc, SortOrder::Desc].into_iter().zip(separators) {
        for a in values {
            prop_assert_eq!(&ValueCodec::new(ty, order).decode(&stored(ty, order, a)).unwrap(), a);
            for b in values {
                let key = |value: &V| [&stored(ty, order, value), separator].concat();
                let expected = a.compare(b).unwrap();
                let expected = if order == SortOrder::Desc { expected.reverse() } else { expected };
                prop_assert_eq!(key(a).cmp(&key(b)), expected, "{:?} {:?} {:?}", a, b, order);
            }
        }
    }
    Ok(())
}

/// Digits of every length, related to each other by their heads.
fn decimal() -> impl Strategy<Value = Decimal> {
    let end = 10i128.pow(38);
    let head = prop_oneof![Just(12_345_678_901_234_567_890_123_456_789_012_345_678i128), -end + 1..end];
    (head, 0u32..38, -20i32..=20, any::<bool>()).prop_map(|(head, cut, scale, negative)| {
        let digits = head / 10i128.pow(cut);
        Decimal::new(if negative { -digits } else { digits }, scale - cut as i32).unwrap()
    })
}

fn few<T: std::fmt::Debug>(one: impl Strategy<Value = T>) -> impl Strategy<Value = Vec<T>> {
    prop::collection::vec(one, 6)
}

proptest! {
    #[test]
    fn decimals(values in few(decimal())) {
        let values: Vec<V> = values.into_iter().map(V::Decimal).collect();
        check(T::Decimal(None), &values, [&[0x00], &[0xff]])?;
    }

    #[test]
    fn decimals_of_all_magnitudes(values in few((1i128..1000, -124i32..=124, any::<bool>()))) {
        let make = |(digits, scale, negative): (i128, i32, bool)| {
            // Up to 123 zeros: below 1E126, and above -1E124 with three fewer.
            let (digits, scale) = if negative { (-digits, scale.max(-120)) } else { (digits, scale.max(-123)) };
            V::Decimal(Decimal::new(digits, scale).unwrap())
        };
        let values: Vec<V> = values.into_iter().map(make).collect();
        check(T::Decimal(None), &values, [&[0x00], &[0xff]])?;
    }

    #[test]
    fn floats(bits in few(any::<u32>())) {
        let values: Vec<V> = bits.into_iter().map(|bits| V::Float(f32::from_bits(bits) + 0.0)).collect();
        check(T::Float, &values, [&[], &[]])?;
        let magnitudes: Vec<V> = values.iter().map(|v| if let V::Float(f) = v { V::Float(f.abs()) } else { V::Null }).collect();
        check(T::UnsignedFloat, &magnitudes, [&[], &[]])?;
    }

    #[test]
    fn doubles(bits in few(any::<u64>())) {
        let values: Vec<V> = bits.into_iter().map(|bits| V::Double(f64::from_bits(bits) + 0.0)).collect();
        check(T::Double, &values, [&[], &[]])?;
        let magnitudes: Vec<V> = values.iter().map(|v| if let V::Double(f) = v { V::Double(f.abs()) } else { V::Null }).collect();
        check(T::UnsignedDouble, &magnitudes, [&[], &[]])?;
    }

    #[test]
    fn integers_and_instants(values in few(any::<i64>()), nanos in 0u32..1_000_000) {
        let cast = |ty, narrow: fn(i64) -> i64| {
            check(ty, &values.iter().map(|v| V::Int(narrow(*v))).collect::<Vec<_>>(), [&[], &[]])
        };
        cast(T::BigInt, |v| v)?;
        cast(T::Integer, |v| v as i32 as i64)?;
        cast(T::SmallInt, |v| v as i16 as i64)?;
        cast(T::TinyInt, |v| v as i8 as i64)?;
        cast(T::UnsignedLong, |v| v & i64::MAX)?;
        cast(T::UnsignedInt, |v| v & 0x7fff_ffff)?;
        cast(T::UnsignedSmallInt, |v| v & 0x7fff)?;
        cast(T::UnsignedTinyInt, |v| v & 0x7f)?;
        check(T::Time, &values.iter().map(|v| V::Date(*v)).collect::<Vec<_>>(), [&[], &[]])?;
        let times = |ms: &i64| [0, nanos].map(|nanos| V::Timestamp(Timestamp { ms: *ms, nanos }));
        check(T::Timestamp, &values.iter().flat_map(times).collect::<Vec<_>>(), [&[], &[]])?;
    }

    #[test]
    fn texts(values in few("[\\x01-\\x03a-c\u{7f}é漢😀]{0,4}")) {
        let values: Vec<V> = values.into_iter().map(V::Text).collect();
        check(T::Varchar(None), &values, [&[0x00], &[0xff]])?;
    }

    #[test]
    fn escaped_bytes(values in few(prop::collection::vec(prop::sample::select(vec![0u8, 1, 2, 0xfe, 0xff]), 0..5))) {
        let values: Vec<V> = values.into_iter().map(V::Bytes).collect();
        check(T::VarbinaryEncoded, &values, [&[0x00, 0x01], &[0xff, 0xfe]])?;
    }
}
