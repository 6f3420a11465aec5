//! Aggregates that region servers make are those of the rows.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use fake_hbase::{Kind, Schedule};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use saltwing::{Database, Value};

use crate::golden::definitions;
use crate::phoenix_aggregates;
use crate::world::World;

/// A database over a cluster.
struct Opened {
    world: World,
    database: Database,
    /// How often a region was asked for aggregates.
    asked: Arc<AtomicUsize>,
}

/// `CA41 (k VARCHAR PRIMARY KEY, a VARCHAR, b INTEGER, c DECIMAL) SALT_BUCKETS = 4`,
/// `CA28 (k VARCHAR PRIMARY KEY, a VARCHAR, c DECIMAL, n1 BIGINT, g.n2 VARCHAR, b VARCHAR)` and
/// `CA9 (k VARCHAR NOT NULL, m INTEGER NOT NULL CONSTRAINT pk PRIMARY KEY (k, m))` with some regions each.
fn open() -> Opened {
    let world = World::new();
    world.define(&definitions()["CA41"], &[&[1], &[2], &[3]]);
    world.define(&definitions()["CA28"], &[b"k3", b"k5"]);
    world.define(&definitions()["CA9"], &[b"k3", b"k5"]);
    let asked = phoenix_aggregates::start(&world.cluster);
    let (tables, catalog) = (world.store.clone(), world.catalog.clone());
    let database = Database::memory_builder().open_with_catalog(tables, catalog).unwrap();
    Opened { world, database, asked }
}

/// The same tables in memory.
fn model() -> Database {
    let database = Database::memory().unwrap();
    for sql in [
        "CREATE TABLE ca41 (k VARCHAR PRIMARY KEY, a VARCHAR, b INTEGER, c DECIMAL) SALT_BUCKETS = 4",
        "CREATE TABLE ca28 (k VARCHAR PRIMARY KEY, a VARCHAR, c DECIMAL, n1 BIGINT, n2 VARCHAR, b VARCHAR)",
        "CREATE TABLE ca9 (k VARCHAR NOT NULL, m INTEGER NOT NULL, CONSTRAINT pk PRIMARY KEY (k, m))",
    ] {
        execute(&database, sql);
    }
    database
}

fn execute(database: &Database, sql: &str) {
    database.connect().blocking().execute(sql, ()).unwrap_or_else(|error| panic!("{sql}: {error}"));
}

/// The rows, sorted, or the error.
fn rows(database: &Database, sql: &str) -> Vec<String> {
    let text = |value: Value| match value {
        Value::Decimal(n) => n.to_string(),
        other => format!("{other:?}"),
    };
    let row = |row: saltwing::Row| row.values().unwrap().into_iter().map(text).collect::<Vec<_>>().join(" ");
    let read = database.connect().blocking().query(sql, ()).and_then(|rows| rows.map(|read| read.map(row)).collect());
    let mut rows: Vec<String> = read.unwrap_or_else(|error| vec![error.to_string()]);
    rows.sort();
    rows
}

/// Aggregates that servers make.
const MADE: &[&str] = &[
    "SELECT COUNT(*) FROM ca41",
    "SELECT COUNT(*), COUNT(a), COUNT(b), SUM(b), AVG(b), MIN(b), MAX(b), MIN(a), MAX(a), MIN(c), MAX(c), MIN(k), MAX(k) FROM ca41",
    "SELECT COUNT(*), SUM(n1), AVG(n1), MIN(n1), MAX(n1), COUNT(n2), MIN(n2) FROM ca28",
    "SELECT b, COUNT(*), SUM(b), MAX(a) FROM ca41 GROUP BY b",
    "SELECT b, c, COUNT(*), MIN(k) FROM ca41 GROUP BY b, c",
    "SELECT c, COUNT(*) FROM ca41 GROUP BY c",
    "SELECT k, COUNT(*), SUM(b) FROM ca41 GROUP BY k",
    "SELECT COUNT(*), SUM(m), MIN(m), MAX(k) FROM ca9 WHERE k BETWEEN 'k2' AND 'k6'",
    "SELECT m, COUNT(*), MIN(k) FROM ca9 GROUP BY m",
    "SELECT m, k, COUNT(*) FROM ca9 WHERE k IN ('k1', 'k4', 'k5', 'k7') GROUP BY m, k",
];

/// Aggregates of rows that are read.
const READ: &[&str] = &[
    "SELECT SUM(c), AVG(c) FROM ca41",
    "SELECT a, COUNT(*) FROM ca41 GROUP BY a",
    "SELECT COUNT(DISTINCT b) FROM ca41",
    "SELECT COUNT(*) FROM ca41 WHERE b > 3",
    "SELECT b + 1, COUNT(*) FROM ca41 GROUP BY b + 1",
];

