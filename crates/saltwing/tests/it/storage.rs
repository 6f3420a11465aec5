//! SHOW STORAGE and COMPACT.

use saltwing::blocking::Connection;
use saltwing::{Builder, Database, SqlType, params};

use crate::{code, texts};

const COLUMNS: &str = "table_schema, table_name, delta_rows, delta_bytes, block_count, block_rows, block_raw_bytes, \
    run_count, run_rows, run_raw_bytes, written_rows, written_bytes, merge_step_count, merged_rows, merged_bytes, write_amplification_ratio, \
    cache_hit_count, cache_miss_count, merge_count, merge_wait_count, merge_wait_max_us, checkpoint_count, checkpoint_max_us, \
    cache_bytes, cache_bytes_max, last_failure, damage";

fn filled() -> Database {
    let database = Database::memory().unwrap();
    let connection = database.connect().blocking();
    connection.execute("CREATE TABLE t (k BIGINT NOT NULL PRIMARY KEY, v VARCHAR)", ()).unwrap();
    connection.execute("CREATE TABLE s.u (k BIGINT NOT NULL PRIMARY KEY)", ()).unwrap();
    let values: Vec<String> = (0..1000).map(|k| format!("({k}, 'v{k}')")).collect();
    connection.execute(&format!("UPSERT INTO t VALUES {}", values.join(", ")), ()).unwrap();
    connection.execute("UPSERT INTO s.u VALUES (1)", ()).unwrap();
    database
}

/// The numbers of a row, by column; NULL is -1.
pub(crate) fn numbers(connection: &Connection, sql: &str, row: usize) -> Vec<(String, f64)> {
    let mut rows = connection.query(sql, ()).unwrap();
    let labels: Vec<String> = rows.columns().iter().map(|column| column.label.clone()).collect();
    let row = rows.nth(row).unwrap().unwrap();
    let number = |i: usize| match row.columns()[i].ty {
        SqlType::Double => row.get::<Option<f64>>(i).unwrap(),
        SqlType::Varchar(_) => None,
        _ => row.get::<Option<i64>>(i).unwrap().map(|n| n as f64),
    };
    (2..labels.len()).map(|i| (labels[i].clone(), number(i).unwrap_or(-1.0))).collect()
}

fn number(of: &[(String, f64)], name: &str) -> f64 {
    of.iter().find(|(label, _)| label == name).unwrap().1
}

#[test]
fn compact_is_for_the_entries_of_indexes_too() {
    let connection = filled().connect().blocking();
    connection.execute("CREATE INDEX by_v ON t (v)", ()).unwrap();
    connection.execute("COMPACT t", ()).unwrap();
    for v in ["a", "b", "c"] {
        connection.execute("UPSERT INTO t (k, v) VALUES (5, ?)", params![v]).unwrap();
    }
    let storage = |index: usize| {
        let of = numbers(&connection, "SHOW STORAGE FOR t", index);
        ["delta_rows", "block_rows", "run_rows"].map(|name| number(&of, name))
    };
    assert_eq!([storage(0), storage(1)], [[1.0, 1000.0, 0.0], [4.0, 1000.0, 0.0]]);
    connection.execute("COMPACT t", ()).unwrap();
    assert_eq!([storage(0), storage(1)], [[0.0, 1000.0, 0.0]; 2]);
}

