//! The store.

use std::fs::File;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::{Mutex, RwLock};
use redb::{CompactionError, Database, ReadTransaction, ReadableDatabase};
use saltwing_store::device::{self, Device};
use saltwing_store::directory::Directory;
use saltwing_store::group_sync::GroupSync;
use saltwing_store::watermark::{self, Found, Watermark};
use saltwing_store::{
    Announced, AtomicScope, Bytes, Capabilities, Cursor, Direction, Durability, DurabilityScope, KEY_BYTES_MAX,
    KeyBounds, LeftOut, OpenOptions, OrderedKv, RangeCursor, Snapshot, Space, StoreError, WriteBatch,
};

use crate::cursor::TableRange;
use crate::error::{commit_error, storage_error};
use crate::journal::{Journal, ROUND_BYTES_MAX};
use crate::opening::{Replayed, commit_durably, open_pages, replay};
use crate::space::{LiveBytes, SpaceTables, TableNames, apply};

/// The name under which directories and capabilities know this store.
pub const NAME: &str = "redb";

static CAPABILITIES: Capabilities = Capabilities {
    name: NAME,
    atomic: AtomicScope::Batch,
    snapshots: true,
    persistent: true,
    reads_without_writing: true,
    durability: DurabilityScope::Power,
    key_bytes_max: KEY_BYTES_MAX,
};

/// The file is compacted when it takes so many bytes more than twice what lives. What compacting writes is at most what
/// lives, and so at most what is gained.
const GAIN_BYTES_MIN: u64 = 1 << 20;
/// On a full device it is when it takes so much more than what lives: a part of that.
const SLACK_PART: u64 = 4;

/// Where the device is nearly full a round is a part of what is free, and no less than so many bytes.
const ROUND_ROOM_PART: u64 = 8;
const ROUND_BYTES_MIN: u64 = 256 << 10;
/// What one step of a merge writes, some 4 MiB, takes in the journal and in redb's pages.
const BATCH_BYTES: u64 = 12 << 20;
/// Bytes that redb may have to write for a byte of a batch: pages of which it fills a part, and their parents.
const BYTES_PER_WAITING: u64 = 4;

/// An ordered store in a directory, kept by redb.
pub struct RedbStore {
    inner: Arc<Inner>,
}

/// What the store, its cursors and its snapshots share. Fields drop in order: the lock goes when the database has
/// closed its file.
pub(crate) struct Inner {
    /// Locked alone while its file is compacted.
    database: RwLock<Database>,
    /// Locked while a batch goes into the journal and into redb, so that both have the same order.
    writer: Mutex<Writer>,
    /// The file of pages, for its size.
    pages: File,
    /// The journal's file, to be synced beside writers.
    journal_file: File,
    names: TableNames,
    group: GroupSync,
    /// `None` for a reader.
    watermark: Option<Watermark>,
    device: Device,
    /// Bytes of batches that redb has not brought to the disk.
    waiting_bytes: AtomicU64,
    /// The damage that was met first. redb takes no call after it, and says no more about it.
    damage: OnceLock<String>,
    readonly: bool,
    notices: Vec<String>,
    left_out: Vec<LeftOut>,
    directory: Directory,
}

/// What writes need.
pub(crate) struct Writer {
    pub(crate) journal: Journal,
    pub(crate) live: LiveBytes,
    /// Bytes that lived when the file was compacted last.
    pub(crate) compacted: u64,
}

impl Inner {
    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Runs calls of redb's that read.
    pub(crate) fn read<T>(&self, call: impl FnOnce() -> Result<T, redb::Error>) -> Result<T, StoreError> {
        self.guarded(call, |error| storage_error("read", self.path(), error))
    }

    /// Runs calls of redb's that write; after an error nothing more is written.
    fn write<T>(&self, call: impl FnOnce() -> Result<T, redb::Error>) -> Result<T, StoreError> {
        self.guarded(call, |error| commit_error(self.path(), error)).inspect_err(|error| self.group.give_up(error))
    }

