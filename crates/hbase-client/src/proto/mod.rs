//! Messages of HBase's protocol, for clients and for servers.
//!
//! The names and numbers of fields are those of the `.proto` files of HBase 2.6, which document them; fields that neither a client nor
//! a test server needs are left out. Required fields are written even if they are empty, because servers refuse messages without them.
//! Repeated numbers are not packed.
//!
//! A message that is decoded holds slices of the bytes that came, and memory in proportion to their number.

// Fields are documented by HBase's definitions.
#![allow(missing_docs)]

mod base;
mod cell;
mod coprocessor;
mod filter;
mod get;
mod master;
mod master_tables;
mod multi;
mod mutation;
mod registry;
mod rpc;
mod scan;

pub use base::{
    BytesBytesPair, ColumnFamilySchema, ColumnFamilyTimeRange, CompareType, NameBytesPair, NameStringPair, RegionInfo,
    RegionLocation, RegionSpecifier, RegionSpecifierType, ServerName, TableName, TableSchema, TableState,
    TableStateKind, TimeRange,
};
pub use cell::{Cell, CellType, RowResult};
pub use coprocessor::{
    CoprocessorServiceCall, CoprocessorServiceRequest, CoprocessorServiceResponse, CoprocessorServiceResult,
};
pub use filter::{
    BinaryComparator, BinaryPrefixComparator, ByteArrayComparable, Comparator, Filter, FilterList, FilterListOperator,
    FirstKeyOnlyFilter, KeyOnlyFilter, MultiRowRangeFilter, NullComparator, PageFilter, PrefixFilter, RowRange,
    SingleColumnValueFilter, SubstringComparator,
};
pub use get::{Column, Consistency, Get, GetRequest, GetResponse};
pub use master::{
    ForeignExceptionMessage, GenericExceptionMessage, GetProcedureResultRequest, GetProcedureResultResponse,
    MergeTableRegionsRequest, MergeTableRegionsResponse, MoveRegionRequest, MoveRegionResponse, ProcedureState,
    SetBalancerRunningRequest, SetBalancerRunningResponse, SplitTableRegionRequest, SplitTableRegionResponse,
    StackTraceElementMessage,
};
pub use master_tables::{
    AddColumnRequest, AddColumnResponse, CreateTableRequest, CreateTableResponse, DeleteTableRequest,
    DeleteTableResponse, DisableTableRequest, DisableTableResponse, EnableTableRequest, EnableTableResponse,
    GetTableDescriptorsRequest, GetTableDescriptorsResponse, GetTableNamesRequest, GetTableNamesResponse,
    GetTableStateRequest, GetTableStateResponse,
};
pub use multi::{Action, MultiRequest, MultiResponse, RegionAction, RegionActionResult, ResultOrException};
pub use mutation::{
    ColumnValue, Condition, DeleteType, Durability, MutateRequest, MutateResponse, MutationProto, MutationType,
    QualifierValue,
};
pub use registry::{
    GetActiveMasterRequest, GetActiveMasterResponse, GetBootstrapNodesRequest, GetBootstrapNodesResponse,
    GetClusterIdRequest, GetClusterIdResponse, GetMetaRegionLocationsRequest, GetMetaRegionLocationsResponse, Master,
    MetaRegionServer,
};
pub use rpc::{
    CellBlockMeta, ConnectionHeader, ExceptionResponse, RequestHeader, ResponseHeader, UserInformation, VersionInfo,
};
pub use scan::{Cursor, ReadType, Scan, ScanRequest, ScanResponse};

#[cfg(test)]
mod tests;
