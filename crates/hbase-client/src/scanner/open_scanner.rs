//! A scanner that is open at a server.

use std::sync::Arc;

use crate::connection::Server;
use crate::proto::ScanRequest;
use crate::region::Region;

/// A scanner that is open at a server. If it is dropped before it has ended, the server is told to close it.
pub(super) struct OpenScanner {
    pub(super) server: Arc<Server>,
    pub(super) region: Region,
    pub(super) id: u64,
    /// The number of the next call. The one that opened the scanner is not counted.
    pub(super) next_call: u64,
    /// Whether the server has closed it.
    pub(super) has_ended: bool,
}

impl OpenScanner {
    /// The request for the next rows.
    pub(super) fn request(&self) -> ScanRequest {
        ScanRequest { scanner_id: Some(self.id), next_call_seq: Some(self.next_call), ..ScanRequest::default() }
    }
}

impl Drop for OpenScanner {
    fn drop(&mut self) {
        if !self.has_ended {
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
