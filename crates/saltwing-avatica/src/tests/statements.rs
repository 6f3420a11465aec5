//! Statements and their results.

use saltwing::Value;
use saltwing_sessions::Limits;

use super::{Client, Server, long, rows, string};
use crate::messages::{QueryState, Rep, StatementHandle, StatementType, SyncResultsRequest, SyncResultsResponse};

/// A server with a table of so many rows.
async fn with_rows(count: i64) -> (Server, Client) {
    let server = Server::new();
    server.owner("SET dialect = 'phoenix'; CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR)");
    let connection = server.database.connect().blocking();
    for k in 1..=count {
        connection.execute("UPSERT INTO t VALUES (?, ?)", (k, format!("v{k}"))).unwrap();
    }
    let client = server.connect("a").await;
    (server, client)
}

const ALL: &str = "SELECT k FROM t WHERE k > 0 ORDER BY k";

fn numbers(rows: &[Vec<Value>]) -> Vec<i64> {
    rows.iter().map(|row| if let Value::Int(number) = row[0] { number } else { panic!("{row:?}") }).collect()
}

#[tokio::test]
async fn frames_follow_each_other() {
    let (_server, client) = with_rows(5).await;
    let id = client.statement().await.unwrap();
    let first = client.run_as(id, ALL, 2, -1).await.unwrap();
    assert_eq!((numbers(&first.rows()), first.is_done(), first.count), (vec![1, 2], false, u64::MAX));
    let second = client.fetch(id, 2, 2).await.unwrap().frame.unwrap();
    assert_eq!((numbers(&rows(&second)), second.offset, second.done), (vec![3, 4], 2, false));
    let third = client.fetch(id, 4, 2).await.unwrap().frame.unwrap();
    assert_eq!((numbers(&rows(&third)), third.offset, third.done), (vec![5], 4, true));
    let end = client.fetch(id, 5, 2).await.unwrap().frame.unwrap();
    assert_eq!((end.rows.len(), end.offset, end.done), (0, 5, true));
}

#[tokio::test]
async fn a_fetch_elsewhere_finds_no_result() {
    let (_server, client) = with_rows(5).await;
    let id = client.statement().await.unwrap();
    client.run_as(id, ALL, 2, -1).await.unwrap();
    assert!(client.fetch(id, 3, 2).await.unwrap().missing_results);
    assert!(client.fetch(id, 2, 2).await.unwrap().missing_results, "the result is given up");
    assert!(client.fetch(99, 0, 2).await.unwrap().missing_statement);
}

#[tokio::test]
async fn a_lost_result_is_made_again_up_to_its_place() {
    let (_server, client) = with_rows(5).await;
    let id = client.statement().await.unwrap();
    let state = QueryState { sql: ALL.to_owned(), has_sql: true, ..QueryState::default() };
    let sync = |offset: u64| SyncResultsRequest {
        connection_id: client.id.clone(),
        statement_id: id,
        state: Some(state.clone()),
        offset,
    };
    let made: SyncResultsResponse = client.call("SyncResults", &sync(3), "SyncResults").await.unwrap();
    assert!(made.more_results && !made.missing_statement);
    let frame = client.fetch(id, 3, 100).await.unwrap().frame.unwrap();
    assert_eq!((numbers(&rows(&frame)), frame.offset, frame.done), (vec![4, 5], 3, true));
    let beyond: SyncResultsResponse = client.call("SyncResults", &sync(9), "SyncResults").await.unwrap();
    assert!(!beyond.more_results);
}

#[tokio::test]
async fn a_client_may_limit_the_rows() {
    let (_server, client) = with_rows(5).await;
    let id = client.statement().await.unwrap();
    let limited = client.run_as(id, ALL, 100, 3).await.unwrap();
    assert_eq!((numbers(&limited.rows()), limited.is_done()), (vec![1, 2, 3], true));
    let unlimited = client.run_as(id, ALL, 100, 0).await.unwrap();
    assert_eq!(unlimited.rows().len(), 5);
}

#[tokio::test]
async fn a_result_is_read_as_its_client_wants_it() {
    let (_server, client) = with_rows(1000).await;
    let id = client.statement().await.unwrap();
    let first = client.run_as(id, ALL, -1, -1).await.unwrap();
    assert_eq!((first.rows().len(), first.is_done()), (1000, true));
    let small = client.run_as(id, ALL, 0, -1).await.unwrap();
    assert_eq!((small.rows().len(), small.is_done()), (100, false));
}

#[tokio::test]
async fn a_write_gives_a_count_and_no_rows() {
    let (_server, client) = with_rows(2).await;
    let written = client.run("UPSERT INTO t VALUES (7, 'x'), (8, 'y')").await.unwrap();
    assert_eq!((written.count, written.signature, written.frame), (2, None, None));
    assert_eq!(client.run("CREATE TABLE u (k BIGINT PRIMARY KEY)").await.unwrap().count, 0);
    let returned = client.run("DELETE FROM t WHERE k = 7 RETURNING k").await.unwrap();
    assert_eq!((numbers(&returned.rows()), returned.count), (vec![7], u64::MAX));
}

