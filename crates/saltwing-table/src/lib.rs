//! Tables on any ordered store: rows in, Arrow batches out.
//!
//! Everything that knows how rows lie is in here, behind [`TableStore`] and its
//! synchronous lane [`EmbeddedTables`]: above, rows are values and batches; below,
//! [`saltwing_store::OrderedKv`] knows bytes alone.
//!
//! # How rows lie
//! One key-value pair a row and column family, in one space:
//!
//! ```text
//! [table id, 4 bytes][family, 1 byte][row key]  ->  [version][write time][slots][null bitmap][fixed][offsets][variable]
//! ```
//! The first family's pair is the row: it is always there. Another family's
//! pair is there when a column of it is not NULL. See the module `row_format`.
//!
//! # Invariants
//! 1. A reader sees exactly the commits up to its view's number ([`ReadView`]).
//! 2. Of two transactions that wrote one key, the first to commit wins ([`CommitLog`]).
//! 3. A row older than its table's TTL at the view's time is not there, whoever asks.
//! 4. Rows of one bucket come out in row-key order.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic))]

mod bucket;
mod commit;
mod context;
mod decode;
mod error;
mod layout;
mod row_format;
mod row_id;
mod scan;
mod store;
mod sweep;
mod table;
mod view;
mod write_set;

pub use commit::{CommitLog, CommitNo, ReadToken};
pub use context::{Budget, Counters, ScanContext};
pub use error::TableError;
pub use scan::{BatchStream, Buckets, RangeIter, RangeSource, RangeWalk, Scan, ScanOrder, ScanRequest};
pub use store::{Clock, EmbeddedTables, SystemClock, TableCapabilities, TableStore};
pub use table::Table;
pub use view::ReadView;
pub use write_set::WriteSet;

pub use saltwing_store::{Direction, Durability};
