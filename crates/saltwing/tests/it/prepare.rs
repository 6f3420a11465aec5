//! What PREPARE tells before parameters have values.

use saltwing::{Database, blocking, params};

fn connection() -> blocking::Connection {
    let connection = Database::memory().unwrap().connect().blocking();
    for sql in [
        "CREATE TABLE log (phone VARCHAR NOT NULL, ts BIGINT NOT NULL, up BIGINT, CONSTRAINT pk PRIMARY KEY (phone, ts))",
        "CREATE TABLE name (phone VARCHAR NOT NULL PRIMARY KEY, name VARCHAR)",
        "UPSERT INTO log VALUES ('1', 1, 10), ('1', 2, 20), ('2', 1, 30)",
        "UPSERT INTO name VALUES ('1', 'one'), ('2', 'two')",
    ] {
        connection.execute(sql, ()).unwrap();
    }
    connection
}

fn code(sql: &str) -> Option<&'static str> {
    connection().prepare(sql).err().map(|error| error.code().as_str())
}

#[test]
fn a_full_scan_is_refused_whatever_runs_it() {
    assert_eq!(code("SELECT up FROM log WHERE up > ?"), Some("full_scan_refused"));
    assert_eq!(code("DELETE FROM log WHERE up > ?"), Some("full_scan_refused"));
    if !cfg!(feature = "datafusion") {
        return;
    }
    let join = "SELECT n.name, l.up FROM log l JOIN name n ON n.phone = l.phone";
    assert_eq!(code(&format!("{join} WHERE l.up > ?")), Some("full_scan_refused"));
    assert_eq!(code(&format!("{join} WHERE l.phone = ? AND n.phone = ?")), None);
    assert_eq!(code("DELETE FROM log WHERE up > (SELECT max(up) FROM log WHERE phone = ?)"), Some("full_scan_refused"));
    assert_eq!(
        code("UPSERT INTO log SELECT phone, ts + 1, sum(up) FROM log GROUP BY phone, ts"),
        Some("full_scan_refused")
    );
}

#[test]
fn names_are_looked_up() {
    assert_eq!(code("SELECT upp FROM log WHERE phone = ?"), Some("no_such_column"));
    if !cfg!(feature = "datafusion") {
        return;
    }
    assert_eq!(
        code("SELECT n.nam FROM log l JOIN name n ON n.phone = l.phone WHERE l.phone = ?"),
        Some("no_such_column")
    );
    assert_eq!(code("SELECT 1 FROM log l JOIN nome n ON n.phone = l.phone WHERE l.phone = ?"), Some("no_such_table"));
}

#[test]
fn what_needs_the_values_waits_for_them() {
    if !cfg!(feature = "datafusion") {
        return;
    }
    let connection = connection();
    let one = |sql: &str, params: saltwing::Params| -> i64 {
        let statement = connection.prepare(sql).unwrap();
        let mut rows = statement.query(params).unwrap();
        rows.next().unwrap().unwrap().get(0).unwrap()
    };
    assert_eq!(one("SELECT ? + 1", params![2]), 3);
    assert_eq!(one("SELECT sum(up) FROM log WHERE phone = ? AND ts < ? + 1", params!["1", 2]), 30);
    assert_eq!(
        one(
            "SELECT count(*) FROM log a JOIN log b ON a.ts = b.ts WHERE a.phone = ? AND b.phone = ?",
            params!["1", "2"]
        ),
        1
    );
}
