//! The guard over plans of several tables.

use saltwing_bind::{ParamValues, Params};
use saltwing_datafusion::Mode;
use saltwing_plan::{Policy, Rule};
use saltwing_planner::Guard;
use saltwing_types::Value;

use crate::database::Database;

fn database() -> Database {
    let mut db = Database::new(&[
        "CREATE TABLE log (phone VARCHAR NOT NULL, ts BIGINT NOT NULL, up INTEGER, CONSTRAINT pk PRIMARY KEY (phone, ts)) SALT_BUCKETS = 3",
        "CREATE TABLE person (phone VARCHAR NOT NULL PRIMARY KEY, name VARCHAR)",
        "UPSERT INTO log VALUES ('138', 1, 10)",
        "UPSERT INTO person VALUES ('138', 'ann')",
    ]);
    db.guard = Guard::default();
    db
}

#[test]
fn full_scans_are_refused_on_each_side() {
    let db = database();
    for sql in [
        "SELECT * FROM log",
        "SELECT count(*) FROM log",
        "SELECT * FROM log WHERE up = 5",
        "SELECT * FROM log WHERE upper(phone) = '138' AND ts = 5",
        "SELECT * FROM log l JOIN person p ON l.phone = p.phone WHERE p.name = 'ann'",
        "SELECT * FROM log l JOIN person p ON l.up = p.name::INTEGER WHERE p.phone = '138'",
        "SELECT * FROM person WHERE phone IN (SELECT phone FROM log)",
        "SELECT * FROM person p WHERE phone = '138' AND EXISTS (SELECT 1 FROM log l WHERE l.up = 1)",
        "SELECT phone FROM person WHERE phone = '1' UNION ALL SELECT phone FROM log",
        "SELECT DISTINCT phone FROM log LIMIT 10",
        "SELECT phone FROM log ORDER BY up LIMIT 10",
        "SELECT phone FROM log LIMIT 1001",
        "SELECT phone FROM log LIMIT 500 OFFSET 501",
        "SELECT * FROM log, person LIMIT 1",
        "SELECT (SELECT max(up) FROM log) FROM person WHERE phone = '138'",
    ] {
        db.refuses(sql, "54F01");
    }
}

#[test]
fn bounded_reads_pass() {
    let db = database();
    for sql in [
        "SELECT * FROM log WHERE phone = '138'",
        "SELECT * FROM log WHERE phone > '1' AND up = 5",
        "SELECT * FROM log LIMIT 1000",
        "SELECT * FROM log LIMIT 900 OFFSET 100",
        "SELECT up + 1 FROM log ORDER BY phone, ts LIMIT 10",
        "SELECT phone FROM log ORDER BY phone DESC LIMIT 10",
        "SELECT min(phone) FROM log",
        "SELECT max(phone), min(phone) FROM log",
        "SELECT l.* FROM log l JOIN person p ON l.phone = p.phone WHERE p.phone = '138'",
        "SELECT * FROM log WHERE phone = '138' AND phone = '139'",
        "SELECT * FROM information_schema.tables",
        "SELECT 1",
    ] {
        db.rows(sql);
    }
}

#[test]
fn refusals_name_what_is_missing() {
    let db = database();
    let error =
        db.try_with("SELECT *\nFROM person p\nJOIN log l ON p.phone = l.phone WHERE p.name = 'ann'", &[]).unwrap_err();
    let help = error.help.clone().unwrap_or_default();
    assert!(error.to_string().contains("phone") && help.contains("FULL_SCAN"), "{error}\n{help}");
    assert!(error.span.is_some());
}

#[test]
fn refusals_name_conditions_of_other_functions() {
    let db = database();
    let sql = "SELECT up FROM log WHERE levenshtein(phone, '3') > 1 AND up > 5";
    let help = db.try_with(sql, &[]).unwrap_err().help.unwrap_or_default();
    assert!(help.contains("levenshtein") && help.contains("does not count: it is more than ranges can tell"), "{help}");
    let sql = "SELECT up FROM log WHERE phone = '138' AND levenshtein(phone, '3') > 1";
    let planned = db.plan_with(sql, Params::NONE, Mode::Explain).unwrap();
    let reports = planned.accesses(false);
    let predicates = &reports[0].access.access().predicates;
    assert_eq!(predicates.len(), 2, "{predicates:?}");
}

#[test]
fn the_caret_stands_under_the_use_that_is_refused() {
    let db = database();
    for sql in [
        "SELECT ts FROM log WHERE phone = '1' UNION ALL SELECT ts FROM log",
        "SELECT 1 FROM log a, log b WHERE a.phone = '1'",
        "WITH q AS (SELECT ts FROM log WHERE phone = '1') SELECT ts FROM q UNION ALL SELECT ts FROM log",
    ] {
        let error = db.try_with(sql, &[]).unwrap_err();
        let column = sql.rfind("log").unwrap() + 1;
        assert_eq!(error.span.unwrap().start.column as usize, column, "{sql}");
    }
}

#[test]
fn overrides() {
    let mut db = database();
    assert_eq!(db.rows("SELECT /*+ FULL_SCAN(log) */ count(*) FROM log"), ["1"]);
    assert_eq!(db.rows("SELECT /*+ FULL_SCAN(l) */ count(*) FROM log AS l"), ["1"]);
    db.refuses("SELECT /*+ FULL_SCAN(person) */ count(*) FROM log", "54F01");
    db.refuses("SELECT /*+ FULL_SCAN(l) */ count(*) FROM log l, person p", "54F01");
    db.guard.setting = Some(Policy::Warn);
    assert_eq!(db.answer("SELECT count(*) FROM log, person").warnings.len(), 2);
    db.guard.forbid = true;
    db.refuses("SELECT /*+ FULL_SCAN(log) */ count(*) FROM log", "54F01");
}

#[test]
fn explain_refuses_nothing_and_lists_all() {
    let db = database();
    let verdicts = |sql: &str, params: Params<'_>| {
        let planned = db.plan_with(sql, params, Mode::Explain).unwrap_or_else(|e| panic!("{sql}: {e}"));
        let reports = planned.accesses(false);
        let verdict = |access: &saltwing_planner::TableAccess| {
            let verdict = &access.access().verdict;
            (access.alias().map(str::to_owned), verdict.allowed, verdict.rule)
        };
        let mut found: Vec<_> = reports.iter().map(|report| verdict(&report.access)).collect();
        found.sort_by(|a, b| a.0.cmp(&b.0));
        found
    };
    let sql = "SELECT * FROM log l JOIN person p ON l.up = 5 WHERE p.phone = '138'";
    assert_eq!(
        verdicts(sql, Params::NONE),
        [(Some("l".into()), Some(false), Rule::Refused), (Some("p".into()), Some(true), Rule::Bounded)]
    );
    assert_eq!(verdicts("SELECT * FROM log WHERE phone = ?", Params::OPEN), [(None, Some(true), Rule::Bounded)]);
    assert_eq!(verdicts("SELECT * FROM log LIMIT ?", Params::OPEN), [(None, None, Rule::Limit)]);
    assert_eq!(verdicts("SELECT * FROM log ORDER BY phone, ts LIMIT ?", Params::OPEN), [(None, None, Rule::Limit)]);
    let ten = [Value::Int(10)];
    assert_eq!(
        verdicts("SELECT * FROM log LIMIT ?", Params::Given(ParamValues::untyped(&ten))),
        [(None, Some(true), Rule::Limit)]
    );
}
