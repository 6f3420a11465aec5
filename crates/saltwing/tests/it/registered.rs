//! Functions and Arrow tables of the program in queries.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use saltwing::arrow::array::{
    ArrayRef, DurationSecondArray, Int32Array, LargeStringArray, RecordBatch, StringArray, UInt64Array,
};
use saltwing::blocking::Connection;
use saltwing::{Database, Decimal, ErrorCode, Timestamp, Volatility};

use crate::{code, texts};

fn connection() -> Connection {
    let connection = Database::memory().unwrap().connect().blocking();
    connection.execute("CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR, n DECIMAL(10, 2), d DATE)", ()).unwrap();
    connection
        .execute(
            "UPSERT INTO t VALUES (1, 'one', 1.5, '2024-05-01'), (2, 'two', 2.25, NULL), (3, NULL, NULL, NULL)",
            (),
        )
        .unwrap();
    connection
}

fn one(connection: &Connection, sql: &str) -> String {
    texts(connection, sql).unwrap().join(",")
}

#[test]
fn functions_of_all_types_and_arguments() {
    let connection = connection();
    connection.register_function("answer", Volatility::Immutable, || 42i64).unwrap();
    connection.register_function("Shout", Volatility::Immutable, |text: String| text.to_uppercase() + "!").unwrap();
    connection.register_function("twice", Volatility::Immutable, |n: i32| n * 2).unwrap();
    connection.register_function("is_null", Volatility::Immutable, |text: Option<String>| text.is_none()).unwrap();
    connection.register_function("same_day", Volatility::Immutable, |at: Timestamp| at).unwrap();
    connection.register_function("same_number", Volatility::Immutable, |n: Decimal| n).unwrap();
    connection
        .register_function("weight", Volatility::Immutable, |a: f64, b: i64, c: Option<bool>| c.map(|_| a * b as f64))
        .unwrap();
    connection
        .register_function("six", Volatility::Immutable, |a: i64, b: i64, c: i64, d: i64, e: i64, f: i64| {
            a + b + c + d + e + f
        })
        .unwrap();
    connection.register_function("bytes", Volatility::Immutable, |bytes: Vec<u8>| bytes).unwrap();
    for (sql, expected) in [
        ("SELECT answer()", "42"),
        ("SELECT shout(v) FROM t WHERE k >= 1 ORDER BY k", "ONE!,TWO!,NULL"),
        ("SELECT SHOUT('a')", "A!"),
        ("SELECT twice(k) + 1 FROM t WHERE k >= 1 ORDER BY 1", "3,5,7"),
        ("SELECT k FROM t WHERE k >= 1 AND is_null(v)", "3"),
        ("SELECT is_null(NULL), is_null('x')", "true|false"),
        ("SELECT same_day(d) FROM t WHERE k = 1", "2024-05-01 00:00:00"),
        ("SELECT same_number(n), same_number(7), same_number(1.25) FROM t WHERE k = 2", "2.25|7|1.25"),
        ("SELECT weight(1, 2, true), weight(1.5, k, NULL) FROM t WHERE k = 2", "2.0|NULL"),
        ("SELECT six(1, 2, 3, 4, 5, k) FROM t WHERE k = 1", "16"),
        ("SELECT bytes(X'0aff')", "0aff"),
        ("SELECT shout(v), count(*) FROM t WHERE k >= 1 GROUP BY shout(v) ORDER BY 1", "NULL|1,ONE!|1,TWO!|1"),
        ("SELECT max(twice(k)) FROM t WHERE k >= 1", "6"),
        ("SELECT a.k FROM t a JOIN t b ON twice(a.k) = b.k WHERE a.k >= 1 AND b.k >= 1", "1"),
    ] {
        assert_eq!(one(&connection, sql), expected, "{sql}");
    }
    let (shouted,): (String,) = connection.query_one("SELECT shout(?)", ("x",)).unwrap();
    assert_eq!(shouted, "X!");
    connection.execute("UPSERT INTO t (k, v) SELECT k + 10, shout(v) FROM t WHERE k = 1", ()).unwrap();
    connection.execute("UPDATE t SET v = shout(v) WHERE k = 11", ()).unwrap();
    connection.execute("UPSERT INTO t (k, v) VALUES (12, shout('y'))", ()).unwrap();
    assert_eq!(one(&connection, "SELECT v FROM t WHERE k > 10 ORDER BY k"), "ONE!!,Y!");
    let listed = one(&connection, "SHOW FUNCTIONS LIKE 'SHOUT'");
    assert!(listed.starts_with("SHOUT|scalar|"), "{listed}");
}

