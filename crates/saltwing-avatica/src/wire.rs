//! Requests out of the bodies that clients send, and bodies of responses.
//!
//! A body is a [`WireMessage`]: the name of a Java class, such as `org.apache.calcite.avatica.proto.Requests$FetchRequest`, and the bytes of its
//! message. The name of a response follows from its type here.

use bytes::Bytes;
use prost::Message;

use crate::error::AvaticaError;
use crate::messages::{
    ColumnsRequest, ConnectionRequest, ConnectionSyncRequest, ConnectionSyncResponse, CreateStatementResponse,
    DatabasePropertyResponse, EmptyResponse, ErrorResponse, ExecuteBatchRequest, ExecuteBatchResponse, ExecuteRequest,
    ExecuteResponse, FetchRequest, FetchResponse, OpenConnectionRequest, PrepareAndExecuteBatchRequest,
    PrepareAndExecuteRequest, PrepareRequest, PrepareResponse, ResultSetResponse, SchemasRequest, StatementRequest,
    SyncResultsRequest, SyncResultsResponse, TablesRequest, WireMessage,
};

const REQUESTS: &str = "org.apache.calcite.avatica.proto.Requests$";
const RESPONSES: &str = "org.apache.calcite.avatica.proto.Responses$";

/// The bytes of a name that an error shows.
const NAME_SHOWN_MAX: usize = 100;

/// Makes the enum of messages of one direction, each with its name.
macro_rules! requests {
    ($($variant:ident($message:ty) = $name:literal,)*) => {
        /// A request.
        #[derive(Clone, Debug, PartialEq)]
        pub(crate) enum Request {
            $($variant($message),)*
        }

        impl Request {
            fn named(name: &str, bytes: Bytes) -> Result<Self, AvaticaError> {
                match name {
                    $($name => Ok(Self::$variant(<$message>::decode(bytes)?)),)*
                    _ => Err(AvaticaError::NoSuchRequest { name: beginning(name, NAME_SHOWN_MAX) }),
                }
            }
        }
    };
}

requests! {
    OpenConnection(OpenConnectionRequest) = "OpenConnectionRequest",
    CloseConnection(ConnectionRequest) = "CloseConnectionRequest",
    ConnectionSync(ConnectionSyncRequest) = "ConnectionSyncRequest",
    CreateStatement(ConnectionRequest) = "CreateStatementRequest",
    CloseStatement(StatementRequest) = "CloseStatementRequest",
    Prepare(PrepareRequest) = "PrepareRequest",
    Execute(ExecuteRequest) = "ExecuteRequest",
    PrepareAndExecute(PrepareAndExecuteRequest) = "PrepareAndExecuteRequest",
    Fetch(FetchRequest) = "FetchRequest",
    SyncResults(SyncResultsRequest) = "SyncResultsRequest",
    PrepareAndExecuteBatch(PrepareAndExecuteBatchRequest) = "PrepareAndExecuteBatchRequest",
    ExecuteBatch(ExecuteBatchRequest) = "ExecuteBatchRequest",
    Commit(ConnectionRequest) = "CommitRequest",
    Rollback(ConnectionRequest) = "RollbackRequest",
    Catalogs(ConnectionRequest) = "CatalogsRequest",
    Schemas(SchemasRequest) = "SchemasRequest",
    Tables(TablesRequest) = "TablesRequest",
    Columns(ColumnsRequest) = "ColumnsRequest",
    TableTypes(ConnectionRequest) = "TableTypesRequest",
    TypeInfo(ConnectionRequest) = "TypeInfoRequest",
    DatabaseProperty(ConnectionRequest) = "DatabasePropertyRequest",
}

impl Request {
    /// The request in a body.
    ///
    /// # Errors
    /// [`AvaticaError::Json`], [`AvaticaError::BadMessage`], [`AvaticaError::NoSuchRequest`].
    pub(crate) fn decode(body: Bytes) -> Result<Self, AvaticaError> {
        if body.first() == Some(&b'{') {
            return Err(AvaticaError::Json);
        }
        let WireMessage { name, wrapped_message } = WireMessage::decode(body)?;
        Self::named(name.strip_prefix(REQUESTS).unwrap_or(&name), wrapped_message)
    }

