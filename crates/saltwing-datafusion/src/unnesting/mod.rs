//! The rewriting of subqueries as joins.
//!
//! The rule visits the nodes of a plan from below, each after it has been lowered. A subquery in a node's expressions
//! becomes a join of the node's input:
//!
//! ```text
//! keys   = the distinct values of the outer columns in the subquery
//! values = the subquery for each of the keys (keys.rs)
//! node   = over its input JOIN values ON the keys are equal, NULL included
//! ```
//!
//! * `EXISTS` as a condition of WHERE: a semi or anti join.
//! * `x op ANY (..)`, `x op ALL (..)` and `IN` as such a condition: `EXISTS` over the members that decide it
//!   (`quantified.rs`). Elsewhere the members are counted: those for which the comparison decides, and those for which
//!   it is unknown.
//! * A scalar subquery: a left join.
//! * `LATERAL`: an inner or left join.
//!
//! DataFusion keeps the subqueries that it joins correctly without reading the outer query twice (`left.rs`).
//!
//! The outer query occurs twice in the plan: once for its rows, once for its keys (`bounded.rs`).

mod bounded;
mod derived;
mod join;
mod keys;
mod left;
mod node;
mod one_value;
mod quantified;
mod references;
mod refusal;

use std::sync::Arc;

use datafusion::common::alias::AliasGenerator;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, JoinType, Result};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{Expr as PlanExpr, Filter, Join, LogicalPlan, Operator, Projection, Sort};

use self::keys::Keyed;
use self::left::{Position, Site, has_subquery, is_left, plan_of};
use self::node::Node;
use self::references::{is_lateral, of_plan};
use self::refusal::not_supported;
use crate::RelationalError;
use crate::expression::translation::{balanced, chain};

pub(crate) use self::bounded::with_bounded_sides;
pub(crate) use self::left::without_idle_marks;
pub(crate) use self::one_value::prepared;

/// A node without subqueries but those that are left to DataFusion.
///
/// # Errors
/// Unsupported subqueries.
pub(crate) fn unnested(node: LogicalPlan, names: &AliasGenerator) -> Result<LogicalPlan> {
    match node {
        LogicalPlan::Filter(filter) => filtered(filter, names),
        LogicalPlan::Join(join) => joined(join, names),
        LogicalPlan::Projection(_) => of_expressions(node, Site::Projection, names),
        LogicalPlan::Sort(sort) => sorted(sort, names),
        LogicalPlan::Aggregate(_) | LogicalPlan::Window(_) => of_expressions(node, Site::Other, names),
        other => {
            let mut left = true;
            other.apply_expressions(|expr| {
                left &=
                    !has_subquery(expr) || is_left(expr, &merge_schema(&other.inputs()), Site::Other, Position::Value);
                Ok(TreeNodeRecursion::Continue)
            })?;
            if left { Ok(other) } else { Err(not_supported()) }
        }
    }
}

/// Refuses a plan that names columns which no query around it has.
///
/// # Errors
/// The first of these columns.
pub(crate) fn check_closed(plan: &LogicalPlan) -> Result<()> {
    let Some(column) = of_plan(plan).into_iter().next() else { return Ok(()) };
    let error = RelationalError::not_supported(format!("a subquery that names {} there", column.flat_name()));
    let help = "behind GROUP BY a subquery may name grouped columns; LATERAL names tables to its left";
    Err(error.help(help).into())
}

/// Whether an optimized plan still has subqueries, or columns of a query around one, that DataFusion made no joins of. It runs
/// uncorrelated subqueries of one value as they are.
pub(crate) fn keeps_subquery(plan: &LogicalPlan) -> Result<bool> {
    let is_kept = |part: &PlanExpr| match part {
        PlanExpr::ScalarSubquery(subquery) => !subquery.outer_ref_columns.is_empty(),
        PlanExpr::OuterReferenceColumn(..) => true,
        other => plan_of(other).is_some(),
    };
    plan.exists(|node| {
        let exprs = node.expressions();
        let kept = exprs.iter().map(|expr| expr.exists(|part| Ok(is_kept(part)))).collect::<Result<Vec<_>>>()?;
        Ok(matches!(node, LogicalPlan::Subquery(_)) || kept.contains(&true))
    })
}