#[test]
fn wrong_calls_and_names() {
    let connection = connection();
    connection
        .register_function(
            "half",
            Volatility::Immutable,
            |n: i64| if n % 2 == 0 { Ok(n / 2) } else { Err("it is odd") },
        )
        .unwrap();
    connection.register_function("broken", Volatility::Volatile, |n: i64| -> i64 { panic!("at {n}") }).unwrap();
    let error = texts(&connection, "SELECT half(k) FROM t WHERE k >= 1").unwrap_err();
    assert_eq!((error.code(), error.to_string().as_str()), (ErrorCode::BadArgument, "half: it is odd"));
    let error = texts(&connection, "SELECT broken(k) FROM t WHERE k >= 1").unwrap_err();
    assert_eq!((error.code(), error.to_string().as_str()), (ErrorCode::BadArgument, "broken: the function panicked"));
    assert_eq!(one(&connection, "SELECT half(8)"), "4");
    assert_eq!(code(texts(&connection, "SELECT half()")), "type_mismatch");
    assert_eq!(code(texts(&connection, "SELECT half(1, 2)")), "type_mismatch");
    let error = texts(&connection, "SELECT half(v) FROM t WHERE k >= 1").unwrap_err();
    assert_eq!((error.code(), error.to_string().as_str()), (ErrorCode::TypeMismatch, "half does not take (VARCHAR)"));
    connection.register_function("narrow", Volatility::Immutable, |n: i32| n).unwrap();
    assert_eq!(one(&connection, "SELECT narrow(7.0)"), "7");
    assert_eq!(code(texts(&connection, "SELECT narrow(3000000000)")), "out_of_range");
    assert_eq!(code(texts(&connection, "SELECT halve(1)")), "no_such_function");
    for name in ["half", "HALF", "upper", "Sum", "row_number", "to_char", "array_agg"] {
        let registered = connection.register_function(name, Volatility::Immutable, || 1i64);
        assert_eq!(code(registered), "duplicate_function", "{name}");
    }
    for name in ["", "a b", "1a", "select", "a.b", "ü-"] {
        let registered = connection.register_function(name, Volatility::Immutable, || 1i64);
        assert_eq!(code(registered), "bad_argument", "{name}");
    }
}

#[test]
fn volatile_functions_run_for_each_row_and_others_once_for_constants() {
    let connection = connection();
    let calls = Arc::new(AtomicUsize::new(0));
    for (name, volatility) in [("next", Volatility::Volatile), ("once", Volatility::Stable)] {
        let calls = calls.clone();
        let count = move || calls.fetch_add(1, Ordering::SeqCst) as i64;
        connection.register_function(name, volatility, count).unwrap();
    }
    assert_eq!(one(&connection, "SELECT count(DISTINCT next()) FROM t WHERE k >= 1"), "3");
    assert_eq!(one(&connection, "SELECT count(DISTINCT once()) FROM t WHERE k >= 1"), "1");
    // The same text again: its plan may be kept, its volatile values may not.
    let first = one(&connection, "SELECT next()");
    assert_ne!(one(&connection, "SELECT next()"), first);
}

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter(columns).unwrap()
}

fn register(connection: &Connection, name: &str, batch: &RecordBatch) -> Result<(), saltwing::Error> {
    connection.register_arrow(name, batch.schema_ref(), std::slice::from_ref(batch))
}

