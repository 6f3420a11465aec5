//! A store of tables as a cluster would be one, in this process: it proves that the border (`saltwing-access`) fits more than the
//! embedded storage.
//!
//! ```text
//!  statements ── border ──> client: snapshots, scans, transactions ── calls ──> cluster: regions of rows, with versions
//!                           locates regions, tries failed calls again           splits, merges and moves them meanwhile
//! ```
//!
//! A scan reads a page of rows a call. Before each call regions may change at random, and the call may fail: the client
//! locates the region again and continues after the last row that it has. A commit carries a number of its own, so that it
//! can be sent again when its answer was lost.
//!
//! # Profiles
//! * [`AtomicScope::Store`]: a commit writes rows of any tables as a whole, and is checked against a snapshot of all tables.
//! * [`AtomicScope::Row`]: as HBase. Each row is written by itself; a write may demand that the row is as the statement has read it, or set some
//!   of its columns. A read sees the newest rows of each region when it comes there. A catalog does not fit into such a store.
//!
//! # Left to others
//! Speed, durability, and giving space back: old versions stay.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic))]

mod aggregation;
mod batch;
mod bucket_scan;
mod buckets;
mod chance;
mod client;
mod cluster;
mod read_ahead;
mod row_write;
mod rows;
mod scan;
mod snapshot;
mod store;
mod transaction;

pub use saltwing_access::AtomicScope;
pub use store::{Faults, RemoteStore};
