//! What statements with subqueries read, and what EXPLAIN tells of it.

use saltwing::blocking::Connection;
use saltwing::{Database, params};

use crate::{code, texts};

/// A thousand keys of two columns, ten rows that name some of them, and fifty that group them.
fn tables(options: &str) -> Connection {
    let connection = Database::memory().unwrap().connect().blocking();
    for table in [
        "big (a INTEGER NOT NULL, b INTEGER NOT NULL, v INTEGER, CONSTRAINT pk PRIMARY KEY (a, b))",
        "small (k INTEGER NOT NULL PRIMARY KEY, x BIGINT, y INTEGER)",
    ] {
        connection.execute(&format!("CREATE TABLE {table} {options}"), ()).unwrap();
    }
    let big: Vec<String> = (0..1000).map(|i| format!("({}, {}, {})", i / 10, i % 10, i)).collect();
    connection.execute(&format!("UPSERT INTO big VALUES {}", big.join(", ")), ()).unwrap();
    let small: Vec<String> = (0..10).map(|i| format!("({i}, {}, {})", i * 7, i * 3)).collect();
    connection.execute(&format!("UPSERT INTO small VALUES {}, (10, NULL, NULL)", small.join(", ")), ()).unwrap();
    connection
}

/// Query; rows; keys read of both tables; seeks, in tables without buckets.
type Reads = (&'static str, usize, u64, u64);

/// Where the subqueries are one table's, which needs no relational engine.
const FIRST: &[Reads] = &[
    ("SELECT v FROM big WHERE a = (SELECT x FROM small WHERE k = 2)", 10, 11, 2),
    ("SELECT v FROM big WHERE a < (SELECT y FROM small WHERE k = 1)", 30, 31, 2),
    ("SELECT v FROM big WHERE a >= (SELECT MAX(x) FROM small WHERE k < 10)", 370, 380, 2),
    (
        "SELECT v FROM big WHERE a BETWEEN (SELECT y FROM small WHERE k = 2) AND (SELECT x FROM small WHERE k = 1)",
        20,
        22,
        3,
    ),
    (
        "SELECT v FROM big WHERE a = (SELECT x FROM small WHERE k = 3) AND b = (SELECT y FROM small WHERE k = 2)",
        1,
        3,
        3,
    ),
    ("SELECT v FROM big WHERE (a, b) > ((SELECT x FROM small WHERE k = 9), 7)", 362, 363, 2),
    ("SELECT v FROM big WHERE a IN (1, (SELECT x FROM small WHERE k = 9))", 20, 21, 3),
    // Once, however often it stands there.
    ("SELECT v, (SELECT x FROM small WHERE k = 2) FROM big WHERE a = (SELECT x FROM small WHERE k = 2)", 10, 11, 2),
    // No value, and nothing is read for it.
    ("SELECT v FROM big WHERE a <= (SELECT x FROM small WHERE k = 10)", 0, 1, 1),
    ("SELECT v FROM big WHERE a <= (SELECT x FROM small WHERE k = 11)", 0, 0, 1),
    ("SELECT v FROM big WHERE a = (SELECT x FROM small WHERE k = 9) + 1 ORDER BY a, b LIMIT 3", 3, 4, 2),
    ("SELECT v FROM big WHERE a = (SELECT MAX(k) FROM small)", 10, 11, 2),
];

/// Where they name the query around them, or are grouped and joined: the table is looked up for its rows.
#[cfg(feature = "datafusion")]
const LOOKED_UP: &[Reads] = &[
    ("SELECT k, (SELECT COUNT(*) FROM big WHERE big.a = small.y) FROM small WHERE k < 3", 3, 33, 4),
    ("SELECT k, (SELECT v FROM big WHERE big.a = small.y AND big.b = small.k) FROM small WHERE k < 3", 3, 6, 4),
    ("SELECT k FROM small WHERE k < 3 AND x < (SELECT MAX(v) FROM big WHERE big.a = small.y)", 3, 33, 4),
    ("SELECT k, n FROM small JOIN (SELECT a, COUNT(*) AS n FROM big GROUP BY a) AS g ON g.a = y WHERE k < 3", 3, 33, 4),
    ("SELECT k FROM small WHERE k < 3 AND x NOT IN (SELECT v FROM big WHERE big.a = small.y)", 2, 33, 4),
    ("SELECT k FROM small WHERE k < 3 AND x < ALL (SELECT v FROM big WHERE big.a = small.y)", 2, 33, 4),
    // The outer rows are read twice: for themselves, and for the keys.
    ("SELECT k, (SELECT v FROM big WHERE a = y ORDER BY b DESC LIMIT 1) FROM small WHERE k < 3", 3, 36, 5),
];

#[cfg(feature = "datafusion")]
#[test]
fn what_is_correlated_is_looked_up() {
    let connection = tables("");
    for (sql, rows, keys, seeks) in LOOKED_UP {
        let mut found = connection.query(sql, ()).unwrap();
        let count = found.by_ref().map(Result::unwrap).count();
        let stats = found.stats();
        assert_eq!((count, stats.keys_read, stats.seeks), (*rows, *keys, *seeks), "{sql}");
    }
    let plan = texts(&connection, &format!("EXPLAIN {}", LOOKED_UP[0].0)).unwrap().join("\n");
    assert!(plan.contains("  spans     known when it runs, by a = small.y\n"), "{plan}");
    // Nothing bounds the outer rows, or the key of the inner ones.
    for refused in [
        "SELECT k, (SELECT COUNT(*) FROM big WHERE big.a = small.y) FROM small",
        "SELECT k, (SELECT COUNT(*) FROM big WHERE big.b = small.y) FROM small WHERE k < 3",
        "SELECT k FROM small WHERE k < 3 AND x NOT IN (SELECT v FROM big WHERE big.b = small.y)",
    ] {
        assert_eq!(code(connection.query(refused, ())), "full_scan_refused", "{refused}");
    }
    for (sql, help) in [
        (
            "SELECT 1 FROM small JOIN (SELECT * FROM big LIMIT 2) b ON b.a = y WHERE k < 3",
            "the statement reads more than this table",
        ),
        (
            "SELECT 1 FROM small LEFT JOIN big ON EXISTS (SELECT 1 FROM big x WHERE x.a = small.y AND x.b = big.b) WHERE k < 3",
            "name the outer query in the WHERE of the subquery",
        ),
    ] {
        let error = connection.query(sql, ()).err().unwrap();
        assert!(error.help().unwrap().contains(help), "{sql}: {error}");
    }
}

#[test]
fn what_runs_first_bounds_what_is_around_it() {
    for options in ["", "SALT_BUCKETS = 3"] {
        let connection = tables(options);
        for (sql, rows, keys, seeks) in FIRST {
            let mut found = connection.query(sql, ()).unwrap();
            let count = found.by_ref().map(Result::unwrap).count();
            let stats = found.stats();
            assert_eq!(count, *rows, "{sql}");
            if options.is_empty() {
                assert_eq!((stats.keys_read, stats.seeks), (*keys, *seeks), "{sql}");
            } else {
                // The merge looks at one more row in each bucket.
                assert!(stats.keys_read <= keys + 4 && stats.seeks <= seeks * 3, "{sql}: {stats:?}");
            }
        }
    }
}

#[test]
fn explain_shows_what_runs_first_and_what_it_bounds() {
    let connection = tables("");
    let text = |sql: &str| texts(&connection, sql).unwrap().join("\n");
    let sql = "SELECT v FROM big WHERE a = 3 AND b <= (SELECT y FROM small WHERE k = 2)";
    let plan = text(&format!("EXPLAIN {sql}"));
    for line in [
        "subquery 1, which runs first: SELECT y FROM small WHERE k = 2",
        "point of small, key (k)",
        "  spans     known when it runs, by b <= (subquery 1)",
        "  key       b <= (subquery 1)  -- range on key column 2",
    ] {
        assert!(plan.lines().any(|shown| shown == line), "{line}\n{plan}");
    }
    // With the value: its ranges, and what was read.
    let plan = text(&format!("EXPLAIN ANALYZE {sql}"));
    for line in ["  span      [(3) .. (3, 6)]", "  key       b <= 6  -- range on key column 2"] {
        assert!(plan.lines().any(|shown| shown == line), "{line}\n{plan}");
    }
    assert!(plan.contains("  counted   keys_read 7, seeks 1, rows_out 7"), "{plan}");
}

#[test]
fn prepared_statements_are_judged_before_and_read_by_their_values() {
    let connection = tables("");
    let sql = "SELECT COUNT(*) FROM big WHERE a < (SELECT x FROM small WHERE k = ?) AND b = ?";
    let statement = connection.prepare(sql).unwrap();
    for (k, count) in [(1, 7), (2, 14), (10, 0), (3, 21)] {
        let mut rows = statement.query(params![k, 5]).unwrap();
        assert_eq!(rows.next().unwrap().unwrap().get::<i64>(0).unwrap(), count);
    }
    for refused in [
        "SELECT v FROM big WHERE b < (SELECT x FROM small WHERE k = ?)",
        "SELECT v FROM big WHERE a < (SELECT x FROM small WHERE y = ?)",
        "DELETE FROM big WHERE b < (SELECT x FROM small WHERE k = ?)",
    ] {
        assert_eq!(code(connection.prepare(refused)), "full_scan_refused", "{refused}");
    }
    assert_eq!(code(connection.prepare("DELETE FROM big WHERE a < (SELECT x FROM small WHERE k = ?)")), "ok");
    assert_eq!(
        code(connection.query("SELECT v FROM big WHERE a = (SELECT x FROM small WHERE k < 3)", ())),
        "several_rows"
    );
}
