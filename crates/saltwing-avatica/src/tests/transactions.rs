//! Autocommit, commit and rollback.

use saltwing::Value;

use super::{Client, Server};
use crate::messages::ConnectionProperties;

async fn with_table() -> (Server, Client) {
    let server = Server::new();
    server.owner("CREATE TABLE t (k BIGINT PRIMARY KEY)");
    let client = server.connect("a").await;
    (server, client)
}

const COUNT: &str = "SELECT count(*) FROM t WHERE k > 0";

#[tokio::test]
async fn without_autocommit_writes_wait_for_the_commit() {
    let (server, client) = with_table().await;
    client.set_auto_commit(false).await.unwrap();
    client.run("UPSERT INTO t VALUES (1)").await.unwrap();
    assert_eq!(server.count(COUNT), 0);
    assert_eq!(client.run(COUNT).await.unwrap().rows(), [vec![Value::Int(1)]], "a transaction sees its own rows");
    client.commit().await.unwrap();
    assert_eq!(server.count(COUNT), 1);
    client.run("UPSERT INTO t VALUES (2)").await.unwrap();
    client.roll_back().await.unwrap();
    assert_eq!(client.run(COUNT).await.unwrap().rows(), [vec![Value::Int(1)]]);
    client.commit().await.unwrap();
    client.commit().await.unwrap();
    assert_eq!(server.count(COUNT), 1);
}

#[tokio::test]
async fn autocommit_that_is_switched_on_commits() {
    let (server, client) = with_table().await;
    client.set_auto_commit(false).await.unwrap();
    client.run("UPSERT INTO t VALUES (1)").await.unwrap();
    let unchanged = client.sync(ConnectionProperties::default()).await.unwrap();
    assert!(!unchanged.auto_commit);
    assert_eq!(server.count(COUNT), 0);
    client.set_auto_commit(true).await.unwrap();
    assert_eq!(server.count(COUNT), 1);
    client.run("UPSERT INTO t VALUES (2)").await.unwrap();
    assert_eq!(server.count(COUNT), 2);
}

#[tokio::test]
async fn a_transaction_begins_with_its_first_read() {
    let (server, client) = with_table().await;
    server.owner("UPSERT INTO t VALUES (1)");
    client.set_auto_commit(false).await.unwrap();
    client.run("SELECT k FROM t WHERE k = 1").await.unwrap();
    server.owner("UPSERT INTO t VALUES (1)");
    client.run("UPSERT INTO t VALUES (1)").await.unwrap();
    let conflict = client.commit().await.unwrap_err();
    assert_eq!((conflict.code, conflict.state.as_str()), (523, "42900"));
    client.run("UPSERT INTO t VALUES (1)").await.unwrap();
    client.commit().await.unwrap();
}

#[tokio::test]
async fn definitions_end_a_transaction_that_has_only_read() {
    let (_server, client) = with_table().await;
    client.set_auto_commit(false).await.unwrap();
    client.run("CREATE TABLE u (k BIGINT PRIMARY KEY)").await.unwrap();
    client.run("SELECT k FROM u WHERE k = 1").await.unwrap();
    client.run("CREATE TABLE v (k BIGINT PRIMARY KEY)").await.unwrap();
    client.run("UPSERT INTO v VALUES (1)").await.unwrap();
    let refused = client.run("CREATE TABLE w (k BIGINT PRIMARY KEY)").await.unwrap_err();
    assert_eq!(refused.state, "25001");
    client.roll_back().await.unwrap();
    client.run("CREATE TABLE w (k BIGINT PRIMARY KEY)").await.unwrap();
}

#[tokio::test]
async fn a_read_only_connection_writes_nothing() {
    let (server, client) = with_table().await;
    let read_only =
        |read_only| ConnectionProperties { has_read_only: true, read_only, ..ConnectionProperties::default() };
    client.sync(read_only(true)).await.unwrap();
    for sql in [
        "UPSERT INTO t VALUES (1)",
        "DELETE FROM t WHERE k = 1",
        "CREATE TABLE u (k BIGINT PRIMARY KEY)",
        "DROP TABLE t",
    ] {
        let refused = client.run(sql).await.unwrap_err();
        assert_eq!((refused.code, refused.state.as_str()), (518, "25502"), "{sql}");
    }
    client.set_auto_commit(false).await.unwrap();
    client.run(COUNT).await.unwrap();
    assert_eq!(client.run("UPSERT INTO t VALUES (1)").await.unwrap_err().code, 518);
    client.commit().await.unwrap();
    client.sync(read_only(false)).await.unwrap();
    client.run("UPSERT INTO t VALUES (1)").await.unwrap();
    client.commit().await.unwrap();
    assert_eq!(server.count(COUNT), 1);
}

#[tokio::test]
async fn a_connection_that_ends_rolls_back() {
    let (server, client) = with_table().await;
    client.set_auto_commit(false).await.unwrap();
    client.run("UPSERT INTO t VALUES (1)").await.unwrap();
    client.close().await.unwrap();
    assert_eq!(server.count(COUNT), 0);
}

#[tokio::test]
async fn a_failed_transaction_is_rolled_back_by_its_client() {
    let (server, client) = with_table().await;
    client.set_auto_commit(false).await.unwrap();
    client.run("INSERT INTO t VALUES (1)").await.unwrap();
    client.run("INSERT INTO t VALUES (1)").await.unwrap_err();
    assert_eq!(client.run(COUNT).await.unwrap_err().state, "25P02");
    assert_eq!(client.commit().await.unwrap_err().state, "25P02");
    client.roll_back().await.unwrap();
    client.run("INSERT INTO t VALUES (2)").await.unwrap();
    client.commit().await.unwrap();
    assert_eq!(server.count(COUNT), 1);
}
