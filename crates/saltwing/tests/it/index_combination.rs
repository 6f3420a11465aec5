//! Reads by several indexes: the union of an OR, and the intersection of an AND.

use proptest::prelude::*;
use saltwing::blocking::Connection;
use saltwing::{Page, Row, params};

use crate::index_access::{analyzed, memory, run};
use crate::{code, texts};

fn keys_read(object: &serde_json::Value) -> u64 {
    object["keys_read"].as_u64().unwrap()
}

/// `rows` rows, of which a tenth has each value of `a`, and a seventh each of `b`.
fn tenths_and_sevenths(rows: i64) -> Connection {
    let connection = memory();
    run(
        &connection,
        &[
            "CREATE TABLE t (id BIGINT PRIMARY KEY, a INTEGER, b INTEGER, note VARCHAR) SALT_BUCKETS = 4",
            "CREATE INDEX by_a ON t (a)",
            "CREATE INDEX by_b ON t (b)",
        ],
    );
    let mut appender = connection.appender("t").unwrap();
    (0..rows).for_each(|id| appender.append_row(params![id, id % 10, id % 7, "n"]).unwrap());
    appender.close().unwrap();
    connection
}

#[test]
fn an_intersection_fetches_the_rows_that_both_indexes_name() {
    let connection = tenths_and_sevenths(700);
    let access = analyzed(&connection, "SELECT note FROM t WHERE a = 3 AND b = 5");
    let read = [&access, &access["intersected"][0], &access["fetched"]].map(keys_read);
    assert_eq!(read, [70, 100, 10], "{access:#}");
    // A query that stops early does not read another index to its end.
    let limited = analyzed(&connection, "SELECT note FROM t WHERE a = 3 AND b = 5 LIMIT 1");
    assert_eq!(limited.get("intersected"), None, "{limited:#}");
    // Entries that have all columns need no other index.
    let covered = analyzed(&connection, "SELECT id FROM t WHERE a = 3");
    assert_eq!((covered.get("intersected"), covered.get("fetched")), (None, None), "{covered:#}");
}

/// The other index has far more entries than there are rows to fetch: it is given up.
#[test]
fn an_index_of_far_more_entries_is_given_up() {
    let connection = memory();
    run(
        &connection,
        &[
            "CREATE TABLE t (id BIGINT PRIMARY KEY, a INTEGER, b INTEGER, note VARCHAR)",
            "CREATE INDEX by_a ON t (a)",
            "CREATE INDEX by_b ON t (b)",
        ],
    );
    let mut appender = connection.appender("t").unwrap();
    (0..5000).for_each(|id| appender.append_row(params![id, i64::from(id < 20), id % 2, "n"]).unwrap());
    appender.close().unwrap();
    let access = analyzed(&connection, "SELECT note FROM t WHERE a = 1 AND b = 1");
    let read = [&access, &access["intersected"][0], &access["fetched"]].map(keys_read);
    assert_eq!(read, [20, 1025, 20], "{access:#}");
    assert_eq!(texts(&connection, "SELECT id FROM t WHERE a = 1 AND b = 1").unwrap().len(), 10);
}

#[test]
fn a_union_reads_the_rows_of_each_alternative() {
    let connection = tenths_and_sevenths(700);
    let sql = "SELECT note FROM t WHERE a = 3 OR b = 5 OR id = 1";
    let access = analyzed(&connection, sql);
    let parts: Vec<u64> = access["union"].as_array().unwrap().iter().map(keys_read).collect();
    assert_eq!((access["kind"].as_str(), keys_read(&access), parts), (Some("union"), 171, vec![70, 100, 1]));
    assert_eq!(texts(&connection, sql).unwrap().len(), 161);
    assert_eq!(texts(&connection, "SELECT COUNT(*), SUM(id) FROM t WHERE a = 3 OR b = 5").unwrap().len(), 1);
    // Rows come until there are enough.
    let limited = analyzed(&connection, "SELECT note FROM t WHERE a = 3 OR b = 5 LIMIT 5");
    assert_eq!((keys_read(&limited), keys_read(&limited["union"][1])), (5, 0), "{limited:#}");
    assert_eq!(texts(&connection, "SELECT id FROM t WHERE a = 3 OR b = 5 LIMIT 5 OFFSET 158").unwrap().len(), 2);
}

