//! Indexes while they are built: what other statements may do, and what is left of a build that fails.
//!
//! The statements of others run inside the report of a build, between two of its commits.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use saltwing::blocking::Connection;
use saltwing::{Database, params};

use crate::index_access::run;
use crate::{code, texts};

/// Several commits of a build.
const ROWS: i64 = 1_000;

fn database() -> Database {
    let builder = Database::memory_builder().tiny_layout().buffered().index_commit_rows(200);
    builder.full_scan("allow").unwrap().open().unwrap()
}

/// A table whose rows have values of their own in `code`, and are found by an index over it. The index has the entries of all rows.
fn table(connection: &Connection, options: &str) {
    run(connection, &[&format!("CREATE TABLE t (k BIGINT PRIMARY KEY, code VARCHAR, v BIGINT) {options}")]);
    run(connection, &["CREATE UNIQUE INDEX u ON t (code)", "CREATE INDEX i ON t (v)"]);
    let mut appender = connection.appender("t").unwrap();
    (0..ROWS).for_each(|k| appender.append_row(params![k, format!("c{k}"), k % 100]).unwrap());
    appender.close().unwrap();
}

/// Runs a statement that builds indexes, and something else after each commit of it, which gets its number from 0; how many there were.
fn during(
    connection: &Connection,
    sql: &str,
    other: impl Fn(usize) + Send + Sync + 'static,
) -> (usize, Result<(), saltwing::Error>) {
    let count = Arc::new(AtomicUsize::new(0));
    let reports = count.clone();
    connection.on_index_progress(move |_| other(reports.fetch_add(1, Relaxed)));
    let done = connection.execute(sql, ()).map(drop);
    connection.on_index_progress(|_| ());
    (count.load(Relaxed), done)
}

fn states(connection: &Connection) -> Vec<String> {
    let rows = connection.query("SHOW INDEXES", ()).unwrap();
    rows.map(|row| row.unwrap().get::<String>("state").unwrap()).collect()
}

#[track_caller]
fn is_sound(database: &Database) {
    let report = database.check().unwrap();
    assert!(report.is_sound(), "{:#?}", report.faults);
}

/// What statements do with values that rows have, however far the build is.
fn no_value_is_given_twice(connection: &Connection, number: usize) {
    let n = number as i64;
    let new = ROWS + 10 * n;
    // Of rows that the build has read, and of those that it has not.
    for taken in [n, ROWS / 2 + n, ROWS - 1 - n] {
        let value = format!("c{taken}");
        let write = |sql: &str| connection.execute(sql, params![new, value.as_str()]);
        assert_eq!(code(write("INSERT INTO t (k, code) VALUES (?, ?)")), "duplicate_key", "{value}");
        assert_eq!(code(write("UPSERT INTO t (k, code) VALUES (?, ?)")), "duplicate_key", "{value}");
        assert_eq!(write("INSERT OR IGNORE INTO t (k, code) VALUES (?, ?)").unwrap().rows_affected, 0);
        let nothing = write("INSERT INTO t (k, code) VALUES (?, ?) ON CONFLICT DO NOTHING").unwrap();
        assert_eq!(nothing.rows_affected, 0);
        let nothing = write("INSERT INTO t (k, code) VALUES (?, ?) ON CONFLICT (code) DO NOTHING").unwrap();
        assert_eq!(nothing.rows_affected, 0);
        write("INSERT INTO t (k, code) VALUES (?, ?) ON CONFLICT (code) DO UPDATE SET v = 7").unwrap();
        let update =
            connection.execute("UPDATE t SET code = ? WHERE k = ?", params![value.as_str(), (taken + 100) % ROWS]);
        assert_eq!(code(update), "duplicate_key", "{value}");
        let found = format!("SELECT k, v FROM t WHERE code = '{value}'");
        assert_eq!(texts(connection, &found).unwrap(), [format!("{taken}|7")]);
        assert_eq!(texts(connection, &format!("SELECT k FROM t WHERE k = {new}")).unwrap(), [""; 0]);
    }
    // Values move, and new ones come.
    let (a, b) = (200 + n, ROWS - 200 - n);
    let free = 300 + n;
    run(
        connection,
        &[
            &format!("UPDATE t SET code = CASE k WHEN {a} THEN 'c{b}' ELSE 'c{a}' END WHERE k IN ({a}, {b})"),
            &format!("DELETE FROM t WHERE k = {free}"),
            &format!("INSERT INTO t VALUES ({new}, 'c{free}', 1), ({}, 'new{n}', 2)", new + 1),
        ],
    );
}

