//! A walk over one space of the tree.

use std::sync::Arc;

use saltwing_store::{Bytes, Cursor, Direction, KeyBounds, Space, StoreError, Travel};

use crate::error::storage_error;
use crate::space_key;
use crate::store::Inner;

/// Fields drop in order: the database goes last, as its directory's lock must.
pub(crate) struct SledCursor {
    /// `None` when there is nothing (more) to walk over.
    iter: Option<sled::Iter>,
    space: Space,
    travel: Travel,
    inner: Arc<Inner>,
}

impl SledCursor {
    pub(crate) fn new(inner: Arc<Inner>, space: Space, bounds: KeyBounds, direction: Direction) -> Self {
        let travel = Travel::new(bounds, direction);
        let mut cursor = Self { iter: None, space, travel, inner };
        cursor.start();
        cursor
    }

    /// A range over what is left.
    fn start(&mut self) {
        let left = self.travel.left();
        self.iter = (!left.is_empty()).then(|| self.inner.database.range(space_key::limits(self.space, left)));
    }
}

impl Cursor for SledCursor {
    fn next(&mut self) -> Result<Option<(Bytes, Bytes)>, StoreError> {
        let Some(iter) = &mut self.iter else {
            return Ok(None);
        };
        let entry = match self.travel.direction() {
            Direction::Forward => iter.next(),
            Direction::Reverse => iter.next_back(),
        };
        match entry {
            Some(Ok((key, value))) => {
                let key = space_key::decode(&key);
                self.travel.pass(&key);
                Ok(Some((key, Bytes::new(&value))))
            }
            Some(Err(error)) => {
                self.iter = None;
                Err(storage_error("read", self.inner.path(), error))
            }
            None => {
                self.iter = None;
                Ok(None)
            }
        }
    }

    fn seek(&mut self, key: &[u8]) -> Result<(), StoreError> {
        // Past the end nothing lies ahead to seek to.
        if self.iter.is_some() && self.travel.seek(key) {
            self.start();
        }
        Ok(())
    }
}
