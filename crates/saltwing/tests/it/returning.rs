//! RETURNING through the library.

use std::collections::HashSet;
use std::thread;

use saltwing::{Database, ErrorCode, SqlType, blocking, params};

fn connection() -> blocking::Connection {
    let connection = Database::memory().unwrap().connect().blocking();
    connection.execute("CREATE TABLE t (k BIGINT NOT NULL PRIMARY KEY, v BIGINT)", ()).unwrap();
    connection
}

#[test]
fn execute_and_query_count_the_rows_that_are_written() {
    let connection = connection();
    let insert = "INSERT INTO t VALUES (1, 10), (2, 20), (3, 30) RETURNING k";
    assert_eq!(connection.execute(insert, ()).unwrap().rows_affected, 3);
    let mut rows = connection.query("UPDATE t SET k = k + 10 WHERE k <= 2 RETURNING k", ()).unwrap();
    assert_eq!(rows.rows_affected(), 2);
    assert_eq!(rows.by_ref().map(|row| row.unwrap().get::<i64>(0).unwrap()).collect::<HashSet<_>>(), [11, 12].into());
    assert_eq!(rows.stats().keys_read, 2);
    let deleted = connection.execute("DELETE FROM t WHERE k >= 11", ()).unwrap();
    assert_eq!((deleted.rows_affected, deleted.stats.keys_read, deleted.stats.seeks), (2, 2, 1));
    let none = connection.query("DELETE FROM t WHERE k = 99 RETURNING k", ()).unwrap();
    assert_eq!((none.rows_affected(), none.count()), (0, 0));
    let mut all = connection.query("SELECT k FROM t WHERE k >= 0", ()).unwrap();
    assert_eq!((all.rows_affected(), all.next().unwrap().unwrap().get::<i64>(0).unwrap()), (0, 3));
}

/// The rows are written when the statement returns, whether anyone reads the result or not.
#[test]
fn a_result_that_nobody_reads_is_written_all_the_same() {
    let connection = connection();
    drop(connection.query("INSERT INTO t VALUES (1, 10) RETURNING k", ()).unwrap());
    let mut rows = connection.query("SELECT v FROM t WHERE k = 1", ()).unwrap();
    assert_eq!(rows.next().unwrap().unwrap().get::<i64>(0).unwrap(), 10);
}

#[test]
fn a_prepared_statement_has_its_columns_and_parameters() {
    let connection = connection();
    let statement = connection.prepare("UPSERT INTO t VALUES (?, ?) RETURNING k, v + ? AS more").unwrap();
    let described = statement.description();
    let columns: Vec<_> = described.columns.iter().flat_map(|columns| columns.iter()).collect();
    assert_eq!(columns.iter().map(|column| column.label.as_str()).collect::<Vec<_>>(), ["k", "more"]);
    assert_eq!(described.parameters, [Some(SqlType::BigInt); 3]);
    for k in 0..3 {
        let row = statement.query(params![k, 10, 5]).unwrap().next().unwrap().unwrap();
        assert_eq!((row.get::<i64>(0).unwrap(), row.get::<i64>(1).unwrap()), (k, 15));
    }
    let error = connection.prepare("DELETE FROM t WHERE k = ? RETURNING nope").err().unwrap();
    assert_eq!(error.code(), ErrorCode::NoSuchColumn);
}

/// A statement that another one was before is run again: what it returns is what it wrote.
#[test]
fn counters_on_eight_threads_return_each_number_once() {
    const THREADS: i64 = 8;
    const TIMES: i64 = 50;
    let connection = connection();
    let count_up = "INSERT INTO t VALUES (0, 1) ON CONFLICT DO UPDATE SET v = v + 1 RETURNING v";
    let seen: Vec<i64> = thread::scope(|scope| {
        let run = || {
            let connection = connection.clone();
            let next = move |_| loop {
                match connection.query(count_up, ()).map(|mut rows| rows.next().unwrap().unwrap().get(0).unwrap()) {
                    Ok(value) => return value,
                    Err(error) => assert_eq!(error.code(), ErrorCode::Conflict),
                }
            };
            scope.spawn(|| (0..TIMES).map(next).collect::<Vec<i64>>())
        };
        let threads: Vec<_> = (0..THREADS).map(|_| run()).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(seen.iter().copied().collect::<HashSet<_>>(), (1..=THREADS * TIMES).collect());
    assert_eq!(seen.len() as i64, THREADS * TIMES);
}

#[test]
fn merges_are_prepared_and_explained() {
    if !cfg!(feature = "datafusion") {
        return;
    }
    let connection = connection();
    let merge = "MERGE INTO t USING (SELECT CAST(? AS BIGINT) AS k) AS s ON t.k = s.k \
                 WHEN MATCHED THEN UPDATE SET v = ? WHEN NOT MATCHED THEN INSERT VALUES (s.k, ?) RETURNING v";
    let statement = connection.prepare(merge).unwrap();
    assert_eq!(statement.description().parameters, [Some(SqlType::BigInt); 3]);
    let mut values = Vec::new();
    for _ in 0..2 {
        values.push(statement.query(params![1, 20, 30]).unwrap().next().unwrap().unwrap().get::<i64>(0).unwrap());
    }
    assert_eq!(values, [30, 20]);
    let explain = format!("EXPLAIN {}", merge.replace('?', "1"));
    let plan: Vec<String> = connection.query(&explain, ()).unwrap().map(|row| row.unwrap().get(0).unwrap()).collect();
    let points = plan.iter().filter(|line| line.starts_with("point of t")).count();
    assert_eq!(points, 2, "{plan:#?}");
}
