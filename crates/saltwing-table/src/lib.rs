//! Tables on any ordered store: rows in, Arrow batches out.
//!
//! Everything that knows how rows are stored is in here, behind [`EmbeddedTables`]: above, rows are values and batches;
//! below, [`saltwing_store::OrderedKv`] knows bytes alone.
//!
//! # How rows lie
//! Recent rows in ordered maps that the store makes durable, all others in immutable
//! blocks of columns; a merge in the background brings the former into the latter. See
//! the module `packed`; `docs/packed-layout.md` has every byte.
//!
//! # Invariants
//! 1. A reader sees exactly the commits up to its view's number (`view.rs`).
//! 2. Of two transactions that wrote one key, the first to commit wins (`commit.rs`).
//! 3. A row older than its table's TTL at the view's time is not there, whoever asks.
//! 4. Rows of one bucket come out in row-key order.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic))]

mod bucket;
mod column_location;
mod column_writer;
mod commit;
mod condition;
mod conditions;
mod decode;
mod estimate;
mod examine;
mod merged;
mod packed;
mod points;
mod row_format;
mod row_id;
mod row_order;
mod row_values;
mod scan;
mod selection;
mod selector;
mod shape;
mod skip;
mod snapshot;
mod split;
mod store;
mod table;
mod texts;
mod totals;
mod transaction;
mod walk;
mod write_set;

pub use packed::{BackgroundFailure, LayoutOptions, Merging, SPACES, StorageStats, TableStorage, is_whole};
pub use store::EmbeddedTables;

pub(crate) use commit::{CommitLog, ReadToken};
pub(crate) use snapshot::EmbeddedSnapshot;
pub(crate) use table::StoredTable;
