//! The store of tables.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use saltwing_access::{
    AtomicScope, Capabilities, Clock, CommitNo, DurabilityScope, PointRow, Projection, Snapshot, SnapshotScope,
    SystemClock, Table, TableError, TableStore, Transaction, WriteBatch,
};
use saltwing_expr::RowValues;
use saltwing_types::TableId;

use crate::batch::RemoteBatch;
use crate::chance::Chance;
use crate::client::{Client, NAME};
use crate::cluster::Cluster;
use crate::snapshot::{RemoteSnapshot, projected};
use crate::transaction::RemoteTransaction;

/// What goes wrong between the client and the cluster.
#[derive(Clone, Copy, Debug)]
pub struct Faults {
    /// Repeats the same faults.
    pub seed: u64,
    /// One call in `changes` finds that regions were split, merged or moved; 0 is none.
    pub changes: u32,
    /// One call in `failures` gets no answer; 0 is none.
    pub failures: u32,
    /// Of the commits without an answer, the client gives up one in `unknown`, and nobody knows what became of it; 0 is none.
    pub unknown: u32,
    /// How long a call takes.
    pub latency: Duration,
    /// Most rows that an answer to a scan has; at least 1.
    pub page_rows: usize,
    /// Buckets that a scan reads at once, by threads of the store; 1 is by the thread of its reader.
    pub scans_at_once: usize,
    /// How long the client waits for an answer; a statement that ends earlier does not wait so long.
    pub answer_max: Duration,
}

impl Faults {
    /// None.
    pub fn none() -> Self {
        Self {
            seed: 0,
            changes: 0,
            failures: 0,
            unknown: 0,
            latency: Duration::ZERO,
            page_rows: 64,
            scans_at_once: 1,
            answer_max: Duration::from_secs(60),
        }
    }

    /// Faults that happen often and that statements do not see, without latency.
    pub fn often(seed: u64) -> Self {
        Self { seed, changes: 4, failures: 8, ..Self::none() }
    }
}

/// A store of tables on a cluster in this process.
pub struct RemoteStore {
    client: Arc<Client>,
    capabilities: Capabilities,
}

impl RemoteStore {
    /// An empty cluster, whose commits write that much as a whole: see the [profiles](crate#profiles).
    pub fn new(atomic: AtomicScope, faults: Faults) -> Self {
        Self::with_clock(atomic, faults, Arc::new(SystemClock))
    }

    /// As [`RemoteStore::new`], with a clock of one's own.
    pub fn with_clock(atomic: AtomicScope, faults: Faults, clock: Arc<dyn Clock>) -> Self {
        let Faults { seed, changes, failures, unknown, latency, page_rows, scans_at_once, answer_max } = faults;
        let cluster = Cluster::new(seed, changes, failures);
        let chance = Chance::new(seed.wrapping_add(1));
        let client = Client {
            cluster,
            atomic,
            clock,
            chance,
            unknown,
            latency,
            answer_max,
            page_rows: page_rows.max(1),
            scans_at_once: scans_at_once.max(1),
            hangs: AtomicBool::new(false),
            commits: AtomicU64::new(1),
            calls: AtomicU64::new(0),
            waiting: AtomicU64::new(0),
            waiting_most: AtomicU64::new(0),
        };
        let snapshots = match atomic {
            AtomicScope::Row => SnapshotScope::Region,
            AtomicScope::Store => SnapshotScope::Store,
        };
        let capabilities = Capabilities {
            name: NAME,
            atomic,
            snapshots,
            sets_columns: atomic == AtomicScope::Row,
            persistent: false,
            durability: DurabilityScope::Process,
        };
        Self { client: Arc::new(client), capabilities }
    }
}

impl RemoteStore {
    /// Makes the servers give no more answers to calls that begin now, or give them again.
    pub fn hang(&self, hangs: bool) {
        self.client.hangs.store(hangs, Relaxed);
    }

    /// The most calls that waited for their answers at the same time so far.
    pub fn calls_at_once(&self) -> u64 {
        self.client.waiting_most.load(Relaxed)
    }

    /// How many calls of servers there were so far, those without an answer included.
    pub fn calls(&self) -> u64 {
        self.client.calls.load(Relaxed)
    }
}

impl TableStore for RemoteStore {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn now_ms(&self) -> i64 {
        self.client.now_ms()
    }

    fn newest_commit(&self) -> CommitNo {
        CommitNo(self.client.cluster.newest().0)
    }

    fn open_table(&self, table: Table) -> Arc<Table> {
        let table = Arc::new(match self.capabilities.snapshots {
            SnapshotScope::Region => table.compared(),
            SnapshotScope::Store => table,
        });
        self.client.cluster.open(table.clone());
        table
    }

    fn close_table(&self, id: TableId) {
        self.client.cluster.close(id);
    }

    fn table(&self, id: TableId) -> Result<Arc<Table>, TableError> {
        self.client.cluster.table(id).ok_or(TableError::NoSuchTable(id.0))
    }

    fn purge(&self, id: TableId) -> Result<(), TableError> {
        self.client.cluster.purge(id);
        Ok(())
    }

    fn snapshot(&self) -> Result<Arc<dyn Snapshot>, TableError> {
        Ok(Arc::new(RemoteSnapshot::new(&self.client)))
    }

    fn point(&self, columns: &Projection, row_key: &[u8]) -> Result<Option<PointRow>, TableError> {
        let snapshot = RemoteSnapshot::new(&self.client);
        snapshot.check(columns.table())?;
        let Some(row) = snapshot.link.row(columns.table(), row_key)? else { return Ok(None) };
        let mut values = RowValues::new(columns.columns().len());
        values.push_row(projected(columns, row_key, &row)?);
        Ok(Some(PointRow { values, bytes: row_key.len() as u64 }))
    }

    fn batch(&self) -> Box<dyn WriteBatch> {
        Box::new(RemoteBatch::new(self.client.clone()))
    }

    fn begin(&self) -> Result<Box<dyn Transaction>, TableError> {
        Ok(Box::new(RemoteTransaction::new(self.client.clone())))
    }

    fn allocate_row_ids(&self, table: &Arc<Table>, count: usize) -> Result<Range<i64>, TableError> {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        let first = self.client.cluster.row_ids(table.def().id, count);
        Ok(first..first.saturating_add(count))
    }
}
