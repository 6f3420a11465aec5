//! The store.

use std::fs::File;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use redb::{Database, ReadTransaction, ReadableDatabase, TableDefinition, TableError, WriteTransaction};
use saltwing_store::directory::{Directory, Found, guard_opening, inspect};
use saltwing_store::group_sync::{GroupSync, Round};
use saltwing_store::{
    Access, Announced, AtomicScope, Bytes, Capabilities, Cursor, Direction, Durability, DurabilityScope, KEY_BYTES_MAX, KeyBounds,
    Mutation, OpenOptions, OrderedKv, RangeCursor, Snapshot, Space, StoreError, WriteBatch,
};

use crate::cursor::{BytesTable, TableRange};
use crate::error::{as_io, commit_error, storage_error};
use crate::page_file::PageFile;

/// The name under which directories and capabilities know this store.
pub const NAME: &str = "redb";

static CAPABILITIES: Capabilities = Capabilities {
    name: NAME,
    atomic: AtomicScope::Batch,
    snapshots: true,
    persistent: true,
    durability: DurabilityScope::Power,
    key_bytes_max: KEY_BYTES_MAX,
};

/// The file in the directory's `data`.
const PAGES: &str = "pages";

/// Bytes of buffered writes from which on one of them is followed by a durable commit. Pages that were freed since the
/// last one cannot be used again, and a killed process loses what came since.
const BUFFERED_BYTES_MAX: usize = 64 << 20;

/// An ordered store in a directory, kept by redb.
pub struct RedbStore {
    inner: Arc<Inner>,
}

/// What the store, its cursors and its snapshots share. Fields drop in order: the lock goes when the database has closed
/// its file.
pub(crate) struct Inner {
    database: Database,
    /// The names of the tables, by space.
    names: Vec<String>,
    group: GroupSync,
    /// Whether there are commits behind the last durable one.
    is_ahead: AtomicBool,
    /// Bytes of keys and values in these.
    ahead_bytes: AtomicUsize,
    /// A write or a sync has failed: what is on the disk is not known.
    failed: AtomicBool,
    /// The damage that was met first. redb takes no call after it, and says no more about it.
    damage: OnceLock<String>,
    readonly: bool,
    directory: Directory,
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

