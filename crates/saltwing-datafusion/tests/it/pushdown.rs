//! Conditions, columns and limits reach the scans.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use saltwing_access::{Durability, TableStore};
use saltwing_bind::Params;
use saltwing_datafusion::{Engine, EngineConfig, Mode};
use saltwing_plan::AccessKind;
use saltwing_types::Value;

use crate::database::{Answer, Database};

fn database() -> Database {
    let db = Database::new(&[
        "CREATE TABLE log (phone VARCHAR NOT NULL, ts BIGINT NOT NULL, up INTEGER, note VARCHAR,
          CONSTRAINT pk PRIMARY KEY (phone, ts DESC)) SALT_BUCKETS = 4",
        "CREATE TABLE person (phone VARCHAR NOT NULL PRIMARY KEY, name VARCHAR)",
    ]);
    for phone in 0..20 {
        let rows: Vec<String> =
            (0..10).map(|ts| format!("('{phone:02}', {ts}, {}, 'n{ts}')", phone * 10 + ts)).collect();
        db.change(&format!("UPSERT INTO log VALUES {}", rows.join(", ")));
        db.change(&format!("UPSERT INTO person VALUES ('{phone:02}', 'p{phone}')"));
    }
    db
}

/// Kind and residual of each table read.
fn reads(db: &Database, sql: &str) -> Vec<(String, AccessKind, String)> {
    let planned = db.plan_with(sql, Params::NONE, Mode::Explain).unwrap_or_else(|e| panic!("{sql}: {e}"));
    planned
        .accesses(false)
        .iter()
        .map(|report| {
            let access = report.access.access();
            let residual: Vec<&str> = access.residual.iter().map(|c| c.text.as_str()).collect();
            (report.access.table().def().name.to_string(), access.kind, residual.join(" AND "))
        })
        .collect()
}

fn read(table: &str, kind: AccessKind, residual: &str) -> (String, AccessKind, String) {
    (table.into(), kind, residual.into())
}

#[test]
fn conditions_become_ranges_and_residuals() {
    let db = database();
    let cases = [
        ("SELECT count(*) FROM log WHERE phone = '05' AND ts = 3", AccessKind::Point, ""),
        (
            "SELECT count(*) FROM log WHERE phone = '05' AND up > 51 AND ts BETWEEN 1 AND 3000",
            AccessKind::Range,
            "up > 51",
        ),
        ("SELECT count(*) FROM log WHERE (phone, ts) IN (('05', 1), ('06', 2))", AccessKind::Point, ""),
        ("SELECT count(*) FROM log WHERE phone = '05' OR phone = '07'", AccessKind::SkipScan, ""),
        (
            "SELECT count(*) FROM log WHERE phone LIKE '0%' AND note || 'x' = 'n1x'",
            AccessKind::Range,
            "note || 'x' = 'n1x'",
        ),
        ("SELECT count(*) FROM log WHERE phone = '05' AND phone = '06'", AccessKind::Empty, ""),
        // Through derived tables and their expressions.
        (
            "SELECT count(*) FROM (SELECT phone AS p, up + 1 AS more FROM log) x WHERE p = '05' AND more > 55",
            AccessKind::Range,
            "up + 1 > 55",
        ),
        ("WITH w AS (SELECT * FROM log) SELECT count(*) FROM w WHERE phone = '05'", AccessKind::Range, ""),
        (
            "SELECT count(*) FROM (SELECT phone, max(up) AS m FROM log GROUP BY phone) x WHERE phone = '05'",
            AccessKind::Range,
            "",
        ),
    ];
    for (sql, kind, residual) in cases {
        assert_eq!(reads(&db, sql), [read("log", kind, residual)], "{sql}\n{}", db.plan_text(sql));
    }
    assert_eq!(db.value(cases[1].0), "8");
    assert_eq!(db.value(cases[6].0), "5");
}

#[test]
fn each_side_of_a_join_gets_its_conditions() {
    let db = database();
    let sql = "SELECT p.name, l.ts FROM person p JOIN log l ON p.phone = l.phone WHERE p.phone = '03' AND l.ts > 7 ORDER BY ts";
    let mut found = reads(&db, sql);
    found.sort_by(|a, b| a.0.cmp(&b.0));
    // The condition on the one phone holds for the other too.
    assert_eq!(
        found,
        [read("log", AccessKind::Range, ""), read("person", AccessKind::Point, "")],
        "{}",
        db.plan_text(sql)
    );
    assert_eq!(db.rows(sql), ["p3|8", "p3|9"]);
    let sql = "SELECT count(*) FROM person p JOIN log l ON p.phone = l.phone
                WHERE (p.phone = '03' AND l.phone = '03') OR (p.phone = '04' AND l.phone = '04' AND l.ts > 7)";
    assert_eq!(db.value(sql), "12");
    let kinds: Vec<AccessKind> = reads(&db, sql).into_iter().map(|r| r.1).collect();
    assert!(kinds.iter().all(|kind| *kind != AccessKind::FullScan), "{}", db.plan_text(sql));
    assert!(db.plan_text(sql).contains("HashJoinExec"), "{}", db.plan_text(sql));
}

