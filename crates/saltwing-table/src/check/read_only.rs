//! Something to read as a store that nobody can write.

use saltwing_store::{
    Bytes, Capabilities, Cursor, Direction, Durability, KeyBounds, OrderedKv, Snapshot, Space, StoreError, WriteBatch,
};

/// A [`Snapshot`]'s reads, as a store that refuses every write.
pub(crate) struct ReadOnlyKv {
    pub(crate) capabilities: Capabilities,
    pub(crate) content: Box<dyn Snapshot>,
    /// Its name in errors.
    pub(crate) name: &'static str,
}

impl ReadOnlyKv {
    fn refused(&self) -> Result<(), StoreError> {
        Err(StoreError::ReadOnly { path: self.name.into() })
    }
}

impl OrderedKv for ReadOnlyKv {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        self.content.get(space, key)
    }

    fn cursor(&self, space: Space, bounds: KeyBounds, direction: Direction) -> Result<Box<dyn Cursor>, StoreError> {
        self.content.cursor(space, bounds, direction)
    }

    fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError> {
        Err(StoreError::NotSupported { what: "snapshots", store: self.name })
    }

    fn write(&self, _: WriteBatch, _: Durability) -> Result<(), StoreError> {
        self.refused()
    }

    fn clear(&self, _: Space) -> Result<(), StoreError> {
        self.refused()
    }

    fn sync(&self) -> Result<(), StoreError> {
        Ok(())
    }
}
