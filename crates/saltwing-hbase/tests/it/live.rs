//! A real cluster: the store gives the rows that Phoenix's own client gives, and writes rows that Phoenix reads.
//!
//! `HBASE_ADDRESS` is the address of the cluster, `PHOENIX_RESULTS` a file with an object of JSON in each line: `sql` is `SELECT * FROM ..`, `columns`
//! are the names, and `rows` the values as texts, as Phoenix's JDBC driver gave them.
//! `PHOENIX_AGGREGATES` is such a file of queries with aggregates.
//! `HBASE_COPIES` has names of tables, `FROM=TO` with blanks between them: rows of the first are written into the second, which is like it and empty.

use saltwing_access::{Durability, KeySet, OldRow, RowChange, ScanOrder, ScanRoute, ScanSpec};
use saltwing_catalog::CatalogError;
use saltwing_hbase::{Options, open};
use saltwing_types::text::hex;
use saltwing_types::{SqlType, Value, datetime, text};

use crate::world::{context, rows_of};
use saltwing::Database;

/// Whether a value is what Phoenix shows.
fn agrees(value: &Value, ty: SqlType, shown: &serde_json::Value) -> bool {
    use serde_json::Value as Json;
    match (value, shown) {
        (Value::Null, Json::Null) => true,
        (Value::Bool(value), Json::Bool(shown)) => value == shown,
        (Value::Array(values), Json::Array(shown)) => {
            let element = ty.element().unwrap();
            values.len() == shown.len() && values.iter().zip(shown).all(|(value, shown)| agrees(value, element, shown))
        }
        (Value::Float(value), Json::String(shown)) => shown.parse() == Ok(*value),
        (Value::Double(value), Json::String(shown)) => shown.parse() == Ok(*value),
        (Value::Decimal(value), Json::String(shown)) => shown.parse() == Ok(*value),
        (Value::Bytes(value), Json::String(shown)) => hex(value) == *shown,
        (Value::Text(value), Json::String(shown)) => value.trim_end_matches(' ') == shown.trim_end_matches(' '),
        (Value::Date(_) | Value::Timestamp(_), Json::String(shown)) => {
            let at = text::instant(value).unwrap();
            let seconds = if shown.matches(':').count() == 1 { format!("{shown}:00") } else { shown.clone() };
            datetime::parse(&seconds.replace('T', " ")).unwrap() == at
        }
        (value, Json::String(shown)) => text::format(value, ty).as_ref() == Some(shown),
        _ => false,
    }
}

#[test]
#[ignore = "needs a cluster"]
fn rows_are_those_of_phoenix() {
    let address = std::env::var("HBASE_ADDRESS").unwrap();
    let results = std::fs::read_to_string(std::env::var("PHOENIX_RESULTS").unwrap()).unwrap();
    let (store, catalog) = open(&address, Options::default()).unwrap();
    let catalog = catalog.snapshot().unwrap();
    let listed = catalog.tables().unwrap().len();
    let (mut tables, mut refused, mut rows, mut wrong) = (0, 0, 0, Vec::new());
    for line in results.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let Some(name) = line["sql"].as_str().unwrap().strip_prefix("SELECT * FROM ") else { continue };
        let Some(shown) = line["rows"].as_array() else { panic!("{line}") };
        let name = name.trim_matches('"');
        let (schema, name) = name.split_once('.').map_or((None, name), |(schema, name)| (Some(schema), name));
        let table = match catalog.resolve(schema, name) {
            Ok(table) => table,
            Err(error @ CatalogError::UnreadableDefinition { .. }) => {
                println!("{error}");
                refused += 1;
                continue;
            }
            Err(error) => panic!("{name}: {error}"),
        };
        let names = || table.def().columns.iter().map(|column| column.name.as_str());
        let labels: Vec<&str> =
            line["columns"].as_array().unwrap().iter().map(|label| label.as_str().unwrap()).collect();
        if !names().eq(labels.iter().copied()) {
            wrong.push(format!("{name} has the columns {:?} instead of {labels:?}", names().collect::<Vec<_>>()));
            continue;
        }
        let columns: Vec<usize> = (0..labels.len()).collect();
        let spec = ScanSpec::new(&table, columns.clone(), Vec::new()).unwrap();
        let route = ScanRoute { order: ScanOrder::Merged, ..ScanRoute::of(KeySet::all()) };
        let mut scan = store.snapshot().unwrap().scan(&spec, route, context()).unwrap();
        let mut read = rows_of(&mut *scan, &table, &columns);
        tables += 1;
        rows += read.len();
        for shown in shown {
            let shown = shown.as_array().unwrap();
            let is_same = |row: &Vec<Value>| {
                row.iter()
                    .zip(&columns)
                    .zip(shown)
                    .all(|((value, column), shown)| agrees(value, table.column_type(*column), shown))
            };
            match read.iter().position(is_same) {
                Some(at) => drop(read.swap_remove(at)),
                None => wrong.push(format!("{name} lacks {shown:?}")),
            }
        }
        wrong.extend(read.iter().map(|row| format!("{name} has {row:?}")));
    }
    println!("{tables} tables with {rows} rows, {refused} refused, {listed} tables listed");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// `PHOENIX_AGGREGATES` is a file as `PHOENIX_RESULTS`, of queries with aggregates over plain columns of tables with dozens of rows in few regions.
