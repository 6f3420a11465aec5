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

    /// Adds counts. Equal spans become one; if there are more than `spans_max`, so do neighbours that have few of the accesses together. So a key
    /// with many accesses keeps a span of its own.
    pub fn add(&mut self, spans: &[Span], spans_max: usize) {
        let mut all = Vec::with_capacity(self.spans.len() + spans.len());
        all.extend_from_slice(&self.spans);
        all.extend_from_slice(spans);
        all.sort_unstable_by(|a, b| a.first.cmp(&b.first).then_with(|| a.last.cmp(&b.last)));
        all.dedup_by(|next, kept| kept.absorb_if(next, (kept.first, kept.last) == (next.first, next.last)));
        let spans_max = spans_max.clamp(1, SPANS_MAX);
        if all.len() > spans_max {
            // Two neighbours that stay apart have more than this, so there are at most `spans_max` of them.
            let sum: u128 = all.iter().map(|span| u128::from(span.weights.sum())).sum();
            let light = 2 * sum / spans_max as u128;
            let weight = |span: &Span| u128::from(span.weights.sum());
            all.dedup_by(|next, kept| kept.absorb_if(next, weight(kept) + weight(next) <= light));
        }
        // Without the room for the spans that were merged.
        self.spans.clear();
        self.spans.reserve_exact(all.len());
        self.spans.extend(all);
    }
}

impl Span {
    /// Takes the counts of a span that follows, if it is to; whether it did.
    fn absorb_if(&mut self, next: &Self, is_to: bool) -> bool {
        if is_to {
            self.last = self.last.max(next.last);
            self.weights += next.weights;
        }
        is_to
    }
}
