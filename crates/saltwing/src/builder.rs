//! The options for opening a database.

use std::num::NonZeroUsize;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use saltwing_access::{Clock, Durability, SystemClock, Threads};
use saltwing_plan::Policy;
use saltwing_store::directory::{self, Found};
use saltwing_store::{BATCH_BYTES_MAX, MemoryStore, OrderedKv};
use saltwing_table::LayoutOptions;
use saltwing_types::ErrorCode;

use crate::Error;
use crate::file_access::FileAccess;
use crate::machine_memory::machine_memory;

/// Default of [`Builder::cache_bytes`].
const CACHE_BYTES: u64 = 256 << 20;
/// The permitted values of [`Settings::commit_bytes_max`]: a batch of the store can hold as much, with some room for its keys.
pub(crate) const COMMIT_BYTES: RangeInclusive<usize> = 1..=1_000_000_000;
/// Default of [`Builder::commit_bytes_max`].
const COMMIT_BYTES_MAX: usize = 256 << 20;
const _: () = assert!(*COMMIT_BYTES.end() < BATCH_BYTES_MAX);

/// Default of [`Builder::blocking_threads_max`].
const BLOCKING_THREADS_MAX: NonZeroUsize = NonZeroUsize::new(512).unwrap();
/// Default of [`Builder::threads_from_rows`]: reading so many rows takes a few milliseconds.
const THREADS_ROWS_MIN: u64 = 131_072;

/// The key-value stores that a database can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreKind {
    /// The default: a copy-on-write tree in one file, with a checksum for each page, and a journal that writes go to first.
    Redb,
    /// Experimental, and not in the default features: an acknowledged row survives a killed process, but not a power
    /// cut or a crash of the operating system.
    Sled,
    /// In memory: the data ends with the process.
    Memory,
}

impl StoreKind {
    /// All kinds, built in or not.
    pub const ALL: [Self; 3] = [Self::Redb, Self::Sled, Self::Memory];

    /// The store of a new database by default.
    pub const DEFAULT: Self = Self::Redb;

    /// The name in the shell and in a database's marker.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Redb => "redb",
            Self::Sled => "sled",
            Self::Memory => "memory",
        }
    }

    /// The store of this name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

