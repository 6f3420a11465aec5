//! The ranges of an access: made one at a time, in key order or against it.
//!
//! ```text
//!   box 1:  product ──┐
//!   box 2:  product ──┤ heap ── merged where they overlap or touch ── range, bucket
//!   box 3:  product ──┘
//! ```
//!
//! A product of three IN lists of 500 has 125 million ranges; here it takes 1,500
//! values and one counter a list. A scan that finds a key after the range it
//! looked in skips all ranges before that key: [`RangeIter::skip_to`].

use std::collections::BinaryHeap;
use std::fmt;
use std::sync::Arc;

use saltwing_rowkey::{BucketRange, KeyRange};

use crate::cursor::{Cursor, Entry, TypedRange};
use crate::notation;
use crate::product::Product;
use crate::range_plan::Plan;
use saltwing_types::Direction;

/// Most ranges that [`Ranges::total`] makes in order to count them.
const COUNTED_MAX: u128 = 20_000;

/// The byte ranges of logical keys that an access reads, sorted and disjoint.
///
/// Cheap to clone. Memory is linear in the statement, not in the number of ranges.
#[derive(Clone)]
pub struct Ranges {
    plan: Option<Arc<Plan>>,
}

/// A range of logical keys, and the bucket that all its rows are in, where that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScanRange {
    /// Logical keys: put the bucket byte in front with `KeyRange::in_bucket`.
    pub range: KeyRange,
    /// The one bucket; `None`: any of them, or the table has none.
    pub bucket: Option<u8>,
}

/// A range that is read in every bucket.
impl From<KeyRange> for ScanRange {
    fn from(range: KeyRange) -> Self {
        Self { range, bucket: None }
    }
}

/// A range that is read in its bucket.
impl From<BucketRange> for ScanRange {
    fn from(keys: BucketRange) -> Self {
        Self { range: keys.logical(), bucket: keys.bucket }
    }
}

impl Ranges {
    pub(crate) fn new(plan: Plan) -> Self {
        Self { plan: Some(Arc::new(plan)) }
    }

    /// Ranges known only at execution, because parameters are not bound yet.
    pub(crate) fn unknown() -> Self {
        Self { plan: None }
    }

    /// Whether the ranges can be made: no parameter is in them.
    pub fn is_known(&self) -> bool {
        self.plan.is_some()
    }

    /// The ranges as a scan reads them, in key order: each is one seek in its bucket, or in every bucket.
    ///
    /// Ranges that touch are merged but for two cases: whole keys, and neighbours in different buckets.
    /// Nothing, when the ranges are not known.
    pub fn iter(&self) -> RangeIter {
        self.walk(Direction::Forward)
    }

    /// As [`Ranges::iter`], in this direction.
    pub fn walk(&self, direction: Direction) -> RangeIter {
        RangeIter::new(self.plan.clone(), direction, Merging::Buckets, false)
    }

    /// Whether there is no range at all.
    pub(crate) fn is_empty(&self) -> bool {
        let Some(plan) = &self.plan else { return false };
        let is_empty = |product| Cursor::new(plan, product, Direction::Forward, false).into_entry(plan).is_none();
        (0..plan.products.len()).all(is_empty)
    }

    /// The first `count` ranges, merged if they are adjacent regardless of their buckets; whole keys stay separate.
    /// `None` if they are not known.
    pub fn first(&self, count: usize) -> Option<Vec<KeyRange>> {
        let plan = self.plan.clone()?;
        let all = RangeIter::new(Some(plan), Direction::Forward, Merging::All, false);
        Some(all.take(count).map(|scan| scan.range).collect())
    }

    /// Number of all ranges as [`Ranges::first`] counts them; where they are more
    /// than can be made for that, the product of their lists. `None` when they are not known.
    pub fn total(&self) -> Option<u128> {
        let plan = self.plan.clone()?;
        let product = self.total_max()?;
        if product > COUNTED_MAX {
            return Some(product);
        }
        Some(RangeIter::new(Some(plan), Direction::Forward, Merging::All, false).count() as u128)
    }