#[test]
fn unique_holds_while_an_index_is_rebuilt() {
    for (options, sql) in [
        ("", "ALTER INDEX u ON t REBUILD"),
        ("SALT_BUCKETS = 3", "ALTER INDEX u ON t REBUILD"),
        ("TTL = 1000", "ALTER INDEX u ON t REBUILD"),
        ("", "ALTER TABLE t SET TTL = 1000"),
        ("TTL = 1000", "ALTER TABLE t SET TTL = 2000"),
        ("TTL = 1000", "ALTER TABLE t SET TTL = NONE"),
    ] {
        let database = database();
        let (connection, other) = (database.connect().blocking(), database.connect().blocking());
        table(&connection, options);
        let (commits, done) = during(&connection, sql, move |number| no_value_is_given_twice(&other, number));
        done.unwrap_or_else(|error| panic!("{sql}: {error}"));
        assert!(commits > 2, "{sql}: {commits}");
        assert_eq!(states(&connection), ["ready", "ready"]);
        is_sound(&database);
        let twice = "SELECT code FROM t GROUP BY code HAVING COUNT(*) > 1";
        assert_eq!(texts(&connection, twice).unwrap(), [""; 0], "{sql}");
        no_value_is_given_twice(&connection, commits + 1);
        is_sound(&database);
    }
}

/// A transaction that is open while an index is rebuilt takes no value that it may not take.
#[test]
fn unique_holds_for_transactions_around_a_rebuild() {
    let database = database();
    let [connection, before, first, second] = [(); 4].map(|()| database.connect().blocking());
    table(&connection, "");
    run(&before, &["BEGIN", "INSERT INTO t VALUES (20000, 'mine', 1)"]);
    let (_, done) = during(&connection, "ALTER INDEX u ON t REBUILD", move |number| match number {
        0 => {
            run(&first, &["BEGIN", "INSERT INTO t VALUES (30000, 'mine', 1)"]);
            run(&second, &["BEGIN", "INSERT INTO t VALUES (40000, 'mine', 1)"]);
        }
        1 => {
            run(&first, &["COMMIT"]);
            assert_eq!(code(second.execute("COMMIT", ())), "conflict");
        }
        _ => {}
    });
    done.unwrap();
    assert_eq!(code(before.execute("COMMIT", ())), "conflict");
    assert_eq!(texts(&connection, "SELECT k FROM t WHERE code = 'mine'").unwrap(), ["30000"]);
    is_sound(&database);
}

/// Statements read the entries in force: by the same plan, with the same rows.
#[test]
fn an_index_is_read_while_it_is_rebuilt() {
    let database = database();
    let (connection, other) = (database.connect().blocking(), database.connect().blocking());
    table(&connection, "");
    run(&other, &["SET full_scan = 'error'"]);
    let wanted = texts(&other, "SELECT k FROM t WHERE v = 7 AND k < 900").unwrap();
    let (commits, done) = during(&connection, "ALTER INDEX i ON t REBUILD", move |_| {
        assert_eq!(states(&other), ["ready", "rebuilding"]);
        assert_eq!(texts(&other, "SELECT k FROM t WHERE v = 7 AND k < 900").unwrap(), wanted);
    });
    done.unwrap();
    assert!(commits > 2, "{commits}");
    // One that is suspected to be wrong is disabled first: then no statement reads it until the new entries are there.
    let other = database.connect().blocking();
    run(&other, &["SET full_scan = 'error'"]);
    run(&connection, &["ALTER INDEX i ON t DISABLE"]);
    let (_, done) = during(&connection, "ALTER INDEX i ON t REBUILD", move |_| {
        assert_eq!(states(&other), ["ready", "disabled"]);
        assert_eq!(code(other.query("SELECT k FROM t WHERE v = 7", ())), "full_scan_refused");
    });
    done.unwrap();
    assert_eq!(states(&connection), ["ready", "ready"]);
}

