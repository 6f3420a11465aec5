//! The client's side: the store of tables, and snapshots.

use std::collections::{BTreeMap, HashMap};
use std::ops::{Bound, Range};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use saltwing_access::{
    AtomicScope, Capabilities, Clock, ColumnEstimate, CommitNo, Direction, DurabilityScope, Estimate, KeySet, PointRow,
    Projection, RowSource, ScanContext, ScanOrder, ScanRange, ScanRoute, ScanSpec, Snapshot, SnapshotScope,
    SplitTarget, SystemClock, Table, TableError, TableStore, Transaction, WriteBatch,
};
use saltwing_expr::RowValues;
use saltwing_rowkey::KeyRange;
use saltwing_types::{TableId, Value};

use crate::chance::Chance;
use crate::cluster::{CallError, Cluster, StoredRow};
use crate::rows::value;
use crate::scan::RemoteScan;
use crate::transaction::{RemoteBatch, RemoteTransaction};

/// The store's name.
pub(crate) const NAME: &str = "fake-remote";

/// What goes wrong between the client and the cluster.
#[derive(Clone, Copy, Debug)]
pub struct Faults {
    /// Repeats the same faults.
    pub seed: u64,
    /// One in so many calls finds that regions were split, merged or moved; 0 is none.
    pub changes: u32,
    /// One in so many calls gets no answer; 0 is none.
    pub failures: u32,
    /// After one in so many commits without an answer the client gives up, and nobody knows what became of it; 0 is none.
    pub unknown: u32,
    /// How long a call takes.
    pub latency: Duration,
}

