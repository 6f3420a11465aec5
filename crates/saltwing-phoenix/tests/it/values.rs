//! Bytes of single values that a live Phoenix wrote, and refusals.

use saltwing_phoenix::CellCodec;
use saltwing_types::text::{hex, unhex};
use saltwing_types::{ErrorCode, SqlType as T, Value as V};

fn written(ty: T, value: &V) -> Result<String, String> {
    let mut stored = Vec::new();
    CellCodec::new(ty).unwrap().encode(value, &mut stored).map_err(|error| error.to_string())?;
    Ok(hex(&stored))
}

fn texts(elements: &[Option<&str>]) -> V {
    V::Array(elements.iter().map(|text| text.map_or(V::Null, V::text)).collect())
}

#[test]
fn arrays_that_phoenix_wrote() {
    let text = T::array(T::Varchar(None)).unwrap();
    let decimal = |text: &str| V::Decimal(text.parse().unwrap());
    let cases = [
        (text, texts(&[Some("a"), None, Some("b")]), "610000ff62000000800180038005000000080000000301"),
        (text, texts(&[None, None, Some("\u{1f600}")]), "00fef09f9880000000800180018003000000090000000301"),
        (text, texts(&[Some("z")]), "7a0000008001000000040000000101"),
        (
            T::array(T::Decimal(None)).unwrap(),
            V::Array(vec![decimal("10"), V::Null]),
            "c10b00000080018004000000050000000201",
        ),
        (T::array(T::Integer).unwrap(), V::Array(vec![V::Int(-1), V::Int(0)]), "7fffffff80000000"),
        (T::array(T::Boolean).unwrap(), V::Array(vec![V::Bool(true), V::Bool(false)]), "0100"),
    ];
    for (ty, value, stored) in cases {
        assert_eq!(written(ty, &value).as_deref(), Ok(stored));
        assert_eq!(CellCodec::new(ty).unwrap().decode(&unhex(stored).unwrap()), Ok(value));
    }
}

#[test]
fn what_phoenix_would_misread_is_refused() {
    let bytes = T::array(T::Varbinary).unwrap();
    let array = |element: V| V::Array(vec![element]);
    for (ty, value, message) in [
        (
            bytes,
            array(V::Bytes(vec![0, 1])),
            "an element of VARBINARY ARRAY: one that begins with 00 or FF is NULL there",
        ),
        (
            bytes,
            array(V::Bytes(vec![0xff])),
            "an element of VARBINARY ARRAY: one that begins with 00 or FF is NULL there",
        ),
        (bytes, array(V::Bytes(vec![])), "an element of VARBINARY ARRAY: an empty element is NULL there"),
        (
            T::array(T::Integer).unwrap(),
            array(V::Null),
            "NULL in an array of INTEGER: elements of fixed width have no form for NULL",
        ),
        (T::TinyInt, V::Int(300), "300 is out of range for TINYINT: -128 to 127"),
        (T::Integer, V::text("x"), "'x' is not of type INTEGER"),
        (bytes, V::Int(1), "1 is not of type VARBINARY ARRAY"),
        (T::Json, V::Int(1), "1 is not of type VARCHAR"),
        (T::Char(2), V::text("abc"), "'abc' is too long for CHAR(2): it takes 3 of 2"),
    ] {
        assert_eq!(written(ty, &value), Err(message.to_owned()));
    }
    // The bytes behind the first one are free.
    assert_eq!(written(bytes, &array(V::Bytes(vec![1, 0, 0xff]))).as_deref(), Ok("0100ff0000008001000000060000000101"));
}

#[test]
fn errors_have_codes() {
    let code = |ty, value: V| CellCodec::new(ty).unwrap().encode(&value, &mut Vec::new()).unwrap_err().code();
    assert_eq!(code(T::TinyInt, V::Int(300)), ErrorCode::OutOfRange);
    assert_eq!(code(T::Char(1), V::text("ab")), ErrorCode::TooLong);
    assert_eq!(code(T::Integer, V::text("x")), ErrorCode::TypeMismatch);
    assert_eq!(code(T::array(T::Varchar(None)).unwrap(), texts(&[Some("")])), ErrorCode::BadArgument);
}

#[test]
fn types_that_phoenix_has_not() {
    for ty in [T::Null, T::Uuid, T::Interval, T::Opaque, T::Char(0), T::Binary(0), T::array(T::Uuid).unwrap()] {
        assert!(CellCodec::new(ty).is_err(), "{ty}");
    }
}
