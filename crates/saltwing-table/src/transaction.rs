//! Batches and transactions of the store in this process.

use std::sync::Arc;

use saltwing_access::{
    CommitNo, Durability, PinnedBytes, RowChange, Savepoint, Snapshot, StorageError, Table, TableError, Transaction,
    WriteBatch,
};
use saltwing_store::{Announced, WriteBatch as StoreBatch};

use crate::commit::{CommitLog, ReadToken};
use crate::engine::storage_engine::{CommitState, StorageEngine};
use crate::engine::stored_table::StoredTable;
use crate::engine::versions::ReplacedRows;
use crate::format::delta_record::{Record, keyed_rows};
use crate::scan::cursor::segment::RowSegment;
use crate::scan::lookup::{Found, find};
use crate::scan::row_values::RowShape;
use crate::scan::snapshot::EmbeddedSnapshot;
use crate::write_set::{WriteMark, WriteSet};

/// Where commits go.
#[derive(Clone)]
pub(crate) struct Committer {
    pub(crate) packed: Arc<StorageEngine>,
    pub(crate) log: Arc<CommitLog>,
}

impl Committer {
    pub(crate) fn batch(&self) -> EmbeddedBatch {
        EmbeddedBatch { writes: self.write_set(), committer: self.clone() }
    }

    /// A snapshot of everything committed so far, with the token against which a commit is checked: while the token
    /// lives, the keys of later commits are kept.
    pub(crate) fn begin(&self) -> EmbeddedTransaction {
        let (rows, token) = self.packed.freeze_tables(|| self.log.begin());
        let latest = Arc::new(EmbeddedSnapshot::new(rows, &self.packed));
        EmbeddedTransaction {
            batch: self.batch(),
            snapshot: latest.clone(),
            first: latest,
            latest: None,
            view: None,
            savepoints: Vec::new(),
            token,
        }
    }

    fn write_set(&self) -> WriteSet {
        WriteSet::new(self.packed.clock().now_ms(), self.packed.tables.clone())
    }

    /// Writes rows, all or none: with a token, only if no other commit wrote one of the keys since.
    fn commit(
        &self,
        writes: &WriteSet,
        read_at: Option<&ReadToken>,
        durability: Durability,
    ) -> Result<CommitNo, TableError> {
        let rows = writes.len();
        let _span = tracing::debug_span!(target: "saltwing::commit", "commit", rows, ?durability).entered();
        if writes.takes_space() {
            self.packed.refuse_when_nearly_full()?;
        }
        let records = writes.records();
        let keys = || {
            let written =
                records.iter().flat_map(|record| keyed_rows(&record.bytes).map(|(key, _)| (record.table, key)));
            written.chain(writes.claims())
        };
        let prepare = |commits: &mut CommitState, batch: &mut StoreBatch| {
            self.check_definitions(writes)?;
            if let Some(token) = read_at {
                self.log.check(token, keys(), |id, key| writes.conflict(id, key))?;
            }
            let mut versioned = writes.tables().iter().filter_map(|table| Some((table, table.versions()?)));
            versioned.try_for_each(|(table, kept)| {
                let replaced = self.packed.replace_rows(commits, table, kept, batch)?;
                self.keep_replaced(table, &records, replaced)
            })
        };
        let record = || self.log.record(keys(), read_at);
        let (number, announced) = self.packed.write(&records, durability, prepare, record)?;
        // Outside the lock, so that commits at the same time share one sync.
        let synced = announced.map_or(Ok(()), Announced::wait);
        synced.map_err(|error| StorageError::from(error.of_sync_after_write()))?;
        Ok(number)
    }

    /// Keeps the rows of a table that these records replace or delete, as they are before the commit.
    fn keep_replaced(
        &self,
        table: &Arc<StoredTable>,
        records: &[Record],
        mut replaced: ReplacedRows<'_>,
    ) -> Result<(), TableError> {
        let id = table.def().id;
        let rows = self.packed.with_rows(id, |rows| Some(rows.clone())).unwrap_or_default();
        let all = RowShape::new(table, 0..table.def().columns.len());
        let of_table = records.iter().filter(|record| record.table == id);
        for (key, row) in of_table.flat_map(|record| keyed_rows(&record.bytes)) {
            // An expired row, too: it was there at an earlier time.
            let before = match find(&rows, key, None)? {
                None if row.is_empty() => continue,
                None => Vec::new(),
                Some(Found { segment: RowSegment::Row { row, .. }, .. }) => row.0.to_vec(),
                Some(found) => {
                    let written_ms = found.written_ms();
                    let (values, mut before) = (all.values(key, found)?.values().collect::<Vec<_>>(), Vec::new());
                    table.encode(&values, written_ms, &mut before);
                    before
                }
            };
            replaced.add(key, before);
        }
        replaced.finish();
        Ok(())
    }

    /// Rows are written by the newest definition of their table only.
    fn check_definitions(&self, writes: &WriteSet) -> Result<(), TableError> {
        let tables = self.packed.tables.read();
        for table in writes.tables() {
            // A number of an attached database may be that of another table here.
            let is_ours = !table.is_attached();
            debug_assert!(is_ours, "{} is a table of an attached database", table.def().name);
            // One that is not open was dropped, or has another number since it was truncated.
            if !is_ours || tables.get(&table.def().id).is_none_or(|newest| newest.version() != table.version()) {
                return Err(TableError::DefinitionChanged { table: table.def().name.to_string() });
            }
        }
        Ok(())
    }
}

pub(crate) struct EmbeddedBatch {
    committer: Committer,
    writes: WriteSet,
}

