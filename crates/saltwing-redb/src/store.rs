//! The store.

use std::fs::{self, File};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::{Mutex, RwLock};
use redb::{
    CompactionError, Database, ReadTransaction, ReadableDatabase, StorageBackend, TableDefinition, TableError,
    WriteTransaction,
};
use saltwing_store::directory::{Directory, Found, guard_opening, inspect};
use saltwing_store::group_sync::{GroupSync, Round};
use saltwing_store::{
    Access, Announced, AtomicScope, Bytes, Capabilities, Cursor, Direction, Durability, DurabilityScope, KEY_BYTES_MAX,
    KeyBounds, OpenOptions, OrderedKv, RangeCursor, Snapshot, Space, StoreError, WriteBatch,
};

use crate::cursor::TableRange;
use crate::error::{commit_error, storage_error};
use crate::journal::Journal;
use crate::page_file::PageFile;
use crate::read_pages::ReadPages;
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

/// The file in the directory's `data`.
const PAGES: &str = "pages";

/// Where redb keeps the number of the first batch that only the journal has.
const JOURNAL: TableDefinition<&str, u64> = TableDefinition::new("journal");
const BASE: &str = "base";

/// The file is compacted when it takes so many bytes more than twice what lives. What compacting writes is at most what
/// lives, and so at most what is gained.
const GAIN_BYTES_MIN: u64 = 1 << 20;

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
    /// A write or a sync has failed: what is on the disk is not known.
    failed: AtomicBool,
    /// The damage that was met first. redb takes no call after it, and says no more about it.
    damage: OnceLock<String>,
    readonly: bool,
    directory: Directory,
}

/// What writes need.
struct Writer {
    journal: Journal,
    live: LiveBytes,
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
        let done = self.guarded(call, |error| commit_error(self.path(), error));
        if done.is_err() {
            self.failed.store(true, Ordering::SeqCst);
        }
        done
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
        let Writer { journal, live } = &mut *writer;
        self.write(|| {
            journal.append(&batch)?;
            let mut transaction = self.database.read().begin_write()?;
            transaction.set_durability(redb::Durability::None)?;
            apply(&self.names, &transaction, batch, live)?;
            Ok(transaction.commit()?)
        })?;
        match journal.is_full() {
            true => self.end_round(&mut writer),
            false => Ok(()),
        }
    }

    /// Has redb bring all batches to the disk, so that the journal can begin anew.
    fn end_round(&self, writer: &mut Writer) -> Result<(), StoreError> {
        self.write(|| {
            commit_durably(self.database.read().begin_write()?, writer)?;
            Ok(writer.journal.begin_round()?)
        })
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
        self.write(|| match database.compact() {
            Ok(_) => Ok(()),
            // Somebody reads; there will be another time.
            Err(CompactionError::TransactionInProgress) => Ok(()),
            Err(error) => Err(error.into()),
        })?;
        drop(database);
        // What opening needs to know of free pages.
        self.end_round(writer)
    }

    /// Brings all batches to the disk that were written before this call.
    fn sync_journal(&self) -> io::Result<()> {
        let newest = self.writer.lock().journal.newest();
        self.journal_file.sync_data()?;
        self.writer.lock().journal.acknowledge(newest)
    }

    /// Waits for the sync of a round.
    fn wait_for_sync(&self, round: Round<'_>) -> Result<(), StoreError> {
        self.refuse_poisoned()?;
        round.wait(|| self.sync_journal()).map_err(|error| StoreError::io("sync", self.path(), error))
    }

    /// After the first failure everybody is told to open again.
    fn refuse_poisoned(&self) -> Result<(), StoreError> {
        if self.failed.load(Ordering::SeqCst) || self.group.has_failed() {
            return Err(StoreError::Poisoned { path: self.path().to_path_buf() });
        }
        Ok(())
    }

    fn refuse_writes(&self) -> Result<(), StoreError> {
        if self.readonly {
            return Err(StoreError::ReadOnly { path: self.path().to_path_buf() });
        }
        self.refuse_poisoned()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Else the next opening replays the journal.
        if !self.failed.load(Ordering::SeqCst) && !self.group.has_failed() {
            let _ = self.close(&mut self.writer.lock());
        }
    }
}

/// Opens the database in the directory `path`, as the options say.
///
/// Costs a few reads after [`OrderedKv::close`], and else the replay of the journal: up to 64 MiB of batches. With
/// [`Access::ReadOnly`] the replay stays in memory.
///
/// # Errors
/// Those of [`Directory::open`]; [`StoreError::Corrupt`] for files that cannot be read, or that lack what was synced;
/// [`StoreError::Io`].
pub fn open(path: impl AsRef<Path>, options: OpenOptions) -> Result<RedbStore, StoreError> {
    let mut directory = Directory::open(path.as_ref(), NAME, options.access)?;
    let names = TableNames::new();
    let (database, writer, pages) = guard_opening(directory.path(), || {
        let is_new = !matches!(inspect(directory.path())?, Found::Database(marker) if marker.ready);
        let open = || match options.access {
            Access::ReadOnly => open_to_read(&directory.data_path(), &names, options.cache_bytes),
            _ => open_files(&directory.data_path(), is_new, &names, options.cache_bytes),
        };
        open().map_err(|error| storage_error("open", directory.path(), error))
    })?;
    let journal_file = writer.journal.file().map_err(|error| StoreError::io("open", directory.path(), error))?;
    directory.set_ready()?;
    let inner = Inner {
        database: RwLock::new(database),
        writer: Mutex::new(writer),
        pages,
        journal_file,
        names,
        group: GroupSync::new(options.trace),
        failed: AtomicBool::new(false),
        damage: OnceLock::new(),
        readonly: options.access == Access::ReadOnly,
        directory,
    };
    Ok(RedbStore { inner: Arc::new(inner) })
}

