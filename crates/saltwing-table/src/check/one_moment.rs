//! The store below at one time, for a full read while commits continue.

use std::sync::Arc;

use saltwing_access::{StorageError, TableError};
use saltwing_store::{Bytes, Cursor, Direction, KeyBounds, OrderedKv, Snapshot, Space, StoreError};

use crate::check::read_only::ReadOnlyKv;
use crate::engine::storage_engine::StorageEngine;
use crate::format::spaces::{delta_space, id_of};

impl StorageEngine {
    /// See [`crate::store::EmbeddedTables::at_one_moment`].
    pub(crate) fn at_one_moment<T, E: From<TableError>>(
        &self,
        read: impl FnOnce(Arc<dyn OrderedKv>) -> Result<T, E>,
    ) -> Result<T, E> {
        let capabilities = self.kv.capabilities().clone();
        if capabilities.snapshots {
            let content = self.kv.snapshot().map_err(|error| E::from(StorageError::from(error).into()))?;
            return read(Arc::new(ReadOnlyKv { capabilities, content, name: "a snapshot" }));
        }
        // Merges alone change anything but the active generation, to which commits add records with growing numbers.
        let _no_merge = self.merging.lock();
        let (active, next_record) = {
            let commits = self.commits.lock();
            (delta_space(commits.active), commits.next_record)
        };
        let content = Box::new(Until { kv: self.kv.clone(), active, next_record });
        read(Arc::new(ReadOnlyKv { capabilities, content, name: "a moment of a store" }))
    }
}

/// A store without the records of recent rows from one number on.
struct Until {
    kv: Arc<dyn OrderedKv>,
    active: Space,
    next_record: u64,
}

struct UntilCursor {
    cursor: Box<dyn Cursor>,
    next_record: u64,
}

impl Cursor for UntilCursor {
    fn next(&mut self) -> Result<Option<(Bytes, Bytes)>, StoreError> {
        loop {
            match self.cursor.next()? {
                Some((key, _)) if id_of(&key).is_some_and(|number| number >= self.next_record) => {}
                other => return Ok(other),
            }
        }
    }

    fn seek(&mut self, key: &[u8]) -> Result<(), StoreError> {
        self.cursor.seek(key)
    }
}

impl Snapshot for Until {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        self.kv.get(space, key)
    }

    fn cursor(&self, space: Space, bounds: KeyBounds, direction: Direction) -> Result<Box<dyn Cursor>, StoreError> {
        let cursor = self.kv.cursor(space, bounds, direction)?;
        match space == self.active {
            true => Ok(Box::new(UntilCursor { cursor, next_record: self.next_record })),
            false => Ok(cursor),
        }
    }
}
