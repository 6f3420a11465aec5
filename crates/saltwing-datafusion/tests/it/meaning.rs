//! Rules of `docs/semantics.md`, row by row.

use crate::database::Database;

fn numbers() -> Database {
    Database::new(&[
        "CREATE TABLE n (k INTEGER NOT NULL PRIMARY KEY, b BIGINT, f FLOAT, d DOUBLE, x DECIMAL(5,2), y DECIMAL,
          s VARCHAR, c CHAR(5), t BOOLEAN)",
        "UPSERT INTO n VALUES (1, 9223372036854775807, 0.1, 0.5, 1.50, 0.001, 'a', 'ab', TRUE)",
        "UPSERT INTO n VALUES (2, 5, 2.5, -1.5, -2.25, 99999999999999999999, '', 'abc', FALSE)",
        "UPSERT INTO n VALUES (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
    ])
}

#[test]
fn nulls_come_first_by_default() {
    let db = numbers();
    assert_eq!(db.rows("SELECT b FROM n ORDER BY b"), ["NULL", "5", "9223372036854775807"]);
    assert_eq!(db.rows("SELECT b FROM n ORDER BY b DESC"), ["NULL", "9223372036854775807", "5"]);
    assert_eq!(db.rows("SELECT b FROM n ORDER BY b NULLS LAST"), ["5", "9223372036854775807", "NULL"]);
    assert_eq!(db.rows("SELECT b FROM n ORDER BY b DESC NULLS LAST"), ["9223372036854775807", "5", "NULL"]);
    assert_eq!(db.rows("SELECT k, row_number() OVER (ORDER BY b) FROM n ORDER BY k"), ["1|3", "2|2", "3|1"]);
}

#[test]
fn overflow_is_an_error() {
    let db = numbers();
    for sql in [
        "SELECT b + 1 FROM n",
        "SELECT b * 2 FROM n WHERE k = 1",
        "SELECT 9223372036854775807 + 1",
        "SELECT -9223372036854775808 - 1",
        "SELECT -(-9223372036854775808)",
        "SELECT abs(-9223372036854775808)",
        "SELECT sum(b) FROM n",
        "SELECT t, sum(b) FROM (SELECT t, b FROM n UNION ALL SELECT t, b FROM n) u GROUP BY t",
        "SELECT sum(b) OVER () FROM n",
        "SELECT CAST(300 AS TINYINT)",
    ] {
        db.refuses(sql, "22003");
    }
    let large = "(VALUES (60000000000000000000000000000000000000), (90000000000000000000000000000000000000)) x (v)";
    assert_eq!(db.value(&format!("SELECT avg(v) FROM {large}")), "75000000000000000000000000000000000000");
    db.refuses(&format!("SELECT sum(v) FROM {large}"), "22003");
    assert_eq!(
        db.value("SELECT avg(v) FROM (VALUES (1.0), (1.0), (2)) x (v)"),
        "1.3333333333333333333333333333333333333"
    );
    // The sum itself fits, whatever came on the way.
    assert_eq!(db.value("SELECT sum(v) FROM (VALUES (9223372036854775807), (1), (-1)) x (v)"), "9223372036854775807");
    assert_eq!(db.rows("SELECT k FROM n WHERE b + 0 > 5 AND k = 1"), ["1"]);
}

#[test]
fn division_by_zero_is_an_error_in_every_type() {
    let db = numbers();
    for sql in ["SELECT 1 / 0", "SELECT 1.0 / 0", "SELECT 1e0 / 0", "SELECT 5 % 0", "SELECT k / (k - k) FROM n"] {
        db.refuses(sql, "22012");
    }
    assert_eq!(db.value("SELECT CASE WHEN 1 = 1 THEN 1 ELSE 1 / 0 END"), "1");
    assert_eq!(db.rows("SELECT k FROM n WHERE k <> 1 AND 10 / (k - 1) > 5"), ["2"]);
    assert_eq!(db.value("SELECT 5 / 2, -5 / 2, 5 % -3"), "2|-2|2");
}