/// Opens redb and the journal, and brings what only the journal has into redb. The files are made if `is_new`.
fn open_files(
    folder: &Path,
    is_new: bool,
    names: &TableNames,
    cache_bytes: u64,
) -> Result<(Database, Writer, File), redb::Error> {
    let options = File::options().read(true).write(true).create(is_new).truncate(false).clone();
    let file = open_pages(&options, folder, is_new)?;
    let pages = file.try_clone()?;
    let database = open_database(PageFile::new(file), cache_bytes)?;
    let (base, live) = at_opening(&database)?;
    let mut writer = Writer { journal: Journal::open(folder, is_new, base)?, live };
    if is_new && cfg!(unix) {
        // The names of the files.
        File::open(folder)?.sync_all()?;
    }
    let transaction = database.begin_write()?;
    let Writer { journal, live } = &mut writer;
    journal.replay(|batch| apply(names, &transaction, batch, live))?;
    match journal.is_empty() {
        true => transaction.abort()?,
        false => {
            commit_durably(transaction, &writer)?;
            writer.journal.begin_round()?;
        }
    }
    Ok((database, writer, pages))
}

/// The same without writing: redb's own pages, and what only the journal has, stay in memory.
fn open_to_read(folder: &Path, names: &TableNames, cache_bytes: u64) -> Result<(Database, Writer, File), redb::Error> {
    let file = open_pages(File::options().read(true), folder, false)?;
    let pages = file.try_clone()?;
    let database = open_database(ReadPages::new(PageFile::new(file))?, cache_bytes)?;
    let (base, mut live) = at_opening(&database)?;
    let mut journal = Journal::open_to_read(folder, base)?;
    let mut transaction = database.begin_write()?;
    transaction.set_durability(redb::Durability::None)?;
    journal.replay(|batch| apply(names, &transaction, batch, &mut live))?;
    match journal.is_empty() {
        true => transaction.abort()?,
        false => transaction.commit()?,
    }
    Ok((database, Writer { journal, live }, pages))
}

fn open_database(pages: impl StorageBackend, cache_bytes: u64) -> Result<Database, redb::Error> {
    let cache_bytes = usize::try_from(cache_bytes).unwrap_or(usize::MAX);
    Ok(redb::Builder::new().set_cache_size(cache_bytes).create_with_backend(pages)?)
}

/// The number of the first batch that only the journal has, and the bytes that live in redb.
fn at_opening(database: &Database) -> Result<(u64, LiveBytes), redb::Error> {
    let transaction = database.begin_read()?;
    let base = match transaction.open_table(JOURNAL) {
        Ok(table) => table.get(BASE)?.map(|base| base.value()),
        Err(TableError::TableDoesNotExist(_)) => None,
        Err(error) => return Err(error.into()),
    };
    Ok((base.unwrap_or(FIRST_BATCH), LiveBytes::load(&transaction)?))
}

/// The number of a new database's first batch.
const FIRST_BATCH: u64 = 1;

/// Commits a transaction, with all before it, by two phases: pages, then the header that names them. It records what
/// opening needs to know of free pages, and the number of the first batch that redb does not have.
fn commit_durably(mut transaction: WriteTransaction, writer: &Writer) -> Result<(), redb::Error> {
    transaction.open_table(JOURNAL)?.insert(BASE, writer.journal.newest() + 1)?;
    writer.live.save(&transaction)?;
    transaction.set_two_phase_commit(true);
    transaction.set_quick_repair(true);
    Ok(transaction.commit()?)
}

/// Bytes that a file takes on the disk. redb makes its file grow by doubling; what was never written takes nothing.
fn taken(file: &File) -> io::Result<u64> {
    let data = file.metadata()?;
    #[cfg(unix)]
    return Ok(std::os::unix::fs::MetadataExt::blocks(&data) * 512);
    #[cfg(not(unix))]
    Ok(data.len())
}

/// The file of pages; made only if the database is: of an empty file redb would make an empty database.
fn open_pages(options: &fs::OpenOptions, folder: &Path, is_new: bool) -> io::Result<File> {
    let damaged = |why: &str| io::Error::new(io::ErrorKind::InvalidData, format!("the file data/{PAGES} {why}"));
    let file = options.open(folder.join(PAGES)).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => damaged("is missing"),
        _ => error,
    })?;
    if !is_new && file.metadata()?.len() == 0 {
        return Err(damaged("is empty"));
    }
    Ok(file)
}

impl OrderedKv for RedbStore {
    fn capabilities(&self) -> &Capabilities {
        &CAPABILITIES
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
                synced.map_err(|error| commit_error(inner.path(), redb::Error::Io(error)))
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
        let taken = taken(&inner.pages).map_err(|error| StoreError::io("reclaim", inner.path(), error))?;
        if taken < 2 * writer.live.total() + GAIN_BYTES_MIN {
            return Ok(());
        }
        // Pages that were freed since the last durable commit are not free before the next one.
        inner.end_round(&mut writer)?;
        inner.compact(&mut writer)
    }

    fn sync(&self) -> Result<(), StoreError> {
        if self.inner.readonly { Ok(()) } else { self.announce().wait() }
    }

    fn announce(&self) -> Announced<'_> {
        let inner = &self.inner;
        Announced::in_round(inner.group.enter(), |round| inner.wait_for_sync(round))
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
