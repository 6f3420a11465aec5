//! The state shared by the connections of a database.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use saltwing_access::{Memory, TableStore};
use saltwing_bind::EngineFunctions;
use saltwing_catalog::CatalogStore;
use saltwing_table::EmbeddedTables;
use saltwing_types::ErrorCode;

use crate::index_builder::BackgroundBuilds;
use crate::password::fill_randomly;
use crate::refused_statements::RefusedStatements;
#[cfg(feature = "datafusion")]
use crate::relational_engine;
use crate::session_user::SessionUsers;
use crate::statement_cache::StatementCache;
use crate::sweeper::Sweeper;
use crate::thread_pools::ThreadPools;
use crate::transaction::Transactions;
use crate::tries::Tries;
use crate::{Builder, Error};

/// An open database.
pub(crate) struct Shared {
    pub(crate) tables: Arc<dyn TableStore>,
    /// The same store of tables, if it is this crate's embedded storage: only that has merges, sweeps, checks and backups.
    pub(crate) storage: Option<Arc<EmbeddedTables>>,
    pub(crate) catalog: Arc<dyn CatalogStore>,
    pub(crate) options: Builder,
    /// The directory of the database, without links.
    pub(crate) directory: Option<PathBuf>,
    /// The memory of running statements.
    pub(crate) memory: Arc<Memory>,
    /// The cached statements of the owner's connections.
    pub(crate) statements: StatementCache,
    pub(crate) session_users: SessionUsers,
    pub(crate) refusals: RefusedStatements,
    /// Whether statements are tried on the caller's thread.
    pub(crate) tries: Tries,
    /// As [`Shared::secret_without_users`].
    secret: OnceLock<[u8; 32]>,
    pub(crate) transactions: Transactions,
    pub(crate) notices: Vec<String>,
    pub(crate) pools: ThreadPools,
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

    /// The functions of the relational engine: none in this build.
    #[cfg(not(feature = "datafusion"))]
    pub(crate) fn engine_functions(&self) -> &dyn EngineFunctions {
        &saltwing_bind::NoEngine
    }

    /// A database over a store of tables, without embedded storage. `spill_directory` is the directory for temporary files; without it they
    /// are in the system's directory.
    pub(crate) fn over(
        tables: Arc<dyn TableStore>,
        catalog: Arc<dyn CatalogStore>,
        options: Builder,
        #[cfg_attr(not(feature = "datafusion"), allow(unused_variables))] spill_directory: Option<PathBuf>,
    ) -> Result<Self, Error> {
        let (memory, pools) = (Arc::new(Memory::new(options.memory_limit)), ThreadPools::new(&options));
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
            session_users: SessionUsers::default(),
            refusals: RefusedStatements::default(),
            tries: Tries::default(),
            secret: OnceLock::new(),
            transactions: Transactions::default(),
            notices: Vec::new(),
            pools,
            sweeper: None,
            index_builds: BackgroundBuilds::default(),
        })
    }

    /// The embedded storage.
    ///
    /// # Errors
    /// [`ErrorCode::NotSupported`] if the database is over another store of tables.
    pub(crate) fn storage(&self, what: &str) -> Result<&Arc<EmbeddedTables>, Error> {
        self.storage.as_ref().ok_or_else(|| {
            let store = self.tables.capabilities().name;
            Error::new(ErrorCode::NotSupported, format!("{what} is not possible on the store {store}"))
        })
    }

    /// Random bytes of this process, for a database that has never had users and so stores no random bytes.
    ///
    /// # Errors
    /// The system has no random bytes.
    pub(crate) fn secret_without_users(&self) -> Result<[u8; 32], Error> {
        if let Some(known) = self.secret.get() {
            return Ok(*known);
        }
        let mut secret = [0; 32];
        fill_randomly(&mut secret)?;
        Ok(*self.secret.get_or_init(|| secret))
    }

    /// Starts the deletion of dropped tables' rows in the background; without a background thread, deletes them here.
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
}

impl Drop for Shared {
    fn drop(&mut self) {
        // The sweeper and the builds use the storage that is closed below.
        self.sweeper = None;
        drop(std::mem::take(&mut self.index_builds));
        self.pools.shut_down();
        if !self.options.readonly
            && let Err(error) = self.catalog.return_sequence_values()
        {
            tracing::warn!(error = %error, "the reserved values of sequences were not given back: they are skipped");
        }
        if let Some(storage) = self.storage.as_ref().filter(|_| !self.options.readonly) {
            // No acknowledged write depends on this: it only makes the next opening fast.
            if let Err(error) = storage.close() {
                tracing::error!(error = %error, "the database was not closed in order");
            }
        }
    }
}
