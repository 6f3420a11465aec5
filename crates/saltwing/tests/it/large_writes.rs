//! Statements that write much: the limit of one commit, and commits in parts.

use std::fmt::Write as _;

use saltwing::{Builder, Database, Error, ErrorCode, blocking};

fn open(builder: Builder) -> blocking::Connection {
    builder.full_scan("allow").unwrap().open().unwrap().connect().blocking()
}

/// Ten thousand rows; of 40 to 60 bytes, as they are encoded.
fn loaded(builder: Builder) -> blocking::Connection {
    let connection = open(builder);
    for table in ["t", "u"] {
        let create = format!("CREATE TABLE {table} (k INT NOT NULL PRIMARY KEY, v INT, s VARCHAR)");
        connection.execute(&create, ()).unwrap();
    }
    for from in (0..10_000).step_by(1_000) {
        let rows: Vec<String> = (from..from + 1_000).map(|k| format!("({k}, {}, 'a text')", k % 10)).collect();
        connection.execute(&format!("UPSERT INTO t VALUES {}", rows.join(", ")), ()).unwrap();
    }
    connection
}

fn count(connection: &blocking::Connection, sql: &str) -> i64 {
    connection.query(sql, ()).unwrap().next().unwrap().unwrap().get(0).unwrap()
}

fn refused(connection: &blocking::Connection, sql: &str) -> Error {
    connection.execute(sql, ()).expect_err(sql)
}

const LARGE: [&str; 4] = [
    "UPSERT INTO u SELECT k, v, s FROM t",
    "UPSERT INTO u (k, v) SELECT k, v FROM t",
    "INSERT INTO u SELECT k, v, s FROM t",
    "DELETE FROM t WHERE k >= 0",
];

#[test]
fn a_commit_is_limited() {
    let connection = loaded(Database::memory_builder().commit_bytes_max(50_000));
    for sql in LARGE {
        let error = refused(&connection, sql);
        assert_eq!((error.sqlstate(), error.rows_committed()), ("54000", 0), "{sql}: {error}");
        let text = error.render(sql);
        assert!(text.contains("commit_bytes_max = 50000"), "{text}");
        assert!(text.contains("SET autocommit_rows = "), "{text}");
        // Nothing of it is there.
        assert_eq!(count(&connection, "SELECT count(*) FROM t"), 10_000, "{sql}");
        assert_eq!(count(&connection, "SELECT count(*) FROM u"), 0, "{sql}");
    }
    let rows: Vec<String> = (0..4_000).map(|k| format!("({k}, 1, 'a text')")).collect();
    let values = format!("UPSERT INTO u VALUES {}", rows.join(", "));
    assert_eq!(refused(&connection, &values).code(), ErrorCode::StatementTooLarge);
    // One connection may have another limit.
    connection.execute("SET commit_bytes_max = 10000000", ()).unwrap();
    connection.execute(&values, ()).unwrap();
    connection.execute(LARGE[0], ()).unwrap();
    connection.execute("SET commit_bytes_max = DEFAULT", ()).unwrap();
    assert_eq!(refused(&connection, LARGE[1]).code(), ErrorCode::StatementTooLarge);
    for wrong in ["0", "'much'", "1000000001"] {
        let error = refused(&connection, &format!("SET commit_bytes_max = {wrong}"));
        assert_eq!(error.code(), ErrorCode::BadArgument, "{wrong}");
    }
    // TRUNCATE is one commit, and says that it means all rows.
    connection.execute("TRUNCATE TABLE t", ()).unwrap();
    assert_eq!(count(&connection, "SELECT count(*) FROM t"), 0);
}

/// The query is not read to its end where its first rows are too many.
#[test]
fn what_is_too_large_is_refused_at_the_limit() {
    let connection = loaded(Database::memory_builder());
    connection.execute("SET commit_bytes_max = 10000", ()).unwrap();
    let error = refused(&connection, "UPSERT INTO u SELECT k, v, s FROM t");
    let rows: u64 = error.to_string().split(' ').find_map(|word| word.parse().ok()).unwrap();
    assert!((100..400).contains(&rows), "{error}");
    // A million rows that nothing holds.
    if cfg!(feature = "datafusion") {
        let sql = "UPSERT INTO u (k, v) SELECT value, 1 FROM generate_series(1, 1000000000)";
        assert_eq!(refused(&connection, sql).code(), ErrorCode::StatementTooLarge);
    }
}

