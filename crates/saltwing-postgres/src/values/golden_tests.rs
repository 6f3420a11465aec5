//! Values in both formats, byte by byte as PostgreSQL 15 sends them.

use bytes::BytesMut;
use saltwing::{Interval, SqlType, Timestamp, Value, ValueRef, text};

use super::encode::encode;
use super::{Format, WireType, decode};

/// The bytes of a value, without the length before them, which is checked.
fn encoded(value: &Value, ty: SqlType, format: Format) -> Vec<u8> {
    let mut out = BytesMut::from(&b"before"[..]);
    encode(&ValueRef::from(value), ty, format, &mut out).unwrap();
    assert_eq!(&out[..6], b"before");
    let (length, body) = out[6..].split_first_chunk().unwrap();
    assert_eq!(i32::from_be_bytes(*length), body.len() as i32);
    // A value that is owned is sent as one that is borrowed.
    let mut owned = BytesMut::new();
    encode(&ValueRef::Owned(value.clone()), ty, format, &mut owned).unwrap();
    assert_eq!(&owned[..], &out[6..]);
    body.to_vec()
}

/// Checks both formats of a value, and that both read back as `read`.
fn check_reading(value: &Value, ty: SqlType, shown: &str, binary: &str, read: &Value) {
    let binary = text::unhex(binary).unwrap();
    assert_eq!(String::from_utf8(encoded(value, ty, Format::Text)).unwrap(), shown, "{ty}");
    assert_eq!(encoded(value, ty, Format::Binary), binary, "{ty} {shown}");
    let oid = WireType::of(ty).oid;
    for (bytes, format) in [(shown.as_bytes(), Format::Text), (&binary, Format::Binary)] {
        assert_eq!(decode(Some(bytes), format, oid, Some(ty)).unwrap(), *read, "{ty} {shown}");
    }
}

fn check(value: &Value, ty: SqlType, shown: &str, binary: &str) {
    check_reading(value, ty, shown, binary, value);
}

fn array_of(element: SqlType) -> SqlType {
    SqlType::array(element).unwrap()
}

/// A timestamp by the library's text for it.
fn at(text: &str) -> Timestamp {
    let Value::Timestamp(at) = text::parse(text, SqlType::Timestamp).unwrap() else { panic!("{text}") };
    at
}

const VARCHAR: SqlType = SqlType::Varchar(None);
const UUID: &str = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11";

#[test]
fn truth_values_and_numbers() {
    check(&Value::Bool(true), SqlType::Boolean, "t", "01");
    check(&Value::Bool(false), SqlType::Boolean, "f", "00");
    for (number, ty, shown, binary) in [
        (0, SqlType::TinyInt, "0", "0000"),
        (-1, SqlType::SmallInt, "-1", "ffff"),
        (32_767, SqlType::UnsignedSmallInt, "32767", "7fff"),
        (-32_768, SqlType::SmallInt, "-32768", "8000"),
        (-1, SqlType::Integer, "-1", "ffffffff"),
        (2_147_483_647, SqlType::UnsignedInt, "2147483647", "7fffffff"),
        (-2_147_483_648, SqlType::Integer, "-2147483648", "80000000"),
        (0, SqlType::BigInt, "0", "0000000000000000"),
        (i64::MAX, SqlType::UnsignedLong, "9223372036854775807", "7fffffffffffffff"),
        (i64::MIN, SqlType::BigInt, "-9223372036854775808", "8000000000000000"),
    ] {
        check(&Value::Int(number), ty, shown, binary);
    }
    check(&Value::Float(0.1), SqlType::Float, "0.1", "3dcccccd");
    check(&Value::Float(1_234_567.0), SqlType::UnsignedFloat, "1.234567e+06", "4996b438");
    check(&Value::Float(f32::NAN), SqlType::Float, "NaN", "7fc00000");
    check(&Value::Double(1e15), SqlType::Double, "1e+15", "430c6bf526340000");
    check(&Value::Double(-0.0), SqlType::Double, "-0", "8000000000000000");
    check(&Value::Double(f64::NEG_INFINITY), SqlType::Double, "-Infinity", "fff0000000000000");
    let decimal = |text: &str| Value::Decimal(text.parse().unwrap());
    check(&decimal("1.5"), SqlType::Decimal(Some((5, 2))), "1.50", "000200000000000200011388");
    check(&decimal("0"), SqlType::Decimal(Some((5, 2))), "0.00", "0000000000000002");
    check(&decimal("1e20"), SqlType::Decimal(None), "100000000000000000000", "00010005000000000001");
    check(
        &decimal("-99999999.00000001"),
        SqlType::Decimal(None),
        "-99999999.00000001",
        "0004000140000008270f270f00000001",
    );
}

