//! A database.

use std::path::Path;
use std::sync::Arc;

use saltwing_access::{Capabilities, DurabilityScope, TableStore};
use saltwing_catalog::{Catalog, CatalogStore};
use saltwing_store::OrderedKv;
use saltwing_table::EmbeddedTables;
use saltwing_types::ErrorCode;

use crate::index_builder::{BackgroundBuild, IndexBuilder, left_builds};
use crate::session::Session;
use crate::shared::Shared;
use crate::sweeper::Sweeper;
use crate::{Builder, Connection, Error, blocking};

/// An open database. Cheap to clone; it closes when the last clone, connection and result are gone.
#[derive(Clone)]
pub struct Database {
    pub(crate) shared: Arc<Shared>,
}

impl Builder {
    /// Opens the database.
    ///
    /// # Errors
    /// [`ErrorCode::Locked`] if the database is already open, unless all openings are for reading; [`ErrorCode::NotSupported`] for a
    /// newer format or another store; [`ErrorCode::Corrupt`]; [`ErrorCode::Io`].
    pub fn open(self) -> Result<Database, Error> {
        let kv = self.open_store()?;
        Database::start(kv, self)
    }

    /// Opens a database over a table store that is not part of this crate. Options for files, the layout of rows and the clock have
    /// no effect. COMPACT, SHOW STORAGE, backups and checks are not possible.
    ///
    /// # Errors
    /// As [`Builder::open`]; errors of the store; [`ErrorCode::NotSupported`] if it does not write rows of several tables as a whole, as a catalog
    /// needs it.
    pub fn open_over(self, tables: Arc<dyn TableStore>) -> Result<Database, Error> {
        let catalog = Catalog::boot(tables.clone(), self.readonly)?;
        Database::over(tables, Arc::new(catalog), self)
    }

    /// As [`Builder::open_over`], with the definitions of the tables in another store, for example in this process. The options for files, the
    /// layout and the clock are for the store of the definitions.
    ///
    /// # Errors
    /// As [`Builder::open`]; errors of the stores.
    pub fn open_beside(self, tables: Arc<dyn TableStore>) -> Result<Database, Error> {
        let definitions = EmbeddedTables::open_with(self.open_store()?, self.clock.clone(), self.layout.clone())?;
        let catalog = Catalog::boot_beside(Arc::new(definitions), tables.clone(), self.readonly)?;
        Database::over(tables, Arc::new(catalog), self)
    }

    /// As [`Builder::open_over`], with a catalog of the store's own.
    ///
    /// # Errors
    /// Errors of the catalog.
    pub fn open_with_catalog(
        self,
        tables: Arc<dyn TableStore>,
        catalog: Arc<dyn CatalogStore>,
    ) -> Result<Database, Error> {
        Database::over(tables, catalog, self)
    }
}

