//! A store without the parts of blocks.

use std::sync::Arc;

use saltwing_store::{
    Bytes, Capabilities, Cursor, Direction, Durability, KeyBounds, MemoryStore, OrderedKv, Snapshot, Space, StoreError,
    WriteBatch,
};

/// The spaces of parts.
const PARTS: [Space; 2] = [Space::new(5), Space::new(6)];

/// A store whose parts of blocks are kept in memory, and are gone with this.
pub struct PartsApart<S> {
    store: Arc<S>,
    parts: MemoryStore,
}

impl<S: OrderedKv> PartsApart<S> {
    pub fn new(store: Arc<S>) -> Self {
        Self { store, parts: MemoryStore::new() }
    }

    fn of(&self, space: Space) -> &dyn OrderedKv {
        if PARTS.contains(&space) { &self.parts } else { &*self.store }
    }
}

impl<S: OrderedKv> OrderedKv for PartsApart<S> {
    fn capabilities(&self) -> &Capabilities {
        self.store.capabilities()
    }

    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        self.of(space).get(space, key)
    }

    fn cursor(&self, space: Space, bounds: KeyBounds, direction: Direction) -> Result<Box<dyn Cursor>, StoreError> {
        self.of(space).cursor(space, bounds, direction)
    }

    fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError> {
        self.store.snapshot()
    }

    fn write(&self, batch: WriteBatch, durability: Durability) -> Result<(), StoreError> {
        let (mut parts, mut others) = (WriteBatch::new(), WriteBatch::new());
        for mutation in batch.into_mutations() {
            let batch = if PARTS.contains(&mutation.space()) { &mut parts } else { &mut others };
            batch.push(mutation);
        }
        self.parts.write(parts, Durability::Buffered)?;
        self.store.write(others, durability)
    }

    fn clear(&self, space: Space) -> Result<(), StoreError> {
        self.of(space).clear(space)
    }

    fn sync(&self) -> Result<(), StoreError> {
        self.store.sync()
    }

    fn close(&self) -> Result<(), StoreError> {
        self.store.close()
    }
}