#[test]
fn texts_and_bytes() {
    check(&Value::text("é'\\"), VARCHAR, "é'\\", "c3a9275c");
    check(&Value::text(""), SqlType::Varchar(Some(5)), "", "");
    check(&Value::text("ab"), SqlType::Char(5), "ab   ", "6162202020");
    check(&Value::text("[1, 2]"), SqlType::Json, "[1, 2]", "5b312c20325d");
    check(&Value::Bytes(vec![0, 255]), SqlType::Varbinary, "\\x00ff", "00ff");
    check(&Value::Bytes(vec![]), SqlType::VarbinaryEncoded, "\\x", "");
    check(&Value::Bytes(b"\\xD".to_vec()), SqlType::Binary(3), "\\x5c7844", "5c7844");
    let id = text::unhex(&UUID.replace('-', "")).unwrap();
    check(&Value::Bytes(id), SqlType::Uuid, UUID, "a0eebc999c0b4ef8bb6d6bb9bd380a11");
}

#[test]
fn instants() {
    for (instant, shown, binary) in [
        ("2024-05-01 12:30:00.123", "2024-05-01 12:30:00.123", "0002ba6269ed0278"),
        ("1970-01-01", "1970-01-01 00:00:00", "fffca2fec4c82000"),
        ("2000-01-01", "2000-01-01 00:00:00", "0000000000000000"),
        ("1999-12-31 23:59:59.999", "1999-12-31 23:59:59.999", "fffffffffffffc18"),
        ("0001-01-01", "0001-01-01 00:00:00", "ff1fe2ffc59c6000"),
        ("0000-12-31", "0001-12-31 00:00:00 BC", "ff1fe2eba7c50000"),
        ("-0043-03-15 12:00:00", "0044-03-15 12:00:00 BC", "ff1af9e8fb46d000"),
        ("-4712-01-01", "4713-01-01 00:00:00 BC", "fd0f7fbdaf17e000"),
        ("9999-12-31 23:59:59.999", "9999-12-31 23:59:59.999", "0380e70b913b7c18"),
        ("10000-01-01", "10000-01-01 00:00:00", "0380e70b913b8000"),
        ("262142-12-31 23:59:59.999", "262142-12-31 23:59:59.999", "71ed5d384399fc18"),
        ("2024-02-29 00:00:00.1", "2024-02-29 00:00:00.1", "0002b578b58de6a0"),
        ("1600-02-29 00:00:00.01", "1600-02-29 00:00:00.01", "ffd32c48b2f9e710"),
    ] {
        check(&Value::Timestamp(at(instant)), SqlType::Timestamp, shown, binary);
        check(&Value::Date(at(instant).ms), SqlType::Date, shown, binary);
    }
    for (ms, shown, binary) in [
        (0, "00:00:00", "0000000000000000"),
        (45_000_123, "12:30:00.123", "0000000a7a376278"),
        (86_399_999, "23:59:59.999", "000000141dd75c18"),
    ] {
        check(&Value::Date(ms), SqlType::Time, shown, binary);
    }
    for (instant, shown, binary, read) in [
        (
            "2024-05-01 12:30:00.123456789",
            "2024-05-01 12:30:00.123456",
            "0002ba6269ed0440",
            "2024-05-01 12:30:00.123456",
        ),
        (
            "1969-12-31 23:59:59.999999999",
            "1969-12-31 23:59:59.999999",
            "fffca2fec4c81fff",
            "1969-12-31 23:59:59.999999",
        ),
        ("2024-05-01 12:30:00.000001", "2024-05-01 12:30:00.000001", "0002ba6269eb2201", "2024-05-01 12:30:00.000001"),
        ("2024-05-01 12:30:00.1234", "2024-05-01 12:30:00.1234", "0002ba6269ed0408", "2024-05-01 12:30:00.1234"),
    ] {
        let [value, read] = [instant, read].map(|text| Value::Timestamp(at(text)));
        check_reading(&value, SqlType::Timestamp, shown, binary, &read);
    }
}

