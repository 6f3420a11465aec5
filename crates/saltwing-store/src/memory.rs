//! The store that forgets: everything in memory, for `:memory:` and for tests.

use std::sync::Arc;

use imbl::OrdMap;
use parking_lot::RwLock;

use crate::{
    Bytes, Capabilities, Cursor, Direction, Durability, DurabilityScope, KEY_BYTES_MAX, KeyBounds, Mutation, OrderedKv,
    Snapshot, Space, StoreError, WriteBatch,
};

static CAPABILITIES: Capabilities = Capabilities {
    name: "memory",
    snapshots: true,
    persistent: false,
    reads_without_writing: false,
    durability: DurabilityScope::None,
    key_bytes_max: KEY_BYTES_MAX,
};

/// How many entries a cursor takes from the map at first and at most at once.
/// The first is small because most walks are short.
const CHUNK_ENTRIES_MIN: usize = 8;
const CHUNK_ENTRIES_MAX: usize = 256;

type Entries = OrdMap<Bytes, Bytes>;

/// All spaces; a clone shares them, and costs a reference count.
type Spaces = OrdMap<Space, Entries>;

/// An ordered store in memory. Snapshots and cursors cost a reference count;
/// clones of the handle share one content, which is how a test "reopens" it.
#[derive(Clone, Default)]
pub struct MemoryStore {
    spaces: Arc<RwLock<Spaces>>,
}

impl MemoryStore {
    /// A store with nothing in it.
    pub fn new() -> Self {
        Self::default()
    }
}

impl OrderedKv for MemoryStore {
    fn capabilities(&self) -> &Capabilities {
        &CAPABILITIES
    }

    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        let spaces = self.spaces.read();
        Ok(spaces.get(&space).and_then(|entries| entries.get(key)).cloned())
    }

    fn cursor(&self, space: Space, bounds: KeyBounds, direction: Direction) -> Result<Box<dyn Cursor>, StoreError> {
        let entries = self.spaces.read().get(&space).cloned().unwrap_or_default();
        Ok(Box::new(MemoryCursor::new(entries, bounds, direction)))
    }

    fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError> {
        Ok(Box::new(MemorySnapshot { spaces: self.spaces.read().clone() }))
    }

    fn write(&self, batch: WriteBatch, _: Durability) -> Result<(), StoreError> {
        batch.check(&CAPABILITIES)?;
        let mut spaces = self.spaces.write();
        for mutation in batch.into_mutations() {
            match mutation {
                Mutation::Put { space, key, value } => {
                    spaces.entry(space).or_default().insert(key, value);
                }
                Mutation::Delete { space, key } => {
                    if let Some(entries) = spaces.get_mut(&space) {
                        entries.remove(&key);
                    }
                }
            }
        }
        Ok(())
    }

    fn clear(&self, space: Space) -> Result<(), StoreError> {
        self.spaces.write().remove(&space);
        Ok(())
    }

    fn sync(&self) -> Result<(), StoreError> {
        Ok(())
    }
}

/// A snapshot of all spaces.
struct MemorySnapshot {
    spaces: Spaces,
}

impl Snapshot for MemorySnapshot {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        Ok(self.spaces.get(&space).and_then(|entries| entries.get(key)).cloned())
    }

    fn cursor(&self, space: Space, bounds: KeyBounds, direction: Direction) -> Result<Box<dyn Cursor>, StoreError> {
        let entries = self.spaces.get(&space).cloned().unwrap_or_default();
        Ok(Box::new(MemoryCursor::new(entries, bounds, direction)))
    }
}

/// Takes entries in growing chunks: the map's own iterator borrows the map, and a
/// look-up for each entry would cost more than the entry.
struct MemoryCursor {
    entries: Entries,
    /// The rest of the entries, after the chunk.
    left: KeyBounds,
    direction: Direction,
    /// Taken but not yet yielded; in the direction of travel.
    chunk: std::vec::IntoIter<(Bytes, Bytes)>,
    chunk_entries: usize,
    /// Whether the map holds nothing beyond the chunk.
    drained: bool,
}

impl MemoryCursor {
    fn new(entries: Entries, bounds: KeyBounds, direction: Direction) -> Self {
        Self {
            entries,
            left: bounds,
            direction,
            chunk: Vec::new().into_iter(),
            chunk_entries: CHUNK_ENTRIES_MIN,
            drained: false,
        }
    }

    /// Takes the next chunk, and moves on to the key right after it.
    fn refill(&mut self) {
        if self.left.is_empty() {
            self.drained = true;
            return;
        }
        let range = self.entries.range::<_, [u8]>(self.left.limits(KEY_BYTES_MAX));
        let owned = |(key, value): (&Bytes, &Bytes)| (key.clone(), value.clone());
        let chunk: Vec<_> = match self.direction {
            Direction::Forward => range.take(self.chunk_entries).map(owned).collect(),
            Direction::Reverse => range.rev().take(self.chunk_entries).map(owned).collect(),
        };
        self.drained = chunk.len() < self.chunk_entries;
        self.chunk_entries = (self.chunk_entries * 2).min(CHUNK_ENTRIES_MAX);
        if let Some((last, _)) = chunk.last() {
            self.left.skip_past(last, self.direction);
        }
        self.chunk = chunk.into_iter();
    }
}

impl Cursor for MemoryCursor {
    fn next(&mut self) -> Result<Option<(Bytes, Bytes)>, StoreError> {
        if let Some(entry) = self.chunk.next() {
            return Ok(Some(entry));
        }
        if self.drained {
            return Ok(None);
        }
        self.refill();
        Ok(self.chunk.next())
    }

    fn seek(&mut self, key: &[u8]) -> Result<(), StoreError> {
        // Yielded entries are skipped first: a short seek stays in the chunk.
        let taken = self.chunk.as_slice();
        let skip = taken.partition_point(|(entry, _)| self.direction.is_before(entry, key));
        if skip == taken.len() {
            self.left.skip_to(key, self.direction);
            self.chunk_entries = CHUNK_ENTRIES_MIN;
        }
        if let Some(last_skipped) = skip.checked_sub(1) {
            self.chunk.nth(last_skipped);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::MemoryStore;
    use crate::conformance;
    use crate::conformance::fault::{Fault, FaultStore};
    use crate::{Durability, OrderedKv, Space, WriteBatch};

    fn fresh() -> impl Fn() -> Arc<dyn OrderedKv> {
        let store = MemoryStore::new();
        move || Arc::new(store.clone())
    }

    #[test]
    fn keeps_the_contract() {
        conformance::run(fresh);
    }

    #[test]
    fn keeps_the_contract_through_the_fault_wrapper() {
        conformance::run(|| {
            let store = MemoryStore::new();
            move || -> Arc<dyn OrderedKv> { Arc::new(FaultStore::new(store.clone(), Fault::None)) }
        });
        conformance::run_faults(fresh);
    }

    #[test]
    fn a_snapshot_outlives_its_store() {
        let store = MemoryStore::new();
        let mut batch = WriteBatch::new();
        batch.put(Space::new(0), b"key", b"value");
        store.write(batch, Durability::Synced).unwrap();
        let snapshot = store.snapshot().unwrap();
        drop(store);
        assert_eq!(snapshot.get(Space::new(0), b"key").unwrap().unwrap(), b"value");
    }
}
