//! The conformance suite for stores, for the tests of crates that implement the contract.
//!
//! ```ignore
//! saltwing_store::store_contract_tests!(open_store); // all of it, a test each
//! ```
//!
//! | function | holds |
//! |---|---|
//! | [`run`] | random steps against a model, reopened between them; the edges of keys and batches; writers at the same time |
//! | [`run_faults`] | every single fault of [`crate::conformance::fault`], one run each |
//! | [`synced_before_acknowledged`], [`announced_writes_share_a_sync`], [`sync_is_a_system_call`] | the order of write, sync and acknowledgement |
//! | [`directories`] | opening what is missing, locked, foreign, newer, damaged, for reading only |
//! | [`survives_kill`], [`clears_survive_kill`], [`reclaims_survive_kill`], [`second_process_is_refused`] | two processes, one of them killed |
//! | [`readers_leave_a_killed_writers_files_alone`], [`readers_of_several_processes_go_together`] | reading without writing, beside other readers, never beside a writer |
//! | [`failed_write_is_reported`] | a write that the system refuses |
//!
//! All of them panic on the first deviation, as tests do.

#![allow(clippy::panic, clippy::unwrap_used, reason = "these are tests")]

mod directories;
mod edges;
pub mod fault;
mod faults;
mod files;
mod model;
mod processes;
mod readers;
mod small_disk;
mod suite;

use std::sync::Arc;

use crate::conformance::fault::FaultStore;
use crate::trace::Event;
use crate::{Durability, OrderedKv, Space, Trace, WriteBatch};

/// Writes that were announced before a sync begins are waited for, and have it in common; one that failed is not. `store` must
/// have been opened with `trace` in its options.
pub fn announced_writes_share_a_sync(store: Arc<dyn OrderedKv>, trace: &Trace) {
    let write = |value: &[u8]| {
        let mut batch = WriteBatch::new();
        batch.put(Space::new(1), b"key", value);
        store.write(batch, Durability::Buffered).unwrap();
    };
    let (mut early, late, failed) = (store.announce(), store.announce(), store.announce());
    write(b"early");
    early.written();
    trace.take();
    std::thread::scope(|scope| {
        let first = scope.spawn(|| early.wait().unwrap());
        // Deadline for wrong behaviour to show; correct behaviour does not depend on it.
        std::thread::sleep(std::time::Duration::from_millis(20));
        assert!(!trace.take().contains(&Event::SyncBegan), "a write that was announced is not there yet");
        drop(failed);
        write(b"late");
        late.wait().unwrap();
        first.join().unwrap();
    });
    assert_eq!(trace.take(), [Event::Written, Event::SyncBegan, Event::Synced]);
}

pub use directories::directories;
pub use faults::run_faults;
pub use files::Files;
pub use processes::{
    clears_survive_kill, failed_write_is_reported, reclaims_survive_kill, second_process_is_refused, survives_kill,
    sync_is_a_system_call,
};
pub use small_disk::SmallDisk;

pub use readers::{readers_leave_a_killed_writers_files_alone, readers_of_several_processes_go_together};

/// Holds a store to the laws of the [crate]'s documentation.
///
/// `fresh` creates an empty place, and returns a function that opens it: each call must find the data written before.
/// Every handle is dropped before the next call.
pub fn run<O>(fresh: impl Fn() -> O)
where
    O: Fn() -> Arc<dyn OrderedKv>,
{
    edges::run(&fresh);
    model::run(&fresh);
}

/// Every synced write reaches the journal, then the disk, then its writer, in this
/// order. `store` must have been opened with `trace` in its options.
pub fn synced_before_acknowledged(store: Arc<dyn OrderedKv>, trace: &Trace) {
    let store = FaultStore::traced(store, trace.clone());
    trace.take();
    for commit in 0..5 {
        let mut batch = WriteBatch::new();
        batch.put(Space::new(1), b"key", b"value");
        store.write(batch, Durability::Synced).unwrap();
        assert_eq!(
            trace.take(),
            [Event::Began { commit }, Event::Written, Event::SyncBegan, Event::Synced, Event::Acknowledged { commit },]
        );
    }
    let mut batch = WriteBatch::new();
    batch.put(Space::new(1), b"key", b"value");
    store.write(batch, Durability::Buffered).unwrap();
    assert_eq!(trace.take(), [Event::Began { commit: 5 }, Event::Acknowledged { commit: 5 }]);
    store.sync().unwrap();
    assert_eq!(trace.take(), [Event::Written, Event::SyncBegan, Event::Synced]);
}
