//! The changes of a batch.

use std::collections::BTreeMap;
use std::sync::Arc;

use saltwing_access::{CommitNo, Durability, RowChange, RowOutcomes, Table, TableError, WriteBatch};
use saltwing_phoenix::StorageScheme;
use saltwing_types::{TableId, Value};

use super::row_write::{Demand, RowWrite};
use super::sending::send;
use crate::HbaseError;
use crate::cluster::Cluster;
use crate::open_tables::OpenTables;
use crate::phoenix_table::{ColumnPlace, PhoenixTable};

const NO_CLAIMS: &str = "unique indexes are not kept on a cluster: no commit is compared with others of other rows";

/// Phoenix itself writes such a row, and the other columns lose their values.
const SHARED_CELL: &str = "its columns share a cell, so that a row is written with all of them, and some are not named";

/// Whether a column of a row is not among those that are written.
fn leaves_out(phoenix: &PhoenixTable, values: &[Option<Value>]) -> bool {
    let columns = phoenix.places.iter().zip(values);
    columns.into_iter().any(|(place, value)| matches!(place, ColumnPlace::Value(_)) && value.is_none())
}

/// Changes of rows, each of which is written by itself.
pub(crate) struct ClusterBatch {
    cluster: Arc<Cluster>,
    open: Arc<OpenTables>,
    /// The tables that are written.
    tables: BTreeMap<TableId, Arc<Table>>,
    writes: Vec<(TableId, RowWrite)>,
    bytes: usize,
    has_claims: bool,
}

/// How much a batch has: changes, and their bytes.
pub(super) type Mark = (usize, usize);

impl ClusterBatch {
    pub(crate) fn new(cluster: Arc<Cluster>, open: Arc<OpenTables>) -> Self {
        Self { cluster, open, tables: BTreeMap::new(), writes: Vec::new(), bytes: 0, has_claims: false }
    }

    /// An empty one of the same cluster.
    pub(super) fn another(&self) -> Self {
        Self::new(self.cluster.clone(), self.open.clone())
    }

    pub(super) fn mark(&self) -> Mark {
        (self.writes.len(), self.bytes)
    }

    pub(super) fn cut(&mut self, (writes, bytes): Mark) {
        self.writes.truncate(writes);
        self.bytes = bytes;
    }

    /// Sends the changes, one for each row.
    pub(super) fn send(self) -> Result<CommitNo, TableError> {
        if self.has_claims {
            return Err(HbaseError::NotSupported(NO_CLAIMS).into());
        }
        let mut rows: BTreeMap<(TableId, Vec<u8>), RowWrite> = BTreeMap::new();
        for (id, write) in self.writes {
            let Some(table) = self.tables.get(&id) else { return Err(TableError::NoSuchTable(id.0)) };
            let place = (id, write.key.clone());
            let whole = match rows.remove(&place) {
                Some(before) => before.then(table, &*PhoenixTable::of(table)?, write)?,
                None => write,
            };
            rows.insert(place, whole);
        }
        let mut of_tables: BTreeMap<TableId, Vec<RowWrite>> = BTreeMap::new();
        for ((id, _), write) in rows {
            of_tables.entry(id).or_default().push(write);
        }
        let mut outcomes = RowOutcomes::default();
        for (id, rows) in of_tables {
            let Some(table) = self.tables.get(&id) else { return Err(TableError::NoSuchTable(id.0)) };
            match self.open.check_newest(table) {
                Ok(()) => send(&self.cluster, table, rows, &mut outcomes)?,
                Err(changed) => outcomes.refused(rows.len(), changed),
            }
        }
        outcomes.result().map(|()| CommitNo(0))
    }
}

impl WriteBatch for ClusterBatch {
    fn apply(
        &mut self,
        table: &Arc<Table>,
        change: RowChange<'_>,
        keys: Option<&mut Vec<Vec<u8>>>,
    ) -> Result<(), TableError> {
        let phoenix = PhoenixTable::of(table)?;
        if let Some(reason) = &phoenix.not_written {
            let (table, reason) = (table.def().name.to_string(), reason.clone());
            return Err(HbaseError::NotWritten { table, reason }.into());
        }
        let write = match change {
            // Servers have no other time for a row than that of its last write.
            RowChange::Put { new, old, written_ms: _ } => {
                let values = new.iter().cloned().map(Some).collect();
                RowWrite::upsert(table, &phoenix, values, Demand::of(old))?
            }
            RowChange::Set { columns, values } => {
                let mut all = vec![None; table.def().columns.len()];
                for (column, value) in columns.iter().zip(values) {
                    if let Some(place) = all.get_mut(*column) {
                        *place = Some(value.clone());
                    }
                }
                if phoenix.codec.format().storage == StorageScheme::CellPerFamily && leaves_out(&phoenix, &all) {
                    let (table, reason) = (table.def().name.to_string(), SHARED_CELL.to_owned());
                    return Err(HbaseError::NotWritten { table, reason }.into());
                }
                RowWrite::upsert(table, &phoenix, all, Demand::Nothing)?
            }
            RowChange::Delete { key, old } => RowWrite::delete(&phoenix, key, Demand::of(old))?,
        };
        self.bytes += write.bytes();
        keys.into_iter().for_each(|keys| keys.push(write.key.clone()));
        self.tables.insert(table.def().id, table.clone());
        self.writes.push((table.def().id, write));
        Ok(())
    }

    /// The commit is refused: see [`ClusterBatch::send`].
    fn claim(&mut self, _: &Arc<Table>, _: &[u8]) {
        self.has_claims = true;
    }

    fn rows(&self) -> usize {
        self.writes.len()
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn commit(self: Box<Self>, _: Durability) -> Result<CommitNo, TableError> {
        self.send()
    }
}
