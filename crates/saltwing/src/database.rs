//! A database.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use saltwing_catalog::Catalog;
use saltwing_store::{DurabilityScope, OrderedKv};
use saltwing_table::EmbeddedTables;
use saltwing_types::ErrorCode;
use tokio::runtime::Runtime;

use crate::session::Session;
use crate::statement_cache::StatementCache;
use crate::sweeper::Sweeper;
use crate::{Builder, Connection, Error};

/// Stack of the library's own threads: relational planning is recursive.
const THREAD_STACK_BYTES: usize = 16 << 20;

/// An open database. Cheap to clone; it closes when the last clone, connection and result are gone.
#[derive(Clone)]
pub struct Database {
    pub(crate) shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub(crate) tables: Arc<EmbeddedTables>,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) options: Builder,
    pub(crate) statements: StatementCache,
    runtime: OnceLock<Runtime>,
    #[cfg(feature = "datafusion")]
    pub(crate) engine: saltwing_datafusion::Engine,
    _sweeper: Option<Sweeper>,
}

impl Database {
    /// Opens the database in a directory, which is made if it is not there.
    ///
    /// # Errors
    /// As [`Builder::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::builder(path).open()
    }

    /// A database in memory.
    ///
    /// # Errors
    /// As [`Builder::open`].
    pub fn memory() -> Result<Self, Error> {
        Builder::new(None).open()
    }

    /// Options for the database in a directory.
    pub fn builder(path: impl AsRef<Path>) -> Builder {
        Builder::new(Some(path.as_ref().to_owned()))
    }

    /// Options for a database in memory.
    pub fn memory_builder() -> Builder {
        Builder::new(None)
    }

    pub(crate) fn start(kv: Arc<dyn OrderedKv>, options: Builder) -> Result<Self, Error> {
        let tables = Arc::new(EmbeddedTables::open_with(kv, options.clock.clone(), options.layout.clone())?);
        let catalog = Arc::new(Catalog::boot(tables.clone(), options.readonly)?);
        if !options.readonly {
            tables.start_merging()?;
        }
        let sweeper = match options.sweep_every {
            _ if options.readonly => None,
            Some(every) => Some(Sweeper::start(tables.clone(), catalog.clone(), every)?),
            None => {
                catalog.finish_drops()?;
                None
            }
        };
        #[cfg(feature = "datafusion")]
        let engine = crate::relational::engine(&options)?;
        let shared = Shared {
            tables,
            catalog,
            options,
            statements: StatementCache::default(),
            runtime: OnceLock::new(),
            #[cfg(feature = "datafusion")]
            engine,
            _sweeper: sweeper,
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// A connection: settings of its own over the one database.
    pub fn connect(&self) -> Connection {
        Connection { session: Session::new(self.clone()) }
    }

    /// The name of the store below.
    pub fn store_name(&self) -> &'static str {
        self.shared.tables.capabilities().store
    }

    /// What whoever opened the database should know about it, as texts for users: nothing, on most stores.
    pub fn notices(&self) -> Vec<String> {
        let capabilities = self.shared.tables.capabilities();
        match capabilities.durability {
            DurabilityScope::Process if capabilities.persistent => vec![format!(
                "the store {} is experimental: rows that were acknowledged as synced survive a killed process, but a power \
                 cut or a crash of the operating system may take them, or the whole database",
                capabilities.store
            )],
            _ => Vec::new(),
        }
    }

    /// Deletes expired rows now, and what drops of tables left that failed after the tables were gone; returns how many rows had
    /// expired.
    ///
    /// # Errors
    /// The store's.
    pub fn sweep(&self) -> Result<u64, Error> {
        self.shared.catalog.finish_drops()?;
        Ok(self.shared.tables.sweep()?)
    }

    /// Brings everything to the disk, so that the next opening is fast. Dropping does the same, but tells no errors.
    ///
    /// # Errors
    /// The store's.
    pub fn close(self) -> Result<(), Error> {
        Ok(self.shared.tables.close()?)
    }

    /// The library's own threads, started when they are first needed.
    pub(crate) fn runtime(&self) -> Result<&Runtime, Error> {
        if let Some(runtime) = self.shared.runtime.get() {
            return Ok(runtime);
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(self.shared.options.threads.count.max(2))
            .thread_name("saltwing")
            .thread_stack_size(THREAD_STACK_BYTES)
            .enable_time()
            .build()
            .map_err(|error| Error::new(ErrorCode::Io, format!("the library's threads cannot be started: {error}")))?;
        // Another thread may have been first: then this one is shut down again.
        if let Err(second) = self.shared.runtime.set(runtime) {
            second.shutdown_background();
        }
        self.shared.runtime.get().ok_or_else(|| Error::new(ErrorCode::Bug, "the library's threads are gone"))
    }

    pub(crate) fn spawn_blocking(&self, work: impl FnOnce() + Send + 'static) -> Result<(), Error> {
        drop(self.runtime()?.spawn_blocking(work));
        Ok(())
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // A runtime must not be waited for where it may be dropped: in async code.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
        if !self.options.readonly {
            // Nothing acknowledged hangs on this: it makes the next opening fast.
            let _ = self.tables.close();
        }
    }
}

#[cfg(test)]
mod faults;

#[cfg(test)]
mod tests {
    use saltwing_store::MemoryStore;
    use saltwing_store::fault::{Call, Fault, FaultStore};

    use super::*;

    const WRITES: [&str; 6] = [
        "UPSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')",
        "UPSERT INTO t (k) VALUES (2)",
        "INSERT INTO t VALUES (4, 'd')",
        "UPSERT INTO t SELECT k + 10, v FROM t WHERE k > 0",
        "DELETE FROM t WHERE k > 10",
        "DELETE FROM t WHERE k > 0",
    ];

    /// A statement that writes waits for one sync, or for none where that is not asked for. Definitions are always synced.
    #[test]
    fn what_is_acknowledged_is_synced_unless_said_otherwise() {
        let syncs_of = |builder: Builder, settings: &[(&str, u64)]| {
            let kv = FaultStore::new(MemoryStore::new(), Fault::None);
            let database = Database::start(Arc::new(kv.clone()), builder).unwrap();
            let connection = database.connect().blocking();
            let syncs = |sql: &str| {
                let before = kv.counts().of(Call::Sync);
                connection.execute(sql, ()).unwrap_or_else(|error| panic!("{sql}: {error}"));
                kv.counts().of(Call::Sync) - before
            };
            for (set, wanted) in settings {
                assert_eq!(syncs(set), 0);
                assert!(syncs("CREATE TABLE t (k BIGINT NOT NULL PRIMARY KEY, v VARCHAR)") > 0);
                for sql in WRITES {
                    assert_eq!(syncs(sql), *wanted, "{set}: {sql}");
                }
                let prepared = connection.prepare("UPSERT INTO t VALUES (?, ?)").unwrap();
                let before = kv.counts().of(Call::Sync);
                prepared.execute(crate::params![5, "e"]).unwrap();
                assert_eq!(kv.counts().of(Call::Sync) - before, *wanted, "{set}: prepared");
                assert!(syncs("ALTER TABLE t ADD w INTEGER") > 0);
                assert!(syncs("DROP TABLE t") > 0);
            }
        };
        // Nothing else writes.
        let builder = || Database::memory_builder().sweep_every(None);
        let (buffered, default) = ("SET durability = 'buffered'", "SET durability = DEFAULT");
        syncs_of(builder(), &[(default, 1), (buffered, 0), ("SET durability = 'synced'", 1)]);
        syncs_of(builder().buffered(), &[(default, 0), ("SET durability = 'synced'", 1), (buffered, 0), (default, 0)]);
    }
}
