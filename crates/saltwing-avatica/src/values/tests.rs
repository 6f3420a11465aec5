use bytes::Bytes;
use proptest::prelude::*;
use saltwing::{Decimal, Interval, SqlType, Timestamp, Value};

use super::{DAY_MS, from_wire, parameters, scalar, to_wire};
use crate::error::AvaticaError;
use crate::messages::{Rep, TypedValue};

fn sent(value: Value, ty: SqlType) -> (Rep, TypedValue) {
    let value = scalar(value, ty).unwrap();
    (Rep::try_from(value.r#type).unwrap(), value)
}

#[test]
fn each_type_has_the_form_that_clients_read() {
    let (rep, date) = sent(Value::Date(-1), SqlType::Date);
    assert_eq!((rep, date.number_value), (Rep::Integer, -1));
    let (rep, time) = sent(Value::Date(DAY_MS + 5), SqlType::UnsignedTime);
    assert_eq!((rep, time.number_value), (Rep::Integer, 5));
    let (rep, timestamp) = sent(Value::Timestamp(Timestamp { ms: 7, nanos: 9 }), SqlType::Timestamp);
    assert_eq!((rep, timestamp.number_value), (Rep::Long, 7));
    let (rep, float) = sent(Value::Float(1.5), SqlType::Float);
    assert_eq!((rep, float.double_value, float.number_value), (Rep::Double, 1.5, 0));
    let (rep, decimal) = sent(Value::Decimal("12.3".parse().unwrap()), SqlType::Decimal(Some((5, 2))));
    assert_eq!((rep, decimal.string_value.as_str(), decimal.number_value), (Rep::BigDecimal, "12.30", 0));
    let (rep, bytes) = sent(Value::Bytes(vec![0, 255]), SqlType::Varbinary);
    assert_eq!((rep, &bytes.bytes_value[..]), (Rep::ByteString, &[0, 255][..]));
    let (rep, null) = sent(Value::Null, SqlType::BigInt);
    assert_eq!((rep, null.null), (Rep::Null, true));
    assert_eq!(sent(Value::Int(1), SqlType::UnsignedSmallInt).0, Rep::Short);
    assert_eq!(sent(Value::Int(1), SqlType::TinyInt).0, Rep::Byte);
    assert_eq!(sent(Value::Int(1), SqlType::UnsignedLong).0, Rep::Long);
}

#[test]
fn types_that_phoenix_does_not_have_are_text() {
    let (rep, uuid) = sent(Value::Bytes(vec![0; 16]), SqlType::Uuid);
    assert_eq!((rep, uuid.string_value.as_str()), (Rep::String, "00000000-0000-0000-0000-000000000000"));
    let interval = Interval { months: 1, days: 0, nanos: 0 };
    assert_eq!(sent(Value::Interval(interval), SqlType::Interval).1.string_value, "1 mon");
}

#[test]
fn arrays_are_beside_scalars() {
    let ty = SqlType::array(SqlType::Integer).unwrap();
    let value = to_wire(Value::Array(vec![Value::Int(1), Value::Null]), ty).unwrap();
    assert!(value.has_array_value && value.scalar_value.is_none());
    assert_eq!(value.array_value[0].r#type, Rep::Integer as i32);
    assert!(value.array_value[1].null);
    let null = to_wire(Value::Null, ty).unwrap();
    assert!(!null.has_array_value && null.scalar_value.unwrap().null);
}

#[test]
fn a_date_far_away_is_refused() {
    let far = scalar(Value::Date(i64::MAX), SqlType::Date);
    assert!(matches!(far, Err(AvaticaError::ValueOutOfRange { .. })));
}

fn number(rep: Rep, number_value: i64) -> TypedValue {
    TypedValue { r#type: rep.into(), number_value, ..TypedValue::default() }
}

fn text(rep: Rep, text: &str) -> TypedValue {
    TypedValue { r#type: rep.into(), string_value: text.to_owned(), ..TypedValue::default() }
}

#[test]
fn parameters_come_in_the_forms_of_all_drivers() {
    let decimal = |text: &str| Value::Decimal(text.parse().unwrap());
    let big =
        |bytes: &'static [u8]| TypedValue { bytes_value: Bytes::from_static(bytes), ..number(Rep::BigInteger, 0) };
    let bits = i64::from(1.5_f32.to_bits());
    for (sent, expected) in [
        (number(Rep::PrimitiveInt, -3), Value::Int(-3)),
        (number(Rep::JavaSqlDate, -1), Value::Date(-DAY_MS)),
        (number(Rep::JavaSqlTime, 5), Value::Date(5)),
        (number(Rep::JavaSqlTimestamp, 5), Value::Timestamp(Timestamp { ms: 5, nanos: 0 })),
        (number(Rep::Float, bits), Value::Float(1.5)),
        (TypedValue { double_value: 1.5, ..number(Rep::Float, 0) }, Value::Double(1.5)),
        (number(Rep::Number, 8), Value::Int(8)),
        (text(Rep::Number, "8.5"), decimal("8.5")),
        (text(Rep::BigDecimal, "-0.25"), decimal("-0.25")),
        (big(b"\x01\x00"), decimal("256")),
        (big(b"\xff"), decimal("-1")),
        (text(Rep::Character, "x"), Value::text("x")),
        (TypedValue { null: true, ..number(Rep::Long, 4) }, Value::Null),
        (TypedValue::default(), Value::Bool(false)),
    ] {
        assert_eq!(from_wire(&sent).unwrap(), expected, "{sent:?}");
    }
}

#[test]
fn elements_without_a_form_have_that_of_the_array() {
    let null = TypedValue { null: true, ..TypedValue::default() };
    let array = TypedValue {
        component_type: Rep::Long.into(),
        array_value: vec![number(Rep::Long, 1), number(Rep::PrimitiveBoolean, 2), null],
        ..number(Rep::Array, 0)
    };
    let expected = Value::Array(vec![Value::Int(1), Value::Int(2), Value::Null]);
    assert_eq!(from_wire(&array).unwrap(), expected);
}

#[test]
fn bad_parameters_are_refused_with_their_place() {
    for bad in [
        number(Rep::Object, 1),
        text(Rep::BigDecimal, "x"),
        number(Rep::BigInteger, 0),
        number(Rep::JavaSqlDate, i64::MAX),
        number(Rep::Float, i64::MAX),
        TypedValue { r#type: 99, ..TypedValue::default() },
        TypedValue { bytes_value: Bytes::from(vec![1; 17]), ..number(Rep::BigInteger, 0) },
    ] {
        match parameters(&[TypedValue::default(), bad.clone()]) {
            Err(AvaticaError::BadParameter { place: 2, .. }) => {}
            other => panic!("{bad:?}: {other:?}"),
        }
    }
}

/// Values of types whose form loses nothing.
fn lossless() -> impl Strategy<Value = (Value, SqlType)> {
    let of = |ty: SqlType| move |value: Value| (value, ty);
    prop_oneof![
        any::<i64>().prop_map(Value::Int).prop_map(of(SqlType::BigInt)),
        any::<i8>().prop_map(|number| Value::Int(number.into())).prop_map(of(SqlType::TinyInt)),
        any::<bool>().prop_map(Value::Bool).prop_map(of(SqlType::Boolean)),
        any::<f64>().prop_map(Value::Double).prop_map(of(SqlType::Double)),
        ".{0,20}".prop_map(Value::text).prop_map(of(SqlType::Varchar(None))),
        proptest::collection::vec(any::<u8>(), 0..20).prop_map(Value::Bytes).prop_map(of(SqlType::Varbinary)),
        (any::<i64>(), -30..30)
            .prop_map(|(digits, scale)| Value::Decimal(Decimal::new(digits.into(), scale).unwrap()))
            .prop_map(of(SqlType::Decimal(None))),
        Just((Value::Null, SqlType::Date)),
    ]
}

proptest! {
    #[test]
    fn values_come_back((value, ty) in lossless()) {
        prop_assert_eq!(from_wire(&scalar(value.clone(), ty).unwrap()).unwrap(), value);
    }

    #[test]
    fn floats_come_back_as_the_same_number(number in any::<f32>()) {
        let back = from_wire(&scalar(Value::Float(number), SqlType::Float).unwrap()).unwrap();
        prop_assert_eq!(back, Value::Double(number.into()));
    }

    /// A client that reads days of a date and sends them back means the same day.
    #[test]
    fn dates_keep_their_day(ms in -100_000_000_000_000_i64..100_000_000_000_000) {
        let sent = scalar(Value::Date(ms), SqlType::Date).unwrap();
        let back = from_wire(&TypedValue { r#type: Rep::JavaSqlDate.into(), ..sent }).unwrap();
        prop_assert_eq!(back, Value::Date(ms.div_euclid(DAY_MS) * DAY_MS));
    }

    #[test]
    fn any_parameter_is_read_or_refused(
        rep in -2..40_i32, number in any::<i64>(), bytes in proptest::collection::vec(any::<u8>(), 0..20), text in ".{0,10}", null in any::<bool>(),
    ) {
        let value = TypedValue { r#type: rep, number_value: number, bytes_value: bytes.into(), string_value: text, null, ..TypedValue::default() };
        let array = TypedValue { r#type: Rep::Array.into(), component_type: rep, array_value: vec![value.clone()], ..TypedValue::default() };
        let _ = (from_wire(&value), from_wire(&array));
    }
}
