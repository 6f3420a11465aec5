//! Indexes while several connections write: entries and rows stay in step, and values of unique indexes stay unique.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use saltwing::{Database, ErrorCode, IndexProgress, StoreKind, blocking, params};

/// A small generator of numbers: the same seed gives the same ones.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn below(&mut self, limit: u64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % limit).cast_signed()
    }
}

fn integers(connection: &blocking::Connection, sql: &str) -> Vec<i64> {
    connection.query(sql, ()).unwrap().map(|row| row.unwrap().get(0).unwrap()).collect()
}

fn assert_sound(database: &Database) {
    let report = database.check().unwrap();
    assert!(report.is_sound(), "{:#?}", report.faults);
}

#[test]
fn one_of_many_writers_gets_a_value() {
    const VALUES: i64 = 40;
    let database = Database::memory_builder().tiny_layout().open().unwrap();
    let connection = database.connect().blocking();
    connection.execute("CREATE TABLE t (k BIGINT PRIMARY KEY, mail VARCHAR)", ()).unwrap();
    connection.execute("CREATE UNIQUE INDEX by_mail ON t (mail)", ()).unwrap();
    let won = AtomicI64::new(0);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (connection, won) = (database.connect().blocking(), &won);
            scope.spawn(move || {
                for value in 0..VALUES {
                    let row = params![thread * 1000 + value, format!("m{value}")];
                    match connection.execute("UPSERT INTO t VALUES (?, ?)", row) {
                        Ok(_) => drop(won.fetch_add(1, Ordering::Relaxed)),
                        Err(error) => assert_eq!(error.code(), ErrorCode::DuplicateKey, "{error}"),
                    }
                }
            });
        }
    });
    assert_eq!(won.into_inner(), VALUES);
    assert_eq!(integers(&connection, "SELECT COUNT(*) FROM t WHERE mail > 'm'"), [VALUES]);
    assert_sound(&database);
}

#[test]
fn the_second_of_two_transactions_with_one_value_is_in_conflict() {
    let database = Database::memory().unwrap();
    let connect = || database.connect().blocking();
    let (first, second) = (connect(), connect());
    first.execute("CREATE TABLE t (k BIGINT PRIMARY KEY, mail VARCHAR)", ()).unwrap();
    first.execute("CREATE UNIQUE INDEX by_mail ON t (mail)", ()).unwrap();
    let begin = |connection: &blocking::Connection, sql: &str| {
        connection.execute("BEGIN", ()).unwrap();
        connection.execute(sql, ()).unwrap();
    };
    begin(&first, "UPSERT INTO t VALUES (1, 'a'), (2, NULL), (3, 'c')");
    begin(&second, "UPSERT INTO t VALUES (4, 'a')");
    first.execute("COMMIT", ()).unwrap();
    let error = second.execute("COMMIT", ()).unwrap_err();
    assert_eq!(error.sqlstate(), "40001", "{error}");
    // NULL is no value, and other values are no conflict.
    begin(&first, "UPSERT INTO t VALUES (5, NULL), (6, 'f')");
    begin(&second, "UPSERT INTO t VALUES (7, NULL), (8, 'g')");
    first.execute("COMMIT", ()).unwrap();
    second.execute("COMMIT", ()).unwrap();
    // What a transaction has taken back, it has not claimed.
    begin(&first, "SAVEPOINT s");
    first.execute("UPSERT INTO t VALUES (9, 'h')", ()).unwrap();
    first.execute("ROLLBACK TO s", ()).unwrap();
    first.execute("UPSERT INTO t VALUES (10, 'i')", ()).unwrap();
    begin(&second, "UPSERT INTO t VALUES (11, 'h')");
    second.execute("COMMIT", ()).unwrap();
    first.execute("COMMIT", ()).unwrap();
    assert_eq!(integers(&first, "SELECT k FROM t WHERE mail = 'h'"), [11]);
    assert_sound(&database);
}

/// The value of a row that a transaction deletes is not free for others before its commit, and is free after it.
#[test]
fn a_value_moves_between_rows_and_transactions() {
    let database = Database::memory().unwrap();
    let connect = || database.connect().blocking();
    let (first, second) = (connect(), connect());
    first.execute("CREATE TABLE t (k BIGINT PRIMARY KEY, mail VARCHAR)", ()).unwrap();
    first.execute("CREATE UNIQUE INDEX by_mail ON t (mail)", ()).unwrap();
    first.execute("UPSERT INTO t VALUES (1, 'a')", ()).unwrap();
    first.execute("BEGIN", ()).unwrap();
    first.execute("DELETE FROM t WHERE k = 1", ()).unwrap();
    first.execute("UPSERT INTO t VALUES (2, 'a')", ()).unwrap();
    let error = second.execute("UPSERT INTO t VALUES (3, 'a')", ()).unwrap_err();
    assert_eq!(error.code(), ErrorCode::DuplicateKey, "{error}");
    first.execute("COMMIT", ()).unwrap();
    assert_eq!(integers(&second, "SELECT k FROM t WHERE mail = 'a'"), [2]);
    second.execute("DELETE FROM t WHERE mail = 'a'", ()).unwrap();
    second.execute("UPSERT INTO t VALUES (3, 'a')", ()).unwrap();
    assert_sound(&database);
}

