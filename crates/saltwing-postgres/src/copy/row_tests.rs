//! Rows as they are written and read.

use bytes::{Buf, BytesMut};
use pgwire::error::ErrorInfo;
use proptest::prelude::*;
use saltwing::{SqlType, Timestamp, Value, ValueRef};

use super::error::RowError;
use super::format::{CopyFormat, CsvFormat, Forced, Header, TextFormat};
use super::{NextRow, ReadColumn, RowReader, RowWriter, WrittenColumn};
use crate::values::WireType;

/// The columns of the tests.
fn columns(types: &[SqlType]) -> (Vec<ReadColumn>, Vec<WrittenColumn>) {
    let name = |index: usize| char::from(b'a' + index as u8).to_string();
    let read = types.iter().enumerate().map(|(index, ty)| ReadColumn { name: name(index), ty: Some(*ty) });
    let written = types.iter().enumerate().map(|(index, ty)| WrittenColumn {
        label: name(index),
        ty: *ty,
        oid: WireType::of(*ty).oid,
    });
    (read.collect(), written.collect())
}

/// All rows of bytes that come in these parts.
fn read_all(reader: &mut RowReader, parts: &[&[u8]]) -> Result<Vec<Vec<Value>>, RowError> {
    let (mut rows, mut parts) = (Vec::new(), parts.iter());
    loop {
        match reader.next()? {
            NextRow::Row(row) => rows.push(row),
            NextRow::End => return Ok(rows),
            NextRow::NeedsInput => match parts.next() {
                Some(part) => reader.push(part),
                None => reader.complete(),
            },
        }
    }
}

fn read(format: &CopyFormat, types: &[SqlType], bytes: &[u8]) -> Result<Vec<Vec<Value>>, RowError> {
    let mut reader = RowReader::new(format, "t", columns(types).0).unwrap();
    read_all(&mut reader, &[bytes])
}

/// The messages of rows.
fn written(format: &CopyFormat, types: &[SqlType], rows: &[Vec<Value>]) -> Vec<Vec<u8>> {
    let mut writer = RowWriter::new(format, columns(types).1).unwrap();
    let mut out = BytesMut::new();
    writer.put_names(&mut out).unwrap();
    for row in rows {
        writer.put_row(&mut out, |index| Ok(ValueRef::from(&row[index]))).unwrap();
    }
    writer.finish(&mut out).unwrap();
    let mut messages = Vec::new();
    while !out.is_empty() {
        assert_eq!(out.get_u8(), b'd');
        let length = usize::try_from(out.get_i32()).unwrap() - 4;
        messages.push(out.split_to(length).to_vec());
    }
    messages
}

fn text(format: TextFormat) -> CopyFormat {
    CopyFormat::Text(format)
}

fn csv() -> CsvFormat {
    CsvFormat::default()
}

const TYPES: [SqlType; 4] = [SqlType::Integer, SqlType::Varchar(None), SqlType::Boolean, SqlType::Varbinary];

fn rows() -> Vec<Vec<Value>> {
    vec![
        vec![Value::Int(-7), Value::text("tab\tand \"q\","), Value::Bool(true), Value::Bytes(vec![0, 255])],
        vec![Value::Null, Value::text(""), Value::Bool(false), Value::Null],
    ]
}

