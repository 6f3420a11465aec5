//! Transactions of a client.

use std::collections::HashSet;
use std::sync::Arc;

use saltwing_access::{
    CommitNo, Durability, RowChange, Savepoint, Snapshot, Table, TableError, Transaction, WriteBatch,
};

use crate::batch::{Mark, RemoteBatch};
use crate::client::{Client, OwnChanges};
use crate::cluster::ReadAt;
use crate::row_write::Write;
use crate::snapshot::RemoteSnapshot;

pub(crate) struct RemoteTransaction {
    batch: RemoteBatch,
    snapshot: Arc<dyn Snapshot>,
    latest: RemoteSnapshot,
    read_at: ReadAt,
    savepoints: Vec<Mark>,
}

impl RemoteTransaction {
    pub(crate) fn new(client: Arc<Client>) -> Self {
        let (latest, commit) = (RemoteSnapshot::new(&client), client.cluster.newest().0);
        // A commit after the snapshot is not one that was read; a snapshot of the newest rows has no last commit.
        let commit = commit.min(latest.at());
        let read_at = ReadAt { commit, own: HashSet::new() };
        Self {
            batch: RemoteBatch::new(client),
            snapshot: Arc::new(latest.clone()),
            latest,
            read_at,
            savepoints: Vec::new(),
        }
    }
}

impl WriteBatch for RemoteTransaction {
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
        match self.batch.is_empty() {
            true => Ok(CommitNo(self.read_at.commit)),
            false => self.batch.send(Some(&self.read_at)),
        }
    }
}

impl Transaction for RemoteTransaction {
    fn began_after(&self) -> CommitNo {
        CommitNo(self.read_at.commit)
    }

    fn snapshot(&self) -> &Arc<dyn Snapshot> {
        &self.snapshot
    }

    fn latest(&self) -> &dyn Snapshot {
        &self.latest
    }

    fn view(&mut self) -> Result<Arc<dyn Snapshot>, TableError> {
        let mut own = OwnChanges::new();
        for ((table, key), write) in self.batch.by_row() {
            let row = match write.write {
                Write::Whole(row) => Some(row),
                Write::Nothing => None,
                Write::Some(..) => {
                    let Some(of) = self.batch.table(table) else { continue };
                    write.result(of, self.latest.link.row(of, &key)?, self.latest.link.now_ms).unwrap_or_default()
                }
            };
            own.entry(table).or_default().insert(key, row);
        }
        Ok(Arc::new(self.latest.with(own)))
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
        let number = self.batch.send(Some(&self.read_at))?;
        self.read_at.own.insert(number.0);
        self.batch = RemoteBatch::new(self.batch.client.clone());
        self.latest = RemoteSnapshot::new(&self.batch.client);
        self.savepoints.clear();
        Ok(number)
    }
}
