//! Shapes of queries: joins, subqueries, set operations, windows.

use saltwing_types::Value;

use crate::database::Database;

fn database() -> Database {
    Database::new(&[
        "CREATE TABLE a (k INTEGER NOT NULL PRIMARY KEY, g VARCHAR, v INTEGER)",
        "CREATE TABLE b (k INTEGER NOT NULL PRIMARY KEY, w DECIMAL(6,2)) SALT_BUCKETS = 3",
        "UPSERT INTO a VALUES (1, 'x', 10), (2, 'x', 20), (3, 'y', 30), (4, NULL, NULL)",
        "UPSERT INTO b VALUES (1, 1.5), (3, 2.25), (5, 3)",
    ])
}

#[test]
fn joins() {
    let db = database();
    assert_eq!(db.rows("SELECT a.k, w FROM a JOIN b ON a.k = b.k ORDER BY a.k"), ["1|1.50", "3|2.25"]);
    assert_eq!(
        db.rows("SELECT a.k, w FROM a LEFT JOIN b USING (k) ORDER BY k"),
        ["1|1.50", "2|NULL", "3|2.25", "4|NULL"]
    );
    assert_eq!(db.rows("SELECT a.k, b.k FROM a FULL JOIN b ON a.k = b.k ORDER BY b.k, a.k").len(), 5);
    assert_eq!(db.rows("SELECT a.k FROM a NATURAL JOIN b ORDER BY 1"), ["1", "3"]);
    assert_eq!(db.value("SELECT count(*) FROM a CROSS JOIN b"), "12");
    assert_eq!(db.rows("SELECT x.k FROM a x JOIN a y ON x.v < y.v AND y.k = 3 ORDER BY x.k"), ["1", "2"]);
    assert_eq!(
        db.rows("SELECT a.k FROM a LEFT JOIN b ON a.k = b.k AND w > 2 WHERE b.k IS NULL ORDER BY 1"),
        ["1", "2", "4"]
    );
}

#[test]
fn subqueries() {
    let db = database();
    assert_eq!(db.rows("SELECT k FROM a WHERE k IN (SELECT k FROM b) ORDER BY k"), ["1", "3"]);
    assert_eq!(db.rows("SELECT k FROM a WHERE k NOT IN (SELECT k FROM b) ORDER BY k"), ["2", "4"]);
    assert_eq!(db.rows("SELECT k FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.k = a.k) ORDER BY k"), ["1", "3"]);
    assert_eq!(
        db.rows("SELECT k FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND w > 2) ORDER BY k"),
        ["1", "2", "4"]
    );
    assert_eq!(
        db.rows("SELECT k, (SELECT w FROM b WHERE b.k = a.k) FROM a ORDER BY k"),
        ["1|1.50", "2|NULL", "3|2.25", "4|NULL"]
    );
    assert_eq!(db.rows("SELECT k FROM a WHERE v = (SELECT max(v) FROM a)"), ["3"]);
    assert_eq!(db.rows("SELECT k FROM a WHERE v > (SELECT avg(v) FROM a x WHERE x.g = a.g) ORDER BY k"), ["2"]);
    assert_eq!(db.rows("SELECT k FROM a WHERE k = 4 OR k IN (SELECT k FROM b) ORDER BY k"), ["1", "3", "4"]);
    assert_eq!(db.rows("SELECT k FROM a WHERE k = ANY (SELECT k FROM b) ORDER BY k"), ["1", "3"]);
    assert_eq!(db.rows("SELECT k FROM a WHERE v / 10 = (SELECT count(*) FROM b) ORDER BY k"), ["3"]);
    assert_eq!(
        db.rows("SELECT k FROM a WHERE CASE WHEN EXISTS (SELECT 1 FROM b WHERE b.k = a.k) THEN v > 10 ELSE FALSE END"),
        ["3"]
    );
    assert_eq!(db.rows("SELECT k FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.k = a.k + 1) ORDER BY k"), ["2", "4"]);
    db.refuses("SELECT (SELECT k FROM b WHERE b.k >= a.k) FROM a", "21000");
}

