//! Rows between the form of a server and values.

use saltwing_access::{NO_TIME_MS, Table, TableError};
use saltwing_rowkey::KeySlices;
use saltwing_types::{KeyColumn, Value};

use crate::cluster::StoredRow;

/// A row of all columns as a server keeps it.
pub(crate) fn stored(table: &Table, row: &[Value], written_ms: i64) -> Result<StoredRow, TableError> {
    let def = table.def();
    let mut cells = Vec::new();
    for (column, value) in def.columns.iter().zip(row) {
        let Some(family) = column.family else { continue };
        if value.is_null() && !column.nullable {
            return Err(TableError::NotNull { table: def.name.to_string(), column: column.name.clone() });
        }
        cells.push(((family, column.slot), value.clone()));
    }
    Ok(StoredRow { written_ms, cells })
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
