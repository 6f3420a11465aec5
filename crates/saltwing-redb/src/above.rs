//! The batches of the journal, for a reader of a damaged database: in memory, above redb's tables.
//!
//! Opening applies them to redb otherwise, which reads pages, and those that are damaged would keep it from that.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

use saltwing_store::{Bytes, Cursor, Direction, KeyBounds, Space, StoreError, WriteBatch};

/// What batches have written: a value, or that there is none.
#[derive(Debug, Default)]
pub(crate) struct Above {
    written: BTreeMap<(u8, Bytes), Option<Bytes>>,
    cleared: BTreeSet<u8>,
}

impl Above {
    /// Takes a batch, which comes after all before it.
    pub(crate) fn take(&mut self, batch: WriteBatch) {
        for mutation in batch.into_mutations() {
            let space = mutation.space().id();
            if mutation.key().is_empty() {
                self.written.retain(|(of, _), _| *of != space);
                self.cleared.insert(space);
                continue;
            }
            let (key, value) = match mutation {
                saltwing_store::Mutation::Put { key, value, .. } => (key, Some(value)),
                saltwing_store::Mutation::Delete { key, .. } => (key, None),
            };
            self.written.insert((space, key), value);
        }
    }

    /// What a key was written as; `None` if redb knows it.
    pub(crate) fn get(&self, space: Space, key: &[u8]) -> Option<Option<Bytes>> {
        let written = self.written.get(&(space.id(), Bytes::new(key))).cloned();
        written.or_else(|| self.is_cleared(space).then_some(None))
    }

    /// Whether redb's keys of a space are gone.
    pub(crate) fn is_cleared(&self, space: Space) -> bool {
        self.cleared.contains(&space.id())
    }

    /// The first written key in the bounds, in the direction.
    fn first(&self, space: Space, bounds: &KeyBounds, direction: Direction) -> Option<(Bytes, Option<Bytes>)> {
        if bounds.is_empty() {
            return None;
        }
        let at = |key: &[u8]| (space.id(), Bytes::new(key));
        let end = match (bounds.end(), space.id().checked_add(1)) {
            (Some(end), _) => Bound::Excluded(at(end)),
            (None, Some(next)) => Bound::Excluded((next, Bytes::default())),
            (None, None) => Bound::Unbounded,
        };
        let mut range = self.written.range((Bound::Included(at(bounds.start())), end));
        let found = if direction == Direction::Forward { range.next() } else { range.next_back() };
        found.map(|((_, key), value)| (key.clone(), value.clone()))
    }
}

/// A walk over redb's entries and those above them.
pub(crate) struct MergedCursor<C> {
    below: C,
    above: Arc<Above>,
    space: Space,
    /// The keys that the walk has not passed.
    bounds: KeyBounds,
    direction: Direction,
    /// The next entry below; `None` if it was not read yet.
    next_below: Option<Option<(Bytes, Bytes)>>,
}

impl<C: Cursor> MergedCursor<C> {
    pub(crate) fn new(below: C, above: Arc<Above>, space: Space, bounds: KeyBounds, direction: Direction) -> Self {
        Self { below, above, space, bounds, direction, next_below: None }
    }
}

impl<C: Cursor> Cursor for MergedCursor<C> {
    fn next(&mut self) -> Result<Option<(Bytes, Bytes)>, StoreError> {
        loop {
            let below = match self.next_below.take() {
                Some(below) => below,
                None => self.below.next()?,
            };
            let above = self.above.first(self.space, &self.bounds, self.direction);
            let (key, value) = match (below, above) {
                (None, None) => {
                    self.next_below = Some(None);
                    return Ok(None);
                }
                (Some((key, value)), None) => (key, Some(value)),
                (Some((key, value)), Some((above, _))) if self.direction.is_before(&key, &above) => (key, Some(value)),
                (below, Some((key, value))) => {
                    // What it has written over is passed, too.
                    self.next_below = match below {
                        Some((below, _)) if below == key => None,
                        below => Some(below),
                    };
                    (key, value)
                }
            };
            self.bounds.skip_past(&key, self.direction);
            if let Some(value) = value {
                return Ok(Some((key, value)));
            }
        }
    }

