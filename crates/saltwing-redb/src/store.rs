//! The store.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};

use parking_lot::{Mutex, RwLock};
use redb::ReadTransaction;
use saltwing_store::device::Device;
use saltwing_store::directory::Directory;
use saltwing_store::group_sync::GroupSync;
use saltwing_store::watermark::{self, Found, Watermark};
use saltwing_store::{
    Announced, Bytes, Capabilities, Cursor, Direction, Durability, DurabilityScope, KEY_BYTES_MAX, KeyBounds, LeftOut,
    OpenOptions, OrderedKv, Snapshot, Space, StoreError, WaitStats, Waits, WriteBatch, WriteStall,
};

use crate::cursor::cursor;
use crate::inner::Inner;
use crate::opening::{Opened, Opening};
use crate::space::TableNames;

/// The name under which directories and capabilities know this store.
pub const NAME: &str = "redb";

static CAPABILITIES: Capabilities = Capabilities {
    name: NAME,
    snapshots: true,
    persistent: true,
    reads_without_writing: true,
    durability: DurabilityScope::Power,
    key_bytes_max: KEY_BYTES_MAX,
};

/// The space that one merge step of about 4 MiB takes in the journal and in redb's pages.
const BATCH_BYTES: u64 = 12 << 20;
/// An ordered store in a directory, kept by redb.
pub struct RedbStore {
    inner: Arc<Inner>,
}

/// Opens the database in the directory `path`, as the options say.
///
/// Costs a few reads after [`OrderedKv::close`], and else the replay of the journal: up to 64 MiB of batches. With
/// [`Access::ReadOnly`](saltwing_store::Access::ReadOnly) the replay stays in memory.
///
/// # Errors
/// Those of [`Directory::open`]; [`StoreError::Corrupt`] for unreadable files, or files without synced batches;
/// [`StoreError::Io`].
pub fn open(path: impl AsRef<Path>, options: OpenOptions) -> Result<RedbStore, StoreError> {
    let mut directory = Directory::open(path.as_ref(), NAME, options.access)?;
    let found = match watermark::read(directory.path())? {
        _ if !directory.is_ready() => Found::Missing,
        // No release has made databases without one.
        Found::Missing => Found::Damaged,
        found => found,
    };
    let names = TableNames::new();
    let readonly = options.access.is_readonly();
    let opening = Opening { directory: &directory, options: &options, acknowledged: found.acknowledged() };
    let Opened { pages, database, damages, above, writer, notice, left_out } = opening.run(&names)?;
    let failed = |error| StoreError::io("open", directory.path(), error);
    let journal_file = writer.journal.file().map_err(failed)?;
    let mut watermark = None;
    if !readonly {
        let opened = Watermark::open(directory.path(), found)?;
        opened.acknowledge(writer.journal.newest()).map_err(failed)?;
        watermark = Some(opened);
    }
    directory.set_ready()?;
    let inner = Inner {
        database: RwLock::new(database),
        writer: Mutex::new(writer),
        pages,
        journal_file,
        names,
        group: GroupSync::new(options.trace),
        watermark,
        device: Device::with_batches_of(BATCH_BYTES),
        has_unapplied: AtomicBool::new(false),
        waiting_bytes: AtomicU64::new(0),
        checkpoints: Waits::default(),
        damages,
        above,
        readonly,
        notices: found.notice(directory.path()).into_iter().chain(notice).collect(),
        left_out,
        directory,
    };
    Ok(RedbStore { inner: Arc::new(inner) })
}

impl OrderedKv for RedbStore {
    fn capabilities(&self) -> &Capabilities {
        &CAPABILITIES
    }

    fn notices(&self) -> &[String] {
        &self.inner.notices
    }

    fn left_out(&self) -> &[LeftOut] {
        &self.inner.left_out
    }

    fn damages(&self) -> Vec<LeftOut> {
        self.inner.damages.list()
    }