#[test]
fn an_index_is_built_while_others_write() {
    let database = Database::memory_builder().tiny_layout().full_scan("allow").unwrap().open().unwrap();
    let connection = database.connect().blocking();
    connection.execute("CREATE TABLE t (k BIGINT PRIMARY KEY, a BIGINT, b VARCHAR) SALT_BUCKETS = 3", ()).unwrap();
    for k in 0..300 {
        connection.execute("UPSERT INTO t VALUES (?, ?, 'x')", params![k, k % 7]).unwrap();
    }
    let done = AtomicBool::new(false);
    /// Ends the writers, also where the test fails.
    struct End<'a>(&'a AtomicBool);
    impl Drop for End<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    std::thread::scope(|scope| {
        for thread in 0..4u64 {
            let (connection, done) = (database.connect().blocking(), &done);
            scope.spawn(move || {
                let mut numbers = Numbers(thread);
                while !done.load(Ordering::Relaxed) {
                    let (k, a) = (numbers.below(400), numbers.below(7));
                    let written = match numbers.below(4) {
                        0 => connection.execute("DELETE FROM t WHERE k = ?", params![k]),
                        1 => connection.execute("UPSERT INTO t (k, a) VALUES (?, ?)", params![k, a]),
                        2 => connection.execute("UPDATE t SET a = a + 1 WHERE k = ?", params![k]),
                        _ => connection.execute("UPSERT INTO t VALUES (?, ?, 'y')", params![k, a]),
                    };
                    if let Err(error) = written {
                        assert_eq!(error.code(), ErrorCode::Conflict, "{error}");
                    }
                }
            });
        }
        let _end = End(&done);
        for round in 0..5 {
            connection.execute(&format!("CREATE INDEX i{round} ON t (a DESC) INCLUDE (b)"), ()).unwrap();
            connection.execute(&format!("ALTER INDEX i{round} ON t REBUILD"), ()).unwrap();
            if round % 2 == 0 {
                connection.execute(&format!("DROP INDEX i{round} ON t"), ()).unwrap();
            }
        }
    });
    assert_sound(&database);
    for a in 0..8 {
        let by_index = integers(&connection, &format!("SELECT k FROM t WHERE a = {a}"));
        let by_rows = integers(&connection, &format!("SELECT k FROM t WHERE a + 0 = {a}"));
        let sorted = |mut keys: Vec<i64>| {
            keys.sort_unstable();
            keys
        };
        assert_eq!(sorted(by_index), sorted(by_rows), "{a}");
    }
}

/// A transaction that began before there was an index knows no entries.
#[test]
fn a_transaction_older_than_an_index_ends_with_a_conflict() {
    let database = Database::memory().unwrap();
    let (old, new) = (database.connect().blocking(), database.connect().blocking());
    new.execute("CREATE TABLE t (k BIGINT PRIMARY KEY, a BIGINT)", ()).unwrap();
    old.execute("BEGIN", ()).unwrap();
    old.execute("UPSERT INTO t VALUES (1, 1)", ()).unwrap();
    new.execute("CREATE INDEX i ON t (a)", ()).unwrap();
    let error = old.execute("COMMIT", ()).unwrap_err();
    assert_eq!(error.sqlstate(), "40001", "{error}");
    assert_eq!(integers(&new, "SELECT k FROM t WHERE a = 1"), [0; 0]);
    assert_sound(&database);
}

