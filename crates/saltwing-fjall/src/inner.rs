//! The state shared by the store, its cursors and its snapshots.

use crate::commits::Commits;
use crate::error::{io_cause, owned};
use crate::keyspaces::Keyspaces;
use crate::reading_place::ReadingPlace;
use fjall::{Database, PersistMode};
use parking_lot::RwLock;
use saltwing_store::device::Device;
use saltwing_store::directory::Directory;
use saltwing_store::group_sync::GroupSync;
use saltwing_store::{LeftOut, StoreError};
use std::io;
use std::path::Path;

/// The state shared by the store, its cursors and its snapshots. Fields drop in order: the lock must be released after
/// the database has ended its threads, or another process could open the files while they still write.
pub(crate) struct Inner {
    pub(crate) keyspaces: Keyspaces,
    pub(crate) commits: Commits,
    pub(crate) database: Database,
    /// Held shared by writes while they are applied, and exclusively to drop a keyspace.
    pub(crate) writing: RwLock<()>,
    pub(crate) group: GroupSync,
    pub(crate) device: Device,
    pub(crate) readonly: bool,
    pub(crate) notices: Vec<String>,
    pub(crate) left_out: Vec<LeftOut>,
    /// Where a reader's fjall has its files.
    pub(crate) _place: Option<ReadingPlace>,
    pub(crate) directory: Directory,
}

impl Inner {
    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn sync_journal(&self) -> io::Result<()> {
        self.keyspaces.sync_names()?;
        let persist = || {
            self.database.persist(PersistMode::SyncData).map_err(|error| {
                if matches!(error, fjall::Error::Poisoned) {
                    self.group.give_up(&error);
                }
                io_cause(&error).map_or_else(|| io::Error::other(error.to_string()), owned)
            })
        };
        self.commits.synced(persist)
    }

    pub(crate) fn refuse_readonly(&self) -> Result<(), StoreError> {
        match self.readonly {
            true => Err(StoreError::ReadOnly { path: self.path().to_path_buf() }),
            false => Ok(()),
        }
    }

    /// Refuses to write after a write that failed: the caller must open the database again.
    pub(crate) fn refuse_poisoned(&self) -> Result<(), StoreError> {
        self.group.refuse_failed(self.path()).map_err(|_| self.poisoned_error())
    }

    /// fjall says of a failure in its own threads only that there was one: a device without room tells which.
    pub(crate) fn poisoned_error(&self) -> StoreError {
        let path = self.path().to_path_buf();
        match self.device.is_full(self.path()) {
            true => StoreError::DiskFull { path },
            false => StoreError::Poisoned { path, why: self.group.failure() },
        }
    }
}
