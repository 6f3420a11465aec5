//! Comparison operators.

use datafusion::logical_expr::Operator;
use saltwing_types::CompareOp;

/// DataFusion's operator of a comparison.
pub(crate) fn compare_operator(op: CompareOp) -> Operator {
    match op {
        CompareOp::Eq => Operator::Eq,
        CompareOp::NotEq => Operator::NotEq,
        CompareOp::Lt => Operator::Lt,
        CompareOp::LtEq => Operator::LtEq,
        CompareOp::Gt => Operator::Gt,
        CompareOp::GtEq => Operator::GtEq,
        CompareOp::Distinct => Operator::IsDistinctFrom,
        CompareOp::NotDistinct => Operator::IsNotDistinctFrom,
    }
}

/// The comparison that DataFusion's operator is.
pub(crate) fn compare_op(op: Operator) -> Option<CompareOp> {
    use CompareOp::{Distinct, Eq, Gt, GtEq, Lt, LtEq, NotDistinct, NotEq};
    [Eq, NotEq, Lt, LtEq, Gt, GtEq, Distinct, NotDistinct].into_iter().find(|own| compare_operator(*own) == op)
}
