//! The parts that all writing statements share.

use std::sync::Arc;

use saltwing_access::{Durability, Memory, TableStore};

use crate::{CommitLimits, OpenTransaction};

/// Writes rows for statements.
pub struct Writer<'a> {
    /// The tables.
    pub store: &'a dyn TableStore,
    /// The durability of an acknowledged write.
    pub durability: Durability,
    /// How much one commit may hold.
    pub limits: CommitLimits,
    /// The memory account of the rows that a statement collects.
    pub memory: &'a Arc<Memory>,
    /// The transaction that the statement is a part of; `None` if it commits by itself.
    pub open: Option<&'a OpenTransaction>,
}
