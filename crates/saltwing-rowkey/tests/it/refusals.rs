//! What has no key is refused, with its code, the column, the value and the limit.

use saltwing_rowkey::{RowKeyCodec, RowKeyError};
use saltwing_types::value::Timestamp;
use saltwing_types::{KeyColumn, KeySchema, KeySource, Salt, SortOrder, SqlType as T, Value as V};

const ASC: SortOrder = SortOrder::Asc;
const DESC: SortOrder = SortOrder::Desc;

fn schema(columns: &[(T, SortOrder, bool)]) -> KeySchema {
    let column = |(index, (ty, order, nullable)): (usize, &(T, SortOrder, bool))| KeyColumn {
        source: KeySource::Column(index),
        name: ["a", "b", "c"][index].into(),
        ty: *ty,
        order: *order,
        nullable: *nullable,
    };
    KeySchema { columns: columns.iter().enumerate().map(column).collect(), salt: None }
}

fn encode(columns: &[(T, SortOrder, bool)], values: &[V]) -> Result<Vec<u8>, RowKeyError> {
    RowKeyCodec::new(&schema(columns)).unwrap().encode(values)
}

fn decimal(text: &str) -> V {
    V::Decimal(text.parse().unwrap())
}

#[track_caller]
fn refused(columns: &[(T, SortOrder, bool)], values: &[V], code: &str, message: &str) {
    let error = encode(columns, values).unwrap_err();
    assert_eq!((error.code().as_str(), error.to_string().as_str()), (code, message));
}

#[test]
fn numbers_out_of_range() {
    let one = |ty| [(ty, ASC, false)];
    refused(
        &one(T::UnsignedInt),
        &[V::Int(-1)],
        "out_of_range",
        "key column a: -1 is out of range for UNSIGNED_INT in a key: 0 to 2147483647",
    );
    refused(
        &one(T::TinyInt),
        &[V::Int(128)],
        "out_of_range",
        "key column a: 128 is out of range for TINYINT in a key: -128 to 127",
    );
    refused(
        &one(T::UnsignedDouble),
        &[V::Double(-0.5)],
        "out_of_range",
        "key column a: -0.5 is out of range for UNSIGNED_DOUBLE in a key: from 0 on",
    );
    refused(
        &one(T::UnsignedDate),
        &[V::Date(-1)],
        "out_of_range",
        "key column a: DATE '1969-12-31 23:59:59.999' is out of range for UNSIGNED_DATE in a key: from 1970 on",
    );
    refused(
        &one(T::Decimal(Some((5, 2)))),
        &[decimal("1000")],
        "out_of_range",
        "key column a: 1000 is out of range for DECIMAL(5,2) in a key: \
         3 digits before the decimal point, 2 after it",
    );
    // The smallest instant has no text of its own, and still an error.
    assert!(encode(&one(T::UnsignedDate), &[V::Date(i64::MIN)]).is_err());
    let torn = Timestamp { ms: 0, nanos: 1_000_000 };
    assert_eq!(encode(&one(T::Timestamp), &[V::Timestamp(torn)]).unwrap_err().code().as_str(), "out_of_range");
    assert!(encode(&one(T::UnsignedFloat), &[V::Float(f32::NAN)]).is_ok());
}

#[test]
fn decimal_magnitudes() {
    let key = [(T::Decimal(None), ASC, false)];
    for text in ["1e-126", "-1e-126", "9.99e125", "-9.99e123", "0"] {
        assert!(encode(&key, &[decimal(text)]).is_ok(), "{text}");
    }
    for (text, limit) in [
        ("1e126", "below 1E126"),
        ("-1e124", "above -1E124"),
        ("9.9e-127", "zero, or at least 1E-126 from it"),
        ("-9.9e-127", "zero, or at least 1E-126 from it"),
    ] {
        let error = encode(&key, &[decimal(text)]).unwrap_err();
        assert_eq!(error.code().as_str(), "out_of_range", "{text}");
        assert!(error.to_string().ends_with(limit), "{error}");
    }
    // Inverted, the largest begin like NULL: only a nullable column minds.
    assert!(encode(&[(T::Decimal(None), DESC, false)], &[decimal("9e125")]).is_ok());
    assert!(encode(&[(T::Decimal(None), DESC, true)], &[decimal("9.9e121")]).is_ok());
    let error = encode(&[(T::Decimal(None), DESC, true)], &[decimal("1e122")]).unwrap_err();
    assert_eq!(error.code().as_str(), "out_of_range");
}

