//! The fields of one row.

use std::ops::Range;

/// The fields of a row that is read, without the escapes of the format. The memory is used again for the next row.
#[derive(Debug, Default)]
pub(super) struct Fields {
    bytes: Vec<u8>,
    /// The place of each field in `bytes`; `None` is NULL.
    places: Vec<Option<Range<usize>>>,
    /// Where the field that is being added begins.
    start: usize,
}

impl Fields {
    /// Forgets the fields.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.places.clear();
        self.start = 0;
    }

    /// The number of fields.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// The bytes of a field; `None` of NULL, and of a field that there is not.
    pub(super) fn get(&self, index: usize) -> Option<&[u8]> {
        self.bytes.get(self.places.get(index)?.clone()?)
    }

    /// Adds bytes to the last field, which `end_field` or `end_null` ends.
    pub(super) fn extend(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Adds a byte to the last field.
    pub(super) fn push(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    /// The bytes of the last field so far.
    pub(super) fn open_field(&self) -> &[u8] {
        self.bytes.get(self.start..).unwrap_or_default()
    }

    /// Ends the last field.
    pub(super) fn end_field(&mut self) {
        self.places.push(Some(self.start..self.bytes.len()));
        self.start = self.bytes.len();
    }

    /// Ends the last field, which is NULL.
    pub(super) fn end_null(&mut self) {
        self.bytes.truncate(self.start);
        self.places.push(None);
    }

    /// All fields, for tests.
    #[cfg(test)]
    pub(super) fn all(&self) -> Vec<Option<Vec<u8>>> {
        (0..self.len()).map(|index| self.get(index).map(<[u8]>::to_vec)).collect()
    }
}
