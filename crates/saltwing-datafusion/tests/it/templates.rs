//! Plans that are kept for further runs.

use std::collections::BTreeSet;

use saltwing_bind::Params;
use saltwing_datafusion::Mode;
use saltwing_plan::Policy;
use saltwing_planner::Guard;
use saltwing_types::Value;

use crate::database::Database;

fn database(salt: u16) -> Database {
    let db = Database::new(&[
        &format!(
            "CREATE TABLE log (phone VARCHAR NOT NULL, ts BIGINT NOT NULL, up INTEGER, item INTEGER,
              CONSTRAINT pk PRIMARY KEY (phone, ts DESC)) SALT_BUCKETS = {salt}"
        ),
        &format!(
            "CREATE TABLE item (id INTEGER NOT NULL PRIMARY KEY, weight INTEGER, name VARCHAR(9)) SALT_BUCKETS = {salt}"
        ),
    ]);
    for phone in 0..20 {
        let row = |ts: i32| {
            let item = if ts == 4 { "NULL".to_owned() } else { ((phone * 7 + ts) % 30).to_string() };
            format!("('{phone:02}', {ts}, {}, {item})", phone * 10 + ts)
        };
        db.change(&format!("UPSERT INTO log VALUES {}", (0..10).map(row).collect::<Vec<_>>().join(", ")));
    }
    let items: Vec<String> = (0..25).map(|id| format!("({id}, {}, 'i{}')", id * id, id % 4)).collect();
    db.change(&format!("UPSERT INTO item VALUES {}", items.join(", ")));
    db
}

const QUERIES: [&str; 14] = [
    "SELECT count(*), sum(i.weight) FROM log l JOIN item i ON i.id = l.item WHERE l.phone = ?",
    "SELECT l.ts, i.name FROM log l LEFT JOIN item i ON i.id = l.item WHERE l.phone = ? ORDER BY l.ts",
    "SELECT l.ts FROM log l JOIN item i ON i.id = l.item AND i.weight > 9 WHERE l.phone = ? ORDER BY 1 DESC",
    "SELECT a.ts, b.ts FROM log a JOIN log b ON a.up = b.up + 1 WHERE a.phone = ? AND b.phone = ? ORDER BY 1, 2",
    "SELECT phone, count(*) FROM log WHERE phone IN (?, ?) GROUP BY phone ORDER BY count(*), phone",
    "SELECT ts FROM log WHERE phone = ? UNION ALL SELECT id FROM item WHERE id < 5 ORDER BY 1",
    "SELECT ts FROM log WHERE phone = ? AND item IN (SELECT id FROM item WHERE id < 20) ORDER BY ts",
    "SELECT ts, row_number() OVER (ORDER BY up DESC) FROM log WHERE phone = ? ORDER BY ts LIMIT 4",
    "SELECT phone, max(up) FROM log WHERE phone >= ? GROUP BY phone ORDER BY max(up) DESC LIMIT 3",
    "SELECT count(*) FROM log a, item b WHERE a.phone = ? AND a.up > b.weight",
    "SELECT count(*) FROM log l WHERE l.phone = ? AND EXISTS (SELECT 1 FROM item i WHERE i.id = l.item)",
    "SELECT count(*) FROM log l WHERE l.phone = ? AND NOT EXISTS (SELECT 1 FROM item i WHERE i.id = l.item)",
    "SELECT DISTINCT up / 50 FROM log WHERE phone LIKE ? ORDER BY 1",
    "SELECT i.id, g.n FROM item i JOIN (SELECT item, count(*) n FROM log WHERE phone = ? GROUP BY item) g ON g.item = i.id ORDER BY 1",
];

