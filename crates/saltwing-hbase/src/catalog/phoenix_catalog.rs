//! The catalog, as statements use it.

use std::sync::Arc;

use hbase_client::Table as CatalogTable;
use parking_lot::Mutex;
use saltwing_access::{Table, TableError};
use saltwing_catalog::{Applied, CatalogChange, CatalogError, CatalogReader, CatalogStore, ChangeError};
use saltwing_types::{SequenceDef, TableId, Value};

use super::changes::LeftTables;
use super::definitions::Definitions;
use super::reader::Reader;
use crate::HbaseError;
use crate::cluster::Cluster;
use crate::open_tables::{OpenTables, Refresh};

const NO_VIEWS: &str =
    "views of a cluster are made and changed with Phoenix: CREATE VIEW there, and it is a table here";
const NO_SEQUENCES: &str = "sequences of a cluster are made, changed and dropped with Phoenix";
const NO_SCHEMAS: &str = "a schema of a cluster is there with its first table: CREATE TABLE s.t makes both";
const NO_TRUNCATE: &str = "a cluster does not remove all rows of a table at once: DELETE /*+ FULL_SCAN */ FROM t, or DROP TABLE t and CREATE TABLE t";
const NO_REPLACE: &str = "a cluster does not replace a table at once: DROP TABLE t, then CREATE TABLE t";
const NO_REGISTERED: &str = "tables of a program are not kept on a cluster: open a database in memory for them";
const NO_USERS: &str =
    "a cluster has no users of this program: rights are those that HBase gives to the user of the connection";
const NO_TEMPORARY: &str =
    "temporary tables are not kept on a cluster: open a database in memory, and attach or copy what it needs";
const NO_VALUES: &str = "this release takes no values of Phoenix's sequences: take them with Phoenix, NEXT VALUE FOR";

fn refused(reason: &'static str) -> CatalogError {
    TableError::from(HbaseError::NotSupported(reason)).into()
}

/// Phoenix's catalog.
pub(crate) struct PhoenixCatalog {
    definitions: Arc<Definitions>,
    /// The last snapshot, for statements as long as nothing has changed.
    last: Mutex<Option<Arc<Reader>>>,
    /// The HBase tables of dropped tables that are still there.
    left: LeftTables,
}

impl PhoenixCatalog {
    /// The catalog whose rows are in an HBase table. It opens the tables that it reads.
    pub(crate) fn new(cluster: Arc<Cluster>, catalog: CatalogTable, open: Arc<OpenTables>) -> Self {
        let definitions = Arc::new(Definitions::new(cluster, catalog, open.clone()));
        let catalog: Arc<dyn Refresh> = definitions.clone();
        open.belong_to(Arc::downgrade(&catalog));
        Self { definitions, last: Mutex::default(), left: LeftTables::default() }
    }
}

impl CatalogStore for PhoenixCatalog {
    /// Definitions that others have changed are noticed beside statements: a statement that begins later sees them.
    fn version(&self) -> u64 {
        self.definitions.check_soon();
        self.definitions.known.version()
    }

    fn snapshot(&self) -> Result<Arc<dyn CatalogReader>, CatalogError> {
        let version = self.version();
        let mut last = self.last.lock();
        match &*last {
            Some(reader) if reader.version() == version => Ok(reader.clone()),
            _ => {
                let reader = Arc::new(Reader::new(&self.definitions, version));
                *last = Some(reader.clone());
                Ok(reader)
            }
        }
    }

    fn apply(&self, change: CatalogChange<'_>) -> Result<Applied, ChangeError> {
        let reason = match change {
            CatalogChange::CreateTable { temporary: true, .. } => NO_TEMPORARY,
            CatalogChange::CreateTable { def, sequences, .. } => {
                return self.definitions.create_table(&def, &sequences, &self.left);
            }
            CatalogChange::AlterTable { old, new } => return self.definitions.alter_table(&old, &new),
            // Views of Phoenix are tables here.
            CatalogChange::DropTables(list) | CatalogChange::DropViews(list) => {
                return self.definitions.drop_tables(&list, &*self.snapshot()?, &self.left);
            }
            CatalogChange::CreateUser { .. }
            | CatalogChange::AlterUser { .. }
            | CatalogChange::DropUser(_)
            | CatalogChange::Grant(_)
            | CatalogChange::Revoke(_) => NO_USERS,
            CatalogChange::TruncateTables(_) => NO_TRUNCATE,
            CatalogChange::ReplaceTable { .. } => NO_REPLACE,
            CatalogChange::CreateView { .. } | CatalogChange::AlterView { .. } => NO_VIEWS,
            CatalogChange::CreateSequence { .. }
            | CatalogChange::AlterSequence { .. }
            | CatalogChange::DropSequences(_) => NO_SEQUENCES,
            CatalogChange::CreateSchema(_) | CatalogChange::RestoreSchema(_) | CatalogChange::DropSchemas(_) => {
                NO_SCHEMAS
            }
            CatalogChange::RegisterArrow(_) | CatalogChange::UnregisterArrow(_) => NO_REGISTERED,
        };
        Err(refused(reason).into())
    }

    fn next_values(&self, _: &SequenceDef, _: u64, _: usize) -> Result<Vec<i64>, CatalogError> {
        Err(refused(NO_VALUES))
    }

    fn next_value_of(&self, _: &SequenceDef) -> Result<Option<i64>, CatalogError> {
        Err(refused(NO_VALUES))
    }

    /// No values are reserved.
    fn return_sequence_values(&self) -> Result<(), CatalogError> {
        Ok(())
    }

    fn lease_ids(&self, _: usize) -> Result<Vec<TableId>, CatalogError> {
        Err(refused(NO_TEMPORARY))
    }

    /// No ids are leased.
    fn release_ids(&self, _: &[TableId]) {}

    /// No rows are without a definition.
    fn purge(&self, _: TableId) -> Result<(), CatalogError> {
        Ok(())
    }

    fn finish_drops(&self) -> Result<(), CatalogError> {
        Ok(self.left.finish(&self.definitions)?)
    }

    /// No indexes are built from here.
    fn index_progress(&self, _: TableId) -> Result<Option<Vec<u8>>, CatalogError> {
        Ok(None)
    }

    fn index_progress_row(&self, _: TableId, _: &[u8]) -> Option<(Arc<Table>, Vec<Value>)> {
        None
    }
}
