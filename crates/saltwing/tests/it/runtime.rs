//! Async, blocking, cancelling.

use std::time::Duration;

use saltwing::{Database, Error, Response, StoreKind, params};

use crate::code;

fn filled(rows: i64) -> Database {
    let db = Database::memory().unwrap();
    fill(&db, rows);
    db
}

fn fill(db: &Database, rows: i64) {
    let connection = db.connect().blocking();
    connection.execute("CREATE TABLE t (k BIGINT NOT NULL PRIMARY KEY, v VARCHAR) SALT_BUCKETS = 3", ()).unwrap();
    let values: Vec<String> = (0..rows).map(|k| format!("({k}, 'v{k}')")).collect();
    for chunk in values.chunks(5000) {
        connection.execute(&format!("UPSERT INTO t VALUES {}", chunk.join(", ")), ()).unwrap();
    }
}

fn assert_send<T: Send>(value: T) -> T {
    value
}

#[tokio::test(flavor = "multi_thread")]
async fn async_calls_stream_and_are_send() {
    let connection = filled(20_000).connect();
    let run = async {
        let mut rows = connection.query("SELECT k, v FROM t WHERE k >= ? ORDER BY k", params![0]).await?;
        let mut next = 0;
        while let Some(row) = rows.next().await? {
            assert_eq!(row.get::<i64>("k")?, next);
            next += 1;
        }
        assert_eq!(next, 20_000);
        let statement = connection.prepare("SELECT v FROM t WHERE k = ?").await?;
        assert_eq!(statement.query(params![7]).await?.collect().await?.len(), 1);
        connection.execute("DELETE FROM t WHERE k < 10", ()).await?;
        Ok::<_, Error>(())
    };
    assert_send(run).await.unwrap();
    let run = async {
        let mut appender = connection.appender_columns("t", &["k", "v"]).await?;
        for k in 20_000..30_000 {
            appender.append_row((k, "more")).await?;
        }
        assert_eq!(appender.close().await?, 10_000);
        let sql = "SELECT k, v FROM t WHERE k >= ? ORDER BY k LIMIT 2";
        let first = connection.query_page::<(i64, String)>(sql, (29_997,), None).await?;
        let second = connection.query_page::<(i64, String)>(sql, (29_997,), first.next.as_deref()).await?;
        assert_eq!((first.rows.len(), second.rows), (2, vec![(29_999, "more".to_owned())]));
        let transaction = connection.begin().await?;
        transaction.execute("DELETE FROM t WHERE k = 29999", ()).await?;
        assert_eq!(transaction.query_opt::<(i64,)>("SELECT k FROM t WHERE k = 29999", ()).await?, None);
        transaction.rollback().await?;
        let several = connection.query_opt::<(i64,)>("SELECT k FROM t WHERE k > 29997", ()).await;
        assert_eq!(code(several), "several_rows");
        let mut responses = connection.run_batch("SELECT k FROM t WHERE k = 29999; SELECT none FROM t").await?;
        assert!(matches!(responses.next().await?, Some(Response::Rows(_))));
        assert_eq!(code(responses.next().await), "no_such_column");
        assert!(responses.next().await?.is_none());
        Ok::<_, Error>(())
    };
    assert_send(run).await.unwrap();
}

/// The first row is there before the last one is read, and what is committed in between changes nothing of them.
#[test]
fn rows_stream_from_their_snapshot_on_every_store() {
    const ROWS: i64 = 12_000;
    for kind in StoreKind::ALL {
        let folder = tempfile::tempdir().unwrap();
        let builder = match kind {
            StoreKind::Memory => Database::memory_builder(),
            _ => Database::builder(folder.path().join("db")).store(kind),
        };
        let db = builder.buffered().open().unwrap();
        fill(&db, ROWS);
        let connection = db.connect().blocking();
        let mut rows = connection.query("SELECT k FROM t WHERE k >= 0 ORDER BY k", ()).unwrap();
        assert_eq!(rows.next().unwrap().unwrap().get::<i64>(0).unwrap(), 0);
        assert!(rows.stats().keys_read < ROWS as u64, "{kind:?}: {:?}", rows.stats());
        connection.execute("DELETE FROM t WHERE k >= 0", ()).unwrap();
        connection.execute("COMPACT t", ()).unwrap();
        assert!(rows.by_ref().map(|row| row.unwrap().get::<i64>(0).unwrap()).eq(1..ROWS), "{kind:?}");
        assert_eq!(connection.query("SELECT k FROM t WHERE k >= 0", ()).unwrap().count(), 0);
    }
}

