//! Transactions: their states, savepoints, and those that the session opens itself.

use crate::raw::{Raw, first_state, kinds, tags};
use crate::{Server, rows, state};

/// The transaction state that ReadyForQuery tells after a text.
async fn status(raw: &mut Raw, text: &str) -> char {
    raw.send(&[(b'Q', format!("{text}\0").as_bytes())]).await;
    let messages = raw.until('Z').await;
    char::from(messages.last().unwrap().1[0])
}

#[tokio::test(flavor = "multi_thread")]
async fn the_state_is_told() {
    let server = Server::start().await;
    server.run("CREATE TABLE t (k BIGINT PRIMARY KEY)");
    let mut raw = Raw::log_in(&server).await;
    let steps = [
        ("BEGIN", 'T'),
        ("INSERT INTO t VALUES (1)", 'T'),
        ("SAVEPOINT a", 'T'),
        ("INSERT INTO t VALUES (1)", 'E'),
        ("SELECT 1", 'E'),
        ("ROLLBACK TO a", 'T'),
        ("SELECT nothing", 'E'),
        ("ROLLBACK TO SAVEPOINT a", 'T'),
        ("RELEASE a", 'T'),
        ("COMMIT", 'I'),
        ("SELECT k FROM t WHERE k = 1", 'I'),
        ("BEGIN", 'T'),
        ("SELEKT", 'E'),
        ("COMMIT", 'I'),
        ("COMMIT", 'I'),
        ("START TRANSACTION READ ONLY", 'T'),
        ("INSERT INTO t VALUES (2)", 'E'),
        ("ABORT", 'I'),
    ];
    for (text, wanted) in steps {
        assert_eq!(status(&mut raw, text).await, wanted, "{text}");
    }
    let client = server.client().await;
    assert_eq!(rows(&client, "SELECT k FROM t WHERE k > 0").await, ["1"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn commit_of_a_failed_transaction_is_a_rollback() {
    let server = Server::start().await;
    server.run("CREATE TABLE t (k BIGINT PRIMARY KEY)");
    let mut raw = Raw::log_in(&server).await;
    raw.send(&[
        (b'Q', b"BEGIN\0"),
        (b'Q', b"INSERT INTO t VALUES (1)\0"),
        (b'Q', b"SELECT nothing\0"),
        (b'Q', b"COMMIT\0"),
    ])
    .await;
    let mut messages = Vec::new();
    for _ in 0..4 {
        messages.extend(raw.until('Z').await);
    }
    assert_eq!(tags(&messages), ["BEGIN", "INSERT 0 1", "ROLLBACK"]);
    assert_eq!(rows(&server.client().await, "SELECT k FROM t WHERE k > 0").await, [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_up_to_sync_are_one_transaction() {
    let server = Server::start().await;
    server.run("CREATE TABLE t (k BIGINT PRIMARY KEY)");
    let mut raw = Raw::log_in(&server).await;
    let insert: [(u8, &[u8]); 3] =
        [(b'P', b"\0INSERT INTO t VALUES (1)\0\0\0"), (b'B', b"\0\0\0\0\0\0\0\0"), (b'E', b"\0\0\0\0\0")];
    let twice: Vec<(u8, &[u8])> = insert.iter().chain(&insert).copied().chain([(b'S', &b""[..])]).collect();
    raw.send(&twice).await;
    let messages = raw.until('Z').await;
    assert_eq!(first_state(&messages), "23505");
    assert_eq!(rows(&server.client().await, "SELECT k FROM t WHERE k > 0").await, [""; 0]);
    let once: Vec<(u8, &[u8])> = insert.iter().copied().chain([(b'S', &b""[..])]).collect();
    raw.send(&once).await;
    assert_eq!(kinds(&raw.until('Z').await), "12CZ");
    assert_eq!(rows(&server.client().await, "SELECT k FROM t WHERE k > 0").await, ["1"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_follow_savepoints() {
    let server = Server::start().await;
    let client = server.client().await;
    client
        .simple_query("BEGIN; SET application_name = 'one'; SAVEPOINT a; SET application_name = 'two'")
        .await
        .unwrap();
    assert_eq!(rows(&client, "SHOW application_name").await, ["two"]);
    client.simple_query("ROLLBACK TO a").await.unwrap();
    assert_eq!(rows(&client, "SHOW application_name").await, ["one"]);
    client.simple_query("COMMIT").await.unwrap();
    assert_eq!(rows(&client, "SHOW application_name").await, ["one"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_are_one_transaction_before_sync_comes() {
    let server = Server::start().await;
    server.run("CREATE TABLE t (k BIGINT PRIMARY KEY)");
    let mut raw = Raw::log_in(&server).await;
    let insert: [(u8, &[u8]); 4] =
        [(b'P', b"\0INSERT INTO t VALUES (1)\0\0\0"), (b'B', b"\0\0\0\0\0\0\0\0"), (b'E', b"\0\0\0\0\0"), (b'H', b"")];
    raw.send(&insert).await;
    assert_eq!(tags(&raw.until('C').await), ["INSERT 0 1"]);
    let client = server.client().await;
    assert_eq!(rows(&client, "SELECT k FROM t WHERE k > 0").await, [""; 0]);
    raw.send(&[(b'S', b"")]).await;
    raw.until('Z').await;
    assert_eq!(rows(&client, "SELECT k FROM t WHERE k > 0").await, ["1"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn definitions_run_in_a_transaction_that_has_only_read() {
    let server = Server::start().await;
    let mut raw = Raw::log_in(&server).await;
    let text = "BEGIN; SELECT 1; CREATE TABLE t (k BIGINT PRIMARY KEY); CREATE TABLE u (k BIGINT PRIMARY KEY); INSERT INTO t VALUES (1)";
    raw.send(&[(b'Q', format!("{text}\0").as_bytes())]).await;
    let messages = raw.until('Z').await;
    assert_eq!(kinds(&messages), "CTDCNCNCCZ");
    assert_eq!(messages.last().unwrap().1, b"T");
    assert_eq!(status(&mut raw, "CREATE TABLE v (k BIGINT PRIMARY KEY)").await, 'E');
    assert_eq!(status(&mut raw, "ROLLBACK").await, 'I');
    // The definitions stay, and the rows do not.
    let client = server.client().await;
    assert_eq!(rows(&client, "SELECT count(*) FROM t WHERE k > 0").await, ["0"]);
    assert_eq!(state(&client, "SELECT k FROM v WHERE k > 0").await, "42P01");
}

#[tokio::test(flavor = "multi_thread")]
async fn definitions_are_refused_where_they_would_end_something() {
    let server = Server::start().await;
    server.run("CREATE TABLE t (k BIGINT PRIMARY KEY)");
    for before in ["INSERT INTO t VALUES (1)", "SAVEPOINT a", "DECLARE c CURSOR FOR SELECT 1"] {
        let client = server.client().await;
        client.simple_query("BEGIN").await.unwrap();
        client.simple_query(before).await.unwrap();
        assert_eq!(state(&client, "CREATE TABLE u (k BIGINT PRIMARY KEY)").await, "25001", "{before}");
        assert_eq!(state(&client, "SELECT 1").await, "25P02");
        client.simple_query("ROLLBACK").await.unwrap();
    }
    let client = server.client().await;
    client.simple_query("BEGIN READ ONLY").await.unwrap();
    assert_eq!(state(&client, "CREATE TABLE u (k BIGINT PRIMARY KEY)").await, "25006");
    client.simple_query("ROLLBACK").await.unwrap();
    // A definition that fails leaves the transaction failed.
    let mut raw = Raw::log_in(&server).await;
    for (text, wanted) in
        [("BEGIN", 'T'), ("CREATE TABLE t (k BIGINT PRIMARY KEY)", 'E'), ("SELECT 1", 'E'), ("ROLLBACK", 'I')]
    {
        assert_eq!(status(&mut raw, text).await, wanted, "{text}");
    }
    assert_eq!(state(&client, "BEGIN ISOLATION LEVEL SERIALIZABLE").await, "0A000");
}