#[test]
fn parts_are_committed_by_rows_and_by_bytes() {
    for bytes_max in [2_000, 100_000_000] {
        let connection = loaded(Database::memory_builder().commit_bytes_max(100_000_000));
        connection.execute(&format!("SET commit_bytes_max = {bytes_max}"), ()).unwrap();
        connection.execute("SET autocommit_rows = 300", ()).unwrap();
        for sql in LARGE {
            let before = count(&connection, "SELECT count(*) FROM t");
            let done = connection.execute(sql, ()).unwrap_or_else(|error| panic!("{sql}: {error}"));
            assert_eq!(done.rows_affected, 10_000, "{sql}");
            let (t, u) = (count(&connection, "SELECT count(*) FROM t"), count(&connection, "SELECT count(*) FROM u"));
            assert_eq!((t, u), if sql.starts_with("DELETE") { (0, 0) } else { (before, 10_000) }, "{sql}");
            connection.execute("TRUNCATE TABLE u", ()).unwrap();
        }
    }
}

/// All parts read one snapshot: rows that an earlier part wrote are not read again.
#[test]
fn parts_read_one_snapshot() {
    for tiny in [false, true] {
        let builder = Database::memory_builder();
        let connection = loaded(if tiny { builder.tiny_layout() } else { builder });
        connection.execute("SET autocommit_rows = 7", ()).unwrap();
        let shift = "UPSERT INTO t SELECT k + 5, v + 100, s FROM t WHERE k < 1000";
        assert_eq!(connection.execute(shift, ()).unwrap().rows_affected, 1_000);
        assert_eq!(count(&connection, "SELECT count(*) FROM t WHERE v >= 200"), 0, "no row was moved twice");
        assert_eq!(count(&connection, "SELECT count(*) FROM t WHERE v >= 100"), 1_000);
        // Keys of earlier parts are known.
        let twice = "INSERT INTO u SELECT k % 50, v, s FROM t WHERE k < 100";
        let error = refused(&connection, twice);
        assert_eq!((error.code(), error.rows_committed()), (ErrorCode::DuplicateKey, 49));
        assert!(error.to_string().ends_with("49 rows are committed and stay"), "{error}");
        let onto = "UPSERT INTO u (k, v) SELECT k % 50, v FROM t WHERE k < 100";
        assert_eq!(connection.execute(onto, ()).unwrap().rows_affected, 100);
        assert_eq!(count(&connection, "SELECT count(*) FROM u WHERE s = 'a text'"), 49, "the other column is kept");
    }
}

#[test]
fn an_error_tells_what_is_committed() {
    let connection = loaded(Database::memory_builder());
    connection.execute("SET autocommit_rows = 1000", ()).unwrap();
    let error = refused(&connection, "UPSERT INTO u (k, v) SELECT k, 1 / (k - 9500) FROM t");
    assert_eq!((error.code(), error.rows_committed() % 1_000), (ErrorCode::DivisionByZero, 0));
    let committed = count(&connection, "SELECT count(*) FROM u");
    assert!(committed > 0);
    assert_eq!(error.rows_committed(), committed.unsigned_abs(), "{error}");
    assert!(!error.is_retryable());
    // A cancel too.
    let runner = connection.clone();
    let run = std::thread::spawn(move || {
        runner.execute("SET autocommit_rows = 10", ()).unwrap();
        loop {
            if let Err(error) = runner.execute("UPSERT INTO u (k, v) SELECT k, v FROM t", ()) {
                return error;
            }
        }
    });
    while !run.is_finished() {
        connection.cancel();
        std::thread::yield_now();
    }
    let error = run.join().unwrap();
    assert_eq!((error.code(), error.rows_committed() % 10), (ErrorCode::Cancelled, 0));
    assert_eq!(error.rows_committed() > 0, error.to_string().contains("committed"), "{error}");
}

#[test]
fn a_part_in_conflict_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("rows.csv");
    let mut text = String::new();
    (0..5).for_each(|k| writeln!(text, "{k},8").unwrap());
    std::fs::write(&path, text).unwrap();
    let connection = loaded(Database::memory_builder());
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let (other, stopped) = (connection.clone(), stop.clone());
    // Writes rows of all parts, again and again.
    let run = std::thread::spawn(move || {
        while !stopped.load(std::sync::atomic::Ordering::Relaxed) {
            other.execute("UPSERT INTO t (k, v) VALUES (5, 5), (9999, 5)", ()).unwrap();
        }
    });
    let parts = connection.clone();
    parts.execute("SET autocommit_rows = 500", ()).unwrap();
    let error = (0..10_000).find_map(|_| parts.execute("UPSERT INTO t SELECT k, v + 1, s FROM t", ()).err()).unwrap();
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    run.join().unwrap();
    assert_eq!(error.code(), ErrorCode::Conflict);
    assert!(error.rows_committed() > 0 || error.is_retryable(), "{error}");
    // COPY in parts of its own size.
    let copied = parts.execute(&format!("COPY t (k, v) FROM '{}'", path.display()), ()).unwrap();
    assert_eq!(copied.rows_affected, 5);
}
