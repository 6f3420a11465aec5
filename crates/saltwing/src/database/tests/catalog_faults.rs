//! Statements over a catalog of which any call can fail, as the calls of a remote catalog can.
//!
//! Whichever call fails, the statement returns the error with its code, definitions and rows are unchanged, and the statement succeeds when
//! it is sent again. The failing catalog implements only the trait, so the statements use only the trait.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use parking_lot::Mutex;
use saltwing_access::{Table, TableError};
use saltwing_catalog::{Applied, ArrowTable, CatalogChange, CatalogError, CatalogReader, CatalogStore, ChangeError};
use saltwing_types::{
    ErrorCode, SchemaDef, SequenceDef, StorageCause, StorageError, TableDef, TableId, UserDef, Value, ViewDef,
};

use crate::blocking::Connection;
use crate::{Database, Error, Response};

/// The call of the catalog that fails, once.
#[derive(Default)]
struct Faults {
    /// The number of calls before the failing one, and the cause; `None` if no call fails.
    left: Mutex<Option<(u64, StorageCause)>>,
    failed: AtomicU64,
}

impl Faults {
    fn call(&self) -> Result<(), CatalogError> {
        let mut left = self.left.lock();
        match &mut *left {
            None => Ok(()),
            Some((0, cause)) => {
                let error = TableError::from(StorageError::new(*cause, io::Error::other("the catalog is away")));
                *left = None;
                self.failed.fetch_add(1, SeqCst);
                Err(error.into())
            }
            Some((left, _)) => {
                *left -= 1;
                Ok(())
            }
        }
    }
}

struct FailingStore {
    below: Arc<dyn CatalogStore>,
    faults: Arc<Faults>,
}

impl CatalogStore for FailingStore {
    fn version(&self) -> u64 {
        self.below.version()
    }

    fn snapshot(&self) -> Result<Arc<dyn CatalogReader>, CatalogError> {
        self.faults.call()?;
        Ok(Arc::new(FailingReader { below: self.below.snapshot()?, faults: self.faults.clone() }))
    }

    fn apply(&self, change: CatalogChange<'_>) -> Result<Applied, ChangeError> {
        self.faults.call()?;
        self.below.apply(change)
    }

    fn next_values(&self, def: &SequenceDef, count: u64, rows: usize) -> Result<Vec<i64>, CatalogError> {
        self.faults.call()?;
        self.below.next_values(def, count, rows)
    }

    fn next_value_of(&self, def: &SequenceDef) -> Result<Option<i64>, CatalogError> {
        self.faults.call()?;
        self.below.next_value_of(def)
    }

    fn return_sequence_values(&self) -> Result<(), CatalogError> {
        self.below.return_sequence_values()
    }

    fn lease_ids(&self, count: usize) -> Result<Vec<TableId>, CatalogError> {
        self.faults.call()?;
        self.below.lease_ids(count)
    }

    fn release_ids(&self, ids: &[TableId]) {
        self.below.release_ids(ids);
    }

    fn purge(&self, id: TableId) -> Result<(), CatalogError> {
        self.faults.call()?;
        self.below.purge(id)
    }

    fn finish_drops(&self) -> Result<(), CatalogError> {
        self.faults.call()?;
        self.below.finish_drops()
    }

    fn index_progress(&self, entries: TableId) -> Result<Option<Vec<u8>>, CatalogError> {
        self.faults.call()?;
        self.below.index_progress(entries)
    }

    fn index_progress_row(&self, entries: TableId, last: &[u8]) -> Option<(Arc<Table>, Vec<Value>)> {
        self.below.index_progress_row(entries, last)
    }
}

struct FailingReader {
    below: Arc<dyn CatalogReader>,
    faults: Arc<Faults>,
}

impl CatalogReader for FailingReader {
    fn version(&self) -> u64 {
        self.below.version()
    }

    fn resolve(&self, schema: Option<&str>, name: &str) -> Result<Arc<Table>, CatalogError> {
        self.faults.call()?;
        self.below.resolve(schema, name)
    }

