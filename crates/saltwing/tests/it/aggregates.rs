//! What aggregates on the direct path read, and what they answer.

use saltwing::blocking::Connection;
use saltwing::{Database, SqlType, Stats};

use crate::{code, texts};

/// A thousand rows: ten values in each of three key columns.
fn thousand(salt: &str) -> Connection {
    let connection = Database::memory().unwrap().connect().blocking();
    let table = format!(
        "CREATE TABLE t (a VARCHAR NOT NULL, b INTEGER NOT NULL, c INTEGER NOT NULL, v INTEGER, s VARCHAR, CONSTRAINT pk PRIMARY KEY (a, b DESC, c)) {salt}"
    );
    connection.execute(&table, ()).unwrap();
    let row = |i: usize| format!("('a{}', {}, {}, {i}, 's{}')", i / 100, i / 10 % 10, i % 10, i % 7);
    let rows: Vec<String> = (0..1000).map(row).collect();
    connection.execute(&format!("UPSERT INTO t VALUES {}", rows.join(", ")), ()).unwrap();
    connection.execute("SET executor = 'direct'", ()).unwrap();
    connection
}

/// The rows of a query, and what was read for them.
fn read(connection: &Connection, sql: &str) -> (Vec<String>, Stats) {
    let mut rows = connection.query(sql, ()).unwrap();
    let mut texts = Vec::new();
    for row in &mut rows {
        let row = row.unwrap();
        let values = (0..row.columns().len()).map(|i| row.get::<Option<String>>(i).unwrap());
        texts.push(values.map(|value| value.unwrap_or_else(|| "NULL".into())).collect::<Vec<_>>().join("|"));
    }
    (texts, rows.stats())
}

#[track_caller]
fn assert_reads(connection: &Connection, sql: &str, rows: &[&str], (keys_read, seeks): (u64, u64)) {
    let (found, stats) = read(connection, sql);
    assert_eq!(found, rows, "{sql}");
    assert!(stats.keys_read <= keys_read && stats.seeks <= seeks, "{sql}: {stats:?}, above {keys_read} and {seeks}");
}

#[test]
fn min_and_max_of_the_first_open_key_column_seek_once_a_bucket() {
    let t = thousand("");
    assert_reads(&t, "SELECT MIN(a), MAX(a) FROM t", &["a0|a9"], (2, 2));
    assert_reads(&t, "SELECT MIN(b) FROM t WHERE a = 'a3'", &["0"], (1, 1));
    assert_reads(&t, "SELECT MAX(b), MIN(b), MAX(b) + 1 FROM t WHERE a = 'a3'", &["9|0|10"], (3, 3));
    assert_reads(&t, "SELECT MAX(c) FROM t WHERE a = 'a3' AND b = 5 AND c < 4", &["3"], (1, 1));
    assert_reads(&t, "SELECT MIN(a) FROM t WHERE a > 'a3'", &["a4"], (1, 1));
    assert_reads(&t, "SELECT MIN(a) FROM t WHERE a > 'a9'", &["NULL"], (0, 1));
    // A condition on rows: read on until one meets it.
    assert_reads(&t, "SELECT MAX(a) FROM t WHERE a >= 'a' AND v % 100 = 42", &["a9"], (127, 1));
    let salted = thousand("SALT_BUCKETS = 4");
    assert_reads(&salted, "SELECT MIN(a), MAX(a) FROM t", &["a0|a9"], (8, 8));
    assert_reads(&salted, "SELECT MAX(b) FROM t WHERE a = 'a3'", &["9"], (4, 4));
    assert_eq!(code(texts(&t, "SELECT MIN(b) FROM t")), "full_scan_refused");
}

