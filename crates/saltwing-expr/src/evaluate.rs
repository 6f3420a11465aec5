//! Expressions and filters over columns.

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray};
use saltwing_types::{Expr, ValueError, typing};

use crate::row_wise::evaluate_rows;

/// Columns by [`saltwing_types::ColumnRef::index`]; `None` where no expression names one.
///
/// Each has [`crate::arrow_type`] of its column's SQL type, or a type that
/// [`crate::value_at`] reads as it (at the cost of a copy).
pub type Columns = [Option<ArrayRef>];

/// An expression made ready for many batches.
#[derive(Debug)]
pub struct Evaluator {
    expr: Expr,
}

impl Evaluator {
    /// Prepares an expression.
    pub fn new(expr: Expr) -> Self {
        Self { expr }
    }

    /// The expression.
    pub fn expr(&self) -> &Expr {
        &self.expr
    }

    /// The expression's value in each of `rows` rows: an array of [`crate::arrow_type`] of its type.
    ///
    /// # Errors
    /// As [`saltwing_types::eval::eval`] for any of the rows; [`ValueError::BadArgument`] for a column
    /// that is missing or has not `rows` rows; out of range where a result has no place in its Arrow type.
    pub fn evaluate(&self, columns: &Columns, rows: usize) -> Result<ArrayRef, ValueError> {
        evaluate_rows(&self.expr, columns, rows)
    }
}

/// Conditions, all of which must hold, made ready for many batches.
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
        let Some(evaluator) = &self.evaluator else {
            return Ok(BooleanArray::from(vec![true; rows]));
        };
        let truth = evaluator.evaluate(columns, rows)?;
        let truth =
            truth.as_boolean_opt().ok_or_else(|| ValueError::TypeMismatch("a filter is no condition".into()))?;
        Ok(match truth.nulls() {
            None => truth.clone(),
            Some(known) => BooleanArray::new(truth.values() & known.inner(), None),
        })
    }
}

/// [`Evaluator::evaluate`] for one batch.
///
/// # Errors
/// As there.
pub fn evaluate(expr: &Expr, columns: &Columns, rows: usize) -> Result<ArrayRef, ValueError> {
    Evaluator::new(expr.clone()).evaluate(columns, rows)
}

/// [`Filter::mask`] for one batch; keep a [`Filter`] for more.
///
/// # Errors
/// As [`Filter::new`] and [`Filter::mask`].
pub fn filter_mask(conditions: &[Expr], columns: &Columns, rows: usize) -> Result<BooleanArray, ValueError> {
    Filter::new(conditions.to_vec())?.mask(columns, rows)
}
