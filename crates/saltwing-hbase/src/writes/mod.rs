//! Writes: each row by itself, as cells that Phoenix reads as its own.

mod batch;
mod row_write;
mod sending;
mod transaction;

pub(crate) use batch::ClusterBatch;
pub(crate) use transaction::ClusterTransaction;
