//! Prefetching: reads for several blocks or rows, so that their cache misses overlap.
//!
//! Each step of a walk or of a search needs what the step before it gives, and of a large table nothing is in a near cache:
//! taken one after the other, each step waits for memory. So a step is read for several blocks before it is taken for the
//! first, and they wait together. A prefetch is a plain read whose result is thrown away; there is no unsafe code in it. What it
//! brings, and where it brings nothing, is in `docs/decisions/0016-waiting-together.md`.

/// Consumes the iterator for its reads.
#[inline]
pub(crate) fn prefetch(reads: impl Iterator<Item = usize>) {
    std::hint::black_box(reads.fold(0, |all, read| all ^ read));
}

/// The prefetched fields of a block's part. Each stage depends on the ones before it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PrefetchStep {
    /// The offsets of columns.
    Columns,
    /// The offsets of keys and columns.
    KeysAndColumns,
    /// The keys of the rows from this one on, as far as a search compares them from [`FixPart::first_near`] on.
    ///
    /// [`FixPart::first_near`]: crate::format::fix_part::FixPart::first_near
    Keys(usize),
    /// A row's values of fixed width, and the offsets of the others.
    Row(usize),
    /// A row's values of variable width.
    Texts(usize),
}
