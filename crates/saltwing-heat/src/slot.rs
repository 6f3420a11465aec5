//! The counts of one slot of time: at most [`SPANS_MAX`] spans of keys.

use std::ops::AddAssign;

use crate::key_prefix::KeyPrefix;

/// Most spans of keys in one slot.
pub const SPANS_MAX: usize = 32;

/// Accesses, estimated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Weights {
    /// Accesses that read.
    pub reads: u64,
    /// Rows written.
    pub writes: u64,
}

impl Weights {
    /// All accesses.
    pub fn sum(self) -> u64 {
        self.reads.saturating_add(self.writes)
    }
}

impl AddAssign for Weights {
    fn add_assign(&mut self, other: Self) {
        self.reads = self.reads.saturating_add(other.reads);
        self.writes = self.writes.saturating_add(other.writes);
    }
}

/// Accesses to keys from the first to the last one, inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first key.
    pub first: KeyPrefix,
    /// The last key.
    pub last: KeyPrefix,
    /// How many.
    pub weights: Weights,
}

/// The counts of one slot of time.
///
/// # Laws
/// 1. The weights of its spans add up to those of all that was added, except those dropped beyond `u64`.
/// 2. Each span that was added lies inside a span that has at least its weights.
/// 3. There are at most [`SPANS_MAX`] spans, ascending by their first keys. They may overlap: two slots that are added
///    divide the keys differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The start, in seconds since 1970.
    pub start_s: i64,
    /// The length in seconds.
    pub seconds: u32,
    /// The counts by key.
    pub spans: Vec<Span>,
}

impl Slot {
    /// A slot without counts.
    pub fn new(start_s: i64, seconds: u32) -> Self {
        Self { start_s, seconds, spans: Vec::new() }
    }

    /// The end, exclusive, in seconds since 1970.
    pub fn end_s(&self) -> i64 {
        self.start_s.saturating_add(i64::from(self.seconds))
    }

    /// Adds counts. Equal spans become one; then the two neighbours with the least weight become one, until the spans fit. So a key
    /// with many accesses keeps a span of its own.
    pub fn add(&mut self, spans: &[Span]) {
        let mut all = Vec::with_capacity(self.spans.len() + spans.len());
        all.extend_from_slice(&self.spans);
        all.extend_from_slice(spans);
        all.sort_unstable_by_key(|span| (span.first, span.last));
        all.dedup_by(|next, kept| {
            let is_equal = (kept.first, kept.last) == (next.first, next.last);
            if is_equal {
                kept.weights += next.weights;
            }
            is_equal
        });
        while all.len() > SPANS_MAX {
            merge_lightest(&mut all);
        }
        // Without the room for the spans that were merged.
        self.spans.clear();
        self.spans.reserve_exact(all.len());
        self.spans.extend(all);
    }
}

/// Makes the two neighbours with the least weight together one.
fn merge_lightest(spans: &mut Vec<Span>) {
    let weight = |pair: &[Span]| pair.iter().map(|span| span.weights.sum()).fold(0, u64::saturating_add);
    let lightest = spans.windows(2).enumerate().min_by_key(|(_, pair)| weight(pair));
    let Some(at) = lightest.map(|(at, _)| at) else { return };
    let next = spans.remove(at + 1);
    if let Some(span) = spans.get_mut(at) {
        span.last = span.last.max(next.last);
        span.weights += next.weights;
    }
}
