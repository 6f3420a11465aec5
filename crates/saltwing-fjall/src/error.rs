//! fjall's errors in the contract's words.

use std::error::Error;
use std::io;
use std::path::Path;

use saltwing_store::{Holder, StoreError};

/// An error while opening, reading, or making a keyspace.
pub(crate) fn storage_error(op: &'static str, path: &Path, error: &fjall::Error) -> StoreError {
    let path_buf = path.to_path_buf();
    match error {
        fjall::Error::Locked => StoreError::Locked { path: path_buf, holder: Holder::Writer },
        fjall::Error::Poisoned => StoreError::Poisoned { path: path_buf, why: None },
        _ => match io_cause(error) {
            Some(cause) => StoreError::reading(op, path, owned(cause)),
            None => StoreError::Corrupt { path: path_buf, why: said(error) },
        },
    }
}

/// fjall's message, without the name of its type.
fn said(error: &fjall::Error) -> String {
    let said = error.to_string();
    said.strip_prefix("FjallError: ").unwrap_or(&said).to_owned()
}

/// An error of a commit or a sync: past the checks, the journal may hold the batch.
pub(crate) fn commit_error(path: &Path, error: &fjall::Error) -> StoreError {
    match io_cause(error) {
        Some(cause) => StoreError::io("write", path, owned(cause)).of_commit(),
        None => storage_error("write", path, error),
    }
}

/// The operating system's error at the bottom, where there is one.
pub(crate) fn io_cause(error: &fjall::Error) -> Option<&io::Error> {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(io) = error.downcast_ref::<io::Error>() {
            return Some(io);
        }
        cause = error.source();
    }
    None
}

/// `io::Error` cannot be cloned, and fjall keeps it inside its own.
pub(crate) fn owned(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::path::Path;

    use super::{commit_error, storage_error};

    #[test]
    fn errors_keep_what_the_caller_can_do() {
        let path = Path::new("db");
        let io = |kind: io::ErrorKind| fjall::Error::Io(io::Error::from(kind));
        let nested = |kind: io::ErrorKind| fjall::Error::Storage(fjall::LsmError::Io(io::Error::from(kind)));
        for full in [io(io::ErrorKind::StorageFull), nested(io::ErrorKind::StorageFull)] {
            assert_eq!(commit_error(path, &full).code(), "disk_full");
            assert_eq!(storage_error("read", path, &full).code(), "disk_full");
        }
        let broken = nested(io::ErrorKind::Other);
        assert_eq!(commit_error(path, &broken).code(), "commit_unknown");
        assert_eq!(storage_error("read", path, &broken).code(), "io");
        let short = nested(io::ErrorKind::UnexpectedEof);
        assert_eq!(storage_error("read", path, &short).code(), "corrupt");
        assert_eq!(commit_error(path, &fjall::Error::Poisoned).code(), "io");
        assert_eq!(storage_error("open", path, &fjall::Error::Locked).code(), "locked");
        let error = storage_error("open", path, &fjall::Error::Unrecoverable);
        assert_eq!(error.code(), "corrupt");
        assert!(!error.to_string().contains("FjallError"), "{error}");
    }
}
