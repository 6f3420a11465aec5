//! Joins that look a table up by its key.

use std::sync::atomic::Ordering::Relaxed;

use saltwing_bind::Params;
use saltwing_datafusion::Mode;
use saltwing_plan::{AccessKind, Rule};
use saltwing_planner::Guard;

use crate::database::Database;

/// 20 phones with 10 sessions each in `log`, every other one in `person`; `visit` names some, and NULL.
fn database(salt: u16) -> Database {
    let mut db = Database::new(&[
        &format!(
            "CREATE TABLE log (phone VARCHAR NOT NULL, ts BIGINT NOT NULL, up INTEGER,
              CONSTRAINT pk PRIMARY KEY (phone, ts DESC)) SALT_BUCKETS = {salt}"
        ),
        &format!("CREATE TABLE person (phone VARCHAR NOT NULL PRIMARY KEY, name VARCHAR) SALT_BUCKETS = {salt}"),
        "CREATE TABLE visit (day INTEGER NOT NULL, nr INTEGER NOT NULL, phone VARCHAR, at SMALLINT,
          CONSTRAINT pk PRIMARY KEY (day, nr))",
        "UPSERT INTO visit VALUES (1, 1, '02', 3), (1, 2, '02', 4), (1, 3, '03', 3), (1, 4, NULL, 3), (1, 5, '77', NULL),
         (1, 6, '04', 99), (2, 1, '04', 1)",
    ]);
    for phone in 0..20 {
        let rows: Vec<String> = (0..10).map(|ts| format!("('{phone:02}', {ts}, {})", phone * 10 + ts)).collect();
        db.change(&format!("UPSERT INTO log VALUES {}", rows.join(", ")));
        if phone % 2 == 0 {
            db.change(&format!("UPSERT INTO person VALUES ('{phone:02}', 'p{phone}')"));
        }
    }
    db.guard = Guard::default();
    db
}

/// The query gives what it gives when nothing can be looked up, and reads this many keys of the table looked up.
#[track_caller]
fn looks_up(sql: &str, table: &str, keys: u64) {
    for salt in [1, 3] {
        let mut db = database(salt);
        let planned = db.plan_with(sql, Params::NONE, Mode::Execute).unwrap_or_else(|e| panic!("{sql}: {e}"));
        assert!(planned.plan_text().contains("LookupJoinExec"), "{sql}\n{}", planned.plan_text());
        let mut found = db.rows(sql);
        let answer = db.answer(sql);
        let (_, counters) = answer.reads.iter().find(|(name, _)| name == table).unwrap();
        assert_eq!(counters.keys_read.load(Relaxed), keys, "keys of {table} in {sql}");
        db.guard.setting = Some(saltwing_plan::Policy::Allow);
        let unkeyed = sql.replace(" = k.", " || '' = k.");
        assert_ne!(unkeyed, sql);
        let mut expected = db.rows(&unkeyed);
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{sql}");
    }
}

#[test]
fn a_key_or_its_prefix_is_looked_up() {
    looks_up("SELECT v.nr, k.name FROM visit v JOIN person k ON v.phone = k.phone WHERE v.day = 1", "person", 2);
    looks_up("SELECT v.nr, k.ts FROM visit v JOIN log k ON v.phone = k.phone WHERE v.day = 1", "log", 30);
    looks_up(
        "SELECT v.nr, k.up FROM log k JOIN visit v ON v.phone = k.phone AND k.ts = v.at WHERE v.day = 1",
        "log",
        3,
    );
    looks_up("SELECT v.nr, k.up FROM visit v JOIN log k ON v.phone = k.phone AND k.ts = 5 WHERE v.day = 1", "log", 3);
    looks_up("SELECT v.nr, k.name FROM visit v LEFT JOIN person k ON v.phone = k.phone WHERE v.day = 1", "person", 2);
    looks_up("SELECT v.nr, k.name FROM person k RIGHT JOIN visit v ON v.phone = k.phone WHERE v.day = 1", "person", 2);
}

#[test]
fn subqueries_look_up_on_either_side() {
    looks_up(
        "SELECT nr FROM visit v WHERE day = 1 AND EXISTS (SELECT 1 FROM person k WHERE v.phone = k.phone)",
        "person",
        2,
    );
    looks_up(
        "SELECT nr FROM visit v WHERE day = 1 AND NOT EXISTS (SELECT 1 FROM person k WHERE v.phone = k.phone)",
        "person",
        2,
    );
    looks_up(
        "SELECT phone, ts FROM log k WHERE EXISTS (SELECT 1 FROM visit v WHERE v.day = 1 AND v.phone = k.phone)",
        "log",
        30,
    );
}

