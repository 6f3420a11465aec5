//! Which files statements may use.

use std::path::PathBuf;

/// Which files statements may read and write: COPY, queries over files, BACKUP.
///
/// COPY never reaches the database's own directory, and never writes for a database that is open for reading only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum FileAccess {
    /// No file: `STDIN` and `STDOUT` are left.
    None,
    /// Files below this directory, after links are followed.
    Below(PathBuf),
    /// The files that the process may read and write.
    #[default]
    All,
}
