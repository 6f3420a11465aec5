//! Mutate, of the service `ClientService`, and the mutations that Multi has, too.

use bytes::Bytes;
use prost::{Enumeration, Message};

use super::base::{CompareType, NameBytesPair, RegionSpecifier, TimeRange};
use super::cell::RowResult;
use super::filter::{Comparator, Filter};

/// When a write is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
#[repr(i32)]
pub enum Durability {
    UseDefault = 0,
    SkipWal = 1,
    AsyncWal = 2,
    SyncWal = 3,
    FsyncWal = 4,
}

/// The kind of a mutation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
#[repr(i32)]
pub enum MutationType {
    Append = 0,
    Increment = 1,
    Put = 2,
    Delete = 3,
}

/// What a deletion deletes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
#[repr(i32)]
pub enum DeleteType {
    DeleteOneVersion = 0,
    DeleteMultipleVersions = 1,
    DeleteFamily = 2,
    DeleteFamilyVersion = 3,
}

/// A value of one column.
#[derive(Clone, PartialEq, Message)]
pub struct QualifierValue {
    #[prost(bytes = "bytes", optional, tag = "1")]
    pub qualifier: Option<Bytes>,
    #[prost(bytes = "bytes", optional, tag = "2")]
    pub value: Option<Bytes>,
    #[prost(uint64, optional, tag = "3")]
    pub timestamp: Option<u64>,
    #[prost(enumeration = "DeleteType", optional, tag = "4")]
    pub delete_type: Option<i32>,
    #[prost(bytes = "bytes", optional, tag = "5")]
    pub tags: Option<Bytes>,
}

/// Values of one family.
#[derive(Clone, PartialEq, Message)]
pub struct ColumnValue {
    #[prost(bytes = "bytes", required, tag = "1")]
    pub family: Bytes,
    #[prost(message, repeated, tag = "2")]
    pub qualifier_value: Vec<QualifierValue>,
}

/// A mutation of one row. Its cells lie here, or `associated_cell_count` of them in the cell block.
#[derive(Clone, PartialEq, Message)]
pub struct MutationProto {
    #[prost(bytes = "bytes", optional, tag = "1")]
    pub row: Option<Bytes>,
    #[prost(enumeration = "MutationType", optional, tag = "2")]
    pub mutate_type: Option<i32>,
    #[prost(message, repeated, tag = "3")]
    pub column_value: Vec<ColumnValue>,
    #[prost(uint64, optional, tag = "4")]
    pub timestamp: Option<u64>,
    #[prost(message, repeated, tag = "5")]
    pub attribute: Vec<NameBytesPair>,
    #[prost(enumeration = "Durability", optional, tag = "6")]
    pub durability: Option<i32>,
    #[prost(message, optional, tag = "7")]
    pub time_range: Option<TimeRange>,
    #[prost(int32, optional, tag = "8")]
    pub associated_cell_count: Option<i32>,
    #[prost(uint64, optional, tag = "9")]
    pub nonce: Option<u64>,
}

/// What must hold for a row to be written.
#[derive(Clone, PartialEq, Message)]
pub struct Condition {
    #[prost(bytes = "bytes", required, tag = "1")]
    pub row: Bytes,
    #[prost(bytes = "bytes", optional, tag = "2")]
    pub family: Option<Bytes>,
    #[prost(bytes = "bytes", optional, tag = "3")]
    pub qualifier: Option<Bytes>,
    #[prost(enumeration = "CompareType", optional, tag = "4")]
    pub compare_type: Option<i32>,
    #[prost(message, optional, tag = "5")]
    pub comparator: Option<Comparator>,
    #[prost(message, optional, tag = "6")]
    pub time_range: Option<TimeRange>,
    #[prost(message, optional, tag = "7")]
    pub filter: Option<Filter>,
}

/// The request of Mutate.
#[derive(Clone, PartialEq, Message)]
pub struct MutateRequest {
    #[prost(message, required, tag = "1")]
    pub region: RegionSpecifier,
    #[prost(message, required, tag = "2")]
    pub mutation: MutationProto,
    #[prost(message, optional, tag = "3")]
    pub condition: Option<Condition>,
    #[prost(uint64, optional, tag = "4")]
    pub nonce_group: Option<u64>,
}

/// The response of Mutate; `processed` is false if the condition did not hold.
#[derive(Clone, PartialEq, Message)]
pub struct MutateResponse {
    #[prost(message, optional, tag = "1")]
    pub result: Option<RowResult>,
    #[prost(bool, optional, tag = "2")]
    pub processed: Option<bool>,
}
