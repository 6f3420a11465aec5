//! Failures, which end a statement, and with it a batch.

use std::io;

/// An error of SQL, storage or output.
pub(crate) const EXIT_ERROR: u8 = 1;
/// Wrong arguments.
pub(crate) const EXIT_USAGE: u8 = 2;
/// A salvage that finished, but lost rows.
pub(crate) const EXIT_LOST: u8 = 3;
/// Ctrl-C: 128 plus the signal's number, as in command shells.
pub(crate) const EXIT_INTERRUPTED: u8 = 130;

/// The reason why a statement or a dot command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The statement's own error.
    Sql(saltwing::Error),
    /// Results could not be written.
    Output(io::Error),
    /// A file or stdin could not be read: its name, and the error.
    Input(String, io::Error),
    /// A dot command that is not valid.
    Usage(String),
    /// Ctrl-C, with the error of the statement.
    Interrupted(String),
    /// A failure that was already printed.
    Reported,
}

impl From<saltwing::Error> for Failure {
    fn from(error: saltwing::Error) -> Self {
        // COPY TO STDOUT writes directly, and its reader may close the pipe.
        match error.io_kind() {
            Some(kind) if kind == io::ErrorKind::BrokenPipe => Self::Output(kind.into()),
            _ => Self::Sql(error),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl Failure {
    /// Whether the reader has closed the pipe of our output, which is not an error: it needs no more.
    pub(crate) fn is_reader_gone(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}
