//! What clients get. The metadata that Avatica's server adds to each response, its own address, is left out: no client needs it.

use prost::{Enumeration, Message};

use super::shared::{ConnectionProperties, Frame, Signature, StatementHandle, TypedValue};

/// A response without fields: of a request that opens or closes something, and of COMMIT and ROLLBACK.
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct EmptyResponse {}

/// A result, or the number of rows that a statement wrote.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct ResultSetResponse {
    #[prost(string, tag = "1")]
    pub(crate) connection_id: String,
    #[prost(uint32, tag = "2")]
    pub(crate) statement_id: u32,
    /// Whether the client closes the statement together with the result.
    #[prost(bool, tag = "3")]
    pub(crate) own_statement: bool,
    #[prost(message, optional, tag = "4")]
    pub(crate) signature: Option<Signature>,
    #[prost(message, optional, tag = "5")]
    pub(crate) first_frame: Option<Frame>,
    /// 2^64-1 of a result with rows.
    #[prost(uint64, tag = "6")]
    pub(crate) update_count: u64,
}

/// The results of a statement.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct ExecuteResponse {
    #[prost(message, repeated, tag = "1")]
    pub(crate) results: Vec<ResultSetResponse>,
    #[prost(bool, tag = "2")]
    pub(crate) missing_statement: bool,
}

/// A prepared statement.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct PrepareResponse {
    #[prost(message, optional, tag = "1")]
    pub(crate) statement: Option<StatementHandle>,
}

/// More rows of a result.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct FetchResponse {
    #[prost(message, optional, tag = "1")]
    pub(crate) frame: Option<Frame>,
    #[prost(bool, tag = "2")]
    pub(crate) missing_statement: bool,
    /// The statement has no result, or its result is at another offset: the client asks for the result again by SyncResults.
    #[prost(bool, tag = "3")]
    pub(crate) missing_results: bool,
}

/// The id of a new statement.
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct CreateStatementResponse {
    #[prost(string, tag = "1")]
    pub(crate) connection_id: String,
    #[prost(uint32, tag = "2")]
    pub(crate) statement_id: u32,
}

/// The settings of a connection.
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct ConnectionSyncResponse {
    #[prost(message, optional, tag = "1")]
    pub(crate) conn_props: Option<ConnectionProperties>,
}

/// Whether a result that was made again has rows at that place.
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct SyncResultsResponse {
    #[prost(bool, tag = "1")]
    pub(crate) missing_statement: bool,
    #[prost(bool, tag = "2")]
    pub(crate) more_results: bool,
}

/// The rows that each statement of a batch wrote.
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct ExecuteBatchResponse {
    #[prost(string, tag = "1")]
    pub(crate) connection_id: String,
    #[prost(uint32, tag = "2")]
    pub(crate) statement_id: u32,
    #[prost(uint64, repeated, tag = "3")]
    pub(crate) update_counts: Vec<u64>,
    #[prost(bool, tag = "4")]
    pub(crate) missing_statement: bool,
}

/// The properties of the database.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct DatabasePropertyResponse {
    #[prost(message, repeated, tag = "1")]
    pub(crate) props: Vec<DatabasePropertyElement>,
}

/// A property with its value.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct DatabasePropertyElement {
    #[prost(message, optional, tag = "1")]
    pub(crate) key: Option<DatabaseProperty>,
    #[prost(message, optional, tag = "2")]
    pub(crate) value: Option<TypedValue>,
}

/// The name of a property.
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct DatabaseProperty {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(string, repeated, tag = "2")]
    pub(crate) functions: Vec<String>,
}

/// Why a request failed.
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct ErrorResponse {
    #[prost(string, repeated, tag = "1")]
    pub(crate) exceptions: Vec<String>,
    #[prost(string, tag = "2")]
    pub(crate) error_message: String,
    #[prost(enumeration = "Severity", tag = "3")]
    pub(crate) severity: i32,
    #[prost(uint32, tag = "4")]
    pub(crate) error_code: u32,
    #[prost(string, tag = "5")]
    pub(crate) sql_state: String,
    #[prost(bool, tag = "7")]
    pub(crate) has_exceptions: bool,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Enumeration)]
#[repr(i32)]
pub(crate) enum Severity {
    Unknown = 0,
    Fatal = 1,
    Error = 2,
    Warning = 3,
}