    fn arrow_table(&self, name: &str) -> Option<Arc<ArrowTable>> {
        self.below.arrow_table(name)
    }

    fn canonical_schema<'s>(&self, schema: &'s str) -> Result<&'s str, CatalogError> {
        self.faults.call()?;
        self.below.canonical_schema(schema)
    }

    fn has_schema(&self, schema: &str) -> Result<bool, CatalogError> {
        self.faults.call()?;
        self.below.has_schema(schema)
    }

    fn tables(&self) -> Result<Vec<Arc<Table>>, CatalogError> {
        self.faults.call()?;
        self.below.tables()
    }

    fn sequence(&self, schema: Option<&str>, name: &str) -> Result<Arc<SequenceDef>, CatalogError> {
        self.faults.call()?;
        self.below.sequence(schema, name)
    }

    fn sequences(&self) -> Result<Vec<Arc<SequenceDef>>, CatalogError> {
        self.faults.call()?;
        self.below.sequences()
    }

    fn view(&self, schema: Option<&str>, name: &str) -> Result<Option<Arc<ViewDef>>, CatalogError> {
        self.faults.call()?;
        self.below.view(schema, name)
    }

    fn views(&self) -> Result<Vec<Arc<ViewDef>>, CatalogError> {
        self.faults.call()?;
        self.below.views()
    }

    fn has_views(&self) -> bool {
        self.below.has_views()
    }

    fn schemas(&self) -> Result<Vec<Arc<SchemaDef>>, CatalogError> {
        self.faults.call()?;
        self.below.schemas()
    }

    fn user(&self, name: &str) -> Result<Option<Arc<UserDef>>, CatalogError> {
        self.faults.call()?;
        self.below.user(name)
    }

    fn users(&self) -> Result<Vec<Arc<UserDef>>, CatalogError> {
        self.faults.call()?;
        self.below.users()
    }

    fn user_secret(&self) -> Result<Option<[u8; 32]>, CatalogError> {
        self.faults.call()?;
        self.below.user_secret()
    }

    fn is_temporary(&self, table: &TableDef) -> bool {
        self.below.is_temporary(table)
    }
}

const SETUP: &[&str] = &[
    "SET full_scan = 'allow'",
    "CREATE SCHEMA s",
    "CREATE TABLE t (k INTEGER PRIMARY KEY, a INTEGER, b VARCHAR)",
    "CREATE INDEX t_a ON t (a)",
    "CREATE SEQUENCE q",
    "CREATE TABLE u (k BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, a INTEGER DEFAULT 1)",
    "CREATE VIEW v AS SELECT k, a FROM t WHERE a = 1",
    "CREATE USER ann PASSWORD 'one'",
    "CREATE USER bob PASSWORD 'two'",
    "GRANT SELECT ON t TO ann",
    "UPSERT INTO t VALUES (1, 1, 'x')",
    "UPSERT INTO u VALUES (100, 1)",
];