#[tokio::test]
async fn blocking_calls_work_inside_a_runtime() {
    let db = filled(100);
    let connection = db.connect().blocking();
    assert_eq!(connection.query("SELECT v FROM t WHERE k = 1", ()).unwrap().count(), 1);
    #[cfg(feature = "datafusion")]
    assert_eq!(connection.query("SELECT v, count(*) FROM t WHERE k < 50 GROUP BY v", ()).unwrap().count(), 50);
    drop(connection);
    // The library's threads end without being waited for here.
    drop(db);
}

#[test]
fn a_timeout_stops_a_scan() {
    let db = filled(50_000);
    let connection = db.connect().blocking();
    connection.execute("SET statement_timeout = 1", ()).unwrap();
    let slow = "SELECT count(*) FROM t WHERE k >= 0 AND v LIKE '%x%y%z%'";
    assert_eq!(code(connection.query(slow, ()).and_then(|mut rows| rows.try_for_each(|row| row.map(drop)))), "timeout");
    connection.execute("SET statement_timeout = 0", ()).unwrap();
    connection.execute("SET rows_max = 1000", ()).unwrap();
    assert_eq!(
        code(connection.query(slow, ()).and_then(|mut rows| rows.try_for_each(|row| row.map(drop)))),
        "budget_exceeded"
    );
}

#[test]
fn a_query_is_cancelled_from_another_thread() {
    let db = filled(50_000);
    let connection = db.connect().blocking();
    let mut rows = connection.query_arrow("SELECT v FROM t WHERE k >= 0", ()).unwrap();
    assert!(rows.next_blocking().unwrap().is_some());
    let cancel = rows.canceller();
    std::thread::spawn(cancel).join().unwrap();
    let rest = std::iter::from_fn(|| rows.next_blocking().transpose()).try_for_each(|batch| batch.map(drop));
    assert_eq!(code(rest), "cancelled");
}

#[tokio::test]
async fn a_dropped_future_cancels() {
    let db = filled(50_000);
    let connection = db.connect();
    let slow = connection.execute("DELETE FROM t WHERE k >= 0 AND v LIKE '%x%y%z%'", ());
    // Whether it was stopped or had ended: nothing is left running, and the connection works.
    let _ = tokio::time::timeout(Duration::from_millis(1), slow).await;
    let mut rows = connection.query("SELECT count(*) FROM t WHERE k >= 0", ()).await.unwrap();
    assert_eq!(rows.next().await.unwrap().unwrap().get::<i64>(0).unwrap(), 50_000);
}

#[test]
fn connections_write_at_the_same_time() {
    let db = Database::memory().unwrap();
    db.connect().blocking().execute("CREATE TABLE c (k BIGINT NOT NULL PRIMARY KEY, a BIGINT, b BIGINT)", ()).unwrap();
    let insert = |from: i64| {
        let connection = db.connect().blocking();
        move || {
            (0..200).filter(|k| connection.execute("INSERT INTO c VALUES (?, ?, 0)", params![*k, from]).is_ok()).count()
        }
    };
    let threads: Vec<_> = (0..4).map(|from| std::thread::spawn(insert(from))).collect();
    let inserted: usize = threads.into_iter().map(|t| t.join().unwrap()).sum();
    assert_eq!(inserted, 200, "of four INSERTs of one key exactly one succeeds");
    let partial = |column: &'static str| {
        let connection = db.connect().blocking();
        move || {
            let sql = format!("UPSERT INTO c (k, {column}) VALUES (1, ?)");
            (1..=100).for_each(|n| drop(connection.execute(&sql, params![n]).unwrap()));
        }
    };
    let threads = [std::thread::spawn(partial("a")), std::thread::spawn(partial("b"))];
    threads.into_iter().for_each(|t| t.join().unwrap());
    assert_eq!(crate::texts(&db.connect().blocking(), "SELECT a, b FROM c WHERE k = 1").unwrap(), ["100|100"]);
}

/// Billions of pairs, none of which a scan has to do with, and none of which comes out.
#[cfg(feature = "datafusion")]
const BUSY: [&str; 4] = [
    "SELECT count(*) FROM t a, t b WHERE a.k >= 0 AND b.k >= 0",
    "SELECT count(*) FROM t a, t b WHERE a.k >= 0 AND b.k >= 0 AND a.k + b.k = -7",
    "SELECT count(*) FROM t a JOIN t b ON a.k % 10 = b.k % 10 WHERE a.k >= 0 AND b.k >= 0 AND a.v <> b.v",
    "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i FROM n) SELECT count(*) FROM n",
];

#[test]
#[cfg(feature = "datafusion")]
fn a_timeout_stops_joins_that_scan_no_more() {
    let connection = filled(200_000).connect().blocking();
    connection.execute("SET statement_timeout = '300ms'", ()).unwrap();
    for sql in BUSY {
        let rows = connection.query(sql, ());
        assert_eq!(code(rows.and_then(|mut rows| rows.try_for_each(|row| row.map(drop)))), "timeout", "{sql}");
    }
}

