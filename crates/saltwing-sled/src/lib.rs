//! The ordered key-value contract on sled 0.34, a log-structured B+ tree. *Experimental*: an acknowledged synced write
//! survives a killed process, and need not survive a power cut or a crash of the operating system
//! ([`DurabilityScope::Process`](saltwing_store::DurabilityScope)).
//!
//! ```text
//!  one tree:   [space, 1 byte] [key]
//! ```
//!
//! sled's batches are atomic within one tree only, so all spaces share one, with the space's number as a prefix. It has
//! no snapshots: a cursor reads the current state as it advances, so a scan may see a part of a batch. A caller that
//! needs one consistent state must prevent writes meanwhile.
//!
//! A synced write waits for sled to flush its log, and for the syncs that sled leaves out (module `file_sync`), with
//! others in [`GroupSync`](saltwing_store::group_sync::GroupSync). A buffered one may be lost
//! when the process dies: sled gathers it in memory for up to half a second.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic))]

mod cursor;
mod error;
mod file_sync;
mod inner;
mod space_key;
mod store;

pub use saltwing_store::{Access, OpenOptions};
pub use store::{NAME, SledStore, open};
