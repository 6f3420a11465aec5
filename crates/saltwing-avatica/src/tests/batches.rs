//! Batches.

use super::{Client, Failure, Server, long};
use crate::messages::{ExecuteBatchRequest, ExecuteBatchResponse, PrepareAndExecuteBatchRequest, UpdateBatch};

async fn with_table() -> (Server, Client) {
    let server = Server::new();
    server.owner("CREATE TABLE t (k BIGINT PRIMARY KEY, v BIGINT)");
    let client = server.connect("a").await;
    (server, client)
}

const COUNT: &str = "SELECT count(*) FROM t WHERE k > 0";

async fn rows(client: &Client, statement_id: u32, keys: &[i64]) -> Result<ExecuteBatchResponse, Failure> {
    let updates = keys.iter().map(|k| UpdateBatch { parameter_values: vec![long(*k), long(*k)] }).collect();
    let request = ExecuteBatchRequest { connection_id: client.id.clone(), statement_id, updates };
    client.call("ExecuteBatch", &request, "ExecuteBatch").await
}

async fn texts(client: &Client, texts: &[&str]) -> Result<Vec<u64>, Failure> {
    let sql_commands = texts.iter().map(|text| (*text).to_owned()).collect();
    let request = PrepareAndExecuteBatchRequest { connection_id: client.id.clone(), statement_id: 1, sql_commands };
    let response: ExecuteBatchResponse = client.call("PrepareAndExecuteBatch", &request, "ExecuteBatch").await?;
    Ok(response.update_counts)
}

#[tokio::test]
async fn each_row_of_values_has_its_count() {
    let (server, client) = with_table().await;
    let handle = client.prepare("UPSERT INTO t VALUES (?, ?)").await.unwrap();
    let response = rows(&client, handle.id, &[1, 2, 3]).await.unwrap();
    assert_eq!((response.update_counts, response.missing_statement), (vec![1, 1, 1], false));
    assert_eq!(server.count(COUNT), 3);
    assert!(rows(&client, handle.id, &[]).await.unwrap().update_counts.is_empty());
    assert!(rows(&client, 99, &[4]).await.unwrap().missing_statement);
    let delete = client.prepare("DELETE FROM t WHERE k >= ? AND k <= ?").await.unwrap();
    assert_eq!(rows(&client, delete.id, &[2, 2, 9]).await.unwrap().update_counts, [1, 0, 0]);
}

#[tokio::test]
async fn with_autocommit_a_batch_is_written_whole_or_not() {
    let (server, client) = with_table().await;
    let handle = client.prepare("INSERT INTO t VALUES (?, ?)").await.unwrap();
    assert_eq!(rows(&client, handle.id, &[1, 2, 1]).await.unwrap_err().state, "23505");
    assert_eq!(server.count(COUNT), 0);
    assert_eq!(
        texts(&client, &["INSERT INTO t VALUES (1, 1)", "INSERT INTO t VALUES (1, 1)"]).await.unwrap_err().state,
        "23505"
    );
    assert_eq!(server.count(COUNT), 0);
    assert_eq!(texts(&client, &["INSERT INTO t VALUES (1, 1)", "DELETE FROM t WHERE k > 0"]).await.unwrap(), [1, 1]);
}

#[tokio::test]
async fn without_autocommit_a_batch_waits_for_the_commit() {
    let (server, client) = with_table().await;
    client.set_auto_commit(false).await.unwrap();
    let handle = client.prepare("UPSERT INTO t VALUES (?, ?)").await.unwrap();
    rows(&client, handle.id, &[1, 2]).await.unwrap();
    texts(&client, &["UPSERT INTO t VALUES (3, 3)"]).await.unwrap();
    assert_eq!(server.count(COUNT), 0);
    client.commit().await.unwrap();
    assert_eq!(server.count(COUNT), 3);
}

#[tokio::test]
async fn a_batch_with_definitions_runs_in_its_order() {
    let (server, client) = with_table().await;
    let sql = ["CREATE TABLE u (k BIGINT PRIMARY KEY)", "UPSERT INTO u VALUES (1), (2)", "UPSERT INTO t VALUES (1, 1)"];
    assert_eq!(texts(&client, &sql).await.unwrap(), [0, 2, 1]);
    assert_eq!(server.count("SELECT count(*) FROM u WHERE k > 0"), 2);
    let unknown = texts(&client, &["UPSERT INTO t VALUES (2, 2)", "UPSERT INTO nosuch VALUES (1)"]).await.unwrap_err();
    assert_eq!(unknown.code, 1012);
    assert_eq!(server.count(COUNT), 1, "no text ran");
}

/// Both batches write one row: one of them meets a conflict, and runs again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn batches_that_meet_are_both_written() {
    let (server, first) = with_table().await;
    server.owner("UPSERT INTO t VALUES (1, 0)");
    let second = server.connect("b").await;
    let work = |client: Client| async move {
        let handle = client.prepare("UPDATE t SET v = v + ? - ? + 1 WHERE k = 1").await.unwrap();
        for _ in 0..20 {
            rows(&client, handle.id, &[1, 1]).await.unwrap();
        }
    };
    let (first, second) = (tokio::spawn(work(first)), tokio::spawn(work(second)));
    first.await.unwrap();
    second.await.unwrap();
    // A batch is two updates of one statement each.
    assert_eq!(server.count("SELECT v FROM t WHERE k = 1"), 80);
}
