//! Gaps in the key: what is read of a range where a condition is about a column behind one that no condition fixes.

use saltwing::blocking::Connection;
use saltwing::{Database, Stats};

/// The key columns of a row.
type Key = (i32, Option<i32>, i32, i32);

/// Condition; which rows meet it; keys that are read and seeks, in a table without buckets whose columns ascend.
type Form = (&'static str, fn(Key) -> bool, u64, u64);

/// On rows with the key (a INTEGER, b VARCHAR, c INTEGER, d SMALLINT): three values of a, 20 of b (NULL among them where it can
/// be), 10 of c, which are a hundred apart, and 8 of d.
const FORMS: &[Form] = &[
    // A seek for each text to c, and one from there to the next text.
    ("a = 1 AND c = 300", |(a, _, c, _)| a == 1 && c == 300, 160, 41),
    ("a = 1 AND c BETWEEN 300 AND 500", |(a, _, c, _)| a == 1 && (300..=500).contains(&c), 480, 41),
    ("a = 1 AND c IN (100, 700, 900)", |(a, _, c, _)| a == 1 && [100, 700, 900].contains(&c), 480, 61),
    ("a = 1 AND c = 350", |_| false, 0, 41),
    ("a = 1 AND b IS NOT NULL AND c < 200", |(a, b, c, _)| a == 1 && b.is_some() && c < 200, 320, 21),
    ("a IN (0, 2) AND c = 0", |(a, _, c, _)| a != 1 && c == 0, 320, 42),
    // Two rows between the last one of d and the next c are read over.
    ("a = 1 AND d = 5", |(a, _, _, d)| a == 1 && d == 5, 600, 201),
    // One gap behind the other.
    (
        "a = 1 AND c BETWEEN 300 AND 500 AND d IN (2, 7)",
        |(a, _, c, d)| a == 1 && (300..=500).contains(&c) && [2, 7].contains(&d),
        200,
        101,
    ),
    ("a > 0 AND b > 'b07' AND c = 300 AND d = 2", |(a, b, c, d)| a > 0 && b > Some(7) && c == 300 && d == 2, 24, 50),
    // Boxes skip each for itself.
    ("(a = 0 AND c = 300) OR (a = 2 AND c > 700)", |(a, _, c, _)| (a == 0 && c == 300) || (a == 2 && c > 700), 480, 62),
];

/// The key that the forms' counts are for.
const PLAIN: &str = "a, b, c, d";

/// The whole key tells the bucket.
const SPREAD: &str = "SALT_BUCKETS = 3";

const ROWS: usize = 3 * 20 * 10 * 8;

fn keys(nullable: bool) -> Vec<Key> {
    let b = |b: i32| if nullable && b == 0 { None } else { Some(b) };
    (0..ROWS as i32).map(|i| (i / 1600, b(i / 80 % 20), i / 8 % 10 * 100, i % 8)).collect()
}

fn connect(key: &str, nullable: bool, options: &str) -> Connection {
    let connection = Database::memory().unwrap().connect().blocking();
    let null = if nullable { "" } else { "NOT NULL" };
    let table = format!(
        "CREATE TABLE t (a INTEGER NOT NULL, b VARCHAR {null}, c INTEGER NOT NULL, d SMALLINT NOT NULL, v INTEGER, \
         CONSTRAINT pk PRIMARY KEY ({key})) {options}"
    );
    connection.execute(&table, ()).unwrap();
    let row = |(i, (a, b, c, d)): (usize, Key)| {
        let b = b.map_or("NULL".to_owned(), |b| format!("'b{b:02}'"));
        format!("({a}, {b}, {c}, {d}, {i})")
    };
    let rows: Vec<String> = keys(nullable).into_iter().enumerate().map(row).collect();
    connection.execute(&format!("UPSERT INTO t VALUES {}", rows.join(", ")), ()).unwrap();
    connection.execute("SET executor = 'direct'", ()).unwrap();
    connection
}

fn read(connection: &Connection, sql: &str) -> (Vec<i64>, Stats) {
    let mut rows = connection.query(sql, ()).unwrap();
    let values = rows.by_ref().map(|row| row.unwrap().get::<i64>(0).unwrap()).collect();
    (values, rows.stats())
}

/// The numbers of the rows that meet a form, in their order.
fn wanted(holds: fn(Key) -> bool, nullable: bool) -> Vec<i64> {
    let keys = keys(nullable).into_iter().enumerate();
    keys.filter(|(_, key)| holds(*key)).map(|(i, _)| i as i64).collect()
}

fn each_form(key: &str, nullable: bool, options: &str, buckets: u64) {
    let t = connect(key, nullable, options);
    let mut recent = Vec::new();
    for is_packed in [false, true] {
        if is_packed {
            t.execute("COMPACT t", ()).unwrap();
        }
        for (i, form) in FORMS.iter().enumerate() {
            let (condition, holds, keys_read, seeks) = *form;
            let (mut found, stats) = read(&t, &format!("SELECT v FROM t WHERE {condition}"));
            let about = format!("{condition} on ({key}) {options}, packed {is_packed}: {stats:?}");
            found.sort_unstable();
            let expected = wanted(holds, nullable);
            assert_eq!(found, expected, "{about}");
            if key == PLAIN && options.is_empty() && !nullable {
                assert_eq!((stats.keys_read, stats.seeks), (keys_read, seeks), "{about}");
            }
            // Where the rows are spread over buckets, more gaps are of few rows, and these are read over.
            let spread = if options == SPREAD { buckets } else { 1 };
            assert!(stats.keys_read <= keys_read * spread, "{about}");
            assert!(stats.seeks <= (seeks + 5) * buckets, "{about}");
            // Wherever rows lie, the same is read.
            match is_packed {
                false => recent.push(stats),
                true => assert_eq!((stats.keys_read, stats.seeks), (recent[i].keys_read, recent[i].seeks), "{about}"),
            }
        }
    }
}

#[test]
fn ranges_are_skipped_over_to_what_conditions_want() {
    for (key, nullable) in [
        (PLAIN, false),
        (PLAIN, true),
        ("a DESC, b DESC, c DESC, d DESC", true),
        ("a DESC, b, c DESC, d", false),
        ("a, b DESC, c, d DESC", true),
    ] {
        each_form(key, nullable, "", 1);
        each_form(key, nullable, "SALT_BUCKETS = 3, SALT_BY = (a)", 3);
    }
    each_form(PLAIN, false, SPREAD, 3);
}

/// The rows of each form, in key order and against it, and what a LIMIT reads of them.
#[test]
fn skipping_keeps_the_order() {
    for (key, options, buckets) in [
        (PLAIN, "", 1),
        ("a DESC, b, c DESC, d", "", 1),
        (PLAIN, SPREAD, 3),
        ("a, b DESC, c, d DESC", "SALT_BUCKETS = 3, SALT_BY = (a, b)", 3),
    ] {
        let t = connect(key, true, options);
        for is_packed in [false, true] {
            if is_packed {
                t.execute("COMPACT t", ()).unwrap();
            }
            for (condition, holds, keys_read, seeks) in FORMS {
                let descends = |column: usize| key.split(", ").nth(column).unwrap().ends_with("DESC");
                let keys = keys(true);
                let mut expected = wanted(*holds, true);
                // NULL is the first in both directions.
                expected.sort_by_key(|v| {
                    let (a, b, c, d) = keys[*v as usize];
                    let b = b.map(|b| if descends(1) { -b } else { b });
                    (
                        if descends(0) { -a } else { a },
                        b,
                        if descends(2) { -c } else { c },
                        if descends(3) { -d } else { d },
                    )
                });
                let backwards: String = key
                    .split(", ")
                    .map(|c| format!("{}, ", turned(c)))
                    .collect::<String>()
                    .trim_end_matches(", ")
                    .into();
                for (order, reverse) in [(key, false), (backwards.as_str(), true)] {
                    let mut expected = expected.clone();
                    if reverse {
                        expected.reverse();
                    }
                    let sql = format!("SELECT v FROM t WHERE {condition} ORDER BY {order}");
                    let (found, _) = read(&t, &sql);
                    assert_eq!(found, expected, "{sql} on ({key}) {options}");
                    let (found, stats) = read(&t, &format!("{sql} LIMIT 3"));
                    expected.truncate(3);
                    let about = format!("{sql} LIMIT 3 on ({key}) {options}: {stats:?}");
                    assert_eq!(found, expected, "{about}");
                    // Some rows of each bucket, and what is read over on the way; nothing where all has to be read.
                    if !expected.is_empty() {
                        assert!(stats.keys_read <= 30 * buckets && stats.keys_read <= *keys_read, "{about}");
                        assert!(stats.seeks <= 12 * buckets && stats.seeks <= seeks + 5, "{about}");
                    }
                }
            }
        }
    }
}

fn turned(column: &str) -> String {
    match column.strip_suffix(" DESC") {
        Some(name) => format!("{name} NULLS LAST"),
        None => format!("{column} DESC NULLS LAST"),
    }
}

/// Aggregates take what is skipped for what it is: rows that do not count, not ranges that hold none.
#[test]
fn aggregates_count_what_is_wanted() {
    for options in ["", SPREAD] {
        let t = connect(PLAIN, false, options);
        for is_packed in [false, true] {
            if is_packed {
                t.execute("COMPACT t", ()).unwrap();
            }
            for (condition, holds, keys_read, _) in FORMS {
                let expected = wanted(*holds, false);
                let about = format!("{condition}, {options}, packed {is_packed}");
                let sql = |what: &str| format!("SELECT {what} FROM t WHERE {condition}");
                let (count, stats) = read(&t, &sql("COUNT(*)"));
                assert_eq!(count, [expected.len() as i64], "{about}");
                assert!(stats.keys_read <= keys_read * if options == SPREAD { 3 } else { 1 }, "{about}: {stats:?}");
                assert_eq!(read(&t, &sql("COALESCE(SUM(v), 0)")).0, [expected.iter().sum::<i64>()], "{about}");
                assert_eq!(
                    read(&t, &sql("COALESCE(MAX(v), -1)")).0,
                    [*expected.iter().max().unwrap_or(&-1)],
                    "{about}"
                );
                let mut groups: Vec<i64> = expected.iter().map(|v| v / 80 % 20).collect();
                groups.sort_unstable();
                groups.dedup();
                assert_eq!(read(&t, &sql("COUNT(DISTINCT b)")).0, [groups.len() as i64], "{about}");
            }
        }
    }
}

/// Nothing bounds the leading column: that takes the hint, as before, and then no more is read than has to be.
#[test]
fn a_full_scan_skips_too() {
    let t = connect(PLAIN, false, "");
    let refused = t.query("SELECT v FROM t WHERE c = 300", ()).map(|_| ()).unwrap_err();
    assert_eq!(refused.code().as_str(), "full_scan_refused");
    let (found, stats) = read(&t, "SELECT /*+ FULL_SCAN */ v FROM t WHERE c = 300");
    assert_eq!(found.len(), 480);
    assert_eq!((stats.keys_read, stats.seeks), (480, 121));
    let (found, stats) = read(&t, "SELECT /*+ FULL_SCAN */ v FROM t WHERE b = 'b03' AND d = 1");
    assert_eq!((found.len(), stats.keys_read, stats.seeks), (30, 60, 35));
}

/// Where nearly every row begins another value of the gap's column, nothing is gained by asking, and soon it is not done.
#[test]
fn gaps_of_few_rows_are_read() {
    let connection = Database::memory().unwrap().connect().blocking();
    connection
        .execute("CREATE TABLE t (a INTEGER, b INTEGER, c INTEGER, v INTEGER, PRIMARY KEY (a, b, c))", ())
        .unwrap();
    let rows: Vec<String> = (0..5000).map(|i| format!("(1, {}, {}, {i})", i * 3, i % 10)).collect();
    connection.execute(&format!("UPSERT INTO t VALUES {}", rows.join(", ")), ()).unwrap();
    connection.execute("SET executor = 'direct'", ()).unwrap();
    let (found, stats) = read(&connection, "SELECT v FROM t WHERE a = 1 AND c = 3");
    assert_eq!(found.len(), 500);
    assert_eq!((stats.keys_read, stats.seeks), (5000, 1));
}

#[test]
fn explain_tells_what_is_skipped() {
    let t = connect(PLAIN, false, "");
    let (found, _) = read(&t, "SELECT COUNT(*) FROM t WHERE a = 1 AND c = 300");
    assert_eq!(found, [160]);
    let sql = "EXPLAIN ANALYZE (FORMAT JSON) SELECT v FROM t WHERE a = 1 AND c = 300 AND d > 5";
    let json: serde_json::Value = serde_json::from_str(&crate::texts(&t, sql).unwrap()[0]).unwrap();
    let access = &json["accesses"][0];
    assert_eq!(
        (access["kind"].as_str(), access["skip"].as_str()),
        (Some("skip_scan"), Some("over b to c = 300, d [6 ..]"))
    );
    assert_eq!((access["keys_read"].as_u64(), access["seeks"].as_u64()), (Some(40), Some(41)));
    assert_eq!(access["predicates"][1]["why"], "equality on key column 3, skipping over b");
    let text = crate::texts(&t, "EXPLAIN SELECT v FROM t WHERE a = 1 AND c = 300").unwrap().join("\n");
    assert!(text.contains("  skip      over b to c = 300\n"), "{text}");
}

/// DELETE finds its rows as SELECT does.
#[test]
fn deleting_skips_too() {
    let t = connect(PLAIN, false, "");
    assert_eq!(t.execute("DELETE FROM t WHERE a = 1 AND c = 300", ()).unwrap().rows_affected, 160);
    let (found, stats) = read(&t, "SELECT v FROM t WHERE a = 1 AND c BETWEEN 300 AND 400");
    assert_eq!((found.len(), stats.keys_read), (160, 160));
}

/// Parameters skip as literals do, each time that they have values.
#[test]
fn parameters_skip_as_literals_do() {
    for options in ["", "SALT_BUCKETS = 3, SALT_BY = (a)"] {
        let t = connect(PLAIN, false, options);
        let statement = t.prepare("SELECT v FROM t WHERE a = ? AND c BETWEEN ? AND ?").unwrap();
        for (a, low, high) in [(1, 300, 500), (0, 0, 0), (2, 950, 2000), (1, 300, 500)] {
            let mut rows = statement.query(saltwing::params![a, low, high]).unwrap();
            let found: Vec<i64> = rows.by_ref().map(|row| row.unwrap().get(0).unwrap()).collect();
            let (expected, stats) = read(&t, &format!("SELECT v FROM t WHERE a = {a} AND c BETWEEN {low} AND {high}"));
            assert_eq!((found, rows.stats()), (expected, stats), "{a}, {low}, {high}");
            assert!(stats.keys_read < 500, "{stats:?}");
        }
    }
}
