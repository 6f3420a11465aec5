//! COPY FROM STDIN of many rows, and clients that stall.

use std::time::{Duration, Instant};

use super::{copy_in, error_field};
use crate::raw::{Raw, field, first_state, kinds, tags};
use crate::{Server, rows};

/// Lines of the numbers up to `count`, with some text.
fn lines(count: u64) -> Vec<u8> {
    (1..=count).flat_map(|number| format!("{number}\tthe text of row {number}\n").into_bytes()).collect()
}

async fn run(raw: &mut Raw, sql: &str) {
    raw.send(&[(b'Q', format!("{sql}\0").as_bytes())]).await;
    raw.until('Z').await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_rows_are_one_transaction() {
    let server = Server::start().await;
    server.run("CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR)");
    let client = server.client().await;
    let mut raw = Raw::log_in(&server).await;
    let mut data = lines(20_000);
    data.extend_from_slice(b"x\ty\n");
    let messages = copy_in(&mut raw, "COPY t FROM STDIN", &data.chunks(100_000).collect::<Vec<_>>()).await;
    assert_eq!((first_state(&messages).as_str(), &*error_field(&messages, 'D')), ("22P02", ""));
    assert_eq!(rows(&client, "SELECT count(*) FROM t WHERE k > 0").await, ["0"]);
    let data = lines(20_000);
    let messages = copy_in(&mut raw, "COPY t FROM STDIN", &data.chunks(1000).collect::<Vec<_>>()).await;
    assert_eq!((kinds(&messages).as_str(), tags(&messages)), ("GCZ", vec!["COPY 20000".to_owned()]));
    assert_eq!(rows(&client, "SELECT count(*), max(k) FROM t WHERE k > 0").await, ["20000,20000"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn more_rows_than_a_commit_holds_are_several_transactions() {
    let server = Server::start().await;
    server.run("CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR)");
    let client = server.client().await;
    let mut raw = Raw::log_in(&server).await;
    run(&mut raw, "SET commit_bytes_max = 1000000").await;
    let mut data = lines(20_000);
    let messages = copy_in(&mut raw, "COPY t FROM STDIN", &[&data]).await;
    assert_eq!((kinds(&messages).as_str(), tags(&messages)), ("GNCZ", vec!["COPY 20000".to_owned()]));
    assert!(field(&messages[1].1, 'M').starts_with("the rows were committed in 2 transactions"), "{messages:?}");
    server.run("DELETE /*+ FULL_SCAN */ FROM t");
    data.extend_from_slice(b"x\ty\n");
    let messages = copy_in(&mut raw, "COPY t FROM STDIN", &[&data]).await;
    let kept = rows(&client, "SELECT count(*) FROM t WHERE k > 0").await;
    assert_eq!(error_field(&messages, 'D'), format!("{} rows were committed before the error, and stay", kept[0]));
    assert_ne!(kept, ["0"]);
    // In a transaction they must be one.
    server.run("DELETE /*+ FULL_SCAN */ FROM t");
    run(&mut raw, "BEGIN").await;
    assert_eq!(first_state(&copy_in(&mut raw, "COPY t FROM STDIN", &[&lines(20_000)]).await), "54000");
    run(&mut raw, "ROLLBACK; SET autocommit_rows = 100").await;
    let messages = copy_in(&mut raw, "COPY t FROM STDIN", &[&lines(150), b"x\ty\n"]).await;
    let kept = rows(&client, "SELECT count(*) FROM t WHERE k > 0").await;
    assert_eq!((first_state(&messages).as_str(), kept), ("22P02", vec!["150".to_owned()]));
    assert_eq!(error_field(&messages, 'D'), "150 rows were committed before the error, and stay");
    assert_eq!(tags(&copy_in(&mut raw, "COPY t FROM STDIN", &[&lines(250)]).await), ["COPY 250"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_stalls_is_stopped() {
    let server = Server::start().await;
    server.run("CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR)");
    let formats = [&b"COPY t FROM STDIN\0"[..], b"COPY t FROM STDIN WITH (FORMAT json)\0"];
    let mut stalled = Vec::new();
    for copy in formats {
        let mut raw = Raw::log_in(&server).await;
        run(&mut raw, "SET statement_timeout = 200").await;
        let start = Instant::now();
        raw.send(&[(b'Q', copy)]).await;
        assert_eq!(first_state(&raw.until('Z').await), "57014");
        assert!(start.elapsed() < Duration::from_secs(5));
        run(&mut raw, "SET statement_timeout = 0").await;
        raw.send(&[(b'Q', copy)]).await;
        raw.until('G').await;
        stalled.push(raw);
    }
    // The end of the process does not wait for them.
    assert!(server.sessions.stop(Duration::from_millis(100)).await, "all sessions have ended");
    for mut raw in stalled {
        assert_eq!(raw.is_closed().await.as_deref(), Some("57P01"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_is_cancelled_from_another_connection() {
    let server = Server::start().await;
    server.run("CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR)");
    let client = server.client().await;
    for copy in ["COPY t FROM STDIN", "COPY t FROM STDIN WITH (FORMAT json)"] {
        let token = client.cancel_token();
        let sink = client.copy_in::<_, bytes::Bytes>(copy).await.unwrap();
        // The messages that the client sent after its statement arrive before the cancellation.
        tokio::time::sleep(Duration::from_millis(100)).await;
        let start = Instant::now();
        token.cancel_query(tokio_postgres::NoTls).await.unwrap();
        // The sink sends nothing, so the client waits for the error of the server.
        let mut sink = Box::pin(sink);
        tokio::time::sleep(Duration::from_millis(300)).await;
        let finished = sink.as_mut().finish().await;
        assert_eq!(finished.err().unwrap().code().unwrap().code(), "57014", "{copy}");
        assert!(start.elapsed() < Duration::from_secs(5), "{copy}");
    }
    assert_eq!(rows(&client, "SELECT count(*) FROM t WHERE k > 0").await, ["0"]);
}
