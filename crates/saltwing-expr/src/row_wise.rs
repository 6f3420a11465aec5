//! Expressions computed row by row: the truth, and the way that always works.

use arrow::array::ArrayRef;
use arrow::buffer::BooleanBuffer;
use saltwing_types::{Expr, SqlType, Value, ValueError, eval, interrupt};

use crate::batch::{Batch, Columnwise, RowByRow, Source, sources};
use crate::step::{Compute, Vector, append_exact};
use crate::{ColumnBuilder, value_at};

/// Returns rows of values, each at its column's index; all other positions are NULL.
struct RowReader<'a> {
    sources: Vec<(usize, &'a ArrayRef, SqlType)>,
    row: Vec<Value>,
}

impl<'a> RowReader<'a> {
    fn new(sources: &[Source], batch: &'a Batch) -> Self {
        let column = |source: &Source| Some((source.index, batch.column(source.index)?, source.ty));
        let width = sources.last().map_or(0, |source| source.index + 1);
        Self { sources: sources.iter().filter_map(column).collect(), row: vec![Value::Null; width] }
    }

    fn read(&mut self, row: usize) -> Result<&[Value], ValueError> {
        for (index, array, ty) in &self.sources {
            if let Some(place) = self.row.get_mut(*index) {
                *place = value_at(array, row, *ty)?;
            }
        }
        Ok(&self.row)
    }
}

/// Bytes of a constant from which on values that are made of it are large.
const LARGE_BYTES_MIN: usize = 64 << 10;

/// Whether a function in it makes values many times as large as its arguments, or of a large constant: then no column of them is
/// made, unless they are the result.
pub(crate) fn makes_large_values(expr: &Expr) -> bool {
    let is_large = |arg: &Expr| matches!(arg, Expr::Literal(value, _) if value.heap_bytes() >= LARGE_BYTES_MIN);
    let mut large = false;
    expr.walk(&mut |part| {
        if let Expr::Call(function, args, _) = part {
            large |= function.size.is_some_and(|size| size.multiplies || args.iter().any(is_large));
        }
    });
    large
}

/// Units of work that one row counts for. If a function makes large values, interrupts are checked at each row.
fn units_of_row(expr: &Expr) -> usize {
    let mut parts = 0;
    expr.walk(&mut |_| parts += 1);
    if makes_large_values(expr) { interrupt::UNITS_BETWEEN_CHECKS as usize } else { parts }
}

/// Bytes of a result that are made before they are counted.
pub const METERED_BYTES: usize = 1 << 20;

/// `expr` for each row of a batch of `sources`; `meter` gets the bytes of text and binary so far.
///
/// # Errors
/// As [`eval::eval`], for the first row that fails; and where a result has no place in its column. Those of `meter`.
pub(crate) fn evaluate_rows<E: From<ValueError>>(
    expr: &Expr,
    sources: &[Source],
    batch: &Batch,
    meter: &mut dyn FnMut(usize) -> Result<(), E>,
) -> Result<ArrayRef, E> {
    let mut reader = RowReader::new(sources, batch);
    let mut builder = ColumnBuilder::new(expr.sql_type().unwrap_or(SqlType::Null), batch.rows);
    let (mut made, mut metered) = (0, 0);
    let units = units_of_row(expr);
    for row in 0..batch.rows {
        interrupt::spend(units).map_err(ValueError::Interrupted)?;
        let value = eval::eval(expr, reader.read(row)?)?;
        made += value.heap_bytes();
        if made - metered >= METERED_BYTES {
            meter(made)?;
            metered = made;
        }
        builder.append_value(&value)?;
    }
    Ok(builder.finish())
}

/// The rows for which `condition` holds.
///
/// # Errors
/// As [`eval::holds`], for the first row that fails.
pub(crate) fn rows_that_hold(condition: &Expr, sources: &[Source], batch: &Batch) -> Result<BooleanBuffer, ValueError> {
    let mut reader = RowReader::new(sources, batch);
    let units = units_of_row(condition);
    let holds = (0..batch.rows).map(|row| {
        interrupt::spend(units).map_err(ValueError::Interrupted)?;
        eval::holds(condition, reader.read(row)?)
    });
    Ok(holds.collect::<Result<Vec<bool>, _>>()?.into())
}

/// A node that has no other way.
#[derive(Debug)]
pub(crate) struct RowWise {
    expr: Expr,
    sources: Vec<Source>,
}

impl RowWise {
    pub(crate) fn new(expr: Expr) -> Self {
        Self { sources: sources(&expr), expr }
    }
}

impl Compute for RowWise {
    fn compute(&self, batch: &Batch) -> Columnwise<Vector> {
        let mut reader = RowReader::new(&self.sources, batch);
        let mut builder = ColumnBuilder::new(self.expr.sql_type().unwrap_or(SqlType::Null), batch.rows);
        let units = units_of_row(&self.expr);
        for row in 0..batch.rows {
            interrupt::spend(units).map_err(|_| RowByRow)?;
            let row = reader.read(row).map_err(|_| RowByRow)?;
            append_exact(&mut builder, &eval::eval(&self.expr, row).map_err(|_| RowByRow)?)?;
        }
        Ok(Vector::Array(builder.finish()))
    }
}