#[test]
fn storage_has_a_row_a_table_and_a_total() {
    let connection = filled().connect().blocking();
    let rows = connection.query("SHOW STORAGE", ()).unwrap();
    let labels: Vec<&str> = rows.columns().iter().map(|column| column.label.as_str()).collect();
    assert_eq!(labels.join(", "), COLUMNS);
    drop(rows);
    let names: Vec<String> = texts(&connection, "SHOW STORAGE")
        .unwrap()
        .iter()
        .map(|row| row.split('|').take(2).collect::<Vec<_>>().join("|"))
        .collect();
    assert_eq!(names, ["NULL|t", "s|u", "NULL|NULL"]);
    let before = numbers(&connection, "SHOW STORAGE FOR t", 0);
    assert_eq!((number(&before, "written_rows"), number(&before, "merge_count")), (1000.0, -1.0));
    connection.execute("COMPACT t", ()).unwrap();
    let after = numbers(&connection, "SHOW STORAGE FOR t", 0);
    let of_t: Vec<f64> = ["delta_rows", "delta_bytes", "block_rows"].map(|name| number(&after, name)).to_vec();
    assert_eq!(of_t, [0.0, 0.0, 1000.0]);
    assert!(number(&after, "merged_rows") >= 1000.0 && number(&after, "block_count") >= 4.0);
    assert!(number(&after, "write_amplification_ratio") > 1.0);
    // A merge takes the rows of all tables along.
    let (one, total) = (numbers(&connection, "SHOW STORAGE", 1), numbers(&connection, "SHOW STORAGE", 2));
    assert_eq!(number(&one, "block_rows"), 1.0);
    for name in ["block_rows", "written_rows", "written_bytes", "merged_bytes", "cache_hit_count"] {
        assert_eq!(number(&total, name), number(&after, name) + number(&one, name), "{name}");
    }
    assert!(number(&total, "merge_count") >= 1.0 && number(&total, "cache_bytes_max") > 0.0);
}

#[test]
fn reading_blocks_again_finds_them_in_memory() {
    let connection = filled().connect().blocking();
    connection.execute("COMPACT t", ()).unwrap();
    let read = || drop(texts(&connection, "SELECT v FROM t WHERE k = 500").unwrap());
    let counted = |name| number(&numbers(&connection, "SHOW STORAGE FOR t", 0), name);
    read();
    // Blocks that were just written are there already; what is not is read once.
    let (hits, misses) = (counted("cache_hit_count"), counted("cache_miss_count"));
    assert!(hits + misses > 0.0);
    read();
    // With a cache of a few bytes the parts may be gone already.
    assert!(counted("cache_hit_count") > hits || counted("cache_miss_count") > misses);
}

#[test]
fn a_compaction_says_what_is_wrong() {
    let connection = filled().connect().blocking();
    assert_eq!(code(connection.execute("COMPACT nothing", ())), "no_such_table");
    assert_eq!(code(connection.execute("COMPACT t, t", ())), "ok");
    assert_eq!(code(connection.prepare("COMPACT t").and_then(|statement| statement.execute(()))), "ok");
    assert_eq!(code(connection.execute("COMPACT t", params![1])), "bad_parameter");
}

/// Cancelling while another holds the merge lock, or between steps, ends it; the rows are all there.
#[tokio::test]
async fn a_dropped_compaction_leaves_everything_in_place() {
    let connection = filled().connect();
    for _ in 0..5 {
        let compaction = connection.execute("COMPACT t", ());
        let _ = tokio::time::timeout(std::time::Duration::from_micros(50), compaction).await;
    }
    let mut rows = connection.query("SELECT count(*) FROM t WHERE k >= 0", ()).await.unwrap();
    assert_eq!(rows.next().await.unwrap().unwrap().get::<i64>(0).unwrap(), 1000);
}

/// A table in memory, and rows in it that are a commit each.
fn committed(builder: Builder, rows: i64) -> Database {
    let database = builder.open().unwrap();
    let connection = database.connect().blocking();
    connection.execute("CREATE TABLE t (k BIGINT NOT NULL PRIMARY KEY, v BIGINT)", ()).unwrap();
    let upsert = connection.prepare("UPSERT INTO t VALUES (?, ?)").unwrap();
    (0..rows).for_each(|k| drop(upsert.execute(params![k, k]).unwrap()));
    database
}

#[test]
fn the_builder_says_how_many_rows_are_recent_and_how_much_memory_blocks_take() {
    let builder = || Database::memory_builder().merge_when_idle(None).block_cache_bytes(123_456);
    let connection = committed(builder().delta_limits(1 << 20, 1 << 30), 100).connect().blocking();
    let all = numbers(&connection, "SHOW STORAGE FOR t", 0);
    assert_eq!((number(&all, "delta_rows"), number(&all, "block_rows")), (100.0, 0.0));
    assert_eq!(number(&numbers(&connection, "SHOW STORAGE", 1), "cache_bytes_max"), 123_456.0);
    // Writers wait at twice the limit, so not all of them can be recent.
    let connection = committed(builder().delta_limits(10, 1 << 30).merge_threads(2), 100).connect().blocking();
    assert!(number(&numbers(&connection, "SHOW STORAGE FOR t", 0), "block_rows") > 0.0);
    let total = numbers(&connection, "SHOW STORAGE", 1);
    assert_eq!(number(&total, "merge_wait_count") > 0.0, number(&total, "merge_wait_max_us") > 0.0);
    assert_eq!(number(&total, "checkpoint_count"), 0.0, "a store in memory has no log");
}