    fn seek(&mut self, key: &[u8]) -> Result<(), StoreError> {
        self.bounds.skip_to(key, self.direction);
        let is_passed = |below: &Option<(Bytes, Bytes)>| {
            below.as_ref().is_some_and(|(below, _)| self.direction.is_before(below, key))
        };
        if self.next_below.as_ref().is_none_or(is_passed) {
            self.next_below = None;
            self.below.seek(key)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use saltwing_store::{Cursor, Direction, Durability, KeyBounds, MemoryStore, OrderedKv, Space, WriteBatch};

    use super::*;

    const SPACE: Space = Space::new(3);

    fn batch(entries: &[(&str, Option<&str>)]) -> WriteBatch {
        let mut batch = WriteBatch::new();
        for (key, value) in entries {
            match value {
                Some(value) => batch.put(SPACE, key.as_bytes(), value.as_bytes()),
                None => batch.delete(SPACE, key.as_bytes()),
            }
        }
        batch
    }

    struct Boxed(Box<dyn Cursor>);

    impl Cursor for Boxed {
        fn next(&mut self) -> Result<Option<(Bytes, Bytes)>, StoreError> {
            self.0.next()
        }
        fn seek(&mut self, key: &[u8]) -> Result<(), StoreError> {
            self.0.seek(key)
        }
    }

    /// As a store that took the batches after those below.
    #[test]
    fn batches_above_are_as_batches_that_were_written() {
        let written = [("b", Some("B")), ("d", None), ("e", Some("E")), ("zz", Some("last")), ("q", None)];
        for is_cleared in [false, true] {
            let (below, whole, mut above) = (MemoryStore::new(), MemoryStore::new(), Above::default());
            let first = batch(&["a", "b", "c", "d", "f", "z"].map(|key| (key, Some(key))));
            below.write(first.clone(), Durability::Buffered).unwrap();
            whole.write(first, Durability::Buffered).unwrap();
            if is_cleared {
                whole.clear(SPACE).unwrap();
                let mut clear = batch(&[("c", Some("gone"))]);
                clear.delete(SPACE, b"");
                above.take(clear);
                below.clear(SPACE).unwrap();
            }
            whole.write(batch(&written), Durability::Buffered).unwrap();
            above.take(batch(&written));
            let above = Arc::new(above);
            for key in ["a", "b", "d", "e", "q", "x"] {
                let expected = whole.get(SPACE, key.as_bytes()).unwrap();
                let found = above.get(SPACE, key.as_bytes());
                assert_eq!(found.unwrap_or_else(|| below.get(SPACE, key.as_bytes()).unwrap()), expected, "{key}");
            }
            for direction in [Direction::Forward, Direction::Reverse] {
                for bounds in [KeyBounds::all(), KeyBounds::new("b", Some(b"f".to_vec())), KeyBounds::new("x", None)] {
                    for seek in [None, Some("b"), Some("d"), Some("dd"), Some("zzz")] {
                        let mut expected = whole.cursor(SPACE, bounds.clone(), direction).unwrap();
                        let inner = Boxed(below.cursor(SPACE, bounds.clone(), direction).unwrap());
                        let mut merged = MergedCursor::new(inner, above.clone(), SPACE, bounds.clone(), direction);
                        assert_eq!(merged.next().unwrap(), expected.next().unwrap());
                        if let Some(seek) = seek {
                            merged.seek(seek.as_bytes()).unwrap();
                            expected.seek(seek.as_bytes()).unwrap();
                        }
                        for _ in 0..8 {
                            assert_eq!(merged.next().unwrap(), expected.next().unwrap(), "{bounds:?} {seek:?}");
                        }
                    }
                }
            }
        }
    }
}
