//! Sequences: what they give out is given out once, by whomever and whenever.

use std::collections::HashSet;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use saltwing::{Database, Error, ResultColumn, SqlType, StoreKind, blocking, params};

use crate::code;

const CHILD: &str = "SALTWING_TEST_SEQUENCE_IN";

/// The first column of a query's only row.
fn value(connection: &blocking::Connection, sql: &str) -> Result<i64, Error> {
    connection.query(sql, ())?.next().unwrap()?.get(0)
}

/// Not a test of its own: the process that is killed. It prints each value that it has taken.
#[test]
fn takes_values_until_it_is_killed() {
    let Ok(target) = std::env::var(CHILD) else { return };
    let (kind, path) = target.split_once(':').unwrap();
    let db = Database::builder(path).store(StoreKind::by_name(kind).unwrap()).open().unwrap();
    let connection = db.connect().blocking();
    connection.execute("CREATE SEQUENCE IF NOT EXISTS s CACHE 7", ()).unwrap();
    // Values are durable whatever becomes of rows.
    connection.execute("SET durability = 'buffered'", ()).unwrap();
    loop {
        println!("taken {}", value(&connection, "SELECT NEXT VALUE FOR s").unwrap());
    }
}

#[test]
fn a_killed_process_skips_values_and_repeats_none() {
    for kind in [StoreKind::Redb, StoreKind::Sled] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("db");
        let mut last = 0;
        for round in 1..=3 {
            let mut child = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "sequences::takes_values_until_it_is_killed", "--nocapture"])
                .env(CHILD, format!("{}:{}", kind.as_str(), path.display()))
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            let lines = BufReader::new(child.stdout.take().unwrap()).lines();
            let mut values =
                lines.map_while(Result::ok).filter_map(|line| line.split("taken ").nth(1)?.parse::<i64>().ok());
            let mut taken: Vec<i64> = values.by_ref().take(17 * round + 3).collect();
            child.kill().unwrap();
            // What it had printed before it died was taken too.
            taken.extend(values);
            child.wait().unwrap();
            assert!(taken[0] > last && taken[0] <= last + 1 + 7, "{kind:?}: {} comes after {last}", taken[0]);
            assert!(taken.is_sorted_by(|a, b| a + 1 == *b), "{kind:?}: {taken:?}");
            last = taken[taken.len() - 1];
        }
    }
}

#[test]
fn a_closed_database_skips_no_value() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    for wanted in [10, 8, 6] {
        let db = Database::open(&path).unwrap();
        let connection = db.connect().blocking();
        connection.execute("CREATE SEQUENCE IF NOT EXISTS s START WITH 10 INCREMENT BY -2", ()).unwrap();
        assert_eq!(
            code(connection.query("SELECT CURRENT VALUE FOR s", ()).and_then(|mut rows| rows.next().unwrap())),
            "no_current_value"
        );
        assert_eq!(value(&connection, "SELECT NEXT VALUE FOR s").unwrap(), wanted);
        drop(connection);
        db.close().unwrap();
    }
    let readonly = Database::builder(&path).readonly(true).open().unwrap().connect().blocking();
    assert_eq!(code(readonly.query("SELECT NEXT VALUE FOR s", ())), "read_only");
    assert_eq!(code(readonly.execute("DROP SEQUENCE s", ())), "read_only");
}

#[test]
fn threads_get_different_values() {
    const THREADS: usize = 8;
    const ROUNDS: usize = 40;
    let db = Database::memory_builder().open().unwrap();
    let connection = db.connect().blocking();
    connection.execute("CREATE SEQUENCE s CACHE 5", ()).unwrap();
    connection
        .execute("CREATE TABLE t (id BIGINT NOT NULL DEFAULT NEXT VALUE FOR s PRIMARY KEY, thread BIGINT)", ())
        .unwrap();
    let work = |thread: usize| {
        let connection = db.connect().blocking();
        let mut taken = Vec::new();
        for _ in 0..ROUNDS {
            taken.push(value(&connection, "SELECT NEXT VALUE FOR s").unwrap());
            assert_eq!(value(&connection, "SELECT CURRENT VALUE FOR s").unwrap(), taken[taken.len() - 1]);
            let insert = "INSERT INTO t (thread) VALUES (?1), (?1), (?1)";
            assert_eq!(connection.execute(insert, params![thread as i64]).unwrap().rows_affected, 3);
            let first = value(&connection, "SELECT NEXT 3 VALUES FOR s").unwrap();
            taken.extend([first, first + 1, first + 2]);
        }
        taken
    };
    let mut taken: Vec<i64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || work(thread))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let rows = connection.query("SELECT /*+ FULL_SCAN */ id FROM t", ()).unwrap();
    taken.extend(rows.map(|row| row.unwrap().get::<i64>(0).unwrap()));
    assert_eq!(taken.len(), THREADS * ROUNDS * 7);
    assert_eq!(taken.iter().collect::<HashSet<_>>().len(), taken.len());
}

