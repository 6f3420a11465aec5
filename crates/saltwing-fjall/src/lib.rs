//! The ordered key-value contract on fjall, a log-structured merge tree.
//!
//! A space is a keyspace, made when it is first written to. fjall has what the
//! contract asks for: batches across keyspaces, snapshots, both directions, a lock.
//! What is ours here:
//!
//! * **Durability.** fjall's batches are only buffered unless told otherwise, and
//!   its journal takes no writes while it syncs. A synced write goes to the journal
//!   and then waits in [`GroupSync`](saltwing_store::group_sync::GroupSync), so
//!   that writers at the same time share one sync.
//! * **No panics.** fjall panics on empty keys and on keys above 65,535 bytes, in
//!   look-ups and bounds too: such keys never reach it.
//! * **Failures.** After a failed journal write or sync fjall refuses all writes
//!   until it is opened again ([`StoreError::Poisoned`](saltwing_store::StoreError));
//!   the write that met the failure is told that its outcome is unknown.
//! * **Clearing.** A space of up to 16,384 keys is cleared by deleting them, another one by dropping its keyspace, after a
//!   sync: fjall drops it on the disk at once. Its own `clear` would hold journals back for as long as the keyspace stays
//!   empty.
//!
//! * **Damage.** fjall takes some damage of its journal for the end, and all of a torn end for damage. Batches are numbered
//!   (`commits`), and an opening reads the journals (`journals`) and the lists of tables (`version_lists`) before fjall
//!   does; `docs/crashes.md` says what comes of it.
//! * **Space.** Values of 4 KiB and more lie apart from the trees of keys, so that what fjall rewrites is small, and
//!   the disk gets deleted ones back; see the module `reclaim`.
//!
//! * **Reading alone.** fjall writes wherever it opens a database. A reader has it open a directory of links and copies
//!   instead (`reading_place`), without threads of its own.
//!
//! * **Salvage.** A reader's directory gets what is whole of the journals (`journals::salvage`), and lists of tables without those that
//!   cannot be opened (`damaged_files`).
//!
//! A seek makes a new range on the same snapshot: fjall's iterators cannot jump.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic))]

mod commits;
mod cursor;
mod damaged_files;
mod error;
mod file_list;
mod files;
mod inner;
mod journal;
mod journals;
mod keyspaces;
mod opening;
mod reading_place;
mod reclaim;
mod store;
mod version_lists;

pub use saltwing_store::{Access, OpenOptions};
pub use store::{FjallStore, NAME, open};
