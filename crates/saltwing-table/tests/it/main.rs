//! The packed layout against a map: random histories with merges and reopenings at any
//! time, old views, and a fault in every write and every read of the store.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

/// The methods of an `OrderedKv` that read, as those of the store that it writes to: `reads_of!(self => self.inner)`.
macro_rules! reads_of {
    ($self:ident => $store:expr) => {
        fn capabilities(&$self) -> &saltwing_store::Capabilities {
            $store.capabilities()
        }

        fn get(
            &$self,
            space: saltwing_store::Space,
            key: &[u8],
        ) -> Result<Option<saltwing_store::Bytes>, saltwing_store::StoreError> {
            $store.get(space, key)
        }

        fn cursor(
            &$self,
            space: saltwing_store::Space,
            bounds: saltwing_store::KeyBounds,
            direction: saltwing_store::Direction,
        ) -> Result<Box<dyn saltwing_store::Cursor>, saltwing_store::StoreError> {
            $store.cursor(space, bounds, direction)
        }

        fn snapshot(&$self) -> Result<Box<dyn saltwing_store::Snapshot>, saltwing_store::StoreError> {
            $store.snapshot()
        }
    };
}

mod definitions;
mod division;
mod durable;
mod estimates;
mod faults;
mod few;
mod filtering;
mod history;
#[cfg(unix)]
mod killed;
mod long_values;
mod merging;
mod merging_thread;
mod model;
mod opened;
mod opening;
mod random_faults;
mod runs;
mod skipping;
mod storage;
mod threads;
mod versions;
mod wide;
mod world;
