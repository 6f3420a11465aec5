//! Rust's types as parameters and in rows.

use std::borrow::Cow;
use std::time::{Duration, SystemTime};

use saltwing::blocking::Connection;
use saltwing::{ColumnIndex, Database, ErrorCode, Row, Timestamp, Value, params};

fn connection() -> Connection {
    let connection = Database::memory().unwrap().connect().blocking();
    let sql = "CREATE TABLE t (k BIGINT NOT NULL PRIMARY KEY, s VARCHAR, b VARBINARY, d DATE, ts TIMESTAMP)";
    connection.execute(sql, ()).unwrap();
    connection
}

#[test]
fn tuples_slices_and_texts_of_all_kinds_are_parameters() {
    let connection = connection();
    let name = String::from("ann");
    let upsert = "UPSERT INTO t (k, s, b) VALUES (?, ?, ?)";
    connection.execute(upsert, (1usize, &name, b"ab")).unwrap();
    connection.execute(upsert, params![2u8, 'x', vec![1u8]]).unwrap();
    connection.execute(upsert, (3, Cow::from("cow"), None::<Vec<u8>>)).unwrap();
    connection.execute(upsert, (4, Box::<str>::from("box"), &[7u8][..])).unwrap();
    let keys = [1i64, 2];
    let count = |rows: Vec<Row>| rows.len();
    let rows = connection.query("SELECT k FROM t WHERE k IN (?, ?)", &keys[..]).unwrap();
    assert_eq!(count(rows.collect::<Result<_, _>>().unwrap()), 2);
    let (text,): (String,) = connection.query_one("SELECT s FROM t WHERE k = ?", (1,)).unwrap();
    assert_eq!(text, "ann");
    let keys = vec![2];
    let (one, bytes): (char, Vec<u8>) = connection.query_one("SELECT s, b FROM t WHERE k = ?", &keys).unwrap();
    assert_eq!((one, bytes), ('x', vec![1]));
    let wanted: Option<(String,)> = connection.query_opt("SELECT s FROM t WHERE k = ?", [99]).unwrap();
    assert_eq!(wanted, None);
}

#[test]
fn one_row_is_one_row() {
    let connection = connection();
    connection.execute("UPSERT INTO t (k, s) VALUES (1, 'a'), (2, NULL)", ()).unwrap();
    let select = "SELECT k, s FROM t WHERE k >= ? ORDER BY k";
    let error = connection.query_one::<(i64, Option<String>)>(select, (1,)).unwrap_err();
    assert_eq!((error.code(), error.sqlstate()), (ErrorCode::SeveralRows, "21000"));
    let error = connection.query_one::<Row>(select, (9,)).unwrap_err();
    assert_eq!((error.code(), error.sqlstate()), (ErrorCode::NoRow, "02000"));
    assert_eq!(connection.query_one::<(i64, Option<String>)>(select, (2,)).unwrap(), (2, None));
    let error = connection.query_one::<(i64,)>(select, (2,)).unwrap_err();
    assert!(error.to_string().contains("2 columns, and 1 were asked for"), "{error}");
    let statement = connection.prepare(select).unwrap();
    assert_eq!(statement.query_opt::<(i64, Option<String>)>((2,)).unwrap(), Some((2, None)));
    let row: Row = statement.query_one((2,)).unwrap();
    let column = String::from("k");
    assert_eq!((row.get::<i64>(&column).unwrap(), row.to::<(i64, Option<String>)>().unwrap()), (2, (2, None)));
    // The trait in get's signature can be named.
    fn first(row: &Row, column: impl ColumnIndex) -> i64 {
        row.get(column).unwrap()
    }
    assert_eq!(first(&row, 0), 2);
}

#[cfg(feature = "datafusion")]
#[tokio::test]
async fn one_row_without_blocking() {
    let connection = Database::memory().unwrap().connect();
    let (sum,): (i64,) = connection.query_one("SELECT 1 + ?", (2,)).await.unwrap();
    assert_eq!(sum, 3);
    let none: Option<(i64,)> = connection.query_opt("SELECT 1 WHERE 1 = ?", (2,)).await.unwrap();
    assert_eq!(none, None);
    let statement = connection.prepare("SELECT ? + 1").await.unwrap();
    assert_eq!(statement.query_one::<(i64,)>((1,)).await.unwrap(), (2,));
}

#[test]
fn instants_go_in_and_come_out() {
    let connection = connection();
    let at = SystemTime::UNIX_EPOCH + Duration::new(1_700_000_000, 123_456_789);
    connection.execute("UPSERT INTO t (k, d, ts) VALUES (1, ?, ?)", params!["2024-05-01", at]).unwrap();
    let (day, instant): (Timestamp, SystemTime) =
        connection.query_one("SELECT d, ts FROM t WHERE k = 1 AND ts = ?", (at,)).unwrap();
    assert_eq!((day, instant), (Timestamp { ms: 1_714_521_600_000, nanos: 0 }, at));
    let value: (Value,) = connection.query_one("SELECT ts FROM t WHERE k = 1", ()).unwrap();
    assert_eq!(value.0, Value::Timestamp(Timestamp::from(at)));
    let error = connection.query_one::<(SystemTime,)>("SELECT k FROM t WHERE k = 1", ()).unwrap_err();
    assert!(error.to_string().contains("a date or an instant was asked for"), "{error}");
}

