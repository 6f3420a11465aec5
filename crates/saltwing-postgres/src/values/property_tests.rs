//! The laws of the values, for every type.

use bytes::BytesMut;
use proptest::prelude::*;
use saltwing::{Decimal, Interval, SqlType, Timestamp, Value, ValueRef};

use super::calendar::CALENDAR_MS;
use super::encode::encode;
use super::pg_type::BaseType;
use super::{Format, WireType, decode, parameter_type};

/// Every type that is no array and has values, with several lengths and precisions.
const TYPES: [SqlType; 34] = [
    SqlType::Null,
    SqlType::TinyInt,
    SqlType::SmallInt,
    SqlType::Integer,
    SqlType::BigInt,
    SqlType::UnsignedTinyInt,
    SqlType::UnsignedSmallInt,
    SqlType::UnsignedInt,
    SqlType::UnsignedLong,
    SqlType::Float,
    SqlType::Double,
    SqlType::UnsignedFloat,
    SqlType::UnsignedDouble,
    SqlType::Decimal(None),
    SqlType::Decimal(Some((5, 2))),
    SqlType::Decimal(Some((38, 0))),
    SqlType::Decimal(Some((38, 38))),
    SqlType::Boolean,
    SqlType::Date,
    SqlType::Time,
    SqlType::Timestamp,
    SqlType::UnsignedDate,
    SqlType::UnsignedTime,
    SqlType::UnsignedTimestamp,
    SqlType::Char(1),
    SqlType::Char(12),
    SqlType::Varchar(None),
    SqlType::Varchar(Some(40)),
    SqlType::Binary(4),
    SqlType::Varbinary,
    SqlType::VarbinaryEncoded,
    SqlType::Uuid,
    SqlType::Json,
    SqlType::Interval,
];

fn formats() -> impl Strategy<Value = Format> {
    prop_oneof![Just(Format::Text), Just(Format::Binary)]
}

/// A value of a type that is no array; never NULL.
fn value_of(ty: SqlType) -> BoxedStrategy<Value> {
    if let Some((low, high)) = ty.integer_range() {
        return prop_oneof![low..=high, Just(low), Just(high)].prop_map(Value::Int).boxed();
    }
    match ty {
        SqlType::Float | SqlType::UnsignedFloat => {
            any::<u32>().prop_map(|bits| Value::Float(f32::from_bits(bits))).boxed()
        }
        SqlType::Double | SqlType::UnsignedDouble => {
            any::<u64>().prop_map(|bits| Value::Double(f64::from_bits(bits))).boxed()
        }
        SqlType::Decimal(declared) => {
            let (precision, scales) = declared.map_or((38, -300..300), |(p, s)| (p, i32::from(s)..i32::from(s) + 1));
            let end = 10i128.pow(precision.into());
            (1 - end..end, 0..u32::from(precision), scales)
                .prop_map(|(digits, cut, scale)| Value::Decimal(Decimal::new(digits / 10i128.pow(cut), scale).unwrap()))
                .boxed()
        }
        SqlType::Boolean => any::<bool>().prop_map(Value::Bool).boxed(),
        SqlType::Date | SqlType::UnsignedDate => instants().prop_map(Value::Date).boxed(),
        // The day of a TIME is not sent.
        SqlType::Time | SqlType::UnsignedTime => (0..86_400_000_i64).prop_map(Value::Date).boxed(),
        SqlType::Timestamp | SqlType::UnsignedTimestamp => {
            (instants(), 0u32..1_000_000).prop_map(|(ms, nanos)| Value::Timestamp(Timestamp { ms, nanos })).boxed()
        }
        SqlType::Char(width) => {
            let text = proptest::string::string_regex(&format!("[ -~]{{0,{width}}}")).unwrap();
            text.prop_map(|text| Value::text(text.trim_end_matches(' '))).boxed()
        }
        SqlType::Binary(width) => prop::collection::vec(any::<u8>(), width as usize).prop_map(Value::Bytes).boxed(),
        SqlType::Varbinary | SqlType::VarbinaryEncoded => any::<Vec<u8>>().prop_map(Value::Bytes).boxed(),
        SqlType::Uuid => any::<[u8; 16]>().prop_map(|id| Value::Bytes(id.to_vec())).boxed(),
        SqlType::Json => prop_oneof!["[0-9]{1}", "\"[a-z {}',]{0,8}\"", "\\[null, *\\{\"a\": true\\}\\]"]
            .prop_map(Value::Text)
            .boxed(),
        SqlType::Interval => (any::<i32>(), any::<i32>(), any::<i64>())
            .prop_map(|(months, days, nanos)| Value::Interval(Interval { months, days, nanos }))
            .boxed(),
        _ => prop_oneof![any::<String>(), "[\"\\\\{}, \t\nNULnul]{0,6}"].prop_map(Value::Text).boxed(),
    }
}

