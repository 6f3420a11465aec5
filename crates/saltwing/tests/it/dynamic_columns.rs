//! Dynamic columns where files of statements do not reach: COPY, help, plans that are kept.

use std::fs;

use saltwing::Database;
use saltwing::blocking::Connection;

use crate::texts;

fn connection(batch: &str) -> Connection {
    let connection = Database::memory().unwrap().connect().blocking();
    connection.execute_batch(batch).unwrap();
    connection
}

const ROWS: &str = "SELECT * FROM t (extra VARCHAR, f.n INTEGER, l INTEGER ARRAY) WHERE k > 0 ORDER BY k";

#[test]
fn copy_writes_and_reads_them_in_each_format() {
    let from = connection(
        "CREATE TABLE t (k INTEGER PRIMARY KEY, v VARCHAR);
         UPSERT INTO t (k, v, extra VARCHAR, f.n INTEGER, l INTEGER ARRAY) VALUES (1, 'a', 'x, y', 7, ARRAY[1, NULL]);
         UPSERT INTO t (k, v, extra VARCHAR) VALUES (2, 'b', 'z')",
    );
    let expected = texts(&from, ROWS).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for (name, options) in [("x.csv", "HEADER"), ("x.jsonl", ""), ("x.arrow", ""), ("y.csv.gz", "")] {
        let path = folder.path().join(name);
        let columns = "t (k, extra VARCHAR, v, f.n INTEGER, l INTEGER ARRAY)";
        from.execute(&format!("COPY {columns} TO '{}' {options}", path.display()), ()).unwrap();
        let to = connection("CREATE TABLE t (k INTEGER PRIMARY KEY, v VARCHAR)");
        to.execute(&format!("COPY {columns} FROM '{}' {options}", path.display()), ()).unwrap();
        assert_eq!(texts(&to, ROWS).unwrap(), expected, "{name}");
    }
}

#[test]
fn copy_leaves_others_and_says_what_is_wrong() {
    let connection = connection(
        "CREATE TABLE t (k INTEGER PRIMARY KEY, v VARCHAR); UPSERT INTO t (k, v, extra VARCHAR) VALUES (1, 'a', 'x')",
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.csv");
    fs::write(&path, "1,5\n2,six\n").unwrap();
    let copy =
        |what: &str, options: &str| connection.execute(&format!("COPY {what} FROM '{}' {options}", path.display()), ());
    copy("t (k, n INTEGER)", "WITH (ON_ERROR SKIP)").unwrap();
    let rows = texts(&connection, "SELECT k, v, extra, n FROM t (extra VARCHAR, n INTEGER) WHERE k > 0").unwrap();
    assert_eq!(rows, ["1|a|x|5"]);
    let error = copy("t (k, n INTEGER)", "").unwrap_err().to_string();
    assert!(error.contains("n") && error.contains("six"), "{error}");
    let taken = copy("t (k, v VARCHAR)", "").unwrap_err();
    assert_eq!(taken.sqlstate(), "42701", "{taken}");
}

#[test]
fn the_families_that_there_are_help() {
    let connection = connection(
        "CREATE TABLE t (k INTEGER PRIMARY KEY, f.a INTEGER, g.b INTEGER); CREATE TABLE p (k INTEGER PRIMARY KEY)",
    );
    let help = |sql: &str| texts(&connection, sql).unwrap_err().help().map(str::to_owned).unwrap_or_default();
    assert_eq!(help("SELECT h.* FROM t WHERE k = 1"), "t has the column families f, g");
    assert_eq!(help("SELECT t.h.* FROM t WHERE k = 1"), "t has the column families f, g");
    assert_eq!(help("SELECT h.* FROM p WHERE k = 1"), "p has no column families");
    let joined = "t has the column families f, g; p has no column families";
    assert_eq!(help("SELECT h.* FROM t JOIN p ON p.k = t.k WHERE t.k = 1"), joined);
}

#[test]
fn a_kept_plan_follows_the_first_dynamic_column() {
    let connection = connection("CREATE TABLE t (k INTEGER PRIMARY KEY); UPSERT INTO t VALUES (1)");
    let update = connection.prepare("UPDATE t (n INTEGER) SET n = ? WHERE k = 1").unwrap();
    let read = "SELECT n FROM t (n INTEGER) WHERE k = 1";
    assert_eq!(texts(&connection, read).unwrap(), ["NULL"]);
    for n in 1..3 {
        update.execute((n,)).unwrap();
        assert_eq!(texts(&connection, read).unwrap(), [n.to_string()]);
    }
}

/// A view is stored as its query, so the statement that shows it makes the same view.
#[test]
fn views_with_own_columns_are_made_again() {
    let tables = "CREATE TABLE t (k INTEGER PRIMARY KEY, kind VARCHAR);";
    let from = connection(&format!(
        "{tables} CREATE VIEW v (extra VARCHAR, \"N n\" INTEGER ARRAY) AS SELECT * FROM t WHERE kind = 'a';
         CREATE VIEW w (m DOUBLE) AS SELECT * FROM v WHERE extra = 'x'"
    ));
    let shown = |connection: &Connection, view: &str| texts(connection, &format!("SHOW CREATE VIEW {view}")).unwrap();
    let to = connection(tables);
    for view in ["v", "w"] {
        to.execute_batch(&shown(&from, view).join(";")).unwrap();
        assert_eq!(shown(&to, view), shown(&from, view));
    }
    to.execute_batch("UPSERT INTO w (k, \"N n\", m) VALUES (1, ARRAY[1, 2], 0.5)").unwrap();
    assert_eq!(texts(&to, "SELECT * FROM w WHERE k = 1").unwrap(), ["1|a|x|[1,2]|0.5"]);
}