#[test]
fn a_kept_plan_gives_what_the_text_gives() {
    for salt in [0, 3] {
        let mut db = database(salt);
        for policy in [None, Some(Policy::Allow)] {
            db.guard = Guard { setting: policy, ..Guard::default() };
            for sql in QUERIES {
                let template = db.template(sql).unwrap_or_else(|| panic!("no template: {sql}"));
                let values = |i: usize| match i {
                    5 => Value::Null,
                    6 => Value::text("99"),
                    i => Value::text(format!("0{i}")),
                };
                let mut runs = 0;
                for i in [1, 2, 1, 5, 3, 6, 4] {
                    let params = [values(i), values((i + 1) % 5)];
                    let params = &params[..sql.matches('?').count()];
                    let expected = db.try_with(sql, params);
                    match (db.run_template(&template, params), expected) {
                        (Some(found), Ok(expected)) => {
                            assert_eq!(found.unwrap().rows, expected.rows, "{sql} {params:?}");
                            runs += 1;
                        }
                        (None, _) => {}
                        (Some(found), Err(error)) => panic!("{sql} {params:?}: {error}, and not {found:?}"),
                    }
                }
                assert!(policy.is_none() || runs >= 5, "{sql}: {runs}");
            }
        }
    }
}

#[test]
fn a_kept_plan_sees_later_rows_and_looks_up_what_the_text_would() {
    let mut db = database(3);
    db.guard = Guard::default();
    let template = db.template(QUERIES[0]).unwrap();
    let run = |db: &Database| db.run_template(&template, &[Value::text("00")]).unwrap().unwrap();
    let before = run(&db);
    assert_eq!(before.rows, ["9|269"]);
    let text = db.try_with(QUERIES[0], &[Value::text("00")]).unwrap();
    assert_eq!(before.keys_read(), text.keys_read());
    db.change("UPSERT INTO log VALUES ('00', 50, 1, 3)");
    assert_eq!(run(&db).rows, ["10|278"]);
}

/// The operators of a query that is planned without values, and whether its plan is kept.
fn operators(db: &Database, sql: &str) -> (BTreeSet<String>, bool) {
    let planned = db.plan_with(sql, Params::OPEN, Mode::Keep).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let text = planned.plan_text();
    let name = |line: &str| line.trim().split([':', '(']).next().unwrap_or_default().to_owned();
    (text.lines().map(name).collect(), planned.into_template().is_some())
}

/// Each of these is known to forget a run: where DataFusion plans another one, it is to be looked at.
#[test]
fn kept_plans_hold_known_operators() {
    let (mut db, mut found) = (database(3), BTreeSet::new());
    db.guard = Guard { setting: Some(Policy::Allow), ..Guard::default() };
    let more = [
        "SELECT ts FROM log WHERE phone = ? ORDER BY up LIMIT 3 OFFSET 1",
        "SELECT ts FROM log, (VALUES (1), (2)) v (x) WHERE phone = ? AND ts = x",
        "SELECT count(*) FROM log a CROSS JOIN item b WHERE a.phone = ?",
        "SELECT ts FROM log WHERE phone = ? AND 1 = 0 UNION SELECT id FROM item",
        "SELECT phone, ts FROM log WHERE phone > ? INTERSECT SELECT name, id FROM item",
        "SELECT phone, count(*) FROM log WHERE phone > ? GROUP BY phone HAVING count(*) > 1 ORDER BY 1",
        "SELECT ts FROM log WHERE phone > ? UNION ALL SELECT id FROM item LIMIT 3",
        "SELECT up, count(*) FROM log WHERE phone > ? GROUP BY up UNION ALL SELECT up, count(*) FROM log GROUP BY up",
        "SELECT ts FROM log LEFT JOIN (SELECT id FROM item WHERE 1 = 0) i ON id = ts WHERE phone = ?",
        "SELECT ts FROM log, (SELECT 1 AS x) WHERE phone = ?",
    ];
    for sql in QUERIES.into_iter().chain(more) {
        let (names, is_kept) = operators(&db, sql);
        assert!(is_kept, "{sql}: {names:?}");
        found.extend(names);
    }
    let known = "AggregateExec BoundedWindowAggExec CoalescePartitionsExec ConstantsHiddenExec CooperativeExec \
                 CrossJoinExec DataSourceExec FilterExec GlobalLimitExec HashJoinExec InterleaveExec LookupJoinExec \
                 NestedLoopJoinExec PlaceholderRowExec ProjectionExec RepartitionExec SortExec \
                 SortPreservingMergeExec TableScanExec UnionExec";
    assert_eq!(found.into_iter().collect::<Vec<_>>(), known.split_whitespace().collect::<Vec<_>>());
}

