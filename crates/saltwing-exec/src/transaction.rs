//! Writes that read: the reads and writes of a statement belong to one snapshot.
//!
//! ```text
//! begin: snapshot, token ──> read, compute, put rows ──> commit, checked against the token
//!        └───────────────── once more, from the start, if another commit was first ──┘
//! ```
//! First committer wins, by the keys that are written. A statement that may commit in parts reads the same snapshot for
//! all of them, and each part is checked against the same token; once a part is committed, it is not run again.

use std::sync::Arc;

use saltwing_access::{Durability, Reservation, RowChange, Snapshot, Table, TableError, TableStore, Transaction};

use crate::ExecError;
use crate::writer::{CommitLimits, Writer};

/// How often a statement in conflict is run.
pub const TRIES_MAX: u32 = 100;

/// Bytes of rows that a statement may gather before more of them are counted as working memory: a count for each row would
/// have all threads write to one place.
const UNCOUNTED_BYTES: usize = 1 << 20;

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
    transaction: Box<dyn Transaction>,
    /// The working memory that the rows count for.
    reserved: Reservation,
    rows_committed: u64,
    /// Another commit was first.
    is_lost: bool,
}

impl Writer<'_> {
    /// Runs a statement that reads and writes until no other commit comes first; with what `run` gives comes how many
    /// rows were written.
    ///
    /// `run` reads at [`Attempt::snapshot`] and puts rows, which are committed at its end.
    ///
    /// # Errors
    /// Those of `run` and of commits; [`ExecError::Contended`].
    pub fn transaction<T, E: From<ExecError>>(
        &self,
        limits: CommitLimits,
        mut run: impl FnMut(&mut Attempt<'_>) -> Result<T, E>,
    ) -> Result<(u64, T), Unfinished<E>> {
        let unfinished = |error, rows_committed| Unfinished { error, rows_committed };
        for _ in 0..TRIES_MAX {
            let transaction = self.store.begin().map_err(|error| unfinished(ExecError::from(error).into(), 0))?;
            let mut attempt = Attempt {
                store: self.store,
                durability: self.durability,
                limits,
                transaction,
                reserved: Reservation::new(self.memory.clone()),
                rows_committed: 0,
                is_lost: false,
            };
            let (given, rows_before) = match run(&mut attempt) {
                Ok(given) => (given, attempt.rows_committed),
                Err(_) if attempt.is_lost && attempt.rows_committed == 0 => continue,
                Err(error) => return Err(unfinished(error, attempt.rows_committed)),
            };
            match attempt.finish() {
                Ok(rows) => return Ok((rows_before + rows, given)),
                Err(error) if is_lost(&error) && rows_before == 0 => {}
                Err(error) => return Err(unfinished(ExecError::from(error).into(), rows_before)),
            }
        }
        Err(unfinished(ExecError::Contended(TRIES_MAX).into(), 0))
    }
}

impl<'a> Attempt<'a> {
    /// The snapshot that the statement reads, in all its parts.
    pub fn snapshot(&self) -> &Arc<dyn Snapshot> {
        self.transaction.snapshot()
    }

    pub(crate) fn store(&self) -> &'a dyn TableStore {
        self.store
    }

    /// The snapshot by which rows are looked up by their keys. It has the rows of this statement's earlier parts.
    pub(crate) fn latest(&self) -> &dyn Snapshot {
        self.transaction.latest()
    }

    /// Changes a row; `keys` gets its physical key.
    pub(crate) fn apply(
        &mut self,
        table: &Arc<Table>,
        change: RowChange<'_>,
        keys: Option<&mut Vec<Vec<u8>>>,
    ) -> Result<(), ExecError> {
        self.transaction.apply(table, change, keys)?;
        self.store.capabilities().check_rows(self.transaction.rows())?;
        self.limits.check(&*self.transaction)?;
        let bytes = self.transaction.bytes();
        if bytes > self.reserved.bytes() + UNCOUNTED_BYTES {
            self.reserved.resize(bytes)?;
        }
        Ok(())
    }

    /// Commits the rows put so far if they are a part; whether they were.
    pub(crate) fn end_part(&mut self) -> Result<bool, ExecError> {
        if !self.limits.end_part(&*self.transaction) {
            return Ok(false);
        }
        let rows = self.transaction.rows() as u64;
        if let Err(error) = self.transaction.commit_part(self.durability) {
            self.is_lost = is_lost(&error);
            return Err(error.into());
        }
        self.rows_committed += rows;
        self.reserved.resize(0)?;
        Ok(true)
    }

    /// Commits the rows put since the last part; how many they are.
    fn finish(self) -> Result<u64, TableError> {
        let rows = self.transaction.rows() as u64;
        self.transaction.commit(self.durability)?;
        Ok(rows)
    }
}

/// Whether a commit failed because another one was first.
fn is_lost(error: &TableError) -> bool {
    matches!(error, TableError::Conflict { .. } | TableError::SnapshotTooOld)
}
