//! The places of a key's columns.

use std::ops::Range;

use smallvec::SmallVec;

/// The columns of most keys are no more than this: their places need no allocation.
const COLUMNS_INLINE: usize = 4;

/// Where the columns of one key stand: [`RowKeyCodec::split`](crate::RowKeyCodec::split) fills it, for key after key.
#[derive(Clone, Debug, Default)]
pub struct KeySlices {
    columns: SmallVec<[Slice; COLUMNS_INLINE]>,
}

/// The place of a column; [`Slice::NULL`] for NULL. Keys are short, so numbers of 32 bits keep a reader's state small.
#[derive(Clone, Copy, Debug)]
struct Slice {
    start: u32,
    end: u32,
}

impl Slice {
    const NULL: Self = Self { start: u32::MAX, end: 0 };

    fn range(self) -> Option<Range<usize>> {
        (self.start <= self.end).then_some(self.start as usize..self.end as usize)
    }
}

impl KeySlices {
    /// No columns yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of columns found.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Whether no column was found.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// The value bytes of a key column as stored, without separator, for the
    /// readers of [`RowKeyCodec::value_codec`](crate::RowKeyCodec::value_codec); `None` for NULL. `physical` is the key
    /// that was split.
    #[inline]
    pub fn get<'k>(&self, physical: &'k [u8], column: usize) -> Option<&'k [u8]> {
        physical.get(self.range(column)?)
    }

    /// Where the value bytes stand in the physical key; `None` for NULL.
    pub fn range(&self, column: usize) -> Option<Range<usize>> {
        self.columns.get(column)?.range()
    }

    /// No columns again.
    pub(crate) fn clear(&mut self) {
        self.columns.clear();
    }

    /// Adds the next column; `None` for NULL.
    pub(crate) fn push(&mut self, column: Option<Range<usize>>) {
        debug_assert!(column.as_ref().is_none_or(|range| u32::try_from(range.end).is_ok()), "a key is short");
        let slice = |range: Range<usize>| Slice { start: range.start as u32, end: range.end as u32 };
        self.columns.push(column.map_or(Slice::NULL, slice));
    }

    /// All columns in key order; `None` for NULL.
    pub fn iter<'k>(&self, physical: &'k [u8]) -> impl Iterator<Item = Option<&'k [u8]>> {
        self.columns.iter().map(|slice| physical.get(slice.range()?))
    }
}
