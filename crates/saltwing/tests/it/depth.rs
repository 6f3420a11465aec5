//! Statements as deep as the parser lets them be run on the stack that a thread has by default, without optimisation too.

use saltwing::blocking::Connection;
use saltwing::{Database, ErrorCode};

/// More than the parser allows of anything: `docs/limits.md`.
const TOO_MANY: usize = 200;

/// The rows of the deepest of the statements that the parser takes. An overflow ends the test process.
fn rows_of_deepest(connection: &Connection, statement: impl Fn(usize) -> String) -> usize {
    for count in (1..TOO_MANY).rev() {
        match connection.query(&statement(count), ()).and_then(|rows| rows.collect::<Result<Vec<_>, _>>()) {
            Err(error) if error.code() == ErrorCode::TooDeep => {}
            rows => return rows.unwrap_or_else(|error| panic!("{}: {error}", statement(3))).len(),
        }
    }
    0
}

#[test]
fn the_deepest_expressions_are_computed() {
    let connection = Database::memory().unwrap().connect().blocking();
    connection.execute("CREATE TABLE t (k INTEGER PRIMARY KEY, a INTEGER, b BOOLEAN)", ()).unwrap();
    connection.execute("UPSERT INTO t VALUES (1, 0, TRUE)", ()).unwrap();
    let expressions = [
        ("", "a", " + 1"),
        ("", "b", " = TRUE"),
        ("", "b", " IS TRUE"),
        ("", "b", " IS NOT NULL"),
        ("", "b", " IS DISTINCT FROM b"),
        ("", "a", "::INTEGER"),
        ("", "'a'", " || 'b'"),
        ("(1 + ", "a", ")"),
        ("ABS(", "a", ")"),
        ("CASE WHEN b THEN ", "a", " END"),
        ("COALESCE(NULL, ", "a", ")"),
        ("CAST(", "a", " AS INTEGER)"),
        ("b = ", "b", " IN (TRUE, FALSE)"),
        ("", "b", " IN (b, TRUE)"),
        ("(", "b", ", 1) < (TRUE, 2)"),
        ("(", "b", ", 1) IN ((TRUE, 2), (b, 1))"),
        ("", "b", " BETWEEN b AND TRUE"),
        ("NULLIF(", "a", ", 1)"),
        ("NOT ", "b", ""),
        ("- ", "a", ""),
    ];
    for (open, middle, close) in expressions {
        let expression = |count: usize| format!("{}{middle}{}", open.repeat(count), close.repeat(count));
        for (before, behind) in
            [("SELECT ", " FROM t WHERE k = 1"), ("SELECT k FROM t WHERE k = 1 AND (", ") IS NOT NULL")]
        {
            let statement = |count| format!("{before}{}{behind}", expression(count));
            assert_eq!(rows_of_deepest(&connection, statement), 1, "{before}{}{behind}", expression(1));
        }
    }
}
