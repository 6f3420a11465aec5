//! Regions and procedures, of the service `MasterService`.

use bytes::Bytes;
use prost::{Enumeration, Message};

use super::base::{RegionInfo, RegionSpecifier, ServerName};

/// Moves a region, named by its encoded name, to another server.
#[derive(Clone, PartialEq, Message)]
pub struct MoveRegionRequest {
    #[prost(message, required, tag = "1")]
    pub region: RegionSpecifier,
    #[prost(message, optional, tag = "2")]
    pub dest_server_name: Option<ServerName>,
}

/// The region moves.
#[derive(Clone, PartialEq, Message)]
pub struct MoveRegionResponse {}

/// Merges regions, named by their encoded names.
#[derive(Clone, PartialEq, Message)]
pub struct MergeTableRegionsRequest {
    #[prost(message, repeated, tag = "1")]
    pub region: Vec<RegionSpecifier>,
    #[prost(bool, optional, tag = "3")]
    pub forcible: Option<bool>,
    #[prost(uint64, optional, tag = "4")]
    pub nonce_group: Option<u64>,
    #[prost(uint64, optional, tag = "5")]
    pub nonce: Option<u64>,
}

/// The id of the procedure that does it.
#[derive(Clone, PartialEq, Message)]
pub struct MergeTableRegionsResponse {
    #[prost(uint64, optional, tag = "1")]
    pub proc_id: Option<u64>,
}

/// Splits a region, at a row if one is given.
#[derive(Clone, PartialEq, Message)]
pub struct SplitTableRegionRequest {
    #[prost(message, required, tag = "1")]
    pub region_info: RegionInfo,
    #[prost(bytes = "bytes", optional, tag = "2")]
    pub split_row: Option<Bytes>,
    #[prost(uint64, optional, tag = "3")]
    pub nonce_group: Option<u64>,
    #[prost(uint64, optional, tag = "4")]
    pub nonce: Option<u64>,
}

/// The id of the procedure that does it.
#[derive(Clone, PartialEq, Message)]
pub struct SplitTableRegionResponse {
    #[prost(uint64, optional, tag = "1")]
    pub proc_id: Option<u64>,
}

/// Lets the balancer run or not.
#[derive(Clone, PartialEq, Message)]
pub struct SetBalancerRunningRequest {
    #[prost(bool, required, tag = "1")]
    pub on: bool,
    #[prost(bool, optional, tag = "2")]
    pub synchronous: Option<bool>,
}

/// Whether it ran before.
#[derive(Clone, PartialEq, Message)]
pub struct SetBalancerRunningResponse {
    #[prost(bool, optional, tag = "1")]
    pub prev_balance_value: Option<bool>,
}

/// Asks how far a procedure is.
#[derive(Clone, PartialEq, Message)]
pub struct GetProcedureResultRequest {
    #[prost(uint64, required, tag = "1")]
    pub proc_id: u64,
}

/// How far a procedure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
#[repr(i32)]
pub enum ProcedureState {
    NotFound = 0,
    Running = 1,
    Finished = 2,
}

/// How far a procedure is, and why it failed.
#[derive(Clone, PartialEq, Message)]
pub struct GetProcedureResultResponse {
    #[prost(enumeration = "ProcedureState", required, tag = "1")]
    pub state: i32,
    #[prost(uint64, optional, tag = "2")]
    pub submitted_time: Option<u64>,
    #[prost(uint64, optional, tag = "3")]
    pub last_update: Option<u64>,
    #[prost(bytes = "bytes", optional, tag = "4")]
    pub result: Option<Bytes>,
    #[prost(message, optional, tag = "5")]
    pub exception: Option<ForeignExceptionMessage>,
}

/// A place in a stack trace.
#[derive(Clone, PartialEq, Message)]
pub struct StackTraceElementMessage {
    #[prost(string, optional, tag = "1")]
    pub declaring_class: Option<String>,
    #[prost(string, optional, tag = "2")]
    pub method_name: Option<String>,
    #[prost(string, optional, tag = "3")]
    pub file_name: Option<String>,
    #[prost(int32, optional, tag = "4")]
    pub line_number: Option<i32>,
}

/// A Java exception.
#[derive(Clone, PartialEq, Message)]
pub struct GenericExceptionMessage {
    #[prost(string, optional, tag = "1")]
    pub class_name: Option<String>,
    #[prost(string, optional, tag = "2")]
    pub message: Option<String>,
    #[prost(bytes = "bytes", optional, tag = "3")]
    pub error_info: Option<Bytes>,
    #[prost(message, repeated, tag = "4")]
    pub trace: Vec<StackTraceElementMessage>,
}

/// An exception of another process.
#[derive(Clone, PartialEq, Message)]
pub struct ForeignExceptionMessage {
    #[prost(string, optional, tag = "1")]
    pub source: Option<String>,
    #[prost(message, optional, tag = "2")]
    pub generic_exception: Option<GenericExceptionMessage>,
}
