//! Views: kept statements follow their definitions, reads are those of the table, and a database keeps its views.

use saltwing::{Database, Value, blocking, params};

use crate::code;

const TABLE: &str =
    "CREATE TABLE t (a INTEGER NOT NULL, b INTEGER NOT NULL, c INTEGER, CONSTRAINT pk PRIMARY KEY (a, b))";

fn connection() -> blocking::Connection {
    let connection = Database::memory().unwrap().connect().blocking();
    connection.execute(TABLE, ()).unwrap();
    for a in 0..10 {
        for b in 0..10 {
            connection.execute("UPSERT INTO t VALUES (?, ?, ?)", params![a, b, a * 100 + b]).unwrap();
        }
    }
    connection
}

fn values(connection: &blocking::Connection, sql: &str, parameter: i64) -> Vec<i64> {
    connection.query(sql, params![parameter]).unwrap().map(|row| row.unwrap().get(0).unwrap()).collect()
}

#[test]
fn a_query_over_a_view_reads_the_keys_that_both_conditions_leave() {
    let connection = connection();
    connection.execute("CREATE VIEW v AS SELECT b, c FROM t WHERE a = 3", ()).unwrap();
    connection.execute("CREATE VIEW w AS SELECT b + 0 AS n, b, c FROM v WHERE b > 2", ()).unwrap();
    let keys_read = |sql: &str| connection.execute(sql, ()).unwrap().stats.keys_read;
    assert_eq!(keys_read("SELECT c FROM v"), 10);
    assert_eq!(keys_read("SELECT c FROM v WHERE b = 7"), 1);
    assert_eq!(keys_read("SELECT c FROM w"), 7);
    assert_eq!(keys_read("SELECT c FROM w AS x WHERE x.b < 5"), 2);
}

/// As deep as views and queries in brackets may stand on one another, on the stack that a thread has by default.
#[test]
fn the_deepest_views_are_read_on_a_small_stack() {
    let connection = connection();
    connection.execute("CREATE VIEW v0 AS SELECT a, b, c FROM t WHERE a = 3", ()).unwrap();
    for below in 0..15 {
        let query = format!("SELECT a, b, c FROM (SELECT a, b, c + 1 AS c FROM v{below} WHERE c >= {below}) AS q");
        connection.execute(&format!("CREATE VIEW v{} AS {query}", below + 1), ()).unwrap();
    }
    let last = std::thread::scope(|scope| {
        let sql = "SELECT c FROM v15 WHERE b < ?";
        scope.spawn(|| [values(&connection, sql, 100), values(&connection, sql, 4)]).join().unwrap()
    });
    assert_eq!(last, [(315..325).collect::<Vec<i64>>(), (315..319).collect()]);
    let deeper = "SELECT a FROM (SELECT a FROM (SELECT a FROM v15) AS p) AS q";
    assert_eq!(code(connection.query(deeper, ())), "too_deep");
}

/// The same text runs on the direct path, then on the relational engine, each time with the definition of the moment.
#[test]
fn kept_statements_follow_the_definition() {
    let connection = connection();
    let sql = "SELECT c FROM v WHERE b = ?";
    connection.execute("CREATE VIEW v AS SELECT b, c FROM t WHERE a = 3", ()).unwrap();
    let prepared = connection.prepare(sql).unwrap();
    let of_prepared =
        |b: i64| prepared.query(params![b]).unwrap().map(|row| row.unwrap().get(0).unwrap()).collect::<Vec<i64>>();
    for _ in 0..3 {
        assert_eq!((values(&connection, sql, 4), of_prepared(4)), (vec![304], vec![304]));
    }
    connection.execute("CREATE OR REPLACE VIEW v AS SELECT b, c FROM t WHERE a = 5", ()).unwrap();
    for _ in 0..3 {
        assert_eq!((values(&connection, sql, 4), of_prepared(4)), (vec![504], vec![504]));
    }
    if cfg!(feature = "datafusion") {
        let limited = "CREATE OR REPLACE VIEW v AS SELECT b, c FROM t WHERE a = 7 ORDER BY b LIMIT 5";
        connection.execute(limited, ()).unwrap();
        for _ in 0..3 {
            assert_eq!((values(&connection, sql, 4), of_prepared(4)), (vec![704], vec![704]));
            assert_eq!((values(&connection, sql, 6), of_prepared(6)), (vec![], vec![]));
        }
    }
    connection.execute("DROP VIEW v", ()).unwrap();
    assert_eq!(code(connection.query(sql, params![4])), "no_such_table");
    assert_eq!(code(prepared.query(params![4])), "no_such_table");
    connection.execute("CREATE TABLE v (b INTEGER PRIMARY KEY, c INTEGER)", ()).unwrap();
    connection.execute("UPSERT INTO v VALUES (4, 1)", ()).unwrap();
    assert_eq!((values(&connection, sql, 4), of_prepared(4)), (vec![1], vec![1]));
}

