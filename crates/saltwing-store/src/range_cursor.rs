//! A cursor over iterators that cannot seek: the part that is the same for stores.

use crate::{Bytes, Cursor, Direction, KeyBounds, StoreError};

/// A store's own iterator: over one range, one way, made again to jump.
pub trait Range: Send {
    /// Starts over, at the near end of `bounds`. They may be empty.
    fn start(&mut self, bounds: &KeyBounds, direction: Direction);

    /// The next entry in `direction`, which is the one it was started with; not
    /// called again after `None`, unless it was started again. After an error it
    /// continues after the unreadable entries, or it ends.
    fn next(&mut self, direction: Direction) -> Result<Option<(Bytes, Bytes)>, StoreError>;
}

/// A [`Cursor`] over a [`Range`].
///
/// A seek checks the prefetched entry first. If that is far enough, the cursor stays; otherwise the target is beyond
/// everything yielded, and the range restarts there. The cursor therefore need not remember the last key, which would
/// cost each entry of a scan a reference count.
pub struct RangeCursor<R> {
    range: R,
    /// Where the range was started last.
    bounds: KeyBounds,
    direction: Direction,
    /// Read by a seek, not yet yielded.
    ahead: Option<(Bytes, Bytes)>,
    ended: bool,
}

impl<R: Range> RangeCursor<R> {
    /// Starts `range` on `bounds`.
    pub fn new(mut range: R, bounds: KeyBounds, direction: Direction) -> Self {
        range.start(&bounds, direction);
        Self { range, bounds, direction, ahead: None, ended: false }
    }

    fn advance(&mut self) -> Result<Option<(Bytes, Bytes)>, StoreError> {
        if self.ended {
            return Ok(None);
        }
        let entry = self.range.next(self.direction);
        self.ended = matches!(entry, Ok(None));
        entry
    }
}

impl<R: Range> Cursor for RangeCursor<R> {
    fn next(&mut self) -> Result<Option<(Bytes, Bytes)>, StoreError> {
        if self.ahead.is_some() {
            return Ok(self.ahead.take());
        }
        self.advance()
    }

    fn seek(&mut self, key: &[u8]) -> Result<(), StoreError> {
        if self.ahead.is_none() {
            self.ahead = self.advance()?;
        }
        let Some((ahead, _)) = &self.ahead else {
            return Ok(());
        };
        if self.direction.is_before(ahead, key) {
            self.ahead = None;
            self.bounds.skip_to(key, self.direction);
            self.range.start(&self.bounds, self.direction);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::{btree_set, vec};
    use proptest::prelude::*;

    use super::{Range, RangeCursor};
    use crate::{Bytes, Cursor, Direction, KeyBounds, StoreError};

    /// The keys of a list; counts how often it was started.
    struct Keys {
        keys: Vec<Vec<u8>>,
        left: Vec<Vec<u8>>,
        starts: usize,
    }

    impl Range for Keys {
        fn start(&mut self, bounds: &KeyBounds, direction: Direction) {
            self.left = self.keys.iter().filter(|key| bounds.contains(key)).cloned().collect();
            if direction == Direction::Forward {
                self.left.reverse();
            }
            self.starts += 1;
        }

        fn next(&mut self, _: Direction) -> Result<Option<(Bytes, Bytes)>, StoreError> {
            Ok(self.left.pop().map(|key| (Bytes::from(key), Bytes::default())))
        }
    }

    fn key() -> impl Strategy<Value = Vec<u8>> {
        vec(0u8..3, 0..4)
    }

    proptest! {
        /// Against the plain reading of [`Cursor`]: a list from which the yielded
        /// and the skipped keys are taken.
        #[test]
        fn seeks_skip_what_lies_before_and_nothing_else(
            keys in btree_set(key(), 0..20),
            start in key(),
            end in proptest::option::of(key()),
            reverse: bool,
            seeks in vec(proptest::option::of(key()), 0..12),
        ) {
            let direction = if reverse { Direction::Reverse } else { Direction::Forward };
            let bounds = KeyBounds::new(start, end);
            let keys: Vec<_> = keys.into_iter().collect();
            let mut model: Vec<_> = keys.iter().filter(|key| bounds.contains(key)).cloned().collect();
            if !reverse {
                model.reverse();
            }
            let range = Keys { keys, left: Vec::new(), starts: 0 };
            let mut cursor = RangeCursor::new(range, bounds, direction);
            for seek in seeks {
                match seek {
                    Some(to) => {
                        cursor.seek(&to).unwrap();
                        model.retain(|key| !direction.is_before(key, &to));
                    }
                    None => {
                        let entry = cursor.next().unwrap().map(|(key, _)| key.to_vec());
                        prop_assert_eq!(entry, model.pop());
                    }
                }
            }
        }
    }

    #[test]
    fn a_seek_to_the_next_entry_starts_nothing() {
        let keys = (0..9_u8).map(|key| vec![key]).collect();
        let range = Keys { keys, left: Vec::new(), starts: 0 };
        let mut cursor = RangeCursor::new(range, KeyBounds::all(), Direction::Forward);
        for key in 0..9_u8 {
            cursor.seek(&[key]).unwrap();
            assert_eq!(cursor.next().unwrap().unwrap().0, &[key]);
        }
        assert_eq!(cursor.range.starts, 1);
    }
}