#[test]
fn batches_are_tables_of_queries() {
    let connection = connection();
    let keys = Arc::new(Int32Array::from(vec![Some(1), Some(3), None, Some(9)])) as ArrayRef;
    let names = Arc::new(LargeStringArray::from(vec!["a", "b", "c", "d"])) as ArrayRef;
    register(&connection, "Wanted", &batch(vec![("K", keys), ("Label", names)])).unwrap();
    for (sql, expected) in [
        ("SELECT * FROM wanted ORDER BY label", "1|a,3|b,NULL|c,9|d"),
        ("SELECT count(*) FROM WANTED", "4"),
        ("SELECT t.k, label, v FROM wanted JOIN t USING (k) ORDER BY 1", "1|a|one,3|b|NULL"),
        ("SELECT label FROM wanted w WHERE NOT EXISTS (SELECT 1 FROM t WHERE t.k = w.k) ORDER BY 1", "c,d"),
        ("SELECT upper(label) || '!' FROM wanted WHERE k + 1 = 2", "A!"),
        ("WITH x AS (SELECT k FROM wanted WHERE k IS NOT NULL) SELECT sum(k) FROM x", "13"),
        ("SELECT v FROM t WHERE k IN (SELECT k FROM wanted) AND k >= 0 ORDER BY k", "one,NULL"),
    ] {
        assert_eq!(one(&connection, sql), expected, "{sql}");
    }
    connection.execute("UPSERT INTO t (k, v) SELECT k + 100, label FROM wanted WHERE k = 9", ()).unwrap();
    assert_eq!(one(&connection, "SELECT v FROM t WHERE k = 109"), "d");
    for sql in ["UPSERT INTO wanted VALUES (1, 'x')", "DELETE FROM wanted", "DROP TABLE wanted", "DESCRIBE wanted"] {
        assert_eq!(code(connection.execute(sql, ())), "no_such_table", "{sql}");
    }
}

#[test]
fn another_registration_replaces_the_first_also_for_kept_plans() {
    let connection = connection();
    let sql = "SELECT sum(n) FROM numbers WHERE n > ?";
    let statement = |n: u64| connection.query_one::<(i64,)>(sql, (n,)).unwrap().0;
    let numbers = |values: Vec<u64>| batch(vec![("n", Arc::new(UInt64Array::from(values)) as ArrayRef)]);
    register(&connection, "numbers", &numbers(vec![1, 2])).unwrap();
    for _ in 0..4 {
        assert_eq!(statement(0), 3);
    }
    register(&connection, "NUMBERS", &numbers(vec![10, 20, 30])).unwrap();
    assert_eq!((statement(0), statement(10)), (60, 50));
    let large = numbers(vec![u64::MAX]);
    assert_eq!(code(register(&connection, "large", &large)), "out_of_range");
    connection.unregister_arrow("Numbers").unwrap();
    assert_eq!(code(connection.query(sql, (1,)).map(drop)), "no_such_table");
    assert_eq!(code(connection.unregister_arrow("numbers")), "no_such_table");
    // A stored table of the name comes first.
    register(&connection, "numbers", &numbers(vec![1, 2])).unwrap();
    connection.execute("CREATE TABLE numbers (n BIGINT PRIMARY KEY)", ()).unwrap();
    connection.execute("UPSERT INTO numbers VALUES (5)", ()).unwrap();
    assert_eq!(statement(0), 5);
    assert_eq!(code(register(&connection, "numbers", &numbers(vec![1]))), "duplicate_table");
}

#[test]
fn tables_that_cannot_be() {
    let connection = connection();
    let texts = Arc::new(StringArray::from(vec!["a"])) as ArrayRef;
    let durations = Arc::new(DurationSecondArray::from(vec![1])) as ArrayRef;
    for (columns, expected) in [
        (vec![("a", texts.clone()), ("A", texts.clone())], "duplicate_column"),
        (vec![("a", durations)], "not_supported"),
    ] {
        assert_eq!(code(register(&connection, "x", &batch(columns))), expected);
    }
    let (one, other) = (batch(vec![("a", texts.clone())]), batch(vec![("b", texts)]));
    assert_eq!(code(connection.register_arrow("x", one.schema_ref(), &[one.clone(), other])), "type_mismatch");
    assert_eq!(code(register(&connection, "t", &one)), "duplicate_table");
    // No rows, but columns.
    connection.register_arrow("empty", one.schema_ref(), &[]).unwrap();
    assert_eq!(crate::texts(&connection, "SELECT count(a) FROM empty").unwrap(), ["0"]);
}
