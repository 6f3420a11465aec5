//! Converts Arrow columns of other programs to columns of SQL types.

use arrow::array::ArrayRef;
use saltwing_expr::{ColumnBuilder, arrow_type, value_at};
use saltwing_types::{SqlType, ValueError};

/// A column converted to the Arrow type of its SQL type.
///
/// # Errors
/// The position of a value that does not fit the type, and the reason.
pub(crate) fn converted(column: &ArrayRef, ty: SqlType) -> Result<ArrayRef, (usize, ValueError)> {
    if *column.data_type() == arrow_type(ty) {
        return Ok(column.clone());
    }
    let mut values = ColumnBuilder::new(ty, column.len());
    for row in 0..column.len() {
        let appended = value_at(column, row, ty).and_then(|value| values.append_value(&value));
        appended.map_err(|error| (row, error))?;
    }
    Ok(values.finish())
}
