//! The store of all tables, and what it can do.

use std::ops::Range;
use std::sync::Arc;

use saltwing_expr::RowValues;
use saltwing_types::{DurabilityScope, TableId};

use crate::{Projection, Snapshot, Table, TableError, Transaction, WriteBatch};

/// How much one commit writes at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AtomicScope {
    /// One row.
    Row,
    /// The rows of one region.
    Region,
    /// Rows of any tables.
    Store,
}

/// What one snapshot sees as of one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SnapshotScope {
    /// Each region by itself.
    Region,
    /// All tables.
    Store,
}

/// What a store of tables can do, as data: nobody asks which store it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Its name, for people.
    pub name: &'static str,
    /// What a commit writes at once.
    pub atomic: AtomicScope,
    /// What a snapshot sees.
    pub snapshots: SnapshotScope,
    /// Whether anything is there after the process ends.
    pub persistent: bool,
    /// What an acknowledged synced commit survives.
    pub durability: DurabilityScope,
}

impl Capabilities {
    /// Checks that a commit may have that many rows.
    ///
    /// # Errors
    /// [`TableError::NotAtomic`].
    pub fn check_rows(&self, rows: usize) -> Result<(), TableError> {
        match self.atomic {
            AtomicScope::Row if rows > 1 => Err(TableError::NotAtomic { store: self.name, rows }),
            _ => Ok(()),
        }
    }
}

/// A row that was read by its key.
#[derive(Clone, Debug)]
pub struct PointRow {
    /// The columns asked for, of the one row.
    pub values: RowValues,
    /// Stored bytes that were touched for them, about.
    pub bytes: u64,
}

/// The rows of all tables.
///
/// # Invariants
/// 1. A snapshot has exactly the commits before it.
/// 2. Of two transactions that wrote one key, the first to commit wins; the other one gets [`TableError::Conflict`].
/// 3. A row older than its table's TTL at a snapshot's time is not there, whoever reads.
/// 4. Rows of one bucket come out in the order of their keys.
pub trait TableStore: Send + Sync {
    /// What the store can do.
    fn capabilities(&self) -> &Capabilities;

    /// The time that rows are stamped with, in milliseconds since 1970.
    fn now_ms(&self) -> i64;

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
    /// The store's. What was deleted until then stays deleted; call it again.
    fn purge(&self, id: TableId) -> Result<(), TableError>;

    /// Everything committed so far.
    ///
    /// # Errors
    /// The store's.
    fn snapshot(&self) -> Result<Arc<dyn Snapshot>, TableError>;

    /// One row as it is now, by its physical key; `None` if it is not there. It needs no snapshot.
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
}
