//! The store.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use byteview::ByteView;
use fjall::{Keyspace, OwnedWriteBatch, PersistMode, Readable};
use parking_lot::RwLock;
use saltwing_store::device::Device;
use saltwing_store::directory::Directory;
use saltwing_store::group_sync::GroupSync;
use saltwing_store::watermark::{self, Found, Watermark};
use saltwing_store::{
    Access, Announced, Bytes, Capabilities, Cursor, Direction, Durability, DurabilityScope, KEY_BYTES_MAX, KeyBounds,
    LeftOut, Mutation, OpenOptions, OrderedKv, RangeCursor, Snapshot, Space, StoreError, WriteBatch, WriteStall,
};

use crate::commits::{Commits, Unwritten};
use crate::cursor::KeyspaceRange;
use crate::error::{commit_error, storage_error};
use crate::inner::Inner;
use crate::keyspaces::Spaces;
use crate::opening::{Files, Opened, open_salvage, open_whole};
use crate::reading_place::ReadingPlace;
use crate::reclaim;

/// The name under which directories and capabilities know this store.
pub const NAME: &str = "fjall";

/// The space that one merge step of about 4 MiB takes in the journal, in a value file, and when that is rewritten.
const BATCH_BYTES: u64 = 12 << 20;

static CAPABILITIES: Capabilities = Capabilities {
    name: NAME,
    snapshots: true,
    persistent: true,
    reads_without_writing: true,
    durability: DurabilityScope::Power,
    key_bytes_max: KEY_BYTES_MAX,
};

/// The time that [`OrderedKv::close`] waits for memtables to be flushed. The rest is replayed from the journal at the
/// next opening.
const CLOSE_WAIT_MAX: Duration = Duration::from_secs(30);

/// Most keys that a clear deletes one by one; if there are more, it drops the keyspace. A drop costs some syncs, and fjall
/// writes its list of keyspaces again each time, and keeps the old lists until the next opening.
const CLEAR_KEYS_MAX: usize = 16_384;
/// A cleared keyspace that holds at least this many bytes is written out, so that its journal can be deleted.
const CLEAR_BYTES_MIN: u64 = 1 << 20;

/// An ordered store in a directory, kept by fjall.
pub struct FjallStore {
    inner: Arc<Inner>,
}

/// Opens the database in the directory `path`, as the options say.
///
/// Costs the replay of the journal: little after [`OrderedKv::close`]. [`Access::ReadOnly`] makes a directory of links and copies
/// for it, among the system's temporary ones.
///
/// # Errors
/// Those of [`Directory::open`]; [`StoreError::Corrupt`] for files that cannot be
/// read; [`StoreError::Io`].
pub fn open(path: impl AsRef<Path>, options: OpenOptions) -> Result<FjallStore, StoreError> {
    let mut directory = Directory::open(path.as_ref(), NAME, options.access)?;
    let found = if directory.is_ready() { watermark::read(directory.path())? } else { Found::Missing };
    let notices = found.notice(directory.path());
    let Opened { files, place, journaled, notice, left_out } = match options.access {
        Access::Salvage => open_salvage(&directory, found, &options)?,
        _ => open_whole(&directory, found, &options)?,
    };
    let notices = notices.into_iter().chain(notice).collect();
    let Files { database, keyspaces, marks, newest } = files;
    let readonly = options.access.is_readonly();
    let home = place.as_ref().map_or(directory.path(), ReadingPlace::path).to_path_buf();
    let watermark = Watermark::open(&home, if readonly { Found::Missing } else { found })?;
    directory.set_ready()?;
    // fjall has synced its journals before it replayed them.
    watermark.acknowledge(newest).map_err(|error| StoreError::io("write", &home, error))?;
    let commits = Commits::new(marks, newest, journaled, watermark);
    let (group, device) = (GroupSync::new(options.trace), Device::with_batches_of(BATCH_BYTES));
    let writing = RwLock::default();
    let inner = Inner {
        keyspaces,
        commits,
        database,
        writing,
        group,
        device,
        readonly,
        notices,
        left_out,
        _place: place,
        directory,
    };
    Ok(FjallStore { inner: Arc::new(inner) })
}

impl FjallStore {
    /// The same batch in fjall's form, behind what it has already; makes the keyspaces that it needs.
    fn translate(&self, batch: WriteBatch, translated: &mut OwnedWriteBatch) -> fjall::Result<()> {
        let Inner { database, keyspaces, .. } = &*self.inner;
        for mutation in batch.into_mutations() {
            let keyspace = keyspaces.get_or_create(database, mutation.space())?;
            match mutation {
                Mutation::Put { key, value, .. } => {
                    translated.insert(&keyspace, ByteView::from(key), ByteView::from(value));
                }
                Mutation::Delete { key, .. } => {
                    translated.remove(&keyspace, ByteView::from(key));
                }
            }
        }
        Ok(())
    }

