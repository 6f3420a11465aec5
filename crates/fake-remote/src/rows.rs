//! Rows between the form of a server and values.

use saltwing_access::{NO_TIME_MS, Table, TableError};
use saltwing_rowkey::KeySlices;
use saltwing_types::{KeyColumn, Value};

/// The place of a column in stored rows: its family and its slot.
pub(crate) type Place = (usize, u16);

/// A row as a server keeps it: the values of its stored columns.
#[derive(Clone, Debug)]
pub(crate) struct StoredRow {
    pub(crate) written_ms: i64,
    pub(crate) cells: Vec<(Place, Value)>,
}

impl StoredRow {
    /// The row with these cells over its own.
    pub(crate) fn with(mut self, written_ms: i64, cells: &[(Place, Value)]) -> Self {
        self.written_ms = written_ms;
        for (place, value) in cells {
            match self.cells.iter_mut().find(|(of, _)| of == place) {
                Some((_, known)) => known.clone_from(value),
                None => self.cells.push((*place, value.clone())),
            }
        }
        self
    }
}

/// Some columns of a row as a server keeps them.
pub(crate) fn cells(table: &Table, columns: &[usize], values: &[Value]) -> Result<Vec<(Place, Value)>, TableError> {
    let def = table.def();
    let mut cells = Vec::with_capacity(columns.len());
    for (&column, value) in columns.iter().zip(values) {
        let Some(column) = def.columns.get(column) else { continue };
        let Some(family) = column.family else { continue };
        if value.is_null() && !column.nullable {
            return Err(TableError::NotNull { table: def.name.to_string(), column: column.name.clone() });
        }
        cells.push(((family, column.slot), value.clone()));
    }
    Ok(cells)
}

/// A row of all columns as a server keeps it.
pub(crate) fn stored(table: &Table, row: &[Value], written_ms: i64) -> Result<StoredRow, TableError> {
    let columns: Vec<usize> = (0..table.def().columns.len()).collect();
    Ok(StoredRow { written_ms, cells: cells(table, &columns, row)? })
}

/// The value of a column of a row, by index; the physical key and the time of the row follow the last one.
pub(crate) fn value(table: &Table, index: usize, key: &[u8], row: &StoredRow) -> Result<Value, TableError> {
    let def = table.def();
    let Some(column) = def.columns.get(index) else {
        return Ok(match row.written_ms {
            _ if index == table.row_key_index() => Value::Bytes(key.to_vec()),
            NO_TIME_MS => Value::Null,
            written_ms => Value::Date(written_ms),
        });
    };
    if let Some(family) = column.family {
        let found = row.cells.iter().find(|(place, _)| *place == (family, column.slot));
        return Ok(found.map_or_else(|| table.absent(index), |(_, value)| value).clone());
    }
    let position = def.key.columns.iter().position(|part: &KeyColumn| part.column() == Some(index));
    let position = position.ok_or(TableError::NoSuchTable(def.id.0))?;
    let mut slices = KeySlices::new();
    table.codec().split(key, &mut slices)?;
    Ok(table.codec().decode_column(key, &slices, position)?)
}
