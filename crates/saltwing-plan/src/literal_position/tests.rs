use std::cmp::Ordering;

use saltwing_types::number::assign;
use saltwing_types::{KeyColumn, KeySource, SortOrder};

use super::*;

const TYPES: [SqlType; 22] = [
    SqlType::TinyInt,
    SqlType::SmallInt,
    SqlType::Integer,
    SqlType::BigInt,
    SqlType::UnsignedInt,
    SqlType::UnsignedLong,
    SqlType::Float,
    SqlType::Double,
    SqlType::UnsignedFloat,
    SqlType::UnsignedDouble,
    SqlType::Decimal(None),
    SqlType::Decimal(Some((4, 2))),
    SqlType::Decimal(Some((38, 0))),
    SqlType::Boolean,
    SqlType::Date,
    SqlType::UnsignedDate,
    SqlType::Timestamp,
    SqlType::UnsignedTimestamp,
    SqlType::Char(2),
    SqlType::Varchar(None),
    SqlType::Varchar(Some(2)),
    SqlType::Binary(2),
];

fn constants() -> Vec<Value> {
    let ints = [0, 1, -1, 2, 5, 99, 100, -100, 127, 128, -128, -129, 16_777_217, i64::MAX, i64::MIN].map(Value::Int);
    let decimals = [
        "0.5", "2.5", "1.55", "1.555", "-1.555", "-0.001", "99.99", "99.999", "-99.999", "1e39", "0.1", "1e300",
        "-1e300",
    ];
    let extremes = ["9.9e125", "1e126", "-9.9e123", "-1e124", "1e-126", "9e-127", "-9e-127", "9e121", "1e122"];
    let decimals = decimals.into_iter().chain(extremes).map(|text| Value::Decimal(text.parse().unwrap()));
    let floats =
        [0.1, -0.0, 1.5, 1e300, -1e300, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 16_777_216.0, 5e-324, 127.5];
    let singles = [0.1f32, f32::MAX, f32::MIN_POSITIVE, -1.5, f32::NAN].map(Value::Float);
    let instants = [0, 1, -1, i64::MAX, i64::MIN].map(Value::Date);
    let stamps = [(0, 0), (0, 1), (-1, 999_999), (1, 5)].map(|(ms, nanos)| Value::Timestamp(Timestamp { ms, nanos }));
    let texts = [
        "",
        " ",
        "a",
        "a ",
        "ab",
        "ab ",
        "abc",
        "a\u{1}",
        "ab\u{1}",
        "a\0",
        "a\0b",
        "\0",
        "é",
        "aé",
        "abé",
        "a!",
        "\u{7f}",
        "\u{ffff}",
        "\u{10000}",
        "a\u{10000}",
        "\u{10000}a",
    ]
    .map(Value::text);
    let bytes: [&[u8]; 8] = [b"", b"\0", b"a", b"ab", b"abc", b"\0\0", b"\xff\xff", b"\xff\xff\xff"];
    let bytes = bytes.map(|b| Value::Bytes(b.to_vec()));
    ints.into_iter()
        .chain(decimals)
        .chain(floats.map(Value::Double))
        .chain(singles)
        .chain(instants)
        .chain(stamps)
        .chain(texts)
        .chain(bytes)
        .chain([Value::Bool(true), Value::Bool(false)])
        .collect()
}

/// Whether a row can have the value: whether the codec of a one-column key accepts it.
fn can_hold(key: &KeyColumn, is_last: bool, value: &Value) -> bool {
    // A column before it keeps the key from being empty, one after it takes the last place.
    let filler = |column| KeyColumn {
        source: KeySource::Column(column),
        name: "f".into(),
        ty: SqlType::TinyInt,
        order: SortOrder::Asc,
        nullable: false,
    };
    let columns = if is_last { vec![filler(0), key.clone()] } else { vec![filler(0), key.clone(), filler(2)] };
    let count = columns.len();
    let codec = saltwing_rowkey::RowKeyCodec::new(&saltwing_types::KeySchema { columns, salt: None }).unwrap();
    let row = [Value::Int(0), value.clone(), Value::Int(0)];
    codec.encode_logical(&row[..count]).is_ok()
}

#[test]
fn a_constant_is_placed_as_sql_compares_it() {
    let constants = constants();
    let mut checked = 0;
    for ty in TYPES {
        for (order, nullable, is_last) in [
            (SortOrder::Asc, false, false),
            (SortOrder::Asc, true, false),
            (SortOrder::Asc, true, true),
            (SortOrder::Desc, true, false),
            (SortOrder::Desc, false, true),
        ] {
            let nullable = nullable && ty.fixed_key_bytes().is_none();
            let key = KeyColumn { source: KeySource::Column(1), name: "k".into(), ty, order, nullable };
            let domain = Domain::new(&key, ty, is_last);
            let values = constants.iter().filter_map(|c| assign(c.clone(), ty).ok());
            let values: Vec<Value> = values.filter(|value| can_hold(&key, is_last, value)).collect();
            for constant in &constants {
                for padded in [false, true] {
                    let Some(place) = domain.locate(constant, padded) else {
                        assert_ne!(constant.family(), ty.family(), "{constant:?} {ty}");
                        continue;
                    };
                    for value in &values {
                        check(&domain, value, constant, &place, padded);
                        checked += 1;
                    }
                }
            }
        }
    }
    assert!(checked > 50_000, "{checked}");
}

fn check(domain: &Domain, value: &Value, constant: &Value, place: &LiteralPosition, padded: bool) {
    let as_type = if padded { SqlType::Char(0) } else { domain.ty() };
    let expected = value.compare_as(constant, as_type).unwrap();
    let below = |cut: &Cut| match cut {
        Cut::Low => false,
        Cut::High => true,
        Cut::Before(v) => domain.compare(value, v).is_lt(),
        Cut::After(v) => domain.compare(value, v).is_le(),
    };
    let text = || format!("{value:?} {expected:?} {constant:?} in {domain:?} padded {padded}: {place:?}");
    match place {
        LiteralPosition::At(v) => assert_eq!(domain.compare(value, v), expected, "{}", text()),
        LiteralPosition::Gap(cut) => {
            let found = if below(cut) { Ordering::Less } else { Ordering::Greater };
            assert_eq!(found, expected, "{}", text());
        }
        // Below `lo` all is smaller, above `hi` all is larger.
        LiteralPosition::Within { lo, hi } | LiteralPosition::Approximate { lo, hi } => {
            assert!(expected.is_lt() || !below(lo), "{}", text());
            assert!(expected.is_gt() || below(hi), "{}", text());
        }
    }
}