    /// Runs calls of redb's. One that panics has met what its file should not hold.
    fn guarded<T>(
        &self,
        call: impl FnOnce() -> Result<T, redb::Error>,
        translate: impl FnOnce(redb::Error) -> StoreError,
    ) -> Result<T, StoreError> {
        let corrupt = |why: &String| StoreError::Corrupt { path: self.path().to_path_buf(), why: why.clone() };
        // What a panic leaves half changed is redb's own, which says so from then on.
        let error = match catch_unwind(AssertUnwindSafe(call)) {
            Ok(Ok(done)) => return Ok(done),
            Ok(Err(error)) => translate(error),
            Err(panic) => {
                let said = panic.downcast_ref::<String>().map(String::as_str);
                let said = said.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("redb gave up");
                corrupt(&said.to_owned())
            }
        };
        match error {
            StoreError::Corrupt { why, .. } => Err(corrupt(self.damage.get_or_init(|| why))),
            StoreError::Poisoned { .. } if let Some(why) = self.damage.get() => Err(corrupt(why)),
            other => Err(other),
        }
    }

    fn get(&self, transaction: &ReadTransaction, space: Space, key: &[u8]) -> Result<Option<Bytes>, redb::Error> {
        match SpaceTables::open(&self.names, transaction, space)? {
            Some(tables) => tables.get(key),
            None => Ok(None),
        }
    }

    /// Writes a batch to the journal and to redb. It is on the disk after the next sync of the journal.
    fn commit(&self, batch: WriteBatch) -> Result<(), StoreError> {
        let mut writer = self.writer.lock();
        let Writer { journal, live, .. } = &mut *writer;
        self.write(|| {
            journal.append(&batch, self.watermark.as_ref().map_or(0, Watermark::acknowledged))?;
            let mut transaction = self.database.read().begin_write()?;
            transaction.set_durability(redb::Durability::None)?;
            apply(&self.names, &transaction, batch, live)?;
            Ok(transaction.commit()?)
        })?;
        self.waiting_bytes.store(journal.bytes(), Ordering::Relaxed);
        match journal.bytes() >= self.round_bytes_max() {
            true => self.end_round(&mut writer),
            false => Ok(()),
        }
    }

    /// Bytes of batches from which on redb commits durably, and the journal begins anew: less where there is little room
    /// for a journal, and for what redb has in memory.
    fn round_bytes_max(&self) -> u64 {
        let room = self.device.room(self.path()).unwrap_or(u64::MAX);
        (room / ROUND_ROOM_PART).clamp(ROUND_BYTES_MIN, ROUND_BYTES_MAX)
    }

    /// Bytes free beside the reserve and what redb has in memory, which takes its room on the disk later.
    fn room(&self) -> Option<u64> {
        let waiting = self.waiting_bytes.load(Ordering::Relaxed);
        Some(self.device.room(self.path())?.saturating_sub(waiting.saturating_mul(BYTES_PER_WAITING)))
    }

    /// Whether compacting the file is worth what it costs.
    fn is_worth_compacting(&self, writer: &Writer) -> io::Result<bool> {
        let (taken, live) = (device::taken(&self.pages)?, writer.live.total());
        let is_worth = |bytes: u64| taken >= bytes + GAIN_BYTES_MIN;
        // Not for the same again, where pages that are filled in part are all that there is to gain.
        let is_any_dead_since = live + GAIN_BYTES_MIN <= writer.compacted;
        let is_full = || self.room() == Some(0);
        let is_worth = is_worth(2 * live) || is_any_dead_since && is_worth(live + live / SLACK_PART) && is_full();
        Ok(is_worth && self.has_room_to_compact(live)?)
    }

    /// Whether the device has room for what is moved: pages come to lie at the start of the file, where some were never
    /// written, before its end is cut off.
    fn has_room_to_compact(&self, live: u64) -> io::Result<bool> {
        let Some(free) = self.device.free(self.path()) else { return Ok(true) };
        let unwritten = device::unwritten(&self.pages, live + live / SLACK_PART)?;
        Ok(unwritten + unwritten / SLACK_PART <= free)
    }

    /// Has redb bring all batches to the disk, so that the journal can begin anew.
    fn end_round(&self, writer: &mut Writer) -> Result<(), StoreError> {
        self.write(|| {
            commit_durably(self.database.read().begin_write()?, writer)?;
            Ok(writer.journal.begin_round(self.round_bytes_max())?)
        })?;
        self.waiting_bytes.store(0, Ordering::Relaxed);
        Ok(())
    }

