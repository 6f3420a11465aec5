//! Cells as rows.

use saltwing_types::Value;

use super::cells::CellRef;
use super::codec::{FamilySlots, PACKED_QUALIFIER, RowCodec};
use super::format::StorageScheme;
use super::packed::{PackedCell, Slot};
use crate::error::shown_bytes;
use crate::{BadCell, PhoenixError};

/// What the cell says that every row has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EmptyCell {
    /// A row of a table, or of a local index.
    Row,
    /// An entry of a global index that agrees with its row.
    Verified,
    /// An entry of a global index that may not agree with its row, or whose row may be gone.
    Unverified,
    /// Any other value, as programs without Phoenix may have written it.
    Other,
}

/// A row that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// A value for each key column.
    pub key: Vec<Value>,
    /// For each value column its value, or `None` if it has no cell: it is NULL, or its DEFAULT if it has one.
    pub values: Vec<Option<Value>>,
    /// The cell that every row has; `None` if it was not read.
    pub empty_cell: Option<EmptyCell>,
}

impl RowCodec {
    /// The row of these cells, which are the newest versions of one row and no deletions. If a column has several cells, the
    /// first one counts.
    ///
    /// `None` if no cell is the table's: a local index keeps its entries among the rows of its table.
    ///
    /// # Errors
    /// [`PhoenixError::Key`] for a key of another table, [`PhoenixError::Corrupt`] and [`PhoenixError::CorruptFamily`] for
    /// cells that have no values of their columns.
    pub fn decode<'c>(
        &self,
        key: &[u8],
        cells: impl IntoIterator<Item = CellRef<'c>>,
    ) -> Result<Option<Row>, PhoenixError> {
        let mut row = Row { key: Vec::new(), values: vec![None; self.columns.len()], empty_cell: None };
        let mut is_of_table = false;
        for cell in cells {
            is_of_table |= self.take_cell(key, cell, &mut row)?;
        }
        if !is_of_table {
            return Ok(None);
        }
        row.key = self.decode_key(key)?;
        Ok(Some(row))
    }

    /// The values of a row key. Those of no bytes are NULL, also in a column that is NOT NULL: a view can add such a column
    /// to a key whose rows are there. What follows the last column is of such a view, too, and says nothing of the table.
    ///
    /// # Errors
    /// [`PhoenixError::Key`] for a key of another table.
    pub fn decode_key(&self, key: &[u8]) -> Result<Vec<Value>, PhoenixError> {
        let mut values = self.key.decode_beginning(key)?;
        for (place, value) in values.iter_mut().enumerate() {
            if self.is_empty_key_value(place, Some(value)) {
                *value = Value::Null;
            }
        }
        Ok(values)
    }

    /// Whether the cell is one of the table's rows.
    fn take_cell(&self, key: &[u8], cell: CellRef<'_>, row: &mut Row) -> Result<bool, PhoenixError> {
        let format = &self.format;
        if cell.family == format.empty_family.as_bytes() && cell.qualifier == format.qualifiers.of_empty_cell() {
            row.empty_cell.get_or_insert(empty_cell(cell.value));
            return Ok(true);
        }
        match format.storage {
            StorageScheme::CellPerColumn => match self.column(cell.family, cell.qualifier) {
                Some(column) => self.take_value(key, column, cell.value, row).map(|()| true),
                None => Ok(self.has_family(cell.family)),
            },
            StorageScheme::CellPerFamily if cell.qualifier == PACKED_QUALIFIER => {
                match self.families.iter().find(|family| family.family.as_bytes() == cell.family) {
                    Some(family) => self.take_packed(key, family, cell.value, row).map(|()| true),
                    None => Ok(self.has_family(cell.family)),
                }
            }
            StorageScheme::CellPerFamily => Ok(self.has_family(cell.family)),
        }
    }

    /// A dynamic column makes a row, too.
    fn has_family(&self, family: &[u8]) -> bool {
        let format = &self.format;
        format.empty_family.as_bytes() == family
            || format.columns.iter().any(|column| column.family.as_bytes() == family)
    }

    fn take_value(&self, key: &[u8], column: usize, stored: &[u8], row: &mut Row) -> Result<(), PhoenixError> {
        let (Some(codec), Some(place)) = (self.columns.get(column), row.values.get_mut(column)) else {
            debug_assert!(false, "a column that the format has");
            return Err(PhoenixError::Format(format!("the format has no column {column}")));
        };
        if place.is_none() {
            *place = Some(codec.decode(stored).map_err(|error| self.corrupt(key, column, error, stored))?);
        }
        Ok(())
    }

    fn take_packed(&self, key: &[u8], family: &FamilySlots, stored: &[u8], row: &mut Row) -> Result<(), PhoenixError> {
        let corrupt = |reason| PhoenixError::CorruptFamily {
            family: family.family.clone(),
            reason,
            cell: shown_bytes(stored),
            key: shown_bytes(key),
        };
        let cell = PackedCell::read(stored).map_err(corrupt)?;
        for (slot, column) in &family.columns {
            if let Slot::Value(value) = cell.slot(*slot).map_err(corrupt)? {
                self.take_value(key, *column, value, row)?;
            }
        }
        Ok(())
    }

    fn corrupt(&self, key: &[u8], column: usize, error: BadCell, stored: &[u8]) -> PhoenixError {
        let column = self.format.columns.get(column).map_or_else(String::new, |column| column.name.clone());
        PhoenixError::Corrupt { column, error, cell: shown_bytes(stored), key: shown_bytes(key) }
    }
}

fn empty_cell(value: &[u8]) -> EmptyCell {
    match value {
        b"x" => EmptyCell::Row,
        [1] => EmptyCell::Verified,
        [2] => EmptyCell::Unverified,
        _ => EmptyCell::Other,
    }
}
