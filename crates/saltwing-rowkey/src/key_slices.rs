//! The places of a key's columns.

use std::ops::Range;

/// Where the columns of one key stand: [`RowKeyCodec::split`](crate::RowKeyCodec::split) fills it, for key after key.
#[derive(Clone, Debug, Default)]
pub struct KeySlices {
    pub(crate) columns: Vec<Option<Range<usize>>>,
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
        self.columns.get(column)?.clone().and_then(|range| physical.get(range))
    }

    /// Where the value bytes stand in the physical key; `None` for NULL.
    pub fn range(&self, column: usize) -> Option<Range<usize>> {
        self.columns.get(column)?.clone()
    }

    /// All columns in key order; `None` for NULL.
    pub fn iter<'k>(&self, physical: &'k [u8]) -> impl Iterator<Item = Option<&'k [u8]>> {
        self.columns.iter().map(|range| range.clone().and_then(|range| physical.get(range)))
    }
}