#[test]
fn distinct_values_of_an_index_are_jumped_to() {
    let connection = tenths_and_sevenths(7000);
    let access = analyzed(&connection, "SELECT DISTINCT a FROM t WHERE a >= 2 AND a < 5");
    assert_eq!(access["index"], "by_a");
    // 4 buckets of entries, merged: 300 entries each.
    assert!(keys_read(&access) <= 40, "{access:#}");
    assert_eq!(texts(&connection, "SELECT DISTINCT a FROM t WHERE a >= 2 AND a < 5").unwrap(), ["2", "3", "4"]);
    let sql = "SELECT DISTINCT b FROM t ORDER BY b DESC";
    assert_eq!(code(connection.query(sql, ())), "full_scan_refused");
    let all = "SELECT /*+ FULL_SCAN(t) */ DISTINCT b FROM t ORDER BY b DESC";
    let access = analyzed(&connection, all);
    assert!(access["index"] == "by_b" && keys_read(&access) <= 80, "{access:#}");
    assert_eq!(texts(&connection, all).unwrap(), ["6", "5", "4", "3", "2", "1", "0"]);
    let count = "SELECT /*+ FULL_SCAN(t) */ COUNT(DISTINCT b) FROM t";
    assert!(keys_read(&analyzed(&connection, count)) <= 80);
    assert_eq!(texts(&connection, count).unwrap(), ["7"]);
    // Rows are checked for a column that entries do not have: they are read.
    let fetched = analyzed(&connection, "SELECT DISTINCT a FROM t WHERE a >= 2 AND note = 'n'");
    assert!(fetched.get("fetched").is_some(), "{fetched:#}");
}

#[test]
fn a_refusal_names_the_indexes_of_all_alternatives() {
    let connection = memory();
    run(&connection, &["CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER, b INTEGER)"]);
    let sql = "SELECT * FROM t WHERE a = 1 OR b = 2";
    let error = connection.query(sql, ()).err().unwrap();
    let help = error.help().unwrap().to_owned();
    let wanted = "or create indexes that bound it together: CREATE INDEX t_a ON t (a); CREATE INDEX t_b ON t (b)";
    assert!(help.contains(wanted), "{help}");
    run(&connection, &["CREATE INDEX t_a ON t (a)"]);
    assert_eq!(code(connection.query(sql, ())), "full_scan_refused");
    run(&connection, &["CREATE INDEX t_b ON t (b)"]);
    assert_eq!(code(connection.query(sql, ())), "ok");
    assert_eq!(
        code(connection.query("SELECT /*+ NO_INDEX(t) */ * FROM t WHERE a = 1 OR b = 2", ())),
        "full_scan_refused"
    );
}

#[test]
fn parameters_give_each_run_its_keys() {
    let connection = tenths_and_sevenths(700);
    let count = |sql: &str, a: i64, b: i64| -> i64 {
        let statement = connection.prepare(sql).unwrap();
        // The second run is of the same plan.
        let runs = [(a, b), (b, a), (a, b)];
        let counts = runs.map(|(a, b)| statement.query_one::<(i64,)>(params![a, b]).unwrap().0);
        assert_eq!(counts[0], counts[2]);
        counts[0]
    };
    assert_eq!(count("SELECT COUNT(*) FROM t WHERE a = ? OR b = ?", 3, 5), 160);
    assert_eq!(count("SELECT COUNT(*) FROM t WHERE note = 'n' AND a = ? AND b = ?", 3, 5), 10);
    assert_eq!(count("SELECT COUNT(DISTINCT a) FROM t WHERE a >= ? AND a <= ?", 3, 5), 3);
}