fn filtered(filter: Filter, names: &AliasGenerator) -> Result<LogicalPlan> {
    if !has_subquery(&filter.predicate) {
        return Ok(LogicalPlan::Filter(filter));
    }
    let schema = filter.input.schema().clone();
    let mut conditions = Vec::new();
    for condition in chain(&filter.predicate, Operator::And) {
        conditions.push(quantified::as_exists(condition.clone(), &schema, Position::Top, names)?);
    }
    let left = |condition: &PlanExpr| is_left(condition, &schema, Site::Filter, Position::Top);
    if conditions.iter().all(left) {
        let predicate = balanced(conditions, Operator::And).unwrap_or(filter.predicate);
        return Ok(LogicalPlan::Filter(Filter::try_new(predicate, filter.input)?));
    }
    // Conditions without subqueries bound the keys too.
    let (others, plain): (Vec<_>, Vec<_>) = conditions.into_iter().partition(has_subquery);
    let input = match balanced(plain, Operator::And) {
        Some(plain) => LogicalPlan::Filter(Filter::try_new(plain, filter.input)?),
        None => filter.input.as_ref().clone(),
    };
    let mut node = Node::new(input, Site::Filter, names);
    let mut kept = Vec::new();
    for condition in others {
        match condition {
            left if is_left(&left, &schema, Site::Filter, Position::Top) => kept.push(left),
            PlanExpr::Exists(exists) => node.semi_join(&exists)?,
            other => kept.push(node.without_subqueries(other, Position::Top)?),
        }
    }
    let wide = match balanced(kept, Operator::And) {
        Some(kept) => LogicalPlan::Filter(Filter::try_new(kept, Arc::new(node.wide))?),
        None => node.wide,
    };
    with_columns(node.input.schema().columns(), wide)
}

/// A plan with these of its columns alone.
fn with_columns(columns: Vec<Column>, wide: LogicalPlan) -> Result<LogicalPlan> {
    if wide.schema().fields().len() == columns.len() {
        return Ok(wide);
    }
    let columns = columns.into_iter().map(PlanExpr::Column).collect();
    Ok(LogicalPlan::Projection(Projection::try_new(columns, Arc::new(wide))?))
}

/// A node that computes its expressions over one input.
fn of_expressions(node: LogicalPlan, site: Site, names: &AliasGenerator) -> Result<LogicalPlan> {
    let Some(input) = node.inputs().first().map(|input| (*input).clone()).filter(|_| left::has_subqueries(&node))
    else {
        return Ok(node);
    };
    let columns = node.schema().columns();
    let kept = NamePreserver::new(&node);
    let mut unnesting = Node::new(input, site, names);
    let replaced = node.map_expressions(|expr| {
        let name = kept.save(&expr);
        let replaced = unnesting.without_subqueries(expr, Position::Value)?;
        Ok(Transformed::yes(name.restore(replaced)))
    })?;
    let exprs = replaced.data.expressions();
    with_columns(columns, replaced.data.with_new_exprs(exprs, vec![unnesting.wide])?)
}

/// An order by subqueries; these name columns that stand below the items, too.
fn sorted(sort: Sort, names: &AliasGenerator) -> Result<LogicalPlan> {
    let mut missing: Vec<Column> = Vec::new();
    for item in &sort.expr {
        item.expr.apply(|part| {
            let names = left::names_of_subquery(part).unwrap_or_default();
            missing.extend(names.into_iter().filter(|name| !sort.input.schema().has_column(name)));
            Ok(TreeNodeRecursion::Continue)
        })?;
    }
    let LogicalPlan::Projection(projection) = sort.input.as_ref() else {
        return of_expressions(LogicalPlan::Sort(sort), Site::Other, names);
    };
    missing.retain(|column| projection.input.schema().has_column(column));
    if missing.is_empty() {
        return of_expressions(LogicalPlan::Sort(sort), Site::Other, names);
    }
    let items = projection.expr.iter().cloned().chain(missing.into_iter().map(PlanExpr::Column));
    let mut distinct: Vec<PlanExpr> = Vec::new();
    items.for_each(|item| {
        if !distinct.contains(&item) {
            distinct.push(item);
        }
    });
    let wide = LogicalPlan::Projection(Projection::try_new(distinct, projection.input.clone())?);
    let wide_sort = LogicalPlan::Sort(Sort { input: Arc::new(wide), ..sort.clone() });
    with_columns(sort.input.schema().columns(), of_expressions(wide_sort, Site::Other, names)?)
}

