//! Appenders: rows in parts, their errors, and what stays.

use std::sync::Arc;

use saltwing::arrow::array::{ArrayRef, Int32Array, Int64Array, LargeStringArray, RecordBatch, StringArray};
use saltwing::blocking::{Appender, Connection};
use saltwing::{Database, ErrorCode, IntoParams, OnConflict, StoreKind, params};

use crate::{code, texts};

fn memory(sql: &str) -> Connection {
    let connection = Database::memory().unwrap().connect().blocking();
    connection.execute(sql, ()).unwrap();
    connection
}

fn table() -> Connection {
    memory("CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR)")
}

fn rows(connection: &Connection) -> Vec<String> {
    texts(connection, "SELECT * FROM t WHERE k >= 0").unwrap()
}

fn count(connection: &Connection) -> u64 {
    connection.query_one::<(u64,)>("SELECT count(*) FROM t WHERE k >= 0", ()).unwrap().0
}

/// Appends rows with these keys, with the number of the row as the value.
fn append(appender: &mut Appender, keys: impl IntoIterator<Item = i64>) {
    for (number, k) in keys.into_iter().enumerate() {
        appender.append_row((k, number.to_string())).unwrap();
    }
}

#[test]
fn rows_in_any_order_and_of_any_number() {
    for salt in ["", " SALT_BUCKETS = 4"] {
        for rows in [0, 1, 4_999, 5_000, 5_001, 23_456] {
            let connection = memory(&format!("CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR){salt}"));
            let mut appender = connection.appender("t").unwrap();
            // 7,919 is prime: every key comes once.
            append(&mut appender, (0..rows).map(|row| row * 7_919 % rows.max(1)));
            assert_eq!(appender.close().unwrap(), rows as u64);
            assert_eq!(count(&connection), rows as u64);
            let expected: i64 = (0..rows).map(|row| row * (row * 7_919 % rows.max(1))).sum();
            let sum = "SELECT sum(k * CAST(v AS BIGINT)) FROM t WHERE k >= 0";
            assert_eq!(connection.query_one::<(Option<i64>,)>(sum, ()).unwrap().0.unwrap_or(0), expected);
        }
    }
}

#[test]
fn a_later_row_replaces_an_earlier_one_unless_told_otherwise() {
    for (on_conflict, expected, written) in [
        (None, ["0|x", "1|2", "2|1"], Ok(3)),
        (Some(OnConflict::Replace), ["0|x", "1|2", "2|1"], Ok(3)),
        (Some(OnConflict::Ignore), ["0|x", "1|0", "2|1"], Ok(2)),
        (
            Some(OnConflict::Error),
            ["0|x", "1|0", "2|1"],
            Err("row 3: t has a row with the key (1) already; 2 rows are committed and stay"),
        ),
    ] {
        let connection = table();
        connection.execute("UPSERT INTO t VALUES (0, 'x')", ()).unwrap();
        let mut appender = connection.appender("t").unwrap();
        if let Some(on_conflict) = on_conflict {
            appender = appender.on_conflict(on_conflict);
        }
        append(&mut appender, [1, 2, 1]);
        let closed = appender.close().map_err(|error| error.to_string());
        assert_eq!(closed, written.map_err(str::to_owned), "{on_conflict:?}");
        assert_eq!(rows(&connection), expected, "{on_conflict:?}");
    }
}

#[test]
fn parts_are_there_before_the_end_and_flush_writes_the_rest() {
    let connection = table();
    connection.execute("SET autocommit_rows = 10", ()).unwrap();
    let mut appender = connection.appender("t").unwrap();
    append(&mut appender, 0..10);
    assert_eq!(count(&connection), 0, "the tenth row completes the part, the eleventh starts its commit");
    append(&mut appender, 10..31);
    assert!(count(&connection) >= 20, "at most one part is being written");
    assert_eq!((appender.flush().unwrap(), count(&connection)), (31, 31));
    assert_eq!(appender.flush().unwrap(), 31);
    append(&mut appender, 31..35);
    assert_eq!((appender.close().unwrap(), count(&connection)), (35, 35));
}