/// What a table's options say of its blocks, when it is made and later, is what COMPACT makes of them.
#[test]
fn blocks_are_as_large_as_options_say() {
    let connection = filled().connect().blocking();
    let blocks = || {
        connection.execute("COMPACT t", ()).unwrap();
        let stored = numbers(&connection, "SHOW STORAGE FOR t", 0);
        assert_eq!(number(&stored, "block_rows"), 1000.0);
        number(&stored, "block_count")
    };
    // At most as large, and at least half as large.
    for rows in [100, 10, 40] {
        connection.execute(&format!("ALTER TABLE t SET BLOCK_ROWS = {rows}, BLOCK_BYTES = 1000000"), ()).unwrap();
        let (least, blocks) = (f64::from(1000 / rows), blocks());
        assert!((least..=2.0 * least).contains(&blocks), "{blocks} blocks of {rows} rows");
    }
    connection.execute("ALTER TABLE t SET BLOCK_BYTES = 1", ()).unwrap();
    assert_eq!(blocks(), 1000.0);
    let sql = "CREATE TABLE made (k BIGINT NOT NULL PRIMARY KEY) BLOCK_ROWS = 250, BLOCK_BYTES = 1000000";
    connection.execute(sql, ()).unwrap();
    connection.execute("UPSERT INTO made SELECT k FROM t WHERE k >= 0", ()).unwrap();
    connection.execute("COMPACT made", ()).unwrap();
    assert_eq!(number(&numbers(&connection, "SHOW STORAGE FOR made", 0), "block_count"), 4.0);
}

/// What a query gives, and numbers that EXPLAIN ANALYZE tells of its one access.
fn explained<const N: usize>(connection: &Connection, sql: &str, names: [&str; N]) -> (Vec<String>, [u64; N]) {
    let found = texts(connection, sql).unwrap();
    let text = texts(connection, &format!("EXPLAIN ANALYZE (FORMAT JSON) {sql}")).unwrap().concat();
    let explained: serde_json::Value = serde_json::from_str(&text).unwrap();
    (found, names.map(|name| explained["accesses"][0][name].as_u64().unwrap()))
}

/// Rows of whole blocks are counted without a value being read; a page behind others takes those, either way, and no more.
#[test]
fn counts_read_no_values_and_pages_no_more_than_themselves() {
    let connection = filled().connect().blocking();
    connection.execute("COMPACT t", ()).unwrap();
    let sql = "SELECT COUNT(*) FROM t WHERE k >= 100 AND k < 900";
    assert_eq!(explained(&connection, sql, ["keys_read", "bytes_read"]), (vec!["800".to_owned()], [800, 0]));
    for (order, k) in [("ASC", "600"), ("DESC", "399")] {
        let sql = format!("SELECT k, v FROM t WHERE k >= 100 AND k < 900 ORDER BY k {order} LIMIT 1 OFFSET 500");
        assert_eq!(explained(&connection, &sql, ["keys_read"]), (vec![format!("{k}|v{k}")], [501]), "{sql}");
    }
}

