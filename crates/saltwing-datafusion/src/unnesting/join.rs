//! Joins by columns that are the same, NULL included.

use std::sync::Arc;

use datafusion::common::{Column, ExprSchema, JoinType, NullEquality, Result, ScalarValue};
use datafusion::functions::expr_fn::coalesce;
use datafusion::logical_expr::{Expr as PlanExpr, Join, JoinConstraint, LogicalPlan, lit};

/// Two plans joined where each pair of columns is the same, NULL included.
pub(super) fn join(
    left: LogicalPlan,
    right: LogicalPlan,
    kind: JoinType,
    pairs: Vec<(Column, Column)>,
    filter: Option<PlanExpr>,
) -> Result<LogicalPlan> {
    let mut on = Vec::with_capacity(pairs.len());
    for (l, r) in &pairs {
        on.extend(null_safe(&left, l, &right, r)?);
    }
    let filter = filter.or_else(|| on.is_empty().then(|| lit(true)));
    Ok(LogicalPlan::Join(Join::try_new(
        Arc::new(left),
        Arc::new(right),
        on,
        filter,
        kind,
        JoinConstraint::On,
        NullEquality::NullEqualsNothing,
        false,
    )?))
}

/// Equalities that hold where two columns are the same, NULL included.
///
/// They are no `IS NOT DISTINCT FROM`: DataFusion makes a join of these in which every other
/// equality that it finds later takes NULL for equal to NULL, too.
pub(super) fn null_safe(
    left: &LogicalPlan,
    l: &Column,
    right: &LogicalPlan,
    r: &Column,
) -> Result<Vec<(PlanExpr, PlanExpr)>> {
    let (left, right) = (left.schema().field_from_column(l)?, right.schema().field_from_column(r)?);
    let (l, r) = (PlanExpr::Column(l.clone()), PlanExpr::Column(r.clone()));
    if !left.is_nullable() && !right.is_nullable() {
        return Ok(vec![(l, r)]);
    }
    // All values of a column without a type are NULL.
    if left.data_type().is_null() {
        return Ok(vec![(l.is_null(), r.is_null())]);
    }
    let any = PlanExpr::Literal(ScalarValue::new_default(left.data_type())?, None);
    let or_any = |column: PlanExpr| coalesce(vec![column, any.clone()]);
    Ok(vec![(l.clone().is_null(), r.clone().is_null()), (or_any(l), or_any(r))])
}
