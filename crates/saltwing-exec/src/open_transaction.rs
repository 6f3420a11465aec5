//! Transactions of several statements.

use std::sync::Arc;

use parking_lot::Mutex;
use saltwing_access::{
    CommitNo, Durability, Memory, PinnedBytes, Reservation, RowChange, Savepoint, Snapshot, Table, TableError,
    TableStore, Transaction,
};

use crate::ExecError;
use crate::commit_limits::CommitLimits;
use crate::indexed_rows::IndexedRows;

/// Bytes of rows that a transaction may gather before more of them are counted as working memory: a count for each row would
/// have all threads write to one place.
const UNCOUNTED_BYTES: usize = 1 << 20;

/// The changes of a transaction before its commit, and the working memory that they count for.
pub(crate) struct PendingWrites {
    pub(crate) transaction: Box<dyn Transaction>,
    indexed: IndexedRows,
    pub(crate) reserved: Reservation,
}

impl PendingWrites {
    pub(crate) fn begin(store: &dyn TableStore, memory: &Arc<Memory>) -> Result<Self, TableError> {
        let indexed = IndexedRows::default();
        Ok(Self { transaction: store.begin()?, indexed, reserved: Reservation::new(memory.clone()) })
    }

    /// How many rows were changed; entries of indexes do not count.
    pub(crate) fn rows(&self) -> usize {
        self.transaction.rows().saturating_sub(self.indexed.uncounted())
    }

    /// The row that was deleted last moves to another key.
    pub(crate) fn moved(&mut self) {
        self.indexed.moved();
    }

    /// Commits all changes, or none.
    pub(crate) fn commit(self, durability: Durability) -> Result<(), TableError> {
        // A commit copies what snapshots still see of the memtables that it writes to.
        drop(self.indexed);
        self.transaction.commit(durability)?;
        Ok(())
    }

    /// Commits the changes so far as one part.
    pub(crate) fn commit_part(&mut self, durability: Durability) -> Result<(), TableError> {
        self.indexed = IndexedRows::default();
        self.transaction.commit_part(durability)?;
        Ok(())
    }

    /// Whether the changes so far are a part of a statement that may commit in parts.
    pub(crate) fn ends_part(&self, limits: CommitLimits) -> bool {
        limits.ends_part(self.rows() as u64, self.transaction.bytes())
    }

    /// Checks the values of unique indexes, when a statement or a part of it has written all its rows.
    pub(crate) fn check_unique(&mut self) -> Result<(), ExecError> {
        self.indexed.check_unique(&mut *self.transaction)
    }

    fn savepoint(&mut self) -> Savepoint {
        self.indexed.savepoint();
        self.transaction.savepoint()
    }

    fn rollback_to(&mut self, savepoint: Savepoint) -> Result<(), TableError> {
        self.transaction.rollback_to(savepoint)?;
        self.indexed.rolled_back_to(savepoint);
        Ok(())
    }

    fn release(&mut self, savepoint: Savepoint) {
        self.transaction.release(savepoint);
        self.indexed.released(savepoint);
    }

    /// Looks up together the rows of keys that are about to be changed: see [`IndexedRows::look_up`].
    pub(crate) fn look_up(&mut self, table: &Arc<Table>, keys: impl Iterator<Item = Vec<u8>>) -> Result<(), ExecError> {
        self.indexed.look_up(&mut *self.transaction, table, keys)
    }

    /// Changes a row; `keys` gets its physical key.
    pub(crate) fn apply(
        &mut self,
        table: &Arc<Table>,
        change: RowChange<'_>,
        limits: CommitLimits,
        keys: Option<&mut Vec<Vec<u8>>>,
    ) -> Result<(), ExecError> {
        if table.indexes().is_empty() {
            self.transaction.apply(table, change, keys)?;
        } else {
            let replaced = self.indexed.old_row(&mut *self.transaction, table, change)?;
            self.transaction.apply(table, change, keys)?;
            self.indexed.write_entries(&mut *self.transaction, table, change, replaced)?;
        }
        limits.check(&*self.transaction)?;
        let bytes = self.transaction.bytes() + self.indexed.bytes();
        if bytes > self.reserved.bytes() + UNCOUNTED_BYTES {
            self.reserved.resize(bytes)?;
        }
        Ok(())
    }
}