#[test]
#[cfg(feature = "datafusion")]
fn joins_that_scan_no_more_are_cancelled() {
    let connection = filled(200_000).connect().blocking();
    for sql in BUSY {
        let mut rows = connection.query_arrow(sql, ()).unwrap();
        let cancel = rows.canceller();
        let other = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(200));
            cancel();
        });
        assert_eq!(
            code(std::iter::from_fn(|| rows.next_blocking().transpose()).try_for_each(|b| b.map(drop))),
            "cancelled"
        );
        other.join().unwrap();
    }
}

/// The kinds of results: a scan, groups of the direct path, values of sequences, and a relational query.
const RESULTS: &[&str] = &[
    "SELECT k, v FROM t WHERE k >= 0",
    "SELECT v, count(*) FROM t WHERE k >= 0 GROUP BY v",
    "SELECT k, NEXT VALUE FOR s FROM t WHERE k >= 0",
    #[cfg(feature = "datafusion")]
    "SELECT a.v FROM t a JOIN t b ON a.k = b.k WHERE a.k >= 0",
];

/// A database whose pools have one thread each: if an open result held it, no other statement would run.
fn of_one_thread(rows: i64) -> Database {
    let db = Database::memory_builder().blocking_threads_max(std::num::NonZeroUsize::MIN).open().unwrap();
    fill(&db, rows);
    db.connect().blocking().execute("CREATE SEQUENCE s", ()).unwrap();
    db
}

#[tokio::test]
async fn open_results_hold_no_threads() {
    const OPEN: usize = 2_000;
    let db = of_one_thread(3_000);
    let connection = db.connect();
    let mut open = Vec::new();
    for number in 0..OPEN {
        open.push(connection.query(RESULTS[number % RESULTS.len()], ()).await.unwrap());
    }
    let (v,) = db.connect().query_one::<(String,)>("SELECT v FROM t WHERE k = 5", ()).await.unwrap();
    assert_eq!(v, "v5");
    for (number, mut rows) in open.into_iter().enumerate() {
        // Some are read to their end, and of others there is much left.
        let wanted = if number % 100 < RESULTS.len() { 3_000 } else { 2 };
        for _ in 0..wanted {
            assert!(rows.next().await.unwrap().is_some(), "{number}");
        }
        assert_eq!(rows.next().await.unwrap().is_none(), wanted == 3_000, "{number}");
    }
}

/// Calls that wait for relational queries hold all threads of their pool; the scans of these queries have another one.
#[tokio::test]
#[cfg(feature = "datafusion")]
async fn calls_do_not_take_the_threads_of_the_scans_they_wait_for() {
    let db = of_one_thread(1_000);
    let connection = db.connect();
    connection.execute("CREATE TABLE u (k BIGINT PRIMARY KEY, v VARCHAR)", ()).await.unwrap();
    let insert = |from: i64| {
        let connection = connection.clone();
        async move {
            let sql = "UPSERT INTO u SELECT a.k + ?, b.v FROM t a JOIN t b ON a.k = b.k WHERE a.k >= 0";
            connection.execute(sql, (from,)).await.unwrap().rows_affected
        }
    };
    let inserts = tokio::join!(insert(0), insert(10_000), insert(20_000), insert(30_000));
    assert_eq!(inserts, (1_000, 1_000, 1_000, 1_000));
}

/// Rows of a result outlive the database's handles, which end its threads.
#[tokio::test]
async fn rows_are_read_after_their_database_is_dropped() {
    let db = filled(20_000);
    let connection = db.connect();
    let mut rows = connection.query("SELECT k FROM t WHERE k >= 0", ()).await.unwrap();
    assert!(rows.next().await.unwrap().is_some());
    drop((connection, db));
    assert_eq!(rows.collect().await.unwrap().len(), 19_999);
}

/// A future that is dropped while it waits for a batch loses none.
#[tokio::test]
async fn a_dropped_read_loses_no_rows() {
    let connection = filled(20_000).connect();
    let mut rows = connection.query("SELECT k FROM t WHERE k >= 0 ORDER BY k", ()).await.unwrap();
    let mut next = 0;
    loop {
        let row = match tokio::time::timeout(Duration::ZERO, rows.next()).await {
            Ok(row) => row.unwrap(),
            Err(_) => continue,
        };
        let Some(row) = row else { break };
        assert_eq!(row.get::<i64>(0).unwrap(), next);
        next += 1;
    }
    assert_eq!(next, 20_000);
}
