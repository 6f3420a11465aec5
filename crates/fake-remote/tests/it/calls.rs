//! How many calls statements make: on a cluster each call is a round trip of milliseconds.

use std::sync::Arc;
use std::time::Duration;

use fake_remote::{AtomicScope, Faults, RemoteStore};
use saltwing::Database;
use saltwing::blocking::Connection;

/// Calls of a statement, and how many it may make.
struct Bound {
    sql: String,
    most: u64,
}

fn rows(from: i64, count: i64) -> String {
    let row = |k: i64| format!("('h{:03}', {k}, {k}, {k})", k % 200);
    (from..from + count).map(row).collect::<Vec<_>>().join(", ")
}

/// A table of one region, and a statement for each kind of look-up.
fn bounds() -> Vec<Bound> {
    let some = (0..1000).map(|k| format!("('h{:03}', {k}, 7)", k % 200)).collect::<Vec<_>>().join(", ");
    let bound = |sql: &str, most: u64| Bound { sql: sql.to_owned(), most };
    vec![
        bound(&format!("UPSERT INTO t VALUES {}", rows(0, 1000)), 1),
        bound(&format!("INSERT INTO t VALUES {}", rows(1000, 1000)), 2),
        bound(&format!("UPSERT INTO t (h, k, a) VALUES {some}"), 2),
        bound(&format!("INSERT INTO t VALUES {} ON CONFLICT (h, k) DO UPDATE SET a = excluded.a", rows(1500, 1000)), 2),
        bound("SELECT COUNT(*) FROM t WHERE h = 'h001'", 1),
        bound("SELECT a FROM t WHERE h = 'h001' AND k IN (1, 201, 401, 601, 801, 5)", 1),
        bound("SELECT /*+ FULL_SCAN(t) */ DISTINCT h FROM t", 3),
        bound("CREATE INDEX i ON t (a)", 10),
        bound(&format!("UPSERT INTO t VALUES {}", rows(5000, 1000)), 2),
        bound("CREATE UNIQUE INDEX u ON t (b)", 12),
        bound(&format!("UPSERT INTO t VALUES {}", rows(9000, 1000)), 4),
        bound(&format!("INSERT INTO t VALUES {} ON CONFLICT (b) DO UPDATE SET a = 0", rows(9500, 1000)), 5),
        bound(&format!("INSERT INTO t VALUES {} ON CONFLICT DO NOTHING", rows(9500, 1000)), 5),
        bound("UPDATE t SET a = a + 1 WHERE h = 'h002'", 3),
        bound("UPDATE t SET k = k + 100000 WHERE h = 'h002'", 4),
        bound("DELETE FROM t WHERE h = 'h001' AND k < 3000", 3),
    ]
}

fn execute(connection: &Connection, sql: &str) {
    let done = match sql.starts_with("SELECT") {
        true => connection.query(sql, ()).and_then(|mut rows| rows.try_for_each(|row| row.map(drop))),
        false => connection.execute(sql, ()).map(drop),
    };
    if let Err(error) = done {
        panic!("{}: {error}", sql.get(..80).unwrap_or(sql));
    }
}

