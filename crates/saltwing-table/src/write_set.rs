//! Rows to be written by one commit.

use std::sync::Arc;

use saltwing_types::{TableId, Value, text};

use crate::row_format::VALUE_BYTES_MAX;
use crate::{Table, TableError};

/// Puts and deletes of whole rows over any tables, in order: of several on one row the last one counts.
#[derive(Debug, Default)]
pub struct WriteSet {
    pub(crate) writes: Vec<RowWrite>,
    bytes: usize,
    frees_space: bool,
}

#[derive(Debug)]
pub(crate) struct RowWrite {
    pub(crate) table: Arc<Table>,
    pub(crate) key: Vec<u8>,
    /// The values of all columns by index; key columns are not looked at. `None` deletes the row.
    pub(crate) row: Option<Vec<Value>>,
    /// When it counts as written, in milliseconds since 1970; `None` is the time of the commit.
    pub(crate) written_ms: Option<i64>,
}

impl WriteSet {
    /// A set that changes nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Writes a row whole. `row` has a value for every column, brought to its type.
    ///
    /// Returns the physical row key.
    ///
    /// # Errors
    /// [`TableError::NotNull`] for a NULL where none may be; [`TableError::RowKey`]
    /// where the key values have no key; [`TableError::ValueTooLarge`].
    pub fn put(&mut self, table: &Arc<Table>, row: Vec<Value>) -> Result<&[u8], TableError> {
        let def = table.def();
        for (column, value) in def.columns.iter().zip(&row) {
            if value.is_null() && !column.nullable && column.family.is_some() {
                return Err(TableError::NotNull { table: def.name.to_string(), column: column.name.clone() });
            }
            let bytes = value_bytes(value);
            if bytes > VALUE_BYTES_MAX {
                let (table, column) = (def.name.to_string(), column.name.clone());
                return Err(TableError::ValueTooLarge { table, column, bytes, limit: VALUE_BYTES_MAX });
            }
            self.bytes += bytes + 8;
        }
        let key = table.row_key(&row)?;
        self.bytes += key.len();
        self.writes.push(RowWrite { table: table.clone(), key, row: Some(row), written_ms: None });
        Ok(self.writes.last().map_or(&[], |write| &write.key))
    }

    /// Writes a row that was written before, at that time: it does not live longer for it.
    ///
    /// # Errors
    /// As [`WriteSet::put`].
    pub fn put_again(&mut self, table: &Arc<Table>, row: Vec<Value>, written_ms: i64) -> Result<(), TableError> {
        self.put(table, row)?;
        self.writes.last_mut().into_iter().for_each(|write| write.written_ms = Some(written_ms));
        Ok(())
    }

    /// Deletes a row by its physical key, whether it is there or not.
    pub fn delete(&mut self, table: &Arc<Table>, key: Vec<u8>) {
        self.bytes += key.len();
        self.writes.push(RowWrite { table: table.clone(), key, row: None, written_ms: None });
    }

    /// Says that the rows that are put are about space that comes back: they may be written where the device is nearly full,
    /// as deletions may.
    pub fn free_space(&mut self) {
        self.frees_space = true;
    }

    /// Whether it must not be written where the device is nearly full.
    pub(crate) fn takes_space(&self) -> bool {
        !self.frees_space && self.writes.iter().any(|write| write.row.is_some())
    }

    /// How many rows are written.
    pub fn len(&self) -> usize {
        self.writes.len()
    }

    /// Whether nothing is written.
    pub fn is_empty(&self) -> bool {
        self.writes.is_empty()
    }

    /// About how many bytes are written.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = (TableId, &[u8])> {
        self.writes.iter().map(|w| (w.table.def().id, w.key.as_slice()))
    }

    pub(crate) fn table_name(&self, id: TableId) -> String {
        let found = self.writes.iter().find(|w| w.table.def().id == id);
        found.map_or_else(|| id.0.to_string(), |w| w.table.def().name.to_string())
    }
}

fn value_bytes(value: &Value) -> usize {
    match value {
        Value::Text(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
        _ => 16,
    }
}

impl std::fmt::Display for WriteSet {
    /// One line a row: table, key in hex, `put` or `delete`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for write in &self.writes {
            let what = if write.row.is_some() { "put" } else { "delete" };
            writeln!(f, "{what} {} {}", write.table.def().name, text::hex(&write.key))?;
        }
        Ok(())
    }
}
