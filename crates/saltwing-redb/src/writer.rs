//! The state of the writer.

use crate::journal::Journal;
use crate::space::LiveBytes;

/// The state of the writer.
pub(crate) struct Writer {
    pub(crate) journal: Journal,
    pub(crate) live: LiveBytes,
    /// Bytes that lived when the file was compacted last.
    pub(crate) compacted: u64,
}
