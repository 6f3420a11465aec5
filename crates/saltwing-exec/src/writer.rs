//! What all statements that write need.

use std::num::NonZeroU64;
use std::sync::Arc;

use saltwing_access::{Durability, Memory, TableStore, WriteBatch};

use crate::ExecError;

/// Writes rows for statements.
pub struct Writer<'a> {
    /// The tables.
    pub store: &'a dyn TableStore,
    /// What an acknowledgement promises.
    pub durability: Durability,
    /// How much one commit may hold.
    pub limits: CommitLimits,
    /// What the rows count against that a statement gathers.
    pub memory: &'a Arc<Memory>,
}

/// How much one commit may hold, and when a statement that may commit in parts does so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitLimits {
    /// Most bytes of encoded rows of one commit: the setting `commit_bytes_max`.
    pub bytes_max: usize,
    /// Rows of a part, for statements that may commit in parts: the setting `autocommit_rows`. `None`: all rows are one
    /// commit.
    pub part_rows: Option<NonZeroU64>,
}

impl CommitLimits {
    /// The same limit for a statement that is one commit whatever `autocommit_rows` says.
    #[must_use]
    pub fn in_one(self) -> Self {
        Self { part_rows: None, ..self }
    }

    /// Whether a commit may hold so many bytes.
    ///
    /// # Errors
    /// [`ExecError::TooLarge`].
    pub(crate) fn check(&self, writes: &dyn WriteBatch) -> Result<(), ExecError> {
        let (bytes, limit) = (writes.bytes(), self.bytes_max);
        if bytes > limit {
            return Err(ExecError::TooLarge { bytes, limit, rows: writes.rows() as u64 });
        }
        Ok(())
    }

    /// Whether a part with these rows is committed before more come. The bytes end a part early: a limit on rows is no
    /// cause to fail for what a smaller part would have taken.
    pub(crate) fn end_part(&self, writes: &dyn WriteBatch) -> bool {
        self.part_rows.is_some_and(|rows| writes.rows() as u64 >= rows.get() || writes.bytes() > self.bytes_max / 2)
    }
}
