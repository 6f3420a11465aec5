//! What statements touch: the tables and privileges by which a server decides who may run them.

use std::collections::BTreeSet;

#[cfg(feature = "datafusion")]
use saltwing::{Database, blocking::Connection};

#[cfg(feature = "datafusion")]
fn database() -> Database {
    let database = Database::memory().unwrap();
    let connection = database.connect().blocking();
    connection
        .execute_batch(
            "CREATE SCHEMA s; CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR); CREATE TABLE s.u (k BIGINT PRIMARY KEY, w VARCHAR);
             CREATE VIEW few AS SELECT k, v FROM t WHERE k < 10; CREATE VIEW fewer AS SELECT k FROM few WHERE k < 5; CREATE VIEW own AS SELECT k, v FROM t WHERE v = 'a'; CREATE SEQUENCE q;
             CREATE INDEX t_v ON t (v); CREATE USER ann PASSWORD 'one'; CREATE USER bob PASSWORD 'two'",
        )
        .unwrap();
    database
}

#[cfg(feature = "datafusion")]
fn connection() -> Connection {
    database().connect().blocking()
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
    ("UPSERT INTO own VALUES (1, 'a') RETURNING v", "UPSERT: UPSERT own, SELECT own"),
    ("UPDATE t SET v = 'b' WHERE k = 1 RETURNING v", "UPDATE: UPSERT t, SELECT t"),
    ("DELETE FROM t WHERE k = 1 RETURNING *", "DELETE: DELETE t, SELECT t"),
    (
        "DELETE FROM t WHERE k = 1 RETURNING (SELECT max(w) FROM s.u WHERE u.k = t.k)",
        "DELETE: DELETE t, SELECT t, SELECT s.u",
    ),
    (
        "INSERT INTO t VALUES (1, 'a') ON CONFLICT (k) DO UPDATE SET v = (SELECT w FROM s.u WHERE u.k = 1)",
        "INSERT: UPSERT t, SELECT s.u",
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
    ("CREATE TEMPORARY TABLE n (k BIGINT PRIMARY KEY)", "CREATE TABLE: DDL n"),
    ("CREATE TABLE n (k BIGINT PRIMARY KEY, v BIGINT DEFAULT NEXT VALUE FOR q)", "CREATE TABLE: DDL n, UPSERT q"),
    ("CREATE TABLE n PRIMARY KEY (k) AS SELECT k FROM t WHERE k = 1", "CREATE TABLE AS: DDL n, SELECT t"),
    ("ALTER TABLE t ADD x BIGINT", "ALTER TABLE: DDL t"),
    ("DROP TABLE t, s.u", "DROP TABLE: DDL t, DDL s.u"),
    ("TRUNCATE TABLE t", "TRUNCATE TABLE: DELETE t"),
    ("CREATE INDEX i ON t (v)", "CREATE INDEX: DDL t"),
    ("ALTER INDEX t_v ON t REBUILD", "ALTER INDEX: DDL t"),
    ("DROP INDEX t_v ON t", "DROP INDEX: DDL t"),
    ("CREATE VIEW n AS SELECT k FROM t WHERE k < 3", "CREATE VIEW: DDL n, SELECT t"),
    ("ALTER VIEW own ADD x BIGINT", "ALTER VIEW: DDL own, SELECT t"),
    ("DROP VIEW few", "DROP VIEW: DDL few"),
    ("CREATE SEQUENCE n", "CREATE SEQUENCE: DDL n"),
    ("ALTER SEQUENCE q RESTART", "ALTER SEQUENCE: DDL q"),
    ("DROP SEQUENCE q", "DROP SEQUENCE: DDL q"),
    ("CREATE SCHEMA n", "CREATE SCHEMA: DDL SCHEMA n"),
    ("DROP SCHEMA s", "DROP SCHEMA: DDL SCHEMA s"),
    ("CREATE USER n PASSWORD 'x'", "CREATE USER: ALL DATABASE"),
    ("ALTER USER bob PASSWORD 'x'", "ALTER USER: DDL USER bob"),
    ("DROP USER bob", "DROP USER: ALL DATABASE"),
    ("GRANT SELECT ON t TO bob", "GRANT: ALL DATABASE"),
    ("REVOKE SELECT ON t FROM bob", "REVOKE: ALL DATABASE"),
    ("COMMENT ON TABLE t IS 'x'", "COMMENT: DDL t"),
    ("COMMENT ON COLUMN s.u.w IS 'x'", "COMMENT: DDL s.u"),
    ("COMPACT t", "COMPACT: DDL t"),
    ("BACKUP TO 'somewhere'", "BACKUP: SELECT DATABASE"),
    ("EXPORT t AS PHOENIX", "EXPORT: SELECT t"),
    ("EXPORT SCHEMA s AS PHOENIX", "EXPORT: SELECT SCHEMA s"),
    ("ATTACH 'somewhere' AS a", "ATTACH: "),
    ("DETACH a", "DETACH: "),
    ("SET rows_max = 5", "SET: "),
    ("SET memory_limit = '1GB'", "SET: ALL DATABASE"),
    ("DESCRIBE t", "DESCRIBE: SELECT t"),
    ("DESCRIBE 'file.csv'", "DESCRIBE: "),
    ("DESCRIBE SELECT w FROM s.u", "DESCRIBE: SELECT s.u"),
    ("SUMMARIZE SELECT k FROM few WHERE k = 1", "SELECT: SELECT few, SELECT t through few"),
    ("SHOW TABLES", "SHOW: "),
    ("SHOW SCHEMAS", "SHOW: "),
    ("SHOW FUNCTIONS", "SHOW: "),
    ("SHOW SEQUENCES", "SHOW: "),
    ("SHOW VIEWS", "SHOW: "),
    ("SHOW INDEXES FROM t", "SHOW: SELECT t"),
    ("SHOW CREATE TABLE t", "SHOW: SELECT t"),
    ("SHOW CREATE SEQUENCE q", "SHOW: SELECT q"),
    ("SHOW STORAGE FOR t", "SHOW: SELECT t"),
    ("SHOW USERS", "SHOW: "),
    ("SHOW GRANTS", "SHOW: "),
    ("SHOW GRANTS FOR bob", "SHOW: SELECT USER bob"),
    ("SHOW ATTACHED", "SHOW: "),
    ("SHOW ALL", "SHOW: "),
    ("SHOW TRANSACTIONS", "SHOW: "),
    ("BEGIN", "BEGIN: "),
    ("COMMIT", "COMMIT: "),
    ("ROLLBACK", "ROLLBACK: "),
    ("SAVEPOINT a", "SAVEPOINT: "),
    ("ROLLBACK TO a", "ROLLBACK: "),
    ("RELEASE a", "RELEASE: "),
    ("PREPARE p AS SELECT 1", "PREPARE: "),
    ("DEALLOCATE ALL", "DEALLOCATE: "),
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

/// Statements that take no right of a user: those on the session alone, lists of what the user sees, and those on files, which no right
/// allows.
#[cfg(feature = "datafusion")]
const WITHOUT_RIGHTS: &[&str] = &[
    "CREATE TEMPORARY TABLE n (k BIGINT PRIMARY KEY)",
    "ATTACH 'somewhere' AS a",
    "DETACH a",
    "SET rows_max = 5",
    "DESCRIBE 'file.csv'",
    "SHOW TABLES",
    "SHOW SCHEMAS",
    "SHOW FUNCTIONS",
    "SHOW SEQUENCES",
    "SHOW VIEWS",
    "SHOW USERS",
    "SHOW GRANTS",
    "SHOW ATTACHED",
    "SHOW ALL",
    "SHOW TRANSACTIONS",
    "BEGIN",
    "COMMIT",
    "ROLLBACK",
    "SAVEPOINT a",
    "ROLLBACK TO a",
    "RELEASE a",
    "PREPARE p AS SELECT 1",
    "DEALLOCATE ALL",
];

/// The code of the error of a statement of ann, who has these grants; `None` if it runs.
#[cfg(feature = "datafusion")]
fn code_of_ann(sql: &str, grants: &[&str]) -> Option<&'static str> {
    let database = database();
    let owner = database.connect().blocking();
    grants.iter().for_each(|grant| drop(owner.execute(grant, ()).unwrap_or_else(|error| panic!("{grant}: {error}"))));
    let ann = database.connect_as("ann").unwrap().blocking();
    let result = match sql {
        "COPY t FROM STDIN" => ann.copy_from_reader(sql, &b"7,seven\n"[..]).map(drop),
        _ if sql.contains("STDOUT") => ann.copy_to_writer(sql, (), std::io::sink()).map(drop),
        _ => ann.run(sql, ()).and_then(|response| match response {
            saltwing::blocking::Response::Rows(rows) => {
                rows.into_reader().next().transpose().map(drop).map_err(|error| panic!("{sql}: {error}"))
            }
            saltwing::blocking::Response::Done(_) => Ok(()),
        }),
    };
    result.err().map(|error| error.code().as_str())
}

/// The grants by which a user may do what a statement touches, each once.
#[cfg(feature = "datafusion")]
fn grants_for(touches: &str) -> BTreeSet<String> {
    let direct = touches.split(", ").filter(|touch| !touch.contains(" through "));
    let grant = |touch: &str| {
        let (privilege, object) = touch.split_once(' ').unwrap();
        match object {
            // What is not there yet, and users, are a matter of the database.
            "n" | "SCHEMA n" => format!("GRANT {privilege} ON DATABASE TO ann"),
            user if user.starts_with("USER ") => "GRANT ALL ON DATABASE TO ann".to_owned(),
            object => format!("GRANT {privilege} ON {object} TO ann"),
        }
    };
    direct.map(grant).collect()
}

/// Each kind of statement takes the rights to what it touches, all of them and no more.
#[test]
#[cfg(feature = "datafusion")] // some of them are relational
fn a_user_runs_what_the_rights_allow() {
    const REFUSED: Option<&str> = Some("insufficient_privilege");
    for (sql, wanted) in STATEMENTS {
        let touches = wanted.split_once(": ").unwrap().1;
        if touches.is_empty() || WITHOUT_RIGHTS.contains(sql) {
            assert!(WITHOUT_RIGHTS.contains(sql), "{sql} takes no right, and is not on the list of those");
            assert_ne!(code_of_ann(sql, &[]), REFUSED, "{sql}");
            continue;
        }
        let grants = grants_for(touches);
        let grants: Vec<&str> = grants.iter().map(String::as_str).collect();
        for left_out in 0..grants.len() {
            let few: Vec<&str> =
                grants.iter().enumerate().filter(|(i, _)| *i != left_out).map(|(_, grant)| *grant).collect();
            assert_eq!(code_of_ann(sql, &few), REFUSED, "{sql} with {few:?} alone");
        }
        let runs = code_of_ann(sql, &grants);
        let expected = match *sql {
            "BACKUP TO 'somewhere'" => Some("file_access_refused"),
            // It still has a table, and views use the others.
            "DROP SCHEMA s" => Some("invalid_definition"),
            "DROP TABLE t, s.u" | "DROP VIEW few" => Some("dependents"),
            _ => None,
        };
        assert_eq!(runs, expected, "{sql} with {grants:?}");
    }
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
    // No statement of these can be prepared; an EXECUTE is described as the statement that it calls.
    let known = ["USE", "UNSUPPORTED", "EXECUTE"].map(str::to_owned).into_iter();
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
