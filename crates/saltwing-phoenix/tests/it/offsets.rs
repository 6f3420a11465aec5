//! Where offsets need four bytes, as Phoenix's own classes decide it.

use saltwing_phoenix::{CellCodec, CellRef, QualifierScheme, RowCodec, RowFormat, StorageScheme, ValueColumn};
use saltwing_types::text::hex;
use saltwing_types::{KeyColumn, KeySchema, KeySource, SortOrder, SqlType as T, Value as V};

/// The last bytes in hex, as many as `tail` has.
fn ends_with(bytes: &[u8], tail: &str) {
    assert_eq!(hex(&bytes[bytes.len() - tail.len() / 2..]), tail, "{} bytes", bytes.len());
}

/// An immutable table with two texts.
fn packed() -> RowCodec {
    let (name, ty, order) = ("K".into(), T::Integer, SortOrder::Asc);
    let key = KeyColumn { source: KeySource::Column(0), name, ty, order, nullable: false };
    let qualifiers = QualifierScheme::TwoBytes;
    let column = |number| ValueColumn {
        name: format!("C{number}"),
        family: "0".into(),
        qualifier: qualifiers.encode(number).unwrap(),
        ty: T::Varchar(None),
        nullable: true,
        has_default: false,
    };
    let format = RowFormat {
        key: KeySchema { columns: vec![key], salt: None },
        columns: vec![column(11), column(12)],
        storage: StorageScheme::CellPerFamily,
        qualifiers,
        empty_family: "0".into(),
        store_nulls: false,
        immutable: true,
    };
    RowCodec::new(format).unwrap()
}

#[test]
fn offsets_of_packed_cells() {
    let codec = packed();
    for (length, second, size, tail) in [
        (32_766, Some("z"), 32_783, "7a000000017fff000080000000000303"),
        (32_766, None, 32_782, "7900000001800100007fff0000000303"),
        (32_767, Some("z"), 32_790, "7a00000000000000010000800000008001fffffffd03"),
        (32_767, None, 32_783, "79000000018000000080000000000303"),
        (32_768, Some("z"), 32_791, "7a00000000000000010000800100008002fffffffd03"),
        (32_768, None, 32_790, "790000000000000001ffff7fff00008001fffffffd03"),
    ] {
        let values = [Some(V::text("y".repeat(length))), second.map(V::text)];
        let cells = codec.upsert(&[V::Int(1)], &values).unwrap();
        let cell = &cells.puts[1];
        assert_eq!((cell.value.len(), cell.qualifier), (size, &b"1"[..]));
        ends_with(&cell.value, tail);
        let cell = CellRef { family: b"0", qualifier: b"1", value: &cell.value };
        assert_eq!(codec.decode(&cells.key, [cell]).unwrap().unwrap().values, values);
    }
}

#[test]
fn offsets_of_arrays() {
    let codec = CellCodec::new(T::array(T::Varchar(None)).unwrap()).unwrap();
    for (length, size, tail) in [
        (65_532, 65_550, "79007a00000080017ffe000100010000000201"),
        (65_533, 65_551, "79007a00000080017fff000100020000000201"),
        (65_534, 65_556, "79007a000000000000000000ffff00010003fffffffe01"),
    ] {
        let array = V::Array(vec![V::text("y".repeat(length)), V::text("z")]);
        let mut stored = Vec::new();
        codec.encode(&array, &mut stored).unwrap();
        assert_eq!(stored.len(), size);
        ends_with(&stored, tail);
        assert_eq!(codec.decode(&stored), Ok(array));
    }
}

#[test]
fn runs_of_nulls() {
    let codec = CellCodec::new(T::array(T::Varchar(None)).unwrap()).unwrap();
    for (nulls, head) in [(1, "00ff7a"), (255, "00017a"), (256, "0001ff7a"), (510, "0001017a"), (511, "000101ff7a")] {
        let mut elements = vec![V::Null; nulls];
        elements.push(V::text("z"));
        let mut stored = Vec::new();
        codec.encode(&V::Array(elements), &mut stored).unwrap();
        assert!(hex(&stored).starts_with(head), "{nulls}");
    }
}
