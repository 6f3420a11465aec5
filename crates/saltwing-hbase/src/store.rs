//! The store of tables.

use std::ops::Range;
use std::sync::Arc;

use saltwing_access::{
    AtomicScope, Capabilities, Clock, CommitNo, DurabilityScope, PointRow, Projection, Snapshot, SnapshotScope,
    SystemClock, Table, TableError, TableStore, Transaction, WriteBatch,
};
use saltwing_expr::RowValues;
use saltwing_types::TableId;

use crate::HbaseError;
use crate::cluster::Cluster;
use crate::open_tables::OpenTables;
use crate::snapshot::ClusterSnapshot;
use crate::writes::{ClusterBatch, ClusterTransaction};

/// The store's name, for messages.
const NAME: &str = "hbase";

/// The rows of Phoenix's tables on a cluster.
pub(crate) struct PhoenixStore {
    cluster: Arc<Cluster>,
    tables: Arc<OpenTables>,
    capabilities: Capabilities,
}

impl PhoenixStore {
    pub(crate) fn new(cluster: Arc<Cluster>, tables: Arc<OpenTables>) -> Self {
        let capabilities = Capabilities {
            name: NAME,
            atomic: AtomicScope::Row,
            snapshots: SnapshotScope::Region,
            sets_columns: true,
            persistent: true,
            // Servers hand the journal to several machines, and wait for no disk.
            durability: DurabilityScope::Process,
        };
        Self { cluster, tables, capabilities }
    }

    fn changes(&self) -> ClusterBatch {
        ClusterBatch::new(self.cluster.clone(), self.tables.clone())
    }

    fn reads(&self) -> ClusterSnapshot {
        ClusterSnapshot { cluster: self.cluster.clone(), tables: self.tables.clone(), now_ms: self.now_ms() }
    }
}

impl TableStore for PhoenixStore {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn now_ms(&self) -> i64 {
        SystemClock.now_ms()
    }

    /// The cluster numbers no commits.
    fn newest_commit(&self) -> CommitNo {
        CommitNo(0)
    }

    fn open_table(&self, table: Table) -> Arc<Table> {
        self.tables.open(table)
    }

    fn close_table(&self, id: TableId) {
        self.tables.close(id);
    }

    fn table(&self, id: TableId) -> Result<Arc<Table>, TableError> {
        self.tables.table(id)
    }

    /// Rows are only in tables of Phoenix's catalog, and none of them is dropped from here.
    fn purge(&self, _: TableId) -> Result<(), TableError> {
        Ok(())
    }

    fn snapshot(&self) -> Result<Arc<dyn Snapshot>, TableError> {
        Ok(Arc::new(self.reads()))
    }

    fn point(&self, columns: &Projection, row_key: &[u8]) -> Result<Option<PointRow>, TableError> {
        let Some(row) = self.reads().read_row(columns, row_key)? else { return Ok(None) };
        let mut values = RowValues::new(columns.columns().len());
        values.push_row(row.values);
        Ok(Some(PointRow { values, bytes: row.bytes }))
    }

    fn batch(&self) -> Box<dyn WriteBatch> {
        Box::new(self.changes())
    }

    fn begin(&self) -> Result<Box<dyn Transaction>, TableError> {
        Ok(Box::new(ClusterTransaction::new(self.changes(), Arc::new(self.reads()))))
    }

    fn allocate_row_ids(&self, _: &Arc<Table>, _: usize) -> Result<Range<i64>, TableError> {
        Err(HbaseError::NotSupported("tables of Phoenix have no row ids: each has a primary key").into())
    }
}
