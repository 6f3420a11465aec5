//! Scalar subqueries, and the preparation of subqueries before the node around them is lowered.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, Result};
use datafusion::logical_expr::expr::{Exists, InSubquery, SetComparison};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{
    Aggregate, AggregateUDF, Expr as PlanExpr, FetchType, LogicalPlan, Projection, SkipType, Subquery,
};

use super::left::has_subqueries;
use super::references::{outer_references, put_in_place};
use crate::bound_plan::expression::is_one_row;
use crate::function::aggregate::SingleValue;

/// A node whose subqueries say which outer columns they name. One that stands for a value gives one row at most.
pub(crate) fn prepared(node: LogicalPlan) -> Result<LogicalPlan> {
    if !has_subqueries(&node) {
        return Ok(node);
    }
    let names = NamePreserver::new(&node);
    let prepared = node.map_expressions(|expr| {
        let name = names.save(&expr);
        Ok(expr.transform(prepare)?.update_data(|expr| name.restore(expr)))
    })?;
    Ok(prepared.data)
}

fn prepare(expr: PlanExpr) -> Result<Transformed<PlanExpr>> {
    Ok(Transformed::yes(match expr {
        PlanExpr::Exists(Exists { subquery, negated }) => {
            PlanExpr::Exists(Exists { subquery: with_plan(&subquery, subquery.subquery.clone()), negated })
        }
        PlanExpr::InSubquery(InSubquery { expr, subquery, negated }) => in_members(expr, &subquery, negated)?,
        PlanExpr::SetComparison(SetComparison { expr, subquery, op, quantifier }) => {
            let subquery = with_plan(&subquery, subquery.subquery.clone());
            PlanExpr::SetComparison(SetComparison { expr, subquery, op, quantifier })
        }
        PlanExpr::ScalarSubquery(subquery) => {
            let plan = one_value(subquery.subquery.clone())?;
            PlanExpr::ScalarSubquery(with_plan(&subquery, plan))
        }
        other => return Ok(Transformed::no(other)),
    }))
}

fn with_plan(subquery: &Subquery, plan: Arc<LogicalPlan>) -> Subquery {
    Subquery { outer_ref_columns: outer_references(&plan), subquery: plan, spans: subquery.spans.clone() }
}

fn in_members(expr: Box<PlanExpr>, subquery: &Subquery, negated: bool) -> Result<PlanExpr> {
    let mut plan = subquery.subquery.clone();
    // DataFusion's join looks for the column among the expressions of the uppermost operator.
    if matches!(plan.as_ref(), LogicalPlan::Values(_) | LogicalPlan::Union(_)) {
        let columns = plan.schema().columns().into_iter().map(PlanExpr::Column).collect();
        plan = Arc::new(LogicalPlan::Projection(Projection::try_new(columns, plan)?));
    }
    Ok(PlanExpr::InSubquery(InSubquery::new(expr, with_plan(subquery, plan), negated)))
}

/// A plan of one column that gives one row at most, and fails for more.
fn one_value(plan: Arc<LogicalPlan>) -> Result<Arc<LogicalPlan>> {
    match plan.as_ref() {
        LogicalPlan::Sort(sort) if sort.fetch.is_none() => return one_value(sort.input.clone()),
        LogicalPlan::Limit(limit) if is_one_row(&limit.input) => {
            if let (SkipType::Literal(0), FetchType::Literal(Some(1..))) =
                (limit.get_skip_type()?, limit.get_fetch_type()?)
            {
                return one_value(limit.input.clone());
            }
        }
        _ => {}
    }
    if is_one_row(&plan) || is_row_without_table(&plan) {
        return Ok(plan);
    }
    let Some((qualifier, field)) = plan.schema().iter().next().map(|(q, f)| (q.cloned(), f.clone())) else {
        return Ok(plan);
    };
    let (value, input) = match plan.as_ref() {
        LogicalPlan::Projection(projection) => match projection.expr.as_slice() {
            [value] => (value.clone().unalias(), projection.input.clone()),
            _ => return Ok(plan),
        },
        _ => (PlanExpr::Column(Column::from((qualifier.as_ref(), &field))), plan.clone()),
    };
    let single = AggregateUDF::new_from_impl(SingleValue::default()).call(vec![value]);
    let aggregate = LogicalPlan::Aggregate(Aggregate::try_new(input, Vec::new(), vec![single])?);
    let value = aggregate.schema().columns().into_iter().map(PlanExpr::Column);
    // The name of a column would collide with the column in a condition.
    let items = value.map(|value| value.alias("__saltwing_value")).collect();
    Ok(Arc::new(LogicalPlan::Projection(Projection::try_new(items, Arc::new(aggregate))?)))
}

fn is_row_without_table(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Projection(projection) => is_row_without_table(&projection.input),
        LogicalPlan::EmptyRelation(_) => true,
        _ => false,
    }
}

/// A value over the results of an aggregate, where they have been joined to the outer query.
pub(super) fn value_of(
    value: &PlanExpr,
    aggregate: &Aggregate,
    outer: &[Column],
    results: Vec<PlanExpr>,
) -> Result<PlanExpr> {
    let of_results: HashMap<Column, PlanExpr> = aggregate.schema.columns().into_iter().zip(results).collect();
    let replaced = value.clone().unalias().transform(|part| match &part {
        PlanExpr::Column(column) => Ok(match of_results.get(column) {
            Some(result) => Transformed::yes(result.clone()),
            None => Transformed::no(part),
        }),
        _ => Ok(Transformed::no(part)),
    })?;
    let outer: HashMap<Column, PlanExpr> = outer.iter().map(|c| (c.clone(), PlanExpr::Column(c.clone()))).collect();
    put_in_place(replaced.data, &outer)
}
