//! Equality in which NULL is the same as NULL, for joins.

use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::functions::expr_fn::coalesce;
use datafusion::logical_expr::{Expr as PlanExpr, ExprSchemable};

/// Equalities that hold where two values of one type, each over its schema, are the same, NULL included.
///
/// They are no `IS NOT DISTINCT FROM`: DataFusion makes a join of these in which every other equality that it finds later,
/// or in joins merged into it, takes NULL for equal to NULL, too.
pub(crate) fn null_safe(
    (left, left_schema): (PlanExpr, &DFSchema),
    (right, right_schema): (PlanExpr, &DFSchema),
) -> Result<Vec<(PlanExpr, PlanExpr)>> {
    if !left.nullable(left_schema)? && !right.nullable(right_schema)? {
        return Ok(vec![(left, right)]);
    }
    let ty = left.get_type(left_schema)?;
    let nulls = (left.clone().is_null(), right.clone().is_null());
    // All values of a column without a type are NULL.
    if ty.is_null() {
        return Ok(vec![nulls]);
    }
    let any = PlanExpr::Literal(ScalarValue::new_default(&ty)?, None);
    let or_any = |value: PlanExpr| coalesce(vec![value, any.clone()]);
    Ok(vec![nulls, (or_any(left), or_any(right))])
}
