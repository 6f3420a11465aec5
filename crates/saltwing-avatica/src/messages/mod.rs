//! Avatica's messages: the fields and numbers of its protobuf definitions, as far as this server reads and writes them.
//!
//! | module | has |
//! |---|---|
//! | `shared` | what requests and responses have in common: values, signatures, frames, states |
//! | `requests` | what clients send |
//! | `responses` | what they get |
//!
//! Field numbers are a contract with clients; tests compare encoded messages with bytes that Avatica's own definitions give.

mod requests;
mod responses;
mod shared;

pub(crate) use requests::{
    ColumnsId, ColumnsRequest, ConnectionRequest, ConnectionSyncRequest, ExecuteBatchRequest, ExecuteRequest,
    FetchRequest, HandleId, KnownStatement, OpenConnectionRequest, PrepareAndExecuteBatchRequest,
    PrepareAndExecuteRequest, PrepareRequest, SchemasId, SchemasRequest, StatementRequest, SyncResultsRequest,
    TablesId, TablesRequest,
};
#[cfg(test)]
pub(crate) use requests::{KnownSignature, UpdateBatch};
pub(crate) use responses::{
    ConnectionSyncResponse, CreateStatementResponse, DatabaseProperty, DatabasePropertyElement,
    DatabasePropertyResponse, EmptyResponse, ErrorResponse, ExecuteBatchResponse, ExecuteResponse, FetchResponse,
    PrepareResponse, ResultSetResponse, Severity, SyncResultsResponse,
};
pub(crate) use shared::{
    ArgumentType, AvaticaParameter, AvaticaType, ColumnMetaData, ColumnValue, ConnectionProperties, CursorFactory,
    Frame, MetaDataOperation, MetaDataOperationArgument, QueryState, Rep, Row, Signature, StateType, StatementHandle,
    StatementType, Style, TypedValue, WireMessage,
};
