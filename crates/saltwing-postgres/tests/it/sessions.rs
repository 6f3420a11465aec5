//! Idle sessions, limits of a session, and the end of the process.

use std::time::Duration;

use saltwing_sessions::Limits;

use crate::raw::Raw;
use crate::{Server, rows, state};

#[tokio::test(flavor = "multi_thread")]
async fn idle_sessions_end() {
    let limits = Limits {
        idle_timeout: Some(Duration::from_millis(200)),
        idle_in_transaction_timeout: Some(Duration::from_millis(100)),
        ..Limits::default()
    };
    let server = Server::with_limits(limits).await;
    let mut idle = Raw::log_in(&server).await;
    assert_eq!(idle.is_closed().await.as_deref(), Some("57P05"));
    let mut open = Raw::log_in(&server).await;
    open.send(&[(b'Q', b"BEGIN\0")]).await;
    open.until('Z').await;
    assert_eq!(open.is_closed().await.as_deref(), Some("25P03"));
    server.has_connections(0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn statements_and_cursors_of_a_session_have_limits() {
    let server = Server::with_limits(Limits { prepared_statements_max: 2, cursors_max: 2, ..Limits::default() }).await;
    let client = server.client().await;
    client.simple_query("PREPARE a AS SELECT 1; PREPARE b AS SELECT 1").await.unwrap();
    assert_eq!(state(&client, "PREPARE c AS SELECT 1").await, "53400");
    client.simple_query("DEALLOCATE ALL; BEGIN").await.unwrap();
    client.simple_query("DECLARE a CURSOR FOR SELECT 1; DECLARE b CURSOR FOR SELECT 1").await.unwrap();
    assert_eq!(state(&client, "DECLARE c CURSOR FOR SELECT 1").await, "53400");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_the_process_ends_sessions() {
    let server = Server::start().await;
    let mut idle = Raw::log_in(&server).await;
    let mut busy = Raw::log_in(&server).await;
    busy.send(&[(b'Q', b"SELECT value FROM generate_series(1, 10000000000)\0")]).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    let sessions = server.sessions.clone();
    let stop = tokio::spawn(async move { sessions.stop(Duration::from_millis(300)).await });
    assert_eq!(idle.is_closed().await.as_deref(), Some("57P01"));
    // The client that does not read is not waited for.
    assert!(stop.await.unwrap(), "all sessions have ended");
    let mut late = Raw::connect(&server).await;
    late.send_packet(b"\0\x03\0\0user\0ann\0\0").await;
    assert_eq!(late.is_closed().await.as_deref(), Some("57P03"));
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_are_listed_with_their_statements() {
    let server = Server::start().await;
    let client = server.connect("user=ann application_name=tests").await.unwrap();
    rows(&client, "SELECT 1").await;
    client.simple_query("CREATE USER bob PASSWORD 'very secret'").await.unwrap();
    let list = server.sessions.list();
    let [session] = list.as_slice() else { panic!("{list:?}") };
    assert_eq!((session.user.as_str(), session.application.as_str()), ("ann", "tests"));
    let statement = session.statement.as_ref().unwrap();
    assert!(
        !statement.is_running && statement.text.contains("CREATE USER") && !statement.text.contains("secret"),
        "{statement:?}"
    );
}
