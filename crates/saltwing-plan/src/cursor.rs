//! Walking through the ranges of one product, and the order of several walks.

use std::cmp::Ordering;
use std::sync::Arc;

use saltwing_rowkey::KeyRange;
use saltwing_types::{Direction, Value};

use crate::product::{End, Product};
use crate::range_plan::Plan;

/// A range with its bucket, and with its ends as values.
#[derive(Clone, Debug)]
pub(crate) struct TypedRange {
    pub(crate) range: KeyRange,
    pub(crate) bucket: Option<u8>,
    /// First and last end as values, computed on demand.
    pub(crate) ends: Option<(End, End)>,
}

impl TypedRange {
    /// Whether no row is between this range and a later one. Their bytes may leave room for keys that no row has: `a <
    /// 'x'` ends at 78, `a = 'x' AND b < 5` starts at 7800.
    pub(crate) fn touches(&self, later: &TypedRange) -> bool {
        if self.range.end().is_none_or(|end| later.range.start() <= end) {
            return true;
        }
        let (Some((_, last)), Some((first, _))) = (&self.ends, &later.ends) else { return false };
        let (last_values, first_values) = (last.before_nulls(!last.included), first.before_nulls(first.included));
        last.included != first.included && last_values == first_values
    }

    /// Makes this the union with a range that overlaps or touches it.
    pub(crate) fn join(&mut self, other: TypedRange) {
        let starts_earlier = other.range.start() < self.range.start();
        let ends_later = match (other.range.end(), self.range.end()) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some(theirs), Some(ours)) => theirs > ours,
        };
        if let (Some((first, last)), Some((other_first, other_last))) = (&mut self.ends, other.ends) {
            if starts_earlier {
                *first = other_first;
            }
            if ends_later {
                *last = other_last;
            }
        }
        if starts_earlier || ends_later {
            let start = if starts_earlier { other.range.start() } else { self.range.start() };
            let end = if ends_later { other.range.end() } else { self.range.end() };
            if let Some(joined) = KeyRange::new(start.to_vec(), end.map(<[u8]>::to_vec)) {
                self.range = joined;
            }
        }
        if self.bucket != other.bucket {
            self.bucket = None;
        }
    }
}

impl End {
    /// The values, without NULLs at the end when this is a place in front of them:
    /// NULL comes first, so before ('x', NULL) is before ('x').
    fn before_nulls(&self, in_front: bool) -> &[Value] {
        let mut values = self.values.as_slice();
        while let ([rest @ .., Value::Null], true) = (values, in_front) {
            values = rest;
        }
        values
    }
}

/// A place in a product: an index for each list, and one for the tail.
#[derive(Clone, Debug)]
pub(crate) struct Cursor {
    product: usize,
    direction: Direction,
    /// One index a list, then the tail's.
    at: Vec<usize>,
    typed: bool,
    done: bool,
}

impl Cursor {
    /// Before the first range, in its direction, of a product; `typed` makes ranges carry their ends.
    pub(crate) fn new(plan: &Plan, product: usize, direction: Direction, typed: bool) -> Self {
        let mut cursor = Self { product, direction, at: Vec::new(), typed, done: false };
        if let Some(product) = cursor.product(plan) {
            cursor.at = vec![0; product.lists.len() + 1];
            cursor.rewind(product, 0);
        }
        cursor
    }

    /// The cursor with its first range; `None` when there is none.
    pub(crate) fn into_entry(mut self, plan: &Arc<Plan>) -> Option<Entry> {
        let first = self.next_range(plan)?;
        Some(Entry { first, cursor: self })
    }

