//! A directory for a new database, which appears complete or not at all.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use saltwing_store::StoreError;
use saltwing_store::directory::sync_directory;
use saltwing_types::ErrorCode;

use crate::Error;

/// A new directory, which has a temporary name until it is finished. If the value is dropped before that, the directory is deleted.
pub(super) struct NewPlace {
    path: PathBuf,
    unfinished: PathBuf,
    is_finished: bool,
}

impl NewPlace {
    /// Begins a directory for a path that does not exist, or is an empty directory.
    ///
    /// # Errors
    /// [`ErrorCode::BadArgument`] if the path exists and is not an empty directory, or if an interrupted attempt has left its temporary directory.
    pub(super) fn begin(path: &Path) -> Result<Self, Error> {
        let is_free = match fs::read_dir(path) {
            Ok(mut entries) => entries.next().is_none(),
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        if !is_free {
            let text = format!("{}: something is there already, and is not written over", path.display());
            return Err(
                Error::new(ErrorCode::BadArgument, text).with_help(Some("name a directory that is not there yet"))
            );
        }
        let Some(name) = path.file_name() else {
            return Err(Error::new(ErrorCode::BadArgument, format!("{} is no name for a directory", path.display())));
        };
        let mut unfinished = name.to_owned();
        unfinished.push(".unfinished");
        let unfinished = path.with_file_name(unfinished);
        match fs::create_dir(&unfinished) {
            Ok(()) => Ok(Self { path: path.to_path_buf(), unfinished, is_finished: false }),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let text = format!("{} is there, from an attempt that was cut short", unfinished.display());
                Err(Error::new(ErrorCode::BadArgument, text).with_help(Some("remove it")))
            }
            Err(error) => Err(StoreError::io("create the directory", &unfinished, error).into()),
        }
    }

    /// The temporary path.
    pub(super) fn unfinished(&self) -> &Path {
        &self.unfinished
    }

    /// Gives the directory its final name, and syncs that to the disk.
    pub(super) fn finish(mut self) -> Result<(), Error> {
        fs::rename(&self.unfinished, &self.path).map_err(|error| StoreError::io("make", &self.path, error))?;
        self.is_finished = true;
        let parent = self.path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Ok(sync_directory(parent)?)
    }
}

impl Drop for NewPlace {
    fn drop(&mut self) {
        if !self.is_finished {
            let _ = fs::remove_dir_all(&self.unfinished);
        }
    }
}