/// A statement that is stopped, or fails, leaves all as it was.
#[test]
fn a_build_that_fails_leaves_nothing() {
    for (sql, states_before) in [
        ("CREATE INDEX x ON t (v, code)", ["ready", "ready"]),
        ("CREATE LOCAL INDEX x ON t (v)", ["ready", "ready"]),
        ("ALTER INDEX i ON t REBUILD", ["ready", "ready"]),
        ("ALTER INDEX i ON t REBUILD", ["ready", "disabled"]),
        ("ALTER TABLE t SET TTL = 1000", ["ready", "disabled"]),
    ] {
        let database = database();
        let connection = database.connect().blocking();
        table(&connection, "SALT_BUCKETS = 2");
        if states_before[1] == "disabled" {
            run(&connection, &["ALTER INDEX i ON t DISABLE"]);
        }
        let interrupt = connection.interrupt_handle();
        let (commits, done) = during(&connection, sql, move |number| {
            if number == 1 {
                interrupt.interrupt();
            }
        });
        assert_eq!((commits, code(done)), (2, "cancelled"), "{sql}");
        assert_eq!(states(&connection), states_before, "{sql}");
        assert!(!texts(&connection, "SHOW CREATE TABLE t").unwrap().concat().contains("TTL"));
        is_sound(&database);
        let (_, done) = during(&connection, sql, |_| ());
        done.unwrap();
        is_sound(&database);
    }
}

/// Rows that forbid a unique index: they were there, they come while it is built, or a TTL brings them back.
#[test]
fn a_unique_index_that_rows_forbid_is_gone() {
    let database = database();
    let (connection, other) = (database.connect().blocking(), database.connect().blocking());
    table(&connection, "");
    let create = "CREATE UNIQUE INDEX x ON t (v)";
    assert_eq!(code(connection.execute(create, ())), "duplicate_key");
    run(&connection, &["DROP INDEX u ON t"]);
    let (_, done) = during(&connection, "CREATE UNIQUE INDEX x ON t (code)", move |number| {
        let row = format!("INSERT INTO t VALUES ({}, 'c999', 1)", ROWS + number as i64);
        // Before the build comes to that row; then the index knows it.
        assert_eq!(code(other.execute(&row, ())), if number == 0 { "ok" } else { "duplicate_key" });
    });
    assert_eq!(code(done), "duplicate_key");
    assert_eq!(texts(&connection, "SELECT k FROM t WHERE code = 'c999' ORDER BY k").unwrap(), ["999", "1000"]);
    assert_eq!(states(&connection), ["ready"]);
    is_sound(&database);
    // In the background: nobody waits for the error, which SHOW STORAGE has.
    run(&connection, &["CREATE UNIQUE INDEX x ON t (code) ASYNC"]);
    let began = Instant::now();
    while states(&connection).len() > 1 {
        assert!(began.elapsed() < Duration::from_secs(60), "{:?}", states(&connection));
        std::thread::sleep(Duration::from_millis(2));
    }
    let failure = || {
        let total = connection.query("SHOW STORAGE", ()).unwrap().last().unwrap().unwrap();
        total.get::<Option<String>>("last_failure").unwrap().unwrap_or_default()
    };
    while !failure().contains("index build") {
        assert!(began.elapsed() < Duration::from_secs(60), "{}", failure());
        std::thread::sleep(Duration::from_millis(2));
    }
    assert!(failure().contains("'c999'"), "{}", failure());
}

