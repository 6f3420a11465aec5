//! The values of a table's rows.

use arrow::array::{ArrayRef, RecordBatch};
use saltwing_access::Table;
use saltwing_expr::value_at;
use saltwing_types::{ColumnDef, KeyColumn, SqlType, Value, number, text};

use crate::ExecError;

/// The values of the key's columns; computed parts add nothing.
pub(crate) fn key_text(table: &Table, row: &[Value]) -> String {
    let literal = |k: &KeyColumn| Some(text::literal(row.get(k.column()?)?, k.ty));
    table.def().key.columns.iter().filter_map(literal).collect::<Vec<_>>().join(", ")
}

/// The values of a row of a batch, whose columns from `first` on are for these columns of the table; dynamic ones come
/// after its own.
pub(crate) fn row_of_batch(
    table: &Table,
    (columns, dynamic): (&[usize], &[ColumnDef]),
    types: &[SqlType],
    batch: &RecordBatch,
    (row, first): (usize, usize),
) -> Result<Vec<Value>, ExecError> {
    let def = table.def();
    let mut values = Vec::with_capacity(columns.len());
    for (place, &column) in (first..).zip(columns) {
        let (Some(target), Some(ty)) = (def.written_column(dynamic, column), types.get(place)) else {
            return Err(ExecError::Bug("a row to be written has fewer columns than the statement names"));
        };
        let named = |source| ExecError::Value { column: Some(format!("{}.{}", def.name, target.name)), source };
        let value = value_at(batch.column(place), row, *ty).map_err(named)?;
        values.push(number::assign_from(value, *ty, target.ty).map_err(named)?);
    }
    Ok(values)
}

/// The values of a row of a batch with all columns of a table, `_row_key` and `_row_time` last.
pub(crate) fn row_of_values(table: &Table, batch: &RecordBatch, row: usize) -> Result<Vec<Value>, ExecError> {
    let value = |(column, array): (usize, &ArrayRef)| {
        value_at(array, row, table.column_type(column)).map_err(|source| ExecError::Value { column: None, source })
    };
    batch.columns().iter().enumerate().map(value).collect()
}