#[test]
fn subqueries_correlate_by_any_condition() {
    let db = database();
    let counts = "SELECT k, (SELECT count(*) FROM b WHERE b.k > a.k) FROM a ORDER BY k";
    assert_eq!(db.rows(counts), ["1|2", "2|2", "3|1", "4|1"]);
    assert_eq!(
        db.rows("SELECT k, (SELECT max(w) + a.k FROM b WHERE b.k > a.k AND w < 3) AS m FROM a ORDER BY k"),
        ["1|3.25", "2|4.25", "3|NULL", "4|NULL"]
    );
    assert_eq!(db.rows("SELECT k FROM a WHERE v > (SELECT sum(v) FROM a x WHERE x.v < a.v) ORDER BY k"), ["2"]);
    assert_eq!(
        db.rows("SELECT k FROM a WHERE 2 > (SELECT count(*) FROM a x WHERE x.v < a.v) ORDER BY k"),
        ["1", "2", "4"]
    );
    assert_eq!(db.value("SELECT sum((SELECT count(*) FROM b WHERE b.k > a.k)) FROM a"), "6");
    assert_eq!(
        db.rows("SELECT k, (SELECT w FROM b WHERE b.k > a.k AND b.k < a.k + 2) FROM a WHERE k < 4 ORDER BY k"),
        ["1|NULL", "2|2.25", "3|NULL"]
    );
}

#[test]
fn in_and_exists_as_values() {
    let db = database();
    assert_eq!(db.rows("SELECT k IN (SELECT k FROM b) FROM a ORDER BY k"), ["true", "false", "true", "false"]);
    assert_eq!(
        db.rows("SELECT v NOT IN (SELECT v FROM a WHERE v < 30) FROM a ORDER BY k"),
        ["false", "false", "true", "NULL"]
    );
    assert_eq!(db.rows("SELECT 7 IN (SELECT v FROM a), 10 IN (SELECT v FROM a), 7 IN (SELECT k FROM a), NULL IN (SELECT k FROM a WHERE k > 9)"), ["NULL|true|false|false"]);
    assert_eq!(db.rows("SELECT EXISTS (SELECT 1 FROM b WHERE b.k = a.k), NOT EXISTS (SELECT * FROM b WHERE b.k > a.k) FROM a ORDER BY k"), ["true|false", "false|false", "true|false", "false|false"]);
    assert_eq!(
        db.answer("SELECT 1 IN (SELECT k FROM b), CASE WHEN '1' IN (SELECT k FROM b) THEN 'y' END FROM a LIMIT 1")
            .labels[0],
        "1 IN (SELECT k FROM b)"
    );
    assert_eq!(db.rows("SELECT k FROM a WHERE '3' IN (SELECT k FROM b) AND k = 1"), ["1"]);
    db.refuses("SELECT 'x' IN (SELECT k FROM b)", "22P02");
    db.refuses("SELECT k FROM a WHERE 'x' IN (SELECT k FROM b)", "22P02");
    assert_eq!(
        db.rows("SELECT k, (SELECT max(n) FROM (SELECT count(*) AS n FROM b WHERE b.k > a.k GROUP BY w) c) FROM a ORDER BY k"),
        ["1|1", "2|1", "3|1", "4|1"]
    );
}

#[test]
fn parameters_before_subqueries() {
    let db = database();
    let rows = |sql: &str, value: Value| db.try_with(sql, &[value]).unwrap().rows;
    // A NULL among the members may be anything.
    assert!(rows("SELECT k FROM b WHERE ? NOT IN (SELECT v FROM a)", Value::Int(5)).is_empty());
    assert!(rows("SELECT k FROM b WHERE ? <> ALL (SELECT v FROM a)", Value::Int(5)).is_empty());
    assert!(rows("SELECT k FROM b WHERE ? NOT IN (SELECT k FROM a)", Value::Null).is_empty());
    assert_eq!(rows("SELECT k FROM b WHERE ? NOT IN (SELECT k FROM a) ORDER BY k", Value::Int(5)), ["1", "3", "5"]);
    assert_eq!(rows("SELECT k FROM b WHERE ? < ANY (SELECT v FROM a WHERE a.k = b.k)", Value::Int(20)), ["3"]);
    assert_eq!(rows("SELECT k FROM b WHERE (?, k) IN (SELECT v, k FROM a)", Value::Int(30)), ["3"]);
}