/// An ALTER SEQUENCE that comes between takes effect with the next value.
#[test]
fn prepared_statements_take_values_of_the_sequence_as_it_is() {
    let db = Database::memory_builder().open().unwrap();
    let connection = db.connect().blocking();
    connection.execute("CREATE SEQUENCE s", ()).unwrap();
    assert_eq!(code(connection.prepare("SELECT NEXT VALUE FOR nope")), "no_such_sequence");
    let prepared = connection.prepare("SELECT NEXT ? VALUES FOR s, ? + CURRENT VALUE FOR s AS shifted").unwrap();
    assert_eq!(prepared.parameter_count(), 2);
    let rows = |count: i64| {
        let row = prepared.query(params![count, 1_000]).and_then(|mut rows| rows.next().unwrap());
        row.map(|row| (row.get::<i64>(0).unwrap(), row.get::<i64>(1).unwrap()))
    };
    assert_eq!(rows(3).unwrap(), (1, 1_001));
    assert_eq!(rows(2).unwrap(), (4, 1_004));
    connection.execute("ALTER SEQUENCE s INCREMENT BY 10", ()).unwrap();
    assert_eq!(rows(1).unwrap(), (15, 1_015));
    assert_eq!(code(rows(0)), "syntax");
    connection.execute("DROP SEQUENCE s", ()).unwrap();
    assert_eq!(code(rows(1)), "no_such_sequence");
}

#[test]
fn a_prepared_query_tells_the_columns_that_are_made_of_values() {
    let db = Database::memory_builder().open().unwrap();
    let connection = db.connect().blocking();
    connection.execute("CREATE SEQUENCE s START WITH 10", ()).unwrap();
    connection
        .execute("CREATE TABLE t (id BIGINT NOT NULL PRIMARY KEY, name VARCHAR, n INTEGER NOT NULL)", ())
        .unwrap();
    connection.execute("UPSERT INTO t VALUES (1, 'a', 100), (2, NULL, 200)", ()).unwrap();
    let alone = connection.prepare("SELECT NEXT VALUE FOR s").unwrap();
    let column = |label: &str, ty, nullable| ResultColumn { label: label.into(), ty, nullable };
    assert_eq!(alone.description().columns.as_deref(), Some(&[column("NEXT VALUE FOR s", SqlType::BigInt, false)][..]));
    let sql = "SELECT id, name || NEXT VALUE FOR s AS label, n + NEXT VALUE FOR s, ? - CURRENT VALUE FOR s AS rest, id AS again \
               FROM t WHERE id >= ? ORDER BY id";
    let prepared = connection.prepare(sql).unwrap();
    let text = SqlType::Varchar(None);
    let columns = [
        column("id", SqlType::BigInt, false),
        column("label", text, true),
        column("n + NEXT VALUE FOR s", SqlType::BigInt, false),
        column("rest", SqlType::BigInt, true),
        column("again", SqlType::BigInt, false),
    ];
    assert_eq!(prepared.description().parameters, [Some(SqlType::BigInt), Some(SqlType::BigInt)]);
    assert_eq!(prepared.description().columns.as_deref(), Some(&columns[..]));
    for first in [10, 12] {
        let rows = prepared.query(params![1_000, 1]).unwrap().map(|row| {
            let row = row.unwrap();
            let numbers = [0, 2, 3, 4].map(|place| row.get::<i64>(place).unwrap());
            (numbers, row.get::<Option<String>>(1).unwrap())
        });
        let wanted =
            [([1, 100 + first, 1_000 - first, 1], Some(format!("a{first}"))), ([2, 201 + first, 999 - first, 2], None)];
        assert_eq!(rows.collect::<Vec<_>>(), wanted);
    }
    let copy = connection.prepare("UPSERT INTO t SELECT NEXT VALUE FOR s, name, n + ? FROM t WHERE id = 1").unwrap();
    for more in [1, 2, 3] {
        copy.execute(params![more]).unwrap();
    }
    let rows = connection.query("SELECT id, n FROM t WHERE id > 2", ()).unwrap();
    let rows: Vec<_> = rows.map(Result::unwrap).map(|row| [0, 1].map(|place| row.get::<i64>(place).unwrap())).collect();
    assert_eq!(rows, [[14, 101], [15, 102], [16, 103]]);
}

#[cfg(feature = "datafusion")]
#[test]
fn salvage_keeps_a_sequence_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let (path, saved) = (folder.path().join("db"), folder.path().join("saved"));
    let db = Database::open(&path).unwrap();
    let connection = db.connect().blocking();
    connection.execute("CREATE SEQUENCE app.s START WITH 5 CACHE 3", ()).unwrap();
    assert_eq!(value(&connection, "SELECT NEXT 2 VALUES FOR app.s").unwrap(), 5);
    drop(connection);
    db.close().unwrap();
    assert!(Database::builder(&saved).salvage(&path).unwrap().lost.is_empty());
    let connection = Database::open(&saved).unwrap().connect().blocking();
    assert_eq!(value(&connection, "SELECT NEXT VALUE FOR app.s").unwrap(), 7);
}
