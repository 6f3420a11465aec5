//! Tables, of the service `MasterService`.

use bytes::Bytes;
use prost::Message;

use super::base::{ColumnFamilySchema, TableName, TableSchema, TableState};

/// Creates a table, with a region for each interval between the split keys.
#[derive(Clone, PartialEq, Message)]
pub struct CreateTableRequest {
    #[prost(message, required, tag = "1")]
    pub table_schema: TableSchema,
    #[prost(bytes = "bytes", repeated, tag = "2")]
    pub split_keys: Vec<Bytes>,
    #[prost(uint64, optional, tag = "3")]
    pub nonce_group: Option<u64>,
    #[prost(uint64, optional, tag = "4")]
    pub nonce: Option<u64>,
}

/// The id of the procedure that does it.
#[derive(Clone, PartialEq, Message)]
pub struct CreateTableResponse {
    #[prost(uint64, optional, tag = "1")]
    pub proc_id: Option<u64>,
}

/// Deletes a table that is disabled.
#[derive(Clone, PartialEq, Message)]
pub struct DeleteTableRequest {
    #[prost(message, required, tag = "1")]
    pub table_name: TableName,
    #[prost(uint64, optional, tag = "2")]
    pub nonce_group: Option<u64>,
    #[prost(uint64, optional, tag = "3")]
    pub nonce: Option<u64>,
}

/// The id of the procedure that does it.
#[derive(Clone, PartialEq, Message)]
pub struct DeleteTableResponse {
    #[prost(uint64, optional, tag = "1")]
    pub proc_id: Option<u64>,
}

/// Makes a disabled table readable again.
#[derive(Clone, PartialEq, Message)]
pub struct EnableTableRequest {
    #[prost(message, required, tag = "1")]
    pub table_name: TableName,
    #[prost(uint64, optional, tag = "2")]
    pub nonce_group: Option<u64>,
    #[prost(uint64, optional, tag = "3")]
    pub nonce: Option<u64>,
}

/// The id of the procedure that does it.
#[derive(Clone, PartialEq, Message)]
pub struct EnableTableResponse {
    #[prost(uint64, optional, tag = "1")]
    pub proc_id: Option<u64>,
}

/// Adds a column family to a table.
#[derive(Clone, PartialEq, Message)]
pub struct AddColumnRequest {
    #[prost(message, required, tag = "1")]
    pub table_name: TableName,
    #[prost(message, required, tag = "2")]
    pub column_families: ColumnFamilySchema,
    #[prost(uint64, optional, tag = "3")]
    pub nonce_group: Option<u64>,
    #[prost(uint64, optional, tag = "4")]
    pub nonce: Option<u64>,
}

/// The id of the procedure that does it.
#[derive(Clone, PartialEq, Message)]
pub struct AddColumnResponse {
    #[prost(uint64, optional, tag = "1")]
    pub proc_id: Option<u64>,
}

/// Takes a table out of service.
#[derive(Clone, PartialEq, Message)]
pub struct DisableTableRequest {
    #[prost(message, required, tag = "1")]
    pub table_name: TableName,
    #[prost(uint64, optional, tag = "2")]
    pub nonce_group: Option<u64>,
    #[prost(uint64, optional, tag = "3")]
    pub nonce: Option<u64>,
}

/// The id of the procedure that does it.
#[derive(Clone, PartialEq, Message)]
pub struct DisableTableResponse {
    #[prost(uint64, optional, tag = "1")]
    pub proc_id: Option<u64>,
}

/// Asks for descriptors; no names are all tables.
#[derive(Clone, PartialEq, Message)]
pub struct GetTableDescriptorsRequest {
    #[prost(message, repeated, tag = "1")]
    pub table_names: Vec<TableName>,
    #[prost(string, optional, tag = "2")]
    pub regex: Option<String>,
    #[prost(bool, optional, tag = "3")]
    pub include_sys_tables: Option<bool>,
    #[prost(string, optional, tag = "4")]
    pub namespace: Option<String>,
}

/// Descriptors of tables.
#[derive(Clone, PartialEq, Message)]
pub struct GetTableDescriptorsResponse {
    #[prost(message, repeated, tag = "1")]
    pub table_schema: Vec<TableSchema>,
}

/// Asks for names of tables.
#[derive(Clone, PartialEq, Message)]
pub struct GetTableNamesRequest {
    #[prost(string, optional, tag = "1")]
    pub regex: Option<String>,
    #[prost(bool, optional, tag = "2")]
    pub include_sys_tables: Option<bool>,
    #[prost(string, optional, tag = "3")]
    pub namespace: Option<String>,
}

/// Names of tables.
#[derive(Clone, PartialEq, Message)]
pub struct GetTableNamesResponse {
    #[prost(message, repeated, tag = "1")]
    pub table_names: Vec<TableName>,
}

/// Asks whether a table is enabled.
#[derive(Clone, PartialEq, Message)]
pub struct GetTableStateRequest {
    #[prost(message, required, tag = "1")]
    pub table_name: TableName,
}

/// Whether a table is enabled.
#[derive(Clone, PartialEq, Message)]
pub struct GetTableStateResponse {
    #[prost(message, required, tag = "1")]
    pub table_state: TableState,
}
