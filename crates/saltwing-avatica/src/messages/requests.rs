//! What clients send.

use std::collections::HashMap;

use prost::Message;

use super::shared::{ConnectionProperties, QueryState, TypedValue};

/// Opens a connection under an id that the client has chosen.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct OpenConnectionRequest {
    #[prost(string, tag = "1")]
    pub(crate) connection_id: String,
    #[prost(map = "string, string", tag = "2")]
    pub(crate) info: HashMap<String, String>,
}

/// A request about a connection, without more: to close it, to commit, for a new statement, and others.
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct ConnectionRequest {
    #[prost(string, tag = "1")]
    pub(crate) connection_id: String,
}

/// Changes and asks for the settings of a connection.
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct ConnectionSyncRequest {
    #[prost(string, tag = "1")]
    pub(crate) connection_id: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) conn_props: Option<ConnectionProperties>,
}

/// Closes a statement.
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct StatementRequest {
    #[prost(string, tag = "1")]
    pub(crate) connection_id: String,
    #[prost(uint32, tag = "2")]
    pub(crate) statement_id: u32,
}

/// Prepares a statement, under an id that the server chooses.
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct PrepareRequest {
    #[prost(string, tag = "1")]
    pub(crate) connection_id: String,
    #[prost(string, tag = "2")]
    pub(crate) sql: String,
    /// What old clients send for `max_rows_total`.
    #[prost(uint64, tag = "3")]
    pub(crate) max_row_count: u64,
    #[prost(int64, tag = "4")]
    pub(crate) max_rows_total: i64,
}

/// Runs a statement without parameters.
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct PrepareAndExecuteRequest {
    #[prost(string, tag = "1")]
    pub(crate) connection_id: String,
    #[prost(string, tag = "2")]
    pub(crate) sql: String,
    /// What old clients send for `max_rows_total`.
    #[prost(uint64, tag = "3")]
    pub(crate) max_row_count: u64,
    #[prost(uint32, tag = "4")]
    pub(crate) statement_id: u32,
    #[prost(int64, tag = "5")]
    pub(crate) max_rows_total: i64,
    #[prost(int32, tag = "6")]
    pub(crate) first_frame_max_size: i32,
}

/// A prepared statement as a client gives it back: of its signature, the text alone is read.
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct KnownStatement {
    #[prost(string, tag = "1")]
    pub(crate) connection_id: String,
    #[prost(uint32, tag = "2")]
    pub(crate) id: u32,
    #[prost(message, optional, tag = "3")]
    pub(crate) signature: Option<KnownSignature>,
}

/// The text of a signature.
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct KnownSignature {
    #[prost(string, tag = "2")]
    pub(crate) sql: String,
}

/// Runs a prepared statement.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct ExecuteRequest {
    #[prost(message, optional, tag = "1")]
    pub(crate) statement_handle: Option<KnownStatement>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) parameter_values: Vec<TypedValue>,
    #[prost(uint64, tag = "3")]
    pub(crate) deprecated_first_frame_max_size: u64,
    #[prost(bool, tag = "4")]
    pub(crate) has_parameter_values: bool,
    #[prost(int32, tag = "5")]
    pub(crate) first_frame_max_size: i32,
}

/// Asks for more rows of a result.
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct FetchRequest {
    #[prost(string, tag = "1")]
    pub(crate) connection_id: String,
    #[prost(uint32, tag = "2")]
    pub(crate) statement_id: u32,
    #[prost(uint64, tag = "3")]
    pub(crate) offset: u64,
    /// What old clients send for `frame_max_size`.
    #[prost(uint32, tag = "4")]
    pub(crate) fetch_max_row_count: u32,
    #[prost(int32, tag = "5")]
    pub(crate) frame_max_size: i32,
}

/// Makes a result again, and goes to a place in it.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct SyncResultsRequest {
    #[prost(string, tag = "1")]
    pub(crate) connection_id: String,
    #[prost(uint32, tag = "2")]
    pub(crate) statement_id: u32,
    #[prost(message, optional, tag = "3")]
    pub(crate) state: Option<QueryState>,
    #[prost(uint64, tag = "4")]
    pub(crate) offset: u64,
}

