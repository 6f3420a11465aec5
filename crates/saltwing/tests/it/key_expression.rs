//! Keys with computed parts through the library: what is read, files in and out, reopening.

use saltwing::{Database, params};

use crate::{code, texts};

const LOG: &str = "CREATE TABLE log (phone VARCHAR NOT NULL, day INTEGER NOT NULL, n INTEGER NOT NULL, up BIGINT, \
                   CONSTRAINT pk PRIMARY KEY (SUBSTR(MD5(phone), 1, 3), phone, day DESC, n))";
const PHONES: i64 = 50;
const DAYS: i64 = 4;
const ROWS_A_DAY: i64 = 5;

fn filled(options: &str) -> saltwing::blocking::Connection {
    let connection = Database::memory().unwrap().connect().blocking();
    connection.execute(&format!("{LOG} {options}"), ()).unwrap();
    let upsert = connection.prepare("UPSERT INTO log VALUES (?, ?, ?, ?)").unwrap();
    for phone in 0..PHONES {
        for row in 0..DAYS * ROWS_A_DAY {
            upsert.execute(params![(13_000 + phone).to_string(), row / ROWS_A_DAY, row % ROWS_A_DAY, row]).unwrap();
        }
    }
    connection
}

/// Rows, keys read, seeks and buckets of a query.
fn cost(connection: &saltwing::blocking::Connection, sql: &str) -> (usize, u64, u64, u32) {
    let mut rows = connection.query(sql, ()).unwrap();
    let count = rows.by_ref().map(Result::unwrap).count();
    let stats = rows.stats();
    (count, stats.keys_read, stats.seeks, stats.buckets)
}

#[test]
fn a_phones_day_is_one_seek_and_nothing_else_is_read() {
    for options in ["", "SALT_BUCKETS = 8, SALT_BY = (phone)"] {
        let connection = filled(options);
        let cost = |sql: &str| cost(&connection, sql);
        assert_eq!(cost("SELECT up FROM log WHERE phone = '13007' AND day = 2"), (5, 5, 1, 1), "{options}");
        assert_eq!(
            cost("SELECT up FROM log WHERE phone = '13007' AND day >= 1 AND day < 3 ORDER BY day"),
            (10, 10, 1, 1)
        );
        assert_eq!(cost("SELECT up FROM log WHERE phone = '13007' ORDER BY day DESC, n LIMIT 3"), (3, 3, 1, 1));
        assert_eq!(cost("SELECT up FROM log WHERE phone = '13007' AND day = 2 AND n = 4"), (1, 1, 1, 1));
        let (rows, keys_read, seeks, _) =
            cost("SELECT up FROM log WHERE phone IN ('13001', '13002', '13003') AND day > 1");
        assert_eq!((rows, keys_read, seeks), (30, 30, 3), "as many ranges as phones");
        assert_eq!(code(texts(&connection, "SELECT up FROM log WHERE phone > '13007'")), "full_scan_refused");
    }
}

#[test]
fn parameters_fix_the_part_when_they_have_values() {
    let connection = filled("");
    let day = connection.prepare("SELECT n FROM log WHERE phone = ? AND day = ? ORDER BY n").unwrap();
    for phone in ["13000", "13033"] {
        let mut rows = day.query(params![phone, 3]).unwrap();
        assert_eq!(rows.by_ref().count() as i64, ROWS_A_DAY);
        assert_eq!(rows.stats().keys_read as i64, ROWS_A_DAY);
    }
    let point = connection.prepare("SELECT up FROM log WHERE phone = ? AND day = ? AND n = ?").unwrap();
    for (phone, found) in [("13007", 1), ("13008", 1), ("1", 0)] {
        let mut rows = point.query(params![phone, 1, 2]).unwrap();
        assert_eq!(rows.by_ref().map(|row| row.unwrap().get::<i64>(0).unwrap()).collect::<Vec<_>>(), vec![7; found]);
        assert_eq!((rows.stats().keys_read as usize, rows.stats().seeks), (found, 1));
    }
    assert_eq!(code(connection.prepare("SELECT n FROM log WHERE phone > ?")), "full_scan_refused");
    let listed = connection.prepare("SELECT n FROM log WHERE phone IN (?, ?) AND n = 0").unwrap();
    assert_eq!(listed.query(params!["13000", "13001"]).unwrap().count() as i64, 2 * DAYS);
}

#[test]
fn what_is_shown_makes_the_same_table_and_copy_fills_it() {
    let connection = filled("SALT_BUCKETS = 4, SALT_BY = (phone)");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("log.csv").display().to_string();
    let all = "SELECT /*+ FULL_SCAN */ * FROM log";
    let before = texts(&connection, all).unwrap();
    let shown = texts(&connection, "SHOW CREATE TABLE log").unwrap().concat();
    connection.execute(&format!("COPY log TO '{file}' WITH (HEADER)"), ()).unwrap();
    assert_eq!(std::fs::read_to_string(&file).unwrap().lines().next(), Some("phone,day,n,up"));
    connection.execute("DROP TABLE log", ()).unwrap();
    connection.execute(&shown, ()).unwrap();
    connection.execute(&format!("COPY log FROM '{file}' WITH (HEADER)"), ()).unwrap();
    assert_eq!(texts(&connection, "SHOW CREATE TABLE log").unwrap().concat(), shown);
    assert_eq!(texts(&connection, all).unwrap(), before);
    assert_eq!(cost(&connection, "SELECT up FROM log WHERE phone = '13007' AND day = 2"), (5, 5, 1, 1));
    connection
        .execute("UPSERT INTO log (phone, day, n) SELECT phone, day + 10, n FROM log WHERE phone = '13007'", ())
        .unwrap();
    assert_eq!(cost(&connection, "SELECT up FROM log WHERE phone = '13007' AND day >= 10").0 as i64, DAYS * ROWS_A_DAY);
}

#[test]
fn a_reopened_database_computes_the_same_keys() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    {
        let connection = Database::open(&path).unwrap().connect().blocking();
        connection.execute(LOG, ()).unwrap();
        connection.execute("UPSERT INTO log VALUES ('138', 1, 1, 10)", ()).unwrap();
    }
    let connection = Database::open(&path).unwrap().connect().blocking();
    connection.execute("UPSERT INTO log (phone, day, n) VALUES ('138', 1, 1)", ()).unwrap();
    assert_eq!(texts(&connection, "SELECT * FROM log WHERE phone = '138'").unwrap(), ["138|1|1|10"]);
    assert_eq!(
        texts(&connection, "SELECT _row_key FROM log WHERE phone = '138'").unwrap(),
        ["30313331333800 7ffffffe 80000001".replace(' ', "")]
    );
}
