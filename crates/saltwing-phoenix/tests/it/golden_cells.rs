//! Cells that a live Phoenix wrote, of 43 tables: they are read as what the statements wrote, and written as the same bytes.

use std::collections::BTreeSet;

use saltwing_phoenix::{EmptyCell, RowCodec, StorageScheme};
use saltwing_types::Value as V;
use saltwing_types::text::hex;

use crate::dml::{Model, ModelRow};
use crate::golden::{Definitions, HbaseRow, Written, definitions, written};

/// The definition with the most columns: the last view, else the table.
fn widest(definitions: &Definitions, written: &Written) -> String {
    let number = written.id.trim_start_matches("cells-").trim_start_matches('0');
    let table = format!("CA{number}");
    let is_view = |name: &&String| {
        name.trim_start_matches("@tn1@").strip_prefix(&table).is_some_and(|rest| matches!(rest, "V" | "W"))
    };
    definitions.tables.keys().rfind(is_view).cloned().unwrap_or(table)
}

fn model(definitions: &Definitions, written: &Written) -> Vec<ModelRow> {
    let mut wide = definitions.table(&widest(definitions, written));
    wide.columns.retain(|column| column.name != "ZDROPPED");
    let mut model = Model { wide: &wide, rows: Vec::new() };
    for statement in &written.dml {
        model.run(statement, |name| {
            let mut table = definitions.table(name);
            // The statement was written when the column was there.
            for column in &mut table.columns {
                if column.name == "ZDROPPED" {
                    column.name = "DROPPED".into();
                }
            }
            table
        });
    }
    model.rows
}

/// NULL and no cell are one in a column without a DEFAULT.
fn as_read(values: &[Option<V>], codec: &RowCodec) -> Vec<Option<V>> {
    let columns = codec.format().columns.iter();
    let value = |(value, column): (&Option<V>, &saltwing_phoenix::ValueColumn)| match value {
        Some(V::Null) if !column.has_default => None,
        other => other.clone(),
    };
    values.iter().zip(columns).map(value).collect()
}

/// Cells of dynamic columns, which the definition does not know.
fn is_dynamic(qualifier: &[u8]) -> bool {
    [&b"DYN"[..], b"Dy n", b"OTHER"].contains(&qualifier)
}

fn check_table(definitions: &Definitions, written: &Written) -> usize {
    let id = &written.id;
    let codec = RowCodec::new(definitions.format(&widest(definitions, written))).unwrap();
    let model = model(definitions, written);
    let mut rows = 0;
    for row in &written.rows {
        let read = codec.decode(&row.key, row.cells()).unwrap_or_else(|error| panic!("{id}: {error}"));
        let Some(read) = read else {
            assert!(row.cells.iter().all(|(family, ..)| family.starts_with("L#")), "{id}: an entry of a local index");
            continue;
        };
        rows += 1;
        assert_eq!(read.empty_cell, Some(EmptyCell::Row), "{id}");
        let expected = model.iter().find(|row| row.key == read.key).unwrap_or_else(|| panic!("{id}: {read:?}"));
        assert_eq!(as_read(&read.values, &codec), as_read(&expected.values, &codec), "{id}: {:?}", read.key);
        match (id.as_str(), row.key.as_slice()) {
            // Packed cells that were written when the table had other columns.
            ("cells-0029", b"k1" | b"k2") => {}
            // A row of another view, whose key has no VK.
            ("cells-0040", key) if key.starts_with(b"fixed") => {
                let codec = RowCodec::new(definitions.format("CA40V")).unwrap();
                let own = ModelRow { key: expected.key[..2].to_vec(), values: expected.values[..1].to_vec() };
                check_written(id, &codec, row, &own);
            }
            _ => check_written(id, &codec, row, expected),
        }
    }
    assert_eq!(rows, model.len(), "{id}: each row of the model is there");
    rows
}

fn check_written(id: &str, codec: &RowCodec, row: &HbaseRow, expected: &ModelRow) {
    let cells = codec.upsert(&expected.key, &expected.values).unwrap();
    assert_eq!(hex(&cells.key), hex(&row.key), "{id}");
    let ours: BTreeSet<_> =
        cells.puts.iter().map(|cell| (cell.family.to_owned(), hex(cell.qualifier), hex(&cell.value))).collect();
    let theirs = row.cells.iter().filter(|(_, qualifier, _)| !is_dynamic(qualifier));
    let theirs: BTreeSet<_> =
        theirs.map(|(family, qualifier, value)| (family.clone(), hex(qualifier), hex(value))).collect();
    assert_eq!(ours, theirs, "{id}: {expected:?}");
    let packed = codec.format().storage == StorageScheme::CellPerFamily;
    assert!(!packed || cells.deletes.is_empty(), "{id}");
    let deleted = |cell: &saltwing_phoenix::DeletedCell| {
        theirs.iter().any(|(f, q, _)| f == cell.family && *q == hex(cell.qualifier))
    };
    assert!(!cells.deletes.iter().any(deleted), "{id}: what is deleted is not there");
}

