//! Where a cursor stands: the part of every store's cursor that is the same.

use crate::{Bytes, Direction, KeyBounds};

/// The keys that a cursor has still before it.
///
/// A store's iterator rarely seeks; it is made again over what is left. This
/// says what is left, and whether a seek changes it.
///
/// # Laws
/// 1. What is left only ever shrinks, and lies inside the first bounds.
/// 2. After `seek(k)` exactly those keys are left that were left before and that
///    are not before `k` in the direction of travel; so a seek backwards changes nothing.
#[derive(Clone, Debug)]
pub struct Travel {
    left: KeyBounds,
    direction: Direction,
    passed: Option<Bytes>,
}

impl Travel {
    /// A cursor that has yet to start.
    pub fn new(bounds: KeyBounds, direction: Direction) -> Self {
        Self { left: bounds, direction, passed: None }
    }

    /// The way it travels.
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// Notes that `key` was handed out.
    pub fn pass(&mut self, key: &Bytes) {
        self.passed = Some(key.clone());
    }

    /// Moves to `key` if it lies ahead. Whether it did: the iterator must then be
    /// made again over [`Self::left`].
    pub fn seek(&mut self, key: &[u8]) -> bool {
        match (self.direction, &self.passed) {
            (Direction::Forward, Some(passed)) if key <= passed => false,
            (Direction::Reverse, Some(passed)) if key >= passed => false,
            (Direction::Forward, _) => self.leave_passed().raise_start(key),
            (Direction::Reverse, _) => self.leave_passed().lower_end(&after(key)),
        }
    }

    /// The keys that are left.
    pub fn left(&mut self) -> &KeyBounds {
        self.leave_passed()
    }

    /// Cuts off what was passed. Put off until someone asks, so that
    /// [`Self::pass`] is cheap.
    fn leave_passed(&mut self) -> &mut KeyBounds {
        if let Some(passed) = self.passed.take() {
            match self.direction {
                Direction::Forward => self.left.raise_start(&after(&passed)),
                Direction::Reverse => self.left.lower_end(&passed),
            };
        }
        &mut self.left
    }
}

/// The smallest key above `key`.
fn after(key: &[u8]) -> Vec<u8> {
    [key, &[0]].concat()
}

#[cfg(test)]
mod tests {
    use proptest::collection::{btree_set, vec};
    use proptest::prelude::*;

    use super::Travel;
    use crate::{Bytes, Direction, KeyBounds};

    fn key() -> impl Strategy<Value = Vec<u8>> {
        vec(0u8..3, 0..4)
    }

    fn first_left(travel: &mut Travel, keys: &[Vec<u8>]) -> Option<Vec<u8>> {
        let left = travel.left().clone();
        let mut inside = keys.iter().filter(|key| left.contains(key)).cloned();
        match travel.direction() {
            Direction::Forward => inside.next(),
            Direction::Reverse => inside.next_back(),
        }
    }

    proptest! {
        /// Against the plain reading of the laws: a list of keys from which the
        /// passed and the skipped ones are taken.
        #[test]
        fn what_is_left_shrinks_as_the_laws_say(
            keys in btree_set(key(), 0..20),
            start in key(),
            end in proptest::option::of(key()),
            reverse: bool,
            seeks in vec(proptest::option::of(key()), 0..12),
        ) {
            let direction = if reverse { Direction::Reverse } else { Direction::Forward };
            let bounds = KeyBounds::new(start, end);
            let keys: Vec<_> = keys.into_iter().collect();
            let mut model: Vec<_> = keys.iter().filter(|k| bounds.contains(k)).cloned().collect();
            let mut travel = Travel::new(bounds, direction);
            for seek in seeks {
                match seek {
                    Some(to) => {
                        travel.seek(&to);
                        model.retain(|key| if reverse { *key <= to } else { *key >= to });
                    }
                    None => {
                        let next = if reverse { model.pop() } else { (!model.is_empty()).then(|| model.remove(0)) };
                        prop_assert_eq!(first_left(&mut travel, &keys), next.clone());
                        if let Some(next) = next {
                            travel.pass(&Bytes::from(next));
                        }
                    }
                }
            }
        }
    }
}
