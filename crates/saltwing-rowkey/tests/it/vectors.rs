//! Fixed vectors of the key format, by their numbers in the format's list
//! (Apache Phoenix 5.2.1 wrote all but 70 to 75 and 100 to 103, which follow
//! its source), so that a symmetric mistake of encoder and decoder cannot hide.

use saltwing_rowkey::{RowKeyCodec, ValueCodec, salt};
use saltwing_types::text::{hex, unhex};
use saltwing_types::{KeyColumn, KeySchema, KeySource, Salt, SortOrder, SqlType as T, Value as V, number, text};

/// A value written as SQL would have it, brought to its type.
fn value(ty: T, written: &str) -> V {
    match (ty, written) {
        (_, "null") => V::Null,
        // Kept as it is: reading text would make it 0.0.
        (T::Float, "-0.0") => V::Float(-0.0),
        _ => number::assign(text::parse(written, ty).unwrap(), ty).unwrap(),
    }
}

#[test]
fn fixed_width_scalars() {
    let decimal = T::Decimal(None);
    let vectors: &[(u32, T, &str, &str, &str)] = &[
        (1, T::Integer, "0", "80000000", "7fffffff"),
        (2, T::Integer, "1", "80000001", "7ffffffe"),
        (3, T::Integer, "-1", "7fffffff", "80000000"),
        (4, T::Integer, "2147483647", "ffffffff", "00000000"),
        (5, T::Integer, "-2147483648", "00000000", "ffffffff"),
        (6, T::BigInt, "5", "8000000000000005", "7ffffffffffffffa"),
        (7, T::BigInt, "-5", "7ffffffffffffffb", "8000000000000004"),
        (8, T::BigInt, "9223372036854775807", "ffffffffffffffff", "0000000000000000"),
        (9, T::SmallInt, "300", "812c", "7ed3"),
        (10, T::SmallInt, "-2", "7ffe", "8001"),
        (11, T::TinyInt, "7", "87", "78"),
        (12, T::TinyInt, "-128", "00", "ff"),
        (13, T::UnsignedInt, "1", "00000001", "fffffffe"),
        (14, T::UnsignedInt, "2147483647", "7fffffff", "80000000"),
        (15, T::UnsignedLong, "256", "0000000000000100", "fffffffffffffeff"),
        (16, T::UnsignedSmallInt, "300", "012c", "fed3"),
        (17, T::UnsignedTinyInt, "127", "7f", "80"),
        (18, T::Float, "0.0", "80000001", "7ffffffe"),
        // 19, -0.0 as 80000000, is Phoenix's; here it is stored as 0.0.
        (19, T::Float, "-0.0", "80000001", "7ffffffe"),
        (20, T::Float, "1.5", "bfc00001", "403ffffe"),
        (21, T::Float, "-1.5", "40400000", "bfbfffff"),
        (22, T::Float, "NaN", "ffc00001", "003ffffe"),
        (23, T::Double, "1.0", "bff0000000000001", "400ffffffffffffe"),
        (24, T::Double, "-1.0", "4010000000000000", "bfefffffffffffff"),
        (25, T::Double, "123.456", "c05edd2f1a9fbe78", "3fa122d0e5604187"),
        (26, T::Double, "Infinity", "fff0000000000001", "000ffffffffffffe"),
        (27, T::Double, "-Infinity", "0010000000000000", "ffefffffffffffff"),
        (28, T::UnsignedFloat, "1.5", "3fc00000", "c03fffff"),
        (29, T::UnsignedDouble, "1.0", "3ff0000000000000", "c00fffffffffffff"),
        (30, T::Date, "1970-01-01", "8000000000000000", "7fffffffffffffff"),
        (30, T::Time, "1970-01-01", "8000000000000000", "7fffffffffffffff"),
        (31, T::Date, "2013-01-01", "8000013bf3685800", "7ffffec40c97a7ff"),
        (32, T::Date, "1969-12-31 23:59:59.999", "7fffffffffffffff", "8000000000000000"),
        (33, T::UnsignedDate, "2013-01-01", "0000013bf3685800", "fffffec40c97a7ff"),
        (34, T::Timestamp, "2013-01-01 00:00:00.123456789", "8000013bf368587b0006f855", "7ffffec40c97a784fff907aa"),
        (35, T::Timestamp, "1970-01-01", "800000000000000000000000", "7fffffffffffffffffffffff"),
        (36, T::Char(5), "ab", "6162202020", "9e9ddfdfdf"),
        (37, T::Binary(4), "0102", "01020000", "fefdffff"),
        (38, T::Boolean, "true", "01", "fe"),
        (39, T::Boolean, "false", "00", "ff"),
        (40, decimal, "0", "80", "7f"),
        (41, decimal, "1", "c102", "3efd"),
        (42, decimal, "-1", "3e6466", "c19b99"),
        (43, decimal, "10", "c10b", "3ef4"),
        (44, decimal, "-10", "3e5b66", "c1a499"),
        (45, decimal, "12", "c10d", "3ef2"),
        (46, decimal, "99", "c164", "3e9b"),
        (47, decimal, "-99", "3e0266", "c1fd99"),
        (48, decimal, "100", "c202", "3dfd"),
        (49, decimal, "-100", "3d6466", "c29b99"),
        (50, decimal, "0.1", "c00b", "3ff4"),
        (51, decimal, "-0.1", "3f5b66", "c0a499"),
        (52, decimal, "0.01", "c002", "3ffd"),
        (53, decimal, "0.001", "bf0b", "40f4"),
        (54, decimal, "1.5", "c10233", "3efdcc"),
        (55, decimal, "-1.5", "3e643366", "c19bcc99"),
        (56, decimal, "123", "c20218", "3dfde7"),
        (57, decimal, "-123", "3d644e66", "c29bb199"),
        (58, decimal, "12345.678", "c302182e4451", "3cfde7d1bbae"),
        (59, decimal, "-12345.678", "3c644e38221566", "c39bb1c7ddea99"),
        (60, decimal, "1E+10", "c602", "39fd"),
        (61, decimal, "-1E+10", "396466", "c69b99"),
        (62, decimal, "1E-10", "bc02", "43fd"),
        (63, decimal, "9223372036854775807", "ca0a1722490445374e3b08", "35f5e8ddb6fbbac8b1c4f7"),
        (64, decimal, "-9223372036854775808", "355c4f441d62212f182b5d66", "caa3b0bbe29dded0e7d4a299"),
        (
            65,
            decimal,
            "99999999999999999999999999999999999999",
            "d364646464646464646464646464646464646464",
            "2c9b9b9b9b9b9b9b9b9b9b9b9b9b9b9b9b9b9b9b",
        ),
        (
            66,
            decimal,
            "-1234567890123456789012345678901234567.8",
            "2c644e38220c644e38220c644e38220c644e382215",
            "d39bb1c7ddf39bb1c7ddf39bb1c7ddf39bb1c7ddea",
        ),
        (67, T::Varchar(None), "abc", "616263", "9e9d9c"),
        (68, T::Varchar(None), "é", "c3a9", "3c56"),
        (70, T::VarbinaryEncoded, "61", "61", "9e"),
        (71, T::VarbinaryEncoded, "6100", "6100ff", "9eff00"),
        (72, T::VarbinaryEncoded, "00", "00ff", "ff00"),
        (73, T::VarbinaryEncoded, "00ff", "00ffff", "ff0000"),
        (74, T::VarbinaryEncoded, "610062", "6100ff62", "9eff009d"),
        (75, T::VarbinaryEncoded, "ff", "ff", "00"),
    ];
    for (number, ty, written, ascending, descending) in vectors {
        let value = value(*ty, written);
        for (order, expected) in [(SortOrder::Asc, ascending), (SortOrder::Desc, descending)] {
            let mut bytes = Vec::new();
            ValueCodec::new(*ty, order).encode(&value, &mut bytes).unwrap();
            assert_eq!(hex(&bytes), *expected, "{number}: {ty} {written} {order:?}");
            let padded = if let T::Binary(_) = ty { V::Bytes(vec![1, 2, 0, 0]) } else { value.clone() };
            assert_eq!(
                ValueCodec::new(*ty, order).decode(&bytes).unwrap(),
                padded,
                "{number}: {ty} {written} {order:?}"
            );
        }
    }
}

