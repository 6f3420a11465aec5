//! The changes of a batch, and how they are sent: all together, or each row by itself.

use std::collections::BTreeMap;
use std::sync::Arc;

use saltwing_access::{
    AtomicScope, CommitNo, Direction, Durability, RowChange, RowOutcomes, StorageCause, StorageError, Table,
    TableError, WriteBatch,
};
use saltwing_types::{TableId, Value};

use crate::client::{Client, NAME, NoAnswer};
use crate::cluster::{CallError, Change, Commit, ReadAt, Refused, RowAnswers};
use crate::row_write::{self, Demand, RowWrite, Write};
use crate::rows::{cells, stored};

pub(crate) struct RemoteBatch {
    pub(crate) client: Arc<Client>,
    writes: Vec<RowWrite>,
    /// How many of the changes are claims.
    claims: usize,
    tables: Vec<Arc<Table>>,
    bytes: usize,
}

/// How much a batch has: the number of changes, of claims among them, and their bytes.
pub(crate) type Mark = (usize, usize, usize);

impl RemoteBatch {
    pub(crate) fn new(client: Arc<Client>) -> Self {
        Self { client, writes: Vec::new(), claims: 0, tables: Vec::new(), bytes: 0 }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.writes.is_empty()
    }

    pub(crate) fn mark(&self) -> Mark {
        (self.writes.len(), self.claims, self.bytes)
    }

    pub(crate) fn cut(&mut self, (writes, claims, bytes): Mark) {
        self.writes.truncate(writes);
        (self.claims, self.bytes) = (claims, bytes);
    }

    /// The changes so far, one for each row.
    pub(crate) fn by_row(&self) -> BTreeMap<(TableId, Vec<u8>), RowWrite> {
        let mut rows: BTreeMap<_, RowWrite> = BTreeMap::new();
        for write in &self.writes {
            let place = (write.table, write.key.clone());
            let whole = match rows.remove(&place) {
                Some(before) => before.then(write.clone()),
                None => write.clone(),
            };
            rows.insert(place, whole);
        }
        rows
    }

    pub(crate) fn table(&self, id: TableId) -> Option<&Arc<Table>> {
        self.tables.iter().find(|table| table.def().id == id)
    }

    fn name_of(&self, id: TableId) -> String {
        self.table(id).map_or_else(|| id.0.to_string(), |table| table.def().name.to_string())
    }

    /// Sends the changes. `read_at` is what they depend on, if they depend on something.
    pub(crate) fn send(&self, read_at: Option<&ReadAt>) -> Result<CommitNo, TableError> {
        match self.client.atomic {
            AtomicScope::Store => self.send_together(read_at),
            AtomicScope::Row => self.send_each(),
        }
    }

    fn send_together(&self, read_at: Option<&ReadAt>) -> Result<CommitNo, TableError> {
        let change = |write: &RowWrite| match &write.write {
            Write::Whole(row) => Ok::<Change, TableError>((write.table, write.key.clone(), Some(row.clone()))),
            Write::Nothing => Ok((write.table, write.key.clone(), None)),
            Write::Some(..) => Err(TableError::WritesWholeRows { store: NAME }),
        };
        let changes = self.writes.iter().map(change).collect::<Result<Vec<_>, _>>()?;
        let number = self.client.next_commit();
        let commit = Commit { number, changes: &changes, tables: &self.tables, read_at };
        let first = changes.first().map_or(TableId(0), |(table, ..)| *table);
        let answer = self.client.call(first, || match self.client.cluster.commit(&commit) {
            Err(CallError::NoAnswer) if self.client.gives_up() => Ok(None),
            answer => answer.map(Some),
        });
        match answer {
            Err(NoAnswer::NotSent(stopped)) => Err(stopped),
            Err(NoAnswer::Unknown(failed)) => {
                Err(unknown(format!("nobody knows whether the commit was carried out: {failed}")))
            }
            Ok(None) => Err(unknown(format!("{NAME} gave no answer to the commit"))),
            Ok(Some(Ok(no))) => Ok(CommitNo(no)),
            Ok(Some(Err(Refused::Conflict { table, key }))) => Err(self.conflict(table, &key)),
            Ok(Some(Err(Refused::Definition { table }))) => {
                Err(TableError::DefinitionChanged { table: self.name_of(table) })
            }
        }
    }

    /// Sends each row by itself: one call for each region that has some of them.
    fn send_each(&self) -> Result<CommitNo, TableError> {
        let rows: Vec<RowWrite> = self.by_row().into_values().collect();
        let mut outcomes = RowOutcomes::default();
        for of_table in rows.chunk_by(|a, b| a.table == b.table) {
            let Some(table) = of_table.first().and_then(|row| self.table(row.table)) else { continue };
            self.send_rows(table, of_table, &mut outcomes);
        }
        outcomes.result()?;
        Ok(CommitNo(self.client.cluster.newest().0))
    }

