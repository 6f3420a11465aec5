//! Writes: refused, with what to use instead.

use std::sync::Arc;

use saltwing_access::{CommitNo, Durability, RowChange, Table, TableError, WriteBatch};

use crate::HbaseError;

/// Why nothing is written.
const NO_WRITES: &str = "this release reads tables on HBase and does not write them: write them with Phoenix, or copy them into a database in a \
                         directory with INSERT .. SELECT";

/// The error of a write.
pub(crate) fn refused() -> TableError {
    HbaseError::NotSupported(NO_WRITES).into()
}

/// A batch that takes no changes.
pub(crate) struct NoWrites;

impl WriteBatch for NoWrites {
    fn apply(&mut self, _: &Arc<Table>, _: RowChange<'_>, _: Option<&mut Vec<Vec<u8>>>) -> Result<(), TableError> {
        Err(refused())
    }

    fn claim(&mut self, _: &Arc<Table>, _: &[u8]) {}

    fn free_space(&mut self) {}

    fn rows(&self) -> usize {
        0
    }

    fn bytes(&self) -> usize {
        0
    }

    /// A batch without changes has nothing to write; one with a claim writes nothing that could be in conflict.
    fn commit(self: Box<Self>, _: Durability) -> Result<CommitNo, TableError> {
        Ok(CommitNo(0))
    }
}