#[test]
fn raw_varbinary() {
    let mut bytes = Vec::new();
    ValueCodec::new(T::Varbinary, SortOrder::Asc).encode(&V::Bytes(vec![0x00, 0xff, 0x01]), &mut bytes).unwrap();
    assert_eq!(hex(&bytes), "00ff01", "69");
}

fn key(columns: &[(T, SortOrder)], salt: Option<Salt>) -> RowKeyCodec {
    let column = |(index, (ty, order)): (usize, &(T, SortOrder))| KeyColumn {
        source: KeySource::Column(index),
        name: format!("{}", char::from(b'a' + index as u8)),
        ty: *ty,
        order: *order,
        nullable: ty.fixed_key_bytes().is_none(),
    };
    RowKeyCodec::new(&KeySchema { columns: columns.iter().enumerate().map(column).collect(), salt }).unwrap()
}

#[test]
fn composite_keys() {
    use SortOrder::{Asc, Desc};
    let (text, int) = (T::Varchar(None), T::Integer);
    let encoded = T::VarbinaryEncoded;
    type Vector<'a> = (u32, &'a [(T, SortOrder)], &'a [&'a str], &'a str);
    let vectors: &[Vector<'_>] = &[
        (81, &[(text, Asc), (int, Asc)], &["x", "5"], "780080000005"),
        (82, &[(int, Asc), (text, Asc)], &["5", "x"], "8000000578"),
        (83, &[(text, Asc), (text, Asc)], &["x", "y"], "780079"),
        (84, &[(text, Asc), (text, Asc)], &["x", "null"], "78"),
        (85, &[(text, Asc), (text, Asc)], &["null", "y"], "0079"),
        (86, &[(text, Asc), (text, Asc), (text, Asc)], &["x", "null", "z"], "7800007a"),
        (87, &[(text, Asc), (text, Asc), (text, Asc)], &["x", "null", "null"], "78"),
        (88, &[(text, Desc)], &["x"], "87ff"),
        (89, &[(text, Desc), (int, Asc)], &["x", "5"], "87ff80000005"),
        (90, &[(text, Desc), (text, Desc)], &["x", "y"], "87ff86ff"),
        (91, &[(text, Desc), (text, Desc)], &["x", "null"], "87ff"),
        (92, &[(text, Desc), (text, Desc)], &["null", "y"], "0086ff"),
        (93, &[(text, Asc), (text, Desc)], &["x", "y"], "780086ff"),
        (94, &[(text, Asc), (text, Desc)], &["x", "null"], "78"),
        (95, &[(text, Desc), (text, Asc)], &["x", "null"], "87ff"),
        (96, &[(int, Desc), (text, Asc)], &["5", "x"], "7ffffffa78"),
        (97, &[(T::Decimal(None), Asc), (text, Asc)], &["-1.5", "x"], "3e6433660078"),
        (98, &[(T::Decimal(None), Desc), (text, Asc)], &["-1.5", "x"], "c19bcc99ff78"),
        // DECIMAL(p,s) DESC is inverted here also where Phoenix re-scales it.
        (98, &[(T::Decimal(Some((10, 2))), Desc), (text, Asc)], &["-1.5", "x"], "c19bcc99ff78"),
        (
            99,
            &[(T::Char(3), Asc), (T::Date, Desc), (text, Asc)],
            &["ab", "2013-01-01", "z"],
            "6162207ffffec40c97a7ff7a",
        ),
        (100, &[(encoded, Asc), (int, Asc)], &["6100", "5"], "6100ff000180000005"),
        (101, &[(encoded, Asc), (encoded, Asc)], &["61", "00"], "61000100ff"),
        (102, &[(encoded, Desc), (int, Asc)], &["6100", "5"], "9eff00fffe80000005"),
        (103, &[(text, Asc), (encoded, Desc)], &["x", "61"], "78009efffe"),
        (104, &[(text, Asc), (T::BigInt, Asc)], &["t1", "7"], "7431008000000000000007"),
    ];
    for (number, columns, written, expected) in vectors {
        let codec = key(columns, None);
        let values: Vec<V> = columns.iter().zip(*written).map(|((ty, _), text)| value(*ty, text)).collect();
        let bytes = codec.encode(&values).unwrap();
        assert_eq!(hex(&bytes), *expected, "{number}: {written:?}");
        assert_eq!(codec.decode(&bytes).unwrap(), values, "{number}: {written:?}");
    }
}