fn instants() -> impl Strategy<Value = i64> {
    prop_oneof![
        CALENDAR_MS,
        -100_000_000_000_000i64..300_000_000_000_000,
        Just(*CALENDAR_MS.start()),
        Just(*CALENDAR_MS.end())
    ]
}

/// A type, arrays among them, and a value of it.
fn typed_value() -> impl Strategy<Value = (SqlType, Value)> {
    (prop::sample::select(&TYPES[..]), any::<bool>()).prop_flat_map(|(ty, is_array)| match is_array {
        false => value_of(ty).prop_map(move |value| (ty, value)).boxed(),
        true => {
            let element = prop_oneof![1 => Just(Value::Null), 5 => value_of(ty)];
            let array = move |elements| (SqlType::array(ty).unwrap(), Value::Array(elements));
            prop::collection::vec(element, 0..5).prop_map(array).boxed()
        }
    })
}

/// The value without the digits that PostgreSQL's types have not.
fn cut(value: &Value) -> Value {
    match value {
        Value::Timestamp(at) => Value::Timestamp(Timestamp { nanos: at.nanos / 1000 * 1000, ..*at }),
        Value::Interval(length) => Value::Interval(Interval { nanos: length.nanos / 1000 * 1000, ..*length }),
        Value::Array(elements) => Value::Array(elements.iter().map(cut).collect()),
        value => value.clone(),
    }
}

fn encoded(value: &Value, ty: SqlType, format: Format) -> Vec<u8> {
    let mut out = BytesMut::new();
    encode(&ValueRef::from(value), ty, format, &mut out).unwrap();
    out[4..].to_vec()
}

fn wanted_types() -> impl Strategy<Value = Option<SqlType>> {
    let array = |ty: SqlType| SqlType::array(ty).unwrap();
    let ty = prop::sample::select(&TYPES[..]);
    prop::option::of(prop_oneof![ty.clone(), ty.prop_map(array), Just(SqlType::Opaque)])
}

fn oids() -> impl Strategy<Value = u32> {
    let base = prop::sample::select(BaseType::ALL);
    prop_oneof![
        base.clone().prop_map(BaseType::oid),
        base.prop_map(BaseType::array_oid),
        Just(0),
        Just(705),
        any::<u32>()
    ]
}

/// Bytes that come near to values: texts, and arrays with other counts and lengths.
fn hostile_bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..40),
        prop::collection::vec(prop::sample::select(vec![0u8, 1, 2, 4, 8, 23, 25, 0x7f, 0x80, 0xff]), 0..48),
        "[-+0-9.eE:TZ {}\\[\\]=,\"\\\\xBCnNaulif]{0,24}".prop_map(String::into_bytes),
        (typed_value(), formats(), any::<prop::sample::Index>(), any::<u8>()).prop_map(
            |((ty, value), format, place, byte)| {
                let mut bytes = encoded(&value, ty, format);
                if !bytes.is_empty() {
                    let place = place.index(bytes.len());
                    bytes[place] = byte;
                }
                bytes
            }
        ),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 8))]

    #[test]
    fn a_value_reads_back((ty, value) in typed_value(), format in formats()) {
        let bytes = encoded(&value, ty, format);
        for oid in [WireType::of(ty).oid, 0] {
            let read = decode(Some(&bytes), format, oid, Some(ty));
            prop_assert_eq!(read, Ok(cut(&value)), "{} {:?} {}", ty, format, String::from_utf8_lossy(&bytes));
        }
    }

    #[test]
    fn both_formats_hold_the_same((ty, value) in typed_value()) {
        let [text, binary] = [Format::Text, Format::Binary].map(|format| {
            decode(Some(&encoded(&value, ty, format)), format, WireType::of(ty).oid, None)
        });
        prop_assert!(text.is_ok());
        prop_assert_eq!(text, binary);
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in hostile_bytes(), format in formats(), oid in oids(), wanted in wanted_types()) {
        if let Ok(value) = decode(Some(&bytes), format, oid, wanted) {
            prop_assert!(!value.is_null());
        }
    }
}

#[test]
fn every_type_has_a_number_that_parameters_take() {
    let arrays = TYPES.map(|ty| SqlType::array(ty).unwrap());
    for ty in TYPES.into_iter().chain(arrays).chain([SqlType::Opaque]) {
        let oid = WireType::of(ty).oid;
        let taken = parameter_type(oid).unwrap().unwrap();
        // NULL, and values that only the relational engine has, are texts.
        if !matches!(ty.element().unwrap_or(ty), SqlType::Null | SqlType::Opaque) {
            assert!(taken.compares_with(ty), "{ty} {taken}");
        }
        assert_eq!(
            WireType::of(taken).oid == oid,
            ![25, 1009].contains(&oid) && ![1042, 1014].contains(&oid),
            "{ty} {taken}"
        );
        assert_eq!(decode(None, Format::Binary, oid, Some(ty)), Ok(Value::Null));
    }
}
