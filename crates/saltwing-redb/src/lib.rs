//! The ordered key-value contract on redb, a copy-on-write B-tree in one file.
//!
//! A space is a table, made when it is first written to. redb has what the contract asks for: atomic transactions over
//! tables, snapshots, both directions. What this crate adds:
//!
//! * **Durability.** A buffered write is a commit that redb keeps in memory; commits are totally ordered, so that a
//!   durable one covers all before it. A synced write is such a commit, followed by one durable commit for all writers of
//!   its [`GroupSync`](saltwing_store::group_sync::GroupSync) round. A durable commit is one of two phases: pages first,
//!   then the header that names them, each behind a sync of its own, so that no torn page can be reached. It records
//!   which pages are free, so that opening after a crash reads no more than after a close.
//! * **Damage.** redb checks its checksums when it repairs, not when it reads. Below it lies the module `page_file`: a
//!   checksum for each page of 4 KiB, held against every read. A damaged page is an error that names its place, never
//!   another value and never a missing key.
//! * **No panics.** redb asserts what a damaged file can break. Every call into it is guarded, and a panic becomes
//!   [`StoreError::Corrupt`](saltwing_store::StoreError).
//! * **Failures.** After a write or a read that failed, redb refuses every further call until it is opened again, and so
//!   does this store ([`StoreError::Poisoned`](saltwing_store::StoreError)).
//!
//! # Limits
//! Buffered writes lie in this process until the next durable commit, which comes after 64 MiB of them at the latest: a
//! killed process loses those since. One writer at a time; writers wait for each other and for a sync.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic))]

mod cursor;
mod error;
mod page_file;
mod store;

pub use saltwing_store::{Access, OpenOptions};
pub use store::{NAME, RedbStore, open};
