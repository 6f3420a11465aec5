//! Outer joins that a condition above turns into inner joins.
//!
//! `a LEFT JOIN b .. WHERE b.k = 5` is an inner join: for a row of `a` without a match, the condition is unknown, and
//! the row is dropped. DataFusion finds such conditions, too, but it cannot look into our functions. Conditions reach
//! the table `b` only through an inner join.

use std::sync::Arc;

use datafusion::common::{Column, JoinType, Result};
use datafusion::logical_expr::{Expr as PlanExpr, LogicalPlan, Operator};
use saltwing_types::function::NullRule;
use sqlparser::ast;

use crate::expression::operation::Operation;
use crate::expression::operation_function::OperationFunction;
use crate::expression::translation::chain;

/// The plan below a filter, with such joins made inner ones. The condition is not lowered yet.
pub(crate) fn without_extra_rows(plan: &Arc<LogicalPlan>, condition: &PlanExpr) -> Result<Arc<LogicalPlan>> {
    let LogicalPlan::Join(join) = plan.as_ref() else { return Ok(plan.clone()) };
    let rejects = |side: &LogicalPlan| is_never_true(condition, &|column| side.schema().has_column(column));
    let (left, right) = (rejects(&join.left), rejects(&join.right));
    let join_type = match (join.join_type, left, right) {
        (JoinType::Left, _, true) | (JoinType::Right, true, _) | (JoinType::Full, true, true) => JoinType::Inner,
        (JoinType::Full, true, false) => JoinType::Left,
        (JoinType::Full, false, true) => JoinType::Right,
        (same, ..) => same,
    };
    let mut changed = join.clone();
    changed.join_type = join_type;
    // A side whose rows all come out is itself below the filter.
    if matches!(join_type, JoinType::Inner | JoinType::Left) {
        changed.left = without_extra_rows(&join.left, condition)?;
    }
    if matches!(join_type, JoinType::Inner | JoinType::Right) {
        changed.right = without_extra_rows(&join.right, condition)?;
    }
    Ok(Arc::new(LogicalPlan::Join(changed).recompute_schema()?))
}

/// Whether a condition cannot hold where the columns of one side are all NULL.
fn is_never_true(condition: &PlanExpr, is_null: &dyn Fn(&Column) -> bool) -> bool {
    match condition {
        PlanExpr::BinaryExpr(binary) if binary.op == Operator::And => {
            chain(condition, Operator::And).into_iter().any(|part| is_never_true(part, is_null))
        }
        PlanExpr::BinaryExpr(binary) if binary.op == Operator::Or => {
            chain(condition, Operator::Or).into_iter().all(|part| is_never_true(part, is_null))
        }
        PlanExpr::IsTrue(inner) => is_never_true(inner, is_null),
        PlanExpr::IsNotNull(inner) => is_unknown(inner, is_null),
        other => is_unknown(other, is_null),
    }
}

/// Whether an expression is NULL where these columns are.
fn is_unknown(expr: &PlanExpr, is_null: &dyn Fn(&Column) -> bool) -> bool {
    match expr {
        PlanExpr::Column(column) => is_null(column),
        PlanExpr::Alias(alias) => is_unknown(&alias.expr, is_null),
        PlanExpr::Not(inner) => is_unknown(inner, is_null),
        PlanExpr::ScalarFunction(call) => {
            let any = || call.args.iter().any(|arg| is_unknown(arg, is_null));
            let first = || call.args.first().is_some_and(|arg| is_unknown(arg, is_null));
            match OperationFunction::of(call).map(|(operation, _)| operation) {
                Some(Operation::Call(function)) if function.name == "NULLIF" => first(),
                Some(Operation::Call(function)) => function.nulls == NullRule::Strict && any(),
                Some(Operation::Cast(_)) => any(),
                Some(Operation::Syntax(syntax)) => match &**syntax {
                    ast::Expr::Between { .. } => first(),
                    ast::Expr::InList { expr, .. } => !matches!(**expr, ast::Expr::Tuple(_)) && first(),
                    ast::Expr::BinaryOp { left, .. } => !matches!(**left, ast::Expr::Tuple(_)) && any(),
                    ast::Expr::Like { .. } | ast::Expr::ILike { .. } | ast::Expr::UnaryOp { .. } => any(),
                    _ => false,
                },
                _ => false,
            }
        }
        _ => false,
    }
}
