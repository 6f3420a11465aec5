//! Writes that read: the reads and writes of a statement belong to one snapshot.
//!
//! ```text
//! begin: snapshot, token ──> read, compute, put rows ──> commit, checked against the token
//!        └───────────────── once more, from the start, if another commit was first ──┘
//! ```
//! First committer wins, by the keys that are written. A statement that may commit in parts reads the same snapshot for
//! all of them, and each part is checked against the same token; once a part is committed, it is not run again.
//!
//! Inside an [`OpenTransaction`] a statement neither commits nor runs again: it reads the transaction's snapshot with the
//! writes of the statements before, and its rows join them.

use std::sync::Arc;

use arrow::array::RecordBatch;
use saltwing_access::{Durability, Memory, OldRow, RowChange, Snapshot, Table, TableError, TableStore};

use crate::ExecError;
use crate::commit_limits::CommitLimits;
use crate::open_transaction::{OpenTransaction, PendingWrites};
use crate::returning::{ReturnedRows, Returning, RowAction, batch_of_rows};
use crate::writer::Writer;

/// How often a statement in conflict is run.
pub const TRIES_MAX: u32 = 100;

/// A statement that ended with an error.
#[derive(Debug)]
pub struct Unfinished<E> {
    /// The error.
    pub error: E,
    /// Rows that were committed before it, and stay.
    pub rows_committed: u64,
}

impl<E> Unfinished<E> {
    /// The same with another error.
    pub fn map<F>(self, of: impl FnOnce(E) -> F) -> Unfinished<F> {
        Unfinished { error: of(self.error), rows_committed: self.rows_committed }
    }
}

/// One try of a statement that reads and writes.
pub struct Attempt<'a> {
    store: &'a dyn TableStore,
    durability: Durability,
    limits: CommitLimits,
    /// The rows that the statement reads, in all its parts.
    snapshot: Arc<dyn Snapshot>,
    pending: &'a mut PendingWrites,
    memory: &'a Arc<Memory>,
    /// Whether the rows stay in `pending` when the statement ends: it is a part of a larger transaction.
    is_within: bool,
    rows_committed: u64,
    /// Changes so far.
    changes: u64,
    /// Another commit was first.
    is_lost: bool,
    /// The rows for RETURNING, if the statement has one.
    returned: Option<ReturnedRows>,
}

impl Writer<'_> {
    /// Runs a statement that reads and writes until no other commit comes first; with what `run` gives comes how many
    /// rows were written.
    ///
    /// `run` reads at [`Attempt::snapshot`] and puts rows. They are committed at its end, or with the transaction that the
    /// statement is a part of.
    ///
    /// # Errors
    /// Those of `run` and of commits; [`ExecError::Contended`].
    pub fn transaction<T, E: From<ExecError>>(
        &self,
        limits: CommitLimits,
        mut run: impl FnMut(&mut Attempt<'_>) -> Result<T, E>,
    ) -> Result<(u64, T), Unfinished<E>> {
        let unfinished = |error, rows_committed| Unfinished { error, rows_committed };
        if let Some(open) = self.open {
            return self.within(open, limits, run).map_err(|error| unfinished(error, 0));
        }
        for _ in 0..TRIES_MAX {
            let pending = PendingWrites::begin(self.store, self.memory);
            let mut pending = pending.map_err(|error| unfinished(ExecError::from(error).into(), 0))?;
            let snapshot = pending.transaction.snapshot().clone();
            let mut attempt = self.attempt(limits, snapshot, &mut pending, false);
            let (given, rows_before) = match run(&mut attempt) {
                Ok(given) => (given, attempt.rows_committed),
                Err(_) if attempt.is_lost && attempt.rows_committed == 0 => continue,
                Err(error) => return Err(unfinished(error, attempt.rows_committed)),
            };
            // A commit copies what snapshots still see of the memtables that it writes to.
            drop(attempt);
            let rows = pending.rows() as u64;
            pending.check_unique().map_err(|error| unfinished(error.into(), rows_before))?;
            match pending.commit(self.durability) {
                Ok(()) => return Ok((rows_before + rows, given)),
                Err(error) if is_lost(&error) && rows_before == 0 => {}
                Err(error) => {
                    let rows = rows_before + error.rows_written();
                    return Err(unfinished(ExecError::from(error).into(), rows));
                }
            }
        }
        Err(unfinished(ExecError::Contended(TRIES_MAX).into(), 0))
    }

    /// Runs a statement inside an open transaction.
    fn within<T, E: From<ExecError>>(
        &self,
        open: &OpenTransaction,
        limits: CommitLimits,
        run: impl FnOnce(&mut Attempt<'_>) -> Result<T, E>,
    ) -> Result<(u64, T), E> {
        let snapshot = open.snapshot()?;
        open.statement(|pending| {
            let rows_before = pending.rows();
            let given = run(&mut self.attempt(limits.in_one(), snapshot, pending, true))?;
            pending.check_unique()?;
            Ok(((pending.rows() - rows_before) as u64, given))
        })
    }

    fn attempt<'a>(
        &'a self,
        limits: CommitLimits,
        snapshot: Arc<dyn Snapshot>,
        pending: &'a mut PendingWrites,
        is_within: bool,
    ) -> Attempt<'a> {
        let Self { store, durability, memory, .. } = *self;
        Attempt {
            store,
            durability,
            limits,
            snapshot,
            pending,
            memory,
            is_within,
            rows_committed: 0,
            changes: 0,
            is_lost: false,
            returned: None,
        }
    }
}