#[test]
fn lengths_of_time() {
    for (interval, shown, binary) in [
        ("0 s", "00:00:00", "00000000000000000000000000000000"),
        ("1 year 2 mons -3 days 04:05:06.7", "1 year 2 mons -3 days +04:05:06.7", "000000036c966ee0fffffffd0000000e"),
        ("-1 mon +1 day", "-1 mons +1 day", "000000000000000000000001ffffffff"),
        ("-00:00:00.000001", "-00:00:00.000001", "ffffffffffffffff0000000000000000"),
        ("100:00:00", "100:00:00", "00000053d1ac10000000000000000000"),
        ("-1 year -2 mons 3 days -04:05:06", "-1 years -2 mons +3 days -04:05:06", "fffffffc93743f8000000003fffffff2"),
    ] {
        check(&Value::Interval(Interval::parse(interval).unwrap()), SqlType::Interval, shown, binary);
    }
    let (nanos, micros) =
        [(-1_999), (-1_000)].map(|nanos| Value::Interval(Interval { nanos, ..Interval::default() })).into();
    check_reading(&nanos, SqlType::Interval, "-00:00:00.000001", "ffffffffffffffff0000000000000000", &micros);
}

#[test]
fn arrays() {
    let numbers = Value::Array(vec![Value::Int(1), Value::Null, Value::Int(3)]);
    let bytes = "00000001000000010000001700000003000000010000000400000001ffffffff0000000400000003";
    check(&numbers, array_of(SqlType::Integer), "{1,NULL,3}", bytes);
    check(&Value::Array(vec![]), array_of(SqlType::Integer), "{}", "000000000000000000000017");
    let small = "0000000100000000000000150000000200000001000000020001000000020002";
    check(&Value::from(vec![1, 2]), array_of(SqlType::TinyInt), "{1,2}", small);
    let floats = Value::from(vec![1.5, f64::NAN, f64::INFINITY, 1e20]);
    let bytes = "0000000100000000000002bd0000000400000001000000083ff8000000000000000000087ff8000000000000000000087ff0000000000000000000084415af1d78b58c40";
    check(&floats, array_of(SqlType::Double), "{1.5,NaN,Infinity,1e+20}", bytes);
    let decimals = Value::Array(["1.5", "2"].map(|text| Value::Decimal(text.parse().unwrap())).to_vec());
    let bytes = "0000000100000000000006a400000002000000010000000c0002000000000002000113880000000a00010000000000020002";
    check(&decimals, array_of(SqlType::Decimal(Some((5, 2)))), "{1.50,2.00}", bytes);
    let padded = "00000001000000000000041200000002000000010000000361622000000003632020";
    check(&Value::from(vec!["ab", "c"]), array_of(SqlType::Char(3)), "{\"ab \",\"c  \"}", padded);
    let truths = Value::Array(vec![Value::Bool(true), Value::Bool(false), Value::Null]);
    let bytes = "00000001000000010000001000000003000000010000000101000000010".to_owned() + "0ffffffff";
    check(&truths, array_of(SqlType::Boolean), "{t,f,NULL}", &bytes);
    let blobs = Value::Array(vec![Value::Bytes(vec![0]), Value::Bytes(vec![])]);
    let bytes = "0000000100000000000000110000000200000001000000010000000000";
    check(&blobs, array_of(SqlType::Varbinary), "{\"\\\\x00\",\"\\\\x\"}", bytes);
    let dates = Value::Array(vec![Value::Date(at("2024-05-01 12:30:00.123").ms), Value::Date(0)]);
    let bytes = "00000001000000000000045a0000000200000001000000080002ba6269ed027800000008fffca2fec4c82000";
    check(&dates, array_of(SqlType::Date), "{\"2024-05-01 12:30:00.123\",\"1970-01-01 00:00:00\"}", bytes);
    let lengths = Value::Array(["1 day", "1 s"].map(|text| Value::Interval(Interval::parse(text).unwrap())).to_vec());
    let bytes = "0000000100000000000004a2000000020000000100000010000000000000000000000001000000000000001000000000000f42400000000000000000";
    check(&lengths, array_of(SqlType::Interval), "{\"1 day\",00:00:01}", bytes);
    let ids = Value::Array(vec![Value::Bytes(text::unhex(&UUID.replace('-', "")).unwrap())]);
    let bytes = "000000010000000000000b86000000010000000100000010a0eebc999c0b4ef8bb6d6bb9bd380a11";
    check(&ids, array_of(SqlType::Uuid), &format!("{{{UUID}}}"), bytes);
    let documents = Value::from(vec!["{\"a\": 1}", "[1]"]);
    let bytes = "0000000100000000000000720000000200000001000000087b2261223a20317d000000035b315d";
    check(&documents, array_of(SqlType::Json), "{\"{\\\"a\\\": 1}\",[1]}", bytes);
}

