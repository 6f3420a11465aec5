//! Secondary indexes: what statements read by them, the index that a refusal names, pages, and builds beside writers.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use saltwing::blocking::Connection;
use saltwing::{Database, Page, Row, Stats, params};

use crate::{code, texts};

pub(crate) fn memory() -> Connection {
    Database::memory().unwrap().connect().blocking()
}

pub(crate) fn run(connection: &Connection, statements: &[&str]) {
    for sql in statements {
        connection.execute(sql, ()).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

/// The one access of EXPLAIN ANALYZE.
pub(crate) fn analyzed(connection: &Connection, sql: &str) -> serde_json::Value {
    let text = texts(connection, &format!("EXPLAIN ANALYZE (FORMAT JSON) {sql}")).unwrap().concat();
    let mut object: serde_json::Value = serde_json::from_str(&text).unwrap();
    object["accesses"][0].take()
}

fn counted(object: &serde_json::Value) -> (u64, u64) {
    (object["keys_read"].as_u64().unwrap(), object["seeks"].as_u64().unwrap())
}

/// Rows by a text of 20 values, and by one of 10 values for each.
fn sample() -> Connection {
    let connection = memory();
    run(
        &connection,
        &["CREATE TABLE s (id VARCHAR PRIMARY KEY, q1 VARCHAR, q2 VARCHAR, q3 VARCHAR) SALT_BUCKETS = 100"],
    );
    let mut appender = connection.appender("s").unwrap();
    for number in 0..2000 {
        let [q1, q2, q3] = [number % 20, number / 20 % 10, number % 7].map(|value| format!("{value:02}"));
        appender.append_row(params![format!("id {number}"), q1, q2, q3]).unwrap();
    }
    appender.close().unwrap();
    connection
}

#[test]
fn a_local_index_reads_its_entries_and_their_rows() {
    let connection = sample();
    let sql = "SELECT id, q3 FROM s WHERE q1 = '01' AND q2 = '02'";
    assert_eq!(code(connection.query(sql, ())), "full_scan_refused");
    run(&connection, &["CREATE LOCAL INDEX a ON s (q1, q2)", "CREATE LOCAL INDEX b ON s (q2, q3)"]);
    let access = analyzed(&connection, sql);
    assert_eq!(access["index"], "a");
    assert_eq!((counted(&access), counted(&access["fetched"])), ((10, 100), (10, 10)), "{access:#}");
    assert_eq!(texts(&connection, sql).unwrap().len(), 10);
    // Entries have the key of the table, too.
    let covered = analyzed(&connection, "SELECT id FROM s WHERE q1 = '01' AND q2 = '02'");
    assert_eq!((counted(&covered), covered.get("fetched")), ((10, 100), None), "{covered:#}");
    assert_eq!(analyzed(&connection, "SELECT q1 FROM s WHERE q2 = '02' AND q3 = '03'")["index"], "b");
}

/// A query of one bucket reads this bucket of a local index, and rows of this bucket alone.
#[test]
fn a_bucket_of_rows_is_a_bucket_of_entries() {
    let connection = memory();
    run(
        &connection,
        &[
            "CREATE TABLE e (acct INTEGER NOT NULL, id INTEGER NOT NULL, kind VARCHAR, note VARCHAR, \
             CONSTRAINT pk PRIMARY KEY (acct, id)) SALT_BUCKETS = 16, SALT_BY = (acct)",
            "CREATE LOCAL INDEX k ON e (kind)",
        ],
    );
    for acct in 0..40 {
        for id in 0..5 {
            let kind = if id % 2 == 0 { "x" } else { "y" };
            connection.execute("UPSERT INTO e VALUES (?, ?, ?, 'n')", params![acct, id, kind]).unwrap();
        }
    }
    let access = analyzed(&connection, "SELECT note FROM e WHERE acct = 7 AND kind = 'x' AND id > 0");
    assert_eq!(access["index"], "k");
    assert_eq!((counted(&access), counted(&access["fetched"])), ((2, 1), (2, 2)), "{access:#}");
    // One bucket of entries, and one of rows.
    let mut rows = connection.query("SELECT note FROM e WHERE acct = 7 AND kind = 'x'", ()).unwrap();
    assert_eq!(rows.by_ref().count(), 3);
    assert_eq!(rows.stats().buckets, 2);
}

/// The statement that a refusal prints makes the refused statement legal.
#[test]
fn a_refusal_names_the_index_that_serves() {
    for sql in [
        "SELECT id FROM s WHERE q2 = '02'",
        "SELECT id FROM s WHERE q3 > '04' AND q1 = '01' AND q2 IN ('01', '02')",
        "SELECT id FROM s WHERE UPPER(q2) = '02' AND q1 IS NULL",
        "SELECT id FROM s WHERE q3 LIKE '0%' AND q1 <> '01'",
        "DELETE FROM s WHERE q1 = '01'",
    ] {
        let connection = sample();
        let error = connection.execute(sql, ()).unwrap_err();
        let help = error.help().unwrap().to_owned();
        let create = help.lines().find_map(|line| line.strip_prefix("or create an index that bounds it: "));
        let create = create.unwrap_or_else(|| panic!("{sql}: {help}"));
        run(&connection, &[create, sql]);
    }
    for sql in ["SELECT id FROM s WHERE q1 <> '01'", "SELECT count(*) FROM s", "SELECT id FROM s WHERE q1 = q2"] {
        let error = sample().query(sql, ()).map(drop).unwrap_err();
        assert!(!error.help().unwrap_or_default().contains("CREATE INDEX"), "{sql}: {:?}", error.help());
    }
}

/// A table of flights, and one of planes that may be read whole.
#[cfg(feature = "datafusion")]
fn flights_and_planes() -> Connection {
    let connection = memory();
    run(
        &connection,
        &[
            "CREATE TABLE f (origin VARCHAR NOT NULL, n INTEGER NOT NULL, tail VARCHAR, CONSTRAINT pk PRIMARY KEY (origin, n))",
            "CREATE TABLE p (tail VARCHAR PRIMARY KEY, maker VARCHAR) FULL_SCAN = 'allow'",
            "CREATE TABLE w (origin VARCHAR PRIMARY KEY, rain DOUBLE)",
            "UPSERT INTO f VALUES ('a', 1, 'x'), ('a', 2, 'y'), ('b', 3, 'x')",
            "UPSERT INTO p VALUES ('x', 'm'), ('y', 'o')",
            "UPSERT INTO w VALUES ('a', 1), ('b', 0)",
        ],
    );
    connection
}

/// The advice for a refused join is one that makes it legal.
#[test]
#[cfg(feature = "datafusion")]
fn a_refused_join_names_the_index_by_which_it_looks_rows_up() {
    for sql in [
        "SELECT f.n FROM f JOIN p ON p.tail = f.tail WHERE p.maker = 'm'",
        "SELECT f.n FROM p JOIN f ON p.tail = f.tail WHERE p.maker = 'm'",
        "SELECT p.maker, f.n FROM p LEFT JOIN f ON p.tail = f.tail WHERE p.maker = 'm'",
        "SELECT p.tail FROM p WHERE EXISTS (SELECT 1 FROM f WHERE f.tail = p.tail)",
    ] {
        let connection = flights_and_planes();
        let error = connection.query(sql, ()).map(drop).unwrap_err();
        let help = error.help().unwrap().to_owned();
        let create =
            help.lines().find_map(|line| line.strip_prefix("or create an index by which the join looks its rows up: "));
        let create = create.unwrap_or_else(|| panic!("{sql}: {help}"));
        assert_eq!(create, "CREATE INDEX f_tail ON f (tail)", "{sql}");
        run(&connection, &[create, sql]);
    }
    // An index of f would not help: nothing bounds what its rows would be looked up for.
    let error = flights_and_planes().query("SELECT f.n FROM f JOIN w ON w.rain = f.n", ()).map(drop).unwrap_err();
    assert!(!error.help().unwrap().contains("CREATE INDEX"), "{error:?}");
}

/// Where one of two full scans is enough, the refusal names both.
#[test]
#[cfg(feature = "datafusion")]
fn a_refused_join_names_the_other_table_that_could_be_read_whole() {
    let connection = flights_and_planes();
    let join = "FROM f JOIN w ON w.origin = f.origin WHERE w.rain > 0.1";
    let error = connection.query(&format!("SELECT f.n {join}"), ()).map(drop).unwrap_err();
    let help = error.help().unwrap();
    let line =
        "or read all of w instead (about 2 rows, not 3), for whose rows these are looked up: /*+ FULL_SCAN(w) */";
    assert!(help.lines().any(|found| found == line), "{help}");
    assert!(error.to_string().contains("all of f"), "{error}");
    run(&connection, &[&format!("SELECT /*+ FULL_SCAN(w) */ f.n {join}")]);
}

const USERS: i64 = 3;
const MESSAGES: i64 = 120;

/// Messages by user and day, with an index of senders and one of subjects.
fn inbox() -> Connection {
    let connection = memory();
    run(
        &connection,
        &[
            "CREATE TABLE inbox (user_id BIGINT NOT NULL, sent DATE NOT NULL, message_id BIGINT NOT NULL, \
             attachment_id INTEGER NOT NULL, sender VARCHAR NOT NULL, subject VARCHAR NOT NULL, bytes BIGINT, \
             CONSTRAINT pk PRIMARY KEY (user_id, sent, message_id, attachment_id)) SALT_BUCKETS = 4, SALT_BY = (user_id)",
            "CREATE INDEX by_sender ON inbox (user_id, sender) SALT_BY = (user_id)",
            "CREATE INDEX by_subject ON inbox (user_id, subject DESC) SALT_BY = (user_id)",
        ],
    );
    let mut appender = connection.appender("inbox").unwrap();
    for user in 0..USERS {
        for message in 0..MESSAGES {
            let sent = format!("2024-05-{:02}", message % 28 + 1);
            let (sender, subject) = (format!("s{}", message % 11), format!("subject {:03}", message * 37 % MESSAGES));
            appender.append_row(params![user, sent, message, 0, sender, subject, message]).unwrap();
        }
    }
    appender.close().unwrap();
    connection
}

#[test]
fn pages_follow_the_order_of_an_index() {
    const PAGE: u64 = 7;
    let connection = inbox();
    for (order, column) in [("sender", 0), ("sender DESC", 0), ("subject DESC", 1), ("subject", 1)] {
        let sql = format!("SELECT sender, subject, bytes FROM inbox WHERE user_id = 1 ORDER BY {order} LIMIT {PAGE}");
        let (mut token, mut found, mut bytes) = (None::<String>, Vec::new(), Vec::new());
        loop {
            let page: Page<Row> = connection.query_page(&sql, (), token.as_deref()).unwrap();
            let rows = page.rows.len() as u64;
            // Entries and rows: each page reads its own, in one bucket.
            assert_eq!(page.stats.keys_read, 2 * rows, "{sql}");
            assert_eq!(page.stats, Stats { seeks: page.stats.seeks, buckets: page.stats.buckets, keys_read: 2 * rows });
            found.extend(page.rows.iter().map(|row| row.get::<String>(column).unwrap()));
            bytes.extend(page.rows.iter().map(|row| row.get::<i64>(2).unwrap()));
            token = page.next;
            if token.is_none() {
                break;
            }
        }
        let mut sorted = found.clone();
        sorted.sort();
        if order.ends_with("DESC") {
            sorted.reverse();
        }
        assert_eq!(found, sorted, "{sql}");
        bytes.sort_unstable();
        assert_eq!(bytes, (0..MESSAGES).collect::<Vec<_>>(), "{sql}");
    }
}

/// An index of several chunks is built while four threads write, and has the entries of all rows in the end.
#[test]
fn an_index_is_built_in_chunks_while_others_write() {
    let database = Database::memory_builder().tiny_layout().buffered().open().unwrap();
    let connection = database.connect().blocking();
    run(&connection, &["CREATE TABLE t (k BIGINT PRIMARY KEY, v BIGINT, s VARCHAR) SALT_BUCKETS = 3"]);
    let mut appender = connection.appender("t").unwrap();
    (0..9_000).for_each(|k| appender.append_row(params![k, k % 100, "first"]).unwrap());
    appender.close().unwrap();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (connection, is_over) = (database.connect().blocking(), &is_over);
            scope.spawn(move || {
                let mut number: i64 = thread;
                while !is_over.load(Ordering::Relaxed) {
                    number = (number * 31 + 7) % 9_100;
                    let done = match number % 3 {
                        0 => connection.execute("DELETE FROM t WHERE k = ?", params![number]),
                        1 => connection.execute("UPSERT INTO t VALUES (?, ?, 'new')", params![number, number % 90]),
                        _ => connection.execute("UPSERT INTO t (k, v) VALUES (?, 7)", params![number]),
                    };
                    // Another one was first, or the definition changed between the snapshot and the commit.
                    assert!(done.is_ok() || code(done) == "conflict");
                }
            });
        }
        run(&connection, &["CREATE INDEX i ON t (v) INCLUDE (s)", "CREATE LOCAL INDEX l ON t (s, v)"]);
        run(&connection, &["ALTER INDEX i ON t REBUILD"]);
        is_over.store(true, Ordering::Relaxed);
    });
    let report = database.check().unwrap();
    assert!(report.faults.is_empty(), "{:?}", report.faults);
    let by = |hint: &str| texts(&connection, &format!("SELECT {hint} k, s FROM t WHERE v = 7")).unwrap();
    run(&connection, &["SET full_scan = 'allow'"]);
    let [mut by_index, mut by_rows] = [by("/*+ INDEX(t i) */"), by("/*+ NO_INDEX(t) */")];
    by_index.sort();
    by_rows.sort();
    assert_eq!(by_index, by_rows);
}