/// The same over a store that writes each row by itself: two calls for each region that a statement touches, one to read and one to write.
#[test]
fn rows_that_are_written_one_by_one_are_sent_together() {
    let store = Arc::new(RemoteStore::new(AtomicScope::Row, Faults { page_rows: 1000, ..Faults::none() }));
    let database = Database::memory_builder().open_beside(store.clone()).unwrap();
    let connection = database.connect().blocking();
    execute(&connection, "CREATE TABLE t (h VARCHAR, k BIGINT, a BIGINT, b BIGINT, CONSTRAINT pk PRIMARY KEY (h, k))");
    let some = (0..1000).map(|k| format!("('h{:03}', {k}, 7)", k % 200)).collect::<Vec<_>>().join(", ");
    let conflict = "ON CONFLICT (h, k) DO UPDATE SET a = excluded.a";
    for (sql, calls) in [
        (format!("UPSERT INTO t VALUES {}", rows(0, 1000)), 1),
        (format!("INSERT INTO t VALUES {}", rows(1000, 1000)), 2),
        (format!("UPSERT INTO t (h, k, a) VALUES {some}"), 1),
        (format!("INSERT INTO t VALUES {} {conflict}", rows(1500, 1000)), 2),
        ("UPSERT INTO t (h, k, a) SELECT h, k, b FROM t WHERE h = 'h003'".to_owned(), 2),
        ("UPDATE t SET a = a + 1 WHERE h = 'h002'".to_owned(), 2),
        ("DELETE FROM t WHERE h = 'h001' AND k < 3000".to_owned(), 2),
        ("SELECT COUNT(*) FROM t WHERE h = 'h003'".to_owned(), 1),
        ("SELECT /*+ FULL_SCAN(t) */ COUNT(*), SUM(a), MIN(b), MAX(h), AVG(b) FROM t".to_owned(), 1),
        ("SELECT /*+ FULL_SCAN(t) */ h, COUNT(*), SUM(a) FROM t GROUP BY h".to_owned(), 1),
        ("SELECT /*+ FULL_SCAN(t) */ a, COUNT(*) FROM t GROUP BY a HAVING COUNT(*) > 1 ORDER BY 2 DESC".to_owned(), 1),
    ] {
        let before = store.calls();
        execute(&connection, &sql);
        assert_eq!(store.calls() - before, calls, "{}", sql.get(..80).unwrap_or(&sql));
    }
}

/// A scan of many buckets waits for several servers at once, whatever the number of threads that read.
#[test]
fn buckets_are_read_at_once() {
    const AT_ONCE: u64 = 4;
    let faults = Faults { latency: Duration::from_millis(10), scans_at_once: AT_ONCE as usize, ..Faults::none() };
    for (sql, most) in [
        ("SELECT /*+ FULL_SCAN(t) */ k FROM t WHERE v >= 0", AT_ONCE),
        ("SELECT /*+ FULL_SCAN(t) */ MAX(v + 1) FROM t", AT_ONCE),
        // The buckets are merged, so all of them are needed for the first row.
        ("SELECT k FROM t WHERE k >= 0 ORDER BY k LIMIT 3", 8),
        ("SELECT k FROM t WHERE k >= 0 LIMIT 3", 1),
    ] {
        let store = Arc::new(RemoteStore::new(AtomicScope::Row, faults));
        let database = Database::memory_builder().open_beside(store.clone()).unwrap();
        let connection = database.connect().blocking();
        execute(&connection, "CREATE TABLE t (k BIGINT PRIMARY KEY, v BIGINT) SALT_BUCKETS = 8");
        let rows = (0..200).map(|k| format!("({k}, {k})")).collect::<Vec<_>>().join(", ");
        execute(&connection, &format!("UPSERT INTO t VALUES {rows}"));
        assert_eq!(store.calls_at_once(), 1, "an UPSERT is one call after the other");
        execute(&connection, sql);
        let at_once = store.calls_at_once();
        assert!(at_once > most / 2 && at_once <= most, "{at_once} calls at once: {sql}");
    }
}

#[test]
fn statements_look_rows_up_together() {
    let store = Arc::new(RemoteStore::new(AtomicScope::Store, Faults { page_rows: 10_000, ..Faults::none() }));
    let database = Database::memory_builder().open_over(store.clone()).unwrap();
    let connection = database.connect().blocking();
    execute(&connection, "CREATE TABLE t (h VARCHAR, k BIGINT, a BIGINT, b BIGINT, CONSTRAINT pk PRIMARY KEY (h, k))");
    let mut beyond = Vec::new();
    for Bound { sql, most } in bounds() {
        let before = store.calls();
        execute(&connection, &sql);
        let calls = store.calls() - before;
        if calls > most {
            beyond.push(format!("{calls} calls instead of {most}: {}", sql.get(..80).unwrap_or(&sql)));
        }
    }
    assert!(beyond.is_empty(), "{}", beyond.join("\n"));
    let count: i64 = connection.query_one::<(i64,)>("SELECT /*+ FULL_SCAN(t) */ COUNT(*) FROM t", ()).unwrap().0;
    assert_eq!(count, 5000 - 13);
}
