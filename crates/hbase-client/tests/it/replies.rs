//! Calls that a server got, and what it answers.

use std::sync::Arc;

use bytes::Bytes;
use hbase_client::cell::{Cell, CellKind, CellParts};
use hbase_client::frame::cell_block;
use hbase_client::proto::{ExceptionResponse, Scan, ScanRequest, ScanResponse};
use prost::Message;
use tokio::sync::Notify;

/// What a server does with a request.
pub(crate) enum Reply {
    Answer(Vec<u8>, Bytes),
    Exception(ExceptionResponse),
    /// The answer that comes when the test says so, once for each time.
    Late(Arc<Notify>, Box<Reply>),
    /// No answer.
    Silence,
    /// The connection ends.
    Close,
    /// Bytes that are no answer.
    Garbage,
}

impl Reply {
    pub(crate) fn of(message: &impl Message, cells: &[Cell]) -> Self {
        Self::Answer(message.encode_to_vec(), cell_block(cells))
    }

    pub(crate) fn exception(class: &str, do_not_retry: bool) -> Self {
        Self::Exception(ExceptionResponse {
            exception_class_name: Some(format!("org.apache.hadoop.hbase.{class}")),
            stack_trace: Some(format!("org.apache.hadoop.hbase.{class}: as the test says")),
            do_not_retry: Some(do_not_retry),
            ..ExceptionResponse::default()
        })
    }

    /// Rows of one cell each, and whether the region, and the scan, have more.
    pub(crate) fn rows(keys: &[&str], more_in_region: bool, more: bool) -> Self {
        let cells: Vec<Cell> = keys.iter().map(|key| cell(key, "q")).collect();
        let response = ScanResponse {
            cells_per_result: vec![1; cells.len()],
            partial_flag_per_result: vec![false; cells.len()],
            scanner_id: Some(7),
            more_results: Some(more),
            more_results_in_region: Some(more_in_region),
            ..ScanResponse::default()
        };
        Self::of(&response, &cells)
    }
}

/// A call that a server got.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) method: String,
    pub(crate) message: Bytes,
}

impl Call {
    pub(crate) fn decode<M: Message + Default>(&self) -> M {
        M::decode(self.message.clone()).unwrap()
    }

    /// The part of a scan's request that opens a scanner.
    pub(crate) fn opening(&self) -> Option<(ScanRequest, Scan)> {
        let request: ScanRequest = (self.method == "Scan").then(|| self.decode())?;
        let scan = request.scan.clone()?;
        Some((request, scan))
    }
}

pub(crate) fn cell(row: &str, qualifier: &str) -> Cell {
    let (row, qualifier) = (row.as_bytes(), qualifier.as_bytes());
    Cell::new(CellParts { row, family: b"f", qualifier, timestamp: 1, kind: CellKind::PUT, value: b"v" }).unwrap()
}
