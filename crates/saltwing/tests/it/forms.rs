//! What each form of condition reads of a real table: keys and seeks, whatever the order of columns and the salt.

use saltwing::Database;
use saltwing::blocking::Connection;

/// Condition; rows that meet it; keys that are read; seeks, in a table without buckets whose columns ascend.
type Form = (&'static str, usize, u64, u64);

/// On a thousand rows: ten values in each of the key columns a, b INTEGER and c VARCHAR.
const FORMS: &[Form] = &[
    // Comparisons, on either side, and what NOT makes of them.
    ("a = 3", 100, 100, 1),
    ("3 >= a AND 1 < a", 200, 200, 1),
    ("NOT (a > 2)", 300, 300, 1),
    ("a BETWEEN 2 AND 4", 300, 300, 1),
    ("a = 3 AND b NOT BETWEEN 2 AND 6", 50, 50, 2),
    ("a IN (1, 5, 5, 42)", 200, 200, 3),
    ("a = 1 AND b NOT IN (2, 4)", 80, 80, 3),
    ("a = 1 AND b <> 3", 90, 90, 2),
    ("a = 1 AND b IS DISTINCT FROM 3", 90, 90, 2),
    ("a IS NOT DISTINCT FROM 3 AND b = 9", 10, 10, 1),
    ("a = 1 AND b = 1 AND c IS NOT NULL", 10, 10, 1),
    ("a = 1 AND (b = 4 OR b <> 4)", 100, 100, 1),
    ("a = 1 AND a = 2", 0, 0, 0),
    ("a = 1 AND b < 3 AND b > 7", 0, 0, 0),
    ("a = NULL", 0, 0, 0),
    // Row values.
    ("(a, b) > (8, 7)", 120, 120, 1),
    ("(a, b) <= (1, 2)", 130, 130, 1),
    ("(a, b, c) > (9, 9, 'c7')", 2, 2, 1),
    ("(a, b) IN ((1, 2), (3, 4), (5, 6), (7, 8))", 40, 40, 4),
    ("(a, b) = (4, 4)", 10, 10, 1),
    ("a = 4 AND (b, c) >= (9, 'c5')", 5, 5, 1),
    ("b = 4 AND (a, c) IN ((1, 'c1'), (2, 'c2'))", 2, 2, 2),
    // Prefixes of texts.
    ("a = 1 AND b = 1 AND c LIKE 'c1%'", 1, 1, 1),
    ("a = 1 AND b = 1 AND c LIKE 'c_'", 10, 10, 1),
    ("a = 1 AND b = 1 AND c LIKE 'c3'", 1, 1, 1),
    ("a = 1 AND b = 1 AND starts_with(c, 'c2')", 1, 1, 1),
    ("a = 1 AND b = 1 AND SUBSTR(c, 1, 2) = 'c4'", 1, 1, 1),
    ("a = 1 AND b = 1 AND LEFT(c, 2) = 'c4'", 1, 1, 1),
    ("a = 1 AND b = 1 AND c ~ '^c5'", 1, 1, 1),
    // Functions that go one way.
    ("a + 1 = 5", 100, 100, 1),
    ("a - 1 BETWEEN 0 AND 1", 200, 200, 1),
    ("-a > -2", 200, 200, 1),
    ("CAST(a AS BIGINT) = 3", 100, 100, 1),
    ("a = 1 AND b + 1 IN (3, 5)", 20, 20, 2),
    // Types that meet.
    ("a = 2.5", 0, 0, 0),
    ("a < 2.5", 300, 300, 1),
    ("a = 99999999999", 0, 0, 0),
    ("a <= 1 AND a > -99999999999", 200, 200, 1),
    ("a = '3'", 100, 100, 1),
    // OR as boxes, and AND of ORs.
    ("a = 1 OR a = 3", 200, 200, 2),
    ("(a = 1 AND b < 5) OR (a = 2 AND b > 7)", 70, 70, 2),
    ("(a = 1 AND b = 2) OR (a = 3 AND b = 4)", 20, 20, 2),
    ("(a = 1 OR a = 2) AND (b = 1 OR b = 2)", 40, 40, 2),
    ("(a = 1 OR b = 2) AND a = 3", 10, 10, 1),
    // Gaps of few values; see `skipping.rs` for others.
    ("a IN (1, 2) AND b IN (3, 4)", 40, 40, 2),
    ("a IN (1, 2) AND b IN (3, 5)", 40, 40, 4),
    ("a BETWEEN 1 AND 3 AND b = 3 AND c = 'c0'", 3, 3, 3),
    // One key.
    ("a = 1 AND b = 2 AND c = 'c3'", 1, 1, 1),
];

fn thousand(key: &str, nullable: &str, options: &str) -> Connection {
    let connection = Database::memory().unwrap().connect().blocking();
    let table = format!(
        "CREATE TABLE t (a INTEGER NOT NULL, b INTEGER NOT NULL, c VARCHAR {nullable}, v INTEGER, \
         CONSTRAINT pk PRIMARY KEY ({key})) {options}"
    );
    connection.execute(&table, ()).unwrap();
    let row = |i: usize| format!("({}, {}, 'c{}', {i})", i / 100, i / 10 % 10, i % 10);
    let rows: Vec<String> = (0..1000).map(row).collect();
    connection.execute(&format!("UPSERT INTO t VALUES {}", rows.join(", ")), ()).unwrap();
    connection.execute("SET executor = 'direct'", ()).unwrap();
    connection
}

#[test]
fn each_form_reads_what_it_should() {
    for key in ["a, b, c", "a DESC, b, c", "a, b DESC, c DESC"] {
        for nullable in ["NOT NULL", ""] {
            for (options, buckets) in [("", 1), ("SALT_BUCKETS = 3", 3), ("SALT_BUCKETS = 3, SALT_BY = (a)", 3)] {
                let t = thousand(key, nullable, options);
                let plain = key == "a, b, c" && buckets == 1;
                for (condition, rows, keys_read, seeks) in FORMS {
                    let mut found = t.query(&format!("SELECT v FROM t WHERE {condition}"), ()).unwrap();
                    let count = found.by_ref().map(Result::unwrap).count();
                    let stats = found.stats();
                    let about = format!("{condition} on ({key}) {options}: {stats:?}");
                    assert_eq!(count, *rows, "{about}");
                    if plain {
                        assert_eq!((stats.keys_read, stats.seeks), (*keys_read, *seeks), "{about}");
                    }
                    // A range of row values falls apart where columns go both ways; one range is looked for in each bucket.
                    assert!(stats.keys_read <= keys_read * buckets && stats.seeks <= 3 * seeks * buckets, "{about}");
                }
            }
        }
    }
}