    fn checkpoints(&self) -> WaitStats {
        self.inner.checkpoints.stats()
    }

    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        let inner = &self.inner;
        let transaction = inner.begin_read()?;
        inner.get(&transaction, space, key)
    }

    fn cursor(&self, space: Space, bounds: KeyBounds, direction: Direction) -> Result<Box<dyn Cursor>, StoreError> {
        cursor(&self.inner, &self.inner.begin_read()?, space, bounds, direction)
    }

    fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError> {
        Ok(Box::new(RedbSnapshot { transaction: self.inner.begin_read()?, inner: self.inner.clone() }))
    }

    fn write(&self, batch: WriteBatch, durability: Durability) -> Result<(), StoreError> {
        let inner = &self.inner;
        inner.refuse_writes()?;
        batch.check(&CAPABILITIES)?;
        let write = |batch: WriteBatch| match batch.is_empty() {
            true => Ok(()),
            false => inner.commit(batch),
        };
        match durability {
            Durability::Buffered => write(batch),
            Durability::Synced => {
                let round = inner.group.enter();
                write(batch)?;
                let synced = round.wait(|| inner.sync_journal());
                synced.map_err(|error| StoreError::io("write", inner.path(), error).of_commit())
            }
        }
    }

    fn clear(&self, space: Space) -> Result<(), StoreError> {
        let inner = &self.inner;
        inner.refuse_writes()?;
        // A batch like others: none that is on the disk leaves one before it out.
        let mut batch = WriteBatch::new();
        batch.delete(space, b"");
        inner.commit(batch)
    }

    fn reclaim(&self, stall: WriteStall) -> Result<(), StoreError> {
        let inner = &self.inner;
        inner.refuse_writes()?;
        // Moving pages reads all of them.
        if inner.damages.is_any() {
            return Ok(());
        }
        let mut writer = inner.writer.lock();
        // So that the live bytes are known.
        inner.write(|| inner.apply_all(&mut writer))?;
        let is_worth = inner.is_worth_compacting(&writer, stall);
        if !is_worth.map_err(|error| StoreError::io("reclaim", inner.path(), error))? {
            return Ok(());
        }
        // Pages that were freed since the last durable commit are not free before the next one.
        inner.end_round(&mut writer)?;
        inner.compact(&mut writer)
    }

    fn room(&self) -> Option<u64> {
        self.inner.room()
    }

    fn place(&self) -> PathBuf {
        self.inner.path().to_path_buf()
    }

    fn sync(&self) -> Result<(), StoreError> {
        if self.inner.readonly { Ok(()) } else { self.announce().wait() }
    }

    fn announce(&self) -> Announced<'_> {
        let inner = &self.inner;
        inner.group.announce(inner.path(), || inner.sync_journal())
    }

    fn close(&self) -> Result<(), StoreError> {
        self.sync()?;
        self.inner.close(&mut self.inner.writer.lock())
    }
}

/// A snapshot of all tables. The database is dropped last.
struct RedbSnapshot {
    transaction: ReadTransaction,
    inner: Arc<Inner>,
}

impl Snapshot for RedbSnapshot {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        self.inner.get(&self.transaction, space, key)
    }

    fn cursor(&self, space: Space, bounds: KeyBounds, direction: Direction) -> Result<Box<dyn Cursor>, StoreError> {
        cursor(&self.inner, &self.transaction, space, bounds, direction)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use saltwing_store::Access;

    use super::*;

    /// A batch that could not be applied is acknowledged all the same: no read may pass over it.
    #[test]
    fn reads_are_refused_once_batches_failed_to_be_applied() {
        let home = tempfile::tempdir().unwrap();
        let options = OpenOptions { access: Access::Create, cache_bytes: 1 << 20, trace: None };
        let store = open(home.path().join("db"), options).unwrap();
        let space = Space::new(7);
        let mut batch = WriteBatch::new();
        batch.put(space, b"k", b"v");
        store.write(batch, Durability::Buffered).unwrap();
        assert!(store.inner.has_unapplied.load(Ordering::Acquire));
        assert_eq!(store.get(space, b"k").unwrap().as_deref(), Some(&b"v"[..]));
        assert!(!store.inner.has_unapplied.load(Ordering::Acquire), "the read has applied it");
        store.inner.has_unapplied.store(true, Ordering::Release);
        store.inner.group.give_up(&std::io::Error::other("the device is gone"));
        let refused = |error: Option<StoreError>| matches!(error, Some(StoreError::Poisoned { .. }));
        assert!(refused(store.get(space, b"k").err()) && refused(store.snapshot().err()));
    }

    /// Reads at the same time: one of them applies the batches, and the others do not overtake it.
    #[test]
    fn each_read_has_what_was_acknowledged_before_it() {
        const WRITES: u64 = 3_000;
        let home = tempfile::tempdir().unwrap();
        let options = OpenOptions { access: Access::Create, cache_bytes: 1 << 20, trace: None };
        let store = open(home.path().join("db"), options).unwrap();
        let (space, acknowledged) = (Space::new(7), AtomicU64::new(0));
        let write = |number: u64| {
            let mut batch = WriteBatch::new();
            batch.put(space, number.to_be_bytes(), b"v");
            store.write(batch, Durability::Buffered).unwrap();
            acknowledged.store(number, Ordering::SeqCst);
        };
        write(0);
        let read = || {
            let mut number = 0;
            while number < WRITES {
                number = acknowledged.load(Ordering::SeqCst);
                let key = number.to_be_bytes();
                assert!(store.get(space, &key).unwrap().is_some(), "{number} is missing");
            }
        };
        std::thread::scope(|scope| {
            let readers: Vec<_> = (0..3).map(|_| scope.spawn(read)).collect();
            (1..=WRITES).for_each(write);
            readers.into_iter().for_each(|reader| reader.join().unwrap());
        });
    }
}
