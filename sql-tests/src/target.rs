//! The database that a file runs on.

use std::collections::HashMap;
use std::sync::Arc;

use fake_remote::{AtomicScope, Faults, RemoteStore};
use saltwing::blocking::Connection;
use saltwing::{Builder, Database, ErrorCode, StoreKind};
use tempfile::TempDir;

use crate::Error;

/// Repeats the faults of the fake cluster.
const FAULTS_SEED: u64 = 7;

/// Which executor runs the queries of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Executor {
    /// The library's choice, or the file's own `SET executor`.
    #[default]
    Auto,
    /// The direct path: what it cannot run is skipped.
    Direct,
    /// The relational engine: what it cannot run is skipped.
    DataFusion,
}

impl Executor {
    /// The executor of this name.
    pub fn by_name(name: &str) -> Option<Self> {
        [Self::Auto, Self::Direct, Self::DataFusion].into_iter().find(|executor| executor.as_str() == name)
    }

    /// The name in `SET executor`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Direct => "direct",
            Self::DataFusion => "datafusion",
        }
    }
}

/// What a file's tables are kept by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Store {
    /// A store of this process.
    Embedded(StoreKind),
    /// A cluster that is not there, with many faults: see `fake_remote`.
    FakeRemote,
    /// One that writes each row by itself. The catalog is in this process.
    FakeRemoteRows,
}

impl From<StoreKind> for Store {
    fn from(kind: StoreKind) -> Self {
        Self::Embedded(kind)
    }
}

impl Store {
    /// The name, which is a label in files too.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Embedded(kind) => kind.as_str(),
            Self::FakeRemote => "fake-remote",
            Self::FakeRemoteRows => "fake-remote-rows",
        }
    }

    /// The store of this name.
    pub fn by_name(name: &str) -> Option<Self> {
        let remote = [Self::FakeRemote, Self::FakeRemoteRows];
        let embedded = || StoreKind::by_name(name).map(Self::Embedded);
        remote.into_iter().find(|store| store.as_str() == name).or_else(embedded)
    }
}

/// How files are run.
#[derive(Clone, Debug)]
pub struct Options {
    /// The store below.
    pub store: Store,
    /// Buckets of every table that names none; 0 is none.
    pub salt: u16,
    /// Who runs queries. DDL and DML are run as the library chooses.
    pub executor: Executor,
    /// `allow`, `warn`, `error` or `forbid`; `None` leaves the library's default.
    pub full_scan: Option<String>,
    /// Blocks of 4 rows and deltas of 16, so that a file's few rows are merged, and read by several threads.
    pub tiny_layout: bool,
    /// Every column of every table gets an index.
    pub index_all: bool,
}

impl Options {
    /// A store without salt, as the library runs it.
    pub fn of(store: impl Into<Store>) -> Self {
        Self {
            store: store.into(),
            salt: 0,
            executor: Executor::Auto,
            full_scan: None,
            tiny_layout: false,
            index_all: false,
        }
    }
}

/// A fresh database, its connections by name.
pub(crate) struct Target {
    connections: HashMap<String, Connection>,
    database: Database,
    executor: Executor,
    is_remote: bool,
    // Goes last: the database is closed by then.
    _directory: Option<TempDir>,
}

impl Target {
    pub(crate) fn open(options: &Options) -> Result<Self, Error> {
        let directory = match options.store {
            Store::Embedded(StoreKind::Memory) | Store::FakeRemote | Store::FakeRemoteRows => None,
            Store::Embedded(_) => {
                Some(TempDir::new().map_err(|source| Error::File { path: "a temporary directory".into(), source })?)
            }
        };
        let builder: Builder = match &directory {
            None => Database::memory_builder(),
            Some(directory) => Database::builder(directory.path()),
        };
        // Nothing here has to outlive the process: no write waits for the disk.
        let mut builder = builder.default_salt_buckets(options.salt).buffered();
        if let Some(policy) = &options.full_scan {
            builder = builder.full_scan(policy)?;
        }
        if options.tiny_layout {
            builder = builder.tiny_layout().threads_from_rows(16);
        }
        let database = match options.store {
            Store::Embedded(kind) => builder.store(kind).open()?,
            Store::FakeRemote => {
                let store = RemoteStore::new(AtomicScope::Store, Faults::often(FAULTS_SEED));
                builder.open_over(Arc::new(store))?
            }
            Store::FakeRemoteRows => {
                let store = RemoteStore::new(AtomicScope::Row, Faults::often(FAULTS_SEED));
                builder.open_beside(Arc::new(store))?
            }
        };
        Ok(Self {
            connections: HashMap::new(),
            database,
            executor: options.executor,
            is_remote: matches!(options.store, Store::FakeRemote | Store::FakeRemoteRows),
            _directory: directory,
        })
    }

    /// The connection of this name, made when it is first named. `user_ann` is one of the user ann; if there is none, of the owner.
    pub(crate) fn connection(&mut self, name: &str) -> Connection {
        let user = name.strip_prefix("user_").and_then(|user| self.database.connect_as(user).ok());
        let made = || user.unwrap_or_else(|| self.database.connect()).blocking();
        self.connections.entry(name.to_owned()).or_insert_with(made).clone()
    }

    /// What a check of the database finds, where that is anything.
    pub(crate) fn damage(&self) -> Result<Option<String>, Error> {
        if self.is_remote {
            return Ok(None);
        }
        let report = self.database.check()?;
        let faults: Vec<String> = report.faults.iter().map(ToString::to_string).collect();
        Ok((!faults.is_empty()).then(|| format!("a check of the database finds: {}", faults.join("; "))))
    }

    /// Forces the executor for a query, and lets go of it for anything else.
    pub(crate) fn set_executor(&self, connection: &Connection, is_query: bool) -> Result<(), Error> {
        if self.executor == Executor::Auto {
            return Ok(());
        }
        let executor = if is_query { self.executor } else { Executor::Auto };
        match connection.execute(&format!("SET executor = '{}'", executor.as_str()), ()) {
            // The record's own statement fails, too.
            Err(error) if error.code() == ErrorCode::FailedTransaction => Ok(()),
            set => Ok(set.map(drop)?),
        }
    }
}

/// Whether the library was built with its relational engine: without it, joins,
/// groups and the like are refused and can only be skipped.
///
/// # Errors
/// [`Error::Database`] where even a database in memory does not open.
pub fn has_relational_engine() -> Result<bool, Error> {
    let connection = Database::memory()?.connect().blocking();
    Ok(!matches!(connection.query("SELECT 1 UNION ALL SELECT 2", ()), Err(e) if e.code() == ErrorCode::NotSupported))
}