#[test]
fn statements_that_write_find_their_rows_by_unions() {
    let connection = tenths_and_sevenths(700);
    let changed = connection.execute("UPDATE t SET a = 100 WHERE a = 3 OR b = 5", ()).unwrap();
    assert_eq!(changed.rows_affected, 160);
    assert_eq!(texts(&connection, "SELECT COUNT(*) FROM t WHERE a = 100").unwrap(), ["160"]);
    let deleted = connection.execute("DELETE FROM t WHERE a = 100 OR b = 5", ()).unwrap();
    assert_eq!(deleted.rows_affected, 160);
    assert_eq!(texts(&connection, "SELECT COUNT(*) FROM t WHERE b >= 0").unwrap(), ["540"]);
}

/// NULL, '' and other texts come where the statement wants them, page for page.
#[test]
fn pages_follow_the_order_of_a_column_that_may_be_null() {
    let connection = memory();
    run(
        &connection,
        &[
            "CREATE TABLE m (u INTEGER NOT NULL, id INTEGER NOT NULL, s VARCHAR, n INTEGER, PRIMARY KEY (u, id)) SALT_BUCKETS = 3",
            "CREATE INDEX by_s ON m (u, s DESC)",
            "CREATE INDEX by_n ON m (u, n)",
        ],
    );
    for id in 0..40 {
        let text = [None, Some(""), Some("a"), Some("b"), Some("ab")][id % 5];
        let number = (id % 3 > 0).then_some((id % 7) as i64);
        connection
            .execute("UPSERT INTO m VALUES (?, ?, ?, ?)", params![id as i64 / 30, id as i64, text, number])
            .unwrap();
    }
    for order in ["s", "s DESC", "s NULLS LAST", "s DESC NULLS LAST", "n", "n DESC NULLS LAST", "n NULLS LAST"] {
        let column = &order[..1];
        let sql = format!("SELECT {column}, id FROM m WHERE u = 0 ORDER BY {order}");
        let (mut token, mut paged) = (None::<String>, Vec::new());
        loop {
            let page: Page<Row> = connection.query_page(&format!("{sql} LIMIT 4"), (), token.as_deref()).unwrap();
            paged.extend(page.rows.iter().map(|row| {
                row.get::<Option<String>>(0)
                    .unwrap_or_else(|_| row.get::<Option<i64>>(0).unwrap().map(|n| n.to_string()))
            }));
            token = page.next;
            if token.is_none() {
                break;
            }
        }
        let rows = texts(&connection, &format!("SELECT {column} FROM m WHERE u = 0")).unwrap();
        let mut wanted: Vec<Option<String>> = rows.into_iter().map(|text| (text != "NULL").then_some(text)).collect();
        wanted.sort_by(|a, b| if order.contains("DESC") { b.cmp(a) } else { a.cmp(b) });
        let nulls_last = order.contains("LAST");
        wanted.sort_by_key(|value| value.is_none() == nulls_last);
        assert_eq!(paged, wanted, "{order}");
    }
}

/// A condition over three columns, of which two or three have an index.
fn condition() -> impl Strategy<Value = String> {
    let column = prop::sample::select(vec!["a", "b", "c", "k"]);
    let leaf = (column, 0..6u8, 0..4i32).prop_map(|(column, form, value)| match form {
        0 | 1 => format!("{column} = {value}"),
        2 => format!("{column} > {value}"),
        3 => format!("{column} IN ({value}, {})", value + 1),
        4 => format!("{column} IS NULL"),
        _ => format!("{column} <> {value}"),
    });
    leaf.prop_recursive(3, 12, 3, |inner| {
        (any::<bool>(), prop::collection::vec(inner, 2..4))
            .prop_map(|(all, list)| format!("({})", list.join(if all { " AND " } else { " OR " })))
    })
}

