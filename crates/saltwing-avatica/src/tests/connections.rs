//! Connections: users, settings, limits, their end.

use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use saltwing_sessions::{Limits, Phase, Protocol};
use tokio::time::Instant;

use super::{Client, Server};
use crate::connection::CONNECTION_IDLE_MAX;
use crate::messages::ConnectionProperties;
use crate::statements::STATEMENT_IDLE_MAX;

#[tokio::test]
async fn a_connection_is_opened_and_closed() {
    let server = Server::new();
    let client = server.connect("a").await;
    assert_eq!(server.sessions.list().len(), 1);
    assert_eq!(client.run("SHOW TABLES").await.unwrap().rows(), Vec::<Vec<_>>::new());
    client.close().await.unwrap();
    assert_eq!(server.sessions.connections(), 0);
    let lost = client.run("SHOW TABLES").await.unwrap_err();
    assert_eq!((lost.status, lost.code, lost.state.as_str()), (500, 1, "08003"));
    client.close().await.unwrap();
}

#[tokio::test]
async fn an_id_belongs_to_one_connection() {
    let server = Server::new();
    let client = server.connect("a").await;
    assert_eq!(client.open().await.unwrap_err().state, "08002");
    assert_eq!(server.client("", None).open().await.unwrap_err().state, "08P01");
    assert_eq!(server.client(&"x".repeat(201), None).open().await.unwrap_err().state, "08P01");
    assert_eq!(server.sessions.connections(), 1);
}

#[tokio::test]
async fn each_request_brings_the_password_of_the_connections_user() {
    let server = Server::new();
    server.owner(
        "CREATE TABLE t (k BIGINT PRIMARY KEY); UPSERT INTO t VALUES (1);
         CREATE USER ann PASSWORD 'of ann'; CREATE USER bob PASSWORD 'of bob'; GRANT SELECT ON t TO ann",
    );
    let ann = server.client("a", Some(("ann", "of ann")));
    ann.open().await.unwrap();
    assert_eq!(ann.run("SELECT k FROM t WHERE k = 1").await.unwrap().rows().len(), 1);
    for other in [None, Some(("bob", "of bob")), Some(("ann", "of bob")), Some(("bob", "of ann")), Some(("ann", ""))] {
        let refused = server.client("a", other).run("SELECT k FROM t WHERE k = 1").await.unwrap_err();
        assert_eq!((refused.status, refused.state.as_str()), (401, "28000"), "{other:?}");
    }
    assert_eq!(ann.run("SELECT k FROM t WHERE k = 1").await.unwrap().rows().len(), 1);
    let bob = server.client("b", Some(("bob", "of bob")));
    bob.open().await.unwrap();
    assert_eq!(bob.run("SELECT k FROM t WHERE k = 1").await.unwrap_err().state, "42501");
}

#[tokio::test]
async fn wrong_passwords_of_an_open_connection_are_delayed_as_at_the_login() {
    let server = Server::new();
    server.owner("CREATE USER ann PASSWORD 'of ann'");
    let peer = Some("192.0.2.7:50000".parse().unwrap());
    let ann = Client { peer, ..server.client("a", Some(("ann", "of ann"))) };
    ann.open().await.unwrap();
    // Requests without a password guess none.
    let without = Client { header: None, ..ann.clone() };
    for _ in 0..9 {
        assert_eq!(answered_at_once(without.commit()).await.unwrap().unwrap_err().status, 401);
    }
    let guessing = Client { peer, ..server.client("a", Some(("ann", "wrong"))) };
    for _ in 0..3 {
        assert_eq!(answered_at_once(guessing.commit()).await.unwrap().unwrap_err().status, 401);
    }
    assert!(answered_at_once(guessing.commit()).await.is_none(), "the fourth one waits");
    assert!(answered_at_once(ann.commit()).await.is_some(), "the right password does not");
    let elsewhere = Client { peer: Some("192.0.2.8:50000".parse().unwrap()), ..guessing.clone() };
    assert!(answered_at_once(elsewhere.commit()).await.is_some());
    // The failures count for a login, too.
    let arrival = server.sessions.arrive(Protocol::Avatica, peer).unwrap();
    assert!(!arrival.note_wrong_password("ann").is_zero());
}

