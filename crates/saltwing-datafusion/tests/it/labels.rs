//! Labels, names in any case, wildcards and hidden columns.

use crate::database::Database;

fn database() -> Database {
    Database::new(&[
        "CREATE TABLE \"Log\" (Phone VARCHAR NOT NULL PRIMARY KEY, \"Up\" INTEGER, down INTEGER)",
        "UPSERT INTO Log VALUES ('138', 1, 2)",
        "CREATE TABLE other (phone VARCHAR NOT NULL PRIMARY KEY, note VARCHAR)",
        "UPSERT INTO other VALUES ('138', 'x')",
        "CREATE TABLE bag (v INTEGER)",
    ])
}

#[test]
fn labels_are_alias_name_or_text() {
    let db = database();
    let labels = |sql: &str| db.answer(sql).labels;
    assert_eq!(labels("SELECT phone, PHONE, \"Phone\", up AS Total FROM log"), ["Phone", "Phone", "Phone", "Total"]);
    assert_eq!(
        labels("SELECT Up  +  1, count(*) AS \"N\", Max(down) FROM log GROUP BY up"),
        ["Up  +  1", "N", "Max(down)"]
    );
    assert_eq!(labels("SELECT round(2.5), round(CAST(2.5 AS DOUBLE))"), ["round(2.5)", "round(CAST(2.5 AS DOUBLE))"]);
    assert_eq!(labels("SELECT 1, 1, 2.5, 2.5e0"), ["1", "1", "2.5", "2.5e0"]);
    assert_eq!(labels("SELECT * FROM log"), ["Phone", "Up", "down"]);
    assert_eq!(labels("SELECT *, phone, phone AS up, 1 AS Up FROM log"), ["Phone", "Up", "down", "Phone", "up", "Up"]);
    assert_eq!(labels("SELECT l.phone, o.phone FROM log l JOIN other o ON l.phone = o.phone"), ["Phone", "phone"]);
    assert_eq!(labels("SELECT * FROM log l JOIN other o USING (phone)"), ["Phone", "Up", "down", "note"]);
    assert_eq!(labels("SELECT * FROM (SELECT phone, up + 1, up AS Big FROM log) x"), ["Phone", "up + 1", "Big"]);
    assert_eq!(labels("SELECT A.Phone, b FROM (SELECT phone, up AS B FROM log) a"), ["Phone", "B"]);
    assert_eq!(
        labels("WITH w (Aa, Bb) AS (SELECT phone, up FROM log) SELECT aa, BB, aa || 'x' FROM w"),
        ["Aa", "Bb", "aa || 'x'"]
    );
    assert_eq!(labels("SELECT phone AS A FROM log UNION ALL SELECT note AS b FROM other"), ["A"]);
    assert_eq!(labels("SELECT up AS A, up AS a FROM log ORDER BY A"), ["A", "a"]);
    assert_eq!(labels("SELECT * FROM log a, log b"), ["Phone", "Up", "down", "Phone", "Up", "down"]);
    assert_eq!(labels("SELECT * FROM (SELECT * FROM log a, log b) x"), ["Phone", "Up", "down", "Phone", "Up", "down"]);
}

#[test]
fn names_match_in_any_case() {
    let db = database();
    assert_eq!(db.value("SELECT \"uP\" FROM LOG WHERE \"PHONE\" = '138'"), "1");
    assert_eq!(db.value("SELECT L.UP FROM log AS l ORDER BY UP"), "1");
    assert_eq!(db.value("SELECT Sum(UP) AS S FROM Log GROUP BY Phone HAVING S > 0 ORDER BY s"), "1");
    assert_eq!(db.value("SELECT row_number() OVER W FROM log WINDOW w AS (ORDER BY up)"), "1");
}

