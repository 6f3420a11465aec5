//! How far the end of the process is.

/// What sessions may do while the process runs and ends. The phases follow each other, and none comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Everything.
    Serving,
    /// No new connections. A session ends as soon as no statement of it runs; the statement that runs may go on to its end.
    Draining,
    /// Statements that run are cancelled, and their sessions end.
    Cancelling,
}
