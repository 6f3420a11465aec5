//! A batch: mutations that are written atomically.

use crate::{Bytes, Capabilities, Space, StoreError};

/// The most bytes of keys and values that one batch may hold: 1 GiB.
///
/// Larger ones are refused with [`StoreError::BatchTooLarge`]: a batch is held in
/// memory whole, by us and by the store's journal.
pub const BATCH_BYTES_MAX: usize = 1 << 30;

/// One put or delete of one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mutation {
    /// Sets the key's value, whether it was there or not.
    Put {
        /// Where the key lives.
        space: Space,
        /// Not empty, and no longer than the store's limit.
        key: Bytes,
        /// May be empty.
        value: Bytes,
    },
    /// Takes the key away, whether it was there or not.
    Delete {
        /// Where the key lives.
        space: Space,
        /// Not empty, and no longer than the store's limit.
        key: Bytes,
    },
}

impl Mutation {
    /// The space it writes to.
    pub fn space(&self) -> Space {
        match self {
            Self::Put { space, .. } | Self::Delete { space, .. } => *space,
        }
    }

    /// The key it writes.
    pub fn key(&self) -> &Bytes {
        match self {
            Self::Put { key, .. } | Self::Delete { key, .. } => key,
        }
    }
}

/// Mutations that become visible together, in order: of several on one key the
/// last one counts.
///
/// Keys and values are taken by [`Into<Bytes>`]: a slice of a reused buffer costs
/// one copy, and none further on the way into a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriteBatch {
    mutations: Vec<Mutation>,
    bytes: usize,
    key_bytes_longest: usize,
    has_empty_key: bool,
}

impl WriteBatch {
    /// A batch that changes nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty batch with room for `mutations` of them.
    pub fn with_capacity(mutations: usize) -> Self {
        Self { mutations: Vec::with_capacity(mutations), ..Self::default() }
    }

    /// Adds a put.
    pub fn put(&mut self, space: Space, key: impl Into<Bytes>, value: impl Into<Bytes>) {
        self.push(Mutation::Put { space, key: key.into(), value: value.into() });
    }

    /// Adds a delete.
    pub fn delete(&mut self, space: Space, key: impl Into<Bytes>) {
        self.push(Mutation::Delete { space, key: key.into() });
    }

    /// Adds a mutation.
    pub fn push(&mut self, mutation: Mutation) {
        let key_bytes = mutation.key().len();
        self.bytes += key_bytes;
        if let Mutation::Put { value, .. } = &mutation {
            self.bytes += value.len();
        }
        self.key_bytes_longest = self.key_bytes_longest.max(key_bytes);
        self.has_empty_key |= key_bytes == 0;
        self.mutations.push(mutation);
    }

    /// How many mutations it holds.
    pub fn len(&self) -> usize {
        self.mutations.len()
    }

    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.mutations.is_empty()
    }

    /// The bytes of all its keys and values.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Its mutations, in the order in which they were added.
    pub fn mutations(&self) -> &[Mutation] {
        &self.mutations
    }

    /// Its mutations, in the order in which they were added.
    pub fn into_mutations(self) -> Vec<Mutation> {
        self.mutations
    }

    /// The checks of every store before a write; constant time.
    ///
    /// # Errors
    /// [`StoreError::EmptyKey`], [`StoreError::KeyTooLong`], [`StoreError::BatchTooLarge`].
    pub fn check(&self, capabilities: &Capabilities) -> Result<(), StoreError> {
        if self.has_empty_key {
            return Err(StoreError::EmptyKey);
        }
        if self.key_bytes_longest > capabilities.key_bytes_max {
            return Err(StoreError::KeyTooLong { len: self.key_bytes_longest, max: capabilities.key_bytes_max });
        }
        if self.bytes > BATCH_BYTES_MAX {
            return Err(StoreError::BatchTooLarge { bytes: self.bytes, max: BATCH_BYTES_MAX });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{BATCH_BYTES_MAX, WriteBatch};
    use crate::{Bytes, MemoryStore, OrderedKv, Space, StoreError};

    #[test]
    fn a_batch_above_the_limit_is_refused() {
        // The value is shared, so that this test needs 1 MiB and not 1 GiB.
        let value = Bytes::from(vec![0; 1 << 20]);
        let store = MemoryStore::new();
        let mut batch = WriteBatch::new();
        for key in 0..1023_u16 {
            batch.put(Space::new(0), key.to_be_bytes(), value.clone());
        }
        assert!(batch.check(store.capabilities()).is_ok());
        batch.put(Space::new(0), b"the last straw", value);
        assert!(matches!(
            batch.check(store.capabilities()),
            Err(StoreError::BatchTooLarge { bytes, max: BATCH_BYTES_MAX }) if bytes > BATCH_BYTES_MAX
        ));
    }
}