/// The answer, if there is no wait before it.
async fn answered_at_once<T>(answer: impl Future<Output = T>) -> Option<T> {
    let mut answer = pin!(answer);
    std::future::poll_fn(|context| match answer.as_mut().poll(context) {
        Poll::Ready(answer) => Poll::Ready(Some(answer)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}

#[tokio::test]
async fn a_wrong_password_opens_nothing() {
    let server = Server::new();
    server.owner("CREATE USER ann PASSWORD 'of ann'");
    for user in [Some(("ann", "wrong")), Some(("nobody", "of ann")), None] {
        let client = server.client("a", user);
        assert_eq!(client.open().await.unwrap_err().status, 401, "{user:?}");
        assert_eq!(client.run("SHOW TABLES").await.unwrap_err().status, if user.is_none() { 401 } else { 500 });
    }
    assert_eq!(server.sessions.connections(), 0);
    let reply = server.client("a", None).send(crate::wire::Response::Commit.encode()).await;
    assert_eq!(reply.status, 500);
}

#[tokio::test]
async fn a_refusal_asks_for_basic_authentication() {
    let server = Server::new();
    server.owner("CREATE USER ann PASSWORD 'of ann'");
    let body = "0a3f6f72672e6170616368652e63616c636974652e617661746963612e70726f746f2e5265717565737473244f70656e436f6e6e656374696f6e5265717565737412030a0163";
    let bytes: Vec<u8> =
        (0..body.len()).step_by(2).map(|at| u8::from_str_radix(&body[at..at + 2], 16).unwrap()).collect();
    let reply = server.avatica.handle(None, None, bytes.into()).await;
    assert_eq!(reply.status, 401);
    assert!(reply.headers.iter().any(|(name, value)| *name == "www-authenticate" && value.starts_with("Basic ")));
}

#[tokio::test]
async fn settings_are_merged() {
    let server = Server::new();
    let client = server.connect("a").await;
    let first = client.sync(ConnectionProperties::default()).await.unwrap();
    assert!(first.auto_commit && !first.read_only && first.has_auto_commit && first.has_read_only);
    assert_eq!(first.transaction_isolation, 4);
    let given = ConnectionProperties {
        has_read_only: true,
        read_only: true,
        transaction_isolation: 2,
        ..ConnectionProperties::default()
    };
    let second = client.sync(given).await.unwrap();
    assert!(second.auto_commit && second.read_only);
    assert_eq!(second.transaction_isolation, 2);
    for refused in [
        ConnectionProperties { transaction_isolation: 8, ..ConnectionProperties::default() },
        ConnectionProperties { schema: "S".to_owned(), ..ConnectionProperties::default() },
    ] {
        assert_eq!(client.sync(refused).await.unwrap_err().state, "0A000");
    }
}

#[tokio::test]
async fn properties_that_would_change_rows_are_refused() {
    let server = Server::new();
    let client = server.client("a", None);
    for name in ["TenantId", "CurrentSCN", "schema"] {
        assert_eq!(client.open_with(&[(name, "x")]).await.unwrap_err().state, "0A000");
    }
    client.open_with(&[("user", "ann"), ("schema", ""), ("phoenix.query.timeoutMs", "1")]).await.unwrap();
    assert_eq!(server.sessions.list()[0].user, "ann");
}

#[tokio::test]
async fn connections_have_a_limit() {
    let server = Server::with_limits(Limits { connections_max: 1, ..Limits::default() });
    let first = server.connect("a").await;
    let refused = server.client("b", None).open().await.unwrap_err();
    assert_eq!((refused.status, refused.state.as_str()), (500, "53300"));
    first.close().await.unwrap();
    server.connect("b").await;
}

#[tokio::test]
async fn idle_connections_and_statements_end() {
    let server = Server::new();
    let client = server.connect("a").await;
    let statement = client.statement().await.unwrap();
    let connections = &server.avatica.connections;
    connections.sweep(Phase::Serving, Instant::now() + STATEMENT_IDLE_MAX - Duration::from_secs(5));
    assert!(!client.fetch(statement, 0, 1).await.unwrap().missing_statement);
    connections.sweep(Phase::Serving, Instant::now() + STATEMENT_IDLE_MAX + Duration::from_secs(5));
    assert!(client.fetch(statement, 0, 1).await.unwrap().missing_statement);
    assert_eq!(server.sessions.connections(), 1);
    connections.sweep(Phase::Serving, Instant::now() + CONNECTION_IDLE_MAX + Duration::from_secs(5));
    assert_eq!(server.sessions.connections(), 0);
    assert_eq!(client.run("SHOW TABLES").await.unwrap_err().code, 1);
}

#[tokio::test]
async fn a_connection_in_a_transaction_may_have_a_shorter_time() {
    let limits = Limits {
        idle_timeout: Some(Duration::from_secs(1000)),
        idle_in_transaction_timeout: Some(Duration::from_secs(60)),
        ..Limits::default()
    };
    let server = Server::with_limits(limits);
    server.owner("CREATE TABLE t (k BIGINT PRIMARY KEY)");
    let (inside, outside) = (server.connect("a").await, server.connect("b").await);
    inside.set_auto_commit(false).await.unwrap();
    inside.run("UPSERT INTO t VALUES (1)").await.unwrap();
    server.avatica.connections.sweep(Phase::Serving, Instant::now() + Duration::from_secs(70));
    assert_eq!(inside.commit().await.unwrap_err().code, 1);
    assert_eq!(server.count("SELECT count(*) FROM t WHERE k > 0"), 0);
    outside.run("SHOW TABLES").await.unwrap();
    server.avatica.connections.sweep(Phase::Serving, Instant::now() + Duration::from_secs(1100));
    assert_eq!(server.sessions.connections(), 0);
}

#[tokio::test]
async fn a_server_that_ends_closes_its_connections() {
    let server = Server::new();
    let client = server.connect("a").await;
    assert!(server.sessions.stop(Duration::from_secs(10)).await, "the sweep closes idle connections");
    assert_eq!(client.run("SHOW TABLES").await.unwrap_err().code, 1);
    assert_eq!(server.client("b", None).open().await.unwrap_err().state, "57P03");
}

#[tokio::test]
async fn requests_of_one_connection_wait_and_those_of_others_do_not() {
    let server = Server::new();
    let (first, second) = (server.connect("a").await, server.connect("b").await);
    let entry = server.avatica.connections.entry("a").unwrap();
    let held = entry.lock_for_test().await;
    second.run("SHOW TABLES").await.unwrap();
    let waiting = tokio::spawn({
        let first = first.clone();
        async move { first.run("SHOW TABLES").await }
    });
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished());
    drop(held);
    waiting.await.unwrap().unwrap();
}