#[test]
fn buckets() {
    let counts = [3, 4, 16, 20, 256];
    let vectors: &[(u32, &str, [u8; 5])] = &[
        (105, "61", [2, 0, 0, 8, 128]),
        (106, "616263", [1, 1, 1, 5, 193]),
        (107, "757365723432", [0, 2, 10, 14, 202]),
        (108, "80000000", [1, 3, 15, 7, 255]),
        (109, "80000001", [0, 2, 14, 6, 254]),
        (110, "7fffffff", [2, 1, 1, 5, 193]),
        (111, "8000000000000005", [2, 2, 10, 6, 122]),
        (112, "8000018bcfe56800", [2, 3, 7, 19, 199]),
        (113, "780080000005", [0, 2, 14, 2, 78]),
        (114, "780079", [2, 0, 0, 12, 80]),
        (115, "87ff", [1, 3, 7, 11, 231]),
        (116, "3e643366", [1, 2, 10, 6, 122]),
        (117, "303030303030303030303030303031", [2, 0, 0, 16, 16]),
        (118, "8000013bf368580000000000", [2, 0, 8, 8, 24]),
    ];
    for (number, logical, expected) in vectors {
        let logical = unhex(logical).unwrap();
        assert_eq!(counts.map(|count| salt::bucket(&logical, count)), *expected, "{number}");
    }
}