/// What others do with the index or its table while it is built.
#[test]
fn an_index_is_changed_while_it_is_built() {
    let outcomes = [
        ("CREATE INDEX x ON t (v)", "DROP INDEX x ON t", "conflict", vec!["ready", "ready"]),
        ("CREATE INDEX x ON t (v)", "TRUNCATE TABLE t", "ok", vec!["ready", "ready", "ready"]),
        ("CREATE INDEX x ON t (v)", "ALTER TABLE t ADD w BIGINT", "ok", vec!["ready", "ready", "ready"]),
        ("CREATE INDEX x ON t (v)", "ALTER TABLE t SET TTL = 500", "ok", vec!["ready", "ready", "ready"]),
        ("CREATE INDEX x ON t (v)", "ALTER TABLE t SET TTL = 2000", "ok", vec!["ready", "ready", "ready"]),
        ("ALTER INDEX i ON t REBUILD", "ALTER TABLE t SET TTL = 2000", "ok", vec!["ready", "ready"]),
        ("ALTER INDEX i ON t REBUILD", "DROP INDEX i ON t", "conflict", vec!["ready"]),
        ("ALTER INDEX i ON t REBUILD", "ALTER INDEX i ON t REBUILD", "ok", vec!["ready", "ready"]),
        ("ALTER INDEX i ON t REBUILD", "ALTER INDEX i ON t DISABLE", "ok", vec!["ready", "ready"]),
        ("ALTER INDEX i ON t REBUILD", "TRUNCATE TABLE t", "ok", vec!["ready", "ready"]),
        ("ALTER INDEX i ON t REBUILD", "ALTER TABLE t SET TTL = 500", "ok", vec!["ready", "ready"]),
        ("ALTER TABLE t SET TTL = 2000", "ALTER INDEX i ON t REBUILD", "conflict", vec!["ready", "ready"]),
        ("ALTER TABLE t SET TTL = 2000", "CREATE INDEX x ON t (v)", "conflict", vec!["ready", "ready", "ready"]),
        ("ALTER TABLE t SET TTL = 2000", "DROP INDEX u ON t", "ok", vec!["ready"]),
        ("ALTER TABLE t SET TTL = 2000", "TRUNCATE TABLE t", "conflict", vec!["ready", "ready"]),
        ("ALTER TABLE t SET TTL = 2000", "ALTER TABLE t SET TTL = 500", "ok", vec!["ready", "ready"]),
        ("ALTER TABLE t SET TTL = 2000", "ALTER TABLE t SET TTL = 3000", "ok", vec!["ready", "ready"]),
    ];
    for (sql, meanwhile, outcome, wanted) in outcomes {
        let database = database();
        let (connection, other) = (database.connect().blocking(), database.connect().blocking());
        table(&connection, "TTL = 1000");
        let (_, done) = during(&connection, sql, move |number| {
            if number == 0 {
                run(&other, &[meanwhile]);
            }
        });
        assert_eq!(code(done), outcome, "{sql}, {meanwhile}");
        assert_eq!(states(&connection), wanted, "{sql}, {meanwhile}");
        is_sound(&database);
        run(&connection, &["UPSERT INTO t (k, code, v) VALUES (5, 'five', 5), (20000, 'c5', 5)"]);
        let by_index = texts(&connection, "SELECT k FROM t WHERE v = 5 AND k > 900 ORDER BY k").unwrap();
        assert_eq!(by_index.last().map(String::as_str), Some("20000"), "{sql}, {meanwhile}");
        is_sound(&database);
    }
}

/// CREATE INDEX ends open transactions that wrote to the table when it begins, and none when the index is ready.
#[test]
fn an_index_that_becomes_ready_ends_no_transaction() {
    let database = database();
    let connection = database.connect().blocking();
    table(&connection, "");
    let others: Arc<Mutex<Vec<Connection>>> = Arc::default();
    let (began, of_report) = (others.clone(), database.clone());
    let (commits, done) = during(&connection, "CREATE INDEX x ON t (code, v)", move |number| {
        let other = of_report.connect().blocking();
        run(&other, &["BEGIN", &format!("UPSERT INTO t VALUES ({number}, 'new{number}', 1000)")]);
        began.lock().unwrap().push(other);
    });
    done.unwrap();
    others.lock().unwrap().iter().for_each(|other| run(other, &["COMMIT"]));
    let rows = texts(&connection, "SELECT /*+ INDEX(t x) */ k FROM t WHERE code LIKE 'new%' AND v = 1000").unwrap();
    assert_eq!(rows.len(), commits);
    is_sound(&database);
}

/// A transaction reads by the indexes of its beginning.
#[test]
fn a_transaction_does_not_read_an_index_that_came_later() {
    let database = database();
    let (connection, other) = (database.connect().blocking(), database.connect().blocking());
    table(&connection, "");
    run(&other, &["BEGIN"]);
    let read = "SELECT k FROM t WHERE code LIKE 'c9%' ORDER BY code";
    let before = texts(&other, read).unwrap();
    assert_eq!(before.len(), 111);
    run(&connection, &["ALTER INDEX u ON t REBUILD", "CREATE INDEX x ON t (code, v)", "DELETE FROM t WHERE k > 950"]);
    assert_eq!(texts(&other, read).unwrap(), before);
    run(&other, &["COMMIT"]);
    is_sound(&database);
}