    fn table_name(&self, space: Space) -> TableDefinition<'_, &'static [u8], &'static [u8]> {
        TableDefinition::new(self.names.get(usize::from(space.id())).map_or("", String::as_str))
    }

    /// The table of a space at the moment of a transaction; `None` if nothing was written to it since it was empty.
    fn table(&self, transaction: &ReadTransaction, space: Space) -> Result<Option<BytesTable>, redb::Error> {
        match transaction.open_table(self.table_name(space)) {
            Ok(table) => Ok(Some(table)),
            Err(TableError::TableDoesNotExist(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn get(&self, transaction: &ReadTransaction, space: Space, key: &[u8]) -> Result<Option<Bytes>, redb::Error> {
        let Some(table) = self.table(transaction, space)? else { return Ok(None) };
        Ok(table.get(key)?.map(|value| Bytes::new(value.value())))
    }

    /// A commit that a durable one will cover.
    fn commit_ahead(
        &self,
        bytes: usize,
        change: impl FnOnce(&WriteTransaction) -> Result<(), redb::Error>,
    ) -> Result<(), StoreError> {
        self.write(|| {
            let mut transaction = self.database.begin_write()?;
            transaction.set_durability(redb::Durability::None)?;
            change(&transaction)?;
            Ok(transaction.commit()?)
        })?;
        self.is_ahead.store(true, Ordering::SeqCst);
        if self.ahead_bytes.fetch_add(bytes, Ordering::SeqCst) + bytes >= BUFFERED_BYTES_MAX {
            return self.commit_durably();
        }
        Ok(())
    }

    /// Brings all commits to the disk.
    fn commit_durably(&self) -> Result<(), StoreError> {
        // A writer that has not returned may set this again in between: then the next sync finds nothing to do.
        if !self.is_ahead.swap(false, Ordering::SeqCst) {
            return Ok(());
        }
        self.ahead_bytes.store(0, Ordering::SeqCst);
        self.write(|| {
            let mut transaction = self.database.begin_write()?;
            // Pages, then the header that names them; with what opening needs to know of free pages.
            transaction.set_two_phase_commit(true);
            transaction.set_quick_repair(true);
            Ok(transaction.commit()?)
        })
    }

    /// Waits for the sync of a round.
    fn wait_for_sync(&self, round: Round<'_>) -> Result<(), StoreError> {
        self.refuse_poisoned()?;
        round.wait(|| self.commit_durably().map_err(as_io)).map_err(|error| StoreError::io("sync", self.path(), error))
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

/// Opens the database in the directory `path`, as the options say.
///
/// Costs a few reads, after a crash too.
///
/// # Errors
/// Those of [`Directory::open`]; [`StoreError::Corrupt`] for a file that cannot be read; [`StoreError::Io`].
pub fn open(path: impl AsRef<Path>, options: OpenOptions) -> Result<RedbStore, StoreError> {
    let mut directory = Directory::open(path.as_ref(), NAME, options.access)?;
    let file = open_file(&directory)?;
    let database = guard_opening(directory.path(), || {
        redb::Builder::new()
            .set_cache_size(usize::try_from(options.cache_bytes).unwrap_or(usize::MAX))
            .create_with_backend(PageFile::new(file))
            .map_err(|error| storage_error("open", directory.path(), error.into()))
    })?;
    directory.set_ready()?;
    let inner = Inner {
        database,
        names: (0..=u8::MAX).map(|id| format!("space_{id:03}")).collect(),
        group: GroupSync::new(options.trace),
        is_ahead: AtomicBool::new(false),
        ahead_bytes: AtomicUsize::new(0),
        failed: AtomicBool::new(false),
        damage: OnceLock::new(),
        readonly: options.access == Access::ReadOnly,
        directory,
    };
    Ok(RedbStore { inner: Arc::new(inner) })
}

/// The file of pages; made if the database is being created, and only then: redb would make an empty database of an
/// empty file.
fn open_file(directory: &Directory) -> Result<File, StoreError> {
    let folder = directory.data_path();
    let path = folder.join(PAGES);
    let is_new = !matches!(inspect(directory.path())?, Found::Database(marker) if marker.ready);
    let corrupt = |why: &str| StoreError::Corrupt { path: directory.path().to_path_buf(), why: why.to_owned() };
    let file = File::options().read(true).write(true).create(is_new).truncate(false).open(&path);
    let file = file.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => corrupt("the file data/pages is missing"),
        _ => StoreError::io("open", &path, error),
    })?;
    let failed = |error| StoreError::io("open", &path, error);
    if is_new {
        file.sync_all().map_err(failed)?;
        if cfg!(unix) {
            File::open(&folder).and_then(|folder| folder.sync_all()).map_err(failed)?;
        }
    } else if file.metadata().map_err(failed)?.len() == 0 {
        return Err(corrupt("the file data/pages is empty"));
    }
    Ok(file)
}

/// Puts the mutations of a batch into their tables, in order.
fn apply(inner: &Inner, transaction: &WriteTransaction, batch: WriteBatch) -> Result<(), redb::Error> {
    let mut tables = Vec::new();
    for mutation in batch.into_mutations() {
        let space = mutation.space();
        let place = match tables.iter().position(|(of, _)| *of == space) {
            Some(place) => place,
            None => {
                tables.push((space, transaction.open_table(inner.table_name(space))?));
                tables.len() - 1
            }
        };
        let Some((_, table)) = tables.get_mut(place) else { continue };
        match mutation {
            Mutation::Put { key, value, .. } => drop(table.insert(&*key, &*value)?),
            Mutation::Delete { key, .. } => drop(table.remove(&*key)?),
        }
    }
    Ok(())
}

impl OrderedKv for RedbStore {
    fn capabilities(&self) -> &Capabilities {
        &CAPABILITIES
    }

    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        let inner = &self.inner;
        inner.read(|| inner.get(&inner.database.begin_read()?, space, key))
    }

    fn cursor(&self, space: Space, bounds: KeyBounds, direction: Direction) -> Result<Box<dyn Cursor>, StoreError> {
        let inner = &self.inner;
        let table = inner.read(|| inner.table(&inner.database.begin_read()?, space))?;
        Ok(Box::new(RangeCursor::new(TableRange::new(inner.clone(), table), bounds, direction)))
    }

    fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError> {
        let transaction = self.inner.read(|| Ok(self.inner.database.begin_read()?))?;
        Ok(Box::new(RedbSnapshot { transaction, inner: self.inner.clone() }))
    }

    fn write(&self, batch: WriteBatch, durability: Durability) -> Result<(), StoreError> {
        let inner = &self.inner;
        inner.refuse_writes()?;
        batch.check(&CAPABILITIES)?;
        let write = |batch: WriteBatch| match batch.is_empty() {
            true => Ok(()),
            false => inner.commit_ahead(batch.bytes(), |transaction| apply(inner, transaction, batch)),
        };
        match durability {
            Durability::Buffered => write(batch),
            Durability::Synced => {
                let round = inner.group.enter();
                write(batch)?;
                let synced = round.wait(|| inner.commit_durably().map_err(as_io));
                synced.map_err(|error| commit_error(inner.path(), redb::Error::Io(error)))
            }
        }
    }

    fn clear(&self, space: Space) -> Result<(), StoreError> {
        let inner = &self.inner;
        inner.refuse_writes()?;
        // Commits are ordered: none that is durable leaves one before it out.
        inner.commit_ahead(0, |transaction| Ok(transaction.delete_table(inner.table_name(space)).map(drop)?))
    }

    fn sync(&self) -> Result<(), StoreError> {
        self.announce().wait()
    }

    fn announce(&self) -> Announced<'_> {
        let inner = &self.inner;
        Announced::in_round(inner.group.enter(), |round| inner.wait_for_sync(round))
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
        let table = self.inner.read(|| self.inner.table(&self.transaction, space))?;
        Ok(Box::new(RangeCursor::new(TableRange::new(self.inner.clone(), table), bounds, direction)))
    }
}
