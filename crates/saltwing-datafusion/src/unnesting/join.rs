//! Joins by columns that are the same, NULL included.

use std::sync::Arc;

use datafusion::common::{Column, JoinType, NullEquality, Result};
use datafusion::logical_expr::{Expr as PlanExpr, Join, JoinConstraint, LogicalPlan, lit};

use crate::lowering::null_safe;

/// Two plans joined where each pair of columns is the same, NULL included.
pub(super) fn join(
    left: LogicalPlan,
    right: LogicalPlan,
    kind: JoinType,
    pairs: Vec<(Column, Column)>,
    filter: Option<PlanExpr>,
) -> Result<LogicalPlan> {
    let mut on = Vec::with_capacity(pairs.len());
    for (l, r) in pairs {
        on.extend(null_safe((PlanExpr::Column(l), left.schema()), (PlanExpr::Column(r), right.schema()))?);
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
