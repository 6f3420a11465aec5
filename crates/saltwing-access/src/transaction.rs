//! Writing: batches, and transactions.

use std::sync::Arc;

use saltwing_types::{Durability, Value};

use crate::{Snapshot, Table, TableError};

/// The number of a commit; they grow by one from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct CommitNo(pub u64);

/// The row that a change replaces, as far as the statement knows it.
///
/// # Law
/// The commit of a transaction is in conflict if the row has changed since the statement read it. A store with snapshots of all tables compares the
/// snapshot's commit with the row's last one, whatever the statement knows. A store without them ([`SnapshotScope::Region`](crate::SnapshotScope))
/// compares the row itself with this one, and nothing if it is unknown: its statements say what they have read of a [compared
/// table](Table::is_compared).
#[derive(Clone, Copy, Debug)]
pub enum OldRow<'a> {
    /// The statement has not looked.
    Unknown,
    /// There is none.
    Absent,
    /// A value for each column.
    Present(&'a [Value]),
}

/// The change of a row.
#[derive(Clone, Copy, Debug)]
pub enum RowChange<'a> {
    /// The row is written whole.
    Put {
        /// A value for each column, brought to its type; key columns are taken from it, too.
        new: &'a [Value],
        /// The row before.
        old: OldRow<'a>,
        /// When it was written, in milliseconds since 1970, if that was before: it does not live longer for it.
        written_ms: Option<i64>,
    },
    /// Some columns of a row are written, and the others stay. If there is no row, it is made, and its other columns are NULL. Only for a store
    /// whose [`Capabilities::sets_columns`](crate::Capabilities) says so.
    Set {
        /// The columns, by index. A column of the key that is not among them is NULL.
        columns: &'a [usize],
        /// A value for each of them, brought to its type.
        values: &'a [Value],
    },
    /// The row is deleted, if it exists.
    Delete {
        /// Its physical key.
        key: &'a [u8],
        /// The row before.
        old: OldRow<'a>,
    },
}

impl<'a> RowChange<'a> {
    /// A complete row, which replaces an existing one.
    pub fn put(new: &'a [Value]) -> Self {
        Self::Put { new, old: OldRow::Unknown, written_ms: None }
    }

    /// A row that is deleted by its physical key.
    pub fn delete(key: &'a [u8]) -> Self {
        Self::Delete { key, old: OldRow::Unknown }
    }
}

/// Changes of rows of any tables that are committed together.
pub trait WriteBatch: Send {
    /// Adds a change of a row of a table; of several changes of one row the last one counts, and [`RowChange::Set`] keeps the columns of the one
    /// before that it does not write. `keys` gets the row's physical key.
    ///
    /// # Errors
    /// [`TableError::NotNull`] for a NULL where none may be; [`TableError::RowKey`] where the key values have no key;
    /// [`TableError::ValueTooLarge`]; [`TableError::WritesWholeRows`]. The batch is as it was.
    fn apply(
        &mut self,
        table: &Arc<Table>,
        change: RowChange<'_>,
        keys: Option<&mut Vec<Vec<u8>>>,
    ) -> Result<(), TableError>;

    /// Claims a key in the space of a table without writing a row: a commit that claims or writes it is in conflict with any
    /// other such commit since its snapshot. A unique index claims each value of a new entry, because two entries of one
    /// value have different keys.
    fn claim(&mut self, table: &Arc<Table>, key: &[u8]);

    /// Says that the commit leads to the deletion of more than it writes, so that a store that is nearly full may take it.
    fn reclaims_space(&mut self) {}

    /// How many rows are written.
    fn rows(&self) -> usize;

    /// How many bytes the rows take, encoded as the commit stores them.
    fn bytes(&self) -> usize;

    /// Writes all or none of it; on a store that writes each row by itself ([`AtomicScope::Row`](crate::AtomicScope)) all or none of each row.
    ///
    /// # Errors
    /// [`TableError::PartlyWritten`] of a store that writes each row by itself;
    /// [`TableError::Conflict`] and [`TableError::SnapshotTooOld`] of a transaction: nothing is written;
    /// [`TableError::DefinitionChanged`] if a table has another definition by now;
    /// [`StorageCause::CommitUnknown`](crate::StorageCause) if it is unknown whether it was written; the store's.
    fn commit(self: Box<Self>, durability: Durability) -> Result<CommitNo, TableError>;
}

impl dyn WriteBatch + '_ {
    /// Writes a complete row, which replaces an existing one.
    ///
    /// # Errors
    /// As [`WriteBatch::apply`].
    pub fn put(&mut self, table: &Arc<Table>, row: impl AsRef<[Value]>) -> Result<(), TableError> {
        self.apply(table, RowChange::put(row.as_ref()), None)
    }

    /// Deletes a row by its physical key, if it exists.
    ///
    /// # Errors
    /// As [`WriteBatch::apply`].
    pub fn delete(&mut self, table: &Arc<Table>, key: impl AsRef<[u8]>) -> Result<(), TableError> {
        self.apply(table, RowChange::delete(key.as_ref()), None)
    }
}

/// Says how many bytes storage keeps for a transaction; see [`Transaction::pinned_bytes`].
pub type PinnedBytes = Box<dyn Fn() -> Option<u64> + Send + Sync>;

/// A savepoint of a transaction: how many savepoints were before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Savepoint(pub usize);

/// Reads and writes that belong to one snapshot, over which its own writes can be read: the commit fails if another commit wrote one of the keys since.
pub trait Transaction: WriteBatch {
    /// The last commit before the beginning. The store remembers the keys of later ones for this transaction.
    fn began_after(&self) -> CommitNo;

    /// The snapshot of the beginning.
    fn snapshot(&self) -> &Arc<dyn Snapshot>;

    /// The snapshot for key lookups: the one of the beginning, and after the first part the newest one, which has the
    /// earlier parts.
    fn latest(&self) -> &dyn Snapshot;

    /// The rows of [`Transaction::latest`] with the changes so far, for reads of a later statement of the same
    /// transaction. Later changes are not in it, so that a statement does not see its own writes.
    ///
    /// # Errors
    /// The store's.
    fn view(&mut self) -> Result<Arc<dyn Snapshot>, TableError>;

    /// A function that says about how many bytes of rows the store keeps for open snapshots alone, of those that this transaction may still
    /// read; `None` if the store does not know. It may be called from any thread while the transaction is used, and keeps nothing itself.
    fn pinned_bytes(&self) -> PinnedBytes {
        Box::new(|| None)
    }

    /// Marks the changes so far, for [`Transaction::rollback_to`].
    fn savepoint(&mut self) -> Savepoint;

    /// Discards the changes since a savepoint, and the savepoints after it. The savepoint itself stays.
    ///
    /// # Errors
    /// [`TableError::NoSavepoint`] if it was released, or discarded with an earlier one.
    fn rollback_to(&mut self, savepoint: Savepoint) -> Result<(), TableError>;

    /// Forgets a savepoint and those after it; the changes stay.
    fn release(&mut self, savepoint: Savepoint);

    /// Commits the changes so far as one part. The transaction continues with the same snapshot, and without changes and
    /// savepoints.
    ///
    /// # Errors
    /// As [`WriteBatch::commit`].
    fn commit_part(&mut self, durability: Durability) -> Result<CommitNo, TableError>;
}
