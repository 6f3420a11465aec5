//! Procedures of the master.

use bytes::Bytes;
use hbase_client::proto::{ColumnFamilySchema, TableSchema};

use crate::exception::Exception;

/// What a procedure does when it finishes.
#[derive(Clone, Debug)]
pub(crate) enum Work {
    Create(TableSchema, Vec<Bytes>),
    Disable(String),
    Enable(String),
    Delete(String),
    /// Adds a column family to this table.
    AddFamily(String, ColumnFamilySchema),
    /// Splits the region of this table that has the key.
    Split(String, Bytes),
    /// Merges the region of this table that has the row with the one after it.
    Merge(String, Bytes),
}

/// A procedure: it runs until it was asked for so often, and does its work then.
#[derive(Clone, Debug)]
pub(crate) struct Procedure {
    /// Group and nonce: the same request gets the same procedure.
    pub(crate) nonce: Option<(u64, u64)>,
    /// How often it is still said to run.
    pub(crate) polls: u32,
    /// `None` after it was done.
    pub(crate) work: Option<Work>,
    pub(crate) failure: Option<Exception>,
}
