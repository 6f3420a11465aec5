//! Expressions and filters over columns.

use arrow::array::{ArrayRef, BooleanArray};
use saltwing_types::sql_type::TypeFamily;
use saltwing_types::{Expr, ValueError, typing};

use crate::batch::{Batch, Columns, Columnwise, RowByRow, Source, sources};
use crate::compile::compile;
pub use crate::row_wise::METERED_BYTES;
use crate::row_wise::{evaluate_rows, makes_large_values, rows_that_hold};
use crate::step::Step;

/// An expression made ready for many batches.
#[derive(Debug)]
pub struct Evaluator {
    expr: Expr,
    sources: Vec<Source>,
    step: Step,
    /// Whether the result may be many times as large as the columns.
    is_large: bool,
}

impl Evaluator {
    /// Prepares an expression.
    pub fn new(expr: Expr) -> Self {
        let step = compile(&expr);
        let has_any_width = matches!(step.ty.family(), TypeFamily::Text | TypeFamily::Bytes | TypeFamily::Array);
        let is_large = has_any_width && step.as_constant().is_none() && makes_large_values(&expr);
        Self { sources: sources(&expr), step, is_large, expr }
    }

    /// The expression.
    pub fn expr(&self) -> &Expr {
        &self.expr
    }

    /// The expression's value in each of `rows` rows: an array of [`crate::arrow_type()`] of its type.
    ///
    /// # Errors
    /// As [`saltwing_types::eval::eval`] for any of the rows; [`ValueError::BadArgument`] for a column
    /// that is missing or has not `rows` rows; out of range where a result has no place in its Arrow type.
    pub fn evaluate(&self, columns: &Columns, rows: usize) -> Result<ArrayRef, ValueError> {
        self.evaluate_metered(columns, rows, &mut |_| Ok(()))
    }

    /// [`Evaluator::evaluate`] for a caller that counts memory and may be stopped.
    ///
    /// If a function makes values many times as large as its arguments, `meter` gets the bytes of the result so far,
    /// each time that they have grown by [`METERED_BYTES`], and may end the work with an error. Values inside such an
    /// expression are computed for one row at a time.
    ///
    /// # Errors
    /// As [`Evaluator::evaluate`]; those of `meter`.
    pub fn evaluate_metered<E: From<ValueError>>(
        &self,
        columns: &Columns,
        rows: usize,
        meter: &mut dyn FnMut(usize) -> Result<(), E>,
    ) -> Result<ArrayRef, E> {
        let batch = Batch::load(&self.sources, columns, rows)?;
        if !self.is_large
            && let Ok(array) = self.columnwise(&batch)
        {
            return Ok(array);
        }
        evaluate_rows(&self.expr, &self.sources, &batch, meter)
    }

    fn columnwise(&self, batch: &Batch) -> Columnwise<ArrayRef> {
        self.step.compute(batch)?.into_array(self.step.ty, batch.rows)
    }
}

/// Conditions joined by AND, compiled for many batches.
#[derive(Debug)]
pub struct Filter {
    evaluator: Option<Evaluator>,
}

impl Filter {
    /// Prepares conditions; none of them hold always.
    ///
    /// # Errors
    /// A type mismatch where one is no condition.
    pub fn new(conditions: Vec<Expr>) -> Result<Self, ValueError> {
        let all = (!conditions.is_empty()).then(|| typing::and(conditions)).transpose()?;
        Ok(Self { evaluator: all.map(Evaluator::new) })
    }

    /// Which rows meet all conditions; unknown counts as not. The mask has no nulls.
    ///
    /// # Errors
    /// As [`Evaluator::evaluate`]; a condition counts only for rows that no earlier one made false.
    pub fn mask(&self, columns: &Columns, rows: usize) -> Result<BooleanArray, ValueError> {
        let Some(Evaluator { expr, sources, step, .. }) = &self.evaluator else {
            return Ok(BooleanArray::from(vec![true; rows]));
        };
        let batch = Batch::load(sources, columns, rows)?;
        let mask = match step.truth(&batch) {
            Ok(truth) => truth.known_as(true, rows),
            Err(RowByRow) => rows_that_hold(expr, sources, &batch)?,
        };
        Ok(BooleanArray::new(mask, None))
    }
}

#[cfg(test)]
mod tests;
