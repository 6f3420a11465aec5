//! `ALTER TABLE .. ADD c VARCHAR PRIMARY KEY`: row keys stay, and everything that knew them goes on.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use saltwing::blocking::Connection;
use saltwing::{Database, StoreKind, params};

use crate::{code, texts};

fn run(connection: &Connection, statements: &[&str]) {
    for sql in statements {
        connection.execute(sql, ()).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

fn memory(statements: &[&str]) -> Connection {
    let connection = Database::memory().unwrap().connect().blocking();
    run(&connection, statements);
    connection
}

fn row_keys(connection: &Connection, condition: &str) -> Vec<Vec<u8>> {
    let sql = format!("SELECT _row_key FROM t WHERE a >= 'a'{condition} ORDER BY a, b DESC");
    connection.query(&sql, ()).unwrap().map(|row| row.unwrap().get(0).unwrap()).collect()
}

/// Keys of every store and salt, in blocks and in memory, read by the definition after a reopening, too.
#[test]
fn row_keys_stay() {
    let folder = tempfile::tempdir().unwrap();
    for store in StoreKind::ALL {
        for salt in ["", " SALT_BUCKETS = 5", " SALT_BUCKETS = 7, SALT_BY = (a)"] {
            let name = format!("{}{}", store.as_str(), salt.len());
            let open = || match store {
                StoreKind::Memory => Database::memory_builder().open(),
                _ => Database::builder(folder.path().join(&name)).store(store).open(),
            };
            let mut connection = open().unwrap().connect().blocking();
            let create = format!(
                "CREATE TABLE t (a VARCHAR NOT NULL, b BIGINT NOT NULL, v INTEGER, CONSTRAINT pk PRIMARY KEY (a, b DESC)){salt}"
            );
            run(&connection, &[&create]);
            for row in 0..40_i64 {
                connection
                    .execute("UPSERT INTO t VALUES (?, ?, ?)", params![format!("a{}", row % 9), row, row])
                    .unwrap();
                if row == 20 {
                    run(&connection, &["COMPACT t"]);
                }
            }
            let before = row_keys(&connection, "");
            run(&connection, &["ALTER TABLE t ADD c VARCHAR PRIMARY KEY DESC, d DECIMAL PRIMARY KEY"]);
            for reopened in [false, true] {
                if reopened && store != StoreKind::Memory {
                    drop(connection);
                    connection = open().unwrap().connect().blocking();
                }
                assert_eq!(row_keys(&connection, " AND c IS NULL"), before, "{name} {reopened}");
                let found =
                    texts(&connection, "SELECT v, c, d FROM t WHERE a = 'a3' AND b = 12 AND c IS NULL").unwrap();
                assert_eq!(found, ["12|NULL|NULL"], "{name} {reopened}");
                // A row that is there is replaced, not doubled.
                run(&connection, &["UPSERT INTO t (a, b, v) VALUES ('a3', 12, 12)"]);
                run(&connection, &["UPSERT INTO t (a, b, c, v) VALUES ('a3', 12, 'x', 13)"]);
                let found =
                    texts(&connection, "SELECT v, c FROM t WHERE a = 'a3' AND b = 12 ORDER BY a, b, c").unwrap();
                assert_eq!(found, ["12|NULL", "13|x"], "{name} {reopened}");
                assert_eq!(texts(&connection, "SELECT count(*) FROM t WHERE a >= 'a'").unwrap(), ["41"]);
                run(&connection, &["COMPACT t"]);
            }
        }
    }
}

/// Statements that were full keys are prefixes now, cached or prepared.
#[test]
fn known_statements_read_prefixes() {
    let connection =
        memory(&["CREATE TABLE t (a BIGINT NOT NULL PRIMARY KEY, v INTEGER)", "UPSERT INTO t VALUES (1, 10), (2, 20)"]);
    let point = connection.prepare("SELECT v FROM t WHERE a = ?").unwrap();
    let upsert = connection.prepare("UPSERT INTO t (a, v) VALUES (?, ?)").unwrap();
    let delete = connection.prepare("DELETE FROM t WHERE a = ?").unwrap();
    let found = |a: i64| {
        let rows = point.query(params![a]).unwrap();
        rows.map(|row| row.unwrap().get::<i64>(0).unwrap()).collect::<Vec<_>>()
    };
    let known = "SELECT v FROM t WHERE a IN (1, 2)";
    assert_eq!((found(1), texts(&connection, known).unwrap()), (vec![10], vec!["10".to_owned(), "20".into()]));
    run(&connection, &["ALTER TABLE t ADD c VARCHAR PRIMARY KEY", "UPSERT INTO t (a, c, v) VALUES (1, 'x', 11)"]);
    assert_eq!(found(1), [10, 11]);
    assert_eq!(texts(&connection, known).unwrap(), ["10", "11", "20"]);
    upsert.execute(params![1, 12]).unwrap();
    assert_eq!(found(1), [12, 11]);
    delete.execute(params![1]).unwrap();
    assert_eq!((found(1), found(2)), (vec![], vec![20]));
}

#[test]
fn a_text_with_a_nul_byte_is_found_first() {
    let connection =
        memory(&["CREATE TABLE t (a BIGINT NOT NULL, b VARCHAR, v INTEGER, CONSTRAINT pk PRIMARY KEY (a, b))"]);
    connection.execute("UPSERT INTO t VALUES (1, ?, 5)", params!["x\0y"]).unwrap();
    let error = connection.execute("ALTER TABLE t ADD c VARCHAR PRIMARY KEY", ()).unwrap_err();
    assert_eq!(error.code().as_str(), "invalid_definition");
    assert!(error.to_string().contains("values of b with a NUL byte"), "{error}");
    // Nothing is left of the attempt.
    let shown = texts(&connection, "SHOW CREATE TABLE t").unwrap().join("");
    assert!(!shown.contains("CHECK") && !shown.contains(" c "), "{shown}");
    connection.execute("UPSERT INTO t VALUES (2, ?, 5)", params!["x\0z"]).unwrap();
    run(&connection, &["DELETE FROM t WHERE a IN (1, 2)", "ALTER TABLE t ADD c VARCHAR PRIMARY KEY"]);
    let shown = texts(&connection, "SHOW CREATE TABLE t").unwrap().join("");
    assert!(!shown.contains("CHECK") && shown.contains("PRIMARY KEY (a, b, c)"), "{shown}");
    assert_eq!(code(connection.execute("UPSERT INTO t (a, b) VALUES (1, ?)", params!["x\0y"])), "bad_key");
    connection.execute("UPSERT INTO t (a, b, c) VALUES (1, 'x', ?)", params!["y\0z"]).unwrap();
    assert_eq!(code(connection.execute("ALTER TABLE t ADD d VARCHAR PRIMARY KEY", ())), "invalid_definition");
}

#[test]
fn values_that_begin_like_null_are_found_first() {
    let connection = memory(&[
        "CREATE TABLE t (a BIGINT NOT NULL, b VARBINARY_ENCODED, v INTEGER, CONSTRAINT pk PRIMARY KEY (a, b DESC))",
        "UPSERT INTO t VALUES (1, X'FF01', 5), (2, X'01', 6)",
    ]);
    assert_eq!(code(connection.execute("ALTER TABLE t ADD c VARCHAR PRIMARY KEY", ())), "invalid_definition");
    run(&connection, &["DELETE FROM t WHERE a = 1", "ALTER TABLE t ADD c VARCHAR PRIMARY KEY"]);
    assert_eq!(code(connection.execute("UPSERT INTO t (a, b) VALUES (1, X'FF01')", ())), "bad_key");
    assert_eq!(texts(&connection, "SELECT a, c, v FROM t WHERE a >= 0").unwrap(), ["2|NULL|6"]);
}

/// A row that is expired may show again under another TTL.
#[test]
fn expired_rows_count() {
    let connection = memory(&["CREATE TABLE t (b VARCHAR PRIMARY KEY, v INTEGER) TTL = 1"]);
    connection.execute("UPSERT INTO t VALUES (?, 5)", params!["x\0y"]).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(1100));
    assert_eq!(code(connection.execute("ALTER TABLE t ADD c VARCHAR PRIMARY KEY", ())), "invalid_definition");
}

#[test]
fn older_transactions_give_up() {
    let database = Database::memory().unwrap();
    let (one, other) = (database.connect().blocking(), database.connect().blocking());
    run(&one, &["CREATE TABLE t (a VARCHAR PRIMARY KEY, v INTEGER)", "UPSERT INTO t VALUES ('x', 1)"]);
    run(&one, &["BEGIN", "UPSERT INTO t VALUES ('y', 2)"]);
    run(&other, &["ALTER TABLE t ADD c VARCHAR PRIMARY KEY"]);
    assert_eq!(code(one.execute("COMMIT", ())), "conflict");
    let _ = one.execute("ROLLBACK", ());
    assert_eq!(texts(&one, "SELECT a, c, v FROM t WHERE a >= 'a'").unwrap(), ["x|NULL|1"]);
}

#[test]
fn writers_go_on_meanwhile() {
    let database = Database::memory().unwrap();
    let connection = database.connect().blocking();
    run(&connection, &["CREATE TABLE t (a VARCHAR PRIMARY KEY, v BIGINT)"]);
    let done = AtomicBool::new(false);
    let written = std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let connection = database.connect().blocking();
            let mut count = 0_i64;
            while !done.load(Relaxed) {
                connection.execute("UPSERT INTO t (a, v) VALUES (?, ?)", params![format!("a{count}"), count]).unwrap();
                count += 1;
            }
            count
        });
        for name in ["b", "c", "d", "e", "f"] {
            std::thread::sleep(std::time::Duration::from_millis(20));
            run(&connection, &[&format!("ALTER TABLE t ADD {name} VARCHAR PRIMARY KEY")]);
        }
        done.store(true, Relaxed);
        writer.join().unwrap()
    });
    let rows = texts(&connection, "SELECT count(*), count(b), sum(v) FROM t WHERE a >= 'a'").unwrap();
    assert_eq!(rows, [format!("{written}|0|{}", written * (written - 1) / 2)]);
}
