//! Ordered keys and values: the contract every embedded store keeps.
//!
//! ```text
//!  Space 0   key < key < key ...      one sorted map of bytes to bytes a space;
//!  Space 1   key < key < key ...      spaces are few and shared by all tables
//! ```
//!
//! [`OrderedKv`] is the store, [`Cursor`] walks one space either way, [`WriteBatch`]
//! is what is written at once. [`Capabilities`] say what a store
//! cannot do, as data. Stores compare bytes and nothing else: they know no
//! tables, no values, no expiry.
//!
//! # Laws
//! `docs/storage-contract.md` has them for readers; the module `conformance` checks every store against them (feature `conformance`):
//! 1. after any list of batches a space reads as a sorted map to which the same
//!    mutations were applied in the same order, also after reopening;
//! 2. a batch is there as a whole or not at all, across spaces, crashes included;
//! 3. a [`Durability::Synced`] write that was acknowledged is there after a crash of the kinds that
//!    [`Capabilities::durability`] names; [`Durability::Buffered`] writes that survive one are the first ones, without gaps;
//! 4. a reverse cursor yields a forward cursor's entries, backwards;
//! 5. a snapshot never changes, whatever is written after it;
//! 6. a space that was cleared is empty, and no crash brings back a part of it under later writes.
//!
//! # Left to others
//! Locking a directory and telling whose it is: [`directory`]. Which commits were on the disk:
//! [`watermark`]. Ends of logs that a crash has torn: [`torn`]. Room on the device: [`device`].
//! Order of rows, versions, expiry: the crates above.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic))]

pub mod backup;
mod batch;
mod bounds;
mod bytes;
mod capabilities;
#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
pub mod device;
pub mod directory;
mod error;
pub mod group_sync;
mod memory;
mod range_cursor;
mod space;
mod store;
pub mod torn;
pub mod trace;
mod waits;
pub mod watermark;

pub use batch::{BATCH_BYTES_MAX, Mutation, WriteBatch};
pub use bounds::KeyBounds;
pub use bytes::Bytes;
pub use capabilities::{Capabilities, KEY_BYTES_MAX};
pub use directory::{Access, OpenOptions};
pub use error::{Holder, StoreError};
pub use group_sync::Announced;
pub use memory::MemoryStore;
pub use range_cursor::{Range, RangeCursor};
pub use space::Space;
pub use store::{Cursor, LeftOut, OrderedKv, Snapshot, WriteStall};
pub use trace::Trace;
pub use waits::{WaitStats, Waits};

/// Calls of a store's own code, which may panic.
pub use saltwing_types::foreign;
pub use saltwing_types::{Direction, Durability, DurabilityScope};
