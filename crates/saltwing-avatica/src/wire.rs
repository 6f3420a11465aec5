//! Requests out of the bodies that clients send, and bodies of responses.
//!
//! A body is a [`WireMessage`]: the name of a Java class, such as `org.apache.calcite.avatica.proto.Requests$FetchRequest`, and the bytes of its
//! message. The name of a response follows from its type here. A message is decoded in two steps: first its connection's id, and the rest when its client is
//! known to be the one of that connection.

use bytes::Bytes;
use prost::Message;

use crate::error::AvaticaError;
use crate::message_parts::{EXECUTE, EXECUTE_BATCH, FLAT, SYNC_RESULTS, check_parts};
use crate::messages::{
    ColumnsId, ColumnsRequest, ConnectionRequest, ConnectionSyncRequest, ConnectionSyncResponse,
    CreateStatementResponse, DatabasePropertyResponse, EmptyResponse, ErrorResponse, ExecuteBatchRequest,
    ExecuteBatchResponse, ExecuteRequest, ExecuteResponse, FetchRequest, FetchResponse, HandleId,
    OpenConnectionRequest, PrepareAndExecuteBatchRequest, PrepareAndExecuteRequest, PrepareRequest, PrepareResponse,
    ResultSetResponse, SchemasId, SchemasRequest, StatementRequest, SyncResultsRequest, SyncResultsResponse, TablesId,
    TablesRequest, WireMessage,
};

const REQUESTS: &str = "org.apache.calcite.avatica.proto.Requests$";
const RESPONSES: &str = "org.apache.calcite.avatica.proto.Responses$";

/// The bytes of a name that an error shows.
const NAME_SHOWN_MAX: usize = 100;

/// The most parts of a request: values, rows of a batch, texts of a list.
const PARTS_MAX: usize = 2_000_000;
/// The most parts of a request to open a connection: it comes before the password is checked.
const OPEN_PARTS_MAX: usize = 1000;

/// Makes the enum of requests, each with its name, the shape of its message, and the message that has the id of its connection alone.
macro_rules! requests {
    ($($variant:ident($message:ty) = $name:literal, $shape:expr, $id:ty;)*) => {
        /// A request.
        #[derive(Clone, Debug, PartialEq)]
        pub(crate) enum Request {
            $($variant($message),)*
        }

        impl Body {
            /// The request.
            ///
            /// # Errors
            /// [`AvaticaError::TooManyParts`], [`AvaticaError::BadMessage`], [`AvaticaError::NoSuchRequest`].
            pub(crate) fn request(self) -> Result<Request, AvaticaError> {
                let max = if self.opens_connection() { OPEN_PARTS_MAX } else { PARTS_MAX };
                match self.name() {
                    $($name => {
                        check_parts(&self.0.wrapped_message, &$shape, max)?;
                        Ok(Request::$variant(<$message>::decode(self.0.wrapped_message)?))
                    })*
                    _ => Err(self.no_such_request()),
                }
            }

            /// The id of the connection that the request is about, without decoding the rest.
            ///
            /// # Errors
            /// [`AvaticaError::BadMessage`], [`AvaticaError::NoSuchRequest`].
            pub(crate) fn connection_id(&self) -> Result<String, AvaticaError> {
                match self.name() {
                    $($name => Ok(<$id>::decode(self.0.wrapped_message.clone())?.into_id()),)*
                    _ => Err(self.no_such_request()),
                }
            }
        }
    };
}

requests! {
    OpenConnection(OpenConnectionRequest) = "OpenConnectionRequest", FLAT, ConnectionRequest;
    CloseConnection(ConnectionRequest) = "CloseConnectionRequest", FLAT, ConnectionRequest;
    ConnectionSync(ConnectionSyncRequest) = "ConnectionSyncRequest", FLAT, ConnectionRequest;
    CreateStatement(ConnectionRequest) = "CreateStatementRequest", FLAT, ConnectionRequest;
    CloseStatement(StatementRequest) = "CloseStatementRequest", FLAT, ConnectionRequest;
    Prepare(PrepareRequest) = "PrepareRequest", FLAT, ConnectionRequest;
    Execute(ExecuteRequest) = "ExecuteRequest", EXECUTE, HandleId;
    PrepareAndExecute(PrepareAndExecuteRequest) = "PrepareAndExecuteRequest", FLAT, ConnectionRequest;
    Fetch(FetchRequest) = "FetchRequest", FLAT, ConnectionRequest;
    SyncResults(SyncResultsRequest) = "SyncResultsRequest", SYNC_RESULTS, ConnectionRequest;
    PrepareAndExecuteBatch(PrepareAndExecuteBatchRequest) = "PrepareAndExecuteBatchRequest", FLAT, ConnectionRequest;
    ExecuteBatch(ExecuteBatchRequest) = "ExecuteBatchRequest", EXECUTE_BATCH, ConnectionRequest;
    Commit(ConnectionRequest) = "CommitRequest", FLAT, ConnectionRequest;
    Rollback(ConnectionRequest) = "RollbackRequest", FLAT, ConnectionRequest;
    Catalogs(ConnectionRequest) = "CatalogsRequest", FLAT, ConnectionRequest;
    Schemas(SchemasRequest) = "SchemasRequest", FLAT, SchemasId;
    Tables(TablesRequest) = "TablesRequest", FLAT, TablesId;
    Columns(ColumnsRequest) = "ColumnsRequest", FLAT, ColumnsId;
    TableTypes(ConnectionRequest) = "TableTypesRequest", FLAT, ConnectionRequest;
    TypeInfo(ConnectionRequest) = "TypeInfoRequest", FLAT, ConnectionRequest;
    DatabaseProperty(ConnectionRequest) = "DatabasePropertyRequest", FLAT, ConnectionRequest;
}

/// The body of a request: its name, and its message, which is decoded when its client is known.
pub(crate) struct Body(WireMessage);

impl Body {
    /// # Errors
    /// [`AvaticaError::Json`], [`AvaticaError::BadMessage`].
    pub(crate) fn decode(bytes: Bytes) -> Result<Self, AvaticaError> {
        match bytes.first() {
            Some(b'{') => Err(AvaticaError::Json),
            _ => Ok(Self(WireMessage::decode(bytes)?)),
        }
    }

    /// Whether the request opens a connection.
    pub(crate) fn opens_connection(&self) -> bool {
        self.name() == "OpenConnectionRequest"
    }

    /// Whether the request closes a connection.
    pub(crate) fn closes_connection(&self) -> bool {
        self.name() == "CloseConnectionRequest"
    }

    fn name(&self) -> &str {
        self.0.name.strip_prefix(REQUESTS).unwrap_or(&self.0.name)
    }

    fn no_such_request(&self) -> AvaticaError {
        AvaticaError::NoSuchRequest { name: beginning(self.name(), NAME_SHOWN_MAX) }
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
