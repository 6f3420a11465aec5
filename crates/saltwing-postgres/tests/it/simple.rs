//! The simple protocol.

use crate::raw::{Raw, field, first_state, kinds, tags};
use crate::{Server, rows, state};

#[tokio::test(flavor = "multi_thread")]
async fn statements_have_tags_and_rows() {
    let server = Server::start().await;
    let mut raw = Raw::log_in(&server).await;
    let text = b"CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR); UPSERT INTO t VALUES (1, 'one'), (2, NULL); INSERT INTO t VALUES (3, 'three');
        SELECT k, v FROM t WHERE k > 0; UPDATE t SET v = 'x' WHERE k = 1; DELETE FROM t WHERE k = 2; EXPLAIN SELECT * FROM t WHERE k = 1\0";
    raw.send(&[(b'Q', text)]).await;
    let messages = raw.until('Z').await;
    assert_eq!(
        tags(&messages),
        ["CREATE TABLE", "INSERT 0 2", "INSERT 0 1", "SELECT 3", "UPDATE 1", "DELETE 1", "EXPLAIN"]
    );
    assert_eq!(messages.last().unwrap().1, b"I");
    let client = server.client().await;
    assert_eq!(rows(&client, "SELECT k, v FROM t WHERE k > 0 ORDER BY k").await, ["1,x", "3,three"]);
    assert_eq!(rows(&client, "UPSERT INTO t VALUES (9, 'nine') RETURNING v").await, ["nine"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn empty_texts_have_an_answer() {
    let server = Server::start().await;
    let mut raw = Raw::log_in(&server).await;
    for text in [&b"\0"[..], b" -- nothing\n\0", b";;\0"] {
        raw.send(&[(b'Q', text)]).await;
        assert_eq!(kinds(&raw.until('Z').await), "IZ");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_has_its_fields() {
    let server = Server::start().await;
    server.run("CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR)");
    let mut raw = Raw::log_in(&server).await;
    raw.send(&[(b'Q', "SELECT k FROM t WHERE k = 1; SELECT '\u{fc}', nothing FROM t WHERE k = 1\0".as_bytes())]).await;
    let messages = raw.until('Z').await;
    let (_, error) = messages.iter().find(|(kind, _)| *kind == 'E').unwrap();
    assert_eq!((field(error, 'S'), field(error, 'C')), ("ERROR".to_owned(), "42703".to_owned()));
    assert_eq!(field(error, 'P'), "42", "{messages:?}");
    assert_eq!(field(error, 'c'), "nothing");
    raw.send(&[(b'Q', b"SELECT v FROM t WHERE v = 'x'\0")]).await;
    let messages = raw.until('Z').await;
    let (_, error) = messages.iter().find(|(kind, _)| *kind == 'E').unwrap();
    assert!(field(error, 'H').contains("FULL_SCAN"), "the guard's refusal has its fix: {}", field(error, 'H'));
}

#[tokio::test(flavor = "multi_thread")]
async fn several_statements_are_one_transaction_and_a_text_that_cannot_be_read_runs_nothing() {
    let server = Server::start().await;
    server.run("CREATE TABLE t (k BIGINT PRIMARY KEY)");
    let client = server.client().await;
    assert_eq!(
        state(&client, "INSERT INTO t VALUES (1); INSERT INTO t VALUES (2); INSERT INTO t VALUES (1)").await,
        "23505"
    );
    assert_eq!(rows(&client, "SELECT count(*) FROM t WHERE k > 0").await, ["0"]);
    assert_eq!(state(&client, "INSERT INTO t VALUES (1); SELEKT 1").await, "42601");
    assert_eq!(rows(&client, "SELECT count(*) FROM t WHERE k > 0").await, ["0"]);
    // A definition takes effect at once, so each statement is for itself.
    assert_eq!(
        state(&client, "INSERT INTO t VALUES (1); CREATE TABLE u (k BIGINT PRIMARY KEY); INSERT INTO t VALUES (1)")
            .await,
        "23505"
    );
    assert_eq!(rows(&client, "SELECT count(*) FROM t WHERE k > 0").await, ["1"]);
    assert_eq!(state(&client, "BEGIN; INSERT INTO t VALUES (5); INSERT INTO t VALUES (5)").await, "23505");
    assert_eq!(state(&client, "SELECT 1").await, "25P02");
    client.simple_query("ROLLBACK").await.unwrap();
    assert_eq!(rows(&client, "SELECT count(*) FROM t WHERE k > 1").await, ["0"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_come_while_a_long_text_runs() {
    let server = Server::start().await;
    let mut raw = Raw::log_in(&server).await;
    let text = format!("SELECT 1;{}\0", "SELECT 2;".repeat(20_000));
    raw.send(&[(b'Q', text.as_bytes())]).await;
    assert_eq!(raw.next().await.unwrap().0, 'T');
    assert_eq!(tags(&raw.until('Z').await).len(), 20_001);
}

#[tokio::test(flavor = "multi_thread")]
async fn text_that_is_not_utf8_is_an_error_and_the_session_goes_on() {
    let server = Server::start().await;
    let mut raw = Raw::log_in(&server).await;
    raw.send(&[(b'Q', b"SELECT '\xff'\0")]).await;
    assert_eq!(first_state(&raw.until('Z').await), "22021");
    raw.send(&[(b'Q', b"SELECT 1\0")]).await;
    assert_eq!(kinds(&raw.until('Z').await), "TDCZ");
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_of_postgres_and_of_the_library() {
    let server = Server::start().await;
    let client = server.client().await;
    assert_eq!(rows(&client, "SHOW server_encoding").await, ["UTF8"]);
    client.simple_query("SET application_name = 'tests'").await.unwrap();
    assert_eq!(rows(&client, "SHOW application_name").await, ["tests"]);
    client.simple_query("BEGIN; SET LOCAL statement_timeout = '5s'").await.unwrap();
    assert_eq!(rows(&client, "SHOW statement_timeout").await, ["5s"]);
    client.simple_query("ROLLBACK").await.unwrap();
    assert_eq!(rows(&client, "SHOW statement_timeout").await, ["0"]);
    server.run("CREATE TABLE t (k BIGINT PRIMARY KEY, v BIGINT)");
    assert_eq!(state(&client, "SELECT k FROM t WHERE v = 1").await, "54F01");
    client.simple_query("SET full_scan = 'allow'").await.unwrap();
    assert_eq!(rows(&client, "SELECT k FROM t WHERE v = 1").await, [""; 0]);
    client.simple_query("RESET ALL").await.unwrap();
    assert_eq!(state(&client, "SELECT k FROM t WHERE v = 1").await, "54F01");
    assert_eq!(state(&client, "SET nothing = 1").await, "42704");
    client.simple_query("SET default_transaction_read_only = on").await.unwrap();
    assert_eq!(state(&client, "UPSERT INTO t VALUES (1, 1)").await, "25006");
}