#[test]
fn distinct_key_prefixes_are_jumped_to() {
    let all = ["a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9"];
    let t = thousand("");
    assert_reads(&t, "SELECT /*+ FULL_SCAN */ DISTINCT a FROM t", &all, (10, 11));
    assert_reads(&t, "SELECT /*+ FULL_SCAN */ COUNT(DISTINCT a) FROM t", &["10"], (10, 11));
    assert_reads(&t, "SELECT /*+ FULL_SCAN */ a FROM t GROUP BY a ORDER BY a DESC LIMIT 2", &["a9", "a8"], (2, 2));
    assert_reads(&t, "SELECT DISTINCT a FROM t WHERE a IN ('a1', 'a3', 'x')", &["a1", "a3"], (2, 3));
    assert_reads(&t, "SELECT COUNT(DISTINCT b) FROM t WHERE a = 'a7'", &["10"], (10, 11));
    assert_reads(&t, "SELECT DISTINCT b, a FROM t WHERE a = 'a7' AND b < 3", &["2|a7", "1|a7", "0|a7"], (3, 4));
    // Of each prefix a row is looked for that meets the condition: the tenth, in batches of 1, 2, 4 and 8.
    assert_reads(&t, "SELECT DISTINCT b FROM t WHERE a = 'a7' AND v % 10 = 9 AND b >= 8", &["9", "8"], (30, 3));
    let salted = thousand("SALT_BUCKETS = 4");
    assert_reads(&salted, "SELECT /*+ FULL_SCAN */ DISTINCT a FROM t ORDER BY a", &all, (40, 44));
    assert_reads(&salted, "SELECT /*+ FULL_SCAN */ COUNT(DISTINCT a) FROM t", &["10"], (40, 44));
    let by_prefix = thousand("SALT_BUCKETS = 4, SALT_BY = (a)");
    assert_reads(&by_prefix, "SELECT /*+ FULL_SCAN */ COUNT(DISTINCT a) FROM t", &["10"], (10, 14));
    assert_eq!(code(texts(&t, "SELECT DISTINCT a FROM t")), "full_scan_refused");
}

/// Where nearly each row begins a prefix, a jump for each would cost more than reading on.
#[test]
fn prefixes_of_few_rows_are_read_without_jumps() {
    let t = Database::memory().unwrap().connect().blocking();
    t.execute("CREATE TABLE t (a INTEGER NOT NULL, b INTEGER NOT NULL, CONSTRAINT pk PRIMARY KEY (a, b))", ()).unwrap();
    let rows: Vec<String> = (0..4000).map(|i| format!("({}, {i})", i / 2)).collect();
    t.execute(&format!("UPSERT INTO t VALUES {}", rows.join(", ")), ()).unwrap();
    assert_reads(&t, "SELECT COUNT(DISTINCT a) FROM t WHERE a >= 0", &["2000"], (4000, 40));
}

#[test]
fn groups_by_a_key_prefix_come_in_order_and_stop_at_a_limit() {
    for salt in ["", "SALT_BUCKETS = 4", "SALT_BUCKETS = 4, SALT_BY = (a)"] {
        let t = thousand(salt);
        let sql = "SELECT a, COUNT(*), SUM(v), MAX(c) FROM t WHERE a >= 'a2' GROUP BY a ORDER BY a LIMIT 1 OFFSET 1";
        assert_reads(&t, sql, &["a3|100|34950|9"], (400, 4));
        let sql = "SELECT b, SUM(v) FROM t WHERE a = 'a1' GROUP BY a, b ORDER BY b LIMIT 1";
        assert_reads(&t, sql, &["0|1045"], (35, 4));
        let sql =
            "SELECT a, b, MIN(c) FROM t WHERE a > 'a1' GROUP BY b, a HAVING MIN(v) > 300 ORDER BY a, b DESC LIMIT 2";
        assert_reads(&t, sql, &["a3|9|0", "a3|8|0"], (255, 4));
        // Against the key's direction in one column: sorted, as groups are few.
        let sql = "SELECT a, b FROM t WHERE a > 'a7' GROUP BY b, a ORDER BY a DESC, b DESC LIMIT 2";
        assert_eq!(texts(&t, sql).unwrap(), ["a9|9", "a9|8"], "{salt}");
        let sql = "SELECT s, COUNT(*) AS n FROM t WHERE a = 'a1' GROUP BY s HAVING n > 14 ORDER BY n DESC, s LIMIT 3";
        assert_eq!(texts(&t, sql).unwrap(), ["s2|15", "s3|15"], "{salt}");
    }
}