    /// An upper bound of the number of ranges, without making them. `None` if they are not known.
    pub fn total_max(&self) -> Option<u128> {
        let plan = self.plan.as_ref()?;
        Some(plan.products.iter().map(Product::size).fold(0, u128::saturating_add))
    }

    /// Whether a logical key is in one of the ranges; `false` if they are not known.
    pub fn contains(&self, logical: &[u8]) -> bool {
        let mut ranges = self.iter();
        ranges.skip_to(logical);
        ranges.next().is_some_and(|scan| scan.range.contains(logical))
    }

    /// The first `count` ranges as typed text; `None` when they are not known.
    pub fn spans(&self, count: usize) -> Option<Vec<String>> {
        let plan = self.plan.clone()?;
        let mut all = RangeIter::new(Some(Arc::clone(&plan)), Direction::Forward, Merging::All, true);
        let texts = std::iter::from_fn(|| all.next_range());
        Some(texts.take(count).map(|range| notation::range(&range, &plan.columns)).collect())
    }
}

impl fmt::Debug for Ranges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 10;
        match self.first(SHOWN) {
            None => f.write_str("Ranges(unknown)"),
            Some(ranges) => f.debug_list().entries(ranges).finish(),
        }
    }
}

/// Which neighbours become one range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Merging {
    /// All that touch.
    All,
    /// Those that touch in the same bucket.
    Buckets,
}

/// Ranges one after the other; see [`Ranges::iter`].
pub struct RangeIter {
    plan: Option<Arc<Plan>>,
    direction: Direction,
    merging: Merging,
    heap: BinaryHeap<Entry>,
}

impl RangeIter {
    fn new(plan: Option<Arc<Plan>>, direction: Direction, merging: Merging, with_ends: bool) -> Self {
        let mut heap = BinaryHeap::new();
        if let Some(plan) = &plan {
            // Ranges tell by their typed ends whether they touch; whole keys never do.
            let typed = with_ends || !plan.points;
            let cursors = (0..plan.products.len()).map(|i| Cursor::new(plan, i, direction, typed));
            heap.extend(cursors.filter_map(|cursor| cursor.into_entry(plan)));
        }
        Self { plan, direction, merging, heap }
    }

    /// Drops the ranges that end before `logical` (in reverse: that start after it),
    /// without making each of them.
    ///
    /// Afterwards the next range, if there is one, holds `logical` or is after it. A merged range may be returned
    /// without its parts before `logical`.
    pub fn skip_to(&mut self, logical: &[u8]) {
        let Some(plan) = &self.plan else { return };
        while let Some(entry) = self.heap.peek() {
            if !entry.is_before(logical) {
                return;
            }
            let Some(entry) = self.heap.pop() else { return };
            self.heap.extend(entry.skip_to(plan, logical));
        }
    }

    fn next_range(&mut self) -> Option<TypedRange> {
        let plan = Arc::clone(self.plan.as_ref()?);
        let mut range = self.pop(&plan)?;
        while let Some(next) = self.heap.peek().map(Entry::first) {
            if !self.joins(&range, next, plan.points) {
                break;
            }
            let next = self.pop(&plan)?;
            range.join(next);
        }
        Some(range)
    }

    fn pop(&mut self, plan: &Arc<Plan>) -> Option<TypedRange> {
        let (range, rest) = self.heap.pop()?.advance(plan);
        self.heap.extend(rest);
        Some(range)
    }

    fn joins(&self, range: &TypedRange, next: &TypedRange, points: bool) -> bool {
        let (low, high) = match self.direction {
            Direction::Forward => (range, next),
            Direction::Reverse => (next, range),
        };
        let overlap = low.range.end().is_none_or(|end| high.range.start() < end);
        let may_touch = !points && (self.merging == Merging::All || range.bucket == next.bucket);
        overlap || (may_touch && low.touches(high))
    }
}

impl Iterator for RangeIter {
    type Item = ScanRange;

    fn next(&mut self) -> Option<ScanRange> {
        let TypedRange { range, bucket, .. } = self.next_range()?;
        Some(ScanRange { range, bucket })
    }
}

impl fmt::Debug for RangeIter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RangeIter").field("direction", &self.direction).field("products", &self.heap.len()).finish()
    }
}
