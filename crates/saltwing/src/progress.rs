//! How far a COPY is.

/// How far a COPY FROM is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyProgress {
    /// Rows committed.
    pub rows: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Bytes of the file, if that is known.
    pub bytes_total: Option<u64>,
}