#[test]
fn in_and_equal_to_a_subquery_look_up() {
    let db = database(3);
    let keys = |sql: &str| db.answer(sql).reads.iter().map(|(_, c)| c.keys_read.load(Relaxed)).max();
    let sql = "SELECT count(*) FROM log WHERE phone IN (SELECT phone FROM visit WHERE day = 1)";
    assert_eq!((db.value(sql).as_str(), keys(sql)), ("30", Some(30)));
    let sql = "SELECT count(*) FROM log WHERE phone = (SELECT max(phone) FROM visit WHERE day = 2)";
    assert_eq!((db.value(sql).as_str(), keys(sql)), ("10", Some(10)));
    let sql =
        "SELECT count(*) FROM visit v, person p, log l WHERE v.day = 2 AND p.phone = v.phone AND l.phone = p.phone";
    assert_eq!((db.value(sql).as_str(), keys(sql)), ("10", Some(10)));
}

#[test]
fn joins_are_put_in_an_order_that_lookups_serve() {
    let db = database(3);
    let conditions = "v.day = 2 AND p.phone = v.phone AND l.phone = p.phone AND l.ts > 3";
    for from in
        ["log l, person p, visit v", "person p, log l, visit v", "log l, visit v, person p", "visit v, log l, person p"]
    {
        let sql = format!("SELECT l.ts, p.name, v.nr FROM {from} WHERE {conditions} ORDER BY l.ts LIMIT 2");
        assert_eq!(db.rows(&sql), ["4|p4|1", "5|p4|1"], "{sql}");
        let answer = db.answer(&sql);
        let log = answer.reads.iter().find(|(name, _)| name == "log").unwrap();
        assert_eq!(log.1.keys_read.load(Relaxed), 6, "{sql}");
    }
    let starred = db.rows("SELECT * FROM log l JOIN visit v ON l.phone = v.phone WHERE v.day = 2 AND l.ts = 4");
    assert_eq!(starred, ["04|4|44|2|1|04|1"]);
}

#[test]
fn what_no_lookup_bounds_is_refused() {
    let db = database(3);
    for sql in [
        "SELECT 1 FROM visit v JOIN log k ON v.at = k.ts WHERE v.day = 1",
        "SELECT 1 FROM visit v JOIN person k ON v.phone = k.name WHERE v.day = 1",
        "SELECT 1 FROM visit v JOIN person k ON v.phone = k.phone",
        "SELECT 1 FROM person k LEFT JOIN visit v ON v.phone = k.phone AND v.day = 1",
        "SELECT 1 FROM (SELECT * FROM visit WHERE day = 1) v FULL JOIN person k ON v.phone = k.phone",
        "SELECT 1 FROM person k WHERE phone NOT IN (SELECT phone FROM visit WHERE day = 1)",
    ] {
        db.refuses(sql, "54F01");
    }
}

#[test]
fn explain_shows_the_lookup_as_it_will_be() {
    let db = database(3);
    let sql = "SELECT * FROM visit v JOIN log l ON v.phone = l.phone WHERE v.day = 1";
    let planned = db.plan_with(sql, Params::NONE, Mode::Explain).unwrap();
    let reports = planned.accesses(false);
    let log = reports.iter().find(|report| report.access.table().def().name.name == "log").unwrap();
    let access = log.access.access();
    assert_eq!((access.kind, access.verdict.rule, access.spans()), (AccessKind::Range, Rule::Bounded, None));
}

#[test]
fn many_outer_rows_are_looked_up_in_groups() {
    let db = database(3);
    let rows: Vec<String> = (0..5000).map(|nr| format!("(7, {nr}, '{:02}', {})", nr % 25, nr % 12)).collect();
    db.change(&format!("UPSERT INTO visit VALUES {}", rows.join(", ")));
    let sql = "SELECT count(*), sum(l.up) FROM visit v JOIN log l ON v.phone = l.phone AND l.ts = v.at WHERE v.day = 7";
    // Of 5,000 pairs those with one of 20 phones and one of 10 times.
    let expected: (i64, i64) = (0..5000)
        .filter(|nr| nr % 25 < 20 && nr % 12 < 10)
        .fold((0, 0), |(count, sum), nr| (count + 1, sum + (nr % 25) * 10 + nr % 12));
    assert_eq!(db.rows(sql), [format!("{}|{}", expected.0, expected.1)]);
    let sql = "SELECT count(*) FROM log l WHERE EXISTS (SELECT 1 FROM visit v WHERE v.day = 7 AND v.phone = l.phone)";
    assert_eq!(db.value(sql), "200");
}

/// EXPLAIN shows what a computed key is equal to as it was written.
#[test]
fn computed_keys_are_shown_in_sql() {
    let db = database(0);
    let sql = "SELECT v.nr FROM visit v JOIN person k ON k.phone = v.phone || 'x' WHERE v.day = 1";
    let plan = db.plan_with(sql, Params::NONE, Mode::Execute).unwrap().plan_text();
    assert!(plan.contains("keys=[phone = phone || 'x']"), "{plan}");
    assert!(!plan.contains("Call("), "{plan}");
}
