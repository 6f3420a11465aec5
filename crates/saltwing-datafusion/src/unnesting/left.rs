//! Subqueries that DataFusion joins as they are.
//!
//! DataFusion joins `EXISTS` and `IN` in WHERE, and subqueries of one aggregate, by the conditions of their WHERE,
//! without reading the outer query again. That is right if these conditions are above a plan that has no columns of the
//! outer query.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, ExprSchema, Result};
use datafusion::logical_expr::{Aggregate, Expr as PlanExpr, ExprSchemable, Join, LogicalPlan, Operator, Subquery};

use super::references::{is_marker, of_expressions, of_plan};
use crate::expression::row_value::row_of;
use crate::expression::translation::chain;

/// Which node an expression stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Site {
    Filter,
    Projection,
    Other,
}

/// The use of an expression's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Position {
    /// A condition that rows have to meet.
    Top,
    /// Part of one, below AND and OR: false and unknown are one.
    Truth,
    /// Anything else.
    Value,
}

impl Position {
    /// Of the parts of an expression.
    pub(super) fn below(self, expr: &PlanExpr) -> Self {
        match expr {
            PlanExpr::BinaryExpr(binary) if binary.op == Operator::And => self,
            PlanExpr::BinaryExpr(binary) if binary.op == Operator::Or && self != Self::Value => Self::Truth,
            _ => Self::Value,
        }
    }
}

pub(super) fn has_subquery(expr: &PlanExpr) -> bool {
    expr.exists(|part| Ok(plan_of(part).is_some())).unwrap_or(true)
}

/// Whether some expression of a node has a subquery.
pub(super) fn has_subqueries(node: &LogicalPlan) -> bool {
    let mut found = false;
    let _ = node.apply_expressions(|expr| {
        found |= has_subquery(expr);
        Ok(TreeNodeRecursion::Continue)
    });
    found
}

/// The subquery that an expression is.
pub(super) fn plan_of(expr: &PlanExpr) -> Option<&Subquery> {
    match expr {
        PlanExpr::Exists(exists) => Some(&exists.subquery),
        PlanExpr::InSubquery(test) => Some(&test.subquery),
        PlanExpr::SetComparison(test) => Some(&test.subquery),
        PlanExpr::ScalarSubquery(subquery) => Some(subquery),
        _ => None,
    }
}

/// The outer columns that a subquery references, including those of the compared value.
pub(super) fn names_of_subquery(expr: &PlanExpr) -> Option<Vec<Column>> {
    let mut names = of_plan(&plan_of(expr)?.subquery);
    let value = match expr {
        PlanExpr::InSubquery(test) => Some(&test.expr),
        PlanExpr::SetComparison(test) => Some(&test.expr),
        _ => None,
    };
    names.extend(value.into_iter().flat_map(|value| value.column_refs()).cloned());
    Some(names)
}

/// Whether all subqueries of an expression are left to DataFusion.
pub(super) fn is_left(expr: &PlanExpr, schema: &DFSchema, site: Site, position: Position) -> bool {
    match expr {
        PlanExpr::Exists(exists) => {
            let plan = &exists.subquery.subquery;
            site == Site::Filter && !gives_limited_rows(plan) && is_simple(plan, schema) && !names_collide(plan)
        }
        PlanExpr::InSubquery(test) => {
            // Below OR its join finds no column that is computed.
            let is_join =
                position == Position::Top && (!test.negated || is_null_aware(&test.expr, schema, &test.subquery));
            let is_value = row_of(&test.expr).is_none() && !has_subquery(&test.expr);
            let plan = &test.subquery.subquery;
            site == Site::Filter && is_join && is_value && is_simple(plan, schema) && !names_collide(plan)
        }
        PlanExpr::SetComparison(_) => false,
        PlanExpr::ScalarSubquery(subquery) => {
            let names = of_plan(&subquery.subquery);
            let is_site = matches!(site, Site::Filter | Site::Projection);
            names.is_empty()
                || is_site
                    && names.iter().all(|c| schema.has_column(c))
                    && is_simple_aggregate(&subquery.subquery)
                    && !names_collide(&subquery.subquery)
        }
        expr => {
            let below = position.below(expr);
            let mut left = true;
            let _ = expr.apply_children(|part| {
                left &= is_left(part, schema, site, below);
                Ok(TreeNodeRecursion::Continue)
            });
            left
        }
    }
}

/// Whether DataFusion's anti join that knows of NULL serves `NOT IN`: it wants a column on the left, and takes no other
/// condition.
///
/// Whether the value can be NULL it asks the value's columns: `NULLIF(k, 0)` can be where k cannot.
fn is_null_aware(value: &PlanExpr, schema: &DFSchema, subquery: &Subquery) -> bool {
    let columns = value.column_refs();
    let is_told = columns.iter().any(|column| ExprSchema::nullable(schema, column).unwrap_or(true))
        || !value.nullable(schema).unwrap_or(true);
    is_told && !columns.is_empty() && of_expressions([value]).is_empty() && of_plan(&subquery.subquery).is_empty()
}

/// Whether a lateral side is rows that conditions of its own choose.
pub(super) fn is_left_lateral(join: &Join) -> bool {
    fn rows(plan: &LogicalPlan) -> bool {
        match plan {
            LogicalPlan::Subquery(subquery) => rows(&subquery.subquery),
            LogicalPlan::SubqueryAlias(alias) => rows(&alias.input) && !is_marker(alias),
            LogicalPlan::Projection(projection) => {
                of_expressions(&projection.expr).is_empty() && rows(&projection.input)
            }
            LogicalPlan::Filter(filter) => rows(&filter.input),
            LogicalPlan::TableScan(_) => true,
            LogicalPlan::Join(join) => of_plan(plan).is_empty() && join.filter.is_none(),
            _ => false,
        }
    }
    let names = of_plan(&join.right);
    let all_left = !names.is_empty() && names.iter().all(|c| join.left.schema().has_column(c));
    all_left && rows(&join.right) && !names_collide(&join.right)
}

