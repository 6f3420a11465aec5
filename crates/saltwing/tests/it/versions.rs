//! Reading tables as they were.

use std::time::Duration;

use saltwing::blocking::Connection;
use saltwing::{Database, StoreKind, Value, params};

use crate::{code, texts};

fn run(connection: &Connection, statements: &[&str]) {
    for sql in statements {
        connection.execute(sql, ()).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

/// The present as a text, in a millisecond of its own.
fn moment(connection: &Connection) -> String {
    let pause = Duration::from_millis(3);
    std::thread::sleep(pause);
    connection.execute("UPSERT INTO clock SELECT 1, now()", ()).unwrap();
    let now = texts(connection, "SELECT at FROM clock WHERE k = 1").unwrap().remove(0);
    std::thread::sleep(pause);
    now
}

/// On every store, after it was closed, merged and altered: by literals, parameters and expressions.
#[test]
fn the_past_outlives_the_process() {
    if !cfg!(feature = "datafusion") {
        return;
    }
    for store in [StoreKind::Memory, StoreKind::Redb, StoreKind::Sled] {
        let folder = tempfile::tempdir().unwrap();
        let memory = Database::memory().unwrap();
        let open = || match store {
            StoreKind::Memory => memory.clone(),
            _ => Database::builder(folder.path().join("db")).store(store).open().unwrap(),
        };
        let mut connection = open().connect().blocking();
        run(
            &connection,
            &[
                "CREATE TABLE clock (k INTEGER PRIMARY KEY, at TIMESTAMP)",
                "CREATE TABLE t (k INTEGER PRIMARY KEY, v INTEGER, f.w VARCHAR) SALT_BUCKETS = 3, KEEP_VERSIONS = '1 hour'",
                "UPSERT INTO t VALUES (1, 1, 'a'), (2, 2, 'b')",
            ],
        );
        let first = moment(&connection);
        run(&connection, &["DELETE FROM t WHERE k = 1", "UPSERT INTO t (k, v) VALUES (2, 20), (3, 3)", "COMPACT t"]);
        let second = moment(&connection);
        run(&connection, &["ALTER TABLE t ADD x INTEGER DEFAULT 7", "UPSERT INTO t VALUES (2, 200, NULL, 8)"]);
        for reopened in [false, true] {
            if reopened {
                drop(connection);
                connection = open().connect().blocking();
                run(&connection, &["COMPACT t"]);
            }
            let at = |moment: &str| {
                texts(&connection, &format!("SELECT * FROM t AS OF TIMESTAMP '{moment}' WHERE k > 0 ORDER BY k"))
                    .unwrap()
            };
            assert_eq!(at(&first), ["1|1|a|7", "2|2|b|7"], "{store:?}");
            assert_eq!(at(&second), ["2|20|b|7", "3|3|NULL|7"], "{store:?}");
            // A statement that is known by its text has another moment each time.
            let counted = connection.prepare("SELECT SUM(v) FROM t AS OF TIMESTAMP ? AS p WHERE p.k > ?").unwrap();
            for (moment, sum) in [(&first, 3), (&second, 23), (&first, 3)] {
                let (sum_at,): (i64,) = counted.query_one(params![Value::text(moment), 0]).unwrap();
                assert_eq!(sum_at, sum, "{store:?}");
            }
            let present = "SELECT v FROM t AS OF TIMESTAMP now() WHERE k = 2";
            assert_eq!(texts(&connection, present).unwrap(), ["200"], "{store:?}");
        }
    }
}

#[test]
fn versions_by_number_end() {
    let connection = Database::memory().unwrap().connect().blocking();
    run(&connection, &["CREATE TABLE t (k INTEGER PRIMARY KEY, v INTEGER) VERSIONS = 2"]);
    std::thread::sleep(Duration::from_millis(3));
    let before = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis() as i64;
    std::thread::sleep(Duration::from_millis(3));
    let at = saltwing_types::text::format(&Value::Date(before), saltwing_types::SqlType::Date).unwrap();
    let past = |k: i64| texts(&connection, &format!("SELECT v FROM t AS OF TIMESTAMP '{at}' WHERE k = {k}"));
    run(&connection, &["UPSERT INTO t VALUES (1, 1), (2, 1)", "COMPACT t"]);
    assert_eq!((past(1).unwrap(), past(2).unwrap()), (Vec::<String>::new(), Vec::new()));
    run(&connection, &["UPSERT INTO t VALUES (1, 2)", "UPSERT INTO t VALUES (1, 3)", "COMPACT t"]);
    assert_eq!(code(past(1)), "bad_argument");
    assert_eq!(past(2).unwrap(), Vec::<String>::new());
    // A new table has a new past.
    run(&connection, &["TRUNCATE t"]);
    assert_eq!(code(past(2)), "bad_argument");
}