#[test]
fn plans_of_other_operators_are_not_kept() {
    let db = database(0);
    for (sql, operator) in [
        ("SELECT ts FROM log, generate_series(1, 3) g (x) WHERE phone = ? AND ts = x", "LazyMemoryExec"),
        ("SELECT ts, unnest([1, 2]) FROM log WHERE phone = ?", "UnnestExec"),
        (
            "SELECT ts, sum(up) OVER (ORDER BY ts ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) FROM log WHERE phone = ?",
            "WindowAggExec",
        ),
        (
            "WITH i AS (SELECT random() AS r FROM item) SELECT ts, (SELECT max(r) FROM i), (SELECT min(r) FROM i) FROM log WHERE phone = ?",
            "SharedExec",
        ),
        (
            "WITH RECURSIVE r AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM r WHERE x < 3)
             SELECT ts FROM log, r WHERE phone = ? AND ts = x",
            "RecursiveQueryExec",
        ),
    ] {
        let (names, is_kept) = operators(&db, sql);
        assert!(names.contains(operator) && !is_kept, "{sql}: {names:?}");
    }
}

#[test]
fn plans_that_depend_on_values_or_the_time_are_not_kept() {
    let db = database(0);
    for sql in [
        "SELECT ts + ? FROM log a JOIN item b ON a.item = b.id WHERE phone = '01'",
        "SELECT a.ts FROM log a JOIN item b ON a.item = b.id AND a.ts + b.id = ? WHERE phone = '01'",
        "SELECT phone FROM log WHERE phone = '01' ORDER BY up LIMIT ?",
        "SELECT phone, now() FROM log WHERE phone = ? ORDER BY up",
        "SELECT up FROM log WHERE phone = '01' GROUP BY up HAVING count(*) > ? ORDER BY 1",
    ] {
        assert!(db.template(sql).is_none(), "{sql}");
    }
}

#[test]
fn values_of_which_no_condition_is_made_want_another_plan() {
    let mut db = database(0);
    let sql = "SELECT count(*) FROM log a JOIN item b ON a.item = b.id WHERE a.phone LIKE ?";
    let template = db.template(sql).unwrap();
    assert!(db.run_template(&template, &[Value::text("0%")]).is_some());
    assert!(db.run_template(&template, &[Value::Int(1)]).is_none());
    assert!(db.run_template(&template, &[]).is_none());
    // A pattern that bounds nothing is refused, and the plan of the text says so.
    db.guard = Guard::default();
    assert!(db.run_template(&template, &[Value::text("%0")]).is_none());
    assert_eq!(db.try_with(sql, &[Value::text("%0")]).unwrap_err().code().sqlstate(), "54F01");
}

#[test]
fn a_table_that_grew_wants_another_plan() {
    let db = database(0);
    let template = db.template(QUERIES[0]).unwrap();
    let grow = |from: i64, to: i64| {
        let rows: Vec<String> = (from..to).map(|id| format!("({id}, 1, NULL)")).collect();
        db.change(&format!("UPSERT INTO item VALUES {}", rows.join(", ")));
    };
    grow(100, 3000);
    assert!(db.run_template(&template, &[Value::text("00")]).is_some());
    grow(3000, 6000);
    assert!(db.run_template(&template, &[Value::text("00")]).is_none());
}
