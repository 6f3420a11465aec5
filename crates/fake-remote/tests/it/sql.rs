//! SQL over a cluster that writes rows of any tables as a whole.

use std::sync::Arc;
use std::time::Duration;

use fake_remote::{AtomicScope, Faults, RemoteStore};
use saltwing::{Database, ErrorCode, Value};

fn open(faults: Faults) -> Database {
    Database::memory_builder().open_over(Arc::new(RemoteStore::new(AtomicScope::Store, faults))).unwrap()
}

fn execute(database: &Database, sql: &str) -> Result<u64, saltwing::Error> {
    database.connect().blocking().execute(sql, ()).map(|done| done.rows_affected)
}

fn ints(database: &Database, sql: &str) -> Vec<i64> {
    let rows = database.connect().blocking().query(sql, ()).unwrap();
    let int = |row: Result<saltwing::Row, saltwing::Error>| match row.unwrap().values().unwrap().remove(0) {
        Value::Int(n) => n,
        other => panic!("{other:?}"),
    };
    rows.map(int).collect()
}

const TABLE: &str = "CREATE TABLE t (k BIGINT NOT NULL PRIMARY KEY, v BIGINT) SALT_BUCKETS = 3";

#[test]
fn increments_of_several_threads_are_all_there() {
    const THREADS: i64 = 4;
    const ADDED: i64 = 20;
    let database = open(Faults::often(5));
    execute(&database, TABLE).unwrap();
    execute(&database, "UPSERT INTO t VALUES (1, 0)").unwrap();
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for _ in 0..ADDED {
                    execute(&database, "UPSERT INTO t (k, v) SELECT k, v + 1 FROM t WHERE k = 1").unwrap();
                }
            });
        }
    });
    assert_eq!(ints(&database, "SELECT v FROM t WHERE k = 1"), [THREADS * ADDED]);
}

/// A commit without an answer is there as a whole or not at all, and stays so.
#[test]
fn an_unknown_outcome_is_reported_and_is_one_of_two() {
    let faults = Faults { unknown: 2, latency: Duration::from_micros(10), ..Faults::often(11) };
    let database = open(faults);
    while execute(&database, TABLE).is_err_and(|error| error.code() == ErrorCode::CommitUnknown) {}
    let (mut known, mut unknown) = (Vec::new(), Vec::new());
    for k in 0..200 {
        let sql = format!("UPSERT INTO t VALUES ({}, {k}), ({}, {k}), ({}, {k})", 3 * k, 3 * k + 1, 3 * k + 2);
        match execute(&database, &sql) {
            Ok(rows) => {
                assert_eq!(rows, 3);
                known.push(k);
            }
            Err(error) => {
                assert_eq!(error.code(), ErrorCode::CommitUnknown, "{error}");
                unknown.push(k);
            }
        }
    }
    let rows_of = |k: &i64| ints(&database, &format!("SELECT k FROM t WHERE k BETWEEN {} AND {}", 3 * k, 3 * k + 2));
    assert!(known.iter().all(|k| rows_of(k).len() == 3));
    let there = unknown.iter().filter(|k| rows_of(k).len() == 3).count();
    let gone = unknown.iter().filter(|k| rows_of(k).is_empty()).count();
    assert_eq!(there + gone, unknown.len(), "no commit is there in part");
    assert!(there > 0 && gone > 0, "both outcomes are tried: {there} and {gone}");
}