#[test]
fn text_without_a_key() {
    let text = T::Varchar(None);
    let nul = V::text("x\0y");
    let message = "key column a: 'x\\0y' (hex 780079) has a NUL byte at offset 1: \
                   only a last ascending key column can hold one";
    refused(&[(text, ASC, false), (T::Integer, ASC, false)], &[nul.clone(), V::Int(1)], "bad_key", message);
    refused(&[(text, DESC, false)], std::slice::from_ref(&nul), "bad_key", message);
    assert!(encode(&[(text, ASC, false)], std::slice::from_ref(&nul)).is_ok());
    assert!(encode(&[(T::Integer, ASC, false), (text, ASC, true)], &[V::Int(1), nul]).is_ok());
    // In front of a nullable column it would read as NULL.
    let in_front = encode(&[(T::Integer, ASC, false), (text, ASC, true)], &[V::Int(1), V::text("\0x")]).unwrap_err();
    assert!(in_front.to_string().ends_with("can hold one, and none in front if it is nullable"), "{in_front}");
    refused(
        &[(T::Char(3), ASC, false)],
        &[V::text("abé")],
        "bad_key",
        "key column a: 'abé' (hex 6162c3a9) does not fit CHAR(3): 'é' is not a single-byte character",
    );
    refused(
        &[(T::Char(3), ASC, false)],
        &[V::text("abcd")],
        "too_long",
        "key column a: 'abcd' is too long for CHAR(3): it takes 4 of 3",
    );
    // UTF-16 units count: an emoji takes two.
    let error = encode(&[(T::Varchar(Some(1)), ASC, false)], &[V::text("😀")]).unwrap_err();
    assert_eq!(error.code().as_str(), "too_long");
    assert!(encode(&[(T::Varchar(Some(1)), ASC, false)], &[V::text("漢")]).is_ok());
    refused(
        &[(T::Binary(2), ASC, false)],
        &[V::Bytes(vec![1, 2, 3])],
        "too_long",
        "key column a: X'010203' is too long for BINARY(2): it takes 3 of 2",
    );
}

#[test]
fn nothing_and_null() {
    let text = T::Varchar(None);
    let nullable = [(text, ASC, true), (text, DESC, true)];
    let error = encode(&nullable, &[V::text(""), V::text("y")]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "key column a: an empty VARCHAR and NULL have the same bytes in a nullable key column"
    );
    assert_eq!((error.code().as_str(), error.help()), ("bad_key", Some("declare it NOT NULL, or write NULL")));
    assert!(encode(&nullable, &[V::text("x"), V::text("")]).is_err());
    refused(&nullable, &[V::Null, V::Null], "bad_key", "a row key of no bytes: key columns a, b are all NULL or empty");
    refused(
        &[(text, ASC, false)],
        &[V::text("")],
        "bad_key",
        "a row key of no bytes: key column a is all NULL or empty",
    );
    refused(&[(text, ASC, false)], &[V::Null], "not_null", "key column a is NOT NULL");
    refused(
        &[(text, ASC, true), (T::Integer, ASC, false)],
        &[V::text("x"), V::Null],
        "not_null",
        "key column b is NOT NULL",
    );
    // After a bucket byte no bytes are a key, as in Phoenix (golden keys-0737).
    let salted = KeySchema { salt: Some(Salt { buckets: 2, by: None }), ..schema(&nullable) };
    let codec = RowKeyCodec::new(&salted).unwrap();
    assert_eq!(codec.encode(&[V::Null, V::Null]).unwrap(), [1]);
    assert_eq!(codec.decode(&[1]).unwrap(), [V::Null, V::Null]);
}

