//! A transaction: the reads and writes of one statement. Each row is compared with what the statement has read of it.

use std::sync::Arc;

use saltwing_access::{
    CommitNo, Durability, RowChange, Savepoint, Snapshot, Table, TableError, Transaction, WriteBatch,
};

use super::batch::{ClusterBatch, Mark};
use crate::HbaseError;

const NO_VIEW: &str =
    "a transaction of several statements needs a view of all rows at one instant, which a cluster has not";

/// The reads and writes of a statement.
pub(crate) struct ClusterTransaction {
    batch: ClusterBatch,
    snapshot: Arc<dyn Snapshot>,
    savepoints: Vec<Mark>,
}

impl ClusterTransaction {
    pub(crate) fn new(batch: ClusterBatch, snapshot: Arc<dyn Snapshot>) -> Self {
        Self { batch, snapshot, savepoints: Vec::new() }
    }
}

impl WriteBatch for ClusterTransaction {
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

    fn rows(&self) -> usize {
        self.batch.rows()
    }

    fn bytes(&self) -> usize {
        self.batch.bytes()
    }

    fn commit(self: Box<Self>, _: Durability) -> Result<CommitNo, TableError> {
        self.batch.send()
    }
}

impl Transaction for ClusterTransaction {
    /// The cluster numbers no commits.
    fn began_after(&self) -> CommitNo {
        CommitNo(0)
    }

    fn snapshot(&self) -> &Arc<dyn Snapshot> {
        &self.snapshot
    }

    /// Rows are read as they are, so this has the earlier parts.
    fn latest(&self) -> &dyn Snapshot {
        &*self.snapshot
    }

    fn view(&mut self) -> Result<Arc<dyn Snapshot>, TableError> {
        Err(HbaseError::NotSupported(NO_VIEW).into())
    }

    fn savepoint(&mut self) -> Savepoint {
        self.savepoints.push(self.batch.mark());
        Savepoint(self.savepoints.len() - 1)
    }

    fn rollback_to(&mut self, savepoint: Savepoint) -> Result<(), TableError> {
        let mark = *self.savepoints.get(savepoint.0).ok_or(TableError::NoSavepoint(savepoint.0))?;
        self.savepoints.truncate(savepoint.0 + 1);
        self.batch.cut(mark);
        Ok(())
    }

    fn release(&mut self, savepoint: Savepoint) {
        self.savepoints.truncate(savepoint.0);
    }

    fn commit_part(&mut self, _: Durability) -> Result<CommitNo, TableError> {
        let next = self.batch.another();
        self.savepoints.clear();
        std::mem::replace(&mut self.batch, next).send()
    }
}