/// Opens a database with options.
#[derive(Clone)]
pub struct Builder {
    pub(crate) path: Option<PathBuf>,
    pub(crate) store: Option<StoreKind>,
    pub(crate) readonly: bool,
    pub(crate) create: bool,
    pub(crate) cache_bytes: u64,
    pub(crate) memory_limit: usize,
    pub(crate) statement_memory_limit: Option<usize>,
    pub(crate) commit_bytes_max: usize,
    pub(crate) threads: Threads,
    pub(crate) blocking_threads_max: NonZeroUsize,
    pub(crate) full_scan: Option<Policy>,
    pub(crate) forbid_full_scan: bool,
    pub(crate) file_access: FileAccess,
    pub(crate) durability: Durability,
    pub(crate) default_salt: Option<u16>,
    pub(crate) sweep_every: Option<Duration>,
    pub(crate) layout: LayoutOptions,
    pub(crate) index_commit_rows: u64,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Builder {
    pub(crate) fn new(path: Option<PathBuf>) -> Self {
        Self {
            path,
            store: None,
            readonly: false,
            create: true,
            cache_bytes: CACHE_BYTES,
            memory_limit: usize::try_from(machine_memory() / 4).unwrap_or(usize::MAX),
            statement_memory_limit: None,
            commit_bytes_max: COMMIT_BYTES_MAX,
            threads: Threads {
                count: std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
                rows_min: THREADS_ROWS_MIN,
            },
            blocking_threads_max: BLOCKING_THREADS_MAX,
            full_scan: None,
            forbid_full_scan: false,
            file_access: FileAccess::All,
            durability: Durability::Synced,
            default_salt: None,
            sweep_every: Some(Duration::from_secs(60)),
            layout: LayoutOptions::default(),
            index_commit_rows: saltwing_exec::INDEX_COMMIT_ROWS,
            clock: Arc::new(SystemClock),
        }
    }

    /// The store of a new database; an existing one has a marker that names its store.
    #[must_use]
    pub fn store(self, store: StoreKind) -> Self {
        Self { store: Some(store), ..self }
    }

    /// Opens for reading only: statements that write, and COPY and BACKUP to files, end with [`ErrorCode::ReadOnly`].
    ///
    /// Nothing is written into the database's directory, so it may be on a read-only medium. Several processes may have the database open
    /// for reading at once, but none while another has it open for writing. Batches that a killed process has left in the journal are read
    /// as well. sled cannot read without writing: it needs write permission, and exclusive use of the directory.
    #[must_use]
    pub fn readonly(self, readonly: bool) -> Self {
        Self { readonly, ..self }
    }

    /// Whether a missing database is created: true by default.
    #[must_use]
    pub fn create(self, create: bool) -> Self {
        Self { create, ..self }
    }

    /// Memory for the store's cache of its own files, in bytes; 256 MB by default.
    #[must_use]
    pub fn cache_bytes(self, bytes: u64) -> Self {
        Self { cache_bytes: bytes, ..self }
    }

    /// Memory for the cache of row blocks, in bytes; 256 MB by default. Queries depend mostly on this
    /// cache; the cache of [`Builder::cache_bytes`] is below it.
    #[must_use]
    pub fn block_cache_bytes(mut self, bytes: usize) -> Self {
        self.layout.cache_bytes = bytes;
        self
    }

    /// How many recent rows (or an eighth of all rows, if that is more), and how many bytes of them, are kept in memory before
    /// they are merged into blocks; 262,144 rows and 128 MB by default. Writers wait at twice these limits.
    #[must_use]
    pub fn delta_limits(mut self, rows: u64, bytes: u64) -> Self {
        (self.layout.delta_rows, self.layout.delta_bytes) = (rows, bytes);
        self
    }

    /// The limit in bytes of [`Builder::delta_limits`] alone.
    #[must_use]
    pub fn delta_bytes(mut self, bytes: u64) -> Self {
        self.layout.delta_bytes = bytes;
        self
    }

    /// How many threads make the blocks of a merge; one by default. If processors are idle, more threads merge recent rows
    /// sooner, so that heavy writers wait less.
    #[must_use]
    pub fn merge_threads(mut self, threads: usize) -> Self {
        self.layout.merge_threads = threads.max(1);
        self
    }

    /// The time without writes after which recent rows are merged into blocks, even if they are few;
    /// five seconds by default; `None` is never.
    #[must_use]
    pub fn merge_when_idle(mut self, idle: Option<Duration>) -> Self {
        self.layout.idle = idle.unwrap_or(Duration::MAX);
        self
    }

    /// Blocks of 4 rows and deltas of 16, merged along with the commits: for tests in which a few rows exercise every
    /// path. Replaces earlier settings of blocks, deltas and idle times.
    #[must_use]
    pub fn tiny_layout(self) -> Self {
        Self { layout: LayoutOptions::tiny(), ..self }
    }

    /// Most bytes that the joins, sorts, groups and large values of all running statements may take together; by default a quarter
    /// of the memory that the process may use. Caches and recent rows have limits of their own.
    ///
    /// A statement that needs more memory uses temporary files, or fails with [`ErrorCode::OutOfMemory`]. `SET
    /// memory_limit` changes the limit for all connections, up to this value.
    #[must_use]
    pub fn memory_limit(self, bytes: usize) -> Self {
        Self { memory_limit: bytes, ..self }
    }

    /// The limit of [`Builder::memory_limit`], in bytes.
    pub fn memory_limit_bytes(&self) -> usize {
        self.memory_limit
    }

    /// Most bytes of this memory that one statement may take; by default all of it. So one statement cannot leave the others without.
    ///
    /// `SET statement_memory_limit` changes the limit for a connection, up to this value.
    #[must_use]
    pub fn statement_memory_limit(self, bytes: usize) -> Self {
        Self { statement_memory_limit: Some(bytes), ..self }
    }

    /// The most that SET may make of the memory of one statement.
    pub(crate) fn statement_memory_most(&self) -> usize {
        self.statement_memory_limit.unwrap_or(self.memory_limit).min(self.memory_limit)
    }

    /// Most bytes of encoded rows that one commit may hold; 256 MB by default, and at most the size of a batch of the
    /// store (1 GB). `SET commit_bytes_max` changes the limit for a connection; a statement that writes more is refused with
    /// [`ErrorCode::StatementTooLarge`], unless it commits in parts (`SET autocommit_rows`).
    #[must_use]
    pub fn commit_bytes_max(self, bytes: usize) -> Self {
        Self { commit_bytes_max: bytes.clamp(*COMMIT_BYTES.start(), *COMMIT_BYTES.end()), ..self }
    }

    /// Most threads that work for one statement that reads many rows; by default as many as the computer runs at once. Results do not
    /// depend on it, except for the rounding of sums of floats in relational queries.
    #[must_use]
    pub fn threads(mut self, threads: NonZeroUsize) -> Self {
        self.threads.count = threads.get();
        self
    }

    /// The number of rows in one scan from which a statement uses several threads; 131,072 by default.
    #[must_use]
    pub fn threads_from_rows(mut self, rows: u64) -> Self {
        self.threads.rows_min = rows;
        self
    }

    /// Most async calls that run at once, and most scans of relational queries that read at once; 512 of each by default. Further ones
    /// wait. A call holds a thread while it runs, not while its result is open: the number of open results is not limited.
    #[must_use]
    pub fn blocking_threads_max(self, threads: NonZeroUsize) -> Self {
        Self { blocking_threads_max: threads, ..self }
    }

    /// The policy for full scans: `allow`, `warn`, `error` (the default), or `forbid`, which nothing overrides.
    ///
    /// # Errors
    /// Another word.
    pub fn full_scan(mut self, policy: &str) -> Result<Self, Error> {
        if policy.eq_ignore_ascii_case("forbid") {
            self.forbid_full_scan = true;
            return Ok(self);
        }
        self.full_scan = Some(saltwing_planner::Guard::policy(policy).ok_or_else(|| {
            Error::new(ErrorCode::BadArgument, format!("full_scan is allow, warn, error or forbid, not '{policy}'"))
        })?);
        Ok(self)
    }

    /// Which files COPY may use; by default all files that the process may use. Set [`FileAccess::None`] or
    /// [`FileAccess::Below`] before you run statements from sources that you do not trust.
    #[must_use]
    pub fn file_access(mut self, access: FileAccess) -> Self {
        self.file_access = match access {
            // The process may change its own directory later.
            FileAccess::Below(directory) => FileAccess::Below(std::path::absolute(&directory).unwrap_or(directory)),
            other => other,
        };
        self
    }

    /// Acknowledges writes before they are on the disk: a crash may lose the last ones.
    #[must_use]
    pub fn buffered(self) -> Self {
        Self { durability: Durability::Buffered, ..self }
    }

    /// SALT_BUCKETS of every new table whose CREATE TABLE names none; 0 is none.
    #[must_use]
    pub fn default_salt_buckets(self, buckets: u16) -> Self {
        Self { default_salt: (buckets > 0).then_some(buckets), ..self }
    }

    /// The interval of sweeps for expired rows; `None` is never.
    #[must_use]
    pub fn sweep_every(self, every: Option<Duration>) -> Self {
        Self { sweep_every: every, ..self }
    }

    /// How many rows an index build reads for each of its commits; 4,096 by default. Tests set fewer, to run statements between two
    /// commits of a small build.
    #[must_use]
    pub fn index_commit_rows(self, rows: u64) -> Self {
        Self { index_commit_rows: rows.max(1), ..self }
    }

    /// The clock for the write times and the expiry of rows, for tests.
    #[must_use]
    pub fn clock(self, clock: Arc<dyn Clock>) -> Self {
        Self { clock, ..self }
    }

    /// The options for reading another database, in the directory `path`, beside this one.
    pub(crate) fn of_other(self, path: &Path) -> Self {
        Self { path: Some(path.to_owned()), store: None, readonly: true, create: false, ..self }
    }

    pub(crate) fn open_store(&self) -> Result<Arc<dyn OrderedKv>, Error> {
        self.open_store_for(match (self.readonly, self.create) {
            (true, _) => directory::Access::ReadOnly,
            (false, true) => directory::Access::Create,
            (false, false) => directory::Access::Existing,
        })
    }

    pub(crate) fn open_store_for(&self, access: directory::Access) -> Result<Arc<dyn OrderedKv>, Error> {
        let Some(path) = &self.path else {
            return match self.store {
                None | Some(StoreKind::Memory) => Ok(Arc::new(MemoryStore::new())),
                Some(other) => Err(Error::new(ErrorCode::BadArgument, format!("{} needs a directory", other.as_str()))),
            };
        };
        let kind = self.kind_at(path)?;
        self.open_kind(kind, path, directory::OpenOptions { access, cache_bytes: self.cache_bytes, trace: None })
    }

    /// The store of an existing database, or of a new one.
    pub(crate) fn kind_at(&self, path: &Path) -> Result<StoreKind, Error> {
        let kind = match directory::inspect(path)? {
            Found::Database(marker) => {
                StoreKind::by_name(&marker.store).ok_or_else(|| unknown_store(path, &marker.store))?
            }
            _ => self.store.unwrap_or(StoreKind::DEFAULT),
        };
        // The store itself reports a directory of another store.
        Ok(self.store.unwrap_or(kind))
    }

    /// Opens `path` with a store. The features of this crate decide which stores are built in.
    fn open_kind(
        &self,
        kind: StoreKind,
        path: &Path,
        options: directory::OpenOptions,
    ) -> Result<Arc<dyn OrderedKv>, Error> {
        match kind {
            #[cfg(feature = "redb")]
            StoreKind::Redb => Ok(Arc::new(saltwing_redb::open(path, options)?)),
            #[cfg(feature = "sled")]
            StoreKind::Sled => Ok(Arc::new(saltwing_sled::open(path, options)?)),
            StoreKind::Memory => {
                Err(Error::new(ErrorCode::BadArgument, format!("memory takes no directory: {}", path.display())))
            }
            #[allow(unreachable_patterns)] // the features decide which stores are built in
            other => {
                let _ = options;
                Err(not_built_in(other, path))
            }
        }
    }
}

/// The error for a directory whose store this build does not know. Versions up to 0.1 could write fjall's.
fn unknown_store(path: &Path, store: &str) -> Error {
    let error = Error::new(ErrorCode::NotSupported, format!("{}: no store {store}", path.display()));
    match store {
        "fjall" => error.with_help(Some(
            "saltwing 0.1 reads databases on fjall: run its `saltwing backup DIR TARGET`, then `saltwing restore TARGET NEWDIR` \
             of this version",
        )),
        _ => error,
    }
}

fn not_built_in(kind: StoreKind, path: &Path) -> Error {
    let (store, path) = (kind.as_str(), path.display());
    let what = format!("{path}: this build has no store {store}: build saltwing with its feature `{store}`");
    Error::new(ErrorCode::NotSupported, what)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use saltwing_types::ErrorCode;

    use super::{StoreKind, not_built_in};

    #[test]
    fn a_store_that_is_not_built_in_is_an_error_that_names_its_feature() {
        let error = not_built_in(StoreKind::Sled, Path::new("a/db"));
        assert_eq!(error.code(), ErrorCode::NotSupported);
        assert!(error.to_string().contains("a/db: this build has no store sled"), "{error}");
        assert!(error.to_string().contains("feature `sled`"), "{error}");
    }
}