#[test]
fn the_guard_names_the_view_on_each_path() {
    let connection = connection();
    connection.execute("CREATE VIEW v AS SELECT a, b, c FROM t WHERE c > 5", ()).unwrap();
    let refused = |sql: &str| connection.query(sql, ()).err().map(|error| error.to_string()).unwrap_or_default();
    for _ in 0..2 {
        let error = refused("SELECT c FROM v WHERE b = 1");
        assert!(error.contains("in view v, this would read all of t"), "{error}");
    }
    let sql = "SELECT c FROM v WHERE a = ?";
    assert_eq!(connection.query(sql, params![1]).unwrap().count(), 10);
    if cfg!(feature = "datafusion") {
        connection.execute("CREATE VIEW g AS SELECT b, COUNT(*) AS n FROM v GROUP BY b", ()).unwrap();
        for _ in 0..3 {
            let error = refused("SELECT n FROM g WHERE b > 3");
            assert!(error.contains("in view g, this would read all of t"), "{error}");
            assert_eq!(connection.query("SELECT /*+ FULL_SCAN(g) */ n FROM g WHERE b > 3", ()).unwrap().count(), 6);
        }
    }
}

/// An error inside a view stands at the view's name: the view's text is not the statement's.
#[test]
#[cfg_attr(not(feature = "datafusion"), ignore = "an unknown name leads to the relational engine")]
fn an_error_inside_a_view_stands_at_its_name() {
    let connection = connection();
    connection.execute("CREATE VIEW v AS SELECT b, 1 / (c - 300) AS inverse FROM t WHERE a = 3", ()).unwrap();
    let sql = "SELECT\n inverse FROM v WHERE b = 0";
    let failed = connection.query(sql, ()).and_then(|mut rows| rows.next().transpose());
    assert_eq!(code(failed), "division_by_zero");
    let refused = connection.query("SELECT  nothing FROM v", ()).err().unwrap();
    assert_eq!(refused.code().as_str(), "no_such_column");
    let place = refused.span().unwrap();
    assert_eq!((place.start.line, place.start.column), (1, 9), "{refused}");
}

#[test]
fn views_are_there_after_reopening() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    let open = || Database::builder(&path).open().unwrap();
    let db = open();
    let connection = db.connect().blocking();
    connection.execute_batch(&format!("{TABLE}; UPSERT INTO t VALUES (1, 2, 3)")).unwrap();
    connection.execute_batch("CREATE VIEW app.v AS SELECT b FROM t WHERE a = 1; CREATE VIEW w AS TABLE app.v").unwrap();
    drop(connection);
    db.close().unwrap();

    let db = open();
    let connection = db.connect().blocking();
    assert_eq!(connection.query_one::<(i64,)>("SELECT b FROM w", ()).unwrap(), (2,));
    assert_eq!(code(connection.execute("DROP TABLE t", ())), "dependents");
    connection.execute_batch("BEGIN; UPSERT INTO t VALUES (1, 5, 6)").unwrap();
    assert_eq!(connection.query("SELECT b FROM w", ()).unwrap().count(), 2, "the transaction's own row");
    assert_eq!(code(connection.execute("DROP VIEW w", ())), "active_transaction");
    connection.execute("ROLLBACK", ()).unwrap();
    drop(connection);
    db.close().unwrap();

    let saved = folder.path().join("saved");
    Database::builder(&saved).salvage(&path).unwrap();
    let connection = Database::builder(&saved).open().unwrap().connect().blocking();
    assert_eq!(connection.query_one::<(Value,)>("SELECT b FROM w", ()).unwrap(), (Value::Int(2),));
}

#[test]
fn a_write_to_a_view_takes_parameters() {
    let connection = connection();
    connection.execute("CREATE VIEW v AS SELECT * FROM t WHERE a = 77", ()).unwrap();
    let upsert = connection.prepare("UPSERT INTO v (b, a, c) VALUES (?, ?, ?), (?, 77, ?)").unwrap();
    assert_eq!(upsert.parameter_count(), 5);
    upsert.execute(params![1, 77, 10, 2, 20]).unwrap();
    assert_eq!(code(upsert.execute(params![1, 78, 10, 2, 20])), "view_check");
    connection.execute("UPSERT INTO v (b, c) VALUES (?, ?)", params![3, 30]).unwrap();
    let update = connection.prepare("UPDATE v SET c = c + ? WHERE b = ?").unwrap();
    update.execute(params![5, 3]).unwrap();
    let rows = connection.query("SELECT b, c FROM t WHERE a = 77", ()).unwrap();
    let rows: Vec<(i64, i64)> =
        rows.map(|row| row.map(|row| (row.get(0).unwrap(), row.get(1).unwrap())).unwrap()).collect();
    assert_eq!(rows, [(1, 10), (2, 20), (3, 35)]);
}