fn hinted(sql: &str) -> String {
    sql.replacen("SELECT", "SELECT /*+ FULL_SCAN */", 1)
}

/// What a row is made of: the number of its key, and a number for each kind of column.
type Numbers = (u8, Option<i32>, Option<i64>, Option<u8>);

/// The statements that write rows into all tables.
fn values(rows: &[Numbers]) -> Vec<String> {
    let null = || "NULL".to_owned();
    let number = |n: &Option<i64>| n.map_or_else(null, |n| n.to_string());
    let text = |n: &Option<u8>| n.map_or_else(null, |n| format!("'t{n}'"));
    let int = |n: &Option<i32>| n.map_or_else(null, |n| n.to_string());
    let mut all = Vec::new();
    for (k, b, n, a) in rows {
        all.push(format!("UPSERT INTO ca41 (k, a, b, c) VALUES ('k{k}', {}, {}, {})", text(a), int(b), number(n)));
        all.push(format!("UPSERT INTO ca28 (k, a, n1, n2) VALUES ('k{k}', {}, {}, {})", text(a), number(n), text(a)));
        all.push(format!("UPSERT INTO ca9 (k, m) VALUES ('k{}', {})", k % 10, b.unwrap_or(5)));
    }
    all
}

/// Asks both databases, and compares.
fn check(opened: &Opened, model: &Database) -> Result<(), TestCaseError> {
    for sql in MADE.iter().chain(READ) {
        let before = opened.asked.load(Relaxed);
        let sql = hinted(sql);
        prop_assert_eq!(rows(&opened.database, &sql), rows(model, &sql), "{}", sql);
        prop_assert_eq!(opened.asked.load(Relaxed) > before, MADE.iter().any(|made| hinted(made) == sql), "{}", sql);
    }
    Ok(())
}

#[test]
fn aggregates_of_servers_are_those_of_rows() {
    let opened = open();
    let model = model();
    let longs = prop_oneof![Just(i64::MAX), Just(i64::MIN), -9..9i64];
    let row = (0..60u8, prop::option::of(-5..5i32), prop::option::of(longs), prop::option::of(0..4u8));
    let mut runner = TestRunner::new(Config { cases: Config::default().cases.div_ceil(32), ..Config::default() });
    let kinds = [Kind::Split, Kind::Move, Kind::Merge, Kind::Lease, Kind::CutBefore];
    runner
        .run(&(prop::collection::vec(row, 0..30), any::<u64>()), |(rows, seed)| {
            for sql in values(&rows) {
                execute(&opened.database, &sql);
                execute(&model, &sql);
            }
            for table in ["CA41", "CA28", "CA9"] {
                let _entered = opened.world.enter();
                let mut schedule = Schedule::new(seed, table, &kinds);
                (0..3).for_each(|_| drop(schedule.step(&opened.world.cluster)));
                schedule.settle(&opened.world.cluster).unwrap();
            }
            check(&opened, &model)
        })
        .unwrap();
}

/// Servers without Phoenix's coprocessors give rows, which are added up here.
#[test]
fn rows_of_servers_without_coprocessors_are_added_up() {
    let opened = open();
    opened.world.cluster.set_scan_coprocessor(|_, _, rows| Ok(rows));
    for sql in values(&[(1, Some(3), Some(7), None), (2, None, Some(-7), Some(1)), (33, Some(3), None, Some(1))]) {
        execute(&opened.database, &sql);
    }
    let sql = "SELECT /*+ FULL_SCAN */ COUNT(*), COUNT(b), SUM(b), AVG(b), MIN(a), MAX(k) FROM ca41";
    assert_eq!(rows(&opened.database, sql), ["Int(3) Int(2) Int(6) Double(3.0) Text(\"t1\") Text(\"k33\")"]);
    let sql = "SELECT /*+ FULL_SCAN */ b, COUNT(*) FROM ca41 GROUP BY b";
    assert_eq!(rows(&opened.database, sql), ["Int(3) Int(2)", "Null Int(1)"]);
}

/// The number of rows that the servers have read is that of the statement.
#[test]
fn rows_that_servers_read_are_counted() {
    let opened = open();
    for sql in values(&[(1, Some(3), Some(7), None), (2, None, Some(-7), Some(1)), (33, Some(3), None, Some(1))]) {
        execute(&opened.database, &sql);
    }
    let sql = "EXPLAIN ANALYZE SELECT /*+ FULL_SCAN */ COUNT(*) FROM ca41";
    let shown = rows(&opened.database, sql).join("\n");
    assert!(shown.contains("keys_read 3, seeks 4, rows_out 3"), "{shown}");
}
