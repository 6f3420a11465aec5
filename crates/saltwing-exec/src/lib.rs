//! The direct path: statements over one table, without a relational engine and without an async runtime.
//!
//! [`select`] reads, as batches or as values of rows, [`mod@write`] writes, in a [`transaction`](mod@transaction) where it reads too; `aggregate` makes groups of what is
//! read, and `totals` adds whole columns up. `system_rows` runs queries over system tables. Rows that only a relational engine can make come in as batches, whoever
//! made them.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic))]

mod aggregate;
mod check;
mod commit_limits;
mod conflicting_rows;
mod error;
mod in_order;
mod index_build;
mod indexed_rows;
mod looked_up_rows;
mod open_transaction;
mod output;
mod page;
mod parts;
mod prefix;
mod returning;
mod row_values;
mod rows;
mod running;
pub mod select;
mod source;
mod system_rows;
mod target_rows;
mod totals;
pub mod transaction;
mod unique_values;
pub mod write;
mod writer;

pub use check::broken_row;
pub use commit_limits::CommitLimits;
pub use error::ExecError;
pub use index_build::{INDEX_COMMIT_ROWS, IndexBuild};
pub use open_transaction::OpenTransaction;
pub use page::{PageEnd, PagePosition, PageRows};
pub use returning::{Returning, RowAction, no_returned_rows};
pub use rows::DirectRows;
pub use running::{RunningSelect, TotalRow};
pub use select::SelectPlan;
pub use system_rows::system_rows;
pub use target_rows::{Repeats, TargetRows};
pub use transaction::{Attempt, Unfinished};
pub use write::RowFailure;
pub use writer::Writer;
