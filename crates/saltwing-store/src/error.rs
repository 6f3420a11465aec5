//! Errors of stores.

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
    #[error("{}: the database is open {holder}", path.display())]
    Locked {
        /// The database's directory.
        path: PathBuf,
        /// The holder of the lock.
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

    /// The directory belongs to another store than the requested one.
    #[error("{}: the database is kept by {found}, not by {requested}", path.display())]
    OtherStore {
        /// The database's directory.
        path: PathBuf,
        /// The store that keeps it.
        found: String,
        /// The requested store.
        requested: String,
    },

    /// The path is something else: a file, or a directory with other content.
    #[error("{}: not a database of ours: {why}", path.display())]
    NotADatabase {
        /// The path to open.
        path: PathBuf,
        /// The reason.
        why: String,
    },

    /// The path does not exist, or the directory to create it in.
    #[error("{}: no such directory", path.display())]
    Missing {
        /// The missing directory: the database's or its parent.
        path: PathBuf,
    },

    /// The operating system refused.
    #[error("{}: cannot {op}", path.display())]
    Io {
        /// The failed action, as a verb: `read`, `create the directory`.
        op: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },

    /// No room on the device for more rows. Nothing was written.
    #[error("{}: no space left on the device, but for what is kept for DELETE, DROP, TRUNCATE and COMPACT", path.display())]
    NearlyFull {
        /// The database's directory.
        path: PathBuf,
    },

    /// The device is full. Whether the batch is present shows after opening again.
    #[error("{}: no space left on the device", path.display())]
    DiskFull {
        /// The database's directory.
        path: PathBuf,
    },

    /// The files do not have the written content.
    #[error("{}: the stored data is damaged: {why}", path.display())]
    Corrupt {
        /// The database's directory.
        path: PathBuf,
        /// The store's finding.
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

    /// The write failed so late that it may have taken effect. The store refuses further writes until it is opened
    /// again: read before you write again.
    #[error("it is not known whether the write took effect")]
    CommitUnknown {
        /// The error of the write.
        source: io::Error,
    },

    /// Beyond what this store can do.
    #[error("{store} has no {what}")]
    NotSupported {
        /// The unsupported feature, as a noun: `snapshots`.
        what: &'static str,
        /// The store's name.
        store: &'static str,
    },

    /// An earlier write or sync failed, and the store refuses writes until it is opened again, because the state of the
    /// disk is unknown until then. Reads may succeed or fail.
    #[error("{}: an earlier write failed{}; close the database and open it again", path.display(), because(why))]
    Poisoned {
        /// The database's directory.
        path: PathBuf,
        /// The error of that write, if the store knows it.
        why: Option<String>,
    },
}

fn because(why: &Option<String>) -> String {
    why.as_ref().map_or_else(String::new, |why| format!(" ({why})"))
}

/// The holder of a database's lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// A writer. No one else can open the database.
    Writer {
        /// The number of its process, if the writer has noted it.
        process: Option<u32>,
    },
    /// One or several readers. Others can open it read-only.
    Readers,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Writer { process: Some(process) } if *process == std::process::id() => {
                write!(f, "for writing in this process ({process})")
            }
            Self::Writer { process: Some(process) } => write!(f, "for writing in process {process}"),
            Self::Writer { process: None } => f.write_str("for writing, here or in another process"),
            Self::Readers => f.write_str("for reading, here or in another process"),
        }
    }
}

impl StoreError {
    /// An error of the operating system on `path`, classified by its kind.
    pub fn io(op: &'static str, path: &Path, source: io::Error) -> Self {
        let path = path.to_path_buf();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull { path },
            _ => Self::Io { op, path, source },
        }
    }

    /// An error of the operating system in a read: a file that is too short or has invalid content is damaged.
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

    /// The same error, of the sync of a batch that an earlier call wrote: the batch may be there, also if the store refused to
    /// sync because another write had failed.
    #[must_use]
    pub fn of_sync_after_write(self) -> Self {
        match self {
            Self::Io { source, .. } | Self::CommitUnknown { source } => Self::CommitUnknown { source },
            Self::DiskFull { .. } => self,
            other => Self::CommitUnknown { source: io::Error::other(other) },
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