#[test]
fn elements_in_quotes() {
    let texts = [
        Some("a b"),
        None,
        Some(""),
        Some("NULL"),
        Some("null"),
        Some("a,b"),
        Some("a\"b"),
        Some("a\\b"),
        Some("{x}"),
        Some("plain"),
        Some("é"),
        Some("tab\t"),
        Some("nl\n"),
        Some("vt\u{b}"),
        Some("nbsp\u{a0}"),
        Some("it's"),
        Some("(x)"),
        Some("\\x"),
    ];
    let shown = "{\"a b\",NULL,\"\",\"NULL\",\"null\",\"a,b\",\"a\\\"b\",\"a\\\\b\",\"{x}\",plain,é,\"tab\t\",\"nl\n\",\"vt\u{b}\",nbsp\u{a0},it's,(x),\"\\\\x\"}";
    let binary = "000000010000000100000413000000120000000100000003612062ffffffff00000000000000044e554c4c000000046e756c6c00000003612c6200000003612262\
                  00000003615c62000000037b787d00000005706c61696e00000002c3a90000000474616209000000036e6c0a0000000376740b000000066e627370c2a0000000046974277300\
                  0000032878290000000" .to_owned() + "25c78";
    let value = Value::Array(texts.map(Value::from).to_vec());
    check(&value, array_of(VARCHAR), shown, &binary);
}

#[test]
fn null_has_a_length_and_no_bytes() {
    for format in [Format::Text, Format::Binary] {
        for value in [ValueRef::Null, ValueRef::Owned(Value::Null)] {
            let mut out = BytesMut::new();
            encode(&value, SqlType::Integer, format, &mut out).unwrap();
            assert_eq!(&out[..], [255; 4]);
        }
    }
}

#[test]
fn values_without_a_type_are_texts() {
    for (value, shown) in [
        (Value::Bool(true), "t"),
        (Value::Int(-5), "-5"),
        (Value::Double(0.5), "0.5"),
        (Value::Decimal("1.50".parse().unwrap()), "1.5"),
        (Value::Date(0), "1970-01-01 00:00:00"),
        (Value::text("x"), "x"),
        (Value::Bytes(vec![1]), "\\x01"),
        (Value::Array(vec![Value::Null, Value::Int(1)]), "{NULL,1}"),
        (Value::Array(vec![Value::Null]), "{NULL}"),
        (Value::Array(vec![]), "{}"),
    ] {
        for format in [Format::Text, Format::Binary] {
            assert_eq!(String::from_utf8(encoded(&value, SqlType::Null, format)).unwrap(), shown);
        }
    }
}

#[test]
fn a_refused_value_leaves_nothing() {
    let far = Value::Date(i64::MAX);
    for (value, ty, state) in [
        (Value::Int(32_768), SqlType::SmallInt, "22003"),
        (Value::Int(i64::MAX), SqlType::Integer, "22003"),
        (far.clone(), SqlType::Date, "22008"),
        (Value::Array(vec![Value::Date(0), far]), array_of(SqlType::Date), "22008"),
    ] {
        for format in [Format::Text, Format::Binary] {
            let mut out = BytesMut::from(&b"before"[..]);
            let error = encode(&ValueRef::from(&value), ty, format, &mut out).unwrap_err();
            assert_eq!((error.sqlstate(), &out[..]), (state, &b"before"[..]));
        }
    }
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "a column of type BOOLEAN has a value of another type")]
fn a_value_of_another_type_is_a_bug() {
    let _ = encode(&ValueRef::Int(1), SqlType::Boolean, Format::Text, &mut BytesMut::new());
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "a column of type INTEGER ARRAY has a value of another type")]
fn a_number_is_no_array() {
    let _ = encode(&ValueRef::Int(1), array_of(SqlType::Integer), Format::Binary, &mut BytesMut::new());
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "a column of type NULL has a value of another type")]
fn an_array_of_arrays_has_no_form() {
    let nested = Value::Array(vec![Value::Array(vec![])]);
    let _ = encode(&ValueRef::from(&nested), SqlType::Null, Format::Text, &mut BytesMut::new());
}
