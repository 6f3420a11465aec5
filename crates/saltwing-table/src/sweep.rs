//! Space that comes back: expired rows, and rows of dropped tables.

use saltwing_store::{Direction, Durability, KeyBounds, WriteBatch};
use saltwing_types::TableId;

use crate::layout::{PREFIX_BYTES, ROWS, family_prefix, store_key, table_bounds};
use crate::row_format::write_time_ms;
use crate::{EmbeddedTables, Table, TableError};

/// Keys looked at before others may commit.
const STEP_KEYS: usize = 1000;

impl EmbeddedTables {
    /// Deletes the expired rows of all tables; returns how many.
    ///
    /// Rows are looked at again under the commit lock, so one that was written anew meanwhile stays.
    ///
    /// # Errors
    /// The store's.
    pub fn sweep(&self) -> Result<u64, TableError> {
        let mut swept = 0;
        for table in self.tables() {
            if table.def().ttl_s.is_some() {
                swept += self.sweep_table(&table)?;
            }
        }
        Ok(swept)
    }

    fn sweep_table(&self, table: &Table) -> Result<u64, TableError> {
        let Some(limit_ms) = table.expired_ms(self.clock().now_ms()) else { return Ok(0) };
        let id = table.def().id;
        let expired = |value: &[u8]| write_time_ms(value).is_some_and(|t| t <= limit_ms);
        let mut next = KeyBounds::prefix(&family_prefix(id, 0));
        let mut swept = 0;
        loop {
            let mut found: Vec<Vec<u8>> = Vec::new();
            let mut cursor = self.kv.cursor(ROWS, next.clone(), Direction::Forward)?;
            let mut last = None;
            for _ in 0..STEP_KEYS {
                let Some((key, value)) = cursor.next()? else {
                    last = None;
                    break;
                };
                if expired(&value) {
                    found.push(key.get(PREFIX_BYTES..).unwrap_or_default().to_vec());
                }
                last = Some(key.to_vec());
            }
            drop(cursor);
            swept += self.delete_if(id, table.family_count(), &found, &expired)?;
            match last {
                None => return Ok(swept),
                Some(key) => next = KeyBounds::new([&key[..], &[0]].concat(), next.end().map(<[u8]>::to_vec)),
            }
        }
    }

    fn delete_if(
        &self,
        id: TableId,
        families: usize,
        keys: &[Vec<u8>],
        expired: &dyn Fn(&[u8]) -> bool,
    ) -> Result<u64, TableError> {
        if keys.is_empty() {
            return Ok(0);
        }
        let _reads_wait = self.wait_for_reads();
        let _one_by_one = self.commit_lock.lock();
        let mut batch = WriteBatch::new();
        let mut count = 0;
        for key in keys {
            let still = self.kv.get(ROWS, &store_key(id, 0, key))?.is_some_and(|value| expired(&value));
            if still {
                count += 1;
                (0..families).for_each(|family| batch.delete(ROWS, store_key(id, family as u8, key)));
            }
        }
        self.kv.write(batch, Durability::Buffered)?;
        Ok(count)
    }

    /// Deletes every row of a table that is no longer open.
    ///
    /// # Errors
    /// The store's. What was deleted until then stays deleted; call it again.
    pub fn purge(&self, id: TableId) -> Result<(), TableError> {
        let mut left = table_bounds(id);
        loop {
            let mut batch = WriteBatch::new();
            let mut last = None;
            let mut cursor = self.kv.cursor(ROWS, left.clone(), Direction::Forward)?;
            while batch.len() < STEP_KEYS
                && let Some((key, _)) = cursor.next()?
            {
                batch.delete(ROWS, key.clone());
                last = Some(key);
            }
            drop(cursor);
            let Some(last) = last else { return Ok(()) };
            // Behind what is deleted here: a store may keep deleted keys for a while, and a walk over them again and
            // again would be quadratic.
            left = KeyBounds::new([&last[..], &[0]].concat(), left.end().map(<[u8]>::to_vec));
            let _reads_wait = self.wait_for_reads();
            let _one_by_one = self.commit_lock.lock();
            self.kv.write(batch, Durability::Buffered)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parking_lot::Mutex;
    use saltwing_store::{
        Bytes, Capabilities, Cursor, Direction, Durability, KeyBounds, MemoryStore, Mutation, OrderedKv, Snapshot,
        Space, StoreError, WriteBatch,
    };
    use saltwing_types::TableId;

    use super::STEP_KEYS;
    use crate::layout::{ROWS, store_key};
    use crate::{EmbeddedTables, SystemClock};

    /// A store that keeps deleted keys, as trees of logs do, and counts those that walks begin at or before.
    #[derive(Default)]
    struct Tombstones {
        below: MemoryStore,
        deleted: Mutex<Vec<Bytes>>,
        walked_over: Mutex<usize>,
    }

    impl OrderedKv for Tombstones {
        fn capabilities(&self) -> &Capabilities {
            self.below.capabilities()
        }

        fn get(&self, space: Space, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
            self.below.get(space, key)
        }

        fn cursor(&self, space: Space, bounds: KeyBounds, direction: Direction) -> Result<Box<dyn Cursor>, StoreError> {
            *self.walked_over.lock() += self.deleted.lock().iter().filter(|key| bounds.contains(key)).count();
            self.below.cursor(space, bounds, direction)
        }

        fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError> {
            self.below.snapshot()
        }

        fn write(&self, batch: WriteBatch, durability: Durability) -> Result<(), StoreError> {
            for mutation in batch.clone().into_mutations() {
                if let Mutation::Delete { key, .. } = mutation {
                    self.deleted.lock().push(key);
                }
            }
            self.below.write(batch, durability)
        }

        fn sync(&self) -> Result<(), StoreError> {
            self.below.sync()
        }
    }

    #[test]
    fn a_purge_never_walks_over_what_it_deleted() {
        let store = Arc::new(Tombstones::default());
        let (dropped, kept) = (TableId(100), TableId(101));
        let mut batch = WriteBatch::new();
        let rows = 4 * STEP_KEYS;
        (0..rows as u32).for_each(|i| batch.put(ROWS, store_key(dropped, 0, &i.to_be_bytes()), vec![]));
        batch.put(ROWS, store_key(kept, 0, b"a"), vec![]);
        store.write(batch, Durability::Buffered).unwrap();

        EmbeddedTables::new(store.clone(), Arc::new(SystemClock)).purge(dropped).unwrap();
        assert_eq!(store.deleted.lock().len(), rows);
        assert_eq!(*store.walked_over.lock(), 0);
        let mut left = store.cursor(ROWS, KeyBounds::all(), Direction::Forward).unwrap();
        assert_eq!(left.next().unwrap().unwrap().0, store_key(kept, 0, b"a"));
        assert!(left.next().unwrap().is_none());
    }
}
