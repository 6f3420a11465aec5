//! What statements touch: the tables and privileges by which a server decides who may run them.

use std::collections::BTreeSet;

#[cfg(feature = "datafusion")]
use saltwing::{Database, blocking::Connection};

#[cfg(feature = "datafusion")]
fn connection() -> Connection {
    let connection = Database::memory().unwrap().connect().blocking();
    connection
        .execute_batch(
            "CREATE SCHEMA s; CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR); CREATE TABLE s.u (k BIGINT PRIMARY KEY, w VARCHAR);
             CREATE VIEW few AS SELECT k, v FROM t WHERE k < 10; CREATE VIEW fewer AS SELECT k FROM few WHERE k < 5; CREATE VIEW own AS SELECT k, v FROM t WHERE v = 'a'; CREATE SEQUENCE q",
        )
        .unwrap();
    connection
}

/// The tag of a statement, and what it touches.
#[cfg(feature = "datafusion")]
fn touched(connection: &Connection, sql: &str) -> String {
    let statement = connection.prepare(sql).unwrap_or_else(|error| panic!("{sql}: {error:?}"));
    let description = statement.description();
    let touches: Vec<String> = description.touches.iter().map(ToString::to_string).collect();
    format!("{}: {}", description.tag, touches.join(", "))
}

/// One statement of each kind.
const STATEMENTS: &[(&str, &str)] = &[
    ("SELECT v FROM t WHERE k = 1", "SELECT: SELECT t"),
    ("SELECT k FROM t WHERE k = 1 AND v IN (SELECT w FROM s.u WHERE k = 2)", "SELECT: SELECT t, SELECT s.u"),
    ("SELECT (SELECT max(k) FROM s.u WHERE k > 0)", "SELECT: SELECT s.u"),
    ("WITH c AS (SELECT k FROM t WHERE k = 1) SELECT * FROM c", "SELECT: SELECT t"),
    // The statement names one view; its owner answers for what is below.
    ("SELECT v FROM few WHERE k = 1", "SELECT: SELECT few, SELECT t through few"),
    ("SELECT k FROM fewer WHERE k = 1", "SELECT: SELECT fewer, SELECT few through fewer, SELECT t through fewer"),
    ("UPSERT INTO t VALUES (1, 'a')", "UPSERT: UPSERT t"),
    ("INSERT INTO t SELECT k, w FROM s.u WHERE k = 1", "INSERT: UPSERT t, SELECT s.u"),
    ("UPSERT INTO own VALUES (1, 'a')", "UPSERT: UPSERT own"),
    ("SELECT v, NEXT VALUE FOR q FROM t WHERE k = 1", "SELECT: SELECT t, UPSERT q"),
    ("UPSERT INTO t VALUES (NEXT VALUE FOR q, 'a')", "UPSERT: UPSERT t, UPSERT q"),
    ("UPDATE t SET v = 'b' WHERE k = 1", "UPDATE: UPSERT t"),
    ("UPDATE own SET k = 2 WHERE k = 1", "UPDATE: UPSERT own, SELECT t through own"),
    ("DELETE FROM own WHERE k = 1", "DELETE: DELETE own"),
    ("UPSERT INTO own (k) VALUES (1)", "UPSERT: UPSERT own"),
    (
        "MERGE INTO own USING s.u ON own.k = u.k AND u.k = 1 WHEN MATCHED THEN DELETE",
        "MERGE: UPSERT own, DELETE own, SELECT t through own, SELECT s.u",
    ),
    ("UPDATE t SET v = w FROM s.u WHERE t.k = 1 AND u.k = 1", "UPDATE: UPSERT t, SELECT s.u"),
    ("DELETE FROM t WHERE k = 1", "DELETE: DELETE t"),
    (
        "MERGE INTO t USING s.u ON t.k = u.k AND u.k = 1 WHEN MATCHED THEN DELETE",
        "MERGE: UPSERT t, DELETE t, SELECT s.u",
    ),
    ("EXPLAIN DELETE FROM t WHERE k = 1", "EXPLAIN: DELETE t"),
    ("COPY t FROM STDIN", "COPY: UPSERT t"),
    ("COPY t TO STDOUT", "COPY: SELECT t"),
    ("COPY (SELECT w FROM s.u WHERE k = 1) TO STDOUT", "COPY: SELECT s.u"),
    ("CREATE TABLE n (k BIGINT PRIMARY KEY)", "CREATE TABLE: DDL n"),
    ("CREATE TABLE n PRIMARY KEY (k) AS SELECT k FROM t WHERE k = 1", "CREATE TABLE AS: DDL n, SELECT t"),
    ("ALTER TABLE t ADD x BIGINT", "ALTER TABLE: DDL t"),
    ("DROP TABLE t, s.u", "DROP TABLE: DDL t, DDL s.u"),
    ("TRUNCATE TABLE t", "TRUNCATE TABLE: DELETE t"),
    ("CREATE INDEX i ON t (v)", "CREATE INDEX: DDL t"),
    ("ALTER INDEX i ON t REBUILD", "ALTER INDEX: DDL t"),
    ("DROP INDEX i ON t", "DROP INDEX: DDL t"),
    ("CREATE VIEW n AS SELECT k FROM t WHERE k < 3", "CREATE VIEW: DDL n, SELECT t"),
    ("ALTER VIEW own ADD x BIGINT", "ALTER VIEW: DDL own"),
    ("DROP VIEW few", "DROP VIEW: DDL few"),
    ("CREATE SEQUENCE n", "CREATE SEQUENCE: DDL n"),
    ("ALTER SEQUENCE q RESTART", "ALTER SEQUENCE: DDL q"),
    ("DROP SEQUENCE q", "DROP SEQUENCE: DDL q"),
    ("CREATE SCHEMA n", "CREATE SCHEMA: DDL SCHEMA n"),
    ("DROP SCHEMA s", "DROP SCHEMA: DDL SCHEMA s"),
    ("COMMENT ON TABLE t IS 'x'", "COMMENT: DDL t"),
    ("COMMENT ON COLUMN s.u.w IS 'x'", "COMMENT: DDL s.u"),
    ("COMPACT t", "COMPACT: DDL t"),
    ("BACKUP TO 'somewhere'", "BACKUP: SELECT DATABASE"),
    ("EXPORT t AS PHOENIX", "EXPORT: SELECT t"),
    ("EXPORT SCHEMA s AS PHOENIX", "EXPORT: SELECT SCHEMA s"),
    ("ATTACH 'somewhere' AS a", "ATTACH: "),
    ("DETACH a", "DETACH: "),
    ("SET rows_max = 5", "SET: "),
    ("DESCRIBE t", "DESCRIBE: SELECT t"),
    ("DESCRIBE 'file.csv'", "DESCRIBE: "),
    ("SHOW TABLES", "SHOW: "),
    ("SHOW SCHEMAS", "SHOW: "),
    ("SHOW FUNCTIONS", "SHOW: "),
    ("SHOW SEQUENCES", "SHOW: "),
    ("SHOW VIEWS", "SHOW: "),
    ("SHOW INDEXES FROM t", "SHOW: SELECT t"),
    ("SHOW CREATE TABLE t", "SHOW: SELECT t"),
    ("SHOW CREATE SEQUENCE q", "SHOW: SELECT q"),
    ("SHOW STORAGE FOR t", "SHOW: SELECT t"),
    ("SHOW ATTACHED", "SHOW: "),
    ("SHOW ALL", "SHOW: "),
    ("SHOW TRANSACTIONS", "SHOW: "),
    ("BEGIN", "BEGIN: "),
    ("COMMIT", "COMMIT: "),
    ("ROLLBACK", "ROLLBACK: "),
    ("SAVEPOINT a", "SAVEPOINT: "),
    ("ROLLBACK TO a", "ROLLBACK: "),
    ("RELEASE a", "RELEASE: "),
];