#[test]
fn joins_of_different_types_find_their_keys() {
    let db = Database::new(&[
        "CREATE TABLE a (k INTEGER NOT NULL PRIMARY KEY, v DECIMAL(10,2))",
        "CREATE TABLE b (k BIGINT NOT NULL PRIMARY KEY, v DOUBLE, d DATE)",
        "UPSERT INTO a VALUES (1, 1.5), (2, 2.25), (3, 3)",
        "UPSERT INTO b VALUES (1, 1.5, '2020-01-01'), (2, 2.5, '2020-01-02'), (3, 3.0, '2020-01-03')",
    ]);
    for (on, rows) in
        [("a.k = b.k", "3"), ("a.v = b.v", "2"), ("a.v = b.k", "1"), ("a.k + 1 = b.k", "2"), ("a.k = b.v", "1")]
    {
        let sql = format!("SELECT count(*) FROM a JOIN b ON {on}");
        assert_eq!(db.value(&sql), rows, "{on}");
        assert!(db.plan_text(&sql).contains("HashJoinExec"), "{on}\n{}", db.plan_text(&sql));
    }
    assert_eq!(db.rows("SELECT a.k FROM a JOIN b ON a.k < b.k AND b.k = 3 ORDER BY 1"), ["1", "2"]);
}

#[test]
fn limits_stop_the_scan() {
    let db = database();
    let answer = db.answer("SELECT phone FROM person LIMIT 3");
    assert_eq!((answer.rows.len(), answer.keys_read()), (3, 3));
    let answer = db.answer("SELECT phone FROM person LIMIT 3 OFFSET 4");
    assert_eq!((answer.rows.len(), answer.keys_read()), (3, 7));
    // Four buckets, one after the other.
    let answer = db.answer("SELECT phone FROM log LIMIT 5");
    assert_eq!((answer.rows.len(), answer.keys_read()), (5, 5));
    let answer = db.answer("SELECT phone FROM log WHERE up >= 0 LIMIT 5");
    assert_eq!((answer.rows.len(), answer.keys_read()), (5, 5));
    let answer = db.answer("SELECT phone FROM log WHERE regexp_like(note, 'n[0-9]') LIMIT 5");
    assert_eq!(answer.rows.len(), 5);
    assert_eq!(db.answer("SELECT * FROM log LIMIT 0").rows.len(), 0);
}

#[test]
fn only_needed_columns_are_read() {
    let db = database();
    let bytes = |sql: &str| db.answer(sql).counters[0].rows_out.load(std::sync::atomic::Ordering::Relaxed);
    assert_eq!(bytes("SELECT count(*) FROM log"), 200);
    assert_eq!(db.value("SELECT count(*) FROM log"), "200");
    assert_eq!(
        db.value("SELECT count(*), count(note), min(up), max(up), avg(up) FROM log WHERE phone < '02'"),
        "20|20|0|19|9.5"
    );
}

#[test]
fn scans_without_order_or_limit_are_divided() {
    let db = database();
    assert!(db.plan_text("SELECT up FROM log").contains("partitions=2"));
    assert!(!db.plan_text("SELECT up FROM log LIMIT 5").contains("partitions=2"));
    assert_eq!(db.rows("SELECT up FROM log").len(), 200);
    let answer = db.answer("SELECT sum(up), count(*) FROM log");
    assert_eq!(
        (answer.rows, answer.counters[0].keys_read.load(std::sync::atomic::Ordering::Relaxed)),
        (vec!["19900|200".to_owned()], 200)
    );
}

/// 10,000 rows in blocks, or all of them recent.
fn many_rows(salt: u16, partitions: usize, split_rows_min: u64, merged: bool) -> Database {
    let mut db = Database::new(&[&format!(
        "CREATE TABLE big (k INTEGER NOT NULL PRIMARY KEY, x INTEGER, d DOUBLE, s VARCHAR) SALT_BUCKETS = {salt}"
    )]);
    db.engine = Arc::new(Engine::new(&EngineConfig { partitions, ..EngineConfig::default() }).unwrap());
    db.split_rows_min = split_rows_min;
    let table = db.catalog.snapshot().unwrap().resolve(None, "big").unwrap();
    let mut writes = db.tables.batch();
    for k in 0..10_000 {
        let row =
            vec![Value::Int(k), Value::Int(k % 37), Value::Double(k as f64 / 4.0), Value::text(format!("s{}", k % 11))];
        writes.put(&table, row).unwrap();
    }
    writes.commit(Durability::Buffered).unwrap();
    if merged {
        db.tables.merge().unwrap();
    }
    db
}

