//! Everything that reads bytes of the network.

use bytes::{Bytes, BytesMut};
use prost::Message;

use crate::address::Address;
use crate::frame::{CellBlock, FRAME_BYTES_MAX, Request, Response, take_frame, take_preamble};
use crate::locator::Entry;
use crate::proto::*;
use crate::registry::{Wanted, answer_data, node_place};
use crate::row::{pieces_of, row_of};
use crate::server_error::ServerError;
use crate::table_name;

/// A decoder: bytes become a value or an error, which are dropped.
pub(super) struct Decoder {
    pub(super) name: &'static str,
    pub(super) decode: fn(Bytes),
}

/// Decoders of messages.
macro_rules! messages {
    ($($message:ident)*) => {
        &[$(Decoder { name: stringify!($message), decode: |bytes| drop($message::decode(bytes)) },)*]
    };
}

/// The messages that come over the network, to clients or to servers.
pub(super) const MESSAGES: &[Decoder] = messages! {
    ConnectionHeader RequestHeader ResponseHeader ExceptionResponse CellBlockMeta ServerName RegionInfo RegionLocation RegionSpecifier
    TableName TableSchema ColumnFamilySchema TableState TimeRange NameBytesPair NameStringPair BytesBytesPair
    GetRequest GetResponse Get Column MutateRequest MutateResponse MutationProto Condition ScanRequest ScanResponse Scan Cursor
    MultiRequest MultiResponse RegionAction RegionActionResult ResultOrException Action RowResult
    CoprocessorServiceRequest CoprocessorServiceResponse
    GetMetaRegionLocationsResponse GetActiveMasterResponse GetClusterIdResponse GetBootstrapNodesResponse MetaRegionServer Master
    Filter FilterList MultiRowRangeFilter SingleColumnValueFilter PageFilter KeyOnlyFilter FirstKeyOnlyFilter PrefixFilter Comparator
    GetProcedureResultResponse GetTableDescriptorsResponse GetTableNamesResponse GetTableStateResponse CreateTableRequest
    CreateTableResponse DeleteTableResponse EnableTableResponse DisableTableResponse MoveRegionResponse SplitTableRegionResponse
    MergeTableRegionsResponse SetBalancerRunningResponse ForeignExceptionMessage
};

/// The decoders of frames and of the pieces inside them; those of single messages are in [`MESSAGES`].
pub(super) const FRAMES: &[Decoder] = &[
    Decoder { name: "frames of a stream", decode: stream },
    Decoder { name: "preamble", decode: |bytes| drop(take_preamble(&mut BytesMut::from(bytes))) },
    Decoder { name: "request", decode: request },
    Decoder { name: "response", decode: response },
    Decoder { name: "cell block", decode: |bytes| drop(CellBlock::new(bytes).take(u64::MAX)) },
    Decoder { name: "row of hbase:meta", decode: meta_row },
    Decoder { name: "ZooKeeper's answer", decode: zookeeper },
];

pub(super) fn all() -> impl Iterator<Item = &'static Decoder> {
    FRAMES.iter().chain(MESSAGES)
}

/// A buffer is taken over, and copied only if it is shared.
fn stream(bytes: Bytes) {
    let mut received = BytesMut::from(bytes);
    while let Ok(Some(frame)) = take_frame(&mut received, FRAME_BYTES_MAX) {
        response(frame);
    }
}

fn request(frame: Bytes) {
    if let Ok(request) = Request::decode(frame) {
        drop(GetRequest::decode(request.message.clone()));
        drop(ScanRequest::decode(request.message.clone()));
        drop(MutateRequest::decode(request.message.clone()));
        drop(MultiRequest::decode(request.message));
        drop(CellBlock::new(request.cells).take(u64::MAX));
    }
}

/// A response as the answer to each method whose answer has more than one message.
fn response(frame: Bytes) {
    let Ok(Response { header, message, cells }) = Response::decode(frame) else { return };
    let server = Address::new("server", 1);
    if let Some(exception) = header.exception {
        let error = ServerError::of_response(&server, "Get", exception);
        drop((error.reaction(), error.wait(), error.to_string()));
    }
    if let Ok(scan) = ScanResponse::decode(message.clone()) {
        drop(pieces_of(&scan, cells.clone()));
    }
    if let Ok(get) = GetResponse::decode(message.clone()) {
        drop(row_of(&get.result.unwrap_or_default(), &mut CellBlock::new(cells.clone())));
    }
    let Ok(multi) = MultiResponse::decode(message) else { return };
    let mut block = CellBlock::new(cells);
    for result in multi.region_action_result.iter().flat_map(|region| &region.result_or_exception) {
        if let Some(exception) = &result.exception {
            let error = ServerError::of_action(&server, "Multi", exception);
            drop((error.reaction(), error.wait(), error.to_string()));
        }
        if let Some(row) = &result.result {
            drop(row_of(row, &mut block));
        }
    }
}

fn meta_row(block: Bytes) {
    let Ok(table) = "first_steps".parse::<table_name::TableName>() else { return };
    let mut block = CellBlock::new(block);
    let mut cells = Vec::new();
    while let Ok(Some(cell)) = block.next_cell() {
        cells.push(cell);
    }
    drop(Entry::of_cells(&table, &cells));
}

fn zookeeper(frame: Bytes) {
    for wanted in [Wanted::Meta, Wanted::Master] {
        if let Ok(Some(data)) = answer_data(frame.clone()) {
            drop(node_place(data, wanted));
        }
        drop(node_place(frame.clone(), wanted));
    }
}
