//! Answers, and where their cells lie.

use bytes::Bytes;
use hbase_client::cell::Cell;
use hbase_client::frame::{Response, cell_block};
use hbase_client::proto::{self, ResponseHeader, RowResult};
use prost::Message;

use crate::exception::Exception;

/// An answer that is not an exception.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reply {
    pub(crate) message: Bytes,
    pub(crate) cells: Vec<Cell>,
}

/// Where the cells of answers lie, which the connection's header decides.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CellForm {
    /// In the cell block: the client named a codec.
    pub(crate) in_blocks: bool,
    /// Those of Get as well: the client's version is 1.3 or newer.
    pub(crate) gets_in_blocks: bool,
}

impl Reply {
    pub(crate) fn of(message: &impl Message) -> Self {
        Self { message: message.encode_to_vec().into(), cells: Vec::new() }
    }
}

/// The frame's parts of an answer.
pub(crate) fn response(call_id: Option<u32>, answer: Result<Reply, Exception>) -> Response {
    let header = ResponseHeader { call_id, ..ResponseHeader::default() };
    match answer {
        Ok(reply) => Response { header, message: reply.message, cells: cell_block(&reply.cells) },
        Err(exception) => {
            let header = ResponseHeader { exception: Some(exception.response()), ..header };
            Response { header, message: Bytes::new(), cells: Bytes::new() }
        }
    }
}

/// A row in an answer: its cells are appended to the block, or lie in the message.
pub(crate) fn row_result(cells: Vec<Cell>, in_block: bool, block: &mut Vec<Cell>) -> RowResult {
    if !in_block {
        return RowResult { cell: cells.iter().map(message_cell).collect(), ..RowResult::default() };
    }
    let count = i32::try_from(cells.len()).ok();
    let stale = (!cells.is_empty()).then_some(false);
    block.extend(cells);
    RowResult { associated_cell_count: count, stale, ..RowResult::default() }
}

fn message_cell(cell: &Cell) -> proto::Cell {
    let parts = cell.parts();
    proto::Cell {
        row: Some(Bytes::copy_from_slice(parts.row)),
        family: Some(Bytes::copy_from_slice(parts.family)),
        qualifier: Some(Bytes::copy_from_slice(parts.qualifier)),
        timestamp: Some(parts.timestamp),
        cell_type: Some(i32::from(parts.kind.0)),
        value: Some(Bytes::copy_from_slice(parts.value)),
        tags: None,
    }
}
