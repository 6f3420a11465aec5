//! Compares the keys of entries with those that a live Phoenix wrote: `sql-tests/golden/index_keys.jsonl`.

use saltwing_access::{Budget, KeySet, ScanContext, ScanOrder, ScanRoute, ScanSpec, Table};
use saltwing_expr::value_at;
use saltwing_types::Value;
use serde::Deserialize;

use crate::Database;

#[derive(Deserialize)]
struct Line {
    id: String,
    ddl: String,
    dml: Vec<String>,
    indexes: Vec<Written>,
}

/// The final content of an index.
#[derive(Deserialize)]
struct Written {
    index: String,
    keys: Vec<String>,
}

/// The keys of the entries of an index, in order, in hex.
fn keys(database: &Database, table: &Table, index: &str) -> Vec<String> {
    let index = table.indexes().iter().find(|candidate| candidate.def().name.eq_ignore_ascii_case(index)).unwrap();
    let entries = index.entries();
    let spec = ScanSpec::new(entries, vec![entries.row_key_index()], Vec::new()).unwrap();
    let route = ScanRoute { order: ScanOrder::Merged, ..ScanRoute::of(KeySet::all()) };
    let snapshot = database.shared.tables.snapshot().unwrap();
    let mut scan = snapshot.scan(&spec, route, ScanContext::new(Budget::default())).unwrap();
    let mut keys = Vec::new();
    while let Some((columns, rows)) = scan.next_columns().unwrap() {
        for row in 0..rows {
            let Value::Bytes(key) = value_at(&columns[0], row, entries.column_type(entries.row_key_index())).unwrap()
            else {
                panic!("a key that is no bytes")
            };
            keys.push(key.iter().map(|byte| format!("{byte:02x}")).collect());
        }
    }
    keys.sort();
    keys
}

#[test]
fn entries_have_the_keys_that_phoenix_wrote() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../sql-tests/golden/index_keys.jsonl");
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut wrong = Vec::new();
    for line in text.lines() {
        let Line { id, ddl, dml, indexes } = serde_json::from_str(line).unwrap();
        let database = Database::memory().unwrap();
        let connection = database.connect().blocking();
        for sql in [&ddl].into_iter().chain(&dml) {
            connection.execute(sql, ()).unwrap_or_else(|error| panic!("{id}: {sql}: {error}"));
        }
        let name = ddl.split_whitespace().skip_while(|word| *word != "TABLE").nth(1).unwrap();
        let table = database.shared.catalog.snapshot().unwrap().resolve(None, name).unwrap();
        for Written { index, keys: expected } in indexes {
            let keys = keys(&database, &table, &index);
            if keys != expected {
                wrong.push(format!("{id}, {index}:\n  wrote    {keys:?}\n  expected {expected:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
