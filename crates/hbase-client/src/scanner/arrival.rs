//! The answer to a call of a scanner.

use super::open_scanner::OpenScanner;
use crate::connection::Answer;
use crate::error::Error;
use crate::proto::ScanResponse;

/// A scanner that has been asked, and its answer.
pub(super) struct Arrival {
    pub(super) open: OpenScanner,
    /// Whether the call opened the scanner.
    pub(super) opens: bool,
    pub(super) answer: Result<Answer<ScanResponse>, Error>,
}
