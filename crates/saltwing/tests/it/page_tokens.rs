//! Pages: each goes on exactly behind the one before, and reads its own rows only.

use std::time::Duration;

use saltwing::blocking::Connection;
use saltwing::{Database, Page, Row, Stats, Value, params};

use crate::code;

const SALTS: [&str; 4] =
    ["", "SALT_BUCKETS = 3", "SALT_BUCKETS = 3, SALT_BY = (a)", "SALT_BUCKETS = 3, SALT_BY = (a, b)"];
const ROWS: usize = 3 * 5 * 10;

/// Rows with the key (a, b, c): three values of a, five of b (one of them NULL), ten of c.
fn connect(options: &str) -> Connection {
    let connection = Database::memory().unwrap().connect().blocking();
    let table = format!(
        "CREATE TABLE t (a INTEGER NOT NULL, b VARCHAR, c INTEGER NOT NULL, v INTEGER, \
         CONSTRAINT pk PRIMARY KEY (a, b, c DESC)) {options}"
    );
    connection.execute(&table, ()).unwrap();
    let rows: Vec<String> = (0..ROWS as i32)
        .map(|i| {
            let b = (i / 10 % 5 > 0).then(|| format!("'b{}'", i / 10 % 5));
            format!("({}, {}, {}, {i})", i / 50, b.unwrap_or_else(|| "NULL".into()), i % 10)
        })
        .collect();
    connection.execute(&format!("UPSERT INTO t VALUES {}", rows.join(", ")), ()).unwrap();
    connection
}

fn values(rows: &[Row]) -> Vec<Vec<Value>> {
    rows.iter().map(|row| row.values().unwrap()).collect()
}

fn page(connection: &Connection, sql: &str, token: Option<&str>) -> Page<Row> {
    connection.query_page(sql, (), token).unwrap_or_else(|error| panic!("{sql}: {error:?}"))
}

/// All pages, one behind the other.
fn pages(connection: &Connection, sql: &str) -> Vec<Page<Row>> {
    let mut pages = vec![page(connection, sql, None)];
    while let Some(token) = pages.last().and_then(|page| page.next.clone()) {
        pages.push(page(connection, sql, Some(&token)));
        assert!(pages.len() <= ROWS + 1, "{sql}: the pages do not end");
    }
    pages
}

/// Conditions and orders; whether a condition is left to a filter or skips, so that more keys are read than rows.
const QUERIES: [(&str, bool); 15] = [
    ("WHERE a >= 0", false),
    ("WHERE a = 1", false),
    ("WHERE a = 1 AND b = 'b2'", false),
    ("WHERE a = 1 AND b = 'b2' AND c = 3", false),
    ("WHERE a IN (0, 2) AND b IN ('b1', 'b3')", false),
    ("WHERE a >= 0 ORDER BY a, b, c DESC", false),
    ("WHERE a >= 0 ORDER BY a DESC, b DESC NULLS LAST, c", false),
    ("WHERE a IN (0, 2) ORDER BY a DESC, b DESC NULLS LAST, c", false),
    ("WHERE a = 1 ORDER BY b NULLS LAST, c DESC", false),
    ("WHERE a = 1 ORDER BY b DESC NULLS FIRST, c", false),
    ("WHERE (a, b) > (0, 'b3') ORDER BY a, b, c DESC", false),
    ("WHERE a >= 0 AND v % 3 = 0 ORDER BY a, b, c DESC", true),
    ("WHERE a >= 0 AND c = 4 ORDER BY a, b, c DESC", true),
    ("WHERE a = 1 AND b > 'b1' AND c IN (2, 5) ORDER BY a DESC, b DESC NULLS LAST, c", true),
    ("WHERE a = 7", false),
];

