//! Columns of which conditions leave one value.

use saltwing_types::{CompareOp, Expr};

/// The column that a condition fixes to one value.
pub(crate) fn fixed_column(condition: &Expr) -> Option<usize> {
    let is_value = |e: &Expr| matches!(e, Expr::Literal(..) | Expr::Param(..));
    match condition {
        Expr::Compare(CompareOp::Eq | CompareOp::NotDistinct, a, b) => match (&**a, &**b) {
            (Expr::Column(column), value) | (value, Expr::Column(column)) if is_value(value) => Some(column.index),
            _ => None,
        },
        Expr::IsNull(inner) => {
            if let Expr::Column(column) = &**inner {
                Some(column.index)
            } else {
                None
            }
        }
        _ => None,
    }
}
