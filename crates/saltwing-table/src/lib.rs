//! Tables on any ordered store: rows in, Arrow batches out.
//!
//! Everything that knows how rows are stored is in here, below [`EmbeddedTables`]: above, rows are values and batches;
//! below, [`saltwing_store::OrderedKv`] knows bytes alone.
//!
//! # Layers
//! Recent rows are in ordered maps that the store makes durable, all others in immutable blocks of columns; a compaction in the
//! background brings the former into the latter.
//!
//! ```text
//! store, transaction   the border's traits
//! check                damage, for checks and salvage
//! scan                 cursor, predicates, decoding
//! engine               memtables, directory, block cache, compaction, recovery
//! format               bytes
//! ```
//! A layer imports those below it alone; a test holds that. `docs/packed-layout.md` has every byte.
//!
//! # Invariants
//! 1. A reader sees exactly the commits up to its view's number (`scan/snapshot.rs`).
//! 2. If two transactions wrote one key, the first to commit wins (`commit.rs`).
//! 3. A row older than its table's TTL at the view's time is invisible to every read.
//! 4. Rows of one bucket come in row-key order.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic))]

mod check;
mod commit;
mod engine;
mod format;
mod row_id;
mod scan;
mod store;
mod transaction;
mod write_set;

pub use check::verify::{SPACES, is_whole};
pub use engine::failure::BackgroundFailure;
pub use engine::options::{LayoutOptions, Merging};
pub use engine::stats::{StorageStats, TableStorage};
pub use store::EmbeddedTables;