/// An optimized plan without the marks of lateral sides that name no outer column any more.
///
/// DataFusion takes the mark away where it makes a join out of the names. A condition that is never true is taken out
/// before, and its names with it.
pub(crate) fn without_idle_marks(plan: LogicalPlan) -> Result<LogicalPlan> {
    let unmarked = plan.transform_up(|node| match node {
        LogicalPlan::Subquery(subquery) if of_plan(&subquery.subquery).is_empty() => {
            Ok(Transformed::yes(Arc::unwrap_or_clone(subquery.subquery)))
        }
        other => Ok(Transformed::no(other)),
    })?;
    Ok(unmarked.data)
}

/// Whether different columns would have one name where DataFusion puts the columns of conditions beside the items, to
/// bring both under one alias.
fn names_collide(plan: &LogicalPlan) -> bool {
    let mut collide = false;
    columns_beside(plan, true, &mut collide);
    collide
}

/// The columns that conditions need above a plan.
fn columns_beside(plan: &LogicalPlan, is_top: bool, collide: &mut bool) -> Vec<Column> {
    if of_plan(plan).is_empty() {
        return Vec::new();
    }
    let mut beside = Vec::new();
    let keeps_top = is_top && matches!(plan, LogicalPlan::SubqueryAlias(_) | LogicalPlan::Subquery(_));
    for input in plan.inputs() {
        beside.extend(columns_beside(input, keeps_top, collide));
    }
    if let LogicalPlan::Filter(filter) = plan {
        let correlated = chain(&filter.predicate, Operator::And).into_iter().filter(|c| c.contains_outer());
        beside.extend(correlated.flat_map(|condition| condition.column_refs()).cloned());
    }
    if matches!(plan, LogicalPlan::Projection(_)) || is_top && !keeps_top {
        let mut columns = plan.schema().columns();
        columns.extend(beside.iter().cloned());
        columns.sort();
        columns.dedup();
        let mut names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        names.sort_unstable();
        *collide |= names.windows(2).any(|pair| matches!(pair, [a, b] if a == b));
    }
    beside
}

/// Whether a plan gives its rows by number, or one in any case.
fn gives_limited_rows(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Limit(_) => true,
        LogicalPlan::Aggregate(aggregate) => aggregate.group_expr.is_empty(),
        LogicalPlan::Projection(_)
        | LogicalPlan::SubqueryAlias(_)
        | LogicalPlan::Filter(_)
        | LogicalPlan::Sort(_)
        | LogicalPlan::Distinct(_) => plan.inputs().into_iter().any(gives_limited_rows),
        _ => false,
    }
}

/// Whether the outer query is named in conditions alone, which stand above a plan that does not name it.
fn is_simple(plan: &LogicalPlan, schema: &DFSchema) -> bool {
    let names = of_plan(plan);
    match plan {
        _ if names.is_empty() => true,
        _ if !names.iter().all(|column| schema.has_column(column)) => false,
        LogicalPlan::Projection(projection) => {
            of_expressions(&projection.expr).is_empty() && is_simple(&projection.input, schema)
        }
        LogicalPlan::Filter(filter) => {
            let conditions = chain(&filter.predicate, Operator::And);
            let apart = conditions.into_iter().all(|c| !has_subquery(c) || of_expressions([c]).is_empty());
            apart && is_plain(&filter.input) && is_simple(&filter.input, schema)
        }
        _ => false,
    }
}

/// Whether a condition above a plan may become one of a join.
fn is_plain(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::TableScan(_) | LogicalPlan::Join(_) | LogicalPlan::Values(_) | LogicalPlan::EmptyRelation(_) => {
            true
        }
        LogicalPlan::SubqueryAlias(_) | LogicalPlan::Projection(_) | LogicalPlan::Filter(_) => {
            plan.inputs().into_iter().all(is_plain)
        }
        _ => false,
    }
}

/// Whether a plan is the value of an aggregate, just below which equalities alone correlate.
fn is_simple_aggregate(plan: &LogicalPlan) -> bool {
    let LogicalPlan::Projection(projection) = plan else { return false };
    let ([value], LogicalPlan::Aggregate(aggregate)) = (projection.expr.as_slice(), projection.input.as_ref()) else {
        return false;
    };
    let Aggregate { input, group_expr, aggr_expr, .. } = aggregate;
    if !group_expr.is_empty() || value.contains_outer() || aggr_expr.iter().any(PlanExpr::contains_outer) {
        return false;
    }
    match input.as_ref() {
        LogicalPlan::Filter(filter) if of_plan(&filter.input).is_empty() => {
            chain(&filter.predicate, Operator::And).into_iter().all(|c| !c.contains_outer() || is_equality(c))
        }
        _ => false,
    }
}

/// Whether a condition says that a column inside, or a cast of it, is equal to something outside.
fn is_equality(condition: &PlanExpr) -> bool {
    let PlanExpr::BinaryExpr(binary) = condition else { return false };
    let local = |expr: &PlanExpr| !expr.column_refs().is_empty();
    let column = |expr: &PlanExpr| match expr {
        PlanExpr::Cast(cast) => matches!(*cast.expr, PlanExpr::Column(_)),
        expr => matches!(expr, PlanExpr::Column(_)),
    };
    let pair = |a: &PlanExpr, b: &PlanExpr| a.contains_outer() && !local(a) && column(b);
    binary.op == Operator::Eq && (pair(&binary.left, &binary.right) || pair(&binary.right, &binary.left))
}
