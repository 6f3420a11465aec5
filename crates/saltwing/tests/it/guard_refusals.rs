//! What the guard refused: shapes without values, counts, fixes, and rights.

use saltwing::blocking::Connection;
use saltwing::{Database, GuardRefusal, params};

use crate::users;

const TABLES: &str = "CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR, n BIGINT) SALT_BUCKETS = 0;
                      CREATE TABLE u (k BIGINT PRIMARY KEY, w VARCHAR) SALT_BUCKETS = 0; UPSERT INTO t VALUES (1, 'secret', 1)";

fn refused(connection: &Connection, sql: &str) {
    assert_eq!(users::code(connection.execute(sql, ())), "full_scan_refused", "{sql}");
}

fn shapes(refusals: &[GuardRefusal]) -> Vec<(&str, u64)> {
    refusals.iter().map(|refusal| (refusal.statement.as_str(), refusal.count)).collect()
}

#[test]
fn refusals_are_counted_by_shape_and_have_fixes() {
    let database = Database::memory().unwrap();
    let connection = database.connect().blocking();
    connection.execute_batch(TABLES).unwrap();
    assert_eq!(connection.guard_refusals().unwrap(), []);
    refused(&connection, "SELECT w FROM u WHERE w = 'secret'");
    refused(&connection, "SELECT k FROM t WHERE v = 'secret'");
    refused(&connection, "SELECT k  FROM t WHERE v = 'other secret' -- why");
    // With a parameter, prepared or not: the same shape. A statement that is prepared and refused has not run.
    let with_parameter = "SELECT k FROM t WHERE v = ?";
    assert_eq!(users::code(connection.execute(with_parameter, params!["secret"])), "full_scan_refused");
    assert_eq!(users::code(connection.prepare(with_parameter).map(drop)), "full_scan_refused");
    refused(&connection, "DELETE FROM t WHERE n = 12345");
    refused(&connection, "DELETE FROM t WHERE n = 12345");
    // Another error, and a statement that is allowed, are no refusals.
    assert_eq!(users::code(connection.execute("SELECT nothing FROM t", ())), "no_such_column");
    connection.execute("SELECT k FROM t WHERE k = 1", ()).unwrap();

    let refusals = connection.guard_refusals().unwrap();
    assert_eq!(
        shapes(&refusals),
        [("SELECT k FROM t WHERE v = ?", 4), ("DELETE FROM t WHERE n = ?", 2), ("SELECT w FROM u WHERE w = ?", 1)]
    );
    let first = &refusals[0];
    assert_eq!(first.tables, ["t"]);
    assert_eq!(first.reason, "this would read all of t: no condition bounds k, the first column of its key (k)");
    let sql: Vec<Option<&str>> = first.fixes.iter().map(|fix| fix.sql.as_deref()).collect();
    let allow = Some("ALTER TABLE t SET FULL_SCAN = 'allow'");
    assert_eq!(sql, [Some("CREATE INDEX t_v ON t (v)"), None, allow], "{first:?}");
    assert_eq!(first.fixes[1].text, "add a condition on k, such as k = 1");
    assert!(first.fixes[0].bytes_per_row.is_some_and(|bytes| (8..100).contains(&bytes)), "{first:?}");
    assert!(!format!("{refusals:?}").contains("secret") && !format!("{refusals:?}").contains("12345"));

    // What allows it does so, and then it is refused no more.
    connection.execute(first.fixes[0].sql.as_deref().unwrap(), ()).unwrap();
    connection.execute("SELECT k FROM t WHERE v = 'secret'", ()).unwrap();
    assert_eq!(connection.guard_refusals().unwrap()[0].count, 4);
}

/// Of many shapes the last ones are kept, and asking changes nothing.
#[test]
fn shapes_are_bounded() {
    let database = Database::memory().unwrap();
    let connection = database.connect().blocking();
    connection.execute_batch(TABLES).unwrap();
    for number in 0..230 {
        refused(&connection, &format!("SELECT k AS a{number} FROM t WHERE v = 'x'"));
    }
    let refusals = connection.guard_refusals().unwrap();
    assert_eq!(refusals.len(), 200);
    assert_eq!(refusals[0].statement, "SELECT k AS a229 FROM t WHERE v = ?", "the last one of those as frequent");
    assert!(refusals.iter().all(|refusal| refusal.count == 1));
    assert_eq!(connection.guard_refusals().unwrap().len(), 200);
    // A long statement is cut, and has no index.
    refused(&connection, &format!("SELECT k FROM t WHERE v = 'x'{}", " OR v = 'y'".repeat(400)));
    let long = &connection.guard_refusals().unwrap()[0];
    assert_eq!(long.statement.chars().count(), 2000);
    assert!(long.fixes.iter().all(|fix| !fix.sql.iter().any(|sql| sql.starts_with("CREATE INDEX"))));
}

#[test]
fn a_user_sees_refusals_over_readable_tables() {
    let database = users::database();
    let owner = database.connect().blocking();
    users::run(&owner, "GRANT SELECT ON t TO ann");
    let ann = database.connect_as("ann").unwrap().blocking();
    refused(&owner, "SELECT w FROM s.secret WHERE w = 'x'");
    refused(&owner, "SELECT k FROM t WHERE v = 'x'");
    refused(&ann, "SELECT k FROM t WHERE v = 'y'");
    assert_eq!(owner.guard_refusals().unwrap().len(), 2);
    let of_ann = ann.guard_refusals().unwrap();
    assert_eq!(shapes(&of_ann), [("SELECT k FROM t WHERE v = ?", 2)]);
    assert!(of_ann[0].fixes.iter().any(|fix| fix.sql.as_deref() == Some("CREATE INDEX t_v ON t (v)")), "{of_ann:?}");
    users::run(&owner, "REVOKE SELECT ON t FROM ann");
    assert_eq!(ann.guard_refusals().unwrap(), []);
    users::run(&owner, "DROP TABLE t CASCADE");
    assert_eq!(owner.guard_refusals().unwrap().len(), 2, "what was refused stays, without an index");
}
