//! Queries with subqueries give what SQLite gives, on small random tables with NULLs.

use proptest::collection::btree_map;
use proptest::prelude::*;
use saltwing::Database;

use crate::texts;

/// Subqueries that name nothing around them.
const FIRST: &[&str] = &[
    "SELECT k FROM t WHERE k <= (SELECT max(a) FROM u WHERE k < 9)",
    "SELECT k FROM t WHERE k > (SELECT min(a) FROM u WHERE k = 2)",
    "SELECT k, a FROM t WHERE k BETWEEN (SELECT min(a) FROM u WHERE k < 9) AND (SELECT max(b) FROM u WHERE k < 9)",
    "SELECT k, (SELECT max(b) FROM u WHERE k = 1) FROM t WHERE k = (SELECT max(a) FROM t WHERE k < 9)",
    "SELECT k FROM t WHERE k IN (3, (SELECT max(a) FROM u WHERE k < 9)) OR k < (SELECT a FROM t WHERE k = 2)",
    "SELECT k, n FROM u WHERE (k, n) >= ((SELECT max(a) FROM t WHERE k < 9), (SELECT b FROM t WHERE k = 1))",
    "SELECT k FROM t WHERE k < 9 AND a IS NOT (SELECT b FROM t WHERE k = 1)",
    "SELECT k FROM t WHERE k < 9 AND NOT (a < (SELECT a FROM t WHERE k = (SELECT b FROM t WHERE k = 1)))",
    "SELECT t.k, u.n FROM t JOIN u ON u.k = t.a WHERE t.k >= (SELECT min(a) FROM t WHERE k < 9) AND u.k < 9",
    "SELECT k FROM t WHERE k <= (SELECT count(*) FROM u JOIN t AS x ON x.k = u.a WHERE u.k < 2 AND x.k < 9)",
];

/// Subqueries that name the query around them; most must be looked up, as nothing bounds `u` otherwise.
const CORRELATED: &[&str] = &[
    "SELECT k, (SELECT count(*) FROM u WHERE u.k = t.k) FROM t WHERE k IN (0, 1, 2, 3, 4, 5)",
    "SELECT k, (SELECT count(u.a) + 1 FROM u WHERE u.k = t.a) FROM t WHERE k < 9",
    "SELECT k, (SELECT max(u.b) FROM u WHERE u.k = t.a AND u.n > 0) FROM t WHERE k < 9",
    "SELECT k, (SELECT sum(u.b) FROM u WHERE u.k = t.a AND u.n < t.b) FROM t WHERE k < 9",
    "SELECT k, (SELECT a FROM u WHERE u.k = t.b AND u.n = t.a) FROM t WHERE k < 9",
    "SELECT k, (SELECT max(u.b) + t.k FROM u WHERE u.k = t.a), (SELECT min(n) FROM u WHERE u.k = t.b) FROM t WHERE k < 9",
    "SELECT k FROM t WHERE k < 9 AND a > (SELECT avg(b) FROM u WHERE u.k = t.b)",
    "SELECT k FROM t WHERE k < 9 AND a >= (SELECT count(*) FROM u WHERE u.k = t.b)",
    "SELECT k FROM t WHERE k < 9 AND (a = 1 OR b < (SELECT max(b) FROM u WHERE u.k = t.b))",
    "SELECT t.k, x.n FROM t JOIN u AS x ON x.k = t.a WHERE t.k < 9 AND x.n = (SELECT min(n) FROM u WHERE u.k = x.a)",
    "SELECT k, c FROM t JOIN (SELECT k AS uk, count(*) AS c FROM u GROUP BY k) AS g ON g.uk = t.a WHERE k < 9",
    "SELECT k, c FROM t LEFT JOIN (SELECT k AS uk, count(*) AS c FROM u GROUP BY k) AS g ON g.uk = t.a WHERE k < 9",
    "SELECT k FROM t WHERE k < 9 AND a NOT IN (SELECT b FROM u WHERE u.k = t.b)",
    "SELECT k FROM t WHERE k < 9 AND a NOT IN (SELECT b FROM u WHERE u.k = t.b AND u.n > t.a)",
    "SELECT k FROM t WHERE k < 9 AND a + 1 NOT IN (SELECT b + n FROM u WHERE u.k = t.b)",
    "SELECT k FROM t WHERE k < 9 AND a NOT IN (SELECT max(b) FROM u WHERE u.k = t.b)",
    "SELECT k FROM t WHERE k < 9 AND a NOT IN (SELECT max(b) FROM u WHERE u.k = t.b GROUP BY n)",
    "SELECT k FROM t WHERE k < 9 AND (k = 1 OR a NOT IN (SELECT b FROM u WHERE u.k = t.b))",
    "SELECT k FROM t WHERE k < 9 AND NOT (a IN (SELECT b FROM u WHERE u.k = t.b))",
    "SELECT k, a NOT IN (SELECT b FROM u WHERE u.k = t.b) IS NULL FROM t WHERE k < 9",
    "SELECT k FROM t WHERE k < 9 AND a IN (SELECT b FROM u WHERE u.k = t.b)",
    "SELECT k, (SELECT b FROM u WHERE u.k = t.a ORDER BY n DESC LIMIT 1) FROM t WHERE k < 9",
    "SELECT k, (SELECT n FROM u WHERE u.k = t.a ORDER BY b, n LIMIT 1 OFFSET 1) FROM t WHERE k < 9",
    "SELECT k, (SELECT b + n FROM u WHERE u.k = t.a AND u.n <> t.b ORDER BY n LIMIT 1) FROM t WHERE k < 9",
    "SELECT k FROM t WHERE k < 9 AND b = (SELECT n FROM u WHERE u.k = t.a ORDER BY n LIMIT 1)",
    "SELECT k, (SELECT count(*) FROM u WHERE u.k = t.a LIMIT 1) FROM t WHERE k < 9",
    "SELECT k FROM t WHERE k < 9 AND EXISTS (SELECT 1 FROM u WHERE u.k = t.a LIMIT 1)",
    "SELECT k FROM t WHERE k < 9 AND EXISTS (SELECT 1 FROM u WHERE u.k = t.a LIMIT 0)",
    "SELECT k FROM t WHERE k < 9 AND NOT EXISTS (SELECT 1 FROM u WHERE u.k = t.a LIMIT 1 OFFSET 1)",
];

