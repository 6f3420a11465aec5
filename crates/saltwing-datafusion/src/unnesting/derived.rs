//! Derived tables whose names no statement has.

use datafusion::common::alias::AliasGenerator;
use datafusion::common::{Column, Result};
use datafusion::logical_expr::{Expr as PlanExpr, LogicalPlan, LogicalPlanBuilder};

/// The values of expressions over a plan as a derived table, and its columns; neither has a name of anything else.
pub(super) fn derived(
    plan: LogicalPlan,
    exprs: impl IntoIterator<Item = PlanExpr>,
    names: &AliasGenerator,
) -> Result<(LogicalPlan, Vec<Column>)> {
    let alias = names.next("__saltwing");
    let items = exprs.into_iter().enumerate().map(|(place, expr)| expr.alias(format!("{alias}_{place}")));
    let plan = LogicalPlanBuilder::from(plan).project(items.collect::<Vec<_>>())?.alias(alias)?.build()?;
    let columns = plan.schema().columns();
    Ok((plan, columns))
}