#[test]
#[cfg(feature = "datafusion")] // some of them are relational
fn each_kind_of_statement_tells_what_it_touches() {
    let connection = connection();
    for (sql, wanted) in STATEMENTS {
        assert_eq!(touched(&connection, sql), *wanted, "{sql}");
    }
    // The last of many values counts as well.
    let read = |k| if k < 149 { "max(v) FROM t" } else { "max(w) FROM s.u" };
    let rows: Vec<String> = (0..150).map(|k| format!("({k}, (SELECT {} WHERE k = 1))", read(k))).collect();
    let many = format!("UPSERT INTO t VALUES {}", rows.join(", "));
    assert_eq!(touched(&connection, &many), "UPSERT: UPSERT t, SELECT s.u");
}

/// A kind without a statement above is seen here: each file of `statement` that has a kind has a tag, and each tag a statement.
#[test]
fn the_list_has_all_kinds() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/statement");
    let mut tags = BTreeSet::new();
    for source in crate::repository::sources_below(&folder) {
        let text = std::fs::read_to_string(source).unwrap();
        for part in text.split("fn tag(&self) -> &'static str").skip(1) {
            let body = part.split("fn ").next().unwrap_or_default();
            tags.extend(body.split('"').skip(1).step_by(2).map(str::to_owned));
        }
    }
    // No statement of these can be prepared.
    let known = ["USE", "UNSUPPORTED"].map(str::to_owned).into_iter();
    let listed = STATEMENTS.iter().filter_map(|(_, wanted)| Some(wanted.split_once(':')?.0.to_owned()));
    assert_eq!(known.chain(listed).collect::<BTreeSet<_>>(), tags);
}

#[test]
#[cfg(feature = "datafusion")] // some are of relational queries
fn columns_of_results_tell_where_they_are_from() {
    let connection = connection();
    let origins = |sql: &str| -> Vec<String> {
        let statement = connection.prepare(sql).unwrap();
        let name = |origin: &Option<saltwing::ColumnOrigin>| {
            origin.as_ref().map_or_else(|| "-".into(), |origin| format!("{}.{}", origin.table, origin.column))
        };
        statement.description().origins.iter().map(name).collect()
    };
    assert_eq!(origins("SELECT k AS x, k + 1, v FROM t WHERE k = 1"), ["t.k", "-", "t.v"]);
    assert_eq!(origins("SELECT w, t.* FROM t JOIN s.u ON t.k = u.k WHERE t.k = 1"), ["s.u.w", "t.k", "t.v"]);
    assert_eq!(origins("SELECT k FROM fewer WHERE k = 1"), ["t.k"]);
    assert_eq!(origins("SELECT k, count(*) FROM t WHERE k = 1 GROUP BY k"), ["t.k", "-"]);
    assert_eq!(origins("SELECT k FROM t WHERE k = 1 UNION SELECT 2"), ["-"]);
    assert_eq!(origins("SELECT NEXT VALUE FOR q, v FROM t WHERE k = 1"), ["-", "t.v"]);
    assert!(origins("SHOW TABLES").is_empty());
}
