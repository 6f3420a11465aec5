//! The state shared by the connections of a database.

use std::path::PathBuf;
use std::sync::mpsc::SendError;
use std::sync::{Arc, OnceLock};

use saltwing_access::{Memory, TableStore, reap_later};
use saltwing_bind::EngineFunctions;
use saltwing_catalog::Catalog;
use saltwing_table::EmbeddedTables;
use saltwing_types::ErrorCode;
use tokio::runtime::Runtime;

use crate::index_builder::BackgroundBuilds;
#[cfg(feature = "datafusion")]
use crate::relational_engine;
use crate::statement_cache::StatementCache;
use crate::sweeper::Sweeper;
use crate::transaction::Transactions;
use crate::{Builder, Error};

/// Stack of the library's own threads: relational planning is recursive.
const THREAD_STACK_BYTES: usize = 16 << 20;

/// An open database.
pub(crate) struct Shared {
    pub(crate) tables: Arc<dyn TableStore>,
    /// The same, where it is the storage of this process: merges, sweeps, checks and backups are its alone.
    pub(crate) storage: Option<Arc<EmbeddedTables>>,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) options: Builder,
    /// Where the database lies, without links.
    pub(crate) directory: Option<PathBuf>,
    /// The memory of running statements.
    pub(crate) memory: Arc<Memory>,
    pub(crate) statements: StatementCache,
    pub(crate) transactions: Transactions,
    pub(crate) notices: Vec<String>,
    runtime: OnceLock<Runtime>,
    #[cfg(feature = "datafusion")]
    pub(crate) engine: Arc<saltwing_datafusion::Engine>,
    pub(crate) sweeper: Option<Sweeper>,
    pub(crate) index_builds: BackgroundBuilds,
}

impl Shared {
    /// The functions of the relational engine.
    #[cfg(feature = "datafusion")]
    pub(crate) fn engine_functions(&self) -> &dyn EngineFunctions {
        &*self.engine
    }

    /// The functions of the relational engine, which this build does not have.
    #[cfg(not(feature = "datafusion"))]
    pub(crate) fn engine_functions(&self) -> &dyn EngineFunctions {
        &saltwing_bind::NoEngine
    }

    /// A database over the tables of a store, without storage of this process. Temporary files are in a directory of its own, or in the
    /// system's.
    pub(crate) fn over(
        tables: Arc<dyn TableStore>,
        options: Builder,
        #[cfg_attr(not(feature = "datafusion"), allow(unused_variables))] spill_directory: Option<PathBuf>,
    ) -> Result<Self, Error> {
        let catalog = Arc::new(Catalog::boot(tables.clone(), options.readonly)?);
        let memory = Arc::new(Memory::new(options.memory_limit));
        Ok(Self {
            #[cfg(feature = "datafusion")]
            engine: relational_engine::engine(&options, &memory, spill_directory)?,
            tables,
            storage: None,
            catalog,
            options,
            directory: None,
            memory,
            statements: StatementCache::default(),
            transactions: Transactions::default(),
            notices: Vec::new(),
            runtime: OnceLock::new(),
            sweeper: None,
            index_builds: BackgroundBuilds::default(),
        })
    }

    /// The storage of this process.
    ///
    /// # Errors
    /// [`ErrorCode::NotSupported`] if the database is over another store of tables.
    pub(crate) fn storage(&self, what: &str) -> Result<&Arc<EmbeddedTables>, Error> {
        self.storage.as_ref().ok_or_else(|| {
            let store = self.tables.capabilities().name;
            Error::new(ErrorCode::NotSupported, format!("{what} is not possible on the store {store}"))
        })
    }

    /// The library's own threads, started when they are first needed.
    pub(crate) fn runtime(&self) -> Result<&Runtime, Error> {
        if let Some(runtime) = self.runtime.get() {
            return Ok(runtime);
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(self.options.threads.count.max(2))
            .thread_name("saltwing")
            .thread_stack_size(THREAD_STACK_BYTES)
            .enable_time()
            .build()
            .map_err(|error| Error::new(ErrorCode::Io, format!("the library's threads cannot be started: {error}")))?;
        // Another thread may have been first: then this one is shut down again.
        if let Err(second) = self.runtime.set(runtime) {
            shut_down(second);
        }
        self.runtime.get().ok_or_else(|| Error::new(ErrorCode::Bug, "the library's threads are gone"))
    }

    /// Lets the rows of dropped tables be deleted in the background; here, if nothing works there.
    pub(crate) fn finish_drops_soon(&self) {
        match &self.sweeper {
            Some(sweeper) => sweeper.wake(),
            None => {
                if let Err(error) = self.catalog.finish_drops() {
                    tracing::warn!(%error, "the rows of temporary tables are still stored: the next opening deletes them");
                }
            }
        }
    }

    pub(crate) fn spawn_blocking(&self, work: impl FnOnce() + Send + 'static) -> Result<(), Error> {
        drop(self.runtime()?.spawn_blocking(work));
        Ok(())
    }
}

/// Ends the threads of a runtime, without waiting for them: the caller may be async code, or a task of the runtime.
fn shut_down(runtime: Runtime) {
    let (give, taken) = std::sync::mpsc::channel::<Runtime>();
    // The runtime joins its threads when it is dropped.
    let waits = std::thread::Builder::new().name("saltwing-close".into()).spawn(move || drop(taken.recv()));
    match waits {
        Ok(thread) => {
            if let Err(SendError(runtime)) = give.send(runtime) {
                runtime.shutdown_background();
            }
            reap_later(thread);
        }
        Err(error) => {
            tracing::warn!(%error, "no thread can be started to wait for the end of the library's threads");
            runtime.shutdown_background();
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // They work on the storage that is closed below.
        self.sweeper = None;
        drop(std::mem::take(&mut self.index_builds));
        if let Some(runtime) = self.runtime.take() {
            shut_down(runtime);
        }
        if !self.options.readonly
            && let Err(error) = self.catalog.return_sequence_values()
        {
            tracing::warn!(error = %error, "the reserved values of sequences were not given back: they are skipped");
        }
        if let Some(storage) = self.storage.as_ref().filter(|_| !self.options.readonly) {
            // Nothing acknowledged depends on this: it makes the next opening fast.
            if let Err(error) = storage.close() {
                tracing::error!(error = %error, "the database was not closed in order");
            }
        }
    }
}
