//! Conditions of WHERE on the left side of a LATERAL join, moved to that side.
//!
//! The left side stands twice in the plan: once for its rows, and once for the keys that the lateral side is computed for. A condition
//! above the join would bound the rows alone, and the keys would come from all of the table.

use std::sync::Arc;

use datafusion::common::tree_node::Transformed;
use datafusion::common::{JoinType, Result};
use datafusion::logical_expr::{Expr as PlanExpr, Filter, Join, LogicalPlan, Operator};

use super::left::has_subquery;
use super::references::is_lateral;
use crate::expression::translation::{balanced, chain};

/// A plan whose lateral joins have these conditions below them.
pub(crate) fn with_bounded_sides(plan: LogicalPlan) -> Result<LogicalPlan> {
    let bounded = plan.transform_down_with_subqueries(|node| match node {
        LogicalPlan::Filter(filter) => bounded(filter),
        other => Ok(Transformed::no(other)),
    })?;
    Ok(bounded.data)
}

fn bounded(filter: Filter) -> Result<Transformed<LogicalPlan>> {
    let LogicalPlan::Join(join) = filter.input.as_ref() else {
        return Ok(Transformed::no(LogicalPlan::Filter(filter)));
    };
    let conditions = chain(&filter.predicate, Operator::And).into_iter().cloned();
    let (below, above): (Vec<_>, Vec<_>) = conditions.partition(|condition| is_of_left(condition, join));
    let Some(below) = balanced(below, Operator::And) else { return Ok(Transformed::no(LogicalPlan::Filter(filter))) };
    let left = Arc::new(LogicalPlan::Filter(Filter::try_new(below, join.left.clone())?));
    let join = LogicalPlan::Join(Join { left, ..join.clone() });
    Ok(Transformed::yes(match balanced(above, Operator::And) {
        Some(above) => LogicalPlan::Filter(Filter::try_new(above, Arc::new(join))?),
        None => join,
    }))
}

/// Whether a condition is over the left side of a lateral join alone, and is the same for each of its rows wherever it is computed.
fn is_of_left(condition: &PlanExpr, join: &Join) -> bool {
    let columns = condition.column_refs();
    is_lateral(&join.right)
        && matches!(join.join_type, JoinType::Inner | JoinType::Left)
        && !columns.is_empty()
        && columns.into_iter().all(|column| join.left.schema().has_column(column))
        && !condition.is_volatile()
        && !has_subquery(condition)
}