#[tokio::test]
async fn prepared_statements_tell_their_columns_and_parameters() {
    let (_server, client) = with_rows(2).await;
    let handle = client.prepare("SELECT v, k FROM t WHERE k = ?").await.unwrap();
    let signature = handle.signature.clone().unwrap();
    let labels: Vec<&str> = signature.columns.iter().map(|column| column.label.as_str()).collect();
    assert_eq!((labels, signature.columns[0].table_name.as_str()), (vec!["V", "K"], "T"));
    assert_eq!(signature.parameters[0].type_name, "BIGINT");
    assert_eq!(signature.statement_type, StatementType::Select as i32);
    let ran = client.execute(&handle, vec![long(2)]).await.unwrap().unwrap();
    assert_eq!(ran.rows(), [vec![Value::text("v2"), Value::Int(2)]]);
    let wrong = client.execute(&handle, vec![]).await.unwrap_err();
    assert_eq!(wrong.state, "08P01");
    let wrong =
        client.execute(&handle, vec![super::TypedValue { r#type: Rep::Object.into(), ..long(1) }]).await.unwrap_err();
    assert_eq!(wrong.state, "22023");
}

#[tokio::test]
async fn an_expired_statement_is_prepared_again_from_its_text() {
    let (_server, client) = with_rows(2).await;
    let handle = client.prepare("SELECT v FROM t WHERE k = ?").await.unwrap();
    client.close_statement(handle.id).await;
    let again = client.execute(&handle, vec![long(1)]).await.unwrap().unwrap();
    assert_eq!(again.rows(), [vec![Value::text("v1")]]);
    let bare = StatementHandle { id: 77, signature: None, ..handle };
    assert_eq!(client.execute(&bare, vec![long(1)]).await.unwrap(), None);
    assert_eq!(client.run_as(99, ALL, 10, -1).await.unwrap().rows().len(), 2);
}

#[tokio::test]
async fn an_empty_text_is_null() {
    let (_server, client) = with_rows(0).await;
    let handle = client.prepare("UPSERT INTO t VALUES (?, ?)").await.unwrap();
    client.execute(&handle, vec![long(1), string("")]).await.unwrap().unwrap();
    assert_eq!(client.run("SELECT v FROM t WHERE k = 1").await.unwrap().rows(), [vec![Value::Null]]);
}

#[tokio::test]
async fn statements_and_results_have_limits() {
    let server = Server::with_limits(Limits { prepared_statements_max: 2, cursors_max: 1, ..Limits::default() });
    server.owner("CREATE TABLE t (k BIGINT PRIMARY KEY); UPSERT INTO t VALUES (1), (2)");
    let client = server.connect("a").await;
    let (first, second) = (client.statement().await.unwrap(), client.statement().await.unwrap());
    assert_eq!(client.statement().await.unwrap_err().state, "53400");
    client.run_as(first, ALL, 1, -1).await.unwrap();
    assert_eq!(client.run_as(second, ALL, 1, -1).await.unwrap_err().state, "53400");
    client.close_statement(first).await;
    client.run_as(second, ALL, 1, -1).await.unwrap();
}

#[tokio::test]
async fn a_client_that_goes_away_cancels_its_statement() {
    let (server, client) = with_rows(2000).await;
    let slow = "SELECT count(*) FROM t WHERE k > 0 AND v LIKE '%v%v%v%v%x%'";
    let id = client.statement().await.unwrap();
    let request = client.run_as(id, slow, 10, -1);
    // Polled once, and dropped.
    tokio::select! {
        biased;
        _ = request => {}
        () = std::future::ready(()) => {}
    }
    assert!(server.sessions.list()[0].statement.as_ref().is_none_or(|statement| !statement.is_running));
    assert_eq!(client.run(ALL).await.unwrap().rows().len(), 2000);
}

#[tokio::test]
async fn a_failed_statement_is_an_error_with_phoenix_s_number() {
    let (_server, client) = with_rows(0).await;
    let missing = client.run("SELECT k FROM nosuch WHERE k = 1").await.unwrap_err();
    assert_eq!((missing.status, missing.code, missing.state.as_str()), (500, 1012, "42M03"));
    assert!(missing.text.starts_with("ERROR 1012 (42M03): ") && missing.text.ends_with(" ->"), "{}", missing.text);
    assert_eq!(client.run("SELEKT 1").await.unwrap_err().code, 601);
    let refused = client.run("SELECT k FROM t").await.unwrap_err();
    assert_eq!((refused.code, refused.state.as_str()), (0, "54F01"));
}
