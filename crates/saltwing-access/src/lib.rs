//! The border between statements and storage: what a statement says to a store, and what comes back.
//!
//! A [`Table`] is a table as statements know it. A [`ScanRequest`] names the rows and columns to read. A [`ScanContext`]
//! counts the work of one statement, holds it to its [`Budget`], and cancels it. [`Memory`] is the memory that all
//! statements of a database share.
//!
//! This crate knows neither how rows are stored nor how statements are run.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic))]

mod context;
mod error;
mod estimate;
mod memory;
mod scan;
mod table;
mod totals;

pub use context::{Budget, Counters, ScanContext, Threads};
pub use error::TableError;
pub use estimate::{ColumnEstimate, Estimate, RangeSample};
pub use memory::{Memory, Reservation};
pub use scan::{
    Buckets, Division, KeyStretches, RangeIter, RangeSource, RangeWalk, ScanOrder, ScanRequest, ScanRoute, Stretch,
};
pub use table::Table;
pub use totals::{Total, Totals};

pub use saltwing_store::{Direction, Durability};
