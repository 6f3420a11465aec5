//! The store of all tables, and its capabilities.

use std::ops::Range;
use std::sync::Arc;

use saltwing_expr::RowValues;
use saltwing_heat::Slot;
use saltwing_types::{DurabilityScope, TableDef, TableId};

use crate::{CommitNo, Projection, Snapshot, Table, TableError, Transaction, WriteBatch};

/// What one commit writes as a whole or not at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AtomicScope {
    /// Each row by itself: a commit may be written in part ([`TableError::PartlyWritten`]).
    Row,
    /// Rows of any tables.
    Store,
}

/// The scope of a consistent snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SnapshotScope {
    /// Each region separately, at the time when a scan comes to it. A row is read whole. A row that was there all the time is read once, however
    /// regions change.
    Region,
    /// All tables.
    Store,
}

/// The abilities of a store of tables, as data: no caller asks which store it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Its name, for messages.
    pub name: &'static str,
    /// The scope of an atomic commit.
    pub atomic: AtomicScope,
    /// The scope of a snapshot.
    pub snapshots: SnapshotScope,
    /// Whether a commit may write some columns of a row and leave the others: [`RowChange::Set`](crate::RowChange).
    pub sets_columns: bool,
    /// Whether data survives the end of the process.
    pub persistent: bool,
    /// The failures that an acknowledged synced commit survives.
    pub durability: DurabilityScope,
}

impl Capabilities {
    /// Checks that a commit writes several rows as a whole or not at all, as `what` needs it.
    ///
    /// # Errors
    /// [`TableError::NotAtomic`].
    pub fn check_atomic(&self, what: &'static str) -> Result<(), TableError> {
        match self.atomic {
            AtomicScope::Row => Err(TableError::NotAtomic { store: self.name, what }),
            AtomicScope::Store => Ok(()),
        }
    }
}

/// A row that was read by its key.
#[derive(Clone, Debug)]
pub struct PointRow {
    /// The requested columns of the one row.
    pub values: RowValues,
    /// Stored bytes that were touched for them, about.
    pub bytes: u64,
}

/// The rows of all tables.
///
/// # Invariants
/// 1. A snapshot has exactly the commits before it, in its [scope](SnapshotScope).
/// 2. If two transactions wrote one key, the first to commit wins; the other gets [`TableError::Conflict`]. What a store without snapshots of all
///    tables compares: see [`OldRow`](crate::OldRow).
/// 3. A row older than its table's TTL at a snapshot's time is invisible to every read.
/// 4. Rows of one bucket come in key order.
pub trait TableStore: Send + Sync {
    /// The abilities of the store.
    fn capabilities(&self) -> &Capabilities;

    /// The time that rows are stamped with, in milliseconds since 1970.
    fn now_ms(&self) -> i64;

    /// The newest commit.
    fn newest_commit(&self) -> CommitNo;

    /// Opens a table, or puts its next definition in the place of the one before.
    ///
    /// From then on no commit writes rows by an earlier one ([`TableError::DefinitionChanged`]): such a row would
    /// overwrite columns that it does not know.
    fn open_table(&self, table: Table) -> Arc<Table>;

    /// Closes a table; its rows stay until [`TableStore::purge`].
    fn close_table(&self, id: TableId);

    /// An open table.
    ///
    /// # Errors
    /// [`TableError::NoSuchTable`].
    fn table(&self, id: TableId) -> Result<Arc<Table>, TableError>;

    /// Deletes every row of a table that is not open.
    ///
    /// # Errors
    /// The store's. Completed deletions stay; call it again.
    fn purge(&self, id: TableId) -> Result<(), TableError>;

    /// Everything committed so far.
    ///
    /// # Errors
    /// The store's.
    fn snapshot(&self) -> Result<Arc<dyn Snapshot>, TableError>;

    /// The newest row of a physical key; `None` if there is none. It needs no snapshot.
    ///
    /// # Errors
    /// The store's; [`TableError::DefinitionChanged`] if the row may be written by a later definition.
    fn point(&self, columns: &Projection, row_key: &[u8]) -> Result<Option<PointRow>, TableError>;

    /// Writes that depend on nothing that was read.
    fn batch(&self) -> Box<dyn WriteBatch>;

    /// Reads, and writes that depend on them.
    ///
    /// # Errors
    /// The store's.
    fn begin(&self) -> Result<Box<dyn Transaction>, TableError>;

    /// `count` row ids that no row of the table has. The ids of a table grow.
    ///
    /// # Errors
    /// The store's.
    fn allocate_row_ids(&self, table: &Arc<Table>, count: usize) -> Result<Range<i64>, TableError>;

    /// How often the physical keys of a table were read and written lately, the oldest counts first: an access that reads is a row read
    /// by its key, or rows that a scan reads together. `None` if the table is not open, or the store does not count.
    fn accesses(&self, id: TableId) -> Option<Vec<Slot>> {
        let _ = id;
        None
    }
}

impl dyn TableStore + '_ {
    /// Opens a table and the entries of its indexes: see [`TableStore::open_table`].
    pub fn open_with_indexes(&self, table: Table) -> Arc<Table> {
        self.open_table(table.with_entries(|entries| self.open_table(entries)))
    }

    /// Closes a table and the entries of its indexes: see [`TableStore::close_table`].
    pub fn close_with_indexes(&self, table: &TableDef) {
        table.stored_ids().for_each(|id| self.close_table(id));
    }
}
