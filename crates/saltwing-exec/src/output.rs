//! Expressions over batches: columns as they are, the rest computed.

use std::sync::Arc;

use arrow::array::ArrayRef;
use saltwing_access::{Memory, Reservation};
use saltwing_expr::{Columns, Evaluator};
use saltwing_types::{Expr, ValueError};

use crate::ExecError;

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

    /// Its values in each of `rows` rows. Large ones count as memory while they are made; as a batch on its way they do not.
    pub(crate) fn compute(&self, columns: &Columns, rows: usize, memory: &Arc<Memory>) -> Result<ArrayRef, ExecError> {
        match self {
            Self::Computed(evaluator) => {
                // Few expressions make large values.
                let mut reservation = None;
                evaluator.evaluate_metered(columns, rows, &mut |bytes| {
                    let reservation = reservation.get_or_insert_with(|| Reservation::new(memory.clone()));
                    Ok(reservation.resize(bytes)?)
                })
            }
            Self::Column(index) => match columns.get(*index) {
                Some(Some(column)) => Ok(column.clone()),
                _ => Err(ValueError::BadArgument(format!("column {index} is not in the row")).into()),
            },
        }
    }
}