#[cfg(feature = "chrono")]
#[test]
fn dates_of_chrono() {
    use chrono::{DateTime, NaiveDate, NaiveDateTime, Utc};
    let connection = connection();
    let day = NaiveDate::from_ymd_opt(2024, 2, 29).unwrap();
    let at = day.and_hms_nano_opt(20, 15, 1, 5).unwrap();
    connection.execute("UPSERT INTO t (k, d, ts) VALUES (?, ?, ?)", (1, day, at.and_utc())).unwrap();
    let select = "SELECT d, ts FROM t WHERE k = 1 AND d = ? AND ts <= ?";
    let (d, ts): (NaiveDate, DateTime<Utc>) = connection.query_one(select, (day, at)).unwrap();
    assert_eq!((d, ts.naive_utc()), (day, at));
    let (d, ts): (NaiveDateTime, NaiveDateTime) = connection.query_one(select, (day, at)).unwrap();
    assert_eq!((d.date(), ts), (day, at));
    let offset = DateTime::parse_from_rfc3339("2024-02-29T22:15:01.000000005+02:00").unwrap();
    assert_eq!(Value::from(offset), Value::from(at));
    // A date that has a time of day is no NaiveDate.
    assert!(connection.query_one::<(NaiveDate,)>("SELECT ts FROM t WHERE k = 1", ()).is_err());
}

#[cfg(feature = "time")]
#[test]
fn dates_of_time() {
    use time::{Date, Month, OffsetDateTime, PrimitiveDateTime, Time};
    let connection = connection();
    let day = Date::from_calendar_date(2024, Month::February, 29).unwrap();
    let at = PrimitiveDateTime::new(day, Time::from_hms_nano(20, 15, 1, 5).unwrap());
    connection.execute("UPSERT INTO t (k, d, ts) VALUES (?, ?, ?)", (1, day, at.assume_utc())).unwrap();
    let select = "SELECT d, ts FROM t WHERE k = 1 AND d = ? AND ts <= ?";
    let (d, ts): (Date, OffsetDateTime) = connection.query_one(select, (day, at)).unwrap();
    assert_eq!((d, ts), (day, at.assume_utc()));
    let (_, ts): (PrimitiveDateTime, PrimitiveDateTime) = connection.query_one(select, (day, at)).unwrap();
    assert_eq!(ts, at);
    assert!(connection.query_one::<(Date,)>("SELECT ts FROM t WHERE k = 1", ()).is_err());
}

/// What a loop over borrowed data has at hand.
#[test]
fn references_are_values() {
    let connection = Database::memory().unwrap().connect().blocking();
    connection.execute("CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR, d DOUBLE, b BOOLEAN)", ()).unwrap();
    let rows = [(1i64, Some("one"), 0.5f64, true), (2, None, 1.5, false)];
    for (k, v, d, b) in &rows {
        connection.execute("UPSERT INTO t VALUES (?, ?, ?, ?)", (k, v, d, b)).unwrap();
    }
    let read = connection.query_as::<(i64, Option<String>, f64, bool)>("SELECT * FROM t WHERE k > ?", (&0,)).unwrap();
    let read: Vec<_> = read.collect::<Result<_, _>>().unwrap();
    assert_eq!(read, rows.map(|(k, v, d, b)| (k, v.map(str::to_owned), d, b)));
    assert_eq!(saltwing::Value::from(&Some(7u16)), saltwing::Value::Int(7));
}

#[test]
fn a_text_is_read_without_a_copy() {
    let connection = Database::memory().unwrap().connect().blocking();
    connection.execute("CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR, b VARBINARY)", ()).unwrap();
    connection.execute("UPSERT INTO t VALUES (1, 'one', ?), (2, NULL, NULL)", (vec![1u8, 2],)).unwrap();
    let rows: Vec<saltwing::Row> =
        connection.query("SELECT v, b, k FROM t WHERE k > 0", ()).unwrap().collect::<Result<_, _>>().unwrap();
    assert_eq!(rows[0].get_ref("v").unwrap().as_str(), Some("one"));
    assert_eq!(rows[0].get_ref(1).unwrap().as_bytes(), Some(&[1u8, 2][..]));
    assert_eq!(rows[0].get_ref("k").unwrap().as_str(), None, "it is no text");
    assert_eq!(rows[1].get_ref("v").unwrap(), saltwing::ValueRef::Null);
    assert_eq!(rows[0].get_ref("x").unwrap_err().code().as_str(), "no_such_column");
}

/// Values without names for parameters with names would go by the order in which the text has them.
#[test]
fn named_parameters_take_named_values() {
    let connection = Database::memory().unwrap().connect().blocking();
    connection.execute("CREATE TABLE t (k BIGINT PRIMARY KEY, v BIGINT)", ()).unwrap();
    let error = connection.execute("UPSERT INTO t (v, k) VALUES (:v, :k)", (1, 2)).unwrap_err();
    assert_eq!(error.code().as_str(), "bad_parameter");
    assert!(error.to_string().contains("(:v, :k)") && error.help().unwrap().contains("Params::named"), "{error:?}");
    let named = saltwing::Params::named([("k", 2), ("v", 1)]);
    connection.execute("UPSERT INTO t (v, k) VALUES (:v, :k)", named).unwrap();
    assert_eq!(connection.query_one::<(i64, i64)>("SELECT k, v FROM t WHERE k = ?1", (2,)).unwrap(), (2, 1));
    assert_eq!(connection.query_one::<(i64,)>("SELECT k FROM t WHERE k = $1", (2,)).unwrap(), (2,));
}
