//! Limits of commits.

use std::num::NonZeroU64;

use saltwing_access::WriteBatch;

use crate::ExecError;

/// How much one commit may hold, and when a statement that may commit in parts does so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitLimits {
    /// Most bytes of encoded rows of one commit: the setting `commit_bytes_max`.
    pub bytes_max: usize,
    /// Rows of a part, for statements that may commit in parts: the setting `autocommit_rows`. `None`: all rows are one
    /// commit.
    pub part_rows: Option<NonZeroU64>,
    /// Whether several statements are one commit.
    pub is_open: bool,
}

impl CommitLimits {
    /// The same limit for a statement that is one commit regardless of `autocommit_rows`.
    #[must_use]
    pub fn in_one(self) -> Self {
        Self { part_rows: None, ..self }
    }

    /// Refuses a batch whose bytes exceed the limit of a commit.
    ///
    /// # Errors
    /// [`ExecError::TooLarge`].
    pub(crate) fn check(&self, writes: &dyn WriteBatch) -> Result<(), ExecError> {
        let (bytes, limit) = (writes.bytes(), self.bytes_max);
        if bytes > limit {
            return Err(ExecError::TooLarge { bytes, limit, rows: writes.rows() as u64, is_open: self.is_open });
        }
        Ok(())
    }

    /// Whether a part with this many rows and bytes is to be committed now. A part of few rows is, too, if it has half of `bytes_max`:
    /// the statement would fail if it went on and exceeded the limit.
    pub(crate) fn ends_part(&self, rows: u64, bytes: usize) -> bool {
        self.part_rows.is_some_and(|rows_max| rows >= rows_max.get() || bytes > self.bytes_max / 2)
    }
}
