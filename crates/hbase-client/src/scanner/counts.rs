//! What a scan has done.

/// What a scan has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScanCounts {
    /// Calls for rows that had an answer.
    pub calls: u64,
    /// Calls for rows that were sent while the caller worked on those before them.
    pub ahead: u64,
    /// Scanners that were opened.
    pub opened: u64,
    /// Answers without rows that only say that the server is still at work.
    pub heartbeats: u64,
    /// Failures after which the scan went on.
    pub failures: u64,
    /// Complete rows.
    pub rows: u64,
}
