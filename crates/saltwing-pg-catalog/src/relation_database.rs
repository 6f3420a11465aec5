//! The memory database with the relations of one user.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::array::RecordBatch;
use parking_lot::RwLock;
use saltwing::{Connection, Database, FileAccess};
use tokio::sync::Mutex;

use crate::CatalogError;
use crate::definitions::{Definitions, read, sizes};
use crate::functions::{Shared, register};
use crate::lookups::Lookups;
use crate::relations::RELATIONS;

/// Memory for the joins and sorts of all queries of a user at once.
const MEMORY_BYTES: usize = 64 << 20;
/// Caches of a store that holds nothing.
const CACHE_BYTES: u64 = 1 << 20;
/// Threads for one query: relations are small.
const THREADS: NonZeroUsize = NonZeroUsize::new(1).unwrap();
/// Calls that run at once.
const CALLS_MAX: NonZeroUsize = NonZeroUsize::new(16).unwrap();
/// How old numbers of rows and bytes may be.
const SIZES_AGE_MAX: Duration = Duration::from_secs(2);
/// How often the definitions are read if others change them meanwhile.
const READS_MAX: u32 = 10;

/// Whose relations they are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Login {
    pub(crate) name: String,
    pub(crate) is_owner: bool,
    /// The name of the database that the client gave.
    pub(crate) database: String,
}

/// The relations of one user.
pub(crate) struct RelationDatabase {
    /// The database with the user's tables.
    source: Database,
    login: Login,
    /// The memory database.
    relations: Database,
    shared: Shared,
    state: Mutex<State>,
}

/// What was registered last.
struct State {
    version: Option<u64>,
    sizes_read: Instant,
    batches: HashMap<String, RecordBatch>,
}

impl RelationDatabase {
    /// An empty one, which [`RelationDatabase::refresh`] fills.
    ///
    /// # Errors
    /// The database's.
    pub(crate) async fn new(source: Database, login: Login) -> Result<Self, CatalogError> {
        let relations = Database::memory_builder()
            .file_access(FileAccess::None)
            .full_scan("allow")?
            .memory_limit(MEMORY_BYTES)
            .cache_bytes(CACHE_BYTES)
            .threads(THREADS)
            .blocking_threads_max(CALLS_MAX)
            .sweep_every(None)
            .open()?;
        let version = source.definitions_version();
        let definitions = read_definitions(&source, &login).await?;
        let shared: Shared = Arc::new(RwLock::new(Arc::new(Lookups::new(definitions))));
        register(&relations.connect().blocking(), &shared)?;
        let state = State { version: None, sizes_read: Instant::now(), batches: HashMap::new() };
        let new = Self { source, login, relations, shared, state: Mutex::new(state) };
        {
            let mut state = new.state.lock().await;
            new.register_relations(&mut state)?;
            state.version = Some(version);
        }
        Ok(new)
    }

    /// Brings the relations up to date: cheap while the definitions stay the same. `needs_sizes` says whether numbers of rows and bytes count.
    ///
    /// # Errors
    /// The database's, among others if the user was dropped.
    pub(crate) async fn refresh(&self, needs_sizes: bool) -> Result<(), CatalogError> {
        let mut state = self.state.lock().await;
        let mut reads = 0;
        while state.version != Some(self.source.definitions_version()) && reads < READS_MAX {
            let version = self.source.definitions_version();
            let definitions = read_definitions(&self.source, &self.login).await?;
            *self.shared.write() = Arc::new(Lookups::new(definitions));
            self.register_relations(&mut state)?;
            (state.version, state.sizes_read) = (Some(version), Instant::now());
            reads = reads.saturating_add(1);
        }
        if needs_sizes && state.sizes_read.elapsed() > SIZES_AGE_MAX {
            let lookups = self.lookups();
            let sizes = sizes(&connect(&self.source, &self.login)?, &lookups.definitions).await?;
            if sizes != lookups.definitions.sizes {
                *self.shared.write() = Arc::new(lookups.with_sizes(sizes));
                self.register_relations(&mut state)?;
            }
            state.sizes_read = Instant::now();
        }
        Ok(())
    }

    /// The definitions that the relations were made of.
    pub(crate) fn lookups(&self) -> Arc<Lookups> {
        self.shared.read().clone()
    }

    /// A connection to the relations.
    pub(crate) fn connect(&self) -> Connection {
        self.relations.connect()
    }

    /// Registers the relations whose rows are others than before.
    fn register_relations(&self, state: &mut State) -> Result<(), CatalogError> {
        let (lookups, connection) = (self.lookups(), self.relations.connect());
        for relation in RELATIONS.iter() {
            let batch = relation.batch(&lookups.definitions, &RELATIONS)?;
            let name = relation.table_name();
            if state.batches.get(&name) != Some(&batch) {
                connection.register_arrow(&name, &batch.schema(), std::slice::from_ref(&batch))?;
                state.batches.insert(name, batch);
            }
        }
        Ok(())
    }
}

/// A connection of the user with settings of its own: those of the session may be in a transaction, which sees older definitions.
fn connect(source: &Database, login: &Login) -> Result<Connection, CatalogError> {
    Ok(if login.is_owner { source.connect() } else { source.connect_as(&login.name)? })
}

async fn read_definitions(source: &Database, login: &Login) -> Result<Definitions, CatalogError> {
    let connection = connect(source, login)?;
    let user = (!login.is_owner).then_some(login.name.as_str());
    let owner = if login.is_owner { login.name.as_str() } else { OWNER_NAME };
    read(&connection, &login.database, owner, user).await
}

/// The name of the owner for users, who do not know it.
const OWNER_NAME: &str = "saltwing";