#[test]
fn indexes_are_there_after_reopening() {
    let kinds = [(StoreKind::Redb, cfg!(feature = "redb")), (StoreKind::Sled, cfg!(feature = "sled"))];
    for (kind, _) in kinds.into_iter().filter(|(_, is_built_in)| *is_built_in) {
        let directory = tempfile::tempdir().unwrap();
        let open = || Database::builder(directory.path().join("db")).store(kind).open().unwrap();
        let database = open();
        let connection = database.connect().blocking();
        connection.execute("CREATE TABLE t (k BIGINT PRIMARY KEY, a VARCHAR, b BIGINT)", ()).unwrap();
        connection.execute("CREATE UNIQUE INDEX by_a ON t (a DESC)", ()).unwrap();
        connection.execute("CREATE INDEX by_b ON t (b) INCLUDE (a)", ()).unwrap();
        connection.execute("UPSERT INTO t VALUES (1, 'x', 10), (2, 'y', 20)", ()).unwrap();
        connection.execute("ALTER INDEX by_b ON t DISABLE", ()).unwrap();
        drop(connection);
        database.close().unwrap();
        let database = open();
        let connection = database.connect().blocking();
        assert_eq!(integers(&connection, "SELECT k FROM t WHERE a = 'y'"), [2]);
        let error = connection.execute("UPSERT INTO t VALUES (3, 'x', 30)", ()).unwrap_err();
        assert_eq!(error.code(), ErrorCode::DuplicateKey, "{kind:?}: {error}");
        connection.execute("UPSERT INTO t VALUES (3, 'z', 10)", ()).unwrap();
        connection.execute("ALTER INDEX by_b ON t USABLE", ()).unwrap();
        assert_eq!(integers(&connection, "SELECT k FROM t WHERE b = 10"), [1, 3]);
        connection.execute("DROP INDEX by_a ON t", ()).unwrap();
        connection.execute("UPSERT INTO t VALUES (4, 'x', 40)", ()).unwrap();
        assert_sound(&database);
    }
}

/// A plan that a connection keeps is valid for one set of indexes.
#[test]
fn prepared_statements_follow_the_indexes() {
    let database = Database::memory().unwrap();
    let connection = database.connect().blocking();
    connection.execute("CREATE TABLE t (k BIGINT PRIMARY KEY, a BIGINT, b BIGINT)", ()).unwrap();
    connection.execute("CREATE INDEX i ON t (a)", ()).unwrap();
    let insert = connection.prepare("UPSERT INTO t VALUES (?, ?, ?)").unwrap();
    let select = connection.prepare("SELECT k FROM t WHERE a = ?").unwrap();
    let found = |a: i64| {
        let rows = select.query(params![a])?;
        rows.map(|row| row?.get::<i64>(0)).collect::<Result<Vec<_>, _>>()
    };
    insert.execute(params![1, 10, 100]).unwrap();
    assert_eq!(found(10).unwrap(), [1]);
    connection.execute("ALTER INDEX i ON t DISABLE", ()).unwrap();
    assert_eq!(found(10).unwrap_err().sqlstate(), "54F01");
    insert.execute(params![2, 10, 100]).unwrap();
    connection.execute("ALTER INDEX i ON t USABLE", ()).unwrap();
    assert_eq!(found(10).unwrap(), [1, 2]);
    connection.execute("CREATE INDEX j ON t (b)", ()).unwrap();
    insert.execute(params![3, 10, 300]).unwrap();
    assert_eq!(integers(&connection, "SELECT k FROM t WHERE b = 300"), [3]);
    connection.execute("DROP INDEX i ON t", ()).unwrap();
    insert.execute(params![4, 10, 300]).unwrap();
    assert_eq!(found(10).unwrap_err().sqlstate(), "54F01");
    connection.execute("CREATE INDEX i ON t (a DESC)", ()).unwrap();
    assert_eq!(found(10).unwrap(), [1, 2, 3, 4]);
    assert_sound(&database);
}

#[test]
fn a_build_reports_how_far_it_is() {
    const ROWS: u64 = 10_000;
    for kind in ["", "TEMP"] {
        let connection = Database::memory_builder().buffered().open().unwrap().connect().blocking();
        connection
            .execute(&format!("CREATE {kind} TABLE t (k BIGINT PRIMARY KEY, a BIGINT) SALT_BUCKETS = 2"), ())
            .unwrap();
        let reports: Arc<Mutex<Vec<IndexProgress>>> = Arc::default();
        let heard = reports.clone();
        connection.on_index_progress(move |progress| heard.lock().unwrap().push(progress));
        let mut appender = connection.appender("t").unwrap();
        for k in 0..ROWS.cast_signed() {
            appender.append_row((k, k % 100)).unwrap();
        }
        appender.close().unwrap();
        for sql in ["CREATE INDEX by_a ON t (a)", "ALTER INDEX by_a ON t REBUILD"] {
            connection.execute(sql, ()).unwrap();
            let reports = std::mem::take(&mut *reports.lock().unwrap());
            assert!(reports.len() > 1, "{reports:?}");
            assert!(reports.is_sorted_by_key(|progress| progress.rows), "{reports:?}");
            assert_eq!(reports.last().unwrap().rows, ROWS, "{kind} {sql}");
            // Blocks cut small are counted whole at the ends of a range, so the estimate may be above the truth.
            let near = ROWS / 2..=ROWS * 2;
            assert!(reports.iter().all(|progress| near.contains(&progress.rows_estimated)), "{reports:?}");
        }
        connection.execute("ALTER INDEX by_a ON t DISABLE", ()).unwrap();
        assert!(reports.lock().unwrap().is_empty());
    }
}
