//! Joins by columns that are the same, NULL included.

use std::sync::Arc;

use datafusion::common::{Column, DFSchema, ExprSchema, JoinType, NullEquality, Result};
use datafusion::logical_expr::{Expr as PlanExpr, Join, JoinConstraint, LogicalPlan, lit};

use crate::expression::comparison::null_safe;

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
        on.extend(same_columns((&l, left.schema()), (&r, right.schema()))?);
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

/// Equalities that hold where two columns, each of its schema, are the same, NULL included.
pub(super) fn same_columns(
    (left, left_schema): (&Column, &DFSchema),
    (right, right_schema): (&Column, &DFSchema),
) -> Result<Vec<(PlanExpr, PlanExpr)>> {
    let ty = left_schema.data_type(left)?;
    let (left_nullable, right_nullable) = (left_schema.nullable(left)?, right_schema.nullable(right)?);
    let column = |column: &Column| PlanExpr::Column(column.clone());
    null_safe((column(left), left_nullable), (column(right), right_nullable), ty)
}
