//! Plans of relational queries that are kept for further runs: nothing of a run is left in them.

use saltwing::{Database, blocking, params};

const JOIN: &str = "SELECT count(*), sum(n.size) FROM log l JOIN name n ON n.phone = l.phone WHERE l.phone = ?";

fn connection() -> blocking::Connection {
    let connection = Database::memory().unwrap().connect().blocking();
    for sql in [
        "CREATE TABLE log (phone VARCHAR NOT NULL, ts BIGINT NOT NULL, up BIGINT, CONSTRAINT pk PRIMARY KEY (phone, ts)) SALT_BUCKETS = 3",
        "CREATE TABLE name (phone VARCHAR NOT NULL PRIMARY KEY, size BIGINT)",
    ] {
        connection.execute(sql, ()).unwrap();
    }
    for phone in 0..20i64 {
        for ts in 0..=phone {
            connection.execute("UPSERT INTO log VALUES (?, ?, 1)", params![phone.to_string(), ts]).unwrap();
        }
        connection.execute("UPSERT INTO name VALUES (?, ?)", params![phone.to_string(), phone]).unwrap();
    }
    connection
}

fn answer(statement: &blocking::Statement, phone: &str) -> (i64, Option<i64>) {
    let row = statement.query(params![phone]).unwrap().next().unwrap().unwrap();
    (row.get(0).unwrap(), row.get(1).unwrap())
}

#[test]
fn each_run_has_its_values_and_sees_the_commits_before_it() {
    let connection = connection();
    let statement = connection.prepare(JOIN).unwrap();
    for phone in (0..20i64).chain(0..20) {
        assert_eq!(answer(&statement, &phone.to_string()), (phone + 1, Some(phone * (phone + 1))));
    }
    assert_eq!(answer(&statement, "none"), (0, None));
    connection.execute("UPSERT INTO log VALUES ('3', 100, 1)", ()).unwrap();
    assert_eq!(answer(&statement, "3"), (5, Some(15)));
    connection.execute("DELETE FROM name WHERE phone = '3'", ()).unwrap();
    assert_eq!(answer(&statement, "3"), (0, None));
}

#[test]
fn runs_at_the_same_time_do_not_meet() {
    let connection = connection();
    let statement = connection.prepare(JOIN).unwrap();
    std::thread::scope(|scope| {
        for first in 0..4i64 {
            let statement = &statement;
            scope.spawn(move || {
                for i in 0..40 {
                    let phone = (first * 5 + i) % 20;
                    assert_eq!(answer(statement, &phone.to_string()), (phone + 1, Some(phone * (phone + 1))));
                }
            });
        }
    });
}

#[test]
fn another_definition_wants_another_plan() {
    let connection = connection();
    let statement = connection.prepare(JOIN).unwrap();
    for _ in 0..3 {
        assert_eq!(answer(&statement, "4"), (5, Some(20)));
    }
    connection.execute("ALTER TABLE name DROP size", ()).unwrap();
    let gone = statement.query(params!["4"]).err().unwrap();
    assert_eq!(gone.code().as_str(), "no_such_column");
    connection.execute("ALTER TABLE name ADD size BIGINT DEFAULT 2", ()).unwrap();
    for _ in 0..3 {
        assert_eq!(answer(&statement, "4"), (5, Some(10)));
    }
}

#[test]
fn budgets_and_overrides_are_those_of_the_run() {
    let connection = connection();
    let sql = "SELECT count(*) FROM log l JOIN name n ON n.phone = l.phone WHERE l.up = 1";
    let code =
        || connection.query(sql, ()).and_then(|mut rows| rows.next().transpose()).err().map(|e| e.code().as_str());
    for _ in 0..2 {
        assert_eq!(code(), Some("full_scan_refused"));
        connection.execute("SET full_scan = 'allow'", ()).unwrap();
        assert_eq!(code(), None);
        assert_eq!(code(), None);
        connection.execute("SET rows_max = 10", ()).unwrap();
        assert_eq!(code(), Some("budget_exceeded"));
        connection.execute("SET rows_max = 0", ()).unwrap();
        assert_eq!(code(), None);
        connection.execute("SET full_scan = 'error'", ()).unwrap();
    }
}
