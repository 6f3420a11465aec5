//! The direct path: statements over one table, without a relational engine and without an async runtime.
//!
//! [`select`] reads, [`mod@write`] writes; `aggregate` makes groups of what is read, `totals` adds
//! whole columns up, and `few_rows` makes no batch of few rows. Rows that only a relational engine can
//! make come in as batches, whoever made them.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic))]

mod aggregate;
mod error;
mod few_rows;
mod output;
mod parts;
pub mod select;
mod source;
mod totals;
pub mod write;

pub use error::ExecError;
pub use few_rows::FewRows;
pub use select::{DirectRows, SelectPlan};
pub use write::{DeleteOutcome, Writer};
