//! What the store and its cursors share.

use crate::error::as_io;
use crate::file_sync::FileSync;
use saltwing_store::directory::Directory;
use saltwing_store::group_sync::GroupSync;
use std::io;
use std::path::Path;

/// What the store and its cursors share. Fields drop in order: the lock goes last.
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
