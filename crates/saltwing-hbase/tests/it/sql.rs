//! SQL over Phoenix's tables, by the library: reads, writes and refusals.

use saltwing::{Database, ErrorCode, Value};

use crate::golden::definitions;
use crate::world::World;

/// `CA41 (k VARCHAR PRIMARY KEY, a VARCHAR, b INTEGER, c DECIMAL) SALT_BUCKETS = 4`, a region for each bucket.
fn open() -> (World, Database) {
    let world = World::new();
    world.define(&definitions()["CA41"], &[&[1], &[2], &[3]]);
    let (tables, catalog) = (world.store.clone(), world.catalog.clone());
    let database = Database::memory_builder().open_with_catalog(tables, catalog).unwrap();
    (world, database)
}

pub fn execute(database: &Database, sql: &str) -> Result<u64, saltwing::Error> {
    database.connect().blocking().execute(sql, ()).map(|done| done.rows_affected)
}

/// The rows as texts, in which NULL is `-`.
pub fn rows(database: &Database, sql: &str) -> Vec<String> {
    let rows = database.connect().blocking().query(sql, ()).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let text = |value: Value| match value {
        Value::Null => "-".to_owned(),
        Value::Int(n) => n.to_string(),
        Value::Text(text) => text.to_string(),
        Value::Decimal(n) => n.to_string(),
        other => panic!("{other:?}"),
    };
    rows.map(|row| row.unwrap().values().unwrap().into_iter().map(text).collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn statements_write_and_read_rows() {
    let (_world, database) = open();
    let written = |sql: &str, count: u64| {
        assert_eq!(execute(&database, sql).unwrap_or_else(|error| panic!("{sql}: {error}")), count, "{sql}");
    };
    written("UPSERT INTO ca41 VALUES ('k1', 'x', 1, 1.5), ('k2', 'y', 2, 2.5), ('k3', NULL, 3, NULL)", 3);
    written("INSERT INTO CA41 (k, a) VALUES ('k4', 'z')", 1);
    written("UPSERT INTO ca41 (k, b) VALUES ('k1', 10), ('k5', 50)", 2);
    written("UPDATE ca41 SET b = b + 100, c = 9.25 WHERE k IN ('k2', 'k3')", 2);
    written("DELETE FROM ca41 WHERE k >= 'k4' AND a = 'z'", 1);
    let sql =
        "INSERT INTO ca41 (k, b) VALUES ('k1', 7), ('k6', 7) ON CONFLICT (k) DO UPDATE SET b = ca41.b + excluded.b";
    written(sql, 2);
    written("UPSERT INTO ca41 (k, a, b) SELECT k, 'copy', b FROM ca41 WHERE k = 'k6'", 1);
    let all = ["k1 x 17 1.5", "k2 y 102 9.25", "k3 - 103 9.25", "k5 - 50 -", "k6 copy 7 -"];
    assert_eq!(rows(&database, "SELECT * FROM ca41 WHERE k >= 'k' ORDER BY k"), all);
    assert_eq!(rows(&database, "SELECT k FROM ca41 WHERE k >= 'k' ORDER BY k DESC LIMIT 2"), ["k6", "k5"]);
    assert_eq!(rows(&database, "SELECT b, k FROM ca41 WHERE k IN ('k1', 'k9', 'k2') ORDER BY k"), ["17 k1", "102 k2"]);
    let sql = "SELECT /*+ FULL_SCAN(ca41) */ COUNT(*), SUM(b), MIN(a), MAX(c) FROM ca41";
    assert_eq!(rows(&database, sql), ["5 279 copy 9.25"]);
    let error = execute(&database, "INSERT INTO ca41 (k) VALUES ('k2')").unwrap_err();
    assert_eq!(error.code(), ErrorCode::DuplicateKey, "{error}");
}

#[test]
fn what_a_cluster_cannot_do_is_refused_by_name() {
    let (_world, database) = open();
    execute(&database, "UPSERT INTO ca41 (k, b) VALUES ('k1', 1)").unwrap();
    for (sql, code, reason) in [
        ("BEGIN", ErrorCode::NotSupported, "no transactions of several statements"),
        ("UPDATE ca41 SET k = 'k2' WHERE k = 'k1'", ErrorCode::NotSupported, "a change of a row's key"),
        ("SELECT * FROM ca41", ErrorCode::FullScanRefused, "CA41"),
    ] {
        let connection = database.connect().blocking();
        let error = match sql.starts_with("SELECT") {
            true => connection.query(sql, ()).map(drop).unwrap_err(),
            false => connection.execute(sql, ()).map(drop).unwrap_err(),
        };
        assert_eq!(error.code(), code, "{sql}: {error}");
        assert!(error.to_string().contains(reason), "{sql}: {error}");
    }
    assert_eq!(rows(&database, "SELECT k, b FROM ca41 WHERE k = 'k1'"), ["k1 1"]);
}

/// An UPDATE writes a row only as it has read it, and tries again.
#[test]
fn updates_of_threads_are_all_there() {
    let (_world, database) = open();
    execute(&database, "UPSERT INTO ca41 (k, b) VALUES ('k', 0)").unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..10 {
                    assert_eq!(execute(&database, "UPDATE ca41 SET b = b + 1 WHERE k = 'k'").unwrap(), 1);
                }
            });
        }
    });
    assert_eq!(rows(&database, "SELECT b FROM ca41 WHERE k = 'k'"), ["40"]);
}