/// A join without subqueries in its condition, and with a lateral side made an ordinary one.
fn joined(mut join: Join, names: &AliasGenerator) -> Result<LogicalPlan> {
    let filter = join.filter.take_if(|filter| has_subquery(filter));
    let Some(filter) = filter else { return lateral(join, names) };
    if join.join_type == JoinType::Inner {
        let conditions = chain(&filter, Operator::And).into_iter().cloned();
        let (others, plain): (Vec<_>, Vec<_>) = conditions.partition(has_subquery);
        join.filter = balanced(plain, Operator::And);
        let joined = Arc::new(lateral(join, names)?);
        let others = balanced(others, Operator::And).unwrap_or(filter);
        return filtered(Filter::try_new(others, joined)?, names);
    }
    if is_lateral(&join.right) {
        return Err(not_supported());
    }
    let mut left = Node::new(join.left.as_ref().clone(), Site::Other, names);
    let mut right = Node::new(join.right.as_ref().clone(), Site::Other, names);
    let mut conditions = Vec::new();
    for condition in chain(&filter, Operator::And) {
        conditions.push(match has_subquery(condition) {
            true => on_one_side(condition.clone(), &mut left, &mut right)?,
            false => condition.clone(),
        });
    }
    join.filter = balanced(conditions, Operator::And);
    let columns = join.schema.columns();
    (join.left, join.right) = (Arc::new(left.wide), Arc::new(right.wide));
    with_columns(columns, LogicalPlan::Join(join).recompute_schema()?)
}

/// A condition of an outer join, each of its subqueries joined to the side whose columns it names.
fn on_one_side<'a>(condition: PlanExpr, left: &mut Node<'a>, right: &mut Node<'a>) -> Result<PlanExpr> {
    let replaced = condition.transform_down(|part| {
        let Some(names) = left::names_of_subquery(&part) else { return Ok(Transformed::no(part)) };
        let columns_of = |node: &Node<'_>| {
            let has = |column: &&Column| node.input.schema().has_column(column);
            (names.iter().all(|column| has(&column)), names.iter().any(|column| has(&column)))
        };
        let node: &mut Node<'a> = match (columns_of(left), columns_of(right)) {
            // References further out do not matter here.
            ((true, _), _) | (_, (_, false)) => left,
            (_, (true, _)) | ((_, false), _) => right,
            _ => return Err(not_supported()),
        };
        let value = node.without_subqueries(part, Position::Value)?;
        Ok(Transformed::new(value, true, TreeNodeRecursion::Jump))
    })?;
    Ok(replaced.data)
}

/// A join whose right side names columns of its left one, as one whose sides stand by themselves.
fn lateral(join: Join, names: &AliasGenerator) -> Result<LogicalPlan> {
    if !is_lateral(&join.right) {
        return Ok(LogicalPlan::Join(join));
    }
    if !matches!(join.join_type, JoinType::Inner | JoinType::Left) {
        return Err(not_supported());
    }
    if left::is_left_lateral(&join) {
        return Ok(LogicalPlan::Join(join));
    }
    let columns = join.schema.columns();
    let node = Node::new(join.left.as_ref().clone(), Site::Other, names);
    let (outer, Keyed { plan, keys }) = node.keyed(&join.right)?;
    let pairs = outer.into_iter().zip(keys).collect();
    let filter = join.on.into_iter().map(|(l, r)| l.eq(r)).chain(join.filter).collect();
    let joined = join::join(node.wide, plan, join.join_type, pairs, balanced(filter, Operator::And))?;
    with_columns(columns, joined)
}