/// A statement of each kind that reads or changes the catalog.
const STATEMENTS: &[&str] = &[
    "CREATE TABLE n (k INTEGER PRIMARY KEY)",
    "CREATE TABLE IF NOT EXISTS n (k BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY)",
    "CREATE TEMPORARY TABLE n (k INTEGER PRIMARY KEY)",
    "CREATE TABLE n PRIMARY KEY (k) AS SELECT k, a FROM t",
    "ALTER TABLE u ADD c INTEGER",
    "ALTER TABLE t DROP COLUMN b",
    "ALTER TABLE u RENAME TO u2",
    "ALTER TABLE t ADD CONSTRAINT positive CHECK (k > 0)",
    "ALTER TABLE t SET TTL = 100000",
    "CREATE INDEX t_b ON t (b)",
    "ALTER INDEX t_a ON t DISABLE",
    "ALTER INDEX t_a ON t REBUILD",
    "DROP INDEX t_a ON t",
    "CREATE SEQUENCE r START WITH 5",
    "ALTER SEQUENCE q INCREMENT BY 2",
    "DROP SEQUENCE q",
    "CREATE VIEW w AS SELECT * FROM t",
    "CREATE OR REPLACE VIEW v AS SELECT k, a, b FROM t",
    "CREATE VIEW w (extra VARCHAR) AS SELECT * FROM t WHERE a = 1",
    "ALTER VIEW v ADD extra VARCHAR",
    "DROP VIEW v",
    "CREATE SCHEMA n",
    "DROP SCHEMA s",
    "CREATE USER IF NOT EXISTS cyd PASSWORD 'three'",
    "ALTER USER ann PASSWORD 'four'",
    "DROP USER IF EXISTS bob",
    "GRANT ALL ON SCHEMA s TO ann, bob",
    "REVOKE SELECT ON t FROM ann",
    "SHOW USERS",
    "SHOW GRANTS FOR ann",
    "COMMENT ON TABLE t IS 'text'",
    "COMMENT ON VIEW v IS 'text'",
    "COMMENT ON COLUMN t.a IS 'text'",
    "TRUNCATE TABLE t, u",
    "DROP TABLE u",
    "DROP TABLE IF EXISTS t, nope CASCADE",
    "UPSERT INTO t VALUES (2, 2, 'y')",
    "INSERT INTO u (a) VALUES (7)",
    "INSERT INTO t (k, a) SELECT k + 5, a FROM v",
    "UPSERT INTO v (k, a) VALUES (3, 1)",
    "UPDATE t SET a = 5 WHERE k = 1",
    "DELETE FROM v WHERE k = 1",
    "SELECT * FROM t WHERE k = 1",
    "SELECT k, NEXT VALUE FOR q FROM t WHERE k = 1",
    "SHOW TABLES FROM s",
    "SHOW VIEWS",
    "SHOW SEQUENCES",
    "SHOW SCHEMAS",
    "SHOW INDEXES",
    "SHOW CREATE TABLE u",
    "SHOW CREATE VIEW v",
    "SHOW CREATE SEQUENCE q",
    "DESCRIBE t",
    "DESCRIBE q",
    "EXPLAIN SELECT * FROM v WHERE k = 1",
    "EXPLAIN UPDATE t SET a = 5 WHERE k = 1",
    "EXPORT ALL AS PHOENIX",
    "SELECT table_name FROM information_schema.tables",
    "SELECT column_name FROM information_schema.columns",
    "SELECT table_name, is_updatable FROM information_schema.views",
    "SELECT index_name FROM information_schema.indexes",
];

/// Statements for the relational engine.
const RELATIONAL: &[&str] = &[
    "MERGE INTO t USING u ON t.k = u.k WHEN MATCHED THEN UPDATE SET a = 9",
    "SELECT v.k FROM v JOIN u ON v.k = u.k WHERE v.k = 1",
    "SELECT v.table_name, is_updatable FROM information_schema.views AS v JOIN information_schema.tables AS t ON v.table_name = t.table_name",
];

/// A database of which any call of the catalog can fail.
fn database() -> (Database, Arc<Faults>) {
    let mut database = Database::memory_builder().tiny_layout().sweep_every(None).open().unwrap();
    let shared = Arc::get_mut(&mut database.shared).unwrap();
    let (below, faults) = (shared.catalog.clone(), Arc::new(Faults::default()));
    shared.catalog = Arc::new(FailingStore { below, faults: faults.clone() });
    (database, faults)
}

/// Runs a statement; returns the texts of its rows.
fn run(connection: &Connection, sql: &str) -> Result<Vec<String>, Error> {
    let mut texts = Vec::new();
    if let Response::Rows(mut rows) = connection.run(sql, ())? {
        while let Some(batch) = rows.next_blocking()? {
            texts.push(format!("{:?}", batch.columns()));
        }
    }
    Ok(texts)
}

