//! The keys of index entries, and those of their rows.

use saltwing_types::KeySchema;

use crate::codec::KeyValues;
use crate::column::ColumnCodec;
use crate::{Key, KeySlices, RowKeyCodec, RowKeyError, ValueCodec, salt};

/// The rows of an index's entries. The key of an entry has each column of its row's key.
#[derive(Debug)]
pub struct RowsOfEntries {
    codec: RowKeyCodec,
    /// For each column of a row's key, the column of an entry's key that has its value.
    columns: Vec<usize>,
}

impl RowsOfEntries {
    /// `codec` is that of the rows' keys; `columns` says for each of its columns which column of `entries` has the same value.
    ///
    /// # Errors
    /// [`RowKeyError::Schema`] if `columns` or their types are not those of the rows.
    pub fn new(codec: RowKeyCodec, entries: &KeySchema, columns: Vec<usize>) -> Result<Self, RowKeyError> {
        let is_same = |(own, place): (&ColumnCodec, &usize)| {
            entries
                .columns
                .get(*place)
                .is_some_and(|column| own.value.sql_type() == ValueCodec::new(column.ty, column.order).sql_type())
        };
        if columns.len() != codec.columns.len() || !codec.columns.iter().zip(&columns).all(is_same) {
            return Err(RowKeyError::Schema("entries of an index have the key columns of its rows".into()));
        }
        Ok(Self { codec, columns })
    }

    /// The codec of the rows' keys.
    pub fn codec(&self) -> &RowKeyCodec {
        &self.codec
    }

    /// The bucket of the row whose entry has these key values.
    pub(crate) fn bucket(&self, entry: &impl KeyValues) -> Result<u8, RowKeyError> {
        let mut salted = Vec::new();
        let values = Moved { entry, columns: &self.columns };
        self.codec.append_columns(&values, self.codec.salt_column_count(), &mut salted)?;
        Ok(self.codec.salt.map_or(0, |salt| salt::bucket(&salted, salt.buckets)))
    }

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
        let pieces = Pieces { codec: entries, key: entry, slices };
        let mut key = Vec::with_capacity(entry.len());
        self.codec.encode_columns(&Moved { entry: &pieces, columns: &self.columns }, &mut key)?;
        Ok(key)
    }
}

/// The values of a row's key, among those of its entry's.
struct Moved<'e, E> {
    entry: &'e E,
    columns: &'e [usize],
}

impl<E: KeyValues> KeyValues for Moved<'_, E> {
    fn is_null(&self, column: usize) -> bool {
        self.columns.get(column).is_none_or(|place| self.entry.is_null(*place))
    }

    fn write(&self, column: usize, codec: &ColumnCodec, out: &mut Vec<u8>) -> Result<(), RowKeyError> {
        self.columns.get(column).map_or(Ok(()), |place| self.entry.write(*place, codec, out))
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
            // In the other direction.
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