    /// Writes a batch to the journal, with its mark.
    fn commit(&self, batch: WriteBatch, persist: Option<PersistMode>) -> Result<(), StoreError> {
        let Inner { database, commits, .. } = &*self.inner;
        let entries = batch.len();
        match commits.write(database, persist, entries, |marked| self.translate(batch, marked)) {
            Ok(()) => Ok(()),
            Err(Unwritten::Nothing(fjall::Error::Poisoned) | Unwritten::Unknown(fjall::Error::Poisoned)) => {
                Err(self.inner.poisoned_error())
            }
            Err(Unwritten::Nothing(error)) => Err(storage_error("make a keyspace", self.inner.path(), &error)),
            Err(Unwritten::Unknown(error)) => Err(commit_error(self.inner.path(), &error)),
        }
    }

    /// All keys of a keyspace as a batch of deletes; `None` when there are many.
    fn few_deletes(&self, space: Space, keyspace: &Keyspace) -> Result<Option<WriteBatch>, StoreError> {
        let mut batch = WriteBatch::new();
        for entry in keyspace.iter() {
            // Values are not read.
            let key = entry.key().map_err(|error| storage_error("read", self.inner.path(), &error))?;
            if batch.len() == CLEAR_KEYS_MAX {
                return Ok(None);
            }
            batch.delete(space, Bytes::from(ByteView::from(key)));
        }
        Ok(Some(batch))
    }

    /// Starts writing all memory to tables, in the background. fjall can then delete the journal that it came from.
    ///
    /// Invariant: every batch in a memory that is closed here is in the journal on the disk. fjall syncs the journal before it
    /// writes memory out, but then also writes memory that was closed after that sync. Without the invariant tables could have
    /// parts of batches that a power cut took from the journal.
    fn write_out(&self) -> Result<(), StoreError> {
        let Inner { keyspaces, commits, .. } = &*self.inner;
        let _no_write = commits.hold();
        self.inner.sync_journal().map_err(|error| StoreError::io("sync", self.inner.path(), error))?;
        let (spaces, ()) = keyspaces.moment(|| ());
        for keyspace in spaces.iter().chain([commits.keyspace()]) {
            keyspace.rotate_memtable().map_err(|error| storage_error("write out", self.inner.path(), &error))?;
        }
        Ok(())
    }

