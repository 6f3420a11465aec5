//! A walk over a keyspace.

use std::sync::Arc;

use byteview::ByteView;
use fjall::{Iter, Keyspace, Readable, Snapshot};
use saltwing_store::{Bytes, Cursor, Direction, KEY_BYTES_MAX, KeyBounds, Space, StoreError, Travel};

use crate::error::storage_error;
use crate::store::Inner;

/// Fields drop in order: the database goes last, as its directory's lock must.
pub(crate) struct FjallCursor {
    /// `None` when there is nothing (more) to walk over.
    iter: Option<Iter>,
    travel: Travel,
    snapshot: Snapshot,
    /// `None` for a space that does not exist yet.
    keyspace: Option<Keyspace>,
    inner: Arc<Inner>,
}

impl FjallCursor {
    pub(crate) fn new(
        inner: Arc<Inner>,
        snapshot: Snapshot,
        space: Space,
        bounds: KeyBounds,
        direction: Direction,
    ) -> Self {
        let keyspace = inner.keyspaces.get(space).cloned();
        let travel = Travel::new(bounds, direction);
        let mut cursor = Self { iter: None, travel, snapshot, keyspace, inner };
        cursor.start();
        cursor
    }

    /// A range over what is left.
    fn start(&mut self) {
        let left = self.travel.left();
        self.iter = match &self.keyspace {
            Some(keyspace) if !left.is_empty() => {
                Some(self.snapshot.range::<&[u8], _>(keyspace, left.limits(KEY_BYTES_MAX)))
            }
            _ => None,
        };
    }
}

impl Cursor for FjallCursor {
    fn next(&mut self) -> Result<Option<(Bytes, Bytes)>, StoreError> {
        let Some(iter) = &mut self.iter else {
            return Ok(None);
        };
        let guard = match self.travel.direction() {
            Direction::Forward => iter.next(),
            Direction::Reverse => iter.next_back(),
        };
        match guard.map(fjall::Guard::into_inner) {
            Some(Ok((key, value))) => {
                let key = Bytes::from(ByteView::from(key));
                self.travel.pass(&key);
                Ok(Some((key, Bytes::from(ByteView::from(value)))))
            }
            Some(Err(error)) => {
                self.iter = None;
                Err(storage_error("read", self.inner.path(), &error))
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
