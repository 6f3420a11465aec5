//! redb's errors in the contract's words.

use std::path::Path;

use saltwing_store::{Holder, StoreError};

use crate::damages::Damages;

/// An error while opening or reading.
pub(crate) fn storage_error(op: &'static str, path: &Path, error: redb::Error, damages: &Damages) -> StoreError {
    let path_buf = path.to_path_buf();
    match error {
        redb::Error::DatabaseAlreadyOpen => {
            StoreError::Locked { path: path_buf, holder: Holder::Writer { process: None } }
        }
        redb::Error::PreviousIo | redb::Error::DatabaseClosed => StoreError::Poisoned { path: path_buf, why: None },
        redb::Error::Io(cause) => StoreError::reading(op, path, cause),
        other => StoreError::Corrupt { path: path_buf, why: damages.explain(&other.to_string()) },
    }
}

/// An error of a write or a sync: redb may have written the batch.
pub(crate) fn commit_error(path: &Path, error: redb::Error, damages: &Damages) -> StoreError {
    storage_error("write", path, error, damages).of_commit()
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::path::Path;

    use super::{commit_error, storage_error};
    use crate::damages::Damages;

    #[test]
    fn errors_keep_what_the_caller_can_do() {
        let (path, damages) = (Path::new("db"), Damages::default());
        let io = |kind: io::ErrorKind| redb::Error::Io(io::Error::from(kind));
        assert_eq!(commit_error(path, io(io::ErrorKind::StorageFull), &damages).code(), "disk_full");
        assert_eq!(storage_error("read", path, io(io::ErrorKind::StorageFull), &damages).code(), "disk_full");
        assert_eq!(commit_error(path, io(io::ErrorKind::Other), &damages).code(), "commit_unknown");
        assert_eq!(storage_error("read", path, io(io::ErrorKind::Other), &damages).code(), "io");
        assert_eq!(storage_error("read", path, io(io::ErrorKind::InvalidData), &damages).code(), "corrupt");
        assert_eq!(commit_error(path, redb::Error::PreviousIo, &damages).code(), "io");
        assert_eq!(storage_error("open", path, redb::Error::DatabaseAlreadyOpen, &damages).code(), "locked");
        assert_eq!(storage_error("open", path, redb::Error::Corrupted(String::new()), &damages).code(), "corrupt");
    }
}
