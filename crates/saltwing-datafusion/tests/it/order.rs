//! Orders that follow the key: buckets are merged, nothing is sorted.

use saltwing_plan::OrderKind;

use crate::database::Database;

fn database(options: &str) -> Database {
    let db = Database::new(&[&format!(
        "CREATE TABLE log (phone VARCHAR NOT NULL, ts BIGINT NOT NULL, up INTEGER,
          CONSTRAINT pk PRIMARY KEY (phone, ts DESC)) {options}"
    )]);
    for phone in 0..20 {
        let rows: Vec<String> = (0..10).map(|ts| format!("('{phone:02}', {ts}, {})", phone * 10 + ts)).collect();
        db.change(&format!("UPSERT INTO log VALUES {}", rows.join(", ")));
    }
    db
}

#[test]
fn key_order_is_not_sorted() {
    for options in ["", "SALT_BUCKETS = 4"] {
        let db = database(options);
        let buckets = if options.is_empty() { 1 } else { 4 };
        let forward = "SELECT phone, ts FROM log ORDER BY phone, ts DESC LIMIT 3";
        let cases = [
            (forward, vec!["00|9", "00|8", "00|7"], 3 + buckets - 1),
            (
                "SELECT phone, ts FROM log ORDER BY phone DESC, ts LIMIT 2 OFFSET 1",
                vec!["19|1", "19|2"],
                3 + buckets - 1,
            ),
            ("SELECT ts AS t, phone AS p FROM log ORDER BY p, t DESC LIMIT 1", vec!["9|00"], buckets),
            ("SELECT up + 1 FROM log ORDER BY phone, ts DESC LIMIT 2", vec!["10", "9"], 2 + buckets - 1),
            ("SELECT ts FROM log WHERE phone = '05' ORDER BY ts DESC LIMIT 2", vec!["9", "8"], 2 + buckets - 1),
            ("SELECT ts FROM log WHERE phone = '05' ORDER BY ts LIMIT 2", vec!["0", "1"], 2 + buckets - 1),
            ("SELECT * FROM (SELECT phone, ts FROM log) x ORDER BY phone, ts DESC LIMIT 1", vec!["00|9"], buckets),
        ];
        for (sql, rows, keys_read) in cases {
            let answer = db.answer(sql);
            assert_eq!(answer.rows, rows, "{options} {sql}");
            assert!(answer.keys_read() <= keys_read, "{options} {sql}: {}", answer.keys_read());
            let plan = db.plan_text(sql);
            assert!(!plan.contains("SortExec"), "{options} {sql}\n{plan}");
        }
        let all = db.rows("SELECT phone, ts FROM log ORDER BY phone, ts DESC");
        assert_eq!((all.len(), all[199].as_str()), (200, "19|0"));
    }
}

#[test]
fn other_orders_are_sorted() {
    let db = database("SALT_BUCKETS = 4");
    assert_eq!(db.rows("SELECT phone, ts FROM log ORDER BY phone, ts LIMIT 1"), ["00|0"]);
    assert_eq!(db.rows("SELECT phone, ts FROM log ORDER BY ts DESC, phone DESC LIMIT 1"), ["19|9"]);
    assert_eq!(db.rows("SELECT up FROM log ORDER BY up DESC LIMIT 2"), ["199", "198"]);
    assert!(db.plan_text("SELECT up FROM log ORDER BY up DESC LIMIT 2").contains("SortExec"));
    // A limit below the order is not the order's to change.
    let sql = "SELECT phone FROM (SELECT phone, ts FROM log LIMIT 10) x ORDER BY phone DESC, ts LIMIT 1";
    assert_eq!(db.answer(sql).keys_read(), 10);
}

#[test]
fn nulls_have_their_place_in_the_key() {
    let db = Database::new(&[
        "CREATE TABLE p (a VARCHAR, b INTEGER NOT NULL, CONSTRAINT pk PRIMARY KEY (a, b))",
        "UPSERT INTO p VALUES (NULL, 1), ('x', 2), ('y', 3)",
    ]);
    assert_eq!(db.rows("SELECT a FROM p ORDER BY a, b"), ["NULL", "x", "y"]);
    assert!(!db.plan_text("SELECT a FROM p ORDER BY a, b").contains("SortExec"));
    assert_eq!(db.rows("SELECT a FROM p ORDER BY a DESC, b DESC"), ["NULL", "y", "x"]);
    assert_eq!(db.rows("SELECT a FROM p ORDER BY a DESC NULLS LAST, b DESC"), ["y", "x", "NULL"]);
    assert!(!db.plan_text("SELECT a FROM p ORDER BY a DESC NULLS LAST, b DESC").contains("SortExec"));
    assert_eq!(db.rows("SELECT min(a), max(a) FROM p"), ["x|y"]);
}

#[test]
fn min_and_max_of_the_leading_column_read_the_ends() {
    for (options, buckets) in [("", 1), ("SALT_BUCKETS = 4", 4)] {
        let db = database(options);
        for (sql, row, ends) in [
            ("SELECT min(phone) FROM log", "00", 1),
            ("SELECT max(phone) FROM log", "19", 1),
            ("SELECT max(phone), min(phone) FROM log", "19|00", 2),
        ] {
            let answer = db.answer(sql);
            assert_eq!(answer.rows, [row], "{sql}");
            assert!(answer.keys_read() <= ends * buckets, "{options} {sql}: {}", answer.keys_read());
        }
        assert_eq!(db.value("SELECT max(ts), min(ts) FROM log"), "9|0");
        assert_eq!(db.value("SELECT min(phone) FROM log WHERE up > 50"), "05");
    }
}

#[test]
fn accesses_tell_their_order() {
    use saltwing_bind::Params;
    use saltwing_datafusion::Mode;
    let db = database("SALT_BUCKETS = 4");
    let order = |sql: &str| {
        let planned = db.plan_with(sql, Params::NONE, Mode::Explain).unwrap();
        planned.accesses(false).iter().map(|report| report.access.access().order).collect::<Vec<_>>()
    };
    assert_eq!(order("SELECT * FROM log ORDER BY phone, ts DESC"), [OrderKind::Key]);
    assert_eq!(order("SELECT * FROM log ORDER BY phone DESC, ts"), [OrderKind::Reverse]);
    assert_eq!(order("SELECT * FROM log ORDER BY up"), [OrderKind::None]);
}
