//! Rows as cells.

use std::borrow::Cow;

use saltwing_types::Value;

use super::cells::{DeletedCell, RowCells, RowDelete, WrittenCell};
use super::codec::{FamilySlots, PACKED_QUALIFIER, RowCodec};
use super::format::{StorageScheme, ValueColumn};
use super::packed;
use crate::{CellCodec, PhoenixError};

/// The value of the cell that every row has.
const EMPTY_VALUE: &[u8] = b"x";

/// What becomes of one column.
enum ColumnChange {
    /// The column stays as it is.
    Nothing,
    /// A cell; no bytes for NULL.
    Put(Vec<u8>),
    /// The cell goes.
    Delete,
}

impl RowCodec {
    /// The cells of an UPSERT: `key` has a value for each key column, `values` one for each value column, `None` for columns
    /// that the statement does not name.
    ///
    /// NULL deletes the column's cell; it is an empty cell if the table stores NULLs or the column has a DEFAULT, and nothing
    /// in an immutable table. A packed cell replaces the one that was there: columns that are not named lose their values.
    /// The time of the cells is the caller's: the server's, or that of the key column if one is ROW_TIMESTAMP.
    ///
    /// # Errors
    /// [`PhoenixError`] for a wrong number of values, a value that its column cannot hold, and NULL in a column that is NOT
    /// NULL.
    pub fn upsert(&self, key: &[Value], values: &[Option<Value>]) -> Result<RowCells<'_>, PhoenixError> {
        let format = &self.format;
        if values.len() != format.columns.len() {
            return Err(PhoenixError::ValueCount { given: values.len(), expected: format.columns.len() });
        }
        let row = self.encode_key(key)?;
        let columns = format.columns.iter().zip(&self.columns).zip(values);
        let changes = columns.map(|((column, codec), value)| self.change(column, codec, value.as_ref()));
        let changes = changes.collect::<Result<Vec<_>, _>>()?;
        let empty = WrittenCell {
            family: &format.empty_family,
            qualifier: format.qualifiers.of_empty_cell(),
            value: EMPTY_VALUE.to_vec(),
        };
        let mut cells = RowCells { key: row, puts: vec![empty], deletes: Vec::new() };
        match format.storage {
            StorageScheme::CellPerColumn => cells_of_columns(&format.columns, changes, &mut cells),
            StorageScheme::CellPerFamily => {
                for family in &self.families {
                    cells.puts.push(packed_cell(family, &changes)?);
                }
            }
        }
        Ok(cells)
    }

    /// The deletions of a DELETE of the row with this key.
    ///
    /// # Errors
    /// [`PhoenixError::Key`] for values that are no key.
    pub fn delete(&self, key: &[Value]) -> Result<RowDelete<'_>, PhoenixError> {
        Ok(RowDelete { key: self.encode_key(key)?, families: self.family_names() })
    }

    /// The row key of these values, one for each key column. An empty value is NULL, as in cells.
    ///
    /// # Errors
    /// [`PhoenixError::Key`] for values that are no key.
    pub fn encode_key(&self, key: &[Value]) -> Result<Vec<u8>, PhoenixError> {
        let mut row = Vec::new();
        let mut key = Cow::Borrowed(key);
        if (0..key.len()).any(|place| self.is_empty_key_value(place, key.get(place))) {
            for (place, value) in key.to_mut().iter_mut().enumerate() {
                if self.is_empty_key_value(place, Some(value)) {
                    *value = Value::Null;
                }
            }
        }
        self.key.encode_into(&key, &mut row)?;
        Ok(row)
    }

    fn change(
        &self,
        column: &ValueColumn,
        codec: &CellCodec,
        value: Option<&Value>,
    ) -> Result<ColumnChange, PhoenixError> {
        let Some(value) = value else { return Ok(ColumnChange::Nothing) };
        let mut stored = Vec::new();
        codec.encode(value, &mut stored).map_err(|error| PhoenixError::Value { column: column.name.clone(), error })?;
        let format = &self.format;
        Ok(match stored.is_empty() {
            false => ColumnChange::Put(stored),
            true if !column.nullable => return Err(PhoenixError::NotNull { column: column.name.clone() }),
            true if column.has_default => ColumnChange::Put(stored),
            true if format.immutable => ColumnChange::Nothing,
            true if format.store_nulls => ColumnChange::Put(stored),
            true => ColumnChange::Delete,
        })
    }
}

fn cells_of_columns<'f>(columns: &'f [ValueColumn], changes: Vec<ColumnChange>, cells: &mut RowCells<'f>) {
    for (column, change) in columns.iter().zip(changes) {
        let (family, qualifier) = (column.family.as_str(), column.qualifier.as_slice());
        match change {
            ColumnChange::Nothing => {}
            ColumnChange::Put(value) => cells.puts.push(WrittenCell { family, qualifier, value }),
            ColumnChange::Delete => cells.deletes.push(DeletedCell { family, qualifier }),
        }
    }
}

fn packed_cell<'f>(family: &'f FamilySlots, changes: &[ColumnChange]) -> Result<WrittenCell<'f>, PhoenixError> {
    let values = (0..family.count).map(|slot| match changes.get(*family.columns.get(&slot)?)? {
        ColumnChange::Put(value) => Some(value.as_slice()),
        ColumnChange::Nothing | ColumnChange::Delete => None,
    });
    let value = packed::write(values).ok_or_else(|| PhoenixError::TooLarge { family: family.family.clone() })?;
    Ok(WrittenCell { family: &family.family, qualifier: PACKED_QUALIFIER, value })
}