#[test]
fn every_table_is_read_and_written_as_phoenix_does() {
    let definitions = definitions();
    let (mut tables, mut rows) = (0, 0);
    for written in written() {
        let definitions = definitions.iter().find(|d| d.id == written.id).unwrap();
        rows += check_table(definitions, &written);
        tables += 1;
    }
    assert_eq!((tables, rows), (43, 154));
}

/// A view has a key column more than its table, after one of fixed width.
#[test]
fn rows_of_a_view_are_rows_of_its_table() {
    let all = definitions();
    let definitions = all.iter().find(|d| d.id == "cells-0040").unwrap();
    let codec = RowCodec::new(definitions.format("CA40")).unwrap();
    let written = written().into_iter().find(|written| written.id == "cells-0040").unwrap();
    let longer = written.rows.iter().filter(|row| row.key.starts_with(b"q"));
    let keys: Vec<_> = longer.map(|row| codec.decode(&row.key, row.cells()).unwrap().unwrap().key).collect();
    assert_eq!(keys, [[V::text("q"), V::Int(7)]]);
    assert!(codec.decode_key(b"q\0\x80\0\0").is_err(), "a key that ends too soon is no key");
}

/// Entries of global indexes: the covered columns have the values of the row that the entry names.
#[test]
fn entries_of_indexes_agree_with_their_rows() {
    let definitions = definitions();
    let mut entries = 0;
    for written in written() {
        let definitions = definitions.iter().find(|d| d.id == written.id).unwrap();
        let wide = definitions.table(&widest(definitions, &written));
        let rows = model(definitions, &written);
        for (name, index_rows) in &written.others {
            let name = if name == "_IDX_CA39" { "CA39VI" } else { name };
            let codec = RowCodec::new(definitions.format(name)).unwrap();
            for row in index_rows {
                let entry = codec.decode(&row.key, row.cells()).unwrap().unwrap();
                assert_eq!(entry.empty_cell, Some(EmptyCell::Verified), "{name}");
                let key = codec.format().key.columns.iter().zip(&entry.key);
                let key_of_row: Vec<_> =
                    key.filter_map(|(column, value)| column.name.strip_prefix(':').map(|name| (name, value))).collect();
                let names = wide.columns.iter().filter(|column| column.is_key()).map(|column| column.name.as_str());
                let key: Vec<V> =
                    names.map(|name| key_of_row.iter().find(|(n, _)| *n == name).unwrap().1.clone()).collect();
                let row = rows.iter().find(|row| row.key == key).unwrap_or_else(|| panic!("{name}: {key:?}"));
                for (column, value) in codec.format().columns.iter().zip(&entry.values) {
                    let (_, column) = column.name.split_once(':').unwrap();
                    let place = wide.columns.iter().filter(|column| !column.is_key()).position(|c| c.name == column);
                    let null = |value: &Option<V>| value.clone().unwrap_or(V::Null);
                    assert_eq!(null(value), null(&row.values[place.unwrap()]), "{name} {column}");
                }
                entries += 1;
            }
        }
    }
    assert_eq!(entries, 34);
}

#[test]
fn a_deleted_row_loses_all_its_families() {
    let definitions = definitions();
    let families = |id: &str, table: &str| {
        let definitions = definitions.iter().find(|d| d.id == id).unwrap();
        let codec = RowCodec::new(definitions.format(table)).unwrap();
        let delete = codec.delete(&[V::text("k2")]).unwrap();
        assert_eq!(delete.key, b"k2");
        delete.families.iter().map(|family| (*family).to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(families("cells-0010", "CA10"), ["0", "AA", "F1", "F2"]);
    assert_eq!(families("cells-0001", "CA1"), ["0"]);
    assert_eq!(families("cells-0012", "CA12"), ["cf"]);
}

#[test]
fn view_constants_are_values() {
    let definitions = definitions();
    let constants = |id: &str, name: &str| {
        let table = definitions.iter().find(|d| d.id == id).unwrap().table(name);
        let columns = table.columns.iter();
        let constant =
            |column: &saltwing_phoenix::ColumnDefinition| Some((column.name.clone(), column.view_constant.clone()?));
        columns.filter_map(constant).collect::<Vec<_>>()
    };
    assert_eq!(constants("cells-0039", "CA39V"), [("KIND".into(), V::text("ant"))]);
    assert_eq!(constants("cells-0040", "CA40V"), [("K".into(), V::text("fixed"))]);
    assert_eq!(constants("cells-0040", "CA40W"), [("M".into(), V::Int(7))]);
    assert_eq!(constants("multitenant", "@acme@MTV"), [("K".into(), V::Int(7))]);
}
