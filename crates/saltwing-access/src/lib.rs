//! The border between statements and storage: requests to a store, and its results.
//!
//! A [`Table`] is a table as statements know it. A [`ScanSpec`] names columns and a filter, a [`ScanRoute`] keys. A [`ScanContext`]
//! counts the work of one statement, holds it to its [`Budget`], and cancels it. [`Memory`] is the memory that all
//! statements of a database share.
//!
//! This crate knows neither how rows are stored nor how statements are run.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic))]

mod aggregation;
mod clock;
#[cfg(feature = "conformance")]
pub mod conformance;
mod context;
mod damage;
mod entry_keys;
mod error;
mod estimate;
mod index_lookup;
pub mod keys;
mod memory;
mod memory_scope;
mod reaper;
mod row_outcomes;
mod scan;
mod short_range;
mod snapshot;
mod spec;
mod store;
mod table;
mod totals;
mod transaction;
mod union_scan;

pub use aggregation::{Aggregation, PartialCall, PartialGroups, PartialSource, PartialValues};
pub use clock::{Clock, SteadyClock, SystemClock};
pub use context::{Budget, Counters, ScanContext, Threads};
pub use damage::{Damage, Examine, Examined, Loss, ReadableRow, TakeRow};
pub use error::TableError;
pub use estimate::{ColumnEstimate, Estimate, RangeSample};
pub use index_lookup::ReadSpec;
pub use keys::{KeyRanges, KeySet, RangeIter};
pub use memory::{Memory, Reservation, StatementMemory};
pub use memory_scope::MemoryScope;
pub use reaper::reap_later;
pub use row_outcomes::RowOutcomes;
pub use scan::{ScanOrder, ScanRoute, SplitTarget};
pub use short_range::{SHORT_RANGE_ROWS, ShortRange, ShortRangeRows};
pub use snapshot::{RowSource, Snapshot, attached_table, snapshot_of};
pub use spec::{Compiled, Projection, ScanSpec};
pub use store::{AtomicScope, Capabilities, PointRow, SnapshotScope, TableStore};
pub use table::{Index, NO_TIME_MS, Table};
pub use totals::{Total, Totals};
pub use transaction::{CommitNo, OldRow, PinnedBytes, RowChange, Savepoint, Transaction, WriteBatch};

pub use saltwing_plan::{Buckets, KeyRegion, KeyRegions, ScanRange};
pub use saltwing_types::{Direction, Durability, DurabilityScope, StorageCause, StorageError};
