//! ON CONFLICT by a unique index while several connections write, and what else goes by such an index. The rules are in
//! `index/on_conflict.slt`.

use saltwing::{Database, ErrorCode, IntoParams, OnConflict, blocking, params};

fn database() -> (Database, blocking::Connection) {
    let database = Database::memory_builder().tiny_layout().full_scan("allow").unwrap().open().unwrap();
    let connection = database.connect().blocking();
    connection.execute("CREATE TABLE t (k BIGINT PRIMARY KEY, mail VARCHAR, n BIGINT)", ()).unwrap();
    connection.execute("CREATE UNIQUE INDEX by_mail ON t (mail)", ()).unwrap();
    (database, connection)
}

fn integers(connection: &blocking::Connection, sql: &str) -> Vec<i64> {
    connection.query(sql, ()).unwrap().map(|row| row.unwrap().get(0).unwrap()).collect()
}

/// How many rows a statement has written; `None` if other writers were first for too long a time.
fn written(connection: &blocking::Connection, sql: &str, params: impl IntoParams) -> Option<u64> {
    match connection.execute(sql, params) {
        Ok(result) => Some(result.rows_affected),
        Err(error) if error.code() == ErrorCode::Conflict => None,
        Err(error) => panic!("{sql}: {error}"),
    }
}

const THREADS: i64 = 4;
const VALUES: i64 = 30;

/// Each writer gives all values to keys of its own.
fn race(database: &Database, sql: &'static str) -> u64 {
    let writer = |thread: i64| {
        let connection = database.connect().blocking();
        std::thread::spawn(move || {
            let row = |value| params![thread * 1000 + value, format!("m{value}")];
            (0..VALUES).filter_map(|value| written(&connection, sql, row(value))).sum::<u64>()
        })
    };
    let writers: Vec<_> = (0..THREADS).map(writer).collect();
    writers.into_iter().map(|writer| writer.join().unwrap()).sum()
}

#[test]
fn one_of_many_writers_writes_and_the_others_do_nothing() {
    for sql in [
        "INSERT INTO t VALUES (?, ?, 1) ON CONFLICT (mail) DO NOTHING",
        "INSERT INTO t VALUES (?, ?, 1) ON CONFLICT DO NOTHING",
        "INSERT OR IGNORE INTO t VALUES (?, ?, 1)",
    ] {
        let (database, connection) = database();
        assert_eq!(race(&database, sql), VALUES.unsigned_abs(), "{sql}");
        assert_eq!(integers(&connection, "SELECT COUNT(*) FROM t"), [VALUES]);
        assert!(database.check().unwrap().is_sound());
    }
}

#[test]
fn each_writer_counts_up_the_row_of_a_value() {
    for sql in [
        "INSERT INTO t VALUES (?, ?, 1) ON CONFLICT (mail) DO UPDATE SET n = t.n + 1",
        "INSERT INTO t VALUES (?, ?, 1) ON CONFLICT (mail) DO UPDATE SET n = t.n + excluded.n, k = excluded.k",
    ] {
        let (database, connection) = database();
        let acknowledged = race(&database, sql).cast_signed();
        assert!(acknowledged >= VALUES, "{sql}");
        assert_eq!(integers(&connection, "SELECT SUM(n) FROM t"), [acknowledged], "{sql}");
        assert_eq!(integers(&connection, "SELECT COUNT(*) FROM t"), [VALUES], "{sql}");
        assert!(database.check().unwrap().is_sound());
    }
}

#[test]
fn the_second_of_two_transactions_is_in_conflict() {
    let (database, first) = database();
    let second = database.connect().blocking();
    for connection in [&first, &second] {
        connection.execute("BEGIN", ()).unwrap();
    }
    let insert = "INSERT INTO t VALUES (?, 'a', 1) ON CONFLICT (mail) DO UPDATE SET n = t.n + 1";
    assert_eq!(written(&first, insert, params![1]), Some(1));
    assert_eq!(written(&second, insert, params![2]), Some(1));
    first.execute("COMMIT", ()).unwrap();
    let error = second.execute("COMMIT", ()).unwrap_err();
    assert_eq!((error.code(), error.sqlstate()), (ErrorCode::Conflict, "40001"));
    assert_eq!(integers(&second, "SELECT k FROM t WHERE mail = 'a'"), [1]);
    assert_eq!(written(&second, insert, params![2]), Some(1));
    assert_eq!(integers(&second, "SELECT n FROM t WHERE mail = 'a'"), [2]);
}

#[test]
fn a_target_that_is_no_key_is_told_what_there_is() {
    let (_, connection) = database();
    connection.execute("CREATE UNIQUE INDEX busy ON t (n DESC, mail) WHERE n > 0", ()).unwrap();
    let help = |sql: &str| {
        let error = connection.execute(sql, ()).unwrap_err();
        assert_eq!(error.sqlstate(), "42P10", "{error}");
        error.help().unwrap_or_default().to_owned()
    };
    assert_eq!(
        help("INSERT INTO t VALUES (1, 'a', 1) ON CONFLICT (n) DO NOTHING"),
        "the table has the primary key (k), the unique index by_mail (mail), the unique index busy (n DESC, mail) WHERE n > 0"
    );
    assert_eq!(
        help("INSERT INTO t VALUES (1, 'a', 1) ON CONFLICT (mail, n) DO NOTHING"),
        "ON CONFLICT (mail, n) WHERE n > 0 DO .."
    );
    let error =
        connection.execute("INSERT INTO t VALUES (1, 'a', 1) ON CONFLICT (n, mail) WHERE n > ? DO NOTHING", params![0]);
    assert_eq!(error.unwrap_err().to_string(), "a parameter in the target of ON CONFLICT is not supported");
}

#[test]
fn a_prepared_statement_follows_the_indexes() {
    let (_, connection) = database();
    let insert = connection.prepare("INSERT INTO t VALUES (?, ?, 1) ON CONFLICT (mail) DO NOTHING").unwrap();
    assert_eq!(insert.execute(params![1, "a"]).unwrap().rows_affected, 1);
    assert_eq!(insert.execute(params![2, "a"]).unwrap().rows_affected, 0);
    connection.execute("DROP INDEX by_mail ON t", ()).unwrap();
    assert_eq!(insert.execute(params![3, "a"]).unwrap_err().sqlstate(), "42P10");
    connection.execute("CREATE UNIQUE INDEX again ON t (mail)", ()).unwrap();
    assert_eq!(insert.execute(params![3, "a"]).unwrap().rows_affected, 0);
}

#[test]
fn a_load_that_ignores_leaves_out_rows_whose_value_is_there() {
    let (_, connection) = database();
    connection.execute("INSERT INTO t VALUES (1, 'a', 1)", ()).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("rows.csv");
    std::fs::write(&path, "1,x,2\n2,a,2\n3,b,2\n4,b,3\n5,,4\n6,,4\n").unwrap();
    let copy = format!("COPY t FROM '{}' (ON_CONFLICT IGNORE)", path.display());
    assert_eq!(written(&connection, &copy, ()), Some(3));
    assert_eq!(integers(&connection, "SELECT k FROM t ORDER BY k"), [1, 3, 5, 6]);

    let mut appender = connection.appender("t").unwrap().on_conflict(OnConflict::Ignore);
    for (k, mail) in [(7, "a"), (8, "c"), (9, "c")] {
        appender.append_row((k, mail, 5)).unwrap();
    }
    assert_eq!(appender.close().unwrap(), 1);
    assert_eq!(integers(&connection, "SELECT k FROM t WHERE n = 5"), [8]);
}
