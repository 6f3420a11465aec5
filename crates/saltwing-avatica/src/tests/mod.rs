//! The protocol as a client speaks it: bodies in, bodies out.

mod batches;
mod connections;
mod hostile;
mod metadata;
mod statements;
mod transactions;

use std::collections::HashMap;
use std::net::SocketAddr;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use prost::Message;
use saltwing::{Database, SqlType, Value};
use saltwing_sessions::{Limits, Sessions};

use crate::messages::*;
use crate::{Avatica, Reply, values};

/// A server over a database in memory.
struct Server {
    database: Database,
    sessions: Sessions,
    avatica: Avatica,
}

impl Server {
    fn new() -> Self {
        Self::with_limits(Limits::default())
    }

    fn with_limits(limits: Limits) -> Self {
        let database = Database::memory().unwrap();
        let sessions = Sessions::new(database.clone(), limits);
        Self { database, avatica: Avatica::new(sessions.clone()), sessions }
    }

    /// Runs statements as the owner, beside the protocol.
    fn owner(&self, sql: &str) {
        self.database.connect().blocking().execute_batch(sql).unwrap();
    }

    fn count(&self, sql: &str) -> i64 {
        self.database.connect().blocking().query_one::<(i64,)>(sql, ()).unwrap().0
    }

    fn client(&self, id: &str, user: Option<(&str, &str)>) -> Client {
        let header = user.map(|(user, password)| format!("Basic {}", STANDARD.encode(format!("{user}:{password}"))));
        Client { avatica: self.avatica.clone(), peer: None, header, id: id.to_owned() }
    }

    /// A client without a password, whose connection is open.
    async fn connect(&self, id: &str) -> Client {
        let client = self.client(id, None);
        client.open().await.unwrap();
        client
    }
}

/// A client of one connection.
#[derive(Clone)]
struct Client {
    avatica: Avatica,
    peer: Option<SocketAddr>,
    header: Option<String>,
    id: String,
}

/// What a client sees of a request that fails.
#[derive(Clone, Debug, PartialEq)]
struct Failure {
    status: u16,
    code: u32,
    state: String,
    text: String,
}

/// What a client sees of a statement: its rows with the place of the first one, or the count.
#[derive(Clone, Debug, PartialEq)]
struct Ran {
    statement: u32,
    signature: Option<Signature>,
    frame: Option<Frame>,
    count: u64,
}

impl Ran {
    fn rows(&self) -> Vec<Vec<Value>> {
        rows(self.frame.as_ref().unwrap())
    }

    fn is_done(&self) -> bool {
        self.frame.as_ref().unwrap().done
    }
}

fn rows(frame: &Frame) -> Vec<Vec<Value>> {
    let value = |column: &ColumnValue| values::from_wire(column.scalar_value.as_ref().unwrap()).unwrap();
    frame.rows.iter().map(|row| row.value.iter().map(value).collect()).collect()
}

/// The labels and rows of metadata, as texts; NULL is `-`.
fn shown(result: &ResultSetResponse, labels: &[&str]) -> Vec<String> {
    let columns = &result.signature.as_ref().unwrap().columns;
    let place = |label: &&str| {
        columns.iter().position(|column| column.label == **label).unwrap_or_else(|| panic!("no {label}"))
    };
    let places: Vec<usize> = labels.iter().map(place).collect();
    let text = |value: &Value| saltwing::text::format(value, SqlType::Null).unwrap_or_else(|| "-".to_owned());
    let rows = rows(result.first_frame.as_ref().unwrap());
    rows.iter().map(|row| places.iter().map(|place| text(&row[*place])).collect::<Vec<_>>().join(" ")).collect()
}

impl Client {
    async fn send(&self, body: Bytes) -> Reply {
        self.avatica.handle(self.peer, self.header.as_deref(), body).await
    }

    /// Sends a request, and takes the response of the expected name apart.
    async fn call<M: Message + Default>(
        &self,
        request: &str,
        message: &impl Message,
        response: &str,
    ) -> Result<M, Failure> {
        let name = format!("org.apache.calcite.avatica.proto.Requests${request}Request");
        let body = WireMessage { name, wrapped_message: message.encode_to_vec().into() };
        let reply = self.send(body.encode_to_vec().into()).await;
        let WireMessage { name, wrapped_message } = WireMessage::decode(reply.body).unwrap();
        if name.ends_with("$ErrorResponse") {
            let error = ErrorResponse::decode(wrapped_message).unwrap();
            let ErrorResponse { error_message: text, error_code: code, sql_state: state, .. } = error;
            return Err(Failure { status: reply.status, code, state, text });
        }
        assert_eq!(
            (reply.status, name),
            (200, format!("org.apache.calcite.avatica.proto.Responses${response}Response"))
        );
        Ok(M::decode(wrapped_message).unwrap())
    }

    fn about(&self) -> ConnectionRequest {
        ConnectionRequest { connection_id: self.id.clone() }
    }

    async fn open(&self) -> Result<(), Failure> {
        self.open_with(&[]).await
    }

