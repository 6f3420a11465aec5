//! The catalog, as statements use it.

use std::sync::Arc;

use hbase_client::Table as CatalogTable;
use parking_lot::Mutex;
use saltwing_access::{Table, TableError};
use saltwing_catalog::{Applied, CatalogChange, CatalogError, CatalogReader, CatalogStore, ChangeError};
use saltwing_types::{SequenceDef, TableId, Value};

use super::definitions::Definitions;
use super::reader::Reader;
use crate::HbaseError;
use crate::cluster::Cluster;
use crate::open_tables::{OpenTables, Refresh};

const NO_CHANGES: &str =
    "this release does not change Phoenix's catalog: create, alter and drop tables, views and sequences with Phoenix";
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
}

impl PhoenixCatalog {
    /// The catalog whose rows are in an HBase table. It opens the tables that it reads.
    pub(crate) fn new(cluster: Arc<Cluster>, catalog: CatalogTable, open: Arc<OpenTables>) -> Self {
        let definitions = Arc::new(Definitions::new(cluster, catalog, open.clone()));
        let catalog: Arc<dyn Refresh> = definitions.clone();
        open.belong_to(Arc::downgrade(&catalog));
        Self { definitions, last: Mutex::default() }
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
            CatalogChange::CreateUser { .. }
            | CatalogChange::AlterUser { .. }
            | CatalogChange::DropUser(_)
            | CatalogChange::Grant(_)
            | CatalogChange::Revoke(_) => NO_USERS,
            _ => NO_CHANGES,
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

    /// No drops are left from here.
    fn finish_drops(&self) -> Result<(), CatalogError> {
        Ok(())
    }

    /// No indexes are built from here.
    fn index_progress(&self, _: TableId) -> Result<Option<Vec<u8>>, CatalogError> {
        Ok(None)
    }

    fn index_progress_row(&self, _: TableId, _: &[u8]) -> Option<(Arc<Table>, Vec<Value>)> {
        None
    }
}