/// Runs several statements without parameters.
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct PrepareAndExecuteBatchRequest {
    #[prost(string, tag = "1")]
    pub(crate) connection_id: String,
    #[prost(uint32, tag = "2")]
    pub(crate) statement_id: u32,
    #[prost(string, repeated, tag = "3")]
    pub(crate) sql_commands: Vec<String>,
}

/// Runs a prepared statement with several rows of values.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct ExecuteBatchRequest {
    #[prost(string, tag = "1")]
    pub(crate) connection_id: String,
    #[prost(uint32, tag = "2")]
    pub(crate) statement_id: u32,
    #[prost(message, repeated, tag = "3")]
    pub(crate) updates: Vec<UpdateBatch>,
}

/// The values for one run of a batch.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct UpdateBatch {
    #[prost(message, repeated, tag = "1")]
    pub(crate) parameter_values: Vec<TypedValue>,
}

/// Asks for schemas. A flag says whether an empty text is given; a text that is not empty is.
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct SchemasRequest {
    #[prost(string, tag = "1")]
    pub(crate) catalog: String,
    #[prost(string, tag = "2")]
    pub(crate) schema_pattern: String,
    #[prost(string, tag = "3")]
    pub(crate) connection_id: String,
    #[prost(bool, tag = "4")]
    pub(crate) has_catalog: bool,
    #[prost(bool, tag = "5")]
    pub(crate) has_schema_pattern: bool,
}

/// Asks for tables; flags as in [`SchemasRequest`].
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct TablesRequest {
    #[prost(string, tag = "1")]
    pub(crate) catalog: String,
    #[prost(string, tag = "2")]
    pub(crate) schema_pattern: String,
    #[prost(string, tag = "3")]
    pub(crate) table_name_pattern: String,
    #[prost(string, repeated, tag = "4")]
    pub(crate) type_list: Vec<String>,
    #[prost(bool, tag = "6")]
    pub(crate) has_type_list: bool,
    #[prost(string, tag = "7")]
    pub(crate) connection_id: String,
    #[prost(bool, tag = "8")]
    pub(crate) has_catalog: bool,
    #[prost(bool, tag = "9")]
    pub(crate) has_schema_pattern: bool,
    #[prost(bool, tag = "10")]
    pub(crate) has_table_name_pattern: bool,
}

/// Asks for columns; flags as in [`SchemasRequest`].
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct ColumnsRequest {
    #[prost(string, tag = "1")]
    pub(crate) catalog: String,
    #[prost(string, tag = "2")]
    pub(crate) schema_pattern: String,
    #[prost(string, tag = "3")]
    pub(crate) table_name_pattern: String,
    #[prost(string, tag = "4")]
    pub(crate) column_name_pattern: String,
    #[prost(string, tag = "5")]
    pub(crate) connection_id: String,
    #[prost(bool, tag = "6")]
    pub(crate) has_catalog: bool,
    #[prost(bool, tag = "7")]
    pub(crate) has_schema_pattern: bool,
    #[prost(bool, tag = "8")]
    pub(crate) has_table_name_pattern: bool,
    #[prost(bool, tag = "9")]
    pub(crate) has_column_name_pattern: bool,
}

/// The id of the connection of an [`ExecuteRequest`].
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct HandleId {
    #[prost(message, optional, tag = "1")]
    pub(crate) statement_handle: Option<ConnectionRequest>,
}

/// The id of the connection of a [`SchemasRequest`].
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct SchemasId {
    #[prost(string, tag = "3")]
    pub(crate) connection_id: String,
}

/// The id of the connection of a [`ColumnsRequest`].
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct ColumnsId {
    #[prost(string, tag = "5")]
    pub(crate) connection_id: String,
}

/// The id of the connection of a [`TablesRequest`].
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct TablesId {
    #[prost(string, tag = "7")]
    pub(crate) connection_id: String,
}

impl ConnectionRequest {
    pub(crate) fn into_id(self) -> String {
        self.connection_id
    }
}

impl HandleId {
    pub(crate) fn into_id(self) -> String {
        self.statement_handle.unwrap_or_default().connection_id
    }
}

impl SchemasId {
    pub(crate) fn into_id(self) -> String {
        self.connection_id
    }
}

impl ColumnsId {
    pub(crate) fn into_id(self) -> String {
        self.connection_id
    }
}

impl TablesId {
    pub(crate) fn into_id(self) -> String {
        self.connection_id
    }
}