#[test]
fn numbers_are_typed_by_their_form() {
    let db = numbers();
    let answer = db.answer("SELECT 1, 1.5, 1.5e0, 99999999999999999999, 'x', NULL, TRUE, X'00ff', -1.5");
    assert_eq!(answer.rows, ["1|1.5|1.5|99999999999999999999|x|NULL|true|00ff|-1.5"]);
    assert_eq!(
        answer.types,
        ["BIGINT", "DECIMAL", "DOUBLE", "DECIMAL", "VARCHAR", "NULL", "BOOLEAN", "VARBINARY", "DECIMAL"]
    );
    let answer = db
        .answer("SELECT k + 1, x + 1, d + 1, x * x, k / 2, sum(k), sum(x), sum(d) FROM n WHERE k = 1 GROUP BY k, x, d");
    assert_eq!(answer.rows, ["2|2.5|1.5|2.25|0|1|1.5|0.5"]);
    assert_eq!(answer.types, ["BIGINT", "DECIMAL", "DOUBLE", "DECIMAL", "BIGINT", "BIGINT", "DECIMAL", "DOUBLE"]);
}

#[test]
fn literals_take_the_type_of_the_column() {
    let db = numbers();
    assert_eq!(db.rows("SELECT k FROM n WHERE f = 0.1"), ["1"]);
    assert_eq!(db.rows("SELECT k FROM n WHERE f IN (0.1, 7)"), ["1"]);
    assert_eq!(db.rows("SELECT k FROM n WHERE x = '1.5'"), ["1"]);
    assert_eq!(db.rows("SELECT k FROM n WHERE y = 99999999999999999999"), ["2"]);
    assert_eq!(db.rows("SELECT k FROM n WHERE y > 99999999999999999998.5"), ["2"]);
    assert_eq!(db.rows("SELECT k FROM n WHERE k < 99999999999999999999 AND k >= 2.5"), ["3"]);
    assert_eq!(db.rows("SELECT k FROM n WHERE k = '2'"), ["2"]);
    assert_eq!(db.rows("SELECT k FROM n WHERE c = 'ab   '"), ["1"]);
    db.refuses("SELECT k FROM n WHERE k = 'abc'", "22P02");
    db.refuses("SELECT k FROM n WHERE k IN (1, 'abc')", "22P02");
    db.refuses("SELECT k FROM n WHERE s = 5", "42804");
    db.refuses("SELECT k FROM n WHERE t = 5", "42804");
    db.refuses("SELECT a.k FROM n a JOIN n b ON a.s = b.k", "42804");
    db.refuses("SELECT k FROM n WHERE s IN (SELECT k FROM n)", "42804");
    db.refuses("SELECT k FROM n WHERE k", "42804");
}

#[test]
fn row_values() {
    let db = numbers();
    assert_eq!(db.rows("SELECT k FROM n WHERE (k, b) IN ((1, 2), (2, 5), (-1, -1))"), ["2"]);
    assert_eq!(db.rows("SELECT k FROM n WHERE (k, b) NOT IN ((1, 2), (2, 5))"), ["1", "3"]);
    assert_eq!(db.rows("SELECT k FROM n WHERE (k, b) > (1, 5) ORDER BY k"), ["1", "2", "3"]);
    assert_eq!(db.rows("SELECT k FROM n WHERE (k, s) = (1, 'a')"), ["1"]);
    db.refuses("SELECT k FROM n WHERE (k, b) = (1, 2, 3)", "42804");
}