    async fn open_with(&self, info: &[(&str, &str)]) -> Result<(), Failure> {
        let info: HashMap<String, String> =
            info.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let request = OpenConnectionRequest { connection_id: self.id.clone(), info };
        self.call::<EmptyResponse>("OpenConnection", &request, "OpenConnection").await.map(drop)
    }

    async fn close(&self) -> Result<(), Failure> {
        self.call::<EmptyResponse>("CloseConnection", &self.about(), "CloseConnection").await.map(drop)
    }

    async fn sync(&self, properties: ConnectionProperties) -> Result<ConnectionProperties, Failure> {
        let request = ConnectionSyncRequest { connection_id: self.id.clone(), conn_props: Some(properties) };
        let response: ConnectionSyncResponse = self.call("ConnectionSync", &request, "ConnectionSync").await?;
        Ok(response.conn_props.unwrap())
    }

    async fn set_auto_commit(&self, auto_commit: bool) -> Result<(), Failure> {
        self.sync(ConnectionProperties { auto_commit, has_auto_commit: true, ..ConnectionProperties::default() })
            .await
            .map(drop)
    }

    async fn commit(&self) -> Result<(), Failure> {
        self.call::<EmptyResponse>("Commit", &self.about(), "Commit").await.map(drop)
    }

    async fn roll_back(&self) -> Result<(), Failure> {
        self.call::<EmptyResponse>("Rollback", &self.about(), "Rollback").await.map(drop)
    }

    async fn statement(&self) -> Result<u32, Failure> {
        let response: CreateStatementResponse = self.call("CreateStatement", &self.about(), "CreateStatement").await?;
        Ok(response.statement_id)
    }

    /// Runs a text under a new statement.
    async fn run(&self, sql: &str) -> Result<Ran, Failure> {
        let id = self.statement().await?;
        self.run_as(id, sql, 2000, -1).await
    }

    async fn run_as(
        &self,
        statement_id: u32,
        sql: &str,
        first_frame_max_size: i32,
        max_rows_total: i64,
    ) -> Result<Ran, Failure> {
        let request = PrepareAndExecuteRequest {
            connection_id: self.id.clone(),
            sql: sql.to_owned(),
            max_row_count: 0,
            statement_id,
            max_rows_total,
            first_frame_max_size,
        };
        Ok(ran(self.call("PrepareAndExecute", &request, "Execute").await?).unwrap())
    }

    async fn prepare(&self, sql: &str) -> Result<StatementHandle, Failure> {
        let request = PrepareRequest {
            connection_id: self.id.clone(),
            sql: sql.to_owned(),
            max_row_count: 0,
            max_rows_total: -1,
        };
        let response: PrepareResponse = self.call("Prepare", &request, "Prepare").await?;
        Ok(response.statement.unwrap())
    }

    /// Runs a prepared statement; `None` if it is missing.
    async fn execute(&self, handle: &StatementHandle, parameters: Vec<TypedValue>) -> Result<Option<Ran>, Failure> {
        let signature = handle.signature.as_ref().map(|signature| KnownSignature { sql: signature.sql.clone() });
        let request = ExecuteRequest {
            statement_handle: Some(KnownStatement { connection_id: self.id.clone(), id: handle.id, signature }),
            parameter_values: parameters,
            deprecated_first_frame_max_size: 0,
            has_parameter_values: true,
            first_frame_max_size: 0,
        };
        Ok(ran(self.call("Execute", &request, "Execute").await?))
    }

    async fn fetch(&self, statement_id: u32, offset: u64, rows: i32) -> Result<FetchResponse, Failure> {
        let request = FetchRequest {
            connection_id: self.id.clone(),
            statement_id,
            offset,
            fetch_max_row_count: 0,
            frame_max_size: rows,
        };
        self.call("Fetch", &request, "Fetch").await
    }

    async fn close_statement(&self, statement_id: u32) {
        let request = StatementRequest { connection_id: self.id.clone(), statement_id };
        self.call::<EmptyResponse>("CloseStatement", &request, "CloseStatement").await.unwrap();
    }
}

/// `None` for a statement that is missing.
fn ran(response: ExecuteResponse) -> Option<Ran> {
    if response.missing_statement {
        assert!(response.results.is_empty());
        return None;
    }
    let [result] = <[ResultSetResponse; 1]>::try_from(response.results).unwrap();
    let ResultSetResponse { statement_id: statement, signature, first_frame: frame, update_count: count, .. } = result;
    Some(Ran { statement, signature, frame, count })
}

fn long(number_value: i64) -> TypedValue {
    TypedValue { r#type: Rep::Long.into(), number_value, ..TypedValue::default() }
}

fn string(text: &str) -> TypedValue {
    TypedValue { r#type: Rep::String.into(), string_value: text.to_owned(), ..TypedValue::default() }
}

fn is_send<T: Send>(value: T) -> T {
    value
}

/// A server of HTTP moves the future between its threads.
#[tokio::test]
async fn answers_may_be_awaited_on_any_thread() {
    let server = Server::new();
    let reply = is_send(server.avatica.handle(None, None, Bytes::new())).await;
    assert_eq!(reply.status, 500);
}
