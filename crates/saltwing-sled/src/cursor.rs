//! A walk over one space of the tree.

use std::sync::Arc;

use saltwing_store::{Bytes, Direction, KeyBounds, Range, Space, StoreError};

use crate::error::storage_error;
use crate::inner::Inner;
use crate::space_key;

/// A range of one space. Fields drop in order: the database goes last, as its
/// directory's lock must.
pub(crate) struct SpaceRange {
    /// `None` where there is nothing to walk over.
    iter: Option<sled::Iter>,
    space: Space,
    inner: Arc<Inner>,
}

impl SpaceRange {
    pub(crate) fn new(inner: Arc<Inner>, space: Space) -> Self {
        Self { iter: None, space, inner }
    }
}

impl Range for SpaceRange {
    fn start(&mut self, bounds: &KeyBounds, _: Direction) {
        self.iter = (!bounds.is_empty()).then(|| self.inner.database.range(space_key::limits(self.space, bounds)));
    }

    fn next(&mut self, direction: Direction) -> Result<Option<(Bytes, Bytes)>, StoreError> {
        let Some(iter) = &mut self.iter else {
            return Ok(None);
        };
        let entry = match direction {
            Direction::Forward => iter.next(),
            Direction::Reverse => iter.next_back(),
        };
        match entry {
            Some(Ok((key, value))) => Ok(Some((space_key::decode(&key), Bytes::new(&value)))),
            Some(Err(error)) => {
                self.iter = None;
                Err(storage_error("read", self.inner.path(), error))
            }
            None => Ok(None),
        }
    }
}