    /// Waits until all memory that is to be written out is on the disk, though not for ever.
    fn wait_for_written_out(&self) {
        let started = Instant::now();
        while !self.is_written_out() && started.elapsed() < CLOSE_WAIT_MAX {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Whether all keyspaces have their memory on the disk, or never will.
    fn is_written_out(&self) -> bool {
        let (spaces, ()) = self.inner.keyspaces.moment(|| ());
        self.has_no_sealed_memory(&spaces) || self.inner.database.persist(PersistMode::Buffer).is_err()
    }
}

impl FjallStore {
    fn has_no_sealed_memory(&self, spaces: &Spaces) -> bool {
        let mut keyspaces = spaces.iter().chain([self.inner.commits.keyspace()]);
        keyspaces.all(|keyspace| keyspace.sealed_memtable_count() == 0)
    }
}

impl OrderedKv for FjallStore {
    fn capabilities(&self) -> &Capabilities {
        &CAPABILITIES
    }

    fn notices(&self) -> &[String] {
        &self.inner.notices
    }

    fn left_out(&self) -> &[LeftOut] {
        &self.inner.left_out
    }

    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        match self.inner.keyspaces.get(space) {
            Some(keyspace) if is_storable(key) => keyspace
                .get(key)
                .map(|value| value.map(|value| Bytes::from(ByteView::from(value))))
                .map_err(|error| storage_error("read", self.inner.path(), &error)),
            _ => Ok(None),
        }
    }

    fn cursor(&self, space: Space, bounds: KeyBounds, direction: Direction) -> Result<Box<dyn Cursor>, StoreError> {
        self.snapshot()?.cursor(space, bounds, direction)
    }

    fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError> {
        let (spaces, snapshot) = self.inner.keyspaces.moment(|| self.inner.database.snapshot());
        Ok(Box::new(FjallSnapshot { snapshot, spaces, inner: self.inner.clone() }))
    }

    fn write(&self, batch: WriteBatch, durability: Durability) -> Result<(), StoreError> {
        self.inner.refuse_readonly()?;
        batch.check(&CAPABILITIES)?;
        self.inner.refuse_poisoned()?;
        if durability == Durability::Synced && batch.is_empty() {
            return self.sync();
        }
        if batch.is_empty() {
            return Ok(());
        }
        let writing = self.inner.writing.read();
        match durability {
            Durability::Synced => {
                let round = self.inner.group.enter();
                self.commit(batch, None)?;
                drop(writing);
                let synced = round.wait(|| self.inner.sync_journal());
                synced.map_err(|error| StoreError::io("write", self.inner.path(), error).of_commit())
            }
            // To the operating system, so that only its own crash can take it.
            Durability::Buffered => self.commit(batch, Some(PersistMode::Buffer)),
        }
    }

    fn clear(&self, space: Space) -> Result<(), StoreError> {
        self.inner.refuse_readonly()?;
        let Some(keyspace) = self.inner.keyspaces.get(space) else { return Ok(()) };
        if let Some(deletes) = self.few_deletes(space, &keyspace)? {
            let held = reclaim::bytes_held(&keyspace);
            self.write(deletes, Durability::Buffered)?;
            return if held >= CLEAR_BYTES_MIN { self.write_out() } else { Ok(()) };
        }
        drop(keyspace);
        // Dropping a keyspace reaches the disk at once. Earlier acknowledged writes must be there before: no crash may keep the
        // drop and lose them.
        self.sync()?;
        {
            let _alone = self.inner.writing.write();
            self.inner.keyspaces.drop_keyspace(&self.inner.database, space).map_err(|error| {
                // The keyspace may or may not exist after the next opening. The store takes no more writes, since they could be lost.
                let error = storage_error("clear", self.inner.path(), &error);
                self.inner.group.give_up(&error);
                error
            })?;
        }
        // Most of the journal belongs to the dropped keyspace: write the rest out, so that fjall can delete the journal.
        self.write_out()
    }

    fn reclaim(&self, _: WriteStall) -> Result<(), StoreError> {
        self.inner.refuse_readonly()?;
        self.inner.refuse_poisoned()?;
        let failed = |error: fjall::Error| storage_error("reclaim", self.inner.path(), &error);
        let (spaces, ()) = self.inner.keyspaces.moment(|| ());
        // Memory that is being written out counts neither as memory nor as files: wait for it, so that the sizes are right.
        if !self.has_no_sealed_memory(&spaces) {
            self.wait_for_written_out();
        }
        let large: Vec<_> = spaces.iter().filter(|keyspace| reclaim::is_large(keyspace)).collect();
        if large.is_empty() {
            return Ok(());
        }
        // A compaction drops a deleted value only if the tombstone is in a table, too: memory is written out first. This covers
        // all keyspaces, not only the large ones. A journal stays until all its keyspaces are written out, and the compaction may
        // drop the entries that say how far this keyspace was: recovery could then not tell which of the journal's batches it has.
        self.write_out()?;
        self.wait_for_written_out();
        let sync_names =
            || self.inner.keyspaces.sync_names().map_err(|error| StoreError::io("sync", self.inner.path(), error));
        sync_names()?;
        let mut is_any_compacted = false;
        for keyspace in large {
            is_any_compacted |= reclaim::reclaim(keyspace).map_err(failed)?;
        }
        if is_any_compacted {
            sync_names()?;
            reclaim::let_files_go(&self.inner.database, &self.inner.keyspaces, &self.inner.commits).map_err(failed)?;
        }
        Ok(())
    }

    fn room(&self) -> Option<u64> {
        // Rows in memory will need disk space later.
        let free = self.inner.device.room(self.inner.path())?;
        Some(free.saturating_sub(self.inner.database.write_buffer_size()))
    }

    fn place(&self) -> PathBuf {
        self.inner.path().to_path_buf()
    }

    fn sync(&self) -> Result<(), StoreError> {
        if self.inner.readonly { Ok(()) } else { self.announce().wait() }
    }

    fn announce(&self) -> Announced<'_> {
        let inner = &self.inner;
        let announced = inner.group.announce(inner.path(), || inner.sync_journal());
        // A write that failed earlier shows here as fjall's refusal to sync.
        announced.map_err(|error| match error {
            StoreError::Poisoned { .. } => inner.poisoned_error(),
            _ if inner.group.has_given_up() => inner.poisoned_error(),
            other => other,
        })
    }

    fn close(&self) -> Result<(), StoreError> {
        self.sync()?;
        if self.inner.readonly {
            return Ok(());
        }
        let newest = self.inner.commits.written();
        self.write_out()?;
        self.wait_for_written_out();
        let (spaces, ()) = self.inner.keyspaces.moment(|| ());
        self.inner.keyspaces.sync_names().map_err(|error| StoreError::io("sync", self.inner.path(), error))?;
        if self.has_no_sealed_memory(&spaces) && self.inner.refuse_poisoned().is_ok() {
            self.inner.commits.settle(newest)?;
        }
        Ok(())
    }
}

/// One moment of all keyspaces. The database goes last.
struct FjallSnapshot {
    snapshot: fjall::Snapshot,
    spaces: Spaces,
    inner: Arc<Inner>,
}

impl Snapshot for FjallSnapshot {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        match self.spaces.get(space) {
            Some(keyspace) if is_storable(key) => self
                .snapshot
                .get(keyspace, key)
                .map(|value| value.map(|value| Bytes::from(ByteView::from(value))))
                .map_err(|error| storage_error("read", self.inner.path(), &error)),
            _ => Ok(None),
        }
    }

    fn cursor(&self, space: Space, bounds: KeyBounds, direction: Direction) -> Result<Box<dyn Cursor>, StoreError> {
        let range = KeyspaceRange::new(self.inner.clone(), self.snapshot.clone(), self.spaces.get(space).cloned());
        Ok(Box::new(RangeCursor::new(range, bounds, direction)))
    }
}

/// Whether a key can be there at all; fjall panics on look-ups of longer ones.
fn is_storable(key: &[u8]) -> bool {
    !key.is_empty() && key.len() <= KEY_BYTES_MAX
}
