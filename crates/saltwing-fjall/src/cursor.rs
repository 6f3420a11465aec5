//! A walk over a keyspace.

use std::sync::Arc;

use byteview::ByteView;
use fjall::{Iter, Keyspace, Readable, Snapshot};
use saltwing_store::{Bytes, Direction, KEY_BYTES_MAX, KeyBounds, Range, StoreError};

use crate::error::storage_error;
use crate::inner::Inner;

/// A range of a keyspace at one moment. Fields drop in order: the database goes
/// last, as its directory's lock must.
pub(crate) struct KeyspaceRange {
    /// `None` where there is nothing to walk over.
    iter: Option<Iter>,
    snapshot: Snapshot,
    /// `None` for a space that does not exist.
    keyspace: Option<Keyspace>,
    inner: Arc<Inner>,
}

impl KeyspaceRange {
    /// `keyspace` is that of the space at the snapshot's moment; `None` where it had none.
    pub(crate) fn new(inner: Arc<Inner>, snapshot: Snapshot, keyspace: Option<Keyspace>) -> Self {
        Self { iter: None, snapshot, keyspace, inner }
    }
}

impl Range for KeyspaceRange {
    fn start(&mut self, bounds: &KeyBounds, _: Direction) {
        self.iter = match &self.keyspace {
            Some(keyspace) if !bounds.is_empty() => {
                Some(self.snapshot.range::<&[u8], _>(keyspace, bounds.limits(KEY_BYTES_MAX)))
            }
            _ => None,
        };
    }

    fn next(&mut self, direction: Direction) -> Result<Option<(Bytes, Bytes)>, StoreError> {
        let Some(iter) = &mut self.iter else {
            return Ok(None);
        };
        let guard = match direction {
            Direction::Forward => iter.next(),
            Direction::Reverse => iter.next_back(),
        };
        match guard.map(fjall::Guard::into_inner) {
            Some(Ok((key, value))) => Ok(Some((ByteView::from(key).into(), ByteView::from(value).into()))),
            Some(Err(error)) => Err(storage_error("read", self.inner.path(), &error)),
            None => Ok(None),
        }
    }
}