/// NOT NULL text may be empty, and then only the separator tells.
#[test]
fn empty_text() {
    let text = T::Varchar(None);
    let required = [(text, ASC, false), (text, ASC, false)];
    assert_eq!(encode(&required, &[V::text("x"), V::text("")]).unwrap(), [0x78, 0]);
    assert_eq!(encode(&required, &[V::text(""), V::text("")]).unwrap(), [0]);
    assert_eq!(encode(&[(text, DESC, false)], &[V::text("")]).unwrap(), [0xff]);
    let mixed = [(text, ASC, false), (text, ASC, false), (text, ASC, true)];
    assert_eq!(encode(&mixed, &[V::text("x"), V::text(""), V::Null]).unwrap(), [0x78, 0]);
    assert_eq!(encode(&mixed, &[V::text("x"), V::text(""), V::text("y")]).unwrap(), [0x78, 0, 0, 0x79]);
}

#[test]
fn bytes_that_begin_like_null() {
    let binary = T::VarbinaryEncoded;
    let columns = [(binary, DESC, true), (T::Integer, ASC, false)];
    refused(
        &columns,
        &[V::Bytes(vec![0xff, 1]), V::Int(1)],
        "bad_key",
        "key column a: X'ff01' begins with FF: \
         in a nullable descending VARBINARY_ENCODED key column its bytes would begin like NULL's",
    );
    assert!(encode(&columns, &[V::Bytes(vec![0xfe, 0xff]), V::Int(1)]).is_ok());
    let required = [(binary, DESC, false), (T::Integer, ASC, false)];
    assert!(encode(&required, &[V::Bytes(vec![0xff, 1]), V::Int(1)]).is_ok());
}

#[test]
fn long_keys() {
    let key = [(T::Varchar(None), ASC, false)];
    assert!(encode(&key, &[V::text("x".repeat(32_767))]).is_ok());
    let error = encode(&key, &[V::text("x".repeat(32_768))]).unwrap_err();
    assert_eq!(error.code().as_str(), "bad_key");
    assert!(error.to_string().starts_with("a row key of 32768 bytes, 7878787878"), "{error}");
    assert!(error.to_string().ends_with("… (32768 bytes): the limit is 32767"), "{error}");
    let salted = KeySchema { salt: Some(Salt { buckets: 2, by: None }), ..schema(&key) };
    let error = RowKeyCodec::new(&salted).unwrap().encode(&[V::text("x".repeat(32_767))]).unwrap_err();
    assert_eq!(error.code().as_str(), "bad_key");
}

#[test]
fn kinds_and_counts() {
    let key = [(T::Integer, ASC, false)];
    refused(&key, &[V::text("5")], "type_mismatch", "key column a: '5' is not of type INTEGER");
    refused(&key, &[V::Int(1), V::Int(2)], "bug", "2 values for a key of 1 columns");
    let codec = RowKeyCodec::new(&schema(&key)).unwrap();
    assert_eq!(codec.prefix_range(&[V::Bool(true)]).unwrap_err().code().as_str(), "type_mismatch");
    assert_eq!(codec.prefix_range(&[V::Int(1), V::Int(1)]).unwrap_err().code().as_str(), "bug");
}

#[test]
fn definitions() {
    let salted = |buckets, by| KeySchema { salt: Some(Salt { buckets, by }), ..schema(&[(T::Integer, ASC, false)]) };
    let refused = [
        schema(&[]),
        schema(&[(T::Integer, ASC, true)]),
        schema(&[(T::Varbinary, ASC, false), (T::Integer, ASC, false)]),
        schema(&[(T::Varbinary, DESC, false)]),
        schema(&[(T::Char(0), ASC, false)]),
        schema(&[(T::Null, ASC, false)]),
        salted(0, None),
        salted(257, None),
        salted(4, Some(0)),
        salted(4, Some(2)),
    ];
    for schema in refused {
        assert_eq!(RowKeyCodec::new(&schema).unwrap_err().code().as_str(), "invalid_definition", "{schema:?}");
    }
    let error = RowKeyCodec::new(&schema(&[(T::Integer, ASC, true)])).unwrap_err();
    assert_eq!(error.to_string(), "key column a (INTEGER): a fixed-width key column has no form for NULL");
    assert!(RowKeyCodec::new(&salted(256, Some(1))).is_ok());
}
