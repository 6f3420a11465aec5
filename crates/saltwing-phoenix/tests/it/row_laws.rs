//! Rows of random tables read back, whatever stands beside their cells; damaged cells give a row or an error.

use proptest::prelude::*;
use saltwing_phoenix::{CellRef, PhoenixError, QualifierScheme, RowCodec, RowFormat, StorageScheme, ValueColumn};
use saltwing_types::{ErrorCode, KeyColumn, KeySchema, KeySource, Salt, SortOrder, SqlType as T, Value as V};

use crate::hostile::{byte, changes, mutate};
use crate::types::{any_type, value};

/// What a column of a random table is.
#[derive(Clone, Debug)]
struct Choice {
    ty: T,
    family: usize,
    gap: u32,
    has_default: bool,
}

fn choice() -> impl Strategy<Value = Choice> {
    (any_type(), 0usize..3, 0u32..3, any::<bool>()).prop_map(|(ty, family, gap, has_default)| Choice {
        ty,
        family,
        gap,
        has_default,
    })
}

fn key() -> KeySchema {
    let column = |name: &str, ty, order, nullable| KeyColumn {
        source: KeySource::Column(0),
        name: name.into(),
        ty,
        order,
        nullable,
    };
    let columns =
        vec![column("K", T::Varchar(None), SortOrder::Asc, true), column("N", T::Integer, SortOrder::Desc, false)];
    KeySchema { columns, salt: Some(Salt { buckets: 4, by: None }) }
}

fn format(choices: &[Choice], scheme: u8, is_packed: bool, flags: (bool, bool)) -> RowFormat {
    let qualifiers = QualifierScheme::from_number(if is_packed { scheme.max(1) } else { scheme }).unwrap();
    let mut number = 10;
    let columns = choices.iter().enumerate().map(|(place, choice)| {
        number += 1 + choice.gap;
        let name = format!("C{place}");
        ValueColumn {
            family: ["0", "F1", "cf"][choice.family].to_owned(),
            qualifier: qualifiers.encode(number).unwrap_or_else(|| name.clone().into_bytes()),
            ty: choice.ty,
            nullable: true,
            has_default: choice.has_default,
            name,
        }
    });
    let columns: Vec<_> = columns.collect();
    RowFormat {
        key: key(),
        empty_family: columns.first().map_or("0", |column| &column.family).to_owned(),
        columns,
        storage: if is_packed { StorageScheme::CellPerFamily } else { StorageScheme::CellPerColumn },
        qualifiers,
        store_nulls: flags.0,
        immutable: is_packed || flags.1,
    }
}

/// A table and a row of it.
fn row() -> impl Strategy<Value = (RowFormat, Vec<Option<V>>)> {
    let column = choice().prop_flat_map(|choice| {
        let value = prop_oneof![1 => Just(None), 1 => Just(Some(V::Null)), 3 => value(choice.ty).prop_map(Some)];
        (Just(choice), value)
    });
    (prop::collection::vec(column, 0..7), 0u8..5, any::<bool>(), any::<(bool, bool)>()).prop_map(
        |(columns, scheme, is_packed, flags)| {
            let (choices, values): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
            (format(&choices, scheme, is_packed, flags), values)
        },
    )
}

type Cells = Vec<(Vec<u8>, Vec<u8>, Vec<u8>)>;

fn written(codec: &RowCodec, values: &[Option<V>]) -> (Vec<u8>, Cells) {
    let cells = codec.upsert(&[V::text("k"), V::Int(7)], values).unwrap();
    let puts = cells.puts.into_iter();
    (cells.key, puts.map(|put| (put.family.as_bytes().to_vec(), put.qualifier.to_vec(), put.value)).collect())
}

