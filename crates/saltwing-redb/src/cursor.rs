//! A walk over a table.

use std::sync::Arc;

use redb::OwnedRange;
use saltwing_store::{Bytes, Direction, KEY_BYTES_MAX, KeyBounds, Range, StoreError};

use crate::inner::Inner;
use crate::space::SpaceTables;

type Entries = OwnedRange<&'static [u8], &'static [u8]>;

/// A range of a table at one moment. Fields drop in order: the database goes last, as its directory's lock must.
pub(crate) struct TableRange {
    /// `None` if there is nothing to walk over; an error of the start is reported by the next call.
    iter: Option<Result<Entries, StoreError>>,
    /// `None` for a space that does not exist.
    tables: Option<SpaceTables>,
    inner: Arc<Inner>,
}

impl TableRange {
    pub(crate) fn new(inner: Arc<Inner>, tables: Option<SpaceTables>) -> Self {
        Self { iter: None, tables, inner }
    }
}

impl Range for TableRange {
    fn start(&mut self, bounds: &KeyBounds, _: Direction) {
        self.iter = match &self.tables {
            Some(tables) if !bounds.is_empty() => {
                let limits = bounds.limits(KEY_BYTES_MAX);
                Some(self.inner.read(|| Ok(tables.values.range_owned::<&[u8]>(limits)?)))
            }
            _ => None,
        };
    }

    fn next(&mut self, direction: Direction) -> Result<Option<(Bytes, Bytes)>, StoreError> {
        let mut iter = match self.iter.take() {
            None => return Ok(None),
            Some(started) => started?,
        };
        let Some(tables) = &self.tables else { return Ok(None) };
        let entry = self.inner.read(|| {
            let entry = match direction {
                Direction::Forward => iter.next(),
                Direction::Reverse => iter.next_back(),
            };
            match entry.transpose()? {
                Some((key, stored)) => {
                    let value = tables.whole(key.value(), stored.value())?;
                    Ok(Some((Bytes::new(key.value()), value)))
                }
                None => Ok(None),
            }
        });
        self.iter = Some(Ok(iter));
        entry
    }
}