/// Queries that begin with `SELECT COUNT(*) FROM` or `SELECT SUM(` are those that servers must make.
#[test]
#[ignore = "needs a cluster"]
fn aggregates_are_those_of_phoenix() {
    let (store, catalog) = open(&std::env::var("HBASE_ADDRESS").unwrap(), Options::default()).unwrap();
    let builder = Database::memory_builder().full_scan("allow").unwrap();
    let connection = builder.open_with_catalog(store, catalog).unwrap().connect().blocking();
    let results = std::fs::read_to_string(std::env::var("PHOENIX_AGGREGATES").unwrap()).unwrap();
    let (mut queries, mut by_servers, mut groups, mut wrong) = (0, 0, 0, Vec::new());
    for line in results.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let (Some(sql), Some(shown)) = (line["sql"].as_str(), line["rows"].as_array()) else { continue };
        if sql.starts_with("SELECT COUNT(*) FROM") || sql.starts_with("SELECT SUM(") {
            let explained = format!("EXPLAIN ANALYZE {sql}");
            let shown = connection.query(&explained, ()).unwrap().map(|row| row.unwrap().get::<String>(0).unwrap());
            let shown = shown.collect::<Vec<_>>().join("\n");
            let counter = |name: &str| -> u64 {
                let (_, after) = shown.split_once(&format!("{name} ")).unwrap_or_else(|| panic!("{sql}: {shown}"));
                after.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap()
            };
            // Rows of such a table have more, and the answers of its few regions less.
            let (rows, bytes) = (counter("keys_read"), counter("bytes_read"));
            assert!(rows == 0 || bytes < 25 * rows, "{sql} was not made by servers: {bytes} bytes for {rows} rows");
            by_servers += 1;
        }
        let rows = connection.query(sql, ()).unwrap_or_else(|error| panic!("{sql}: {error}"));
        let types: Vec<SqlType> = rows.columns().iter().map(|column| column.ty).collect();
        let mut read: Vec<Vec<Value>> = rows.map(|row| row.unwrap().values().unwrap()).collect();
        (queries, groups) = (queries + 1, groups + read.len());
        for shown in shown {
            let shown = shown.as_array().unwrap();
            let is_same = |row: &Vec<Value>| {
                row.iter().zip(&types).zip(shown).all(|((value, ty), shown)| agrees(value, *ty, shown))
            };
            match read.iter().position(is_same) {
                Some(at) => drop(read.swap_remove(at)),
                None => wrong.push(format!("{sql} lacks {shown:?}")),
            }
        }
        wrong.extend(read.iter().map(|row| format!("{sql} has {row:?}")));
    }
    println!("{queries} queries with {groups} groups, {by_servers} known to be made by servers");
    assert!(queries > 0 && wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
#[ignore = "needs a cluster"]
fn rows_are_copied() {
    let (store, catalog) = open(&std::env::var("HBASE_ADDRESS").unwrap(), Options::default()).unwrap();
    let catalog = catalog.snapshot().unwrap();
    let (mut tables, mut rows) = (0, 0);
    for copy in std::env::var("HBASE_COPIES").unwrap().split_whitespace() {
        let (from, to) = copy.split_once('=').unwrap();
        let (from, to) = (catalog.resolve(None, from).unwrap(), catalog.resolve(None, to).unwrap());
        let columns: Vec<usize> = (0..from.def().columns.len()).collect();
        let spec = ScanSpec::new(&from, columns.clone(), Vec::new()).unwrap();
        let mut scan = store.snapshot().unwrap().scan(&spec, ScanRoute::of(KeySet::all()), context()).unwrap();
        let read = rows_of(&mut *scan, &from, &columns);
        // One half is written as it is, the other on the condition that it is not there; then each row as it was read.
        for compared in [None, Some(false), Some(true)] {
            let mut transaction = store.begin().unwrap();
            for (at, row) in read.iter().enumerate() {
                let old = match compared {
                    None if at % 2 == 0 => OldRow::Unknown,
                    Some(false) if at % 2 == 1 => OldRow::Absent,
                    Some(true) => OldRow::Present(row),
                    _ => continue,
                };
                transaction.apply(&to, RowChange::Put { new: row, old, written_ms: None }, None).unwrap();
            }
            if let Err(error) = transaction.commit(Durability::Synced) {
                panic!("{copy} {compared:?}: {error}");
            }
        }
        (tables, rows) = (tables + 1, rows + read.len());
    }
    println!("{rows} rows of {tables} tables are copied");
}

/// `HBASE_INDEXED` has names of tables `(k VARCHAR PRIMARY KEY, a VARCHAR, b INTEGER, c DECIMAL)` with indexes: rows are written, written again and
/// deleted. Phoenix reads them by the indexes then: of the keys `k0` to `k29` those that are no multiples of 5, with the number of the key and 100 in `b`,
/// and in those that are multiples of 3 no value in `a`.
#[test]
#[ignore = "needs a cluster"]
fn indexes_are_kept() {
    let (store, catalog) = open(&std::env::var("HBASE_ADDRESS").unwrap(), Options::default()).unwrap();
    let catalog = catalog.snapshot().unwrap();
    for name in std::env::var("HBASE_INDEXED").unwrap().split_whitespace() {
        let table = catalog.resolve(None, name).unwrap();
        let row = |n: i64, b: i64, a: Option<&str>| {
            let a = a.map_or(Value::Null, Value::text);
            vec![Value::text(format!("k{n}")), a, Value::Int(b), Value::Decimal("1.5".parse().unwrap())]
        };
        let mut batch = store.batch();
        for n in 0..30 {
            batch.put(&table, row(n, n, Some("first"))).unwrap();
        }
        batch.commit(Durability::Synced).unwrap();
        let mut changes = store.begin().unwrap();
        for n in 0..30 {
            let (old, a) = (row(n, n, Some("first")), (n % 3 != 0).then_some("second"));
            // Some of them are compared, some set columns alone.
            match n % 4 {
                0 => {
                    let values =
                        [Value::text(format!("k{n}")), a.map_or(Value::Null, Value::text), Value::Int(n + 100)];
                    changes.apply(&table, RowChange::Set { columns: &[0, 1, 2], values: &values }, None).unwrap();
                }
                1 => changes.apply(&table, RowChange::put(&row(n, n + 100, a)), None).unwrap(),
                _ => {
                    let (new, old) = (&row(n, n + 100, a), OldRow::Present(&old));
                    changes.apply(&table, RowChange::Put { new, old, written_ms: None }, None).unwrap();
                }
            }
        }
        changes.commit(Durability::Synced).unwrap();
        let mut deletions = store.batch();
        for n in (0..30).step_by(5) {
            let key = table.row_key(&row(n, 0, None)).unwrap();
            deletions.delete(&table, key).unwrap();
        }
        deletions.commit(Durability::Synced).unwrap();
    }
}
