//! SQL over a cluster that writes each row by itself and has no snapshots of all tables.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::time::Duration;

use fake_remote::{AtomicScope, Faults, RemoteStore};
use saltwing::{Database, ErrorCode, Value};

fn open(faults: Faults) -> Database {
    Database::memory_builder().open_beside(Arc::new(RemoteStore::new(AtomicScope::Row, faults))).unwrap()
}

fn execute(database: &Database, sql: &str) -> Result<u64, saltwing::Error> {
    database.connect().blocking().execute(sql, ()).map(|done| done.rows_affected)
}

fn rows(database: &Database, sql: &str) -> Vec<Vec<Value>> {
    let rows = database.connect().blocking().query(sql, ()).unwrap();
    rows.map(|row| row.unwrap().values().unwrap()).collect()
}

fn ints(database: &Database, sql: &str) -> Vec<i64> {
    let int = |row: Vec<Value>| if let Some(Value::Int(n)) = row.first() { *n } else { panic!("{row:?}") };
    rows(database, sql).into_iter().map(int).collect()
}

const TABLE: &str = "CREATE TABLE t (k BIGINT NOT NULL PRIMARY KEY, v BIGINT, w BIGINT) SALT_BUCKETS = 3";

#[test]
fn statements_of_many_rows_write_them_one_by_one() {
    let database = open(Faults::often(3));
    let written = |sql: &str| execute(&database, sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    written(TABLE);
    assert_eq!(written("UPSERT INTO t VALUES (1, 1, 1), (2, 2, 2), (3, 3, 3)"), 3);
    assert_eq!(written("INSERT INTO t VALUES (4, 4, 4), (5, 5, 5)"), 2);
    assert_eq!(written("UPSERT INTO t (k, v) VALUES (1, 10), (6, 60)"), 2);
    assert_eq!(written("UPSERT INTO t SELECT k + 10, v, w FROM t WHERE k >= 4"), 3);
    assert_eq!(written("UPDATE t SET v = v + w WHERE k BETWEEN 1 AND 3"), 3);
    assert_eq!(written("DELETE FROM t WHERE k >= 14 AND w = 4"), 1);
    let sql = "INSERT INTO t VALUES (2, 0, 7), (7, 7, 7) ON CONFLICT (k) DO UPDATE SET w = excluded.w";
    assert_eq!(written(sql), 2);
    let sql = "SELECT k * 10000 + COALESCE(v, 99) * 100 + COALESCE(w, 99) FROM t WHERE k >= 0 ORDER BY k";
    assert_eq!(ints(&database, sql), [11101, 20407, 30603, 40404, 50505, 66099, 70707, 150505, 166099]);
    let error = execute(&database, "INSERT INTO t VALUES (100, 0, 0), (4, 0, 0)").unwrap_err();
    assert_eq!((error.code(), error.rows_committed()), (ErrorCode::DuplicateKey, 0));
    assert!(rows(&database, "SELECT k FROM t WHERE k = 100").is_empty(), "it was known before anything was written");
}

/// A scan would come to rows that an earlier part has written, so these statements are one commit, whatever `autocommit_rows` says.
#[test]
fn a_statement_never_reads_the_rows_that_it_writes() {
    const ROWS: i64 = 500;
    let database = open(Faults { changes: 3, ..Faults::often(13) });
    execute(&database, TABLE).unwrap();
    execute(&database, "CREATE VIEW named AS SELECT * FROM t").unwrap();
    let values: Vec<String> = (0..ROWS).map(|k| format!("({k}, 1, 0)")).collect();
    execute(&database, &format!("UPSERT INTO t VALUES {}", values.join(", "))).unwrap();
    let parts = database.connect().blocking();
    parts.execute("SET autocommit_rows = 10", ()).unwrap();
    for (sql, written) in [
        ("UPSERT INTO t SELECT k + 1000, v, w FROM t WHERE k >= 0", ROWS),
        ("UPSERT INTO t SELECT k + 2000, v, w FROM named WHERE k >= 0", 2 * ROWS),
        ("UPDATE t SET v = v + (SELECT COUNT(*) FROM t o WHERE o.k >= 0 AND o.v = 1) WHERE k >= 0", 4 * ROWS),
        ("DELETE FROM t WHERE k >= 0 AND (SELECT COUNT(*) FROM t o WHERE o.k >= 0) = 2000", 4 * ROWS),
    ] {
        let done = parts.execute(sql, ()).unwrap_or_else(|error| panic!("{sql}: {error}"));
        assert_eq!(done.rows_affected, u64::try_from(written).unwrap(), "{sql}");
    }
}

#[test]
fn statements_that_need_several_rows_as_a_whole_are_refused() {
    let database = open(Faults::often(3));
    execute(&database, TABLE).unwrap();
    execute(&database, "UPSERT INTO t VALUES (1, 1, 1)").unwrap();
    for (sql, reason) in [
        ("BEGIN", "fake-remote has no transactions of several statements"),
        ("CREATE INDEX i ON t (v)", "an index writes several rows together, and fake-remote writes each row by itself"),
        ("CREATE UNIQUE INDEX i ON t (v)", "an index writes several rows together"),
        ("UPDATE t SET k = k + 1 WHERE k = 1", "a change of a row's key writes several rows together"),
        ("INSERT INTO t VALUES (1, 0, 0) ON CONFLICT (k) DO UPDATE SET k = 9", "a change of a row's key"),
        ("COMPACT t", "COMPACT is not possible on the store fake-remote"),
        ("SHOW STORAGE", "not possible on the store fake-remote"),
    ] {
        let error = execute(&database, sql).unwrap_err();
        assert_eq!(error.code(), ErrorCode::NotSupported, "{sql}: {error}");
        assert!(error.to_string().contains(reason), "{sql}: {error}");
    }
    assert_eq!(ints(&database, "SELECT v FROM t WHERE k >= 0"), [1]);
}

/// UPSERTs of some columns read nothing, so no other thread's column is overwritten.
#[test]
fn columns_that_threads_upsert_are_all_there() {
    const COLUMNS: i64 = 8;
    const TIMES: i64 = 30;
    let database = open(Faults { latency: Duration::from_micros(50), ..Faults::often(7) });
    let columns = |of: &dyn Fn(i64) -> String| (0..COLUMNS).map(of).collect::<Vec<_>>().join(", ");
    execute(&database, &format!("CREATE TABLE c (k BIGINT PRIMARY KEY, {})", columns(&|c| format!("c{c} BIGINT"))))
        .unwrap();
    std::thread::scope(|scope| {
        for c in 0..COLUMNS {
            let database = &database;
            scope.spawn(move || {
                for n in 1..=TIMES {
                    assert_eq!(execute(database, &format!("UPSERT INTO c (k, c{c}) VALUES (1, {n})")).unwrap(), 1);
                    assert_eq!(ints(database, &format!("SELECT c{c} FROM c WHERE k = 1")), [n]);
                }
            });
        }
    });
    let sql = format!("SELECT {} FROM c WHERE k = 1", columns(&|c| format!("c{c}")));
    assert_eq!(rows(&database, &sql), [vec![Value::Int(TIMES); COLUMNS as usize]]);
}

/// An UPDATE writes a row only as it has read it. What a statement says it has written is there.
#[test]
fn updates_of_threads_are_counted_and_all_there() {
    const ROWS: u64 = 5;
    let database = open(Faults { latency: Duration::from_micros(20), ..Faults::often(5) });
    execute(&database, TABLE).unwrap();
    execute(&database, "UPSERT INTO t VALUES (1, 0, 0), (2, 0, 0), (3, 0, 0), (4, 0, 0), (5, 0, 0)").unwrap();
    let (added, parts) = (AtomicI64::new(0), AtomicI64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..15 {
                    match execute(&database, "UPDATE t SET v = v + 1 WHERE k >= 0") {
                        Ok(rows) => {
                            assert_eq!(rows, ROWS);
                            added.fetch_add(rows as i64, Relaxed);
                        }
                        Err(error) => {
                            assert_eq!(error.code(), ErrorCode::Conflict, "{error}");
                            assert!(!error.is_retryable() && error.rows_committed() > 0, "{error}");
                            added.fetch_add(error.rows_committed() as i64, Relaxed);
                            parts.fetch_add(1, Relaxed);
                        }
                    }
                }
            });
        }
    });
    assert_eq!(ints(&database, "SELECT SUM(v) FROM t WHERE k >= 0"), [added.load(Relaxed)]);
    assert!(parts.load(Relaxed) > 0, "no statement was written in part");
    // One row at a time is tried again.
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..15 {
                    assert_eq!(execute(&database, "UPDATE t SET w = w + 1 WHERE k = 1").unwrap(), 1);
                }
            });
        }
    });
    assert_eq!(ints(&database, "SELECT w FROM t WHERE k = 1"), [60]);
}

