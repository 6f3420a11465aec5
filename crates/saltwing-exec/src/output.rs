//! Expressions over batches: columns as they are, the rest computed.

use arrow::array::ArrayRef;
use saltwing_expr::{Columns, Evaluator};
use saltwing_types::{Expr, ValueError};

/// An expression made ready for many batches.
pub(crate) enum Output {
    /// A column, by index.
    Column(usize),
    /// Anything else.
    Computed(Box<Evaluator>),
}

impl Output {
    pub(crate) fn new(expr: Expr) -> Self {
        match expr {
            Expr::Column(column) => Self::Column(column.index),
            other => Self::Computed(Box::new(Evaluator::new(other))),
        }
    }

    /// Its values in each of `rows` rows.
    pub(crate) fn compute(&self, columns: &Columns, rows: usize) -> Result<ArrayRef, ValueError> {
        match self {
            Self::Computed(evaluator) => evaluator.evaluate(columns, rows),
            Self::Column(index) => match columns.get(*index) {
                Some(Some(column)) => Ok(column.clone()),
                _ => Err(ValueError::BadArgument(format!("column {index} is not in the row"))),
            },
        }
    }
}
