//! The keys of rows, made from the keys of their index entries.

use crate::codec::{KeyValues, Moved, RowsOfEntries};
use crate::column::ColumnCodec;
use crate::{Key, KeySlices, RowKeyCodec, RowKeyError};

impl RowsOfEntries {
    /// The physical key of the row that an entry names, made from the physical key of the entry. `entries` is the codec of
    /// the entries' keys.
    ///
    /// # Law
    /// It is the key of the row whose values the entry has: [`RowKeyCodec::decode`] and [`RowKeyCodec::encode`], without the
    /// values in between.
    ///
    /// # Errors
    /// [`RowKeyError::Corrupt`] if `entry` is not the key of an entry.
    pub fn row_key(&self, entries: &RowKeyCodec, entry: &[u8], slices: &mut KeySlices) -> Result<Key, RowKeyError> {
        entries.split(entry, slices)?;
        let tail = self.tail.and_then(|first| entry.get(slices.range(first)?.start..));
        if let Some(logical) = tail.filter(|logical| !logical.is_empty()) {
            let mut key = Vec::with_capacity(self.codec.bucket_bytes() + logical.len());
            if self.codec.bucket_bytes() > 0 {
                key.push(self.codec.bucket(logical));
            }
            key.extend_from_slice(logical);
            return Ok(key);
        }
        let pieces = Pieces { codec: entries, key: entry, slices };
        let mut key = Vec::with_capacity(entry.len());
        self.codec.encode_columns(&Moved { entry: &pieces, columns: &self.columns }, &mut key)?;
        Ok(key)
    }
}

/// The columns of a key that was split.
struct Pieces<'k> {
    codec: &'k RowKeyCodec,
    key: &'k [u8],
    slices: &'k KeySlices,
}

impl KeyValues for Pieces<'_> {
    fn is_null(&self, column: usize) -> bool {
        self.slices.get(self.key, column).is_none()
    }

    fn write(&self, column: usize, codec: &ColumnCodec, out: &mut Vec<u8>) -> Result<(), RowKeyError> {
        let stored = self.slices.get(self.key, column).unwrap_or_default();
        match self.codec.value_codec(column) {
            // The directions differ, and so do the bytes.
            Some(own) if own != codec.value => {
                let value = own.decode(stored).map_err(|bad| self.codec.corrupt(column, self.key, self.slices, bad))?;
                codec.encode(&value, out)
            }
            _ => {
                out.extend_from_slice(stored);
                Ok(())
            }
        }
    }
}
