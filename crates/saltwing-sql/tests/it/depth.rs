//! Depth is a matter of safety: no statement overflows the stack or hangs.
//!
//! Each kind of nesting and chaining is tried far beyond its limit, where it has
//! to be an error, and right at its limit, where all that is done with a tree has
//! to work on 2 MB of stack. An overflow ends the test process.

use saltwing_sql::guard::TreeSize;
use saltwing_sql::{Statement, parse, parse_one};
use saltwing_types::{ErrorCode, Span};
use sqlparser::ast::Spanned;

use crate::support;

/// What threads have that say nothing.
const STACK_BYTES: usize = 2 << 20;

/// `open` n times, `middle`, `close` n times.
struct Nested(&'static str, &'static str, &'static str, &'static str, &'static str);

/// `first`, and `next` n times.
struct Chained(&'static str, &'static str, &'static str, &'static str);

impl Nested {
    fn text(&self, n: usize) -> String {
        let Self(before, open, middle, close, after) = self;
        format!("{before}{}{middle}{}{after}", open.repeat(n), close.repeat(n))
    }
}

impl Chained {
    fn text(&self, n: usize) -> String {
        let Self(before, first, next, after) = self;
        format!("{before}{first}{}{after}", next.repeat(n))
    }
}

const NESTED: [Nested; 78] = [
    Nested("SELECT ", "(", "1", ")", ""),
    Nested("SELECT ", "(1+", "1", ")", ""),
    Nested("SELECT ", "(", "1", "+1)", ""),
    Nested("SELECT ", "NOT ", "1", "", ""),
    Nested("SELECT ", "NOT (", "1", ")", ""),
    Nested("SELECT ", "- ", "1", "", ""),
    Nested("SELECT ", "~ ", "1", "", ""),
    Nested("SELECT ", "-(", "1", ")", ""),
    Nested("SELECT ", "a = NOT ", "1", "", ""),
    Nested("SELECT ", "a LIKE NOT ", "1", "", ""),
    Nested("SELECT ", "a BETWEEN 1 AND NOT ", "1", "", ""),
    Nested("SELECT ", "a IS DISTINCT FROM NOT ", "1", "", ""),
    Nested("SELECT ", "INTERVAL ", "'1'", "", ""),
    Nested("SELECT ", "CASE WHEN a THEN ", "1", " END", ""),
    Nested("SELECT ", "CASE ", "1", " WHEN 1 THEN 2 END", ""),
    Nested("SELECT ", "CASE WHEN a THEN 1 ELSE ", "1", " END", ""),
    Nested("SELECT ", "EXISTS(SELECT ", "1", ")", ""),
    Nested("SELECT ", "NOT EXISTS(SELECT 1 WHERE ", "a", ")", ""),
    Nested("SELECT ", "(SELECT ", "1", ")", ""),
    Nested("SELECT ", "a IN (SELECT ", "1", ")", ""),
    Nested("SELECT ", "a IN (", "1", ")", ""),
    Nested("SELECT ", "a IN ((", "1", "))", ""),
    Nested("SELECT ", "f(", "1", ")", ""),
    Nested("SELECT ", "f(1, 1 + ", "1", ", 2)", ""),
    Nested("SELECT ", "f(x => ", "1", ")", ""),
    Nested("SELECT ", "f(1 ORDER BY ", "1", ")", ""),
    Nested("SELECT ", "f(1) FILTER (WHERE ", "1", ")", ""),
    Nested("SELECT ", "f(1) OVER (PARTITION BY ", "1", ")", ""),
    Nested("SELECT ", "f(1) WITHIN GROUP (ORDER BY ", "1", ")", ""),
    Nested("SELECT ", "CAST(", "1", " AS INT)", ""),
    Nested("SELECT ", "SUBSTRING(", "1", ", 1)", ""),
    Nested("SELECT ", "POSITION(", "a", " IN b)", ""),
    Nested("SELECT ", "POSITION(", "a", ", b)", ""),
    Nested("SELECT ", "TRIM(BOTH 'x' FROM ", "a", ")", ""),
    Nested("SELECT ", "OVERLAY(", "a", " PLACING b FROM 1)", ""),
    Nested("SELECT ", "EXTRACT(YEAR FROM ", "a", ")", ""),
    Nested("SELECT ", "CEIL(", "a", ")", ""),
    Nested("SELECT ", "ARRAY[", "1", "]", ""),
    Nested("SELECT ", "[", "1", "]", ""),
    Nested("SELECT ", "ARRAY(SELECT ", "1", ")", ""),
    Nested("SELECT ", "a[", "1", "]", ""),
    Nested("SELECT CAST(a AS ", "ARRAY<", "INT", ">", ")"),
    Nested("SELECT CAST(a AS ", "foo(", "1", ")", ")"),
    Nested("SELECT a::", "TABLE(a ", "INT", ")", ""),
    Nested("SELECT ", "(1, ", "1", ")", ""),
    Nested("SELECT ", "a = ANY(", "1", ")", ""),
    Nested("SELECT ", "a = ANY(SELECT ", "1", ")", ""),
    Nested("SELECT ", "a BETWEEN (", "1", ") AND 2", ""),
    Nested("SELECT ", "a AND (", "1", ")", ""),
    Nested("SELECT ", "a AND b AND (c OR d OR ", "1", ")", ""),
    Nested("SELECT 1 FROM ", "(SELECT a FROM ", "t", ") x", ""),
    Nested("SELECT 1 FROM ", "(", "t", " JOIN u ON a)", ""),
    Nested("SELECT 1 FROM ", "(t JOIN ", "t", " ON a)", ""),
    Nested("SELECT 1 FROM ", "((SELECT * FROM ", "t", ") x JOIN y ON a)", ""),
    Nested("SELECT 1 FROM ", "(((SELECT * FROM ", "t", ") x JOIN y ON a) JOIN z ON b)", ""),
    Nested("SELECT 1 FROM ", "(", "t", ")", ""),
    Nested("SELECT 1 FROM ", "(", "SELECT 1", ")", ""),
    Nested("SELECT 1 FROM ", "TABLE(f(", "1", "))", ""),
    Nested("SELECT 1 FROM ", "unnest(", "1", ")", ""),
    Nested("SELECT 1 FROM ", "LATERAL (SELECT * FROM ", "t", ") x", ""),
    Nested("", "(SELECT 1 UNION ", "SELECT 1", ")", ""),
    Nested("", "SELECT 1 UNION (", "SELECT 1", ")", ""),
    Nested("", "(", "SELECT 1", ")", ""),
    Nested("", "WITH a AS (", "SELECT 1", ") SELECT 1", ""),
    Nested("", "EXPLAIN ", "SELECT 1", "", ""),
    Nested("DELETE FROM t WHERE ", "(", "1", ")", ""),
    Nested("UPSERT INTO t VALUES (", "f(", "1", ")", ")"),
    Nested("CREATE TABLE t (a INT DEFAULT ", "(", "1", ")", ")"),
    Nested("CREATE TABLE t (a INT, PRIMARY KEY (", "f(", "a", ")", "))"),
    // Mistakes at the bottom: no level may be tried twice.
    Nested("SELECT ", "CAST(", "1", "", ""),
    Nested("SELECT ", "CAST(", "1 1", " AS INT)", ""),
    Nested("SELECT ", "CASE WHEN ", "1", "", ""),
    Nested("SELECT ", "NOT (", "1 1", ")", ""),
    Nested("SELECT ", "ARRAY[", "1 1", "]", ""),
    Nested("SELECT ", "EXISTS (SELECT ", "1 1 1", ")", ""),
    Nested("SELECT 1 FROM ", "((SELECT * FROM ", "t t t", ") x JOIN y ON a)", ""),
    Nested("SELECT ", "f(", "", "", ""),
    Nested("SELECT ", ")", "1", "", ""),
];

const CHAINED: [Chained; 32] = [
    Chained("SELECT ", "1", "+1", ""),
    Chained("SELECT ", "1", "+f(1,2)", ""),
    Chained("SELECT ", "a", "+LEFT(a,1)", ""),
    Chained("SELECT ", "1", "+NEXT VALUE FOR s", ""),
    Chained("SELECT ", "1", "+NEXT 5 VALUES FOR s", ""),
    Chained("SELECT ", "1", " + a.and", ""),
    Chained("SELECT ", "1", " + \"and\"", ""),
    Chained("SELECT ", "1", " + when", ""),
    Chained("SELECT ", "a", "||a", ""),
    Chained("SELECT ", "a", "=a", ""),
    Chained("SELECT ", "a", "::INT", ""),
    Chained("SELECT ", "a", "[1]", ""),
    Chained("SELECT ", "a", ".a", ""),
    Chained("SELECT ", "a", "[1].a", ""),
    Chained("SELECT ", "a", ".f(1)", ""),
    Chained("SELECT ", "a", " LIKE a", ""),
    Chained("SELECT ", "a", " LIKE a ESCAPE 'x'", ""),
    Chained("SELECT ", "a", " BETWEEN 1 AND 2", ""),
    Chained("SELECT ", "a", " IS NULL", ""),
    Chained("SELECT ", "a", " NOT NULL", ""),
    Chained("SELECT ", "a", " IS DISTINCT FROM b", ""),
    Chained("SELECT ", "a", " IN (1, 2)", ""),
    Chained("SELECT ", "a", " AT TIME ZONE 'x'", ""),
    Chained("SELECT ", "a", " = ANY(b)", ""),
    Chained("SELECT ", "INTERVAL '1' DAY", " + INTERVAL '1' DAY", ""),
    Chained("SELECT 1 ORDER BY ", "1", "+1", ""),
    Chained("SELECT 1 LIMIT ", "1", "+1", ""),
    Chained("SELECT 1 FROM ", "t", " JOIN t ON a = b", ""),
    Chained("SELECT 1 FROM ", "t", " CROSS JOIN t", ""),
    Chained("", "SELECT 1", " UNION SELECT 1", ""),
    Chained("", "SELECT 1", " UNION SELECT 1 INTERSECT SELECT 2", ""),
    Chained("SELECT ", "x", " -> x", ""),
];

const LISTS: [Chained; 16] = [
    Chained("SELECT ", "a", " AND a", ""),
    Chained("SELECT ", "a", " OR a", ""),
    Chained("SELECT ", "a", " AND a OR a", ""),
    Chained("SELECT ", "a", " AND NOT a BETWEEN 1 AND 2", ""),
    Chained("SELECT ", "a", ",a", ""),
    Chained("SELECT a IN (", "1", ",1", ")"),
    Chained("SELECT f(", "1", ",1", ")"),
    Chained("SELECT CASE", " WHEN a THEN 2", " WHEN a = 1 THEN 2", " END"),
    Chained("SELECT 1 FROM ", "t", ", t", ""),
    Chained("WITH ", "a AS (SELECT 1)", ", a AS (SELECT 1)", " SELECT 1"),
    Chained("", "VALUES (1)", ",(1)", ""),
    Chained("UPSERT INTO t VALUES ", "(1,'a')", ",(1,'a')", ""),
    Chained("DELETE FROM t WHERE ", "a=1", " AND a=1", ""),
    Chained("CREATE TABLE t (", "a INT", ", a INT", ")"),
    Chained("SELECT /*+ ", "A(b)", " A(b)", " */ 1"),
    Chained("SELECT * EXCLUDE (", "a", ", a", ") FROM t"),
];

/// Runs `f` with as much stack as any thread has.
fn on_small_stack(f: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(STACK_BYTES).spawn(f).unwrap().join().unwrap();
}

/// All that is done with a tree.
fn exercise(sql: &str) {
    let statement = parse_one(sql).unwrap_or_else(|error| panic!("{error}")).statement;
    let copy = statement.clone();
    assert!(copy == statement);
    if let Statement::Query(query) = &copy {
        let _ = query.query.span();
    }
    support::assert_prints_itself(&copy);
    drop(statement);
}

/// The largest n below `limit` whose text is a statement; 0 if none is.
fn most(text: impl Fn(usize) -> String, limit: usize) -> usize {
    let (mut good, mut bad) = (0, limit);
    while bad - good > 1 {
        let middle = good.midpoint(bad);
        match parse(&text(middle)) {
            Ok(_) => good = middle,
            Err(_) => bad = middle,
        }
    }
    good
}

/// Levels to try; `DEPTH_LEVELS=100000` takes minutes in a debug build, and shows nothing
/// new as long as the guard goes over the tokens once.
fn levels() -> usize {
    std::env::var("DEPTH_LEVELS").ok().and_then(|levels| levels.parse().ok()).unwrap_or(1_000)
}

#[test]
fn far_beyond_the_limits_is_an_error() {
    on_small_stack(|| {
        for (index, kind) in NESTED.iter().enumerate() {
            let n = if index % 40 == 0 { 100_000 } else { levels() };
            let error = parse(&kind.text(n)).expect_err(&kind.text(1));
            assert!(error.code() != ErrorCode::Bug, "{}: {error}", kind.text(1));
        }
        for (index, kind) in CHAINED.iter().enumerate() {
            let n = if index == 0 { 100_000 } else { levels() };
            let error = parse(&kind.text(n)).expect_err(&kind.text(1));
            assert!(error.code() != ErrorCode::Bug, "{}: {error}", kind.text(1));
        }
    });
}

#[test]
fn right_at_the_limit_all_works() {
    on_small_stack(|| {
        for kind in &NESTED {
            let n = most(|n| kind.text(n), 200);
            if n > 0 {
                exercise(&kind.text(n));
            }
        }
        for kind in &CHAINED {
            let n = most(|n| kind.text(n), 400);
            if n > 0 {
                exercise(&kind.text(n));
            }
        }
    });
}

#[test]
fn deep_enough_for_what_programs_write() {
    for (text, n) in [
        (Nested("SELECT ", "(", "1", ")", "").text(64), "brackets"),
        (Nested("SELECT ", "CASE WHEN a THEN 1 ELSE ", "1", " END", "").text(64), "CASE"),
        (Nested("SELECT ", "a AND (b OR ", "1", ")", "").text(30), "AND and OR"),
        (Nested("SELECT 1 FROM ", "(SELECT a FROM ", "t", ") x", "").text(16), "queries"),
        (Chained("SELECT ", "1", "+1", "").text(150), "operators"),
        (Chained("", "SELECT 1", " UNION ALL SELECT 1", "").text(100), "UNION"),
        (Chained("SELECT 1 FROM ", "t", " JOIN t ON a = b", "").text(100), "joins"),
    ] {
        assert!(parse(&text).is_ok(), "{n}");
    }
}

#[test]
fn lists_may_be_long() {
    on_small_stack(|| {
        for kind in &LISTS {
            exercise(&kind.text(500));
        }
        for kind in LISTS.iter().take(1) {
            let statement = parse_one(&kind.text(100_000)).unwrap().statement;
            drop(statement.clone());
        }
    });
}

#[test]
fn a_statement_has_a_largest_size() {
    let long = |bytes: usize| format!("SELECT '{}'", "x".repeat(bytes - "SELECT ''".len()));
    assert!(parse(&long(saltwing_sql::STATEMENT_BYTES_MAX)).is_ok());
    let error = parse(&format!("SELECT 1;\n{}", long(saltwing_sql::STATEMENT_BYTES_MAX))).unwrap_err();
    assert_eq!(error.code(), ErrorCode::StatementTooLarge);
    assert_eq!(error.span().start.line, 1);
}

fn size(sql: &str) -> TreeSize {
    let Statement::Query(query) = parse_one(sql).unwrap().statement else { panic!("{sql} is no query") };
    TreeSize::of(&query.query, query.span).unwrap()
}

/// A statement whose tree holds other trees has the limits of one that was written so.
#[test]
fn sizes_of_trees_add_up() {
    let span = Span::on_line(1, 1, 1);
    let sum = |n: usize| size(&Chained("SELECT ", "a", " + 1", " FROM t").text(n));
    assert!(sum(70).around(sum(70), span).is_ok());
    assert_eq!(sum(100).around(sum(100), span).unwrap_err().code(), ErrorCode::TooDeep);
    // Beside one another neither is deeper.
    assert!(sum(100).beside(sum(100), span).is_ok());
    let joins = |n: usize| size(&Chained("SELECT 1 FROM t", "", " CROSS JOIN t", "").text(n));
    assert!(joins(60).beside(joins(40), span).is_ok());
    assert_eq!(joins(60).beside(joins(41), span).unwrap_err().code(), ErrorCode::TooDeep);
    let sets = |n: usize| size(&Chained("SELECT 1", "", " UNION SELECT 1", "").text(n));
    assert!(sets(60).around(sets(40), span).is_ok());
    assert_eq!(sets(60).around(sets(41), span).unwrap_err().code(), ErrorCode::TooDeep);
    let queries = |n: usize| size(&Nested("SELECT ", "(SELECT ", "1", ")", "").text(n));
    assert!(queries(8).around(queries(8), span).is_ok());
    assert_eq!(queries(8).around(queries(9), span).unwrap_err().code(), ErrorCode::TooDeep);
    let brackets = |n: usize| size(&Nested("SELECT ", "(", "1", ")", "").text(n));
    assert!(brackets(40).around(brackets(24), span).is_ok());
    assert_eq!(brackets(40).around(brackets(25), span).unwrap_err().code(), ErrorCode::TooDeep);
}
