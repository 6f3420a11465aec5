//! The rows of a snapshot: those of the commits before it, and over them the writes of its own transaction.

use std::sync::OnceLock;

use imbl::Vector;

use crate::engine::storage_engine::TableMap;
use crate::format::delta_record::Record;

/// The rows of all tables as a snapshot sees them. They never change.
///
/// The writes of a transaction are put into maps by the first read: most transactions with many writes, such as a load, read none of them, and
/// maps cost as much as the commit does.
pub(super) struct SnapshotRows {
    committed: TableMap,
    own: Option<Box<OwnWrites>>,
}

/// Records of a transaction, in the order of their statements.
struct OwnWrites {
    /// Shared with the snapshots of earlier statements: a transaction of `n` statements keeps each record once, not `n` times.
    records: Vector<Record>,
    /// The committed rows with those of the records.
    merged: OnceLock<TableMap>,
}

impl SnapshotRows {
    pub(super) fn new(committed: TableMap) -> Self {
        Self { committed, own: None }
    }

    /// The rows of all tables.
    pub(super) fn tables(&self) -> &TableMap {
        match &self.own {
            None => &self.committed,
            Some(own) => own.merged.get_or_init(|| merged(&self.committed, &own.records)),
        }
    }

    /// These rows, and over them those of the records, as the newest rows of memtables.
    pub(super) fn with(&self, new: &[Record]) -> Self {
        let (committed, mut records) = match &self.own {
            None => (&self.committed, Vector::new()),
            Some(own) => match own.merged.get() {
                Some(merged) => (merged, Vector::new()),
                None => (&self.committed, own.records.clone()),
            },
        };
        records.extend(new.iter().cloned());
        let own = (!records.is_empty()).then(|| Box::new(OwnWrites { records, merged: OnceLock::new() }));
        Self { committed: committed.clone(), own }
    }
}

fn merged(committed: &TableMap, records: &Vector<Record>) -> TableMap {
    let mut tables = committed.clone();
    for record in records {
        tables.entry(record.table.0).or_default().add(record);
    }
    tables
}