impl WriteBatch for EmbeddedBatch {
    fn apply(
        &mut self,
        table: &Arc<Table>,
        change: RowChange<'_>,
        keys: Option<&mut Vec<Vec<u8>>>,
    ) -> Result<(), TableError> {
        match change {
            RowChange::Put { new, written_ms, .. } => {
                let key = self.writes.put(table, new, written_ms)?;
                if let Some(keys) = keys {
                    keys.push(key);
                }
            }
            RowChange::Set { .. } => {
                debug_assert!(false, "some columns are written of a row of {}", table.def().name);
                return Err(TableError::WritesWholeRows { store: "the embedded storage" });
            }
            RowChange::Delete { key, .. } => {
                self.writes.delete(table, key);
                if let Some(keys) = keys {
                    keys.push(key.to_vec());
                }
            }
        }
        Ok(())
    }

    fn claim(&mut self, table: &Arc<Table>, key: &[u8]) {
        self.writes.claim(table, key);
    }

    fn reclaims_space(&mut self) {
        self.writes.reclaims_space();
    }

    fn rows(&self) -> usize {
        self.writes.len()
    }

    fn bytes(&self) -> usize {
        self.writes.bytes()
    }

    fn commit(self: Box<Self>, durability: Durability) -> Result<CommitNo, TableError> {
        self.committer.commit(&self.writes, None, durability)
    }
}

pub(crate) struct EmbeddedTransaction {
    batch: EmbeddedBatch,
    snapshot: Arc<dyn Snapshot>,
    /// The same.
    first: Arc<EmbeddedSnapshot>,
    /// The snapshot after the last part that was committed; `None` before the first one.
    latest: Option<Arc<EmbeddedSnapshot>>,
    /// The latest snapshot with the first records of the batch.
    view: Option<View>,
    savepoints: Vec<(WriteMark, Option<View>)>,
    token: ReadToken,
}

/// A snapshot with the first records of a batch, and how many these are.
type View = (Arc<EmbeddedSnapshot>, usize);

impl WriteBatch for EmbeddedTransaction {
    fn apply(
        &mut self,
        table: &Arc<Table>,
        change: RowChange<'_>,
        keys: Option<&mut Vec<Vec<u8>>>,
    ) -> Result<(), TableError> {
        self.batch.apply(table, change, keys)
    }

    fn claim(&mut self, table: &Arc<Table>, key: &[u8]) {
        self.batch.claim(table, key);
    }

    fn reclaims_space(&mut self) {
        self.batch.reclaims_space();
    }

    fn rows(&self) -> usize {
        self.batch.rows()
    }

    fn bytes(&self) -> usize {
        self.batch.bytes()
    }

    fn commit(self: Box<Self>, durability: Durability) -> Result<CommitNo, TableError> {
        let Self { batch: EmbeddedBatch { committer, writes }, snapshot, first, latest, view, savepoints, token } =
            *self;
        // The commit copies what snapshots still see of the memtables that it writes to.
        drop((snapshot, first, latest, view, savepoints));
        match writes.is_empty() {
            true => Ok(token.at()),
            false => committer.commit(&writes, Some(&token), durability),
        }
    }
}

impl Transaction for EmbeddedTransaction {
    fn began_after(&self) -> CommitNo {
        self.token.at()
    }

    fn snapshot(&self) -> &Arc<dyn Snapshot> {
        &self.snapshot
    }

    fn latest(&self) -> &dyn Snapshot {
        self.latest.as_deref().unwrap_or(&self.first)
    }

    fn view(&mut self) -> Result<Arc<dyn Snapshot>, TableError> {
        let records = self.batch.writes.finished_records();
        let (mut view, seen) = self.view.take().unwrap_or_else(|| {
            let latest = self.latest.as_ref().unwrap_or(&self.first);
            (latest.clone(), 0)
        });
        if let Some(new) = records.get(seen..).filter(|new| !new.is_empty()) {
            view = Arc::new(view.with(new));
        }
        self.view = Some((view.clone(), records.len()));
        Ok(view)
    }

    fn pinned_bytes(&self) -> PinnedBytes {
        let (snapshot, packed) =
            (Arc::downgrade(self.latest.as_ref().unwrap_or(&self.first)), self.batch.committer.packed.clone());
        Box::new(move || Some(snapshot.upgrade().map_or(0, |snapshot| packed.pinned_bytes(snapshot.tables()))))
    }

    fn savepoint(&mut self) -> Savepoint {
        self.savepoints.push((self.batch.writes.mark(), self.view.clone()));
        Savepoint(self.savepoints.len() - 1)
    }

    fn rollback_to(&mut self, savepoint: Savepoint) -> Result<(), TableError> {
        let (mark, view) = self.savepoints.get(savepoint.0).cloned().ok_or(TableError::NoSavepoint(savepoint.0))?;
        self.savepoints.truncate(savepoint.0 + 1);
        self.batch.writes.truncate(mark);
        self.view = view;
        Ok(())
    }

    fn release(&mut self, savepoint: Savepoint) {
        self.savepoints.truncate(savepoint.0);
    }

    fn commit_part(&mut self, durability: Durability) -> Result<CommitNo, TableError> {
        // As with the last commit. The statement still reads its own snapshot.
        (self.latest, self.view) = (None, None);
        self.savepoints.clear();
        let EmbeddedBatch { committer, writes } = &mut self.batch;
        let committed = committer.commit(writes, Some(&self.token), durability);
        self.latest = Some(Arc::new(EmbeddedSnapshot::newest(&committer.packed)));
        let number = committed?;
        *writes = committer.write_set();
        Ok(number)
    }
}
