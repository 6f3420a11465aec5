//! A scanner that is open at a server.

use std::sync::Arc;

use crate::connection::Server;
use crate::error::Error;
use crate::proto::{ScanRequest, ScanResponse};
use crate::region::Region;
use crate::server_error::Reaction;

/// The classes of exceptions after which a call was certainly not begun: the scanner is as it was.
const NOT_BEGUN: &[&str] = &["CallQueueTooBigException", "CallDroppedException", "RpcThrottlingException"];

/// A scanner that is open at a server. If it is dropped before it has ended, the server is told to close it.
pub(super) struct OpenScanner {
    pub(super) server: Arc<Server>,
    pub(super) region: Region,
    pub(super) id: u64,
    /// The number of the next call. The one that opened the scanner is not counted.
    pub(super) next_call: u64,
    /// Whether no call can follow: the server has closed it, or it is given up.
    pub(super) has_ended: bool,
}

impl OpenScanner {
    /// The request for the next rows.
    pub(super) fn request(&self) -> ScanRequest {
        ScanRequest { scanner_id: Some(self.id), next_call_seq: Some(self.next_call), ..ScanRequest::default() }
    }

    /// Notes whether the server has closed the scanner with an answer.
    pub(super) fn note_end(&mut self, answer: &ScanResponse) {
        self.has_ended |= answer.more_results_in_region == Some(false) || answer.more_results == Some(false);
    }

    /// Gives the scanner up after a failed call, unless the call was certainly not begun.
    pub(super) fn note_failure(&mut self, error: &Error) {
        let class = error.server_error().map_or("", |error| error.short_class());
        if NOT_BEGUN.contains(&class) {
            return;
        }
        if !matches!(error.reaction(), Reaction::OpenScannerAgain | Reaction::LookUpAgain) {
            self.close();
        }
        self.has_ended = true;
    }

    /// Tells the server to close the scanner, if it has not ended.
    fn close(&mut self) {
        if !std::mem::replace(&mut self.has_ended, true) {
            let close = ScanRequest {
                scanner_id: Some(self.id),
                close_scanner: Some(true),
                number_of_rows: Some(0),
                ..ScanRequest::default()
            };
            self.server.post("Scan", &close);
        }
    }
}

impl Drop for OpenScanner {
    fn drop(&mut self) {
        self.close();
    }
}