    /// The id of the connection that it is about.
    pub(crate) fn connection_id(&self) -> &str {
        match self {
            Self::OpenConnection(it) => &it.connection_id,
            Self::ConnectionSync(it) => &it.connection_id,
            Self::CloseStatement(it) => &it.connection_id,
            Self::Prepare(it) => &it.connection_id,
            Self::Execute(it) => it.statement_handle.as_ref().map_or("", |handle| &handle.connection_id),
            Self::PrepareAndExecute(it) => &it.connection_id,
            Self::Fetch(it) => &it.connection_id,
            Self::SyncResults(it) => &it.connection_id,
            Self::PrepareAndExecuteBatch(it) => &it.connection_id,
            Self::ExecuteBatch(it) => &it.connection_id,
            Self::Schemas(it) => &it.connection_id,
            Self::Tables(it) => &it.connection_id,
            Self::Columns(it) => &it.connection_id,
            Self::CloseConnection(it)
            | Self::CreateStatement(it)
            | Self::Commit(it)
            | Self::Rollback(it)
            | Self::Catalogs(it)
            | Self::TableTypes(it)
            | Self::TypeInfo(it)
            | Self::DatabaseProperty(it) => &it.connection_id,
        }
    }
}

/// A response.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Response {
    OpenConnection,
    CloseConnection,
    CloseStatement,
    Commit,
    Rollback,
    ConnectionSync(ConnectionSyncResponse),
    CreateStatement(CreateStatementResponse),
    Prepare(PrepareResponse),
    Execute(ExecuteResponse),
    ResultSet(ResultSetResponse),
    Fetch(FetchResponse),
    SyncResults(SyncResultsResponse),
    ExecuteBatch(ExecuteBatchResponse),
    DatabaseProperty(DatabasePropertyResponse),
    Error(ErrorResponse),
}

impl Response {
    /// The body.
    pub(crate) fn encode(&self) -> Bytes {
        let (name, bytes) = match self {
            Self::OpenConnection => ("OpenConnectionResponse", EmptyResponse {}.encode_to_vec()),
            Self::CloseConnection => ("CloseConnectionResponse", EmptyResponse {}.encode_to_vec()),
            Self::CloseStatement => ("CloseStatementResponse", EmptyResponse {}.encode_to_vec()),
            Self::Commit => ("CommitResponse", EmptyResponse {}.encode_to_vec()),
            Self::Rollback => ("RollbackResponse", EmptyResponse {}.encode_to_vec()),
            Self::ConnectionSync(it) => ("ConnectionSyncResponse", it.encode_to_vec()),
            Self::CreateStatement(it) => ("CreateStatementResponse", it.encode_to_vec()),
            Self::Prepare(it) => ("PrepareResponse", it.encode_to_vec()),
            Self::Execute(it) => ("ExecuteResponse", it.encode_to_vec()),
            Self::ResultSet(it) => ("ResultSetResponse", it.encode_to_vec()),
            Self::Fetch(it) => ("FetchResponse", it.encode_to_vec()),
            Self::SyncResults(it) => ("SyncResultsResponse", it.encode_to_vec()),
            Self::ExecuteBatch(it) => ("ExecuteBatchResponse", it.encode_to_vec()),
            Self::DatabaseProperty(it) => ("DatabasePropertyResponse", it.encode_to_vec()),
            Self::Error(it) => ("ErrorResponse", it.encode_to_vec()),
        };
        let message = WireMessage { name: format!("{RESPONSES}{name}"), wrapped_message: Bytes::from(bytes) };
        Bytes::from(message.encode_to_vec())
    }
}

/// The beginning of a text, for an error.
pub(crate) fn beginning(text: &str, bytes_max: usize) -> String {
    let end = text.floor_char_boundary(bytes_max);
    text.get(..end).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests;