/// The error counts the rows whose outcome is unknown, and the rows that it counts as written are there.
#[test]
fn unknown_outcomes_are_counted() {
    let faults = Faults { unknown: 2, latency: Duration::from_micros(10), ..Faults::often(11) };
    let database = open(faults);
    execute(&database, TABLE).unwrap();
    let (mut unknown, mut in_part) = (0, 0);
    for k in 0..150 {
        let keys = [3 * k, 3 * k + 1, 3 * k + 2];
        let sql = format!("UPSERT INTO t VALUES ({}, 1, 1), ({}, 1, 1), ({}, 1, 1)", keys[0], keys[1], keys[2]);
        let (least, most) = match execute(&database, &sql) {
            Ok(rows) => (rows, 3),
            Err(error) => {
                assert_eq!(error.code(), ErrorCode::CommitUnknown, "{error}");
                unknown += 1;
                in_part += u64::from(error.rows_committed() > 0);
                (error.rows_committed(), 3)
            }
        };
        let there = ints(&database, &format!("SELECT COUNT(*) FROM t WHERE k BETWEEN {} AND {}", keys[0], keys[2]));
        assert!((least..=most).contains(&(there[0] as u64)), "{least} {there:?}");
    }
    assert!(unknown > 0 && in_part > 0, "both are tried: {unknown} and {in_part}");
}