#[test]
fn dropping_it_flushes() {
    let connection = table();
    let mut appender = connection.appender("t").unwrap();
    append(&mut appender, 0..12_000);
    drop(appender);
    assert_eq!(count(&connection), 12_000);
}

#[test]
fn values_are_converted_as_those_of_an_upsert() {
    let connection = memory("CREATE TABLE t (k BIGINT PRIMARY KEY, d DATE, n DECIMAL(5, 2), c CHAR(3), f BOOLEAN)");
    let mut appender = connection.appender("t").unwrap();
    appender.append_row(params!["7", "2024-05-01", 1, "abc", true]).unwrap();
    appender.append_row(params![8, None::<i64>, 2.5, None::<String>, None::<bool>]).unwrap();
    for (row, expected, text) in [
        (params![9, "x", 1, "abc", true], ErrorCode::BadDatetime, "row 3: t.d: "),
        (params![9, None::<i64>, 12345, "abc", true], ErrorCode::OutOfRange, "row 3: t.n: "),
        (params![9, None::<i64>, 1, "abcd", true], ErrorCode::TooLong, "row 3: t.c: "),
        (params![9, None::<i64>, 1, "abc", 1], ErrorCode::TypeMismatch, "row 3: t.f: "),
        (params![None::<i64>, None::<i64>, 1, "abc", true], ErrorCode::NotNull, "row 3: t.k is NOT NULL"),
        (params![9, 9], ErrorCode::BadParameter, "row 3: it has 2 values for 5 columns"),
    ] {
        let error = appender.append_row(row).unwrap_err();
        assert!(error.to_string().starts_with(text), "{error}");
        assert_eq!(error.code(), expected, "{error}");
    }
    appender.append_row(params![9, None::<i64>, 3, "x", false]).unwrap();
    assert_eq!(appender.close().unwrap(), 3);
    assert_eq!(rows(&connection), ["7|2024-05-01|1.00|abc|true", "8|NULL|2.50|NULL|NULL", "9|NULL|3.00|x|false"]);
}

#[test]
fn some_columns_and_defaults() {
    let connection = memory(
        "CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR DEFAULT 'd', \"W\" BIGINT, n BIGINT DEFAULT 3 NOT NULL)",
    );
    connection.execute("UPSERT INTO t VALUES (1, 'old', 5, 6)", ()).unwrap();
    let mut appender = connection.appender_columns("t", &["w", "K"]).unwrap();
    appender.append_row((10, 1)).unwrap();
    appender.append_row((20, 2)).unwrap();
    assert_eq!(appender.close().unwrap(), 2);
    assert_eq!(rows(&connection), ["1|old|10|6", "2|d|20|3"]);
    for (table, columns, expected) in [
        ("t", vec!["k", "x"], "no_such_column"),
        ("t", vec!["k", "K"], "duplicate_column"),
        ("u", vec![], "no_such_table"),
        ("t u", vec![], "syntax"),
        ("t FROM 'file' --", vec![], "bad_argument"),
    ] {
        assert_eq!(code(connection.appender_columns(table, &columns)), expected, "{table} {columns:?}");
    }
}

#[derive(IntoParams)]
struct Item {
    v: Option<String>,
    k: i64,
}

#[test]
fn structs_give_their_columns_by_name() {
    let connection = table();
    let mut appender = connection.appender("t").unwrap();
    appender.append_row(&Item { v: None, k: 3 }).unwrap();
    appender.append_row(&Item { v: Some("x".into()), k: 4 }).unwrap();
    let error = appender.append_row(saltwing::Params::named([("k", 5)])).unwrap_err();
    assert_eq!(error.to_string(), "row 3: it has no value for the column v");
    let error = appender.append_row(saltwing::Params::named([("k", 5), ("v", 5), ("z", 5)])).unwrap_err();
    assert_eq!(error.to_string(), "row 3: the appender has no column z");
    appender.close().unwrap();
    assert_eq!(rows(&connection), ["3|NULL", "4|x"]);
}

