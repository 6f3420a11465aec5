//! Messages of changes: the fields that this crate uses.

use prost::Message;

/// A cell that a mutation writes, or what it deletes.
#[derive(Clone, PartialEq, Message)]
pub struct QualifierValue {
    #[prost(bytes = "vec", optional, tag = "1")]
    pub qualifier: Option<Vec<u8>>,
    #[prost(bytes = "vec", optional, tag = "2")]
    pub value: Option<Vec<u8>>,
    #[prost(int32, optional, tag = "4")]
    pub delete_type: Option<i32>,
}

/// The cells of a family.
#[derive(Clone, PartialEq, Message)]
pub struct ColumnValue {
    #[prost(bytes = "vec", required, tag = "1")]
    pub family: Vec<u8>,
    #[prost(message, repeated, tag = "2")]
    pub values: Vec<QualifierValue>,
}

/// A mutation of HBase.
#[derive(Clone, PartialEq, Message)]
pub struct MutationProto {
    #[prost(bytes = "vec", optional, tag = "1")]
    pub row: Option<Vec<u8>>,
    #[prost(int32, optional, tag = "2")]
    pub mutate_type: Option<i32>,
    #[prost(message, repeated, tag = "3")]
    pub column_value: Vec<ColumnValue>,
    #[prost(int32, optional, tag = "6")]
    pub durability: Option<i32>,
}

/// `createTable`.
#[derive(Clone, PartialEq, Message)]
pub struct CreateTableRequest {
    #[prost(bytes = "vec", repeated, tag = "1")]
    pub mutations: Vec<Vec<u8>>,
    #[prost(int32, optional, tag = "2")]
    pub client_version: Option<i32>,
}

/// `dropTable`.
#[derive(Clone, PartialEq, Message)]
pub struct DropTableRequest {
    #[prost(bytes = "vec", repeated, tag = "1")]
    pub mutations: Vec<Vec<u8>>,
    #[prost(string, required, tag = "2")]
    pub table_type: String,
    #[prost(bool, optional, tag = "3")]
    pub cascade: Option<bool>,
    #[prost(int32, optional, tag = "4")]
    pub client_version: Option<i32>,
}

/// `addColumn`.
#[derive(Clone, PartialEq, Message)]
pub struct AddColumnRequest {
    #[prost(bytes = "vec", repeated, tag = "1")]
    pub mutations: Vec<Vec<u8>>,
    #[prost(int32, optional, tag = "2")]
    pub client_version: Option<i32>,
    #[prost(bool, optional, tag = "4")]
    pub adding_columns: Option<bool>,
}

/// `dropColumn`.
#[derive(Clone, PartialEq, Message)]
pub struct DropColumnRequest {
    #[prost(bytes = "vec", repeated, tag = "1")]
    pub mutations: Vec<Vec<u8>>,
    #[prost(int32, optional, tag = "2")]
    pub client_version: Option<i32>,
}

/// The answer.
#[derive(Clone, PartialEq, Message)]
pub struct ChangeResponse {
    #[prost(int32, optional, tag = "1")]
    pub code: Option<i32>,
    #[prost(bytes = "vec", repeated, tag = "4")]
    pub tables_to_delete: Vec<Vec<u8>>,
}
