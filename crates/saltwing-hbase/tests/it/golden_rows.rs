//! The 43 tables that a live Phoenix wrote: the store gives their rows by its scans and by their keys.

use saltwing_access::{KeySet, Projection, ScanOrder, ScanRoute, ScanSpec, Table};
use saltwing_phoenix::{CellRef, RowCodec, TableDefinition};
use saltwing_types::Value;

use crate::golden::{GoldenRow, Written, definitions, written};
use crate::world::{World, context, rows_of};

/// The rows that the cells are, in the order of their keys: a value for each column, and the physical key.
fn expected(definition: &TableDefinition, table: &Table, written: &Written) -> Vec<Vec<Value>> {
    let codec = RowCodec::new(definition.row_format().unwrap()).unwrap();
    let row = |(key, cells): &GoldenRow| {
        let cells =
            cells.iter().map(|(family, qualifier, value)| CellRef { family: family.as_bytes(), qualifier, value });
        let row = codec.decode(key, cells).unwrap()?;
        let (mut keys, mut values) = (row.key.into_iter(), row.values.into_iter());
        let value = |(place, column): (usize, &saltwing_phoenix::ColumnDefinition)| match column.is_key() {
            true => keys.next().unwrap(),
            false => values.next().unwrap().unwrap_or_else(|| table.absent(place).clone()),
        };
        let values = definition.columns.iter().enumerate().map(value);
        Some(values.collect::<Vec<_>>().into_iter().chain([Value::Bytes(key.clone())]).collect())
    };
    let mut rows: Vec<Vec<Value>> = written.rows.iter().filter_map(row).collect();
    let skipped = table.codec().bucket_bytes();
    rows.sort_by_key(|row| match row.last() {
        Some(Value::Bytes(key)) => key[skipped..].to_vec(),
        other => panic!("{other:?}"),
    });
    rows
}

#[test]
fn rows_that_phoenix_wrote_are_read() {
    let world = World::new();
    let definitions = definitions();
    let (mut tables, mut rows) = (0, 0);
    for written in written() {
        let definition = world.define(&definitions[&written.table], &[]);
        // Entries of local indexes are among them.
        world.write(&definition.physical_name, &written.rows);
        let table = world.table(definition.schema.as_deref(), &definition.name.to_lowercase());
        assert_eq!(table.def().name.to_string(), definition.full_name());
        let expected = expected(&definition, &table, &written);
        let columns: Vec<usize> = (0..=table.row_key_index()).collect();
        let spec = ScanSpec::new(&table, columns.clone(), Vec::new()).unwrap();
        let snapshot = world.store.snapshot().unwrap();
        let route = ScanRoute { order: ScanOrder::Merged, ..ScanRoute::of(KeySet::all()) };
        let read = rows_of(&mut *snapshot.scan(&spec, route, context()).unwrap(), &table, &columns);
        assert_eq!(read, expected, "{}", written.table);
        let all = Projection::new(&table, columns);
        for row in &expected {
            let Some(Value::Bytes(key)) = row.last() else { panic!("{row:?}") };
            assert_eq!(snapshot.get(&all, key).unwrap().as_ref(), Some(row), "{}", written.table);
            let point = world.store.point(&all, key).unwrap().unwrap();
            assert_eq!(point.values.values().collect::<Vec<_>>(), *row, "{}", written.table);
            assert!(snapshot.contains(&table, key).unwrap());
            assert!(!snapshot.contains(&table, &[key.as_slice(), b"\x01"].concat()).unwrap());
        }
        (tables, rows) = (tables + 1, rows + expected.len());
    }
    assert_eq!((tables, rows), (43, 154));
}