/// A transaction that belongs to several statements, one after the other.
///
/// # Invariant
/// One statement at a time uses it: its caller sees to that. A second one gets [`ExecError::Bug`] rather than waits, because
/// it could only be a part of the first, which would wait for itself.
pub struct OpenTransaction {
    /// `None` once the transaction has ended.
    pending: Mutex<Option<PendingWrites>>,
    now_ms: i64,
    began_after: CommitNo,
    pinned_bytes: PinnedBytes,
}

impl OpenTransaction {
    /// Begins a transaction; `memory` is the account of its rows.
    ///
    /// # Errors
    /// The store's.
    pub fn begin(store: &dyn TableStore, memory: &Arc<Memory>) -> Result<Self, ExecError> {
        let pending = PendingWrites::begin(store, memory)?;
        let now_ms = pending.transaction.snapshot().now_ms();
        let began_after = pending.transaction.began_after();
        let pinned_bytes = pending.transaction.pinned_bytes();
        Ok(Self { pending: Mutex::new(Some(pending)), now_ms, began_after, pinned_bytes })
    }

    /// The time at which the transaction began, in milliseconds since 1970.
    pub fn now_ms(&self) -> i64 {
        self.now_ms
    }

    /// The rows as the transaction sees them: those of its beginning, and the writes of its statements so far. It does not
    /// change with later writes.
    ///
    /// # Errors
    /// [`ExecError::Ended`]; the store's.
    pub fn snapshot(&self) -> Result<Arc<dyn Snapshot>, ExecError> {
        self.with(|pending| Ok(pending.transaction.view()?))
    }

    /// Runs the writes of a statement. If it fails, none of them stays.
    pub(crate) fn statement<T, E: From<ExecError>>(
        &self,
        run: impl FnOnce(&mut PendingWrites) -> Result<T, E>,
    ) -> Result<T, E> {
        self.with(|pending| {
            let savepoint = pending.savepoint();
            let result = run(pending);
            if result.is_err() {
                pending.rollback_to(savepoint).map_err(ExecError::from)?;
            }
            pending.release(savepoint);
            result
        })
    }

    /// Marks the writes so far.
    ///
    /// # Errors
    /// [`ExecError::Ended`].
    pub fn savepoint(&self) -> Result<Savepoint, ExecError> {
        self.with(|pending| Ok(pending.savepoint()))
    }

    /// Discards the writes since a savepoint.
    ///
    /// # Errors
    /// [`ExecError::Ended`]; [`TableError::NoSavepoint`].
    pub fn rollback_to(&self, savepoint: Savepoint) -> Result<(), ExecError> {
        self.with(|pending| Ok(pending.rollback_to(savepoint)?))
    }

    /// Forgets a savepoint; the writes stay.
    ///
    /// # Errors
    /// [`ExecError::Ended`].
    pub fn release(&self, savepoint: Savepoint) -> Result<(), ExecError> {
        self.with(|pending| {
            pending.release(savepoint);
            Ok(())
        })
    }

    /// How many rows the statements have written, and their encoded bytes.
    ///
    /// # Errors
    /// [`ExecError::Ended`].
    pub fn written(&self) -> Result<(usize, usize), ExecError> {
        self.with(|pending| Ok((pending.rows(), pending.transaction.bytes())))
    }

    /// Writes all of it or nothing, and ends the transaction either way.
    ///
    /// # Errors
    /// [`ExecError::Ended`]; as [`saltwing_access::WriteBatch::commit`].
    pub fn commit(&self, durability: Durability) -> Result<(), ExecError> {
        let pending = self.pending.try_lock().ok_or(IN_USE)?.take().ok_or(ExecError::Ended)?;
        Ok(pending.commit(durability)?)
    }

    /// Discards all writes, and ends the transaction if it has not ended. Waits for a statement that is writing.
    pub fn rollback(&self) {
        self.pending.lock().take();
    }

    /// The last commit before the transaction.
    pub fn began_after(&self) -> CommitNo {
        self.began_after
    }

    /// As [`Transaction::pinned_bytes`] now. May be called while a statement uses the transaction.
    pub fn pinned_bytes(&self) -> Option<u64> {
        (self.pinned_bytes)()
    }

    fn with<T, E: From<ExecError>>(&self, run: impl FnOnce(&mut PendingWrites) -> Result<T, E>) -> Result<T, E> {
        let mut pending = self.pending.try_lock().ok_or(IN_USE)?;
        run(pending.as_mut().ok_or(ExecError::Ended)?)
    }
}

const IN_USE: ExecError = ExecError::Bug("a transaction is used by two statements at once");