#[test]
fn messages_have_the_bytes_of_postgres() {
    let lines =
        |messages: Vec<Vec<u8>>| messages.into_iter().map(|it| String::from_utf8(it).unwrap()).collect::<Vec<_>>();
    let default = text(TextFormat::default());
    assert_eq!(lines(written(&default, &TYPES, &rows())), ["-7\ttab\\tand \"q\",\tt\t\\\\x00ff\n", "\\N\t\tf\t\\N\n"]);
    let with_names = text(TextFormat { delimiter: b',', null: "NA".into(), header: Header::Present });
    assert_eq!(
        lines(written(&with_names, &TYPES, &rows())),
        ["a,b,c,d\n", "-7,tab\\tand \"q\"\\,,t,\\\\x00ff\n", "NA,,f,NA\n"]
    );
    let forced =
        CopyFormat::Csv(CsvFormat { header: Header::Present, force_quote: Forced::Columns(vec!["C".into()]), ..csv() });
    assert_eq!(
        lines(written(&forced, &TYPES, &rows())),
        ["a,b,c,d\n", "-7,\"tab\tand \"\"q\"\",\",\"t\",\\x00ff\n", ",\"\",\"f\",\n"]
    );
    assert_eq!(written(&CopyFormat::Binary, &TYPES, &rows()[..1]), [
        b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0\0\x04\0\0\0\x04\xff\xff\xff\xf9\0\0\0\x0ctab\tand \"q\",\0\0\0\x01\x01\0\0\0\x02\0\xff".to_vec(),
        b"\xff\xff".to_vec()
    ]);
    assert_eq!(written(&CopyFormat::Binary, &TYPES, &[]), [b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0\xff\xff".to_vec()]);
    assert_eq!(written(&default, &TYPES, &[]), [] as [Vec<u8>; 0]);
}

#[test]
fn a_value_that_fails_leaves_no_part_of_a_message() {
    let mut writer = RowWriter::new(&text(TextFormat::default()), columns(&TYPES).1).unwrap();
    let mut out = BytesMut::from(&b"before"[..]);
    let value = |index: usize| match index {
        0 => Ok(ValueRef::Int(1)),
        _ => Err(crate::messages::error("22012", "division by zero")),
    };
    assert_eq!(writer.put_row(&mut out, value).unwrap_err().code, "22012");
    assert_eq!(&out[..], b"before");
}

#[test]
fn errors_name_the_line_and_the_column() {
    let types = [SqlType::Integer, SqlType::Varchar(None)];
    let with_names = |header| text(TextFormat { header, ..TextFormat::default() });
    let long = "é".repeat(200);
    for (format, bytes, code, place) in [
        (with_names(Header::Absent), "1\ta\nx\tb\n", "22P02", "COPY t, line 2, column a: \"x\""),
        (with_names(Header::Present), "a\tb\n1\ta\\\nb\nx\tb\n", "22P02", "COPY t, line 4, column a: \"x\""),
        (with_names(Header::Absent), "99999999999\ta\n", "22003", "COPY t, line 1, column a: \"99999999999\""),
        (with_names(Header::Absent), "1\ta\n2\n", "22P04", "COPY t, line 2"),
        (with_names(Header::Absent), "1\ta\tb\n", "22P04", "COPY t, line 1"),
        (with_names(Header::Absent), "1\ta\n2\tb\r\n", "22P04", "COPY t, line 2"),
        (with_names(Header::Absent), "1\ta\\xff\n", "22021", "COPY t, line 1, column b: \"a\u{fffd}\""),
        (with_names(Header::Matching), "a\tc\n", "22P04", "COPY t, line 1"),
        (with_names(Header::Matching), "a\n", "22P04", "COPY t, line 1"),
        (CopyFormat::Csv(csv()), "1,\"a\nb\"\ny,c\n", "22P02", "COPY t, line 3, column a: \"y\""),
        (CopyFormat::Csv(csv()), "1,\"a\n", "22P04", "COPY t, line 2"),
        (
            with_names(Header::Absent),
            &format!("{long}\ta\n"),
            "22P02",
            &format!("COPY t, line 1, column a: \"{}…\"", "é".repeat(100)),
        ),
    ] {
        let failed = read(&format, &types, bytes.as_bytes()).unwrap_err();
        assert_eq!((failed.error.sqlstate(), &*failed.place), (code, place), "{bytes}");
        let info = Box::<ErrorInfo>::from(failed);
        assert_eq!((&*info.code, info.where_context.as_deref()), (code, Some(place)));
    }
    let binary =
        b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0\0\x02\xff\xff\xff\xff\xff\xff\xff\xff\0\x02\0\0\0\x01x\xff\xff\xff\xff";
    let failed = read(&CopyFormat::Binary, &types, binary).unwrap_err();
    assert_eq!((failed.error.sqlstate(), &*failed.place), ("22P03", "COPY t, row 2, column a"));
}

#[test]
fn a_header_is_passed() {
    let types = [SqlType::Integer, SqlType::Varchar(None)];
    let expected = vec![vec![Value::Int(1), Value::Null]];
    for (header, bytes) in
        [(Header::Present, "x\ty\tz\n1\t\\N\n"), (Header::Matching, "A\tb\n1\t\\N\n"), (Header::Absent, "1\t\\N")]
    {
        let format = text(TextFormat { header, ..TextFormat::default() });
        assert_eq!(read(&format, &types, bytes.as_bytes()), Ok(expected.clone()), "{bytes}");
    }
    let format = CopyFormat::Csv(CsvFormat { header: Header::Matching, ..csv() });
    assert_eq!(read(&format, &types, b"\"a\",B\r\n1,\r\n"), Ok(expected));
}

#[test]
fn forced_columns_must_be_copied() {
    let forced = |name: &str| Forced::Columns(vec![name.into()]);
    let types = [SqlType::Varchar(None)];
    let format = CopyFormat::Csv(CsvFormat { force_not_null: forced("A"), ..csv() });
    assert_eq!(read(&format, &types, b"\n"), Ok(vec![vec![Value::text("")]]));
    let format = CopyFormat::Csv(CsvFormat { force_null: forced("z"), ..csv() });
    assert_eq!(RowReader::new(&format, "t", columns(&types).0).err().unwrap().sqlstate(), "42P10");
    let format = CopyFormat::Csv(CsvFormat { force_quote: forced("z"), ..csv() });
    assert_eq!(RowWriter::new(&format, columns(&types).1).err().unwrap().code, "42P10");
}

/// The types of the property tests; the values of all types are those of `values`.
const ANY_TYPES: [SqlType; 7] = [
    SqlType::BigInt,
    SqlType::Varchar(None),
    SqlType::Boolean,
    SqlType::Varbinary,
    SqlType::Double,
    SqlType::Timestamp,
    SqlType::Json,
];

fn any_row() -> impl Strategy<Value = Vec<Value>> {
    let or_null = |value: BoxedStrategy<Value>| prop_oneof![1 => Just(Value::Null), 4 => value];
    (
        or_null(any::<i64>().prop_map(Value::Int).boxed()),
        or_null(
            prop_oneof!["[\\\\N\t\n\r\",.;'x]{0,8}", any::<String>().prop_map(|text| text.replace('\0', ""))]
                .prop_map(Value::Text)
                .boxed(),
        ),
        or_null(any::<bool>().prop_map(Value::Bool).boxed()),
        or_null(any::<Vec<u8>>().prop_map(Value::Bytes).boxed()),
        or_null((-1e9..1e9).prop_map(Value::Double).boxed()),
        or_null(
            (-1_000_000_000_000..1_000_000_000_000_i64, 0..1000_u32)
                .prop_map(|(ms, micros)| Value::Timestamp(Timestamp { ms, nanos: micros * 1000 }))
                .boxed(),
        ),
        or_null(Just(Value::text("{\"a\": [1, \"\\n\"]}")).boxed()),
    )
        .prop_map(|(a, b, c, d, e, f, g)| vec![a, b, c, d, e, f, g])
}

fn any_format() -> impl Strategy<Value = CopyFormat> {
    let headers = prop::sample::select(&[Header::Absent, Header::Present, Header::Matching][..]);
    let of_csv = (
        prop::sample::select(&b",;|"[..]),
        prop::sample::select(&b"\"\\"[..]),
        prop::sample::select(&["", "NULL"][..]),
    );
    prop_oneof![
        (headers.clone(), prop::sample::select(&b"\t,|"[..])).prop_map(|(header, delimiter)| text(TextFormat {
            delimiter,
            header,
            ..TextFormat::default()
        })),
        (headers, of_csv).prop_map(|(header, (delimiter, escape, null))| CopyFormat::Csv(CsvFormat {
            delimiter,
            escape,
            header,
            null: null.into(),
            ..csv()
        })),
        Just(CopyFormat::Binary),
    ]
}

proptest! {
    #[test]
    fn written_rows_are_read_back_however_their_bytes_are_cut(
        rows in prop::collection::vec(any_row(), 0..5),
        format in any_format(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let bytes = written(&format, &ANY_TYPES, &rows).concat();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).chain([0, bytes.len()]).collect();
        cuts.sort_unstable();
        let parts: Vec<&[u8]> = cuts.windows(2).map(|cut| &bytes[cut[0]..cut[1]]).collect();
        let mut reader = RowReader::new(&format, "t", columns(&ANY_TYPES).0).unwrap();
        prop_assert_eq!(read_all(&mut reader, &parts), Ok(rows));
    }

    #[test]
    fn any_bytes_are_rows_or_an_error(bytes in any::<Vec<u8>>(), format in any_format()) {
        let _ = read(&format, &ANY_TYPES, &bytes);
    }
}
