//! Making backups, beside everything else.

use std::path::Path;

use saltwing_access::{Budget, ScanContext};

use crate::backup_writer::{BackupReport, write_backup};
use crate::{Database, Error};

impl Database {
    /// Copies the database as it is at one moment into a new directory, while statements go on: every commit that was
    /// acknowledged before is in it, and each commit whole or not at all. When this returns, the copy is on the disk.
    /// [`crate::Builder::restore`] makes a database of it.
    ///
    /// # Errors
    /// [`Io`](crate::ErrorCode::Io) if something is at `path` already; [`DiskFull`](crate::ErrorCode::DiskFull);
    /// [`Corrupt`](crate::ErrorCode::Corrupt) if the copied data is damaged. After an error there is nothing at `path`.
    pub fn backup(&self, path: impl AsRef<Path>) -> Result<BackupReport, Error> {
        write_backup(&self.shared, path.as_ref(), &ScanContext::new(Budget::default()))
    }
}
