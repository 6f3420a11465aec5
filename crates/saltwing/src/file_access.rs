//! Which files statements may use.

use std::fs;
use std::path::{Path, PathBuf};

use saltwing_types::ErrorCode;

use crate::Error;

/// Which files statements may read and write: COPY, queries over files, BACKUP, ATTACH.
///
/// COPY never uses files in the database's own directory, and never writes files if the database is open only for reading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum FileAccess {
    /// No files; `STDIN` and `STDOUT` remain possible.
    None,
    /// Files below this directory, after links are followed.
    Below(PathBuf),
    /// The files that the process may read and write.
    #[default]
    All,
}

impl FileAccess {
    /// Checks that files may be used at all. `used` is the participle for the error: the file at `path` would be read, or written.
    ///
    /// # Errors
    /// [`ErrorCode::FileAccessRefused`].
    pub(crate) fn check_any(&self, path: &str, used: &str) -> Result<(), Error> {
        match self {
            Self::None => Err(refused(format!("{path} cannot be {used}: the database may use no files"))),
            Self::Below(_) | Self::All => Ok(()),
        }
    }

    /// Checks that `path` is inside the permitted directory. `resolved` is the path without links; without it, no directory is known to
    /// contain the path.
    ///
    /// # Errors
    /// [`ErrorCode::FileAccessRefused`].
    pub(crate) fn check_place(&self, path: &str, resolved: Option<&Path>) -> Result<(), Error> {
        let Self::Below(directory) = self else { return Ok(()) };
        let is_below =
            |resolved: &Path| fs::canonicalize(directory).is_ok_and(|directory| resolved.starts_with(directory));
        match resolved.is_some_and(is_below) {
            true => Ok(()),
            false => Err(refused(format!("{path} does not lie below {}", directory.display()))
                .with_help(Some("the database may use the files below it alone"))),
        }
    }
}

/// The error of a file that may not be used.
pub(crate) fn refused(text: String) -> Error {
    Error::new(ErrorCode::FileAccessRefused, text)
}