#[test]
fn columns_with_types_are_dynamic_ones() {
    let connection = table();
    connection.execute("UPSERT INTO t VALUES (1, 'one')", ()).unwrap();
    let mut appender = connection.appender_columns("t", &["k", "extra VARCHAR", "f.n INTEGER"]).unwrap();
    appender.append_row((1, "x", 7)).unwrap();
    appender.append_row((2, None::<&str>, 8)).unwrap();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("f.n", Arc::new(Int32Array::from(vec![9]))),
        ("K", Arc::new(Int64Array::from(vec![3]))),
        ("Extra", Arc::new(StringArray::from(vec!["z"]))),
    ];
    appender.append_batch(&batch(columns)).unwrap();
    let error = appender.append_row((4, "x", "seven")).unwrap_err();
    assert_eq!(error.to_string(), "row 4: t.f.n: 'seven' is not a valid INTEGER");
    assert_eq!(appender.close().unwrap(), 3);
    let all = "SELECT k, v, extra, f.n FROM t (extra VARCHAR, f.n INTEGER) WHERE k > 0";
    assert_eq!(texts(&connection, all).unwrap(), ["1|one|x|7", "2|NULL|NULL|8", "3|NULL|z|9"]);
    assert_eq!(code(connection.appender_columns("t", &["k", "v INTEGER"])), "duplicate_column");

    // The first dynamic column of a table changes its definition.
    connection.execute("CREATE TABLE u (k BIGINT PRIMARY KEY)", ()).unwrap();
    connection.execute("BEGIN", ()).unwrap();
    assert_eq!(code(connection.appender_columns("u", &["k", "extra VARCHAR"])), "active_transaction");
}

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter(columns).unwrap()
}

#[test]
fn batches_give_their_columns_by_name() {
    let connection = table();
    let mut appender = connection.appender("t").unwrap();
    let (narrow, large) = (
        Int32Array::from_iter_values(0..7_000),
        LargeStringArray::from_iter((0..7_000).map(|row| (row % 2 == 0).then(|| row.to_string()))),
    );
    appender.append_batch(&batch(vec![("V", Arc::new(large)), ("k", Arc::new(narrow))])).unwrap();
    let back = Arc::new(StringArray::from(vec!["7000", "x"])) as ArrayRef;
    let error = appender.append_batch(&batch(vec![("k", back.clone()), ("v", back.clone())])).unwrap_err();
    assert!(error.to_string().starts_with("row 7002: t.k: "), "{error}");
    for (columns, text) in [
        (vec![("k", back.clone())], "the batch has no column v"),
        (vec![("k", back.clone()), ("v", back.clone()), ("w", back)], "the appender has no column w"),
    ] {
        assert_eq!(appender.append_batch(&batch(columns)).unwrap_err().to_string(), text);
    }
    assert_eq!(appender.close().unwrap(), 7_001);
    let found = texts(&connection, "SELECT count(*), count(v), max(k) FROM t WHERE k >= 0").unwrap();
    assert_eq!(found, ["7001|3501|7000"]);
    // What a query gives can be appended again.
    let copy = memory("CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR)");
    let (mut all, mut appender) =
        (connection.query_arrow("SELECT v, k FROM t WHERE k >= 0", ()).unwrap(), copy.appender("t").unwrap());
    while let Some(batch) = all.next_blocking().unwrap() {
        appender.append_batch(&batch).unwrap();
    }
    assert_eq!(appender.close().unwrap(), 7_001);
    assert_eq!(rows(&copy), rows(&connection));
}

/// A key that cannot be encoded is found when its part is written: the rows before it are there, none behind it.
#[test]
fn an_error_of_a_part_names_its_row_and_ends_the_appender() {
    let connection = memory("CREATE TABLE t (a VARCHAR, k BIGINT, CONSTRAINT pk PRIMARY KEY (a, k))");
    connection.execute("SET autocommit_rows = 10", ()).unwrap();
    let mut appender = connection.appender("t").unwrap();
    let mut failed = None;
    for k in 0..1_000 {
        let a = if k == 24 { "a\0b" } else { "a" };
        if let Err(error) = appender.append_row((a, k)) {
            failed = Some((k, error));
            break;
        }
    }
    let (k, error) = failed.unwrap();
    assert!((30..=40).contains(&k), "it is known at the latest when the next part is full: {k}");
    assert_eq!((error.code(), error.rows_committed()), (ErrorCode::BadKey, 24));
    assert!(error.to_string().starts_with("row 25: "), "{error}");
    for again in [appender.append_row(("a", 1)), appender.flush().map(drop)] {
        let text = again.unwrap_err().to_string();
        assert!(text.starts_with("the appender failed before, and takes no more rows: row 25: "), "{text}");
    }
    drop(appender);
    assert_eq!(texts(&connection, "SELECT count(*) FROM t WHERE a = 'a'").unwrap(), ["24"]);
}