impl Database {
    /// Opens the database in a directory, and creates it if it does not exist.
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
        let mut notices = kv.notices().to_vec();
        let directory = options.path.as_ref().map(std::fs::canonicalize).transpose().map_err(|error| {
            Error::new(ErrorCode::Io, format!("the database's directory cannot be looked at: {error}"))
        })?;
        let storage = Arc::new(EmbeddedTables::open_with(kv, options.clock.clone(), options.layout.clone())?);
        notices.extend(durability_notice(storage.capabilities()));
        let spill_directory = directory.as_ref().filter(|_| !options.readonly).map(|path| path.join(SPILL_DIRECTORY));
        spill_directory.as_deref().into_iter().for_each(remove_leftovers);
        let catalog = Arc::new(Catalog::boot(storage.clone(), options.readonly)?);
        let mut shared = Shared::over(storage.clone(), catalog, options, spill_directory)?;
        let (options, catalog) = (&shared.options, &shared.catalog);
        if !options.readonly {
            storage.start_merging()?;
        }
        let sweeper = match options.sweep_every {
            _ if options.readonly => None,
            Some(every) => Some(Sweeper::start(storage.clone(), catalog.clone(), every)?),
            None => {
                catalog.finish_drops()?;
                None
            }
        };
        if !options.readonly {
            let (tables, durability, commit_rows) = (storage.clone(), options.durability, options.index_commit_rows);
            let builder = IndexBuilder { tables: &*tables, catalog: &**catalog, durability, commit_rows };
            let entries = left_builds(&builder)?;
            if !entries.is_empty() {
                let (catalog, failures) = (catalog.clone(), Some(storage.clone()));
                let build = BackgroundBuild { tables, catalog, durability, commit_rows, entries, failures };
                shared.index_builds.start(build)?;
            }
        }
        (shared.storage, shared.directory, shared.notices, shared.sweeper) =
            (Some(storage), directory, notices, sweeper);
        Ok(Self { shared: Arc::new(shared) })
    }

    /// As [`Builder::open_with_catalog`].
    fn over(tables: Arc<dyn TableStore>, catalog: Arc<dyn CatalogStore>, options: Builder) -> Result<Self, Error> {
        let shared = Shared::over(tables, catalog, options, None)?;
        if !shared.options.readonly {
            shared.catalog.finish_drops()?;
        }
        Ok(Self { shared: Arc::new(shared) })
    }

    /// A new connection, with settings of its own.
    pub fn connect(&self) -> Connection {
        Connection { blocking: blocking::Connection { session: Session::new(self.shared.clone()) } }
    }

    /// Whether the database is open for reading alone ([`Builder::readonly`]).
    pub fn is_readonly(&self) -> bool {
        self.shared.options.readonly
    }

    /// A number that changes with every change of definitions: of tables, indexes, views, sequences, schemas, users and grants. Caches of
    /// `information_schema` can compare it. Rows and temporary tables do not change it.
    pub fn definitions_version(&self) -> u64 {
        self.shared.catalog.version()
    }

    /// Notices about the opened database, one sentence each: repairs at opening, such as a torn end of the journal
    /// after a crash, and guarantees that the store lacks. Nearly always empty.
    pub fn notices(&self) -> &[String] {
        &self.shared.notices
    }

    /// The name of the key-value store.
    pub fn store_name(&self) -> &'static str {
        self.shared.tables.capabilities().name
    }

    /// Deletes expired rows now, and rows that remain of dropped tables whose removal failed; returns how many rows had
    /// expired.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn sweep(&self) -> Result<u64, Error> {
        self.shared.catalog.finish_drops()?;
        self.shared.storage.as_ref().map_or(Ok(0), |storage| Ok(storage.sweep()?))
    }

    /// Writes everything to the disk, so that the next opening is fast. Dropping does the same, but reports no errors.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn close(self) -> Result<(), Error> {
        // Only a database open for writing merges the rows above the limits.
        match &self.shared.storage {
            Some(storage) if !self.shared.options.readonly => Ok(storage.close()?),
            _ => Ok(()),
        }
    }
}

/// The directory for temporary files of sorts, joins and groups, inside the database's directory.
const SPILL_DIRECTORY: &str = "spill";

/// Removes temporary files of a process that was killed. If that fails, the files do no harm.
fn remove_leftovers(spill_directory: &Path) {
    match std::fs::remove_dir_all(spill_directory) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            tracing::warn!(%error, path = %spill_directory.display(), "temporary files were not removed");
        }
        _ => {}
    }
}

/// Adds a notice if a power cut may lose rows that the store acknowledged as synced.
fn durability_notice(capabilities: &Capabilities) -> Option<String> {
    let is_lost = capabilities.persistent && capabilities.durability == DurabilityScope::Process;
    is_lost.then(|| {
        format!(
            "the store {} is experimental: rows that were acknowledged as synced survive a killed process, but a power cut \
             or a crash of the operating system may take them, or the whole database",
            capabilities.name
        )
    })
}

#[cfg(test)]
mod tests {
    mod catalog_faults;
    mod faults;
    mod index_expiry_faults;
    mod index_faults;
    mod public_schema;
    mod system_tables;

    use saltwing_store::MemoryStore;
    use saltwing_store::conformance::fault::{Call, Fault, FaultStore};

    use super::*;

    const WRITES: [&str; 6] = [
        "UPSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')",
        "UPSERT INTO t (k) VALUES (2)",
        "INSERT INTO t VALUES (6, 'd')",
        "UPSERT INTO t SELECT k + 10, v FROM t WHERE k > 0",
        "DELETE FROM t WHERE k > 10",
        "DELETE FROM t WHERE k > 0",
    ];