#[test]
fn salted_keys() {
    use SortOrder::{Asc, Desc};
    let (text, salt) = (T::Varchar(None), |by| Some(Salt { buckets: 4, by }));
    let encode = |codec: &RowKeyCodec, values: &[V]| hex(&codec.encode(values).unwrap());
    assert_eq!(encode(&key(&[(text, Asc)], salt(None)), &[V::text("abc")]), "01616263", "106");
    assert_eq!(encode(&key(&[(T::Integer, Asc)], salt(None)), &[V::Int(-1)]), "017fffffff", "110");
    let codec = key(&[(text, Asc), (T::Integer, Asc)], salt(None));
    assert_eq!(encode(&codec, &[V::text("x"), V::Int(5)]), "02780080000005", "113");
    assert_eq!(codec.bucket_of_prefix(&[V::text("x")]).unwrap(), None);
    assert_eq!(encode(&key(&[(text, Desc)], salt(None)), &[V::text("x")]), "0387ff", "115");
    // SALT_BY (a): the hash of a table with the key `a` alone, separator left out.
    let codec = key(&[(text, Asc), (T::Integer, Asc)], salt(Some(1)));
    assert_eq!(encode(&codec, &[V::text("abc"), V::Int(5)]), "016162630080000005", "bucket of 106");
    assert_eq!(codec.bucket_of_prefix(&[V::text("abc")]).unwrap(), Some(1));
    // The terminator of a DESC column is part of that key.
    let codec = key(&[(text, Desc), (text, Asc)], salt(Some(1)));
    assert_eq!(encode(&codec, &[V::text("x"), V::text("y")]), "0387ff79", "bucket of 115");
}
