//! The store.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use saltwing_store::directory::{Directory, guard_opening};
use saltwing_store::group_sync::GroupSync;
use saltwing_store::{
    Announced, Bytes, Capabilities, Cursor, Direction, Durability, DurabilityScope, KEY_BYTES_MAX, KeyBounds, Mutation,
    OpenOptions, OrderedKv, RangeCursor, Snapshot, Space, StoreError, WriteBatch,
};

use crate::cursor::SpaceRange;
use crate::error::{commit_error, storage_error};
use crate::file_sync::FileSync;
use crate::inner::Inner;
use crate::space_key;

/// The name under which directories and capabilities know this store.
pub const NAME: &str = "sled";

static CAPABILITIES: Capabilities = Capabilities {
    name: NAME,
    snapshots: false,
    persistent: true,
    reads_without_writing: false,
    durability: DurabilityScope::Process,
    key_bytes_max: KEY_BYTES_MAX,
};

/// How long an opening waits for sled's own lock. We hold the directory by then, so
/// only a thread of an earlier handle that has yet to end can still have it.
const SLED_LOCK_WAIT_MAX: Duration = Duration::from_secs(5);

/// Keys that a clear deletes at once.
const CLEAR_BATCH_KEYS: usize = 1_000;

/// An ordered store in a directory, kept by sled.
pub struct SledStore {
    inner: Arc<Inner>,
}

/// Opens the database in the directory `path`, as the options say.
///
/// sled reads much of its log to open, and writes to it, so the directory is locked exclusively for every access.
///
/// # Errors
/// Those of [`Directory::open_alone`]; [`StoreError::Corrupt`] for files that cannot be
/// read; [`StoreError::Io`].
pub fn open(path: impl AsRef<Path>, options: OpenOptions) -> Result<SledStore, StoreError> {
    let mut directory = Directory::open_alone(path.as_ref(), NAME, options.access)?;
    let config = sled::Config::new().path(directory.data_path()).cache_capacity(options.cache_bytes);
    let database = guard_opening(directory.path(), || {
        open_sled(&config).map_err(|error| storage_error("open", directory.path(), error))
    })?;
    let files = FileSync::open(&directory.data_path())
        .map_err(|error| StoreError::io("sync", &directory.data_path(), error))?;
    directory.set_ready()?;
    let inner = Inner {
        database,
        files,
        group: GroupSync::new(options.trace),
        readonly: options.access.is_readonly(),
        directory,
    };
    Ok(SledStore { inner: Arc::new(inner) })
}

fn open_sled(config: &sled::Config) -> sled::Result<sled::Db> {
    let started = Instant::now();
    loop {
        match config.open() {
            // There is no other mark on this error than its text.
            Err(sled::Error::Io(error))
                if error.to_string().contains("could not acquire lock") && started.elapsed() < SLED_LOCK_WAIT_MAX =>
            {
                std::thread::sleep(Duration::from_millis(2));
            }
            opened => return opened,
        }
    }
}

impl SledStore {
    fn apply(&self, batch: WriteBatch) -> Result<(), StoreError> {
        let mut translated = sled::Batch::default();
        for mutation in batch.into_mutations() {
            match mutation {
                Mutation::Put { space, key, value } => {
                    translated.insert(&*space_key::encode(space, &key), &*value);
                }
                Mutation::Delete { space, key } => {
                    translated.remove(&*space_key::encode(space, &key));
                }
            }
        }
        self.inner.database.apply_batch(translated).map_err(|error| {
            let error = commit_error(self.inner.path(), error);
            self.inner.group.give_up(&error);
            error
        })
    }
}

impl OrderedKv for SledStore {
    fn capabilities(&self) -> &Capabilities {
        &CAPABILITIES
    }

    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        self.inner
            .database
            .get(space_key::encode(space, key))
            .map(|value| value.map(|value| Bytes::new(&value)))
            .map_err(|error| storage_error("read", self.inner.path(), error))
    }

    fn cursor(&self, space: Space, bounds: KeyBounds, direction: Direction) -> Result<Box<dyn Cursor>, StoreError> {
        let range = SpaceRange::new(self.inner.clone(), space);
        Ok(Box::new(RangeCursor::new(range, bounds, direction)))
    }

    fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError> {
        Err(StoreError::NotSupported { what: "snapshots", store: NAME })
    }

    fn write(&self, batch: WriteBatch, durability: Durability) -> Result<(), StoreError> {
        if self.inner.readonly {
            return Err(StoreError::ReadOnly { path: self.inner.path().to_path_buf() });
        }
        batch.check(&CAPABILITIES)?;
        self.inner.group.refuse_failed(self.inner.path())?;
        match durability {
            Durability::Buffered => self.apply(batch),
            Durability::Synced => {
                let round = self.inner.group.enter();
                self.apply(batch)?;
                round
                    .wait(|| self.inner.flush())
                    .map_err(|error| commit_error(self.inner.path(), sled::Error::Io(error)))
            }
        }
    }

    fn clear(&self, space: Space) -> Result<(), StoreError> {
        // One tree has all spaces, so keys are deleted one by one. sled's log keeps the order of writes, so no crash
        // keeps a delete and loses an earlier write.
        let mut cursor = self.cursor(space, KeyBounds::all(), Direction::Forward)?;
        loop {
            let mut batch = WriteBatch::new();
            while batch.len() < CLEAR_BATCH_KEYS
                && let Some((key, _)) = cursor.next()?
            {
                batch.delete(space, key);
            }
            let is_last = batch.len() < CLEAR_BATCH_KEYS;
            self.write(batch, Durability::Buffered)?;
            if is_last {
                return Ok(());
            }
        }
    }

    fn sync(&self) -> Result<(), StoreError> {
        self.announce().wait()
    }

    fn announce(&self) -> Announced<'_> {
        let inner = &self.inner;
        inner.group.announce(inner.path(), || inner.flush())
    }
}