#[test]
fn hidden_columns_show_only_when_named() {
    let db = database();
    db.change("UPSERT INTO bag VALUES (7)");
    assert_eq!(db.value("SELECT * FROM bag"), "7");
    assert_eq!(db.value("SELECT _row_key, * FROM other"), "313338|138|x");
    assert_eq!(db.answer("SELECT *, _ROW_KEY FROM bag").labels, ["v", "_row_key"]);
    assert_eq!(
        db.value("SELECT l.*, o._row_key, o.* FROM log l JOIN other o ON l.phone = o.phone"),
        "138|1|2|313338|138|x"
    );
    assert_eq!(db.value("SELECT * FROM log l JOIN other o ON l._row_key = o._row_key"), "138|1|2|138|x");
    assert_eq!(db.value("SELECT count(*) FROM (SELECT * FROM bag) b WHERE EXISTS (SELECT _row_key FROM other)"), "1");
    assert_eq!(db.value("SELECT * FROM (SELECT _row_key, phone FROM other) x"), "313338|138");
    assert_eq!(db.value("SELECT phone FROM other WHERE _row_key = X'313338'"), "138");
}

#[test]
fn the_catalog_is_there_as_tables() {
    let db = database();
    assert_eq!(
        db.rows("SELECT column_name, data_type, is_nullable, key_position FROM information_schema.columns WHERE table_name = 'Log' ORDER BY ordinal_position"),
        ["Phone|VARCHAR|NO|1", "Up|INTEGER|YES|NULL", "down|INTEGER|YES|NULL"]
    );
    assert_eq!(
        db.rows("SELECT table_name FROM information_schema.tables WHERE table_type = 'BASE TABLE' ORDER BY 1"),
        ["Log", "bag", "other"]
    );
    assert!(db.value("SELECT count(*) FROM information_schema.schemata") != "0");
}

#[test]
fn columns_may_be_named_by_family() {
    let db = Database::new(&[
        "CREATE TABLE fam (k INTEGER NOT NULL PRIMARY KEY, a.x INTEGER, b.y VARCHAR, z INTEGER)",
        "UPSERT INTO fam VALUES (1, 10, 'p', 5), (2, 20, 'q', 6)",
    ]);
    assert_eq!(db.rows("SELECT a.x, B.Y FROM fam WHERE a.x > 10 ORDER BY b.y"), ["20|q"]);
    assert_eq!(db.rows("SELECT f.a.x FROM fam f JOIN fam g ON f.k = g.k AND g.b.y = 'p'"), ["10"]);
    assert_eq!(db.rows("SELECT a.k FROM fam a JOIN fam b ON a.x = b.x ORDER BY a.k"), ["1", "2"]);
    assert_eq!(db.rows("SELECT k FROM fam WHERE EXISTS (SELECT 1 FROM (VALUES (10)) v (n) WHERE v.n = a.x)"), ["1"]);
    db.refuses("SELECT a.y FROM fam", "42703");
}

#[test]
fn a_name_that_two_columns_of_a_subquery_have_finds_none() {
    let db = Database::new(&["CREATE TABLE t (a INTEGER PRIMARY KEY, b INTEGER)", "UPSERT INTO t VALUES (1, 2)"]);
    db.refuses("SELECT \"B\" FROM (SELECT 1 AS b, 2 AS \"B\") q", "42701");
    db.refuses("WITH q AS (SELECT 1 AS b, 2 AS \"B\") SELECT b FROM q", "42701");
    db.refuses("SELECT x FROM (VALUES (1, 2)) v (x, \"X\")", "42701");
    db.refuses("SELECT b FROM (SELECT 1 AS b, 2 AS b) q", "42702");
    db.refuses("SELECT q.a FROM (SELECT a, b AS a FROM t) q", "42702");
    // A column that no name refers to may repeat.
    assert_eq!(db.rows("SELECT * FROM (SELECT 1 AS b, 2 AS b) q"), ["1|2"]);
    assert_eq!(db.rows("SELECT count(*) FROM (SELECT a, a FROM t) q"), ["1"]);
    assert_eq!(db.rows("SELECT 1 AS b, 2 AS \"B\""), ["1|2"]);
}