fn sorted(connection: &Connection, sql: &str) -> Vec<String> {
    let mut rows = texts(connection, sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    rows.sort();
    rows
}

/// All rows of a query, read in pages of three.
fn in_pages(connection: &Connection, sql: &str) -> Vec<i64> {
    let (mut token, mut found) = (None::<String>, Vec::new());
    loop {
        let page: Page<Row> = connection.query_page(sql, (), token.as_deref()).unwrap();
        found.extend(page.rows.iter().map(|row| row.get::<i64>(0).unwrap()));
        token = page.next;
        if token.is_none() {
            found.sort_unstable();
            return found;
        }
    }
}

proptest! {
    /// Whatever keys are read, the rows are those of the table.
    #[test]
    fn keys_do_not_change_the_rows(
        rows in prop::collection::vec((0..4i32, prop::option::of(0..4i32), prop::option::of(0..4i32)), 0..40),
        conditions in prop::collection::vec(condition(), 1..6),
        local in any::<bool>(),
        salted in any::<bool>(),
    ) {
        let connection = memory();
        let salt = if salted { "SALT_BUCKETS = 3" } else { "SALT_BUCKETS = 0" };
        run(&connection, &[&format!("CREATE TABLE t (k INTEGER, n INTEGER, a INTEGER, b INTEGER, c INTEGER, PRIMARY KEY (k, n)) {salt}")]);
        let kind = if local { "LOCAL " } else { "" };
        run(&connection, &[&format!("CREATE {kind}INDEX by_a ON t (a)"), "CREATE INDEX by_b ON t (b DESC) INCLUDE (a)", "CREATE INDEX by_c ON t (c)"]);
        for (n, (k, a, b)) in rows.iter().enumerate() {
            connection.execute("UPSERT INTO t VALUES (?, ?, ?, ?, ?)", params![*k, n as i64, *a, *b, (n % 4) as i64]).unwrap();
        }
        for condition in conditions {
            let table = sorted(&connection, &format!("SELECT /*+ NO_INDEX(t) FULL_SCAN(t) */ n, k, a, b FROM t WHERE {condition}"));
            let keys = sorted(&connection, &format!("SELECT /*+ FULL_SCAN(t) */ n, k, a, b FROM t WHERE {condition}"));
            prop_assert_eq!(&table, &keys, "{}", condition);
            let count = texts(&connection, &format!("SELECT /*+ FULL_SCAN(t) */ COUNT(*) FROM t WHERE {condition}")).unwrap();
            prop_assert_eq!(count, [table.len().to_string()], "{}", condition);
            for grouped in ["DISTINCT a", "DISTINCT b, a", "DISTINCT b", "COUNT(DISTINCT b)", "COUNT(DISTINCT a)", "MIN(a)", "MAX(b)"] {
                let [table, keys] = ["NO_INDEX(t) FULL_SCAN(t)", "FULL_SCAN(t)"].map(|hints| {
                    sorted(&connection, &format!("SELECT /*+ {hints} */ {grouped} FROM t WHERE {condition}"))
                });
                prop_assert_eq!(table, keys, "{} of {}", grouped, condition);
            }
            let limited = sorted(&connection, &format!("SELECT /*+ FULL_SCAN(t) */ n, k, a, b FROM t WHERE {condition} LIMIT 3"));
            prop_assert!(limited.len() == table.len().min(3) && limited.iter().all(|row| table.contains(row)), "{}", condition);
            let paged = in_pages(&connection, &format!("SELECT /*+ FULL_SCAN(t) */ n FROM t WHERE {condition} LIMIT 3"));
            let mut numbers: Vec<i64> = table.iter().filter_map(|row| row.split('|').next()?.parse().ok()).collect();
            numbers.sort_unstable();
            prop_assert_eq!(paged, numbers, "{}", condition);
        }
    }
}