fn refs(cells: &Cells) -> impl Iterator<Item = CellRef<'_>> {
    cells.iter().map(|(family, qualifier, value)| CellRef { family, qualifier, value })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 4))]

    #[test]
    fn rows_read_back((format, values) in row(), foreign in prop::collection::vec((0usize..4, byte(), byte()), 0..3)) {
        let codec = RowCodec::new(format.clone()).unwrap();
        let (key, mut cells) = written(&codec, &values);
        // Dynamic columns, and families that the table has not.
        for (family, qualifier, value) in foreign {
            cells.push(([&b"0"[..], b"F1", b"L#0", b"zz"][family].to_vec(), vec![b'?', qualifier], vec![value]));
        }
        let row = codec.decode(&key, refs(&cells)).unwrap().unwrap();
        prop_assert_eq!(row.key, [V::text("k"), V::Int(7)]);
        for ((read, value), column) in row.values.iter().zip(&values).zip(&format.columns) {
            match (read, value) {
                // A row tells NULL from nothing if it matters, or if the table stores NULLs.
                (None, None) => {}
                (None, Some(V::Null)) => prop_assert!(!column.has_default),
                (read, value) => prop_assert_eq!(read, value),
            }
        }
    }

    /// A column is deleted or put, never both; what is not named is not touched in a table with a cell for each column.
    #[test]
    fn an_upsert_touches_what_it_names((format, values) in row()) {
        let codec = RowCodec::new(format.clone()).unwrap();
        let cells = codec.upsert(&[V::text("k"), V::Int(7)], &values).unwrap();
        if format.storage == StorageScheme::CellPerFamily {
            prop_assert_eq!(cells.deletes.len(), 0);
            return Ok(());
        }
        for (column, value) in format.columns.iter().zip(&values) {
            let is_put = cells.puts.iter().skip(1).any(|put| (put.family, put.qualifier) == (column.family.as_str(), &column.qualifier[..]));
            let is_deleted = cells.deletes.iter().any(|cell| (cell.family, cell.qualifier) == (column.family.as_str(), &column.qualifier[..]));
            let stores_null = column.has_default || format.store_nulls && !format.immutable;
            let expected = match value {
                None => (false, false),
                Some(V::Null) => (stores_null, !stores_null && !format.immutable),
                Some(_) => (true, false),
            };
            prop_assert_eq!((is_put, is_deleted), expected, "{:?} {:?}", column, value);
        }
    }

    /// Random bytes in the cells of the table: of its columns, of its families, and of its rows as a whole.
    #[test]
    fn random_rows(
        (format, _) in row(),
        key in prop::collection::vec(byte(), 0..9),
        cells in prop::collection::vec((any::<prop::sample::Index>(), prop::collection::vec(byte(), 0..24)), 0..6),
    ) {
        let mut places = vec![(format.empty_family.clone().into_bytes(), format.qualifiers.of_empty_cell().to_vec())];
        for column in &format.columns {
            places.push((column.family.clone().into_bytes(), column.qualifier.clone()));
            places.push((column.family.clone().into_bytes(), b"1".to_vec()));
        }
        let codec = RowCodec::new(format).unwrap();
        let cells = cells.into_iter().map(|(place, value)| {
            let (family, qualifier) = place.get(&places).clone();
            (family, qualifier, value)
        });
        let cells: Cells = cells.collect();
        if let Err(error) = codec.decode(&key, refs(&cells)) {
            prop_assert_eq!(error.code(), ErrorCode::Corrupt, "{}", error);
        }
    }

    #[test]
    fn damaged_rows((format, values) in row(), which in any::<prop::sample::Index>(), changes in changes()) {
        let codec = RowCodec::new(format).unwrap();
        let (mut key, mut cells) = written(&codec, &values);
        match which.index(cells.len() + 1) {
            0 => mutate(&mut key, &changes),
            place => mutate(&mut cells[place - 1].2, &changes),
        }
        if let Err(error) = codec.decode(&key, refs(&cells)) {
            prop_assert_eq!(error.code(), ErrorCode::Corrupt, "{}", error);
        }
    }
}

fn one_column(column: ValueColumn) -> RowFormat {
    RowFormat { columns: vec![column], ..format(&[], 2, false, (false, false)) }
}

fn integer(qualifier: &[u8]) -> ValueColumn {
    let (name, family) = ("V".to_owned(), "0".to_owned());
    ValueColumn { name, family, qualifier: qualifier.to_vec(), ty: T::Integer, nullable: false, has_default: false }
}

#[test]
fn errors_name_their_columns() {
    let codec = RowCodec::new(one_column(integer(&[0x80, 11]))).unwrap();
    let upsert = |values: &[Option<V>]| codec.upsert(&[V::text("k"), V::Int(7)], values).unwrap_err().to_string();
    assert_eq!(upsert(&[Some(V::Null)]), "column V is NOT NULL");
    assert_eq!(
        upsert(&[Some(V::Int(1 << 40))]),
        "column V: 1099511627776 is out of range for INTEGER: -2147483648 to 2147483647"
    );
    assert_eq!(upsert(&[]), "0 values for 1 value columns");
    let key = codec.upsert(&[V::text("k"), V::Int(7)], &[None]).unwrap().key;
    let cell = CellRef { family: b"0", qualifier: &[0x80, 11], value: &[1, 2] };
    let error = codec.decode(&key, [cell]).unwrap_err().to_string();
    assert_eq!(error, "column V: wrong number of bytes, in cell 0102 of row 016b007ffffff8");
    assert_eq!(codec.decode(&key, []), Ok(None));
    // '' is NULL, in keys too.
    assert_eq!(codec.encode_key(&[V::text(""), V::Int(7)]), codec.encode_key(&[V::Null, V::Int(7)]));
}

#[test]
fn formats_that_contradict_themselves() {
    let two = RowFormat { columns: vec![integer(&[0x80, 11]); 2], ..one_column(integer(&[])) };
    assert_eq!(RowCodec::new(two).unwrap_err(), PhoenixError::Format("two columns have one cell".into()));
    let packed =
        |qualifier: &[u8]| RowFormat { storage: StorageScheme::CellPerFamily, ..one_column(integer(qualifier)) };
    assert!(RowCodec::new(packed(&[0x80, 11])).is_ok());
    for qualifier in [&b"NAME"[..], &[0, 0, 0, 1], &[0x80, 10], &[11]] {
        let error = RowCodec::new(packed(qualifier)).unwrap_err();
        assert_eq!(error.to_string(), "column V: its qualifier tells no slot", "{qualifier:?}");
    }
    let uuid = RowCodec::new(one_column(ValueColumn { ty: T::Uuid, ..integer(&[0x80, 11]) })).unwrap_err();
    assert_eq!(uuid.to_string(), "column V: Phoenix has no cells of type UUID");
}
