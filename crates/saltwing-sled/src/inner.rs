//! The state shared by the store and its cursors.

use crate::error::as_io;
use crate::file_sync::FileSync;
use saltwing_store::directory::Directory;
use saltwing_store::group_sync::GroupSync;
use std::io;
use std::path::Path;

/// The state shared by the store and its cursors. Fields drop in order: the lock must be released last.
pub(crate) struct Inner {
    pub(crate) database: sled::Db,
    pub(crate) files: FileSync,
    pub(crate) group: GroupSync,
    pub(crate) readonly: bool,
    pub(crate) directory: Directory,
}

impl Inner {
    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn flush(&self) -> io::Result<()> {
        self.database.flush().map_err(as_io)?;
        self.files.sync()
    }
}
