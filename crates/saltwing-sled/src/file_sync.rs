//! Syncs that sled leaves out.
//!
//! A flush of sled calls `sync_file_range`, which does not sync the file's metadata and the device's cache. Values too
//! large for its log become files in `blobs`, which sled never syncs, nor `conf`, nor a directory. This module syncs
//! all of them after a flush. sled is still not safe from power cuts: it reads its log up to the first bad record, and
//! blobs named there may be missing.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{ErrorKind, Result};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;
use saltwing_store::directory::sync_names;

/// A directory's time may be this much earlier than a new name in it, because the system's clock for files is coarse.
const TICK_MAX: Duration = Duration::from_millis(100);

/// The files below sled's directory.
pub(crate) struct FileSync {
    log: File,
    blobs: PathBuf,
    synced: Mutex<Blobs>,
}

/// The blob files that were synced.
#[derive(Default)]
struct Blobs {
    names: HashSet<OsString>,
    /// The directory's time when it was listed; `None` if it may have changed since.
    listed: Option<SystemTime>,
}

impl FileSync {
    /// Syncs what an opening has written in `folder`.
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        for name in ["conf", "db"] {
            File::open(folder.join(name))?.sync_all()?;
        }
        sync_names(folder)?;
        let this = Self { log: File::open(folder.join("db"))?, blobs: folder.join("blobs"), synced: Mutex::default() };
        this.sync_blobs()?;
        Ok(this)
    }

    /// Syncs the writes of a flush.
    pub(crate) fn sync(&self) -> Result<()> {
        self.sync_blobs()?;
        self.log.sync_data()
    }

    fn sync_blobs(&self) -> Result<()> {
        let changed = match fs::metadata(&self.blobs) {
            Ok(data) => data.modified()?,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        let mut synced = self.synced.lock();
        if synced.listed == Some(changed) {
            return Ok(());
        }
        let is_settled = SystemTime::now().duration_since(changed).is_ok_and(|age| age > TICK_MAX);
        let mut names = HashSet::new();
        for entry in fs::read_dir(&self.blobs)? {
            let entry = entry?;
            let name = entry.file_name();
            if !synced.names.contains(&name) {
                match File::open(entry.path()).and_then(|blob| blob.sync_all()) {
                    // sled deletes unneeded files concurrently.
                    Err(error) if error.kind() == ErrorKind::NotFound => continue,
                    done => done?,
                }
            }
            names.insert(name);
        }
        sync_names(&self.blobs)?;
        *synced = Blobs { names, listed: is_settled.then_some(changed) };
        Ok(())
    }
}
