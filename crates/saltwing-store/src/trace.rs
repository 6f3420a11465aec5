//! The operations of a store, in order: for tests of "synced before acknowledged".

use std::sync::Arc;

use parking_lot::Mutex;

/// One step of a write or a sync.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A commit was handed to the store. Recorded by the fault wrapper.
    Began {
        /// Counts from 0.
        commit: u64,
    },
    /// A batch that is to be synced has reached the store's journal.
    Written,
    /// The store asks the operating system to sync.
    SyncBegan,
    /// The operating system says that it has synced.
    Synced,
    /// The commit was acknowledged to its caller. Recorded by the fault wrapper.
    Acknowledged {
        /// Counts from 0.
        commit: u64,
    },
}

/// A list of events that several stores and wrappers write to; clones share it.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    events: Arc<Mutex<Vec<Event>>>,
}

impl Trace {
    /// A trace with nothing in it.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an event.
    pub fn record(&self, event: Event) {
        self.events.lock().push(event);
    }

    /// Takes the events recorded so far.
    pub fn take(&self) -> Vec<Event> {
        std::mem::take(&mut self.events.lock())
    }
}
