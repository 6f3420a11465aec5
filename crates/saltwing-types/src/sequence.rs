//! Sequences: definitions, and the arithmetic of their values.

use crate::{ObjectId, TableName};

/// How many values are reserved at once if the definition does not say, as in Phoenix.
pub const SEQUENCE_CACHE: u64 = 100;

/// The definition of a sequence.
///
/// # Invariants
/// `increment` is not 0, `min <= start <= max`, and `cache` is at least 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SequenceDef {
    /// Its number.
    pub id: ObjectId,
    /// Its name. Sequences and tables share one name space.
    pub name: TableName,
    /// The first value.
    pub start: i64,
    /// The distance from one value to the next.
    pub increment: i64,
    /// The smallest value.
    pub min: i64,
    /// The largest value.
    pub max: i64,
    /// Whether values start again at the other limit when they have reached one; otherwise the sequence ends there.
    pub cycles: bool,
    /// How many values are reserved at once.
    pub cache: u64,
}

/// How far the values of a sequence are reserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SequencePosition {
    /// The last reserved value; the next one to reserve if `is_taken` is false.
    pub last: i64,
    /// Whether `last` is reserved.
    pub is_taken: bool,
}

/// Values of one sequence that follow each other and are reserved for their holder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SequenceBlock {
    /// The first value, if there is one.
    pub next: i64,
    /// How many values there are.
    pub left: u64,
}

impl SequenceDef {
    /// The position before the first value.
    pub fn beginning(&self) -> SequencePosition {
        SequencePosition { last: self.start, is_taken: false }
    }

    /// The limit towards which the values go.
    pub fn limit(&self) -> i64 {
        if self.increment > 0 { self.max } else { self.min }
    }

    /// Reserves up to `count` values, at least one, and gives the position after them; `None` if the sequence has
    /// reached its limit. A block never goes across the limit at which the sequence cycles.
    pub fn reserve(&self, position: SequencePosition, count: u64) -> Option<(SequenceBlock, SequencePosition)> {
        let first = match position.is_taken {
            false => position.last,
            true => self.after(position.last)?,
        };
        let room = (i128::from(self.limit()) - i128::from(first)) / i128::from(self.increment) + 1;
        let left = u64::try_from(room).unwrap_or(u64::MAX).min(count.max(1));
        let block = SequenceBlock { next: first, left };
        Some((block, SequencePosition { last: block.last(self.increment), is_taken: true }))
    }

    fn after(&self, value: i64) -> Option<i64> {
        let next = value.checked_add(self.increment).filter(|next| (self.min..=self.max).contains(next));
        let restart = if self.increment > 0 { self.min } else { self.max };
        next.or(self.cycles.then_some(restart))
    }
}

impl SequenceBlock {
    /// Takes `count` values, and gives the first of them; `None` if there are fewer.
    pub fn take(&mut self, count: u64, increment: i64) -> Option<i64> {
        let left = self.left.checked_sub(count)?;
        let first = self.next;
        *self = Self { next: stepped(first, count, increment), left };
        Some(first)
    }

    /// The last value. The block must not be empty.
    pub fn last(&self, increment: i64) -> i64 {
        stepped(self.next, self.left.saturating_sub(1), increment)
    }
}

/// The value that comes `count` steps after `value`. Past the last value of an `i64` it means nothing, and is not used.
pub fn stepped(value: i64, count: u64, increment: i64) -> i64 {
    value.wrapping_add(increment.wrapping_mul(count.cast_signed()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sequence(start: i64, increment: i64, min: i64, max: i64, cycles: bool) -> SequenceDef {
        SequenceDef { id: ObjectId(100), name: TableName::bare("s"), start, increment, min, max, cycles, cache: 1 }
    }

    /// The first `count` values, reserved in blocks of `cache`; fewer if the sequence ends before.
    fn values(def: &SequenceDef, cache: u64, count: usize) -> Vec<i64> {
        let (mut position, mut block, mut values) = (def.beginning(), SequenceBlock::default(), Vec::new());
        while values.len() < count {
            if block.left == 0 {
                let Some(reserved) = def.reserve(position, cache) else { break };
                (block, position) = reserved;
            }
            values.extend(block.take(1, def.increment));
        }
        values
    }

    #[test]
    fn values_end_at_a_limit_or_start_again() {
        let (min, max) = (i64::MIN, i64::MAX);
        assert_eq!(values(&sequence(max - 3, 2, 1, max, false), 100, 9), [max - 3, max - 1]);
        assert_eq!(values(&sequence(min + 1, -1, min, 5, true), 100, 4), [min + 1, min, 5, 4]);
        assert_eq!(values(&sequence(2, 3, 1, 6, true), 2, 5), [2, 5, 1, 4, 1]);
        assert_eq!(values(&sequence(0, max, min, max, false), 7, 9), [0, max]);
        assert_eq!(values(&sequence(max, min, min, max, false), 7, 9), [max, -1]);
    }

    proptest! {
        /// The size of the blocks changes no value, and the position is always the last reserved one.
        #[test]
        fn blocks_are_of_any_size(start in -20i64..20, increment in prop_oneof![-7i64..0, 1i64..7], below in 0i64..20, above in 0i64..20, cycles: bool, cache in 1u64..50) {
            let def = sequence(start, increment, start - below, start + above, cycles);
            prop_assert_eq!(values(&def, cache, 60), values(&def, 1, 60));
            let (block, position) = def.reserve(def.beginning(), cache).unwrap();
            prop_assert_eq!(position, SequencePosition { last: block.last(increment), is_taken: true });
        }
    }
}
