//! The outer columns in plans and expressions.
//!
//! Invariant: after a node has been unnested, the subqueries that are left in it have no outer columns but the node's
//! own. So the outer columns of a plan are in its own expressions, and this module does not search the subqueries
//! below. If the invariant breaks, an outer column is missed, and the plan fails in DataFusion's physical planner.

use std::collections::HashMap;

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, Result};
use datafusion::logical_expr::{Expr as PlanExpr, ExprSchemable, LogicalPlan, SubqueryAlias};

use crate::expression::internal_name::LATERAL_MARKER;

/// The outer columns that a plan names, each once.
pub(super) fn of_plan(plan: &LogicalPlan) -> Vec<Column> {
    outer_references(plan).into_iter().filter_map(column_of).collect()
}

/// The same as expressions.
pub(super) fn outer_references(plan: &LogicalPlan) -> Vec<PlanExpr> {
    let mut found = Vec::new();
    collect(plan, &mut found);
    found
}

/// The outer columns that expressions themselves name.
pub(super) fn of_expressions<'a>(exprs: impl IntoIterator<Item = &'a PlanExpr>) -> Vec<Column> {
    let mut found = Vec::new();
    exprs.into_iter().for_each(|expr| collect_expr(expr, &mut found));
    found.into_iter().filter_map(column_of).collect()
}

fn column_of(expr: PlanExpr) -> Option<Column> {
    match expr {
        PlanExpr::OuterReferenceColumn(_, column) => Some(column),
        _ => None,
    }
}

fn collect(plan: &LogicalPlan, found: &mut Vec<PlanExpr>) {
    let _ = plan.apply_expressions(|expr| {
        collect_expr(expr, found);
        Ok(TreeNodeRecursion::Continue)
    });
    match plan {
        LogicalPlan::Join(join) if is_lateral(&join.right) => {
            collect(&join.left, found);
            let mut inside = Vec::new();
            collect(&join.right, &mut inside);
            for expr in inside {
                let is_left = matches!(&expr, PlanExpr::OuterReferenceColumn(_, c) if join.left.schema().has_column(c));
                if !is_left && !found.contains(&expr) {
                    found.push(expr);
                }
            }
        }
        LogicalPlan::Subquery(subquery) => collect(&subquery.subquery, found),
        other => other.inputs().into_iter().for_each(|input| collect(input, found)),
    }
}

fn collect_expr(expr: &PlanExpr, found: &mut Vec<PlanExpr>) {
    let _ = expr.apply(|part| {
        if matches!(part, PlanExpr::OuterReferenceColumn(..)) && !found.contains(part) {
            found.push(part.clone());
        }
        Ok(TreeNodeRecursion::Continue)
    });
}

/// Whether a join's right side names columns of its left side: `LATERAL`.
pub(super) fn is_lateral(right: &LogicalPlan) -> bool {
    match right {
        LogicalPlan::Subquery(_) => true,
        LogicalPlan::SubqueryAlias(alias) => is_marker(alias) || is_lateral(&alias.input),
        LogicalPlan::Projection(projection) => is_lateral(&projection.input),
        _ => false,
    }
}

/// Whether an alias is there to mark a lateral side; DataFusion marks none that names its left side in further
/// subqueries alone.
pub(super) fn is_marker(alias: &SubqueryAlias) -> bool {
    alias.alias.table() == LATERAL_MARKER
}

/// An expression with others in the place of outer columns.
pub(super) fn put_in_place(expr: PlanExpr, columns: &HashMap<Column, PlanExpr>) -> Result<PlanExpr> {
    let replaced = expr.transform(|part| match &part {
        PlanExpr::OuterReferenceColumn(_, column) => Ok(match columns.get(column) {
            Some(other) => Transformed::yes(other.clone()),
            None => Transformed::no(part),
        }),
        _ => Ok(Transformed::no(part)),
    })?;
    Ok(replaced.data)
}

/// An expression over a query's columns as one in a subquery of it.
pub(super) fn as_outer(expr: PlanExpr, schema: &DFSchema) -> Result<PlanExpr> {
    let outer = expr.transform(|part| match part {
        PlanExpr::Column(column) => {
            let field = PlanExpr::Column(column.clone()).to_field(schema)?.1;
            Ok(Transformed::yes(PlanExpr::OuterReferenceColumn(field, column)))
        }
        part => Ok(Transformed::no(part)),
    })?;
    Ok(outer.data)
}