    fn product<'p>(&self, plan: &'p Plan) -> Option<&'p Product> {
        plan.products.get(self.product)
    }

    /// Number of choices at a level, where those before it are made.
    fn choices(&self, product: &Product, level: usize) -> usize {
        if level < product.lists.len() { product.choices(level, &self.at).len() } else { product.tail.len().max(1) }
    }

    /// Puts the levels from `level` on at their first choice.
    fn rewind(&mut self, product: &Product, level: usize) {
        for i in level..self.at.len() {
            let first = match self.direction {
                Direction::Forward => 0,
                Direction::Reverse => self.choices(product, i).saturating_sub(1),
            };
            if let Some(at) = self.at.get_mut(i) {
                *at = first;
            }
        }
    }

    /// Steps to the next choice at `level`, or at one before it when there is none.
    fn step(&mut self, product: &Product, level: usize) {
        for i in (0..=level).rev() {
            let choices = self.choices(product, i);
            let Some(at) = self.at.get_mut(i) else { continue };
            let next = match self.direction {
                Direction::Forward => Some(*at + 1).filter(|next| *next < choices),
                Direction::Reverse => at.checked_sub(1),
            };
            if let Some(next) = next {
                *at = next;
                self.rewind(product, i + 1);
                return;
            }
        }
        self.done = true;
    }

    /// The next range that can have keys in it.
    fn next_range(&mut self, plan: &Plan) -> Option<TypedRange> {
        let product = self.product(plan)?;
        while !self.done {
            let range = self.range(plan, product);
            self.step(product, product.lists.len());
            if range.is_some() {
                return range;
            }
        }
        None
    }

    /// The values of the lists at this place, in the types of `form`.
    fn prefix(
        &self,
        product: &Product,
        levels: usize,
        form: &dyn Fn(usize, &Value) -> Option<Value>,
    ) -> Option<Vec<Value>> {
        let chosen = self.at.iter().take(levels).enumerate();
        chosen.filter_map(|(i, at)| product.choices(i, &self.at).get(*at).map(|value| form(i, value))).collect()
    }

    fn range(&self, plan: &Plan, product: &Product) -> Option<TypedRange> {
        let levels = product.lists.len();
        let prefix = self.prefix(product, levels, &|i, value| plan.key_value(i, value));
        let tail = self.at.last().and_then(|at| product.tail.get(*at));
        // Values were checked when the plan was made. If one were refused here, reading everything would be slow, and
        // omitting it would lose rows.
        let range = prefix.as_deref().and_then(|prefix| plan.range(prefix, tail));
        let range = range.unwrap_or_else(|| Some(KeyRange::all()))?;
        let of_prefix = |prefix: &[Value]| plan.codec.bucket_of_prefix(prefix).ok().flatten();
        let bucket = if plan.bucketed { prefix.as_deref().and_then(of_prefix) } else { None };
        let ends = self.typed.then(|| {
            let values = self.prefix(product, levels, &|_, value| Some(value.clone())).unwrap_or_default();
            let end = |tail: Option<&End>| End {
                values: values.iter().chain(tail.into_iter().flat_map(|end| &end.values)).cloned().collect(),
                included: tail.is_none_or(|end| end.included),
            };
            (end(tail.map(|t| &t.first)), end(tail.map(|t| &t.last)))
        });
        Some(TypedRange { range, bucket, ends })
    }

    /// Moves to the first range that is not wholly before `key` (after it, in reverse).
    fn skip_to(&mut self, plan: &Plan, key: &[u8]) {
        let Some(product) = self.product(plan) else { return };
        for level in 0..self.at.len() {
            let choices = self.choices(product, level);
            let from = self.at.get(level).copied().unwrap_or_default();
            // Choices are in key order, so those before `key` are a prefix (in reverse: a suffix) of them.
            let found = match self.direction {
                Direction::Forward => {
                    let before = partition(from, choices, |i| {
                        self.extent(plan, product, level, i).1.is_some_and(|end| end.as_slice() <= key)
                    });
                    Some(before).filter(|i| *i < choices)
                }
                Direction::Reverse => {
                    partition(0, from + 1, |i| self.extent(plan, product, level, i).0.as_slice() <= key).checked_sub(1)
                }
            };
            let Some(found) = found else {
                match level.checked_sub(1) {
                    Some(above) => self.step(product, above),
                    None => self.done = true,
                }
                return;
            };
            let (start, end) = self.extent(plan, product, level, found);
            let inside = start.as_slice() <= key && end.is_none_or(|end| key < end.as_slice());
            if found != from {
                if let Some(at) = self.at.get_mut(level) {
                    *at = found;
                }
                self.rewind(product, level + 1);
            }
            if !inside {
                return;
            }
        }
    }

    /// Where the keys of one choice at a level start, and end.
    fn extent(&self, plan: &Plan, product: &Product, level: usize, choice: usize) -> (Vec<u8>, Option<Vec<u8>>) {
        // A value without a key form may be anywhere: no skip passes over it.
        let anywhere = (Vec::new(), None);
        let Some(mut prefix) = self.prefix(product, level, &|i, value| plan.key_value(i, value)) else {
            return anywhere;
        };
        let tail = match level < product.lists.len() {
            true => {
                if let Some(value) = product.choices(level, &self.at).get(choice) {
                    let Some(value) = plan.key_value(level, value) else { return anywhere };
                    prefix.push(value);
                }
                None
            }
            false => product.tail.get(choice),
        };
        plan.extent(&prefix, tail)
    }
}

/// The first index from `low` on, below `high`, for which `before` does not hold.
fn partition(mut low: usize, mut high: usize, before: impl Fn(usize) -> bool) -> usize {
    while low < high {
        let middle = low + (high - low) / 2;
        if before(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

/// A product's next range, and the rest of its walk.
#[derive(Debug)]
pub(crate) struct Entry {
    first: TypedRange,
    cursor: Cursor,
}

impl Entry {
    /// The range.
    pub(crate) fn first(&self) -> &TypedRange {
        &self.first
    }

    /// The range, and the entry after it.
    pub(crate) fn advance(self, plan: &Arc<Plan>) -> (TypedRange, Option<Entry>) {
        (self.first, self.cursor.into_entry(plan))
    }

    /// Whether the range is wholly before a key (after it, in reverse).
    pub(crate) fn is_before(&self, key: &[u8]) -> bool {
        self.first.range.is_before(key, self.cursor.direction)
    }

    /// The entry of the first range that is not before a key.
    pub(crate) fn skip_to(mut self, plan: &Arc<Plan>, key: &[u8]) -> Option<Entry> {
        self.cursor.skip_to(plan, key);
        self.cursor.into_entry(plan)
    }
}

/// The heap gives the largest entry: the first range in the cursor's direction.
impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_range = match self.cursor.direction {
            Direction::Forward => other.first.range.start().cmp(self.first.range.start()),
            Direction::Reverse => match (self.first.range.end(), other.first.range.end()) {
                (None, None) => Ordering::Equal,
                (None, Some(_)) => Ordering::Greater,
                (Some(_), None) => Ordering::Less,
                (Some(a), Some(b)) => a.cmp(b),
            },
        };
        by_range.then_with(|| other.cursor.product.cmp(&self.cursor.product))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Entry {}