    /// Leaves nothing to be replayed.
    fn close(&self, writer: &mut Writer) -> Result<(), StoreError> {
        if self.readonly {
            return Ok(());
        }
        if !writer.journal.is_empty() {
            self.end_round(writer)?;
        }
        self.write(|| Ok(writer.journal.shrink()?))
    }

    /// Has redb move its last pages to free places, and cut the file behind them.
    fn compact(&self, writer: &mut Writer) -> Result<(), StoreError> {
        let mut database = self.database.write();
        let is_compacted = self.write(|| match database.compact() {
            Ok(_) => Ok(true),
            // Somebody reads; there will be another time.
            Err(CompactionError::TransactionInProgress) => Ok(false),
            Err(error) => Err(error.into()),
        })?;
        drop(database);
        if is_compacted {
            writer.compacted = writer.live.total();
        }
        // What opening needs to know of free pages.
        self.end_round(writer)?;
        self.device.ask_anew();
        Ok(())
    }

    /// Brings all batches to the disk that were written before this call.
    fn sync_journal(&self) -> io::Result<()> {
        let newest = self.writer.lock().journal.newest();
        self.journal_file.sync_data()?;
        self.watermark.as_ref().map_or(Ok(()), |watermark| watermark.acknowledge(newest))
    }

    fn refuse_writes(&self) -> Result<(), StoreError> {
        if self.readonly {
            return Err(StoreError::ReadOnly { path: self.path().to_path_buf() });
        }
        self.group.refuse_failed(self.path())
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Else the next opening replays the journal.
        if self.group.failure().is_none() {
            let _ = self.close(&mut self.writer.lock());
        }
    }
}

/// Opens the database in the directory `path`, as the options say.
///
/// Costs a few reads after [`OrderedKv::close`], and else the replay of the journal: up to 64 MiB of batches. With
/// [`Access::ReadOnly`](saltwing_store::Access::ReadOnly) the replay stays in memory.
///
/// # Errors
/// Those of [`Directory::open`]; [`StoreError::Corrupt`] for files that cannot be read, or that lack what was synced;
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
    let (pages, database) = open_pages(&directory, readonly, options.cache_bytes)?;
    let Replayed { writer, notice, left_out } =
        replay(&directory, options.access, &names, &database, found.marks().acknowledged)?;
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
        waiting_bytes: AtomicU64::new(0),
        damage: OnceLock::new(),
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

    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        let inner = &self.inner;
        inner.read(|| inner.get(&inner.database.read().begin_read()?, space, key))
    }

    fn cursor(&self, space: Space, bounds: KeyBounds, direction: Direction) -> Result<Box<dyn Cursor>, StoreError> {
        let inner = &self.inner;
        let tables = inner.read(|| SpaceTables::open(&inner.names, &inner.database.read().begin_read()?, space))?;
        Ok(Box::new(RangeCursor::new(TableRange::new(inner.clone(), tables), bounds, direction)))
    }

    fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError> {
        let transaction = self.inner.read(|| Ok(self.inner.database.read().begin_read()?))?;
        Ok(Box::new(RedbSnapshot { transaction, inner: self.inner.clone() }))
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

    fn reclaim(&self) -> Result<(), StoreError> {
        let inner = &self.inner;
        inner.refuse_writes()?;
        let mut writer = inner.writer.lock();
        let is_worth = inner.is_worth_compacting(&writer);
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

/// One moment of all tables. The database goes last.
struct RedbSnapshot {
    transaction: ReadTransaction,
    inner: Arc<Inner>,
}

impl Snapshot for RedbSnapshot {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        self.inner.read(|| self.inner.get(&self.transaction, space, key))
    }

    fn cursor(&self, space: Space, bounds: KeyBounds, direction: Direction) -> Result<Box<dyn Cursor>, StoreError> {
        let tables = self.inner.read(|| SpaceTables::open(&self.inner.names, &self.transaction, space))?;
        Ok(Box::new(RangeCursor::new(TableRange::new(self.inner.clone(), tables), bounds, direction)))
    }
}