    fn send_rows(&self, table: &Table, mut rows: &[RowWrite], outcomes: &mut RowOutcomes) {
        while let Some(first) = rows.first() {
            let (number, mut sent) = (self.client.next_commit(), 0);
            let answer = self.client.call(first.table, || {
                let region = self.client.cluster.locate(first.table, Some(&first.key), Direction::Forward);
                let is_in_region = |row: &RowWrite| region.end.as_ref().is_none_or(|end| row.key < *end);
                let of_region = rows.get(..rows.partition_point(is_in_region)).unwrap_or_default();
                sent = sent.max(of_region.len());
                let context = (table, self.client.now_ms());
                match self.client.cluster.write_rows(number, &region, context, of_region) {
                    Err(CallError::NoAnswer) if self.client.gives_up() => Ok(None),
                    answer => answer.map(Some),
                }
            });
            let unknown_rows = |text| (sent, unknown(text));
            let (count, error) = match answer {
                Ok(Some(answers)) => {
                    self.note(rows, &answers, outcomes);
                    rows = rows.get(answers.len().max(1)..).unwrap_or_default();
                    continue;
                }
                Ok(None) => unknown_rows(format!("{NAME} gave no answer to a write")),
                Err(NoAnswer::Unknown(failed)) => {
                    unknown_rows(format!("nobody knows whether rows were written: {failed}"))
                }
                // The rest of the statement is not sent either.
                Err(NoAnswer::NotSent(stopped)) => return outcomes.refused(rows.len(), stopped),
            };
            outcomes.unknown(count.max(1), error);
            rows = rows.get(count.max(1)..).unwrap_or_default();
        }
    }

    fn note(&self, rows: &[RowWrite], answers: &RowAnswers, outcomes: &mut RowOutcomes) {
        for (row, answer) in rows.iter().zip(answers) {
            match answer {
                Ok(()) => outcomes.written(1),
                Err(row_write::Refused::Conflict) => outcomes.refused(1, self.conflict(row.table, &row.key)),
                Err(row_write::Refused::Definition) => {
                    outcomes.refused(1, TableError::DefinitionChanged { table: self.name_of(row.table) });
                }
                Err(row_write::Refused::Damaged) => {
                    let (table, key) = (self.name_of(row.table), saltwing_types::text::hex(&row.key));
                    outcomes.refused(1, TableError::Corrupt { table, key, what: "a value of the row" });
                }
            }
        }
    }

    fn conflict(&self, table: TableId, key: &[u8]) -> TableError {
        let shown = self.table(table).map(|table| table.key_text(key));
        let key = shown.unwrap_or_else(|| saltwing_types::text::hex(key));
        TableError::Conflict { table: self.name_of(table), key }
    }

    /// The key and the change of some columns of a row.
    fn set(&self, table: &Table, columns: &[usize], values: &[Value]) -> Result<(Vec<u8>, Write), TableError> {
        let mut row = vec![Value::Null; table.def().columns.len()];
        for (&column, value) in columns.iter().zip(values) {
            if let Some(place) = row.get_mut(column) {
                place.clone_from(value);
            }
        }
        let written_ms = table.row_time_ms(&row)?.unwrap_or_else(|| self.client.now_ms());
        Ok((table.row_key(&row)?, Write::Some(written_ms, cells(table, columns, values)?)))
    }
}

fn unknown(text: String) -> TableError {
    StorageError::new(StorageCause::CommitUnknown, std::io::Error::other(text)).into()
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
        let (key, demand, write) = match change {
            RowChange::Put { new, old, written_ms } => {
                let written_ms = match written_ms {
                    Some(written_ms) => written_ms,
                    None => table.row_time_ms(new)?.unwrap_or_else(|| self.client.now_ms()),
                };
                let row = stored(table, new, written_ms)?;
                (table.row_key(new)?, Demand::of(old), Write::Whole(Arc::new(row)))
            }
            RowChange::Set { columns, values } => {
                let (key, write) = self.set(table, columns, values)?;
                (key, Demand::Nothing, write)
            }
            RowChange::Delete { key, old } => (key.to_vec(), Demand::of(old), Write::Nothing),
        };
        if let Some(keys) = keys {
            keys.push(key.clone());
        }
        let cells = match &write {
            Write::Whole(row) => row.cells.len(),
            Write::Some(_, cells) => cells.len(),
            Write::Nothing => 0,
        };
        self.bytes += key.len() + 16 * cells;
        self.writes.push(RowWrite { table: table.def().id, key, demand, write });
        Ok(())
    }

    fn claim(&mut self, table: &Arc<Table>, key: &[u8]) {
        // The cluster knows no claims. The deletion of a key that no row has is checked as one.
        let key = [key, &[0xFF; 8]].concat();
        self.writes.push(RowWrite { table: table.def().id, key, demand: Demand::Nothing, write: Write::Nothing });
        self.claims += 1;
    }

    fn rows(&self) -> usize {
        self.writes.len() - self.claims
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn commit(self: Box<Self>, _: Durability) -> Result<CommitNo, TableError> {
        self.send(None)
    }
}
