//! The rows of several reads, one after the other.

use arrow::array::ArrayRef;
use arrow::datatypes::SchemaRef;
use saltwing_expr::{RowValues, value_at};

use crate::{Projection, RowSource, TableError, Total, Totals};

/// The rows of several reads of the same columns.
pub(crate) struct UnionScan {
    /// By index in the table.
    columns: Box<[usize]>,
    schema: SchemaRef,
    /// The next one last.
    parts: Vec<Box<dyn RowSource>>,
    /// Rows that may still be put out.
    left: Option<u64>,
}

impl UnionScan {
    pub(crate) fn new(
        columns: Box<[usize]>,
        schema: SchemaRef,
        mut parts: Vec<Box<dyn RowSource>>,
        limit: Option<u64>,
    ) -> Self {
        parts.reverse();
        Self { columns, schema, parts, left: limit }
    }

    /// What `read` makes of the next part that has rows; `None` at the end.
    fn next<T>(
        &mut self,
        mut read: impl FnMut(&mut dyn RowSource) -> Result<Option<T>, TableError>,
    ) -> Result<Option<T>, TableError> {
        while let Some(part) = self.parts.last_mut() {
            if let Some(found) = read(&mut **part)? {
                return Ok(Some(found));
            }
            self.parts.pop();
        }
        Ok(None)
    }
}

impl RowSource for UnionScan {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn next_columns(&mut self) -> Result<Option<(Vec<ArrayRef>, usize)>, TableError> {
        if self.left == Some(0) {
            return Ok(None);
        }
        let Some((columns, rows)) = self.next(|part| part.next_columns())? else { return Ok(None) };
        let Some(left) = &mut self.left else { return Ok(Some((columns, rows))) };
        let taken = rows.min(usize::try_from(*left).unwrap_or(usize::MAX));
        *left -= taken as u64;
        Ok(Some((columns.into_iter().map(|column| column.slice(0, taken)).collect(), taken)))
    }

    fn next_values(&mut self, columns: &Projection, values: &mut RowValues) -> Result<bool, TableError> {
        if self.left.is_none() {
            return Ok(self.next(|part| Ok(part.next_values(columns, values)?.then_some(())))?.is_some());
        }
        let Some((arrays, rows)) = self.next_columns()? else { return Ok(false) };
        add_values(&arrays, rows, &self.columns, columns, values)?;
        Ok(true)
    }

    fn totals(&mut self) -> Result<Totals, TableError> {
        let mut all = Totals { rows: 0, columns: vec![Total::default(); self.schema.fields().len()] };
        while let Some(mut part) = self.parts.pop() {
            all.add(part.totals()?);
        }
        Ok(all)
    }
}

/// Adds rows to `values`, which has the columns of `wanted`; `arrays` are those of `put_out`.
pub(crate) fn add_values(
    arrays: &[ArrayRef],
    rows: usize,
    put_out: &[usize],
    wanted: &Projection,
    values: &mut RowValues,
) -> Result<(), TableError> {
    let first = values.add(rows);
    for (place, column) in wanted.columns().iter().enumerate() {
        let array = put_out.iter().position(|put_out| put_out == column);
        let Some(array) = array.and_then(|array| arrays.get(array)) else { continue };
        let ty = wanted.table().column_type(*column);
        let mut cells = values.column_mut(first, place);
        for row in 0..rows {
            cells.put(value_at(array, row, ty)?);
        }
    }
    Ok(())
}