#[test]
fn pages_together_are_the_query() {
    for options in SALTS {
        let connection = connect(options);
        for (query, is_filtered) in QUERIES {
            for columns in ["*", "v, b, c + 1", "_row_key, v"] {
                let sql = format!("SELECT {columns} FROM t {query}");
                connection.execute("SET executor = 'direct'", ()).unwrap();
                let whole: Vec<Row> = connection.query(&sql, ()).unwrap().collect::<Result<_, _>>().unwrap();
                connection.execute("SET executor = 'auto'", ()).unwrap();
                for size in [1, 7, 10, 1000] {
                    let sql = format!("{sql} LIMIT {size}");
                    let pages = pages(&connection, &sql);
                    let together: Vec<Row> = pages.iter().flat_map(|page| page.rows.clone()).collect();
                    assert_eq!(values(&together), values(&whole), "{options}: {sql}");
                    for (number, page) in pages.iter().enumerate() {
                        assert_eq!(page.next.is_some(), page.rows.len() == size, "{options}: {sql}: {number}");
                        if !is_filtered {
                            assert_eq!(page.stats.keys_read, page.rows.len() as u64, "{options}: {sql}: {number}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn a_page_seeks_once_in_each_bucket_that_it_reads() {
    let cost = |options: &str, sql: &str| {
        let pages = pages(&connect(options), sql);
        let most = pages.iter().map(|page| page.stats.seeks).max();
        (pages[0].stats, most)
    };
    let (by_key, ordered) =
        ("SELECT v FROM t WHERE a >= 0 LIMIT 10", "SELECT v FROM t WHERE a >= 0 ORDER BY a LIMIT 10");
    let first = |keys_read, seeks, buckets| Stats { keys_read, seeks, buckets };
    assert_eq!(cost("", by_key), (first(10, 1, 1), Some(1)));
    assert_eq!(cost("", ordered), (first(10, 1, 1), Some(1)));
    // One bucket after the other: a page may be the end of one, and the beginning of the next.
    assert_eq!(cost("SALT_BUCKETS = 3", by_key), (first(10, 1, 1), Some(2)));
    assert_eq!(cost("SALT_BUCKETS = 3", ordered), (first(10, 3, 3), Some(3)));
}

#[test]
fn sql_takes_tokens_as_text_and_as_parameter() {
    let connection = connect("SALT_BUCKETS = 3");
    for executor in ["auto", "direct"].into_iter().chain(cfg!(feature = "datafusion").then_some("datafusion")) {
        connection.execute(&format!("SET executor = '{executor}'"), ()).unwrap();
        let statement =
            connection.prepare("SELECT v FROM t WHERE a = ? ORDER BY a, b, c DESC LIMIT ? AFTER ?").unwrap();
        let description = statement.description();
        assert_eq!(description.parameters.iter().flatten().count(), 3, "{description:?}");
        let (mut token, mut found) = (None, Vec::new());
        for size in [3, 20, 100] {
            let mut rows = statement.query(params![1, size, token]).unwrap();
            found.extend(rows.by_ref().map(|row| row.unwrap().get::<i64>(0).unwrap()));
            token = rows.next_page();
            assert_eq!(token.is_some(), size < 100);
        }
        // The last column of the key descends.
        let expected: Vec<i64> = (50..100).map(|i| i / 10 * 10 + 9 - i % 10).collect();
        assert_eq!(found, expected);

        let first = connection.execute("SELECT v FROM t WHERE a = 2 LIMIT 40 AFTER NULL", ()).unwrap();
        let token = first.next_page.unwrap();
        assert!(token.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c)), "{token}");
        let second = connection.execute(&format!("SELECT v FROM t WHERE a = 2 LIMIT 40 AFTER '{token}'"), ()).unwrap();
        assert_eq!((second.stats.keys_read, second.next_page), (10, None));
        let explained = crate::texts(&connection, "EXPLAIN ANALYZE SELECT v FROM t WHERE a = 2 LIMIT 40 AFTER NULL");
        assert!(explained.unwrap().join("\n").contains("direct"));
    }
    let without = connection.execute("SELECT v FROM t WHERE a = 2 LIMIT 40", ()).unwrap();
    assert_eq!(without.next_page, None);
}

#[test]
fn a_page_has_the_rows_of_its_moment() {
    let connection = connect("");
    let sql = "SELECT c FROM t WHERE a = 0 AND b = 'b1' LIMIT 4";
    let first = page(&connection, sql, None);
    let c = |page: &Page<Row>| page.rows.iter().map(|row| row.get::<i32>(0).unwrap()).collect::<Vec<_>>();
    assert_eq!(c(&first), [9, 8, 7, 6]);
    // The row that the token names is gone, one is new before it, and one behind it.
    connection.execute("DELETE FROM t WHERE a = 0 AND b = 'b1' AND c IN (6, 4)", ()).unwrap();
    connection.execute("UPSERT INTO t VALUES (0, 'b1', 70, 0), (0, 'b1', -1, 0)", ()).unwrap();
    let second = page(&connection, sql, first.next.as_deref());
    assert_eq!(c(&second), [5, 3, 2, 1]);
    // A transaction sees what it wrote.
    connection.execute("BEGIN", ()).unwrap();
    connection.execute("DELETE FROM t WHERE a = 0 AND b = 'b1' AND c = 0", ()).unwrap();
    assert_eq!(c(&page(&connection, sql, second.next.as_deref())), [-1]);
    connection.execute("ROLLBACK", ()).unwrap();
    assert_eq!(c(&page(&connection, sql, second.next.as_deref())), [0, -1]);
}

#[test]
fn a_token_is_of_one_query_and_one_definition() {
    let connection = connect("");
    let sql = "SELECT v FROM t WHERE a = ? ORDER BY a, b, c DESC LIMIT 10";
    let first = connection.query_page::<Row>(sql, (1,), None).unwrap();
    let token = first.next.as_deref();
    let run = |sql: &str, a: i32| code(connection.query_page::<Row>(sql, (a,), token));
    assert_eq!(run(sql, 1), "ok");
    assert_eq!(run("SELECT v  FROM t WHERE a = ? -- the same\nORDER BY a, b, c DESC LIMIT 3", 1), "ok");
    assert_eq!(run(sql, 2), "bad_argument");
    assert_eq!(run("SELECT c FROM t WHERE a = ? ORDER BY a, b, c DESC LIMIT 10", 1), "bad_argument");
    assert_eq!(run("SELECT v FROM t WHERE a = ? ORDER BY a DESC, b DESC NULLS LAST, c LIMIT 10", 1), "bad_argument");
    for damaged in ["", "x", "AAAA", &token.unwrap()[1..]] {
        assert_eq!(code(connection.query_page::<Row>(sql, (1,), Some(damaged))), "bad_argument", "{damaged}");
    }
    connection.execute("ALTER TABLE t ADD w INTEGER", ()).unwrap();
    let error = connection.query_page::<Row>(sql, (1,), token).unwrap_err();
    assert_eq!(error.code().as_str(), "bad_argument");
    assert!(error.to_string().contains("another definition of its table"), "{error}");
}

#[test]
fn other_queries_have_no_pages() {
    let connection = connect("");
    connection.execute("CREATE SEQUENCE s", ()).unwrap();
    let mut refused = vec![
        ("SELECT count(*) FROM t WHERE a = 1 LIMIT 1", "aggregates"),
        ("SELECT DISTINCT b FROM t WHERE a = 1 LIMIT 1", "distinct"),
        ("SELECT v FROM t WHERE a = 1 LIMIT 1 OFFSET 1", "OFFSET"),
        ("SELECT NEXT VALUE FOR s, v FROM t WHERE a = 1 LIMIT 1", "sequences"),
    ];
    if cfg!(feature = "datafusion") {
        refused.push(("SELECT v FROM t WHERE a = 1 ORDER BY v LIMIT 1", "in the order of its key"));
        refused.push(("SELECT 1 LIMIT 1", "in the order of its key"));
    }
    for (sql, why) in refused {
        let error = connection.query_page::<Row>(sql, (), None).unwrap_err();
        assert_eq!(error.code().as_str(), "not_supported", "{sql}: {error:?}");
        assert!(error.to_string().contains(why), "{sql}: {error:?}");
        assert_eq!(code(connection.prepare(&format!("{sql} AFTER NULL"))), "not_supported", "{sql}");
    }
    assert_eq!(
        code(connection.query_page::<Row>("SELECT v FROM t WHERE v = 1 LIMIT 1", (), None)),
        "full_scan_refused"
    );
    assert_eq!(code(connection.query_page::<Row>("DELETE FROM t WHERE a = 1", (), None)), "syntax");
    let twice = connection.query_page::<Row>("SELECT v FROM t WHERE a = 1 LIMIT 1 AFTER NULL", (), None);
    assert_eq!(code(twice), "bad_argument");
    for sql in [
        "SELECT v FROM t WHERE a = 1 AFTER NULL",
        "SELECT v FROM t WHERE a = 1 LIMIT 1 AFTER 7",
        "CREATE VIEW w AS SELECT v FROM t WHERE a = 1 LIMIT 1 AFTER NULL",
        "UPSERT INTO t (a, b, c) SELECT a, b, c FROM t WHERE a = 1 LIMIT 1 AFTER NULL",
    ] {
        assert_eq!(code(connection.execute(sql, ())), "syntax", "{sql}");
    }
}

#[test]
fn a_budget_ends_a_page_behind_a_row() {
    let connection = connect("");
    let limited = connection.with_settings(|settings| settings.rows_max = Some(12));
    for sql in ["SELECT v FROM t WHERE a = 1 LIMIT 30", "SELECT v FROM t WHERE a = 1 LIMIT NULL"] {
        let pages = pages(&limited, sql);
        let sizes: Vec<usize> = pages.iter().map(|page| page.rows.len()).collect();
        assert_eq!(sizes, [12, 12, 12, 12, 2], "{sql}");
        assert!(pages[0].notices[0].contains("ended the page"), "{:?}", pages[0].notices);
        assert!(pages[4].notices.is_empty(), "{:?}", pages[4].notices);
    }
    // A filter takes one row of 25; a page that has found none ends with the error.
    let limited = connection.with_settings(|settings| settings.rows_max = Some(60));
    let sql = "SELECT v FROM t WHERE a >= 0 AND v % 25 = 24 LIMIT 3";
    let first = page(&limited, sql, None);
    assert!(!first.rows.is_empty() && first.rows.len() < 3);
    let second = page(&connection, sql, first.next.as_deref());
    let v = |page: &Page<Row>| page.rows.iter().map(|row| row.get::<i32>(0).unwrap()).collect::<Vec<_>>();
    let all = v(&page(&connection, &sql.replace("LIMIT 3", "LIMIT 10"), None));
    let read = [v(&first), v(&second)].concat();
    assert_eq!(read, all[..read.len()]);
    let none = limited.query_page::<Row>("SELECT v FROM t WHERE a >= 0 AND v = -1 LIMIT 3", (), None);
    assert_eq!(code(none), "budget_exceeded");
}

#[test]
fn a_timeout_ends_a_page_behind_a_row() {
    let connection = Database::memory().unwrap().connect().blocking();
    connection.execute("CREATE TABLE t (k INTEGER NOT NULL PRIMARY KEY)", ()).unwrap();
    let mut appender = connection.appender("t").unwrap();
    (0..20_000).for_each(|k| appender.append_row((k,)).unwrap());
    appender.close().unwrap();
    let time_max = Duration::from_secs(3);
    let limited = connection.with_settings(|settings| settings.statement_timeout = Some(time_max));
    let sql = "SELECT k FROM t WHERE k >= 0 LIMIT 20000 AFTER";
    let mut rows = limited.query_arrow(&format!("{sql} NULL"), ()).unwrap();
    let read = rows.next_blocking().unwrap().unwrap().num_rows();
    std::thread::sleep(time_max);
    assert!(rows.next_blocking().unwrap().is_none());
    assert!(rows.notices()[0].contains("statement_timeout"), "{:?}", rows.notices());
    let token = rows.next_page().unwrap();
    let rest = connection.query_as::<(usize,)>(&format!("{sql} '{token}'"), ()).unwrap();
    let rest: Vec<(usize,)> = rest.collect::<Result<_, _>>().unwrap();
    assert_eq!((rest[0].0, rest.len()), (read, 20_000 - read));
}

#[test]
fn pages_of_asynchronous_connections() {
    let connection = connect("SALT_BUCKETS = 3");
    let sql = "SELECT v FROM t WHERE a = ? ORDER BY a, b, c DESC LIMIT 20";
    let blocking: Page<(i32,)> = connection.query_page(sql, (1,), None).unwrap();
    let database = Database::memory().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let connection = database.connect();
        connection.execute("CREATE TABLE t (k BIGINT PRIMARY KEY)", ()).await.unwrap();
        connection.execute("UPSERT INTO t VALUES (1), (2), (3), (4), (5)", ()).await.unwrap();
        let (mut token, mut all) = (None, Vec::new());
        loop {
            let sql = "SELECT k FROM t WHERE k > 0 ORDER BY k DESC LIMIT 2";
            let page = connection.query_page::<(i64,)>(sql, (), token.as_deref()).await.unwrap();
            all.extend(page.rows);
            token = page.next;
            if token.is_none() {
                break;
            }
        }
        assert_eq!(all, [(5,), (4,), (3,), (2,), (1,)]);
    });
    assert_eq!(blocking.rows.len(), 20);
}
