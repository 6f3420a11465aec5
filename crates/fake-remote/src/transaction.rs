//! Batches and transactions of a client.

use std::collections::HashSet;
use std::sync::Arc;

use saltwing_access::{
    AtomicScope, CommitNo, Durability, RowChange, Savepoint, Snapshot, StorageCause, StorageError, Table, TableError,
    Transaction, WriteBatch,
};

use crate::client::{Client, NAME, NoAnswer, OwnChanges};
use crate::cluster::{CallError, Change, Commit, ReadAt, Refused};
use crate::rows::stored;
use crate::snapshot::RemoteSnapshot;

/// Ids of tables below are the catalog's own.
const FIRST_USER_TABLE: u32 = 100;

pub(crate) struct RemoteBatch {
    pub(crate) client: Arc<Client>,
    changes: Vec<Change>,
    /// How many of the changes are claims.
    claims: usize,
    tables: Vec<Arc<Table>>,
    bytes: usize,
}

impl RemoteBatch {
    pub(crate) fn new(client: Arc<Client>) -> Self {
        Self { client, changes: Vec::new(), claims: 0, tables: Vec::new(), bytes: 0 }
    }

    fn table(&self, id: saltwing_types::TableId) -> Option<&Arc<Table>> {
        self.tables.iter().find(|table| table.def().id == id)
    }

    fn name_of(&self, id: saltwing_types::TableId) -> String {
        self.table(id).map_or_else(|| id.0.to_string(), |table| table.def().name.to_string())
    }

    fn send(&self, read_at: Option<&ReadAt>) -> Result<CommitNo, TableError> {
        let is_catalog = self.changes.iter().all(|(table, ..)| table.0 < FIRST_USER_TABLE);
        let rows_max = if self.client.atomic == AtomicScope::Row && !is_catalog { 1 } else { usize::MAX };
        let number = self.client.next_commit();
        let (changes, tables) = (&self.changes[..], &self.tables[..]);
        let commit = Commit { number, changes, tables, read_at, rows_max };
        let first = self.changes.first().map_or(saltwing_types::TableId(0), |(table, ..)| *table);
        let answer = self.client.call(first, || match self.client.cluster.commit(&commit) {
            Err(CallError::NoAnswer) if self.client.gives_up() => Ok(None),
            answer => answer.map(Some),
        });
        let unknown = |text: String| {
            let source = std::io::Error::other(text);
            Err(StorageError::new(StorageCause::CommitUnknown, source).into())
        };
        let answer = match answer {
            Ok(answer) => answer,
            Err(NoAnswer::NotSent(stopped)) => return Err(stopped),
            Err(NoAnswer::Unknown(failed)) => {
                return unknown(format!("nobody knows whether the commit was carried out: {failed}"));
            }
        };
        match answer {
            None => unknown(format!("{NAME} gave no answer to the commit")),
            Some(Ok(no)) => Ok(CommitNo(no)),
            Some(Err(Refused::Conflict { table, key })) => {
                let shown = self.table(table).map(|table| table.key_text(&key));
                let key = shown.unwrap_or_else(|| saltwing_types::text::hex(&key));
                Err(TableError::Conflict { table: self.name_of(table), key })
            }
            Some(Err(Refused::Definition { table })) => {
                Err(TableError::DefinitionChanged { table: self.name_of(table) })
            }
            Some(Err(Refused::NotAtomic)) => Err(TableError::NotAtomic { store: NAME, rows: self.changes.len() }),
        }
    }
}

impl WriteBatch for RemoteBatch {
    fn apply(
        &mut self,
        table: &Arc<Table>,
        change: RowChange<'_>,
        keys: Option<&mut Vec<Vec<u8>>>,
    ) -> Result<(), TableError> {
        if !self.tables.iter().any(|known| Arc::ptr_eq(known, table)) {
            self.tables.push(table.clone());
        }
        let (key, row) = match change {
            RowChange::Put { new, written_ms, .. } => {
                let written_ms = match written_ms {
                    Some(written_ms) => written_ms,
                    None => table.row_time_ms(new)?.unwrap_or_else(|| self.client.now_ms()),
                };
                let row = stored(table, new, written_ms)?;
                (table.row_key(new)?, Some(Arc::new(row)))
            }
            RowChange::Delete { key, .. } => (key.to_vec(), None),
        };
        if let Some(keys) = keys {
            keys.push(key.clone());
        }
        self.bytes += key.len() + row.as_ref().map_or(0, |row| 16 * row.cells.len());
        self.changes.push((table.def().id, key, row));
        Ok(())
    }

    fn claim(&mut self, table: &Arc<Table>, key: &[u8]) {
        // The cluster knows no claims. The deletion of a key that no row has is checked as one.
        let claimed = [key, &[0xFF; 8]].concat();
        self.changes.push((table.def().id, claimed, None));
        self.claims += 1;
    }

    fn free_space(&mut self) {}

    fn rows(&self) -> usize {
        self.changes.len() - self.claims
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn commit(self: Box<Self>, _: Durability) -> Result<CommitNo, TableError> {
        self.send(None)
    }
}

pub(crate) struct RemoteTransaction {
    batch: RemoteBatch,
    snapshot: Arc<dyn Snapshot>,
    latest: RemoteSnapshot,
    read_at: ReadAt,
    /// At each savepoint the number of changes, of claims among them, and their bytes.
    savepoints: Vec<(usize, usize, usize)>,
}

impl RemoteTransaction {
    pub(crate) fn new(client: Arc<Client>) -> Self {
        let latest = RemoteSnapshot::new(&client);
        let read_at = ReadAt { commit: latest.at(), own: HashSet::new() };
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

    fn free_space(&mut self) {}

    fn rows(&self) -> usize {
        self.batch.rows()
    }

    fn bytes(&self) -> usize {
        self.batch.bytes()
    }

    fn commit(self: Box<Self>, _: Durability) -> Result<CommitNo, TableError> {
        match self.batch.changes.is_empty() {
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
        for (table, key, row) in &self.batch.changes {
            own.entry(*table).or_default().insert(key.clone(), row.clone());
        }
        Ok(Arc::new(self.latest.with(own)))
    }

    fn savepoint(&mut self) -> Savepoint {
        self.savepoints.push((self.batch.changes.len(), self.batch.claims, self.batch.bytes));
        Savepoint(self.savepoints.len() - 1)
    }

    fn rollback_to(&mut self, savepoint: Savepoint) -> Result<(), TableError> {
        let (changes, claims, bytes) = *self.savepoints.get(savepoint.0).ok_or(TableError::NoSavepoint(savepoint.0))?;
        self.savepoints.truncate(savepoint.0 + 1);
        self.batch.changes.truncate(changes);
        (self.batch.claims, self.batch.bytes) = (claims, bytes);
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
