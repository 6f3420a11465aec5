//! Writes: rows against a model, outcomes of each row, and what is refused.

use std::collections::BTreeMap;
use std::sync::Arc;

use fake_hbase::{Exception, Fault};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use saltwing_access::{
    Durability, KeySet, OldRow, Projection, RowChange, ScanOrder, ScanRoute, ScanSpec, Table, TableError,
};
use saltwing_phoenix::{CellRef, RowCodec};
use saltwing_types::{ErrorCode, Value};

use crate::golden::{definition, definitions, written};
use crate::world::{World, context, rows_of};

type Model = BTreeMap<Vec<u8>, Vec<Value>>;

/// A change of a row of a table whose key is one text: its number, and numbers for the columns.
#[derive(Clone, Debug)]
enum Change {
    Put(u8, Vec<u8>),
    Set(u8, Vec<(usize, u8)>),
    Delete(u8),
}

fn change() -> impl Strategy<Value = Change> {
    let values = prop::collection::vec(0..6u8, 8);
    prop_oneof![
        3 => (0..12u8, values).prop_map(|(row, values)| Change::Put(row, values)),
        3 => (0..12u8, prop::collection::vec((0..8usize, 0..6u8), 0..4)).prop_map(|(row, set)| Change::Set(row, set)),
        1 => (0..12u8).prop_map(Change::Delete),
    ]
}

fn value(table: &Table, column: usize, number: u8) -> Value {
    use saltwing_types::SqlType as T;
    match (number, table.column_type(column)) {
        (0, _) => Value::Null,
        (n, T::Varchar(_)) => Value::text(format!("v{n}")),
        (n, T::Decimal(_)) => Value::Decimal(format!("{n}.5").parse().unwrap()),
        (n, _) => Value::Int(i64::from(n)),
    }
}

fn key_of(table: &Table, row: u8) -> Vec<u8> {
    let mut values = vec![Value::Null; table.def().columns.len()];
    values[0] = Value::text(format!("k{row}"));
    table.row_key(&values).unwrap()
}

/// The row that a change leaves.
fn changed(table: &Table, model: &Model, change: &Change, sets: bool) -> (Vec<u8>, Option<Vec<Value>>) {
    let columns = table.def().columns.len();
    match change {
        Change::Put(row, values) => {
            let mut new: Vec<Value> = (0..columns).map(|column| value(table, column, values[column])).collect();
            new[0] = Value::text(format!("k{row}"));
            (key_of(table, *row), Some(new))
        }
        Change::Set(row, set) => {
            let key = key_of(table, *row);
            // A new row has the DEFAULTs of the columns that are not named.
            let fresh = || (0..columns).map(|column| table.absent(column).clone()).collect();
            let mut new = model.get(&key).cloned().unwrap_or_else(fresh);
            new[0] = Value::text(format!("k{row}"));
            for (column, number) in set.iter().filter(|_| sets) {
                if (1..columns).contains(column) {
                    new[*column] = value(table, *column, *number);
                }
            }
            (key, Some(new))
        }
        Change::Delete(row) => (key_of(table, *row), None),
    }
}

fn rows(world: &World, table: &Arc<Table>) -> Vec<Vec<Value>> {
    let columns: Vec<usize> = (0..table.def().columns.len()).collect();
    let spec = ScanSpec::new(table, columns.clone(), Vec::new()).unwrap();
    let route = ScanRoute { order: ScanOrder::Merged, ..ScanRoute::of(KeySet::all()) };
    let mut scan = world.store.snapshot().unwrap().scan(&spec, route, context()).unwrap();
    rows_of(&mut *scan, table, &columns)
}