    /// A write waits for one sync, or for none if it is buffered. Definitions are always synced.
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

    /// Statements that free space run on a nearly full device; statements that take space resume when there is room.
    #[test]
    fn a_nearly_full_device_takes_deletions_alone() {
        let kv = FaultStore::new(MemoryStore::new(), Fault::None);
        let database =
            Database::start(Arc::new(kv.clone()), Database::memory_builder().tiny_layout().sweep_every(None)).unwrap();
        let connection = database.connect().blocking();
        let code = |sql: &str| connection.execute(sql, ()).err().map(|error| error.sqlstate().to_owned());
        for name in ["t", "u", "w"] {
            assert_eq!(code(&format!("CREATE TABLE {name} (k BIGINT NOT NULL PRIMARY KEY, v VARCHAR)")), None);
            assert_eq!(code(&format!("UPSERT INTO {name} VALUES (1, 'a'), (2, 'b'), (3, 'c')")), None);
        }
        kv.faults().set_room(Some(0));
        let takes = [
            "UPSERT INTO t VALUES (4, 'd')",
            "INSERT INTO t VALUES (6, 'd')",
            "CREATE TABLE x (k BIGINT NOT NULL PRIMARY KEY)",
        ];
        takes.iter().for_each(|sql| assert_eq!(code(sql).as_deref(), Some("53100"), "{sql}"));
        for sql in ["DELETE FROM t WHERE k = 1", "COMPACT t", "TRUNCATE TABLE u", "DROP TABLE w", "COMPACT u"] {
            assert_eq!(code(sql), None, "{sql}");
        }
        kv.faults().set_room(None);
        takes.iter().for_each(|sql| assert_eq!(code(&sql.replace("(4", "(5")), None, "{sql}"));
    }

    /// A dropped table stays dropped: if its space cannot be freed now, the statement returns a notice, and the space is freed later.
    #[test]
    fn a_drop_or_truncate_does_not_fail_for_space() {
        for (sql, rest) in [("DROP TABLE t", vec![]), ("TRUNCATE TABLE t", vec!["t"])] {
            let kv = FaultStore::new(MemoryStore::new(), Fault::None);
            let database =
                Database::start(Arc::new(kv.clone()), Database::memory_builder().tiny_layout().sweep_every(None))
                    .unwrap();
            let connection = database.connect().blocking();
            connection.execute("CREATE TABLE t (k BIGINT NOT NULL PRIMARY KEY, v VARCHAR)", ()).unwrap();
            (0..40).for_each(|k| drop(connection.execute(&format!("UPSERT INTO t VALUES ({k}, 'a')"), ()).unwrap()));
            let failure = saltwing_store::conformance::fault::Failure::once(Call::Write, 1);
            kv.faults().set(Fault::Fail(failure));
            let done = connection.execute(sql, ()).unwrap();
            assert_eq!((kv.faults().failed(), done.notices.len()), (1, 1), "{sql}: {:?}", done.notices);
            let tables: Vec<String> =
                connection.query("SHOW TABLES", ()).unwrap().map(|row| row.unwrap().get(1).unwrap()).collect();
            assert_eq!(tables, rest);
            assert!(database.check().unwrap().is_sound());
            database.sweep().unwrap();
            let stored = |space| {
                let bounds = saltwing_store::KeyBounds::prefix(&100u32.to_be_bytes());
                let cursor = kv.cursor(saltwing_store::Space::new(space), bounds, saltwing_store::Direction::Forward);
                cursor.unwrap().next().unwrap().is_some()
            };
            assert!(!(1..=9).any(stored), "{sql}");
        }
    }

