//! Words that the border of tables and the border of bytes have in common.

use std::error::Error;

use crate::ErrorCode;

/// The way in which sorted keys are walked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From small keys to large ones.
    Forward,
    /// From large keys to small ones.
    Reverse,
}

impl Direction {
    /// Whether a walk reaches key `a` before key `b`.
    pub fn is_before(self, a: &[u8], b: &[u8]) -> bool {
        match self {
            Self::Forward => a < b,
            Self::Reverse => a > b,
        }
    }
}

/// The failures that an acknowledged write has survived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Promises order, not survival: a crash may take the last so many of these
    /// writes, never one without all later ones.
    Buffered,
    /// On the disk before it is acknowledged, as far as the store's [`DurabilityScope`] says. Writers at the same time
    /// share one sync (group commit).
    Synced,
}

/// The failures that an acknowledged [`Durability::Synced`] write survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DurabilityScope {
    /// Nothing: it is gone with the process.
    None,
    /// A killed process; not a power cut, nor a crash of the operating system.
    Process,
    /// A power cut, if the device honours syncs.
    Power,
}

/// Why storage failed, whatever it is made of: files, a device, servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StorageCause {
    /// A device, the operating system or a network refused.
    Io,
    /// A server gave no answer in time. What it was asked to read was not read, and what it was asked to write was not written.
    Unavailable,
    /// An earlier write failed, and no more are taken until the store is opened again; the text says with what it failed.
    Poisoned,
    /// No room for more rows: the rest is kept for what gives space back. Nothing was written.
    DeviceNearlyFull,
    /// No room. The store takes no more writes until it is opened again.
    DeviceFull,
    /// The stored bytes are not those that were written.
    Corrupt,
    /// The database is already open elsewhere.
    Locked,
    /// The database was opened for reading only.
    ReadOnly,
    /// A key that cannot be stored: of no bytes, or too long.
    BadKey,
    /// More bytes than can be written at once.
    BatchTooLarge,
    /// The write may be there, or not.
    CommitUnknown,
    /// The store, or this release of it, cannot do it.
    NotSupported,
}

impl StorageCause {
    /// The stable code.
    pub fn code(self) -> ErrorCode {
        match self {
            Self::Io | Self::Poisoned => ErrorCode::Io,
            Self::Unavailable => ErrorCode::Unavailable,
            Self::DeviceNearlyFull | Self::DeviceFull => ErrorCode::DiskFull,
            Self::Corrupt => ErrorCode::Corrupt,
            Self::Locked => ErrorCode::Locked,
            Self::ReadOnly => ErrorCode::ReadOnly,
            Self::BadKey => ErrorCode::BadKey,
            Self::BatchTooLarge => ErrorCode::StatementTooLarge,
            Self::CommitUnknown => ErrorCode::CommitUnknown,
            Self::NotSupported => ErrorCode::NotSupported,
        }
    }
}

/// A failure below the tables: its cause, which every store has, and the store's own error, whose text it shows.
#[derive(Debug, thiserror::Error)]
#[error("{source}")]
pub struct StorageError {
    /// The cause.
    pub cause: StorageCause,
    source: Box<dyn Error + Send + Sync>,
}

impl StorageError {
    /// A store's error.
    pub fn new(cause: StorageCause, source: impl Error + Send + Sync + 'static) -> Self {
        Self { cause, source: Box::new(source) }
    }
}