/// Batches of changes leave the rows that a model has. With `compared`, each change says what the row was before.
fn run(name: &str, compared: bool) {
    let world = World::new();
    world.define(&definitions()[name], &[b"k5"]);
    let table = world.table(None, name);
    let mut model = Model::new();
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::default() });
    let batches = prop::collection::vec(change(), 1..6);
    let state = std::cell::RefCell::new(&mut model);
    let outcome = runner.run(&batches, |changes| {
        let model = &mut **state.borrow_mut();
        let mut batch = if compared {
            world.store.begin().unwrap() as Box<dyn saltwing_access::WriteBatch>
        } else {
            world.store.batch()
        };
        let mut keys = Vec::new();
        let before = model.clone();
        let mut seen = std::collections::BTreeSet::new();
        for change in &changes {
            let (key, new) = changed(&table, model, change, true);
            if compared && !seen.insert(key.clone()) {
                continue;
            }
            let old = before.get(&key).map_or(OldRow::Absent, |row| OldRow::Present(row));
            let old = if compared { old } else { OldRow::Unknown };
            match (&new, change) {
                (None, _) => batch.apply(&table, RowChange::Delete { key: &key, old }, None).unwrap(),
                (Some(_), Change::Set(row, set)) if !compared => {
                    // The last value of a column counts.
                    let set: BTreeMap<usize, u8> = set
                        .iter()
                        .filter(|(column, _)| (1..table.def().columns.len()).contains(column))
                        .copied()
                        .collect();
                    let columns: Vec<usize> = set.keys().copied().chain([0]).collect();
                    let values = set.iter().map(|(column, number)| value(&table, *column, *number));
                    let values: Vec<Value> = values.chain([Value::text(format!("k{row}"))]).collect();
                    batch
                        .apply(&table, RowChange::Set { columns: &columns, values: &values }, Some(&mut keys))
                        .unwrap();
                    prop_assert_eq!(keys.pop().unwrap(), key.clone());
                }
                (Some(new), _) => batch.apply(&table, RowChange::Put { new, old, written_ms: None }, None).unwrap(),
            }
            match new {
                Some(new) => drop(model.insert(key, new)),
                None => drop(model.remove(&key)),
            }
        }
        batch.commit(Durability::Synced).unwrap();
        let skipped = table.codec().bucket_bytes();
        let mut expected: Vec<(&Vec<u8>, &Vec<Value>)> = model.iter().collect();
        expected.sort_by(|a, b| a.0[skipped..].cmp(&b.0[skipped..]));
        prop_assert_eq!(rows(&world, &table), expected.into_iter().map(|(_, row)| row.clone()).collect::<Vec<_>>());
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn rows_are_those_of_a_model() {
    for name in ["CA1", "CA41", "CA21", "CA8"] {
        run(name, false);
    }
}

#[test]
fn compared_rows_are_those_of_a_model() {
    for name in ["CA1", "CA41"] {
        run(name, true);
    }
}

/// The rows of a table that Phoenix wrote, written by the store, have the same cells.
#[test]
fn cells_are_those_of_phoenix() {
    let names = ["CA10", "CA22", "CA25", "CA41", "CA15", "CA18", "CA40V"];
    let (mut rows, mut cells) = (0, 0);
    for name in names {
        let world = World::new();
        let table_name = name.trim_end_matches('V');
        let message = &definitions()[table_name];
        let base = world.define(message, &[]);
        if name != table_name {
            world.phoenix.define(&world.cluster, &definitions()[name]);
        }
        let table = world.table(None, name);
        let codec = RowCodec::new(definition(name).row_format().unwrap()).unwrap();
        let golden = written().into_iter().find(|written| written.table == table_name).unwrap();
        let mut batch = world.store.batch();
        let mut expected = Vec::new();
        for (key, golden) in &golden.rows {
            let refs =
                golden.iter().map(|(family, qualifier, value)| CellRef { family: family.as_bytes(), qualifier, value });
            let row = codec.decode(key, refs).unwrap().unwrap();
            let is_of_view = |(place, column): (usize, &saltwing_phoenix::ColumnDefinition)| {
                column.view_constant.as_ref().is_none_or(|constant| row.key.get(place) == Some(constant))
            };
            if !definition(name).columns.iter().enumerate().all(is_of_view) {
                continue;
            }
            // A view fills in what all its rows have.
            let hidden = |value: &Value, place: usize| match &definition(name).columns[place].view_constant {
                Some(_) => Value::Null,
                None => value.clone(),
            };
            let key_values = row.key.iter().enumerate().map(|(place, value)| hidden(value, place));
            let all: Vec<Value> =
                key_values.chain(row.values.into_iter().map(|value| value.unwrap_or(Value::Null))).collect();
            batch.put(&table, all).unwrap();
            expected.push((key.clone(), golden.clone()));
            rows += 1;
        }
        batch.commit(Durability::Synced).unwrap();
        let mut found: BTreeMap<Vec<u8>, Vec<_>> = BTreeMap::new();
        for cell in world.cluster.cells(&base.physical_name).unwrap() {
            let family = String::from_utf8(cell.family().to_vec()).unwrap();
            let parts = (family, cell.qualifier().to_vec(), cell.value().to_vec());
            found.entry(cell.row().to_vec()).or_default().push(parts);
        }
        for (key, mut golden) in expected {
            golden.sort();
            let mut own = found.remove(&key).unwrap_or_else(|| panic!("{name} lacks a row"));
            own.sort();
            cells += own.len();
            assert_eq!(own, golden, "{name}");
        }
        assert!(found.is_empty(), "{name}");
    }
    assert!(rows > 15 && cells > 60, "{rows} rows with {cells} cells");
}

fn row(key: &str, a: Option<&str>, b: Option<i64>) -> Vec<Value> {
    let (a, b) = (a.map_or(Value::Null, Value::text), b.map_or(Value::Null, Value::Int));
    vec![Value::text(key), a, b, Value::Null]
}

fn commit(world: &World, table: &Arc<Table>, changes: &[(Vec<Value>, OldRow<'_>)]) -> Result<(), TableError> {
    let mut transaction = world.store.begin()?;
    for (new, old) in changes {
        transaction.apply(table, RowChange::Put { new, old: *old, written_ms: None }, None)?;
    }
    transaction.commit(Durability::Synced).map(drop)
}

fn world() -> (World, Arc<Table>) {
    let world = World::new();
    world.define(&definitions()["CA1"], &[b"m"]);
    let table = world.table(None, "CA1");
    (world, table)
}

#[test]
fn a_row_that_has_changed_is_a_conflict() {
    let (world, table) = world();
    assert!(table.is_compared());
    let (first, second) = (row("k", Some("a"), Some(1)), row("k", None, Some(2)));
    let is_conflict = |done: Result<(), TableError>| {
        let error = done.unwrap_err();
        assert!(error.to_string().contains("wrote the row ('k') of CA1 first"), "{error}");
        assert!(matches!(error, TableError::Conflict { .. }));
    };
    is_conflict(commit(&world, &table, &[(second.clone(), OldRow::Present(&first))]));
    commit(&world, &table, &[(first.clone(), OldRow::Absent)]).unwrap();
    is_conflict(commit(&world, &table, &[(second.clone(), OldRow::Absent)]));
    is_conflict(commit(&world, &table, &[(second.clone(), OldRow::Present(&second))]));
    commit(&world, &table, &[(second.clone(), OldRow::Present(&first))]).unwrap();
    assert_eq!(rows(&world, &table), std::slice::from_ref(&second));
    // Another client sets a column between the comparison and the write.
    let other = RowChange::Set { columns: &[0, 1], values: &[Value::text("k"), Value::text("other")] };
    let mut batch = world.store.batch();
    batch.apply(&table, other, None).unwrap();
    batch.commit(Durability::Synced).unwrap();
    is_conflict(commit(&world, &table, &[(first, OldRow::Present(&second))]));
    assert_eq!(rows(&world, &table), [row("k", Some("other"), Some(2))]);
}

#[test]
fn the_outcomes_of_rows_are_counted() {
    let (world, table) = world();
    for key in ["a3", "z4"] {
        commit(&world, &table, &[(row(key, None, Some(3)), OldRow::Absent)]).unwrap();
    }
    let news: Vec<_> = ["a1", "a3", "z2", "z4"].iter().map(|key| (row(key, None, Some(9)), OldRow::Absent)).collect();
    match commit(&world, &table, &news) {
        Err(TableError::PartlyWritten { written: 2, refused: 2, unknown: 0, first }) => {
            assert!(matches!(*first, TableError::Conflict { .. }), "{first}");
        }
        other => panic!("{other:?}"),
    }
    let column = |row: &Vec<Value>| row[2].clone();
    assert_eq!(rows(&world, &table).iter().map(column).collect::<Vec<_>>(), [9, 3, 9, 3].map(Value::Int));
    // An answer that is lost leaves its rows unknown; those of the other region are written.
    world.cluster.on_call(
        1,
        |call| call.method == "Multi" && call.rows.iter().any(|row| row.starts_with(b"a")),
        Fault::CutAfter,
    );
    let mut batch = world.store.batch();
    for key in ["a1", "a5", "z2"] {
        batch.put(&table, row(key, None, Some(7))).unwrap();
    }
    let error = batch.commit(Durability::Synced).unwrap_err();
    assert_eq!(error.code(), ErrorCode::CommitUnknown);
    assert!(matches!(error, TableError::PartlyWritten { refused: 0, unknown: 1.., .. }), "{error}");
    // A server that refuses for good.
    world.cluster.on_next("Multi", Fault::Exception(Exception::do_not_retry("it is forbidden")));
    let mut batch = world.store.batch();
    batch.put(&table, row("a1", None, Some(8))).unwrap();
    let error = batch.commit(Durability::Synced).unwrap_err();
    assert!(error.to_string().contains("it is forbidden") && error.rows_written() == 0, "{error}");
}

#[test]
fn what_is_not_written_is_refused_by_name() {
    let world = World::new();
    let all = definitions();
    for name in ["CA34", "CA18", "CA40"] {
        world.define(&all[name], &[]);
    }
    world.phoenix.define(&world.cluster, &all["CA40V"]);
    let refused = |name: &str, change: RowChange<'_>, reason: &str| {
        let table = world.table(None, name);
        let error = world.store.batch().apply(&table, change, None).unwrap_err();
        assert_eq!(error.code(), ErrorCode::NotSupported, "{error}");
        assert!(error.to_string().contains(reason), "{error}");
    };
    refused("CA34", RowChange::put(&row("k", None, None)), "index CA34I1 is not kept");
    let some = RowChange::Set { columns: &[0, 1], values: &[Value::text("k"), Value::text("a")] };
    refused("CA18", some, "its columns share a cell");
    let other = [Value::text("other"), Value::Int(1), Value::Int(2)];
    refused("CA40V", RowChange::put(&other), "CA40V.K has one value in all rows of the view");
    let table = world.table(None, "CA40");
    let error = world.store.batch().put(&table, [Value::Null, Value::Null, Value::Null]).unwrap_err();
    assert!(matches!(error, TableError::RowKey(_)), "{error}");
    let mut batch = world.store.batch();
    batch.claim(&table, b"k");
    assert!(batch.commit(Durability::Synced).unwrap_err().to_string().contains("unique indexes"));
    assert!(world.store.begin().unwrap().view().is_err());
    let all = Projection::all(&table);
    assert_eq!(world.store.snapshot().unwrap().get(&all, b"k").unwrap(), None);
}