fn state(connection: &Connection) -> String {
    let rows = connection.query("SHOW INDEXES", ()).unwrap();
    let states: Vec<String> = rows.map(|row| row.unwrap().get::<String>("state").unwrap()).collect();
    states.join(" ")
}

/// A build that ends with the process goes on when the database is opened again.
#[test]
#[cfg(feature = "redb")]
fn a_build_goes_on_behind_another_opening() {
    let directory = tempfile::tempdir().unwrap();
    let open = || Database::builder(directory.path()).buffered().open().unwrap();
    let database = open();
    let connection = database.connect().blocking();
    run(&connection, &["CREATE TABLE t (k BIGINT PRIMARY KEY, v BIGINT)"]);
    let mut appender = connection.appender("t").unwrap();
    (0..60_000).for_each(|k| appender.append_row(params![k, k % 100]).unwrap());
    appender.close().unwrap();
    loop {
        run(&connection, &["CREATE INDEX i ON t (v) ASYNC"]);
        let refused = code(connection.query("SELECT k FROM t WHERE v = 7", ()));
        if state(&connection) == "building" {
            assert_eq!(refused, "full_scan_refused");
            break;
        }
        // This thread did not run while the index was built.
        run(&connection, &["DROP INDEX i ON t"]);
    }
    drop((connection, database));
    let database = open();
    let connection = database.connect().blocking();
    let began = Instant::now();
    while state(&connection) != "ready" {
        assert!(began.elapsed() < Duration::from_secs(60), "{}", state(&connection));
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(texts(&connection, "SELECT k FROM t WHERE v = 7").unwrap().len(), 600);
    assert!(database.check().unwrap().faults.is_empty());
}

/// '' has the bytes of NULL in an entry, and still comes where it belongs.
#[test]
fn an_empty_text_comes_where_it_belongs() {
    let connection = memory();
    run(
        &connection,
        &[
            "CREATE TABLE d (k INTEGER PRIMARY KEY, b VARCHAR NOT NULL)",
            "CREATE INDEX d_b ON d (b DESC)",
            "UPSERT INTO d VALUES (1, 'x'), (2, ''), (3, 'y'), (4, '')",
        ],
    );
    let first = |order: &str| texts(&connection, &format!("SELECT b FROM d ORDER BY {order} LIMIT 3")).unwrap();
    assert_eq!(first("b DESC"), ["y", "x", ""]);
    assert_eq!(first("b"), ["", "", "x"]);
}

/// A range that excludes the bytes which '' and NULL share has only rows that are asked for, so that none is checked again.
#[test]
fn ranges_without_the_empty_text_are_exact() {
    let connection = memory();
    run(
        &connection,
        &[
            "CREATE TABLE d (k INTEGER PRIMARY KEY, b VARCHAR, c VARCHAR)",
            "CREATE INDEX d_b ON d (b, c DESC)",
            "UPSERT INTO d VALUES (1, 'x', ''), (2, '', 'x'), (3, 'y', NULL), (4, NULL, 'y')",
        ],
    );
    for (condition, is_exact, wanted) in [
        ("b BETWEEN 'a' AND 'x'", true, &["1"][..]),
        ("b <= 'x'", false, &["1", "2"]),
        ("b <= 'x' AND b <> ''", true, &["1"]),
        ("b >= '' AND b <= 'x'", false, &["1", "2"]),
        ("b IN ('', 'x')", false, &["1", "2"]),
        ("b IN ('', 'x') AND b > 'a'", true, &["1"]),
        ("b = 'x' AND c = ''", false, &["1"]),
        ("b = 'x' AND c < 'y'", false, &["1"]),
        ("b = 'y' AND c IS NULL", false, &["3"]),
        ("b > 'a' AND c < 'y' AND c <> ''", false, &[]),
        ("(b, c) IN (('x', ''), ('y', 'z'))", false, &["1"]),
    ] {
        let plan = texts(&connection, &format!("EXPLAIN SELECT k FROM d WHERE {condition}")).unwrap().join("\n");
        assert_eq!(!plan.contains("loose"), is_exact, "{condition}\n{plan}");
        let mut rows = texts(&connection, &format!("SELECT k FROM d WHERE {condition}")).unwrap();
        rows.sort();
        assert_eq!(rows, wanted, "{condition}");
    }
}

/// EXPLAIN says of each key why it lost to the one that is read, not to one that lost as well.
#[test]
fn each_key_lost_to_the_one_that_is_read() {
    let connection = memory();
    run(
        &connection,
        &[
            "CREATE TABLE d (k INTEGER PRIMARY KEY, b INTEGER, c INTEGER, v INTEGER)",
            "CREATE INDEX d_v ON d (v)",
            "CREATE INDEX d_b ON d (b)",
            "CREATE INDEX d_bc ON d (b, c)",
        ],
    );
    let lost = |condition: &str| -> Vec<String> {
        let plan = texts(&connection, &format!("EXPLAIN SELECT * FROM d WHERE {condition}")).unwrap();
        plan.iter().filter_map(|line| line.trim().strip_prefix("not read  ")).map(str::to_owned).collect()
    };
    let unbounded = "no condition bounds its first column";
    let fewer = "fewer of its leading columns have known values";
    let of_key = format!("the key of the table: {unbounded}");
    assert_eq!(
        lost("b = 1 AND c = 1"),
        [of_key.clone(), format!("index d_v: {unbounded}"), format!("index d_b: {fewer}")]
    );
    let later = "index d_bc: it is as good, and comes later".to_owned();
    assert_eq!(lost("b = 1"), [of_key, format!("index d_v: {unbounded}"), later]);
    assert_eq!(lost("c = 1"), ["d_v", "d_b", "d_bc"].map(|index| format!("index {index}: {unbounded}")));
    // One whose entries are intersected with those of another is read.
    let (plan, of_v) = (texts(&connection, "EXPLAIN SELECT * FROM d WHERE v = 1 AND b = 2").unwrap(), "index d_v");
    assert!(plan.iter().any(|line| line.contains("intersected")), "{plan:#?}");
    assert!(plan.iter().filter(|line| line.contains(of_v)).count() == 1, "{plan:#?}");
    assert!(!lost("v = 1 AND b = 2").iter().any(|line| line.contains("d_b:")), "{plan:#?}");
}