#[test]
fn in_a_transaction_the_rows_are_a_part_of_it() {
    let connection = table();
    let transaction = connection.begin().unwrap();
    let mut appender = transaction.appender("t").unwrap();
    append(&mut appender, 0..12_000);
    transaction.execute("UPSERT INTO t VALUES (0, 'later')", ()).unwrap();
    assert_eq!(appender.close().unwrap(), 12_000);
    assert_eq!((count(&transaction), count(&connection)), (12_000, 0));
    transaction.commit().unwrap();
    assert_eq!(count(&connection), 12_000);

    let transaction = connection.begin().unwrap();
    let mut appender = transaction.appender("t").unwrap();
    append(&mut appender, 20_000..20_001);
    transaction.commit().unwrap();
    assert!(appender.close().unwrap_err().to_string().contains("the transaction has ended"));
    assert_eq!(count(&connection), 12_000);

    connection.execute("BEGIN READ ONLY", ()).unwrap();
    let mut appender = connection.appender("t").unwrap();
    append(&mut appender, 20_000..20_001);
    assert_eq!(code(appender.close()), "read_only");
    connection.execute("ROLLBACK", ()).unwrap();
}

#[test]
fn an_altered_table_goes_on() {
    let connection = table();
    connection.execute("SET autocommit_rows = 10", ()).unwrap();
    let mut appender = connection.appender("t").unwrap();
    append(&mut appender, 0..15);
    connection.execute("ALTER TABLE t ADD w BIGINT", ()).unwrap();
    append(&mut appender, 15..30);
    assert_eq!(appender.flush().unwrap(), 30);
    connection.execute("ALTER TABLE t DROP COLUMN v", ()).unwrap();
    append(&mut appender, 30..31);
    let error = appender.close().unwrap_err();
    assert_eq!((error.code(), error.rows_committed()), (ErrorCode::NoSuchColumn, 30));
    assert_eq!(count(&connection), 30);
}

#[test]
fn the_asynchronous_form() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let database = Database::memory().unwrap();
    let connection = database.connect();
    runtime.block_on(async {
        connection.execute("CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR)", ()).await.unwrap();
        let mut appender = connection.appender("t").await.unwrap();
        for k in 0..12_000 {
            appender.append_row((k, "x")).await.unwrap();
        }
        assert_eq!(appender.flush().await.unwrap(), 12_000);
        let keys = Arc::new(Int64Array::from_iter_values(12_000..20_000)) as ArrayRef;
        let texts = Arc::new(StringArray::from(vec!["y"; 8_000])) as ArrayRef;
        appender.append_batch(&batch(vec![("k", keys), ("v", texts)])).await.unwrap();
        assert_eq!(appender.close().await.unwrap(), 20_000);
    });
    assert_eq!(count(&connection.blocking()), 20_000);
}

/// Flushed rows are there when the database is opened again, on each store.
#[test]
fn flushed_rows_are_durable() {
    for kind in [StoreKind::Redb, StoreKind::Sled] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("db");
        let connection = Database::builder(&path).store(kind).open().unwrap().connect().blocking();
        connection.execute("CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR)", ()).unwrap();
        let mut appender = connection.appender("t").unwrap();
        append(&mut appender, 0..6_000);
        appender.flush().unwrap();
        append(&mut appender, 6_000..6_010);
        drop(appender);
        drop(connection);
        let connection = Database::open(&path).unwrap().connect().blocking();
        assert_eq!(count(&connection), 6_010, "{kind:?}");
        drop(connection);
        let readonly = Database::builder(&path).readonly(true).open().unwrap().connect().blocking();
        assert_eq!(code(readonly.appender("t")), "read_only", "{kind:?}");
    }
}
