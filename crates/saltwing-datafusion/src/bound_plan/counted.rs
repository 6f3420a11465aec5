//! INTERSECT ALL and EXCEPT ALL: how often equal rows are repeated.

use std::sync::Arc;

use datafusion::common::{Column, Result};
use datafusion::functions_window::expr_fn::row_number;
use datafusion::logical_expr::{Expr as PlanExpr, ExprFunctionExt, Join, LogicalPlan, LogicalPlanBuilder};

use crate::function::row_bytes::row_bytes;

/// The number of a row among those that are equal to it, on either side; no statement can write these names.
const LEFT_NUMBER: &str = "\u{1}left_number";
const RIGHT_NUMBER: &str = "\u{1}right_number";
/// A row's values as one.
const ROW: &str = "\u{1}row";

/// INTERSECT ALL and EXCEPT ALL with counts: the n-th of equal rows on the left meets the n-th on the right.
///
/// DataFusion plans them as semi and anti joins, in which one row on the right meets all that are equal to it.
pub(super) fn with_counts(mut join: Join) -> Result<LogicalPlan> {
    let columns: Vec<PlanExpr> = join.left.schema().iter().map(PlanExpr::from).collect();
    join.left = Arc::new(numbered(&join.left, LEFT_NUMBER)?);
    join.right = Arc::new(numbered(&join.right, RIGHT_NUMBER)?);
    let number = |name: &str| PlanExpr::Column(Column::new_unqualified(name));
    join.on.push((number(LEFT_NUMBER), number(RIGHT_NUMBER)));
    let plan = LogicalPlan::Join(join).recompute_schema()?;
    LogicalPlanBuilder::from(plan).project(columns)?.build()
}

/// A plan with the number of each row among those that are equal to it.
fn numbered(plan: &Arc<LogicalPlan>, name: &str) -> Result<LogicalPlan> {
    let columns: Vec<PlanExpr> = plan.schema().iter().map(PlanExpr::from).collect();
    let row = row_bytes(columns.clone()).alias(ROW);
    let with_row = LogicalPlanBuilder::from(plan.clone()).project(columns.iter().cloned().chain([row]))?;
    let row = PlanExpr::Column(Column::new_unqualified(ROW));
    // Any order will do, but a window wants one.
    let number = row_number().partition_by(vec![row.clone()]).order_by(vec![row.sort(true, true)]).build()?;
    let numbered = with_row.window([number])?;
    let number = numbered.schema().columns().pop().map(|column| PlanExpr::Column(column).alias(name));
    numbered.project(columns.into_iter().chain(number))?.build()
}
