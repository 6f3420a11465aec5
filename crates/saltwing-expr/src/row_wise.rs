//! Expressions computed row by row: the truth, and the way that always works.

use arrow::array::{Array, ArrayRef};
use saltwing_types::{Expr, SqlType, Value, ValueError, eval};

use crate::{ColumnBuilder, Columns, value_at};

/// Gives the rows of the columns that an expression names, one at a time.
pub(crate) struct RowReader<'a> {
    sources: Vec<(usize, &'a ArrayRef, SqlType)>,
    row: Vec<Value>,
}

impl<'a> RowReader<'a> {
    /// # Errors
    /// [`ValueError::BadArgument`] when a column is missing or shorter than `rows`.
    pub(crate) fn new(expr: &Expr, columns: &'a Columns, rows: usize) -> Result<Self, ValueError> {
        let mut named: Vec<(usize, SqlType, &str)> = Vec::new();
        expr.walk(&mut |e| {
            if let Expr::Column(column) = e {
                named.push((column.index, column.ty, &column.name));
            }
        });
        named.sort_unstable_by_key(|(index, _, _)| *index);
        named.dedup_by_key(|(index, _, _)| *index);
        let sources = named
            .into_iter()
            .map(|(index, ty, name)| Ok((index, column(columns, index, name, rows)?, ty)))
            .collect::<Result<Vec<_>, ValueError>>()?;
        let width = sources.last().map_or(0, |(index, _, _)| index + 1);
        Ok(Self { sources, row: vec![Value::Null; width] })
    }

    /// The row: its values stand at their columns' indexes, NULL in all other places.
    pub(crate) fn read(&mut self, row: usize) -> Result<&[Value], ValueError> {
        for (index, array, ty) in &self.sources {
            if let Some(place) = self.row.get_mut(*index) {
                *place = value_at(array, row, *ty)?;
            }
        }
        Ok(&self.row)
    }
}

/// The column at `index`, which has `rows` rows.
pub(crate) fn column<'a>(
    columns: &'a Columns,
    index: usize,
    name: &str,
    rows: usize,
) -> Result<&'a ArrayRef, ValueError> {
    match columns.get(index) {
        Some(Some(array)) if array.len() == rows => Ok(array),
        Some(Some(array)) => {
            Err(ValueError::BadArgument(format!("column {name} has {} rows where {rows} are evaluated", array.len())))
        }
        _ => Err(ValueError::BadArgument(format!("column {name} is not in the row"))),
    }
}

/// `expr` for each of `rows` rows.
///
/// # Errors
/// As [`eval::eval`], for the first row that fails; and where a result has no place in its column.
pub(crate) fn evaluate_rows(expr: &Expr, columns: &Columns, rows: usize) -> Result<ArrayRef, ValueError> {
    let mut reader = RowReader::new(expr, columns, rows)?;
    let mut builder = ColumnBuilder::new(expr.sql_type().unwrap_or(SqlType::Null), rows);
    for row in 0..rows {
        builder.append_value(&eval::eval(expr, reader.read(row)?)?)?;
    }
    Ok(builder.finish())
}
