//! What can go wrong in a store.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use saltwing_types::{StorageCause, StorageError};

/// An error of a store, with what it was about.
///
/// [`StoreError::code`] is the stable word that users see. After an error of
/// [`OrderedKv::write`](crate::OrderedKv::write) nothing was written, but for
/// [`StoreError::CommitUnknown`] and [`StoreError::DiskFull`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another process, or another handle in this one, has the database open.
    #[error("{}: the database is open {holder}, here or in another process", path.display())]
    Locked {
        /// The database's directory.
        path: PathBuf,
        /// Who has it open.
        holder: Holder,
    },

    /// The database was opened for reading only.
    #[error("{}: the database was opened for reading only", path.display())]
    ReadOnly {
        /// The database's directory.
        path: PathBuf,
    },

    /// The directory was written by a later release.
    #[error(
        "{}: the database has format {found}, this release reads up to {supported}", path.display()
    )]
    NewerFormat {
        /// The database's directory.
        path: PathBuf,
        /// The format that the directory says it has.
        found: u32,
        /// The newest format that this release reads.
        supported: u32,
    },

    /// The directory belongs to another store than the one asked for.
    #[error("{}: the database is kept by {found}, not by {asked}", path.display())]
    OtherStore {
        /// The database's directory.
        path: PathBuf,
        /// The store that keeps it.
        found: String,
        /// The store that was asked for.
        asked: String,
    },

    /// Something else lies there: a file, or a directory with other things in it.
    #[error("{}: not a database of ours: {why}", path.display())]
    NotADatabase {
        /// What was to be opened.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },

    /// Nothing is there, or the directory to create it in is missing.
    #[error("{}: no such directory", path.display())]
    Missing {
        /// What is missing: the database's directory or its parent.
        path: PathBuf,
    },

    /// The operating system refused.
    #[error("{}: cannot {op}", path.display())]
    Io {
        /// What was tried, as a verb: `read`, `create the directory`.
        op: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },

    /// No room on the device for more rows. Nothing was written.
    #[error("{}: no space left on the device, but for what is kept for DELETE, DROP, TRUNCATE and COMPACT", path.display())]
    NearlyFull {
        /// The database's directory.
        path: PathBuf,
    },

    /// No room on the device. Whether the batch is there shows after opening again.
    #[error("{}: no space left on the device", path.display())]
    DiskFull {
        /// The database's directory.
        path: PathBuf,
    },

    /// The files do not hold what the store wrote.
    #[error("{}: the stored data is damaged: {why}", path.display())]
    Corrupt {
        /// The database's directory.
        path: PathBuf,
        /// What the store found.
        why: String,
    },

    /// A key of no bytes: put a tag byte in front.
    #[error("an empty key cannot be stored")]
    EmptyKey,

    /// A key longer than the store takes.
    #[error("a key of {len} bytes cannot be stored, the limit is {max}")]
    KeyTooLong {
        /// Bytes of the longest key of the batch.
        len: usize,
        /// The store's limit.
        max: usize,
    },

    /// A batch that would have to be held in memory whole.
    #[error("a write of {bytes} bytes at once is refused, the limit is {max}: write in smaller parts")]
    BatchTooLarge {
        /// Bytes of the batch's keys and values.
        bytes: usize,
        /// [`BATCH_BYTES_MAX`](crate::BATCH_BYTES_MAX).
        max: usize,
    },

    /// The write failed so late that it may be there all the same. The store takes no
    /// more of them until it is opened again: read then, before writing again.
    #[error("it is not known whether the write took effect")]
    CommitUnknown {
        /// What failed.
        source: io::Error,
    },

    /// Beyond what this store can do.
    #[error("{store} has no {what}")]
    NotSupported {
        /// What was asked for, as a noun: `snapshots`.
        what: &'static str,
        /// The store's name.
        store: &'static str,
    },

    /// An earlier write or sync failed, and the store takes no more until it is
    /// opened again: what a disk holds after a failed sync is not known before. Reads
    /// may go on, or fail too.
    #[error("{}: an earlier write failed{}; close the database and open it again", path.display(), because(why))]
    Poisoned {
        /// The database's directory.
        path: PathBuf,
        /// What that write failed with, if the store knows it.
        why: Option<String>,
    },
}

fn because(why: &Option<String>) -> String {
    why.as_ref().map_or_else(String::new, |why| format!(" ({why})"))
}

/// Who holds the lock of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// Somebody who may write. Nobody else can open the database.
    Writer,
    /// One or several who read. Others can open it for reading.
    Readers,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Writer => "for writing",
            Self::Readers => "for reading",
        })
    }
}

impl StoreError {
    /// An error of the operating system on `path`, told apart by its kind.
    pub fn io(op: &'static str, path: &Path, source: io::Error) -> Self {
        let path = path.to_path_buf();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull { path },
            _ => Self::Io { op, path, source },
        }
    }

    /// An error of the operating system in a read: a file that is shorter than it should be, or that holds what it
    /// should not, is damaged.
    pub fn reading(op: &'static str, path: &Path, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData => {
                Self::Corrupt { path: path.to_path_buf(), why: source.to_string() }
            }
            _ => Self::io(op, path, source),
        }
    }

    /// The same error of a write or a sync, after which the batch may be there.
    #[must_use]
    pub fn of_commit(self) -> Self {
        match self {
            Self::Io { source, .. } => Self::CommitUnknown { source },
            other => other,
        }
    }

    /// The cause, as the border of tables knows it.
    pub fn cause(&self) -> StorageCause {
        match self {
            Self::Locked { .. } => StorageCause::Locked,
            Self::ReadOnly { .. } => StorageCause::ReadOnly,
            Self::NewerFormat { .. } | Self::OtherStore { .. } | Self::NotSupported { .. } => {
                StorageCause::NotSupported
            }
            Self::NotADatabase { .. } | Self::Missing { .. } | Self::Io { .. } => StorageCause::Io,
            Self::Poisoned { .. } => StorageCause::Poisoned,
            Self::DiskFull { .. } => StorageCause::DeviceFull,
            Self::NearlyFull { .. } => StorageCause::DeviceNearlyFull,
            Self::Corrupt { .. } => StorageCause::Corrupt,
            Self::EmptyKey | Self::KeyTooLong { .. } => StorageCause::BadKey,
            Self::BatchTooLarge { .. } => StorageCause::BatchTooLarge,
            Self::CommitUnknown { .. } => StorageCause::CommitUnknown,
        }
    }

    /// The stable word under which users know this error.
    pub fn code(&self) -> &'static str {
        self.cause().code().as_str()
    }
}

impl From<StoreError> for StorageError {
    fn from(error: StoreError) -> Self {
        Self::new(error.cause(), error)
    }
}