/// The definitions and rows of a database.
fn state(connection: &Connection) -> Vec<String> {
    let mut state = Vec::new();
    let lists =
        ["SCHEMAS", "TABLES", "VIEWS", "SEQUENCES", "INDEXES", "USERS", "GRANTS"].map(|what| format!("SHOW {what}"));
    let of_sequence = |name| format!("SHOW CREATE SEQUENCE {name}");
    let of_table = |name| [format!("SHOW CREATE TABLE {name}"), format!("SELECT /*+ FULL_SCAN */ * FROM {name}")];
    let sequences = ["q", "r"].map(of_sequence);
    let tables = ["t", "u", "u2", "n", "v", "w"].into_iter().flat_map(of_table);
    for sql in lists.into_iter().chain(sequences).chain(tables) {
        match run(connection, &sql) {
            Ok(rows) => state.push(format!("{sql}: {rows:?}")),
            Err(error) if matches!(error.code(), ErrorCode::NoSuchTable | ErrorCode::NoSuchSequence) => {}
            Err(error) => panic!("{sql}: {error}"),
        }
    }
    state
}

/// The rows of a statement, and the definitions and rows of the database after it.
type Done = (Vec<String>, Vec<String>);

/// The effect of a failed call of the catalog.
enum Fault {
    /// The statement returned the call's error.
    Told,
    /// The statement continued without the answer.
    PassedOver,
    /// The statement makes fewer calls.
    None,
}

/// Runs a statement whose call number `call` of the catalog fails.
fn run_with_fault(sql: &str, call: u64, has_own: bool, done: &Done) -> Fault {
    let (database, faults) = database();
    let connection = database.connect().blocking();
    SETUP.iter().for_each(|sql| drop(run(&connection, sql).unwrap()));
    if has_own {
        run(&connection, "CREATE TEMPORARY TABLE own (k INTEGER PRIMARY KEY)").unwrap();
    }
    let before = state(&connection);
    let cause = if call.is_multiple_of(2) { StorageCause::Io } else { StorageCause::Locked };
    *faults.left.lock() = Some((call, cause));
    let result = run(&connection, sql);
    *faults.left.lock() = None;
    let what = format!("{sql}, call {call}: {:?}", result.as_ref().map(drop).map_err(ToString::to_string));
    let (rows, fault) = match result {
        Err(error) => {
            assert_eq!((error.code(), error.is_retryable()), (cause.code(), cause.code().is_retryable()), "{what}");
            assert!(error.to_string().contains("the catalog is away"), "{what}");
            assert_eq!(state(&connection), before, "{what}");
            (run(&connection, sql).unwrap_or_else(|error| panic!("{what}, and then: {error}")), Fault::Told)
        }
        Ok(rows) if faults.failed.load(SeqCst) == 0 => (rows, Fault::None),
        Ok(rows) => (rows, Fault::PassedOver),
    };
    // The lists name the temporary table as well, and values of sequences may be skipped.
    if !has_own && !sql.contains("NEXT VALUE") && !sql.contains("INTO u (a)") {
        assert_eq!((&rows, &state(&connection)), (&done.0, &done.1), "{what}");
    }
    fault
}

#[test]
fn a_failing_catalog_is_told_and_leaves_all_as_it_was() {
    let relational = if cfg!(feature = "datafusion") { RELATIONAL } else { &[] };
    for sql in STATEMENTS.iter().chain(relational) {
        let (database, _) = database();
        let connection = database.connect().blocking();
        SETUP.iter().for_each(|sql| drop(run(&connection, sql).unwrap()));
        let rows = run(&connection, sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        let done = (rows, state(&connection));
        for has_own in [false, true] {
            let faults = (0..).map(|call| run_with_fault(sql, call, has_own, &done));
            let faults: Vec<Fault> = faults.take_while(|fault| !matches!(fault, Fault::None)).collect();
            assert!(faults.iter().any(|fault| matches!(fault, Fault::Told)), "{sql} tells no error");
        }
    }
}
