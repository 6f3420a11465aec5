//! Bodies that no client sends.

use bytes::Bytes;
use proptest::prelude::*;
use prost::Message;
use saltwing_sessions::Limits;

use super::{Client, Server};
use crate::messages::*;

#[tokio::test]
async fn json_is_told_what_to_do() {
    let server = Server::new();
    let reply = server.client("a", None).send(Bytes::from_static(b"{\"request\":\"openConnection\"}")).await;
    let text = String::from_utf8(reply.body.to_vec()).unwrap();
    assert_eq!((reply.status, reply.headers[0].1.as_str()), (500, "application/json"));
    assert!(text.starts_with("{\"response\":\"error\"") && text.contains("serialization=PROTOBUF"), "{text}");
}

#[tokio::test]
async fn messages_have_a_limit() {
    let server = Server::with_limits(Limits { message_bytes_max: 1000, ..Limits::default() });
    let client = server.connect("a").await;
    assert_eq!(client.run(&format!("SHOW TABLES -- {}", "x".repeat(1000))).await.unwrap_err().state, "54000");
    client.run("SHOW TABLES").await.unwrap();
}

/// A small body must not become a large message.
#[tokio::test]
async fn the_parts_of_messages_have_a_limit() {
    let server = Server::new();
    let client = server.connect("a").await;
    let handle = client.prepare("SHOW TABLES").await.unwrap();
    let updates = vec![UpdateBatch::default(); 2_000_001];
    let request = ExecuteBatchRequest { connection_id: client.id.clone(), statement_id: handle.id, updates };
    let refused = client.call::<ExecuteBatchResponse>("ExecuteBatch", &request, "ExecuteBatch").await.unwrap_err();
    assert_eq!(refused.state, "54000");
    let names: Vec<String> = (0..1001).map(|number| number.to_string()).collect();
    let info: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "x")).collect();
    assert_eq!(server.client("b", None).open_with(&info).await.unwrap_err().state, "54000");
}

#[tokio::test]
async fn patterns_have_a_limit() {
    let server = Server::new();
    let client = server.connect("a").await;
    let schema_pattern = "%_".repeat(10_000);
    let request = SchemasRequest { schema_pattern, connection_id: client.id.clone(), ..SchemasRequest::default() };
    let refused = client.call::<ResultSetResponse>("Schemas", &request, "ResultSet").await.unwrap_err();
    assert_eq!(refused.state, "22023");
}

/// A body of a request with fields that a client might get wrong.
fn request() -> impl Strategy<Value = (&'static str, Vec<u8>)> {
    let id = proptest::sample::select(vec!["a", "b", ""]);
    let texts = proptest::sample::select(vec![
        "",
        "SHOW TABLES",
        "UPSERT INTO t VALUES (1)",
        "SELECT k FROM t WHERE k = ?",
        "COMMIT",
        "\u{0}",
    ]);
    let statement = prop_oneof![0..3_u32, any::<u32>()];
    let numbers = (any::<i32>(), any::<u64>(), any::<i64>());
    (0..12_usize, id, texts, statement, numbers).prop_map(|(kind, id, text, statement_id, (size, offset, total))| {
        let (connection_id, sql) = (id.to_owned(), text.to_owned());
        let value = TypedValue { r#type: size % 40, number_value: total, ..TypedValue::default() };
        let state = QueryState { r#type: size % 3, sql: sql.clone(), op: size % 30, ..QueryState::default() };
        match kind {
            0 => (
                "OpenConnectionRequest",
                OpenConnectionRequest { connection_id, ..OpenConnectionRequest::default() }.encode_to_vec(),
            ),
            1 => (
                "PrepareRequest",
                PrepareRequest { connection_id, sql, max_row_count: offset, max_rows_total: total }.encode_to_vec(),
            ),
            2 => {
                let it = PrepareAndExecuteRequest {
                    connection_id,
                    sql,
                    max_row_count: offset,
                    statement_id,
                    max_rows_total: total,
                    first_frame_max_size: size,
                };
                ("PrepareAndExecuteRequest", it.encode_to_vec())
            }
            3 => {
                let signature = Some(KnownSignature { sql });
                let handle = KnownStatement { connection_id, id: statement_id, signature };
                let it = ExecuteRequest {
                    statement_handle: Some(handle),
                    parameter_values: vec![value],
                    ..ExecuteRequest::default()
                };
                ("ExecuteRequest", it.encode_to_vec())
            }
            4 => {
                let it =
                    FetchRequest { connection_id, statement_id, offset, fetch_max_row_count: 0, frame_max_size: size };
                ("FetchRequest", it.encode_to_vec())
            }
            5 => (
                "SyncResultsRequest",
                SyncResultsRequest { connection_id, statement_id, state: Some(state), offset }.encode_to_vec(),
            ),
            6 => {
                let updates = vec![UpdateBatch { parameter_values: vec![value] }];
                ("ExecuteBatchRequest", ExecuteBatchRequest { connection_id, statement_id, updates }.encode_to_vec())
            }
            7 => ("CommitRequest", ConnectionRequest { connection_id }.encode_to_vec()),
            8 => {
                let properties = ConnectionProperties {
                    transaction_isolation: statement_id,
                    has_auto_commit: true,
                    ..ConnectionProperties::default()
                };
                (
                    "ConnectionSyncRequest",
                    ConnectionSyncRequest { connection_id, conn_props: Some(properties) }.encode_to_vec(),
                )
            }
            9 => (
                "ColumnsRequest",
                ColumnsRequest { connection_id, table_name_pattern: sql, ..ColumnsRequest::default() }.encode_to_vec(),
            ),
            10 => ("CreateStatementRequest", ConnectionRequest { connection_id }.encode_to_vec()),
            _ => ("RollbackRequest", ConnectionRequest { connection_id }.encode_to_vec()),
        }
    })
}

async fn answered(client: &Client, name: &str, bytes: Vec<u8>) -> u16 {
    let body = WireMessage {
        name: format!("org.apache.calcite.avatica.proto.Requests${name}"),
        wrapped_message: bytes.into(),
    };
    client.send(body.encode_to_vec().into()).await.status
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.div_ceil(4), ..ProptestConfig::default() })]

    /// Whatever a client sends, in whatever order, it gets an answer, and the server goes on for others.
    #[test]
    fn any_requests_are_answered(requests in proptest::collection::vec(request(), 1..20)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let server = Server::new();
            server.owner("CREATE TABLE t (k BIGINT PRIMARY KEY)");
            let client = server.connect("a").await;
            for (name, bytes) in requests {
                let status = answered(&client, name, bytes).await;
                assert!(matches!(status, 200 | 500), "{status}");
            }
            server.connect("other").await.run("SHOW TABLES").await.unwrap();
        });
    }
}
