//! Spaces as fjall's keyspaces.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fjall::{AbstractTree, CompressionType, Database, Keyspace, KeyspaceCreateOptions, KvSeparationOptions};
use parking_lot::{Mutex, RwLock};
use saltwing_store::{Space, directory};

/// Values of this size and above are stored outside the tree.
pub(crate) const APART_BYTES: u32 = 4 << 10;
/// Approximate size of a value file: the unit that is read and rewritten when enough of it is dead.
pub(crate) const FILE_BYTES: u64 = 32 << 20;
/// Share of dead bytes from which on a file is written again. With deaths at random files are seven tenths alive on
/// average, and for a byte that dies one is written again.
pub(crate) const DEAD_SHARE: f32 = 0.5;
/// Share of these files, the oldest, that one compaction rewrites: the rewrite needs space beside them.
pub(crate) const FILES_SHARE: f32 = 0.5;

/// How a keyspace is kept.
pub(crate) fn options() -> KeyspaceCreateOptions {
    // Large values are already compressed.
    let apart = KvSeparationOptions::default()
        .compression(CompressionType::None)
        .separation_threshold(APART_BYTES)
        .file_target_size(FILE_BYTES)
        .staleness_threshold(DEAD_SHARE)
        .age_cutoff(FILES_SHARE);
    KeyspaceCreateOptions::default().with_kv_separation(Some(apart))
}

/// The keyspaces that exist, by space.
pub(crate) struct Keyspaces {
    now: RwLock<Spaces>,
    /// fjall's folder of keyspaces.
    folder: PathBuf,
    /// By keyspace, the number of the list of tables up to which its names are on the disk.
    lists_synced: Mutex<HashMap<PathBuf, u64>>,
}

/// The keyspaces of one moment.
#[derive(Clone)]
pub(crate) struct Spaces(Arc<Vec<Option<Keyspace>>>);

impl Spaces {
    /// The keyspace, where anything was written to the space since it was empty.
    pub(crate) fn get(&self, space: Space) -> Option<&Keyspace> {
        self.0.get(usize::from(space.id())).and_then(Option::as_ref)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Keyspace> {
        self.0.iter().flatten()
    }

    fn set(&mut self, space: Space, keyspace: Option<Keyspace>) {
        if let Some(place) = Arc::make_mut(&mut self.0).get_mut(usize::from(space.id())) {
            *place = keyspace;
        }
    }
}

impl Keyspaces {
    /// Those that the database has already.
    pub(crate) fn load(database: &Database, data: &Path) -> fjall::Result<Self> {
        let now = RwLock::new(Spaces(Arc::new(vec![None; usize::from(u8::MAX) + 1])));
        let keyspaces = Self { now, folder: data.join("keyspaces"), lists_synced: Mutex::default() };
        for id in 0..=u8::MAX {
            let space = Space::new(id);
            if database.keyspace_exists(&name(space)) {
                keyspaces.get_or_create(database, space)?;
            }
        }
        Ok(keyspaces)
    }

    /// The keyspace, where anything was written to the space since it was empty.
    pub(crate) fn get(&self, space: Space) -> Option<Keyspace> {
        self.now.read().get(space).cloned()
    }

    /// All of them, and what `also` gives of the same moment.
    pub(crate) fn moment<T>(&self, also: impl FnOnce() -> T) -> (Spaces, T) {
        let now = self.now.read();
        (now.clone(), also())
    }

    pub(crate) fn get_or_create(&self, database: &Database, space: Space) -> fjall::Result<Keyspace> {
        if let Some(keyspace) = self.get(space) {
            return Ok(keyspace);
        }
        // Two writers may both come here; fjall gives both the same keyspace.
        let is_new = !database.keyspace_exists(&name(space));
        let keyspace = database.keyspace(&name(space), options)?;
        if is_new {
            self.sync_new()?;
        }
        self.now.write().set(space, Some(keyspace.clone()));
        Ok(keyspace)
    }

    /// Syncs the folders of new keyspaces: fjall syncs the files in a new folder, but not the folder's name.
    pub(crate) fn sync_new(&self) -> io::Result<()> {
        directory::sync_names(&self.folder)
    }

    /// Syncs the names of new value files: fjall syncs the files, but not their folder. Each sync of the journal calls
    /// this first, so that the names are on the disk before anything that needs them is acknowledged.
    pub(crate) fn sync_names(&self) -> io::Result<()> {
        let (spaces, ()) = self.moment(|| ());
        let mut synced = self.lists_synced.lock();
        for keyspace in spaces.iter().filter(|keyspace| keyspace.is_kv_separated()) {
            let list = keyspace.tree.current_version().id();
            if synced.get(keyspace.path()) != Some(&list) {
                directory::sync_names(&keyspace.path().join("blobs"))?;
                synced.insert(keyspace.path().to_path_buf(), list);
            }
        }
        Ok(())
    }

    /// Drops a keyspace with its content; the drop is on the disk on return. The caller must prevent writes to it. The
    /// next write creates it again.
    pub(crate) fn drop_keyspace(&self, database: &Database, space: Space) -> fjall::Result<()> {
        let Some(keyspace) = self.get(space) else { return Ok(()) };
        database.delete_keyspace(keyspace)?;
        self.now.write().set(space, None);
        Ok(())
    }
}

/// `space_007`: names sort as their spaces do.
fn name(space: Space) -> String {
    format!("space_{:03}", space.id())
}
