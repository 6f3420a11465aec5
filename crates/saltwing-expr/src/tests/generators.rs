//! Random types, values, columns and expressions for the property tests.

pub(crate) mod expressions;

use arrow::array::ArrayRef;
use proptest::prelude::*;
use saltwing_types::value::Timestamp;
use saltwing_types::{Decimal, Interval as Length, SqlType, Value};

use crate::ColumnBuilder;

/// One of each type.
pub(crate) const ALL_TYPES: [SqlType; 30] = [
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
    SqlType::Decimal(Some((38, 10))),
    SqlType::Boolean,
    SqlType::Date,
    SqlType::Time,
    SqlType::Timestamp,
    SqlType::UnsignedTimestamp,
    SqlType::Char(4),
    SqlType::Varchar(None),
    SqlType::Varchar(Some(3)),
    SqlType::Binary(2),
    SqlType::Varbinary,
    SqlType::VarbinaryEncoded,
    SqlType::Uuid,
    SqlType::Json,
    SqlType::Interval,
];

pub(crate) fn any_type() -> impl Strategy<Value = SqlType> {
    let scalar = || prop::sample::select(&ALL_TYPES[..]);
    prop_oneof![4 => scalar(), 1 => scalar().prop_map(|element| SqlType::array(element).unwrap())]
}

/// A value that a column of the type holds: often NULL, often a limit of the type.
pub(crate) fn any_value(ty: SqlType) -> BoxedStrategy<Value> {
    if ty == SqlType::Null {
        return Just(Value::Null).boxed();
    }
    prop_oneof![1 => Just(Value::Null), 5 => present_value(ty)].boxed()
}

fn present_value(ty: SqlType) -> BoxedStrategy<Value> {
    use SqlType::*;
    match ty {
        Null => Just(Value::Null).boxed(),
        Boolean => any::<bool>().prop_map(Value::Bool).boxed(),
        Float | UnsignedFloat => any_float(ty).prop_map(|f| Value::Float(f as f32)).boxed(),
        Double | UnsignedDouble => any_float(ty).prop_map(Value::Double).boxed(),
        Decimal(limits) => any_decimal(limits).prop_map(Value::Decimal).boxed(),
        Date | Time | UnsignedDate | UnsignedTime => any_ms(ty).prop_map(Value::Date).boxed(),
        Timestamp | UnsignedTimestamp => any_timestamp(ty).prop_map(Value::Timestamp).boxed(),
        Char(n) => any_text(n).prop_map(|t| Value::text(t.replace('é', "e").trim_end_matches(' '))).boxed(),
        Varchar(n) => any_text(n.unwrap_or(6)).prop_map(Value::Text).boxed(),
        Json => prop::sample::select(vec!["null", "[1, 2.50]", "{\"a\": \"é\"}", "\"a\"", "7"])
            .prop_map(Value::text)
            .boxed(),
        Binary(n) => prop::collection::vec(any_byte(), n as usize).prop_map(Value::Bytes).boxed(),
        Uuid => prop::collection::vec(any_byte(), 16).prop_map(Value::Bytes).boxed(),
        Interval => (-30i32..30, -40i32..40, prop_oneof![Just(0i64), any::<i64>()])
            .prop_map(|(months, days, nanos)| Value::Interval(Length { months, days, nanos }))
            .boxed(),
        Varbinary | VarbinaryEncoded => prop::collection::vec(any_byte(), 0..4).prop_map(Value::Bytes).boxed(),
        Array(element, _) => prop::collection::vec(any_value(element.sql_type()), 0..3).prop_map(Value::Array).boxed(),
        _ => any_int(ty).prop_map(Value::Int).boxed(),
    }
}

fn any_int(ty: SqlType) -> impl Strategy<Value = i64> {
    let (low, high) = ty.integer_range().unwrap();
    prop_oneof![3 => -3i64..=3, 1 => Just(low), 1 => Just(high), 1 => low..=high].prop_map(move |i| i.clamp(low, high))
}

fn any_float(ty: SqlType) -> impl Strategy<Value = f64> {
    let few = vec![0.0, -0.0, 0.1, 1.0, -1.5, 2.0, 3.0, 1e30, 9.223_372_036_854_776e18, f64::NAN, f64::INFINITY];
    prop_oneof![3 => prop::sample::select(few), 1 => any::<f32>().prop_map(f64::from)]
        .prop_map(move |f| if ty.is_unsigned() { f.abs() } else { f })
}

fn any_decimal(limits: Option<(u8, u8)>) -> BoxedStrategy<Decimal> {
    match limits {
        Some((precision, scale)) => {
            let end = 10i128.pow(precision.into()) - 1;
            prop_oneof![3 => (-3i128..=3).prop_map(move |i| i * 10i128.pow(u32::from(scale)) / 2), 1 => Just(end), 1 => Just(-end), 1 => -end..=end]
                .prop_map(move |digits| Decimal::new(digits.clamp(-end, end), scale.into()).unwrap())
                .boxed()
        }
        None => {
            let few =
                ["0", "1", "-1", "0.5", "2", "0.1", "-2.25", "1e37", "99999999999999999999999999999999999999", "1e-38"];
            let few: Vec<Decimal> = few.iter().map(|text| text.parse().unwrap()).collect();
            prop_oneof![
                3 => prop::sample::select(few),
                1 => (any::<i64>(), 0..20).prop_map(|(digits, scale)| Decimal::new(digits.into(), scale).unwrap())
            ]
            .boxed()
        }
    }
}

fn any_ms(ty: SqlType) -> impl Strategy<Value = i64> {
    prop_oneof![
        2 => (-2i64..=2).prop_map(|days| days * 86_400_000),
        2 => -5i64..=5,
        1 => -70_000_000_000_000i64..300_000_000_000_000,
        1 => any::<i64>(),
    ]
    .prop_map(move |ms| if ty.is_unsigned() { ms.saturating_abs() } else { ms })
}

fn any_timestamp(ty: SqlType) -> impl Strategy<Value = Timestamp> {
    prop_oneof![
        2 => (-2i64..=2).prop_map(|days| days * 86_400_000_000_000),
        2 => -5i64..=5,
        2 => (-5i64..=5).prop_map(|n| n * 1_000_000),
        1 => any::<i64>(),
    ]
    .prop_map(move |nanos| Timestamp::from_nanos(if ty.is_unsigned() { nanos.saturating_abs() } else { nanos }))
}

fn any_text(chars_max: u32) -> impl Strategy<Value = String> {
    let chars = prop::sample::select(vec!['a', 'a', 'b', 'A', ' ', '%', '_', '\\', '1', 'é', '\u{1}']);
    prop::collection::vec(chars, 0..=chars_max as usize).prop_map(|chars| chars.into_iter().collect())
}

fn any_byte() -> impl Strategy<Value = u8> {
    prop::sample::select(vec![0, 1, b'a', 0xff])
}

/// Columns of these types with up to `rows_max` rows.
pub(crate) fn any_columns(types: &'static [SqlType], rows_max: usize) -> impl Strategy<Value = Vec<Vec<Value>>> {
    (0..=rows_max).prop_flat_map(move |rows| {
        types.iter().map(|ty| prop::collection::vec(any_value(*ty), rows)).collect::<Vec<_>>()
    })
}

/// Values as a column.
pub(crate) fn to_array(ty: SqlType, values: &[Value]) -> ArrayRef {
    let mut builder = ColumnBuilder::new(ty, values.len());
    for value in values {
        builder.append_value(value).unwrap();
    }
    builder.finish()
}
