//! Messages of Phoenix's catalog service: the fields that this crate uses.

use prost::{Enumeration, Message};

/// A column.
#[derive(Clone, PartialEq, Message)]
pub struct PColumn {
    #[prost(bytes = "vec", required, tag = "1")]
    pub name: Vec<u8>,
    #[prost(bytes = "vec", optional, tag = "2")]
    pub family: Option<Vec<u8>>,
    #[prost(string, optional, tag = "3")]
    pub data_type: Option<String>,
    #[prost(int32, optional, tag = "4")]
    pub max_length: Option<i32>,
    #[prost(int32, optional, tag = "5")]
    pub scale: Option<i32>,
    #[prost(bool, required, tag = "6")]
    pub nullable: bool,
    #[prost(int32, required, tag = "7")]
    pub position: i32,
    #[prost(int32, optional, tag = "8")]
    pub sort_order: Option<i32>,
    #[prost(int32, optional, tag = "9")]
    pub array_size: Option<i32>,
    #[prost(bytes = "vec", optional, tag = "10")]
    pub view_constant: Option<Vec<u8>>,
    #[prost(string, optional, tag = "12")]
    pub expression: Option<String>,
    #[prost(bool, optional, tag = "13")]
    pub is_row_timestamp: Option<bool>,
    #[prost(bytes = "vec", optional, tag = "15")]
    pub qualifier: Option<Vec<u8>>,
}

/// The number of the next column of a family.
#[derive(Clone, PartialEq, Message)]
pub struct QualifierCounter {
    #[prost(string, required, tag = "1")]
    pub family: String,
    #[prost(int32, required, tag = "2")]
    pub next: i32,
}

/// A table, a view or an index.
///
/// The messages in it stay bytes: each is decoded when it is read, so that many empty ones take little memory, and messages
/// in each other no stack.
#[derive(Clone, PartialEq, Message)]
pub struct PTable {
    #[prost(bytes = "vec", required, tag = "1")]
    pub schema: Vec<u8>,
    #[prost(bytes = "vec", required, tag = "2")]
    pub name: Vec<u8>,
    #[prost(int32, required, tag = "3")]
    pub kind: i32,
    #[prost(string, optional, tag = "4")]
    pub index_state: Option<String>,
    #[prost(int64, required, tag = "5")]
    pub sequence_number: i64,
    #[prost(int64, required, tag = "6")]
    pub timestamp: i64,
    #[prost(bytes = "vec", optional, tag = "7")]
    pub key_name: Option<Vec<u8>>,
    #[prost(int32, required, tag = "8")]
    pub buckets: i32,
    #[prost(bytes = "vec", repeated, tag = "9")]
    pub columns: Vec<Vec<u8>>,
    #[prost(bytes = "vec", repeated, tag = "10")]
    pub indexes: Vec<Vec<u8>>,
    #[prost(bool, required, tag = "11")]
    pub immutable: bool,
    #[prost(bytes = "vec", optional, tag = "13")]
    pub data_table: Option<Vec<u8>>,
    #[prost(bytes = "vec", optional, tag = "14")]
    pub default_family: Option<Vec<u8>>,
    #[prost(bool, required, tag = "15")]
    pub wal_disabled: bool,
    #[prost(bool, required, tag = "16")]
    pub multi_tenant: bool,
    #[prost(bytes = "vec", optional, tag = "17")]
    pub view_type: Option<Vec<u8>>,
    #[prost(bytes = "vec", optional, tag = "18")]
    pub view_statement: Option<Vec<u8>>,
    #[prost(bytes = "vec", repeated, tag = "19")]
    pub physical_names: Vec<Vec<u8>>,
    #[prost(bytes = "vec", optional, tag = "20")]
    pub tenant: Option<Vec<u8>>,
    #[prost(int64, optional, tag = "21")]
    pub view_index_id: Option<i64>,
    #[prost(bytes = "vec", optional, tag = "22")]
    pub index_type: Option<Vec<u8>>,
    #[prost(bool, optional, tag = "24")]
    pub store_nulls: Option<bool>,
    #[prost(int32, optional, tag = "25")]
    pub base_columns: Option<i32>,
    #[prost(bool, optional, tag = "26")]
    pub row_key_order_optimizable: Option<bool>,
    #[prost(bool, optional, tag = "27")]
    pub transactional: Option<bool>,
    #[prost(bool, optional, tag = "30")]
    pub namespace_mapped: Option<bool>,
    #[prost(bytes = "vec", optional, tag = "33")]
    pub parent: Option<Vec<u8>>,
    #[prost(bytes = "vec", optional, tag = "34")]
    pub storage: Option<Vec<u8>>,
    #[prost(bytes = "vec", optional, tag = "35")]
    pub encoding: Option<Vec<u8>>,
    #[prost(message, repeated, tag = "36")]
    pub counters: Vec<QualifierCounter>,
    #[prost(int64, optional, tag = "42")]
    pub view_ttl: Option<i64>,
    #[prost(bytes = "vec", optional, tag = "47")]
    pub physical_table_name: Option<Vec<u8>>,
    #[prost(bytes = "vec", optional, tag = "51")]
    pub transforming_table: Option<Vec<u8>>,
    #[prost(bytes = "vec", optional, tag = "53")]
    pub index_where: Option<Vec<u8>>,
}

/// `getTable` of `MetaDataService`.
#[derive(Clone, PartialEq, Message)]
pub struct GetTableRequest {
    #[prost(bytes = "vec", required, tag = "1")]
    pub tenant: Vec<u8>,
    #[prost(bytes = "vec", required, tag = "2")]
    pub schema: Vec<u8>,
    #[prost(bytes = "vec", required, tag = "3")]
    pub name: Vec<u8>,
    #[prost(int64, required, tag = "4")]
    pub table_timestamp: i64,
    #[prost(int64, required, tag = "5")]
    pub client_timestamp: i64,
    #[prost(int32, optional, tag = "6")]
    pub client_version: Option<i32>,
}

/// The answer of all calls of `MetaDataService` that name a table.
#[derive(Clone, PartialEq, Message)]
pub struct MetaDataResponse {
    #[prost(enumeration = "MutationCode", optional, tag = "1")]
    pub code: Option<i32>,
    #[prost(int64, optional, tag = "2")]
    pub mutation_time: Option<i64>,
    #[prost(bytes = "vec", optional, tag = "3")]
    pub table: Option<Vec<u8>>,
}

/// The outcomes that a reader of definitions meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enumeration)]
#[repr(i32)]
pub enum MutationCode {
    /// The table is there.
    Exists = 0,
    /// No such table.
    NotFound = 1,
    /// The catalog's region does not have this row.
    NotInRegion = 5,
}