impl<'a> Attempt<'a> {
    /// The snapshot that the statement reads, in all its parts.
    pub fn snapshot(&self) -> &Arc<dyn Snapshot> {
        &self.snapshot
    }

    /// How many changes of rows the statement has made so far.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Whether the statement is a part of a larger transaction.
    pub(crate) fn is_within(&self) -> bool {
        self.is_within
    }

    pub(crate) fn memory(&self) -> &Arc<Memory> {
        self.memory
    }

    pub(crate) fn store(&self) -> &'a dyn TableStore {
        self.store
    }

    /// The snapshot by which rows are looked up by their keys. It has the rows of this statement's earlier parts.
    pub(crate) fn latest(&self) -> &dyn Snapshot {
        if self.is_within { &*self.snapshot } else { self.pending.transaction.latest() }
    }

    /// Keeps the rows that are written or deleted from now on, for [`Attempt::returned`].
    pub fn keep_rows(&mut self) {
        self.returned = Some(ReturnedRows::new(self.memory));
    }

    pub(crate) fn keeps_rows(&self) -> bool {
        self.returned.is_some()
    }

    /// The result of the kept rows.
    ///
    /// # Errors
    /// Those of its expressions.
    pub fn returned(&mut self, returning: &Returning) -> Result<RecordBatch, ExecError> {
        let rows = self.returned.take().ok_or(ExecError::Bug("rows are returned that were not kept"))?;
        returning.batch(rows, self.memory)
    }

    /// The kept rows as a batch: all columns of the table, its physical key, the place of each row among them, and what was done to it.
    ///
    /// # Errors
    /// Those of values that have no form in Arrow.
    pub fn returned_rows(&mut self, table: &Table) -> Result<RecordBatch, ExecError> {
        let rows = self.returned.take().ok_or(ExecError::Bug("rows are returned that were not kept"))?;
        batch_of_rows(table, &rows)
    }

    /// Tells for what rows are written from now on.
    pub fn writes_for(&mut self, action: RowAction) {
        if let Some(returned) = &mut self.returned {
            returned.puts = action;
        }
    }

    /// Looks up together the rows of keys that the statement is about to change without telling what they are: see [`IndexedRows::look_up`].
    pub(crate) fn look_up(&mut self, table: &Arc<Table>, keys: impl Iterator<Item = Vec<u8>>) -> Result<(), ExecError> {
        self.pending.look_up(table, keys)
    }

    /// Changes a row; `keys` gets its physical key.
    pub(crate) fn apply(
        &mut self,
        table: &Arc<Table>,
        change: RowChange<'_>,
        keys: Option<&mut Vec<Vec<u8>>>,
    ) -> Result<(), ExecError> {
        if !table.indexes().is_empty() {
            self.store.capabilities().check_atomic("a change of a row and of its entries in indexes")?;
        }
        self.pending.apply(table, change, self.limits, keys)?;
        self.changes += 1;
        if let Some(returned) = &mut self.returned {
            returned.add(change)?;
        }
        Ok(())
    }

    /// Deletes a row that moves to another key, where it is put later in the same commit.
    ///
    /// # Errors
    /// [`TableError::NotAtomic`]: otherwise the row could be lost.
    pub(crate) fn leave_key(&mut self, table: &Arc<Table>, key: &[u8], old: OldRow<'_>) -> Result<(), ExecError> {
        self.store.capabilities().check_atomic("a change of a row's key")?;
        self.pending.apply(table, RowChange::Delete { key, old }, self.limits, None)?;
        self.pending.moved();
        Ok(())
    }

    /// Commits the rows put so far if they are a part; whether they were.
    pub(crate) fn end_part(&mut self) -> Result<bool, ExecError> {
        if !self.pending.ends_part(self.limits) {
            return Ok(false);
        }
        self.pending.check_unique()?;
        let rows = self.pending.rows() as u64;
        if let Err(error) = self.pending.commit_part(self.durability) {
            self.is_lost = is_lost(&error);
            self.rows_committed += error.rows_written();
            return Err(error.into());
        }
        self.rows_committed += rows;
        self.pending.reserved.resize(0)?;
        Ok(true)
    }
}

/// Whether a commit failed because another one was first.
pub(crate) fn is_lost(error: &TableError) -> bool {
    matches!(error, TableError::Conflict { .. } | TableError::SnapshotTooOld)
}
