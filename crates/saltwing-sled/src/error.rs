//! sled's errors in the contract's words.

use std::io;
use std::path::Path;

use saltwing_store::StoreError;

/// An error while opening or reading.
pub(crate) fn storage_error(op: &'static str, path: &Path, error: sled::Error) -> StoreError {
    match error {
        sled::Error::Io(error) => StoreError::reading(op, path, error),
        other => StoreError::Corrupt { path: path.to_path_buf(), why: other.to_string() },
    }
}

/// An error of a commit or a flush: the log may hold the batch.
pub(crate) fn commit_error(path: &Path, error: sled::Error) -> StoreError {
    storage_error("write", path, error).of_commit()
}

/// sled's error as one of the operating system, for all waiters of the same flush.
pub(crate) fn as_io(error: sled::Error) -> io::Error {
    match error {
        sled::Error::Io(error) => error,
        other => io::Error::other(other.to_string()),
    }
}