/// What is known of blocks rules them out, by either executor; their rows count as read.
#[test]
fn blocks_that_a_filter_rules_out_are_not_read() {
    let connection = Database::memory().unwrap().connect().blocking();
    let sql = "CREATE TABLE t (k BIGINT NOT NULL PRIMARY KEY, n INTEGER, x DOUBLE, v VARCHAR) BLOCK_ROWS = 10";
    connection.execute(sql, ()).unwrap();
    let values: Vec<String> = (0..1000).map(|k| format!("({k}, {}, {k}e-1, 'v{k:04}')", 2 * k)).collect();
    connection.execute(&format!("UPSERT INTO t VALUES {}", values.join(", ")), ()).unwrap();
    connection.execute("COMPACT t", ()).unwrap();
    let blocks = number(&numbers(&connection, "SHOW STORAGE FOR t", 0), "block_count") as u64;
    let executors: &[&str] = if cfg!(feature = "datafusion") { &["direct", "datafusion"] } else { &["direct"] };
    for executor in executors {
        connection.execute(&format!("SET executor = '{executor}'"), ()).unwrap();
        // Blocks have 5 to 10 rows.
        for (filter, rows, read_max) in [
            ("n >= 1900", 50, 11),
            ("n = 1000", 1, 1),
            ("n = 1001", 0, 1),
            ("n < 0", 0, 0),
            ("x BETWEEN 20 AND 20.5", 6, 3),
            ("v > 'v0989'", 10, 3),
            ("n <> 3 AND v = 'v0500'", 1, 1),
            ("n IS NULL", 0, 0),
            ("n IN (10, 20, 5000)", 2, 2),
        ] {
            let sql = format!("SELECT k FROM t WHERE k >= 0 AND {filter}");
            let (found, [keys, read, skipped]) =
                explained(&connection, &sql, ["keys_read", "blocks_read", "blocks_skipped"]);
            assert_eq!((found.len(), keys, read + skipped), (rows, 1000, blocks), "{executor}: {sql}");
            assert!(read <= read_max, "{executor}: {read} blocks for {sql}");
        }
    }
}

/// Of blocks that lie in a range as a whole the directory tells the rows and the sums: they are not read, and do not count as read.
#[test]
fn blocks_that_the_directory_answers_for_are_not_read() {
    let connection = Database::memory().unwrap().connect().blocking();
    connection.execute("CREATE TABLE t (k BIGINT NOT NULL PRIMARY KEY, n INTEGER) BLOCK_ROWS = 10", ()).unwrap();
    let values: Vec<String> = (0..1000).map(|k| format!("({k}, {})", 2 * k)).collect();
    connection.execute(&format!("UPSERT INTO t VALUES {}", values.join(", ")), ()).unwrap();
    connection.execute("COMPACT t", ()).unwrap();
    let blocks = number(&numbers(&connection, "SHOW STORAGE FOR t", 0), "block_count") as u64;
    for (sql, found, read) in [
        ("SELECT /*+ FULL_SCAN */ COUNT(*) FROM t", "1000", 0),
        ("SELECT /*+ FULL_SCAN */ SUM(n) FROM t", "999000", 0),
        // Of the first block keys are read: what comes before them is not known.
        ("SELECT COUNT(*) FROM t WHERE k >= 0", "1000", 1),
        ("SELECT COUNT(n) FROM t WHERE k >= 0 AND k <= 999", "1000", 1),
        ("SELECT SUM(n) FROM t WHERE k >= 0", "999000", 1),
        ("SELECT COUNT(*) FROM t WHERE k >= 1 AND k < 999", "998", 2),
        ("SELECT SUM(n) FROM t WHERE k >= 1 AND k < 999", "997002", 2),
        ("SELECT COUNT(*) FROM t WHERE k >= 0 AND n + 0 >= 0", "1000", blocks),
        ("SELECT MAX(n) FROM t WHERE k >= 0", "1998", blocks),
        ("SELECT n FROM t WHERE k = 500", "1000", 1),
    ] {
        assert_eq!(explained(&connection, sql, ["blocks_read"]), (vec![found.to_owned()], [read]), "{sql}");
    }
}

#[test]
fn a_prepared_statement_gives_arrow() {
    let connection = filled().connect().blocking();
    let statement = connection.prepare("SELECT v, k FROM t WHERE k >= ? ORDER BY k").unwrap();
    let mut batches = statement.query_arrow(params![998]).unwrap();
    let mut rows = 0;
    while let Some(batch) = batches.next_blocking().unwrap() {
        assert_eq!(batch.schema(), *batches.schema());
        rows += batch.num_rows();
    }
    assert_eq!(rows, 2);
}