/// What SQLite has no words for, and how it says it.
const QUANTIFIED: &[(&str, &str)] = &[
    (
        "a > ALL (SELECT b FROM u WHERE u.k = t.b)",
        "NOT EXISTS (SELECT 1 FROM u WHERE u.k = t.b AND (t.a > u.b) IS NOT TRUE)",
    ),
    ("a <> ALL (SELECT b FROM u WHERE u.k = t.b)", "a NOT IN (SELECT b FROM u WHERE u.k = t.b)"),
    ("a <= ANY (SELECT b FROM u WHERE u.k = t.b)", "EXISTS (SELECT 1 FROM u WHERE u.k = t.b AND t.a <= u.b)"),
    ("a = ANY (SELECT b FROM u WHERE u.k = t.b)", "a IN (SELECT b FROM u WHERE u.k = t.b)"),
];

pub(crate) type Values = (Option<i64>, Option<i64>);

pub(crate) fn values() -> impl Strategy<Value = Values> {
    let value = || prop_oneof![1 => Just(None), 4 => (0..5_i64).prop_map(Some)];
    (value(), value())
}

fn literal(value: Option<i64>) -> String {
    value.map_or_else(|| "NULL".into(), |value| value.to_string())
}

/// `t (k, a, b)` and `u (k, n, a, b)`, as statements that both engines take.
pub(crate) fn inserts(
    t: &std::collections::BTreeMap<i64, Values>,
    u: &std::collections::BTreeMap<(i64, i64), Values>,
) -> Vec<String> {
    let t = t.iter().map(|(k, (a, b))| format!("INSERT INTO t VALUES ({k}, {}, {})", literal(*a), literal(*b)));
    let u =
        u.iter().map(|((k, n), (a, b))| format!("INSERT INTO u VALUES ({k}, {n}, {}, {})", literal(*a), literal(*b)));
    t.chain(u).collect()
}

pub(crate) fn sqlite_rows(sqlite: &rusqlite::Connection, sql: &str) -> Vec<String> {
    let mut statement = sqlite.prepare(sql).unwrap();
    let columns = statement.column_count();
    let row = |row: &rusqlite::Row<'_>| {
        let value = |column| row.get::<_, Option<i64>>(column).map(literal);
        Ok((0..columns).map(value).collect::<Result<Vec<_>, _>>()?.join("|"))
    };
    statement.query_map((), row).unwrap().collect::<Result<_, _>>().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.div_ceil(32)))]

    #[test]
    fn rows_are_sqlites(
        t in btree_map(0..6_i64, values(), 0..6),
        u in btree_map((0..6_i64, 0..4_i64), values(), 0..12),
        salt in prop_oneof![Just(""), Just("SALT_BUCKETS = 3")],
    ) {
        let ours = Database::memory().unwrap().connect().blocking();
        let sqlite = rusqlite::Connection::open_in_memory().unwrap();
        for table in [
            "t (k INTEGER NOT NULL, a INTEGER, b INTEGER, CONSTRAINT pk PRIMARY KEY (k))",
            "u (k INTEGER NOT NULL, n INTEGER NOT NULL, a INTEGER, b INTEGER, CONSTRAINT pk PRIMARY KEY (k, n))",
        ] {
            ours.execute(&format!("CREATE TABLE {table} {salt}"), ()).unwrap();
            sqlite.execute(&format!("CREATE TABLE {table}"), ()).unwrap();
        }
        for insert in inserts(&t, &u) {
            ours.execute(&insert, ()).unwrap();
            sqlite.execute(&insert, ()).unwrap();
        }
        let same = FIRST.iter().chain(CORRELATED).map(|sql| (sql.replace("IS NOT (", "IS DISTINCT FROM ("), sql.to_string()));
        let query = |condition: &str| format!("SELECT k FROM t WHERE k < 9 AND {condition}");
        let quantified = QUANTIFIED.iter().map(|(ours, sqlites)| (query(ours), query(sqlites)));
        for (sql, as_sqlite_says) in same.chain(quantified) {
            let mut found = texts(&ours, &sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
            let mut expected = sqlite_rows(&sqlite, &as_sqlite_says);
            found.iter_mut().for_each(|row| *row = row.replace("true", "1").replace("false", "0"));
            found.sort();
            expected.sort();
            prop_assert_eq!(found, expected, "{}", sql);
        }
    }
}
