//! What estimates choose among plans that are allowed.

use std::sync::atomic::Ordering::Relaxed;

use saltwing_access::{Durability, TableStore};
use saltwing_bind::Params;
use saltwing_datafusion::Mode;
use saltwing_planner::Guard;
use saltwing_types::Value;

use crate::database::Database;

const BIG: i64 = 40_000;
const MIDDLE: i64 = 3_000;

/// `big` has 40,000 rows, `middle` 3,000 and `small` 10; each has a key, and a number that any may be joined by.
fn database() -> Database {
    let mut db = Database::new(&[
        "CREATE TABLE big (k INTEGER NOT NULL PRIMARY KEY, x INTEGER)",
        "CREATE TABLE middle (k INTEGER NOT NULL PRIMARY KEY, x INTEGER)",
        "CREATE TABLE small (k INTEGER NOT NULL PRIMARY KEY, x INTEGER)",
    ]);
    for (name, rows) in [("big", BIG), ("middle", MIDDLE), ("small", 10)] {
        let table = db.catalog.snapshot().unwrap().resolve(None, name).unwrap();
        let mut writes = db.tables.batch();
        for k in 0..rows {
            writes.put(&table, vec![Value::Int(k), Value::Int(k % 100)]).unwrap();
        }
        writes.commit(Durability::Buffered).unwrap();
    }
    db.guard = Guard::default();
    db
}

/// The tables of a plan's scans, in its order.
fn tables(db: &Database, sql: &str) -> Vec<String> {
    let plan = db.plan_text(sql);
    let scans = plan.lines().filter_map(|line| line.split("TableScanExec: table=").nth(1));
    scans.map(|rest| rest.split(',').next().unwrap_or(rest).to_owned()).collect()
}

#[test]
fn the_smaller_side_is_hashed() {
    for merged in [false, true] {
        let db = database();
        if merged {
            db.tables.merge().unwrap();
        }
        let on = "ON b.x = m.x WHERE b.k >= 0 AND m.k >= 0";
        assert_eq!(tables(&db, &format!("SELECT count(*) FROM big b JOIN middle m {on}")), ["middle", "big"]);
        assert_eq!(tables(&db, &format!("SELECT count(*) FROM middle m JOIN big b {on}")), ["middle", "big"]);
        // What ranges leave counts.
        let on = "ON b.x = m.x WHERE b.k < 1100 AND m.k >= 0";
        assert_eq!(tables(&db, &format!("SELECT count(*) FROM middle m JOIN big b {on}")), ["big", "middle"]);
    }
}

#[test]
fn inner_joins_begin_with_the_fewest_rows() {
    let db = database();
    let conditions = "WHERE b.x = m.x AND m.x = s.x AND b.k >= 0 AND m.k >= 0 AND s.k >= 0";
    for from in ["big b, middle m, small s", "middle m, big b, small s", "small s, middle m, big b"] {
        let sql = format!("SELECT count(*) FROM {from} {conditions}");
        assert_eq!(tables(&db, &sql), ["small", "middle", "big"], "{sql}");
    }
    // Over few rows the order is that of the text.
    let sql = "SELECT count(*) FROM middle m, small s, big b WHERE b.x = m.x AND m.x = s.x
               AND b.k < 100 AND m.k < 50 AND s.k >= 0";
    assert_eq!(tables(&db, sql), ["middle", "small", "big"]);
}

#[test]
fn few_rows_are_looked_up_for_though_the_table_is_bounded() {
    let db = database();
    let lookup = |sql: &str| db.plan_text(sql).contains("LookupJoinExec: join_type=Inner, table=big");
    let few = "SELECT count(*) FROM small s JOIN big b ON b.k = s.x WHERE s.k >= 0 AND b.k >= 0";
    assert!(lookup(few), "{}", db.plan_text(few));
    let answer = db.answer(few);
    let read = |name: &str| answer.reads.iter().find(|(table, _)| table == name).unwrap().1.keys_read.load(Relaxed);
    assert_eq!((answer.rows.as_slice(), read("big")), (&["10".to_owned()][..], 10));
    for not in [
        // Not so few beside what would be read.
        "SELECT count(*) FROM middle s JOIN big b ON b.k = s.x WHERE s.k >= 0 AND b.k < 12000",
        // Not by the key.
        "SELECT count(*) FROM small s JOIN big b ON b.x = s.x WHERE s.k >= 0 AND b.k >= 0",
        // Few anyway.
        "SELECT count(*) FROM small s JOIN big b ON b.k = s.x WHERE s.k >= 0 AND b.k < 2000",
    ] {
        assert!(!lookup(not), "{}", db.plan_text(not));
    }
}

#[test]
fn a_table_is_read_whole_for_many_rows_where_that_is_allowed() {
    let mut db = database();
    let sql = "SELECT count(*) FROM big b JOIN middle m ON m.k = b.x WHERE b.k >= 0";
    assert!(db.plan_text(sql).contains("LookupJoinExec"), "{}", db.plan_text(sql));
    assert_eq!(db.value(sql), BIG.to_string());
    let hinted = sql.replace("SELECT", "SELECT /*+ FULL_SCAN(m) */");
    assert!(!db.plan_text(&hinted).contains("LookupJoinExec"));
    assert_eq!(db.value(&hinted), BIG.to_string());
    db.guard.setting = Some(saltwing_plan::Policy::Allow);
    assert!(!db.plan_text(sql).contains("LookupJoinExec"));
    // Of few rows it is looked up all the same.
    let few = "SELECT count(*) FROM small s JOIN big b ON b.k = s.x WHERE s.k >= 0";
    assert!(db.plan_text(few).contains("LookupJoinExec"));
}

#[test]
fn estimates_answer_nothing() {
    let db = database();
    db.tables.merge().unwrap();
    let sql = "SELECT count(*), min(k) + max(x) FROM (SELECT k, x FROM big WHERE k >= 0 OFFSET 0) b";
    let answer = db.answer(sql);
    assert_eq!((answer.rows, answer.counters[0].keys_read.load(Relaxed)), (vec![format!("{BIG}|99")], BIG as u64));
    let planned = db.plan_with("SELECT count(*) FROM big", Params::NONE, Mode::Execute);
    assert_eq!(planned.err().unwrap().code().sqlstate(), "54F01");
}
