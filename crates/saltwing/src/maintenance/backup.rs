//! Makes backups, while the database is in use.

use std::path::Path;

use saltwing_access::{Budget, ScanContext};

use crate::backup_writer::{BackupReport, write_backup};
use crate::{Database, Error};

impl Database {
    /// Copies one snapshot of the database into a new directory, while statements run. The copy has every commit that was
    /// acknowledged before the call, and no part of an incomplete one. When the call returns, the copy is on the disk.
    /// [`crate::Builder::restore`] creates a database from it.
    ///
    /// # Errors
    /// [`Io`](crate::ErrorCode::Io) if `path` already exists; [`DiskFull`](crate::ErrorCode::DiskFull);
    /// [`Corrupt`](crate::ErrorCode::Corrupt) if the copied data is damaged. After an error, no copy remains at `path`.
    pub fn backup(&self, path: impl AsRef<Path>) -> Result<BackupReport, Error> {
        write_backup(&self.shared, path.as_ref(), &ScanContext::new(Budget::default()))
    }
}