#[test]
fn types_and_labels_are_those_of_the_functions() {
    let t = thousand("");
    let rows = t
        .query("SELECT COUNT(*), sum(v) AS Total, AVG(v), AVG(CAST(v AS DECIMAL(5,1))), MIN(s), a FROM t WHERE a = 'a0' GROUP BY a", ())
        .unwrap();
    let columns: Vec<_> = rows.columns().iter().map(|c| (c.label.clone(), c.ty, c.nullable)).collect();
    let expected = [
        ("COUNT(*)", SqlType::BigInt, false),
        ("Total", SqlType::BigInt, true),
        ("AVG(v)", SqlType::Double, true),
        ("AVG(CAST(v AS DECIMAL(5,1)))", SqlType::Decimal(None), true),
        ("MIN(s)", SqlType::Varchar(None), true),
        ("a", SqlType::Varchar(None), false),
    ];
    assert_eq!(columns, expected.map(|(label, ty, nullable)| (label.to_owned(), ty, nullable)));
}

#[test]
fn what_a_filter_leaves_out_is_not_computed() {
    let t = thousand("");
    let sql = "SELECT SUM(10 / c) FILTER (WHERE c > 4), COUNT(*) FROM t WHERE a = 'a1' AND b = 1";
    assert_eq!(texts(&t, sql).unwrap(), ["6|10"]);
}

#[test]
fn groups_beyond_the_memory_are_refused() {
    let database = Database::memory_builder().memory_limit(20_000).open().unwrap();
    let t = database.connect().blocking();
    t.execute("CREATE TABLE t (k INTEGER PRIMARY KEY, v INTEGER)", ()).unwrap();
    let rows: Vec<String> = (0..5000).map(|i| format!("({i}, {i})")).collect();
    t.execute(&format!("UPSERT INTO t VALUES {}", rows.join(", ")), ()).unwrap();
    t.execute("SET executor = 'direct'", ()).unwrap();
    let error = t.query("SELECT v, COUNT(*) FROM t WHERE k >= 0 GROUP BY v", ()).unwrap().next().unwrap().unwrap_err();
    assert_eq!(error.code().as_str(), "out_of_memory");
    assert!(error.help().unwrap().contains("the first key columns"), "{error}");
    assert_eq!(t.query("SELECT v % 5, COUNT(*) FROM t WHERE k >= 0 GROUP BY v % 5", ()).unwrap().count(), 5);
}

#[test]
fn groups_of_a_key_prefix_take_the_memory_of_one() {
    for salt in ["", "SALT_BUCKETS = 4", "SALT_BUCKETS = 4, SALT_BY = (k)"] {
        let t = Database::memory_builder().memory_limit(200_000).open().unwrap().connect().blocking();
        t.execute(
            &format!(
                "CREATE TABLE t (k INTEGER NOT NULL, n INTEGER NOT NULL, CONSTRAINT pk PRIMARY KEY (k, n)) {salt}"
            ),
            (),
        )
        .unwrap();
        let rows: Vec<String> = (0..20_000).map(|i| format!("({}, {i})", i % 10_000)).collect();
        t.execute(&format!("UPSERT INTO t VALUES {}", rows.join(", ")), ()).unwrap();
        t.execute("SET executor = 'direct'", ()).unwrap();
        let groups = texts(&t, "SELECT k, COUNT(*) FROM t WHERE k >= 0 GROUP BY k HAVING SUM(n) % 2 = 0").unwrap();
        assert_eq!(groups.len(), 10_000, "{salt}");
        assert!(groups.iter().all(|group| group.ends_with("|2")), "{salt}");
    }
}
