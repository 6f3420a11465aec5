//! What several services share: names of servers, tables and regions, descriptors, pairs.

use bytes::Bytes;
use prost::{Enumeration, Message};

/// A name and bytes.
#[derive(Clone, PartialEq, Message)]
pub struct NameBytesPair {
    #[prost(string, required, tag = "1")]
    pub name: String,
    #[prost(bytes = "bytes", optional, tag = "2")]
    pub value: Option<Bytes>,
}

/// A name and a text.
#[derive(Clone, PartialEq, Message)]
pub struct NameStringPair {
    #[prost(string, required, tag = "1")]
    pub name: String,
    #[prost(string, required, tag = "2")]
    pub value: String,
}

/// Two values of bytes.
#[derive(Clone, PartialEq, Message)]
pub struct BytesBytesPair {
    #[prost(bytes = "bytes", required, tag = "1")]
    pub first: Bytes,
    #[prost(bytes = "bytes", required, tag = "2")]
    pub second: Bytes,
}

/// A server: `start_code` tells one process from the next at the same address.
#[derive(Clone, PartialEq, Message)]
pub struct ServerName {
    #[prost(string, required, tag = "1")]
    pub host_name: String,
    #[prost(uint32, optional, tag = "2")]
    pub port: Option<u32>,
    #[prost(uint64, optional, tag = "3")]
    pub start_code: Option<u64>,
}

/// A table; the namespace of tables without one is `default`.
#[derive(Clone, PartialEq, Message)]
pub struct TableName {
    #[prost(bytes = "bytes", required, tag = "1")]
    pub namespace: Bytes,
    #[prost(bytes = "bytes", required, tag = "2")]
    pub qualifier: Bytes,
}

/// A region. Its keys are empty at the ends of the table.
#[derive(Clone, PartialEq, Message)]
pub struct RegionInfo {
    #[prost(uint64, required, tag = "1")]
    pub region_id: u64,
    #[prost(message, required, tag = "2")]
    pub table_name: TableName,
    #[prost(bytes = "bytes", optional, tag = "3")]
    pub start_key: Option<Bytes>,
    #[prost(bytes = "bytes", optional, tag = "4")]
    pub end_key: Option<Bytes>,
    #[prost(bool, optional, tag = "5")]
    pub offline: Option<bool>,
    #[prost(bool, optional, tag = "6")]
    pub split: Option<bool>,
    #[prost(int32, optional, tag = "7")]
    pub replica_id: Option<i32>,
}

/// Where a region is.
#[derive(Clone, PartialEq, Message)]
pub struct RegionLocation {
    #[prost(message, required, tag = "1")]
    pub region_info: RegionInfo,
    #[prost(message, optional, tag = "2")]
    pub server_name: Option<ServerName>,
    #[prost(int64, required, tag = "3")]
    pub seq_num: i64,
}

/// What names a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
#[repr(i32)]
pub enum RegionSpecifierType {
    RegionName = 1,
    EncodedRegionName = 2,
}

/// The name of a region.
#[derive(Clone, PartialEq, Message)]
pub struct RegionSpecifier {
    #[prost(enumeration = "RegionSpecifierType", required, tag = "1")]
    pub kind: i32,
    #[prost(bytes = "bytes", required, tag = "2")]
    pub value: Bytes,
}

/// Times of cells from `from`, included, to `to`, excluded, in milliseconds.
#[derive(Clone, PartialEq, Message)]
pub struct TimeRange {
    #[prost(uint64, optional, tag = "1")]
    pub from: Option<u64>,
    #[prost(uint64, optional, tag = "2")]
    pub to: Option<u64>,
}

/// Times of the cells of one family.
#[derive(Clone, PartialEq, Message)]
pub struct ColumnFamilyTimeRange {
    #[prost(bytes = "bytes", required, tag = "1")]
    pub column_family: Bytes,
    #[prost(message, required, tag = "2")]
    pub time_range: TimeRange,
}

/// How a stored value is compared with a given one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
#[repr(i32)]
pub enum CompareType {
    Less = 0,
    LessOrEqual = 1,
    Equal = 2,
    NotEqual = 3,
    GreaterOrEqual = 4,
    Greater = 5,
    NoOp = 6,
}

/// The descriptor of a column family.
#[derive(Clone, PartialEq, Message)]
pub struct ColumnFamilySchema {
    #[prost(bytes = "bytes", required, tag = "1")]
    pub name: Bytes,
    #[prost(message, repeated, tag = "2")]
    pub attributes: Vec<BytesBytesPair>,
    #[prost(message, repeated, tag = "3")]
    pub configuration: Vec<NameStringPair>,
}

/// The descriptor of a table.
#[derive(Clone, PartialEq, Message)]
pub struct TableSchema {
    #[prost(message, optional, tag = "1")]
    pub table_name: Option<TableName>,
    #[prost(message, repeated, tag = "2")]
    pub attributes: Vec<BytesBytesPair>,
    #[prost(message, repeated, tag = "3")]
    pub column_families: Vec<ColumnFamilySchema>,
    #[prost(message, repeated, tag = "4")]
    pub configuration: Vec<NameStringPair>,
}

/// Whether a table can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
#[repr(i32)]
pub enum TableStateKind {
    Enabled = 0,
    Disabled = 1,
    Disabling = 2,
    Enabling = 3,
}

/// The value of the cell `table:state` of `hbase:meta`.
#[derive(Clone, PartialEq, Message)]
pub struct TableState {
    #[prost(enumeration = "TableStateKind", required, tag = "1")]
    pub state: i32,
}