#[test]
fn results_are_the_same_in_any_number_of_partitions() {
    const QUERIES: [&str; 7] = [
        "SELECT x, count(*), sum(d), min(s) FROM big GROUP BY x ORDER BY x",
        "SELECT count(*), sum(d) FROM big WHERE k >= 100 AND k < 9000 AND s <> 's3'",
        "SELECT k, d FROM big WHERE k > 4000 AND x = 5 ORDER BY d DESC LIMIT 20",
        "SELECT count(*), sum(a.k) FROM big a JOIN big b ON a.k = b.k + 1 WHERE a.k < 5000 AND b.k >= 0",
        "SELECT s, count(DISTINCT x) FROM big WHERE k IN (1, 2, 3) OR k > 5000 GROUP BY s ORDER BY s",
        "SELECT count(*) FROM big a WHERE a.k < 3000 AND EXISTS (SELECT 1 FROM big b WHERE b.k = a.k + 8000)",
        "SELECT k FROM big WHERE k >= 0 ORDER BY k LIMIT 3 OFFSET 7000",
    ];
    for (salt, merged) in [(0, true), (0, false), (4, true)] {
        let all: Vec<Database> = (1..=3).map(|partitions| many_rows(salt, partitions, 0, merged)).collect();
        for sql in QUERIES {
            let answers: Vec<_> = all.iter().map(|db| db.answer(sql)).collect();
            for other in &answers[1..] {
                assert_eq!(other.rows, answers[0].rows, "{sql}");
                assert_eq!(other.keys_read(), answers[0].keys_read(), "{sql}");
                let seeks = |answer: &Answer| answer.counters.iter().map(|c| c.seeks.load(Relaxed)).sum::<u64>();
                assert_eq!(seeks(other), seeks(&answers[0]), "{sql}");
            }
        }
        let plan = all[2].plan_text("SELECT x, count(*) FROM big GROUP BY x");
        let scan = plan.lines().find(|line| line.contains("TableScanExec")).unwrap();
        assert_eq!(scan.contains("partitions=3"), merged, "{plan}");
    }
}

#[test]
fn few_rows_are_not_divided() {
    let db = many_rows(4, 2, 5_000, true);
    for (sql, is_divided) in [
        ("SELECT x, count(*) FROM big GROUP BY x", true),
        ("SELECT x, count(*) FROM big WHERE k >= 2000 GROUP BY x", true),
        ("SELECT x, count(*) FROM big WHERE k >= 8000 GROUP BY x", false),
    ] {
        assert_eq!(db.plan_text(sql).contains("partitions=2"), is_divided, "{}", db.plan_text(sql));
    }
}

#[test]
fn conditions_reach_the_far_side_of_outer_joins() {
    let db = database();
    let kind = |sql: &str, table: &str| reads(&db, sql).into_iter().find(|r| r.0 == table).unwrap().1;
    let from = "SELECT count(*) FROM person p LEFT JOIN log l ON p.phone = l.phone WHERE";
    for (condition, ranged, rows) in [
        ("l.phone = '03'", true, "10"),
        ("l.phone || 'x' = '03x' AND l.phone > '0'", true, "10"),
        ("NOT (l.phone <> '03')", true, "10"),
        ("l.phone = '03' OR l.phone = '04'", true, "20"),
        ("l.phone IS NULL", false, "0"),
        ("coalesce(l.phone, '03') = '03'", false, "10"),
        ("l.phone = '03' OR p.phone = '04'", false, "20"),
    ] {
        let sql = format!("{from} {condition}");
        assert_eq!(db.value(&sql), rows, "{sql}");
        assert_eq!(kind(&sql, "log") != AccessKind::FullScan, ranged, "{sql}\n{}", db.plan_text(&sql));
    }
    let full =
        "SELECT count(*) FROM person p FULL JOIN log l ON p.phone = l.phone WHERE l.phone = '03' AND p.name = 'p3'";
    assert!(db.plan_text(full).contains("Inner"), "{}", db.plan_text(full));
    let nested = "SELECT count(*) FROM person p LEFT JOIN log l ON p.phone = l.phone LEFT JOIN person q ON q.phone = l.note WHERE l.phone = '03'";
    assert_eq!((db.value(nested).as_str(), kind(nested, "log")), ("10", AccessKind::Range));
}