#[test]
fn text() {
    let db = numbers();
    assert_eq!(db.value("SELECT 'a' || NULL IS NULL, concat('a', NULL) IS NULL, '' IS NULL"), "true|true|false");
    assert_eq!(db.value("SELECT 'it''s' || 1 || TRUE"), "it's1true");
    assert_eq!(db.value("SELECT md5('abc')"), "900150983cd24fb0d6963f7d28e17f72");
    assert_eq!(db.value("SELECT sha256('abc')"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_eq!(
        db.value("SELECT substr('漢字x', 2, 1), SUBSTRING('abc' FROM 2), left('abc', 2), trim('  a ')"),
        "字|bc|ab|a"
    );
    assert_eq!(db.rows("SELECT k FROM n WHERE s LIKE 'A' OR s ILIKE 'A'"), ["1"]);
    assert_eq!(
        db.value("SELECT 'a%' LIKE 'a!%' ESCAPE '!', 'a_c' LIKE 'a\\_c', 'a\\bc' LIKE 'a\\_c'"),
        "true|false|true"
    );
    assert_eq!(
        db.value("SELECT upper('ß'), reverse('abc'), length('漢字'), starts_with('abc', 'ab')"),
        "SS|cba|2|true"
    );
    // What only DataFusion has.
    assert_eq!(
        db.value("SELECT regexp_replace('abc', 'b', 'x'), lpad('7', 3, '0'), initcap('ab cd')"),
        "axc|007|Ab Cd"
    );
}

#[test]
fn casts() {
    let db = numbers();
    assert_eq!(db.value("SELECT CAST(1.999 AS DECIMAL(4,2)), CAST(2.5 AS INTEGER), CAST('7' AS BIGINT)"), "1.99|3|7");
    assert_eq!(db.value("SELECT CAST(k AS VARCHAR), k::DOUBLE, x::VARCHAR FROM n WHERE k = 1"), "1|1.0|1.50");
    let answer = db.answer("SELECT CAST('2020-02-03 04:05:06' AS DATE), CAST(5 AS UNSIGNED_INT), CAST('a' AS CHAR(3))");
    assert_eq!(answer.rows, ["2020-02-03 04:05:06|5|a"]);
    assert_eq!(answer.types, ["DATE", "UNSIGNED_INT", "CHAR(3)"]);
    assert_eq!(db.value("SELECT TRY_CAST('x' AS INTEGER)"), "NULL");
    db.refuses("SELECT CAST('x' AS INTEGER)", "22P02");
    db.refuses("SELECT CAST(TRUE AS DATE)", "42804");
}

#[test]
fn instants() {
    let db = Database::new(&[
        "CREATE TABLE w (k INTEGER NOT NULL PRIMARY KEY, d DATE, m TIME, s TIMESTAMP)",
        "UPSERT INTO w VALUES (1, '2020-01-31 12:30:00', '2020-01-31', '2020-01-31 00:00:00.000000001')",
        "UPSERT INTO w VALUES (2, '1500-01-01', '1500-01-01', '1500-01-01 00:00:00')",
    ]);
    let answer = db.answer("SELECT d, m, s, d + 1, date_trunc('day', d) FROM w WHERE k = 1");
    assert_eq!(
        answer.rows,
        ["2020-01-31 12:30:00|2020-01-31|2020-01-31 00:00:00.000000001|2020-02-01 12:30:00|2020-01-31"]
    );
    assert_eq!(answer.types, ["DATE", "TIME", "TIMESTAMP", "DATE", "DATE"]);
    assert_eq!(db.rows("SELECT k FROM w WHERE d = DATE '2020-01-31 12:30:00'"), ["1"]);
    assert_eq!(db.rows("SELECT k FROM w WHERE d < '1600-01-01'"), ["2"]);
    assert_eq!(db.rows("SELECT k FROM w WHERE d = '2020-01-31T14:30:00+02:00'"), ["1"]);
    assert_eq!(db.value("SELECT count(*) FROM w WHERE d > now() - INTERVAL '1 day'"), "0");
    assert_eq!(db.value("SELECT extract(year FROM d) FROM w WHERE k = 1"), "2020");
    db.refuses("SELECT s FROM w WHERE k = 2", "22008");
    db.refuses("SELECT k FROM w WHERE d = 'yesterday'", "22007");
    db.refuses("SELECT d * 2 FROM w", "42804");
}

#[test]
fn floats() {
    let db = Database::new(&[
        "CREATE TABLE g (k INTEGER NOT NULL PRIMARY KEY, d DOUBLE)",
        "UPSERT INTO g VALUES (1, 0.0), (2, 1.5)",
        "UPSERT INTO g VALUES (3, 'NaN'), (4, 'Infinity')",
    ]);
    assert_eq!(db.rows("SELECT k FROM g ORDER BY d"), ["1", "2", "4", "3"]);
    assert_eq!(db.rows("SELECT k FROM g WHERE d = 'NaN'"), ["3"]);
    assert_eq!(db.rows("SELECT k FROM g WHERE d = -0.0"), ["1"]);
    assert_eq!(db.value("SELECT 0.0e0 = -0.0e0"), "true");
    assert_eq!(db.rows("SELECT a.k FROM g a JOIN g b ON a.d = b.d ORDER BY a.k"), ["1", "2", "3", "4"]);
}

#[test]
fn three_valued_logic() {
    let db = numbers();
    assert_eq!(
        db.value("SELECT NULL AND FALSE, NULL OR TRUE, (NOT (1 = NULL)) IS NULL, 1 IN (2, NULL) IS NULL, NULL IS DISTINCT FROM 1"),
        "false|true|true|true|true"
    );
    assert_eq!(db.rows("SELECT k FROM n WHERE NOT b = 5"), ["1"]);
    assert_eq!(db.rows("SELECT k FROM n WHERE (b = 5) IS UNKNOWN"), ["3"]);
    assert_eq!(db.rows("SELECT k FROM n WHERE b IS NOT DISTINCT FROM NULL"), ["3"]);
    assert_eq!(db.rows("SELECT k FROM n WHERE b NOT BETWEEN 1 AND 10"), ["1"]);
    assert_eq!(db.value("SELECT coalesce(NULL, 1.5, 2), nullif(1, 1) IS NULL"), "1.5|true");
}

#[test]
fn in_is_unknown_wherever_it_stands() {
    let db = Database::new(&[]);
    let members = "(SELECT y FROM (VALUES (2), (NULL)) w (y))";
    let rows = |condition: &str| {
        let condition = condition.replace("LIST", members);
        db.rows(&format!("SELECT x FROM (VALUES (1), (2), (NULL)) v (x) WHERE {condition} ORDER BY x NULLS LAST"))
    };
    assert_eq!(rows("x NOT IN LIST"), [""; 0]);
    assert_eq!(rows("x NOT IN LIST OR x = 2"), ["2"]);
    assert_eq!(rows("x IN LIST OR x = 1"), ["1", "2"]);
    assert_eq!(rows("NOT (x IN LIST AND x > 0)"), [""; 0]);
    assert_eq!(rows("(x IN LIST) IS NULL"), ["1", "NULL"]);
    assert_eq!(rows("CASE WHEN x IN LIST THEN FALSE ELSE TRUE END"), ["1", "NULL"]);
    assert_eq!(rows("x IN LIST OR NOT EXISTS (SELECT 1)"), ["2"]);
    assert_eq!(rows("COALESCE(x NOT IN LIST, x = 1)"), ["1"]);
}

#[test]
fn a_condition_without_columns_filters_an_aggregates_row() {
    let db = numbers();
    for sql in [
        "SELECT count(*) FROM n HAVING (SELECT FALSE)",
        "SELECT count(*), max(k) FROM n HAVING (SELECT max(k) FROM n) > 100",
        "SELECT c FROM (SELECT count(*) c FROM n) q WHERE (SELECT FALSE)",
        "SELECT c FROM (SELECT count(*) c FROM n) q WHERE random() > 2",
        "SELECT count(*) FROM n HAVING FALSE",
    ] {
        assert_eq!(db.rows(sql), [""; 0], "{sql}");
    }
    assert_eq!(db.rows("SELECT count(*) FROM n HAVING (SELECT TRUE)"), ["3"]);
}

#[test]
fn sums_of_doubles_stay_finite() {
    let db = Database::new(&[]);
    let large = "(VALUES (1, 1e308), (1, 1e308), (2, 1e308)) v (g, x)";
    db.refuses(&format!("SELECT sum(x) FROM {large}"), "22003");
    db.refuses(&format!("SELECT g, sum(x) FROM {large} GROUP BY g"), "22003");
    assert_eq!(db.rows(&format!("SELECT sum(x) FROM {large} WHERE g = 2")), ["1e308"]);
    assert_eq!(db.rows("SELECT sum(x) FROM (VALUES (0.5e0), (NULL), (1.5e0)) v (x)"), ["2.0"]);
}
