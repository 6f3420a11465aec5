//! The ordered key-value contract on redb, a copy-on-write B-tree in one file.
//!
//! ```text
//!  data/pages          redb's file, with a checksum for each page of 4 KiB: module page_file
//!  data/copies         copies of the pages of redb's on which others hang: module copies
//!  data/journal        batches since redb's last durable commit: module journal
//!  WATERMARK           up to which batch the journal was synced
//! ```
//!
//! A space is two tables, made when they are first written to: module `space`. redb has what the contract asks for:
//! atomic transactions over tables, snapshots, both directions. What this crate adds:
//!
//! * **Durability.** A durable commit of redb's writes some 50 KB and syncs twice. So a batch goes into a journal,
//!   and later, with others, into redb as a commit that redb keeps in memory: at the latest before the next read of redb
//!   (module `writer`). A synced write waits for one sync of the journal, which the
//!   writers of a [`GroupSync`](saltwing_store::group_sync::GroupSync) round share. After 64 MiB of batches, and at a
//!   close, redb commits durably, and the journal begins anew. That commit has two phases: pages, then the header
//!   that names them, each with a sync of its own, so that no torn page can be reached. It records which pages are
//!   free, so that opening after a crash costs the replay of the journal and no walk over the trees.
//! * **Damage.** redb checks its checksums when it repairs, not when it reads. Below it lies a checksum for each
//!   page, held against every read: a damaged page is an error that names its place, never another value and never a
//!   missing key. It costs the keys in it and below it: redb would refuse every call after a read that failed, and gets a
//!   page that stands in for the damaged one (`stand_in`). A batch that needs a damaged page is refused as a whole,
//!   before it is in the journal (`writer`). A reader's walks continue after a damaged page. While damaged pages are
//!   known, the file is not compacted. A record of the journal that is not whole is an error if it was synced, and the
//!   end if it was not.
//! * **Reading alone.** A reader opens the files for reading; what redb writes stays in memory (`read_pages`), and so does
//!   what was replayed of the journal.
//! * **No panics.** redb asserts what a damaged file can break. Every call into it is guarded, and a panic becomes
//!   [`StoreError::Corrupt`](saltwing_store::StoreError).
//! * **Failures.** After a write that failed, redb refuses every further call until it is opened again, and
//!   so does this store ([`StoreError::Poisoned`](saltwing_store::StoreError)).
//!
//! # Limits
//! One writer at a time: writers wait for each other, and for the durable commit that ends a round.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic))]

mod above;
mod copies;
mod cursor;
mod damages;
mod error;
mod inner;
mod journal;
mod opening;
mod page_file;
mod positioned;
mod read_pages;
mod roots;
mod space;
mod stand_in;
mod store;
mod writer;

pub use saltwing_store::{Access, OpenOptions};
pub use store::{NAME, RedbStore, open};