impl Faults {
    /// None.
    pub fn none() -> Self {
        Self { seed: 0, changes: 0, failures: 0, unknown: 0, latency: Duration::ZERO }
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

/// What all calls of a store share.
pub(crate) struct Client {
    pub(crate) cluster: Cluster,
    pub(crate) atomic: AtomicScope,
    clock: Arc<dyn Clock>,
    chance: Chance,
    /// As [`Faults::unknown`].
    unknown: u32,
    latency: Duration,
    commits: AtomicU64,
}

impl Client {
    pub(crate) fn now_ms(&self) -> i64 {
        self.clock.now_ms()
    }

    /// The number of the next commit, by which the cluster knows one that is sent again.
    pub(crate) fn next_commit(&self) -> u64 {
        self.commits.fetch_add(1, Relaxed)
    }

    /// Whether the client gives up waiting for the answer to a commit.
    pub(crate) fn gives_up(&self) -> bool {
        self.chance.one_in(self.unknown)
    }

    /// Calls until there is an answer.
    pub(crate) fn retried<T>(&self, mut call: impl FnMut() -> Result<T, CallError>) -> T {
        loop {
            if !self.latency.is_zero() {
                std::thread::sleep(self.latency);
            }
            if let Ok(answer) = call() {
                return answer;
            }
        }
    }
}

/// Changes of a transaction that are not committed yet; `None` is a row that it deleted.
pub(crate) type OwnChanges = HashMap<TableId, BTreeMap<Vec<u8>, Option<Arc<StoredRow>>>>;

/// What calls of a snapshot need.
#[derive(Clone)]
pub(crate) struct Link {
    client: Arc<Client>,
    /// The newest commit that is seen.
    pub(crate) at: u64,
    pub(crate) now_ms: i64,
    /// Changes that are seen besides: they are laid over the rows that servers give.
    own: Arc<OwnChanges>,
}

impl std::ops::Deref for Link {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl Link {
    /// Calls until there is an answer, or the statement must stop.
    pub(crate) fn call<T>(
        &self,
        context: &ScanContext,
        mut call: impl FnMut() -> Result<T, CallError>,
    ) -> Result<T, TableError> {
        loop {
            context.check()?;
            if !self.client.latency.is_zero() {
                std::thread::sleep(self.client.latency);
            }
            if let Ok(answer) = call() {
                return Ok(answer);
            }
        }
    }

    fn row(&self, table: &Table, key: &[u8]) -> Option<Arc<StoredRow>> {
        let row = match self.own(table).and_then(|own| own.get(key)) {
            Some(own) => own.clone(),
            None => self.client.retried(|| self.cluster.get(table.def().id, key, self.at)),
        };
        row.filter(|row| self.is_alive(table, row))
    }

    fn own(&self, table: &Table) -> Option<&BTreeMap<Vec<u8>, Option<Arc<StoredRow>>>> {
        self.own.get(&table.def().id)
    }

    /// The own changes of the keys from `start` to `end`.
    pub(crate) fn own_between(
        &self,
        table: &Table,
        start: &[u8],
        end: Option<&[u8]>,
    ) -> impl Iterator<Item = (&Vec<u8>, &Option<Arc<StoredRow>>)> {
        let own = self.own(table).filter(|_| end.is_none_or(|end| start < end));
        let end = end.map_or(Bound::Unbounded, Bound::Excluded);
        own.into_iter().flat_map(move |own| own.range::<[u8], _>((Bound::Included(start), end)))
    }

    /// Whether a row has not expired at the snapshot's time.
    pub(crate) fn is_alive(&self, table: &Table, row: &StoredRow) -> bool {
        table.expired_ms(self.now_ms).is_none_or(|limit| row.written_ms > limit)
    }
}

impl RemoteStore {
    /// An empty cluster, whose commits write that much at once.
    pub fn new(atomic: AtomicScope, faults: Faults) -> Self {
        Self::with_clock(atomic, faults, Arc::new(SystemClock))
    }

    /// As [`RemoteStore::new`], with a clock of one's own.
    pub fn with_clock(atomic: AtomicScope, faults: Faults, clock: Arc<dyn Clock>) -> Self {
        let Faults { seed, changes, failures, unknown, latency } = faults;
        let cluster = Cluster::new(seed, changes, failures);
        let chance = Chance::new(seed.wrapping_add(1));
        let client = Client { cluster, atomic, clock, chance, unknown, latency, commits: AtomicU64::new(1) };
        let capabilities = Capabilities {
            name: NAME,
            atomic,
            snapshots: SnapshotScope::Store,
            persistent: false,
            durability: DurabilityScope::Process,
        };
        Self { client: Arc::new(client), capabilities }
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
        CommitNo(self.client.cluster.moment().0)
    }

    fn open_table(&self, table: Table) -> Arc<Table> {
        let table = Arc::new(table);
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
        let Some(row) = snapshot.link.row(columns.table(), row_key) else { return Ok(None) };
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

fn projected(columns: &Projection, key: &[u8], row: &StoredRow) -> Result<Vec<Value>, TableError> {
    columns.columns().iter().map(|&column| value(columns.table(), column, key, row)).collect()
}

/// All rows as of one commit.
#[derive(Clone)]
pub(crate) struct RemoteSnapshot {
    link: Link,
    /// The versions of the definitions that rows may be written by.
    definitions: HashMap<TableId, u32>,
}

impl RemoteSnapshot {
    pub(crate) fn new(client: &Arc<Client>) -> Self {
        let (at, definitions) = client.cluster.moment();
        // After the moment: no row that it has was dropped for a later time.
        let now_ms = client.now_ms();
        Self { link: Link { client: client.clone(), at, now_ms, own: Arc::default() }, definitions }
    }

    /// The same rows with these changes.
    pub(crate) fn with(&self, own: OwnChanges) -> Self {
        Self { link: Link { own: Arc::new(own), ..self.link.clone() }, definitions: self.definitions.clone() }
    }

    pub(crate) fn at(&self) -> u64 {
        self.link.at
    }

    /// Rows are not read by a definition that is older than they are.
    fn check(&self, table: &Table) -> Result<(), TableError> {
        match self.definitions.get(&table.def().id) {
            Some(version) if *version > table.version() => {
                Err(TableError::DefinitionChanged { table: table.def().name.to_string() })
            }
            _ => Ok(()),
        }
    }
}

impl Snapshot for RemoteSnapshot {
    fn now_ms(&self) -> i64 {
        self.link.now_ms
    }

    fn scan(&self, spec: &ScanSpec, route: ScanRoute, context: ScanContext) -> Result<Box<dyn RowSource>, TableError> {
        self.check(spec.table())?;
        Ok(Box::new(RemoteScan::new(&self.link, spec, route, context)?))
    }

    fn get(&self, columns: &Projection, row_key: &[u8]) -> Result<Option<Vec<Value>>, TableError> {
        self.check(columns.table())?;
        self.link.row(columns.table(), row_key).map(|row| projected(columns, row_key, &row)).transpose()
    }

    fn contains(&self, table: &Table, row_key: &[u8]) -> Result<bool, TableError> {
        self.check(table)?;
        Ok(self.link.row(table, row_key).is_some())
    }

    /// Region by region, as they are now; a part can be read after they have changed, too.
    fn split(&self, table: &Table, route: &ScanRoute, _: SplitTarget) -> Result<Vec<KeyRange>, TableError> {
        self.check(table)?;
        let is_whole = matches!(route.keys, KeySet::Range(_))
            || route.limit.or(route.first_batch).is_some()
            || route.direction == Direction::Reverse
            || route.order == ScanOrder::Merged && route.keys.buckets(&table.def().key).len() > 1;
        Ok(if is_whole { vec![KeyRange::all()] } else { self.link.cluster.regions(table.def().id) })
    }

    fn estimate(&self, table: &Table, keys: &KeySet) -> Result<Estimate, TableError> {
        self.check(table)?;
        let id = table.def().id;
        let sample = keys.sample(&table.def().key);
        let mut rows = 0;
        for ScanRange { range, bucket: of } in &sample.ranges {
            let buckets = if of.is_some() { vec![*of] } else { sample.buckets.of(&table.def().key) };
            for bucket in buckets {
                let place = range.in_bucket(bucket);
                let own = self.link.own_between(table, place.start(), place.end()).count();
                rows += self.link.cluster.count(id, place.start(), place.end()) + own as u64;
            }
        }
        let sum = Estimate { rows, bytes: rows * 64, is_exact: false };
        Ok(sum.scaled_to(sample.total, sample.ranges.len() as u64))
    }

    fn estimate_columns(&self, table: &Table, columns: &[usize]) -> Result<Vec<ColumnEstimate>, TableError> {
        self.check(table)?;
        Ok(vec![ColumnEstimate { unseen: u64::MAX, ..ColumnEstimate::default() }; columns.len()])
    }

    fn adds_up(&self, _: &ScanSpec) -> Result<bool, TableError> {
        Ok(false)
    }

    fn knows_totals(&self, _: &ScanSpec) -> Result<bool, TableError> {
        Ok(false)
    }
}
