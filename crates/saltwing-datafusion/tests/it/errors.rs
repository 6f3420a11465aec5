//! Errors by code, with places and advice.

use saltwing_types::{Position, Value};

use crate::database::Database;

#[test]
fn several_rows_for_one_value() {
    let db = Database::new(&["CREATE TABLE t (a INTEGER PRIMARY KEY)", "UPSERT INTO t VALUES (1), (2)"]);
    // Other subqueries run before the query, by another engine perhaps.
    db.refuses("WITH w AS (SELECT 1 AS x, random() UNION ALL SELECT 2, random()) SELECT (SELECT x FROM w)", "21000");
    db.refuses("WITH w AS (SELECT a, random() FROM t) SELECT a FROM t WHERE a = (SELECT a FROM w)", "21000");
    db.refuses("SELECT a, (SELECT u.a FROM t u WHERE u.a >= t.a) FROM t", "21000");
}

fn database() -> Database {
    Database::new(&[
        "CREATE TABLE log (Phone VARCHAR NOT NULL, ts BIGINT NOT NULL, up INTEGER, PRIMARY KEY (Phone, ts DESC))",
        "UPSERT INTO log VALUES ('138', 1, 10), ('138', 2, 20), ('139', 1, 30)",
    ])
}

#[test]
fn names_that_are_not_there() {
    let db = database();
    db.refuses("SELECT * FROM nowhere", "42P01");
    db.refuses("SELECT * FROM s.log", "3F000");
    db.refuses("SELECT nothing FROM log", "42703");
    db.refuses("SELECT log.nothing FROM log", "42703");
    db.refuses("SELECT x.ts FROM log", "42P01");
    db.refuses("SELECT x.* FROM log", "42P01");
    db.refuses("SELECT nothing(ts) FROM log", "42883");
    db.refuses("SELECT left('a')", "42883");
    db.refuses("SELECT row_number() FROM log", "42883");
    // The names of operations are no functions of a statement, whatever else it has.
    db.refuses("SELECT __saltwing_compare_0(1, 2), ts = up FROM log", "42883");
    db.refuses("SELECT \"__saltwing_single_value\"(ts) FROM log", "42883");
    db.refuses("SELECT ts FROM log a, log b", "42702");
    db.refuses("SELECT ts FROM log GROUP BY up", "42601");
    db.refuses("SELECT * FROM information_schema.nothing", "42P01");
}

#[test]
fn errors_have_a_place_and_advice() {
    let db = database();
    let error = db.try_with("SELECT phon FROM log", &[]).unwrap_err();
    assert_eq!(error.span.map(|s| s.start), Some(Position { line: 1, column: 8 }));
    assert!(error.help.unwrap_or_default().contains("Phone"));
    let error = db.try_with("SELECT 1\nFROM lok", &[]).unwrap_err();
    assert_eq!(error.span.map(|s| s.start), Some(Position { line: 2, column: 6 }));
    assert!(error.help.unwrap_or_default().contains("log"));
    let error = db.try_with("SELECT * FROM log WHERE up > 1 AND ts = 'abc'", &[]).unwrap_err();
    assert_eq!(error.span.map(|s| s.start.line), Some(1));
    assert_eq!(error.code().sqlstate(), "22P02");
}

#[test]
fn errors_of_clauses_and_arguments_have_a_place() {
    let db = database();
    for (sql, place) in [
        ("SELECT ts FROM log WHERE row_number() OVER () = 1", "row_number"),
        ("SELECT ts FROM log WHERE ts > 0 AND stddev(up) > 1", "stddev"),
        ("SELECT 1 FROM log GROUP BY sum(up)", "sum"),
        ("SELECT 1 FROM log, log AS b, LOG", "LOG"),
        ("SELECT ts + 1 FROM log a ORDER BY 2", "2"),
        ("SELECT lag(ts, 'x') OVER (ORDER BY ts) FROM log", "lag"),
        ("SELECT nth_value(ts, -7) OVER (ORDER BY ts) FROM log", "nth_value"),
        ("SELECT date_part('eon', DATE '2026-01-01')", "'eon'"),
    ] {
        let error = db.try_with(sql, &[]).unwrap_err();
        let column = error.span.map(|span| span.start.column as usize - 1);
        assert_eq!(column, sql.find(place), "{sql}: {error}");
    }
}

#[test]
fn what_would_pass_in_silence_is_refused() {
    let db = database();
    db.refuses("SELECT (phone, ts) > ANY (SELECT phone, ts FROM log) FROM log", "0A000");
    db.refuses("SELECT * FROM log LIMIT 1.5", "42601");
    db.refuses("SELECT phone FROM log UNION SELECT phone, ts FROM log", "42601");
}

#[test]
fn parameters() {
    let db = database();
    let rows = |sql: &str, params: &[Value]| db.try_with(sql, params).map(|a| a.rows);
    let text = |text: &str| Value::text(text);
    assert_eq!(rows("SELECT up FROM log WHERE phone = ? AND ts = ?", &[text("138"), Value::Int(2)]).unwrap(), ["20"]);
    assert_eq!(rows("SELECT up FROM log WHERE ts = $1 AND phone = '139'", &[text("1")]).unwrap(), ["30"]);
    assert_eq!(rows("SELECT ? + 1, ? || 'x', ?", &[Value::Int(-3), text("a"), Value::Null]).unwrap(), ["-2|ax|NULL"]);
    let decimal = Value::Decimal("1.5".parse().unwrap());
    assert_eq!(rows("SELECT ?, CASE WHEN TRUE THEN ? END", &[decimal.clone(), decimal]).unwrap(), ["1.5|1.5"]);
    assert_eq!(
        rows("SELECT ts FROM log ORDER BY phone, ts DESC LIMIT ? OFFSET ?", &[Value::Int(1), Value::Int(1)]).unwrap(),
        ["1"]
    );
    assert_eq!(rows("SELECT up FROM log WHERE phone = ?", &[]).unwrap_err().code().sqlstate(), "08P01");
    assert_eq!(rows("SELECT up FROM log LIMIT ?", &[text("x")]).unwrap_err().code().sqlstate(), "42601");
}

#[test]
fn deep_expressions_neither_overflow_nor_stall() {
    let db = database();
    let sum = vec!["1"; 150].join(" + ");
    assert_eq!(db.value(&format!("SELECT {sum}")), "150");
    let many = (0..100_000).map(|i| format!("ts <> {}", i + 10)).collect::<Vec<_>>().join(" AND ");
    assert_eq!(db.value(&format!("SELECT count(*) FROM log WHERE {many}")), "3");
    let many = (0..2000).map(|i| format!("(ts = {i} AND phone = '138')")).collect::<Vec<_>>().join(" OR ");
    assert_eq!(db.value(&format!("SELECT count(*) FROM log WHERE {many}")), "2");
}

/// A thread with a small stack may plan too.
#[test]
fn small_stacks_will_do() {
    let db = database();
    let sum = vec!["up"; 150].join(" + ");
    let rows = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(2 << 20);
        let rows = thread.spawn_scoped(scope, || db.rows(&format!("SELECT {sum} FROM log WHERE phone = '139'")));
        rows.unwrap().join().unwrap()
    });
    assert_eq!(rows, ["4500"]);
}
