//! Finding the columns of a key, and reading them.

use saltwing_types::{SortOrder, Value};

use crate::column::{ColumnCodec, KeyPart};
use crate::error::shown_bytes;
use crate::{BadBytes, KeySlices, RowKeyCodec, RowKeyError, ValueCodec};

impl RowKeyCodec {
    /// Finds all columns of a physical key, without looking into their values.
    ///
    /// # Errors
    /// [`RowKeyError::Corrupt`] when the key does not belong to this definition.
    pub fn split(&self, physical: &[u8], slices: &mut KeySlices) -> Result<(), RowKeyError> {
        self.split_first(physical, self.columns.len(), slices)
    }

    /// As [`RowKeyCodec::split`], for the first `count` columns only: what follows
    /// them is neither read nor checked.
    ///
    /// # Errors
    /// [`RowKeyError::Corrupt`] when the key does not belong to this definition.
    pub fn split_first(&self, physical: &[u8], count: usize, slices: &mut KeySlices) -> Result<(), RowKeyError> {
        slices.clear();
        let at = self.check_bucket(physical)?;
        self.split_from(physical, at, count, slices)
            .map_err(|(column, bad)| self.corrupt(column, physical, slices, bad))
    }

    /// As [`RowKeyCodec::split_first`], of a logical key: the places found are those in `logical`.
    ///
    /// # Errors
    /// As [`RowKeyCodec::split`].
    pub fn split_logical(&self, logical: &[u8], count: usize, slices: &mut KeySlices) -> Result<(), RowKeyError> {
        slices.clear();
        self.split_from(logical, 0, count, slices).map_err(|(column, bad)| self.corrupt(column, logical, slices, bad))
    }

    /// Splits from byte `at` on. An error comes with the index of its column.
    pub(crate) fn split_from(
        &self,
        key: &[u8],
        mut at: usize,
        count: usize,
        slices: &mut KeySlices,
    ) -> Result<(), (usize, BadBytes)> {
        // Set where no separator promises another column: NULLs only may follow.
        let mut ended = false;
        // Set right after a separator that is only written when more follows.
        let mut promised = false;
        for (index, column) in self.columns.iter().enumerate().take(count) {
            let rest = key.get(at..).unwrap_or_default();
            let slice = match column {
                _ if ended && column.nullable => None,
                _ if ended => return Err((index, BadBytes("the key ends before the column"))),
                _ if !rest.is_empty() => {
                    let piece = column.split(rest).map_err(|bad| (index, bad))?;
                    let start = at;
                    match piece {
                        KeyPart::Null { separator } => {
                            at += separator;
                            promised = true;
                            None
                        }
                        KeyPart::Value { len, separator, promises_more } => {
                            at += len + separator;
                            promised = promises_more;
                            Some(start..start + len)
                        }
                        KeyPart::Final { len } => {
                            at += len;
                            ended = true;
                            Some(start..start + len)
                        }
                    }
                }
                _ if column.nullable && promised => return Err((index, BadBytes("a separator ends the key"))),
                _ => {
                    ended = true;
                    self.absent(column).map_err(|bad| (index, bad))?.then_some(at..at)
                }
            };
            slices.push(slice);
        }
        if count >= self.columns.len() && at != key.len() {
            return Err((self.columns.len().saturating_sub(1), BadBytes("the key goes on behind its last column")));
        }
        Ok(())
    }

    /// The value of a column after the end of the key: empty (true), NULL (false), or an error.
    fn absent(&self, column: &ColumnCodec) -> Result<bool, BadBytes> {
        match (column.nullable, column.may_be_empty()) {
            (true, _) => Ok(false),
            (false, true) => Ok(true),
            (false, false) => Err(BadBytes("the key ends before the column")),
        }
    }

    /// The values of a physical key, in key order.
    ///
    /// # Errors
    /// [`RowKeyError::Corrupt`] when the key does not belong to this definition.
    pub fn decode(&self, physical: &[u8]) -> Result<Vec<Value>, RowKeyError> {
        let mut slices = KeySlices::new();
        self.split(physical, &mut slices)?;
        (0..self.columns.len()).map(|column| self.decode_column(physical, &slices, column)).collect()
    }

    /// As [`RowKeyCodec::decode`], of a key that may go on after its last column: in Phoenix a view over a table can have further key columns, and
    /// its rows are rows of the table.
    ///
    /// # Errors
    /// As there.
    pub fn decode_beginning(&self, physical: &[u8]) -> Result<Vec<Value>, RowKeyError> {
        let mut slices = KeySlices::new();
        let at = self.check_bucket(physical)?;
        let split = self.split_from(physical, at, self.columns.len(), &mut slices);
        if let Err((column, bad)) = split
            && slices.len() < self.columns.len()
        {
            return Err(self.corrupt(column, physical, &slices, bad));
        }
        (0..self.columns.len()).map(|column| self.decode_column(physical, &slices, column)).collect()
    }

    /// The value of one column of a key that was split.
    ///
    /// # Errors
    /// [`RowKeyError::Corrupt`] when its bytes stand for no value of its type.
    pub fn decode_column(&self, physical: &[u8], slices: &KeySlices, column: usize) -> Result<Value, RowKeyError> {
        match (slices.get(physical, column), self.columns.get(column)) {
            (Some(stored), Some(codec)) => {
                codec.value.decode(stored).map_err(|bad| self.corrupt(column, physical, slices, bad))
            }
            _ => Ok(Value::Null),
        }
    }

    /// Type and direction of a key column, with the readers of its values.
    pub fn value_codec(&self, column: usize) -> Option<ValueCodec> {
        self.columns.get(column).map(|codec| codec.value)
    }

    /// The error of a column whose stored bytes a reader refused.
    pub fn corrupt(&self, column: usize, physical: &[u8], slices: &KeySlices, bad: BadBytes) -> RowKeyError {
        let name = self.columns.get(column).map(|codec| codec.name.clone());
        let before = (0..column).rev().find_map(|column| slices.range(column)).map(|range| range.end);
        let offset = slices.range(column).map(|range| range.start).or(before).unwrap_or(self.bucket_bytes());
        RowKeyError::Corrupt { column: name.unwrap_or_default(), offset, key: shown_bytes(physical), reason: bad.0 }
    }

    /// The offset of the logical key; checks the bucket byte.
    fn check_bucket(&self, physical: &[u8]) -> Result<usize, RowKeyError> {
        let at = self.bucket_bytes();
        let reason = match (self.salt, physical.first()) {
            (Some(salt), Some(bucket)) if u16::from(*bucket) >= salt.buckets => "no bucket of this table",
            (_, None) => "a row key of no bytes",
            _ => return Ok(at),
        };
        let column = self.columns.first().map(|codec| codec.name.clone()).unwrap_or_default();
        Err(RowKeyError::Corrupt { column, offset: 0, key: shown_bytes(physical), reason })
    }

    /// Direction of a key column.
    pub(crate) fn order(&self, column: usize) -> SortOrder {
        self.columns.get(column).map_or(SortOrder::Asc, |codec| codec.value.order())
    }
}