#[test]
fn groups_and_windows() {
    let db = database();
    assert_eq!(db.rows("SELECT g, sum(v), count(*) FROM a GROUP BY g ORDER BY g"), ["NULL|NULL|1", "x|30|2", "y|30|1"]);
    assert_eq!(db.rows("SELECT v / 20 AS h, count(*) FROM a GROUP BY v / 20 HAVING count(*) > 1"), ["1|2"]);
    assert_eq!(
        db.rows("SELECT v / 20 + 1, count(*) FROM a WHERE v > 0 GROUP BY v / 20 ORDER BY v / 20"),
        ["1|1", "2|2"]
    );
    assert_eq!(db.rows("SELECT g, count(*) FROM a GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 1"), ["x|2"]);
    assert_eq!(
        db.rows("SELECT g, sum(v) FROM a WHERE k < 4 GROUP BY ROLLUP (g) ORDER BY g"),
        ["NULL|60", "x|30", "y|30"]
    );
    assert_eq!(
        db.value("SELECT sum(DISTINCT v), count(DISTINCT g), sum(w) FILTER (WHERE b.k > 1) FROM a JOIN b ON TRUE"),
        "60|2|21"
    );
    assert_eq!(
        db.rows("SELECT k, sum(v) OVER (PARTITION BY g ORDER BY k) FROM a WHERE g IS NOT NULL ORDER BY k"),
        ["1|10", "2|30", "3|30"]
    );
    assert_eq!(
        db.rows("SELECT k, sum(v) OVER (ORDER BY k ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM a ORDER BY k"),
        ["1|10", "2|30", "3|50", "4|30"]
    );
    assert_eq!(db.rows("SELECT DISTINCT g FROM a ORDER BY g"), ["NULL", "x", "y"]);
    assert_eq!(db.rows("SELECT DISTINCT v + 1 FROM a WHERE v < 25 ORDER BY v + 1"), ["11", "21"]);
    assert_eq!(db.value("SELECT avg(v), avg(w) FROM a, b"), "20.0|2.25");
    assert_eq!(db.value("SELECT string_agg(g, ',' ORDER BY g DESC) FROM a"), "y,x,x");
}

#[test]
fn sets_and_values() {
    let db = database();
    assert_eq!(db.rows("SELECT k FROM a UNION SELECT k FROM b ORDER BY k"), ["1", "2", "3", "4", "5"]);
    assert_eq!(db.rows("SELECT k FROM a INTERSECT SELECT k FROM b ORDER BY k"), ["1", "3"]);
    assert_eq!(db.rows("SELECT k FROM a EXCEPT SELECT k FROM b ORDER BY k"), ["2", "4"]);
    assert_eq!(db.rows("VALUES (1, 'x'), (2, NULL)"), ["1|x", "2|NULL"]);
    assert_eq!(db.rows("SELECT v * 2 FROM (VALUES (1.5), (2)) t (v)"), ["3", "4"]);
    let answer = db.answer("SELECT k FROM a WHERE k = 1 UNION ALL SELECT w FROM b WHERE k = 1");
    assert_eq!((answer.types, answer.rows), (vec!["DECIMAL".to_owned()], vec!["1".to_owned(), "1.5".to_owned()]));
    assert_eq!(
        db.rows(
            "WITH RECURSIVE c AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM c WHERE n < 4) SELECT n FROM c ORDER BY n"
        ),
        ["1", "2", "3", "4"]
    );
    assert_eq!(db.rows("SELECT * FROM generate_series(1, 3)"), ["1", "2", "3"]);
    assert_eq!(db.value("SELECT ARRAY[1, 2], ARRAY['a', NULL]"), "[1,2]|[\"a\",null]");
    assert_eq!(db.rows("SELECT unnest(ARRAY[3, 4]) AS u"), ["3", "4"]);
}

#[test]
fn types_are_kept_through_derived_tables() {
    let db = Database::new(&[
        "CREATE TABLE t (k UNSIGNED_INT NOT NULL PRIMARY KEY, c CHAR(5), m TIME, x DECIMAL(5,2), b BINARY(2))",
        "UPSERT INTO t VALUES (1, 'ab', '1970-01-01', 1.5, X'0102')",
    ]);
    let types = ["UNSIGNED_INT", "CHAR(5)", "TIME", "DECIMAL(5,2)", "BINARY(2)"];
    for sql in [
        "SELECT * FROM t",
        "SELECT * FROM (SELECT * FROM t) x WHERE k > 0 ORDER BY c",
        "WITH w AS (SELECT * FROM t) SELECT w.* FROM w JOIN t ON w.k = t.k",
        "SELECT k, c, m, x, b FROM t GROUP BY k, c, m, x, b",
        "SELECT DISTINCT * FROM t",
        "SELECT min(k), max(c), min(m), max(x), min(b) FROM t",
    ] {
        let answer = db.answer(sql);
        assert_eq!(
            (answer.types, answer.rows),
            (types.map(str::to_owned).to_vec(), vec!["1|ab|1970-01-01|1.50|0102".to_owned()]),
            "{sql}"
        );
    }
}

#[test]
fn distinct_on_keeps_the_first_of_each() {
    let db = Database::new(&[]);
    let rows = "(VALUES (1, 2), (1, 1), (2, 5)) v (x, y)";
    assert_eq!(db.rows(&format!("SELECT DISTINCT ON (x) x, y FROM {rows} ORDER BY x, y")), ["1|1", "2|5"]);
}