    /// On a full device no statement can build an index, and DROP INDEX works; a build that fails because the device fills leaves nothing.
    #[test]
    fn an_index_is_dropped_on_a_full_device() {
        let kv = FaultStore::new(MemoryStore::new(), Fault::None);
        let builder = Database::memory_builder().tiny_layout().sweep_every(None).index_commit_rows(10);
        let database = Database::start(Arc::new(kv.clone()), builder).unwrap();
        let connection = database.connect().blocking();
        let run = |sql: &str| connection.execute(sql, ()).map_err(|error| error.code().as_str());
        run("CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR)").unwrap();
        (0..40).for_each(|k| drop(run(&format!("UPSERT INTO t VALUES ({k}, 'a{k}')")).unwrap()));
        run("CREATE UNIQUE INDEX i ON t (v)").unwrap();
        let states = || -> Vec<String> {
            let rows = connection.query("SHOW INDEXES", ()).unwrap();
            rows.map(|row| row.unwrap().get("state").unwrap()).collect()
        };
        let faults = kv.faults().clone();
        for sql in ["CREATE INDEX j ON t (v)", "ALTER INDEX i ON t REBUILD", "ALTER TABLE t SET TTL = 100"] {
            for is_full_at_once in [true, false] {
                let faults = faults.clone();
                faults.set_room(is_full_at_once.then_some(0));
                connection.on_index_progress(move |_| faults.set_room(Some(0)));
                assert_eq!(run(sql).err(), Some("disk_full"), "{sql}");
                assert_eq!(states(), ["ready"], "{sql}");
                assert!(database.check().unwrap().is_sound(), "{sql}");
            }
        }
        run("DROP INDEX i ON t").unwrap();
        assert!(states().is_empty() && database.check().unwrap().is_sound());
    }

    /// The rows of temporary tables are removed at the end of the connection: in the background, or at once if there is no background thread.
    #[test]
    fn the_end_of_a_connection_frees_its_tables() {
        for every in [None, Some(std::time::Duration::from_secs(3600))] {
            let kv = FaultStore::new(MemoryStore::new(), Fault::None);
            let builder = Database::memory_builder().tiny_layout().sweep_every(every);
            let database = Database::start(Arc::new(kv.clone()), builder).unwrap();
            let stored = |id: u32| {
                (1..=9).any(|space| {
                    let bounds = saltwing_store::KeyBounds::prefix(&id.to_be_bytes());
                    let space = saltwing_store::Space::new(space);
                    let cursor = kv.cursor(space, bounds, saltwing_store::Direction::Forward);
                    cursor.unwrap().next().unwrap().is_some()
                })
            };
            let connection = database.connect().blocking();
            for name in ["a", "b"] {
                connection.execute(&format!("CREATE TEMP TABLE {name} (k BIGINT PRIMARY KEY)"), ()).unwrap();
                (0..40)
                    .for_each(|k| drop(connection.execute(&format!("UPSERT INTO {name} VALUES ({k})"), ()).unwrap()));
            }
            connection.execute("DROP TABLE a", ()).unwrap();
            database.sweep().unwrap();
            assert_eq!([stored(100), stored(101)], [false, true], "{every:?}");
            let prepared = connection.prepare("SELECT k FROM b WHERE k = ?").unwrap();
            drop(connection);
            assert!(stored(101), "a prepared statement has the connection");
            drop(prepared);
            let began = std::time::Instant::now();
            while every.is_some() && stored(101) && began.elapsed().as_secs() < 20 {
                std::thread::sleep(std::time::Duration::from_millis(2));
            }
            assert!(!stored(101), "{every:?}");
        }
    }

    /// The cost of TRUNCATE is linear in the blocks, not in the rows.
    #[test]
    fn a_truncate_writes_little() {
        let kv = FaultStore::new(MemoryStore::new(), Fault::None);
        let database = Database::start(Arc::new(kv.clone()), Database::memory_builder().sweep_every(None)).unwrap();
        let connection = database.connect().blocking();
        connection.execute("CREATE TABLE t (k BIGINT NOT NULL PRIMARY KEY, v VARCHAR)", ()).unwrap();
        let values: Vec<String> = (0..10_000).map(|k| format!("({k}, 'v')")).collect();
        connection.execute(&format!("UPSERT INTO t VALUES {}", values.join(", ")), ()).unwrap();
        connection.execute("COMPACT t", ()).unwrap();
        let blocks: i64 =
            connection.query_one::<crate::Row>("SHOW STORAGE FOR t", ()).unwrap().get("block_count").unwrap();
        let before = kv.counts().mutations;
        connection.execute("TRUNCATE TABLE t", ()).unwrap();
        let mutations = kv.counts().mutations - before;
        let most = 100 + 5 * u64::try_from(blocks).unwrap();
        assert!(blocks < 10_000 && mutations < most, "{mutations} for {blocks} blocks");
    }
}
