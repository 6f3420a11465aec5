//! The order of inner joins for lookups.
//!
//! DataFusion joins in the order of the text. A table can be looked up only by keys of tables that are joined before
//! it. If a table without bounds comes before the table that provides its keys, this module puts the joins in another
//! order: tables with bounds first, then the tables that can be looked up. A join on the right of another one is taken apart for
//! that, too. Among several candidates the one with the
//! fewest estimated rows is next; the order of the text decides between equals.
//!
//! # Invariants
//! 1. Conditions and keys alone decide which orders are possible, never data. Estimates choose among the possible
//!    orders. So the guard's verdict on a statement does not change with the data.
//! 2. The joins keep the order of the text if no input has bounds, and if all inputs have bounds and fewer than about a
//!    thousand rows each ([`SMALL_ROWS`]).

use std::collections::HashSet;
use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchemaRef, JoinType, NullEquality, Result};
use datafusion::datasource::source_as_provider;
use datafusion::logical_expr::{Expr as PlanExpr, Join, JoinConstraint, LogicalPlan, Operator, Projection};

use crate::expression::translation::{balanced, chain};
use crate::scan::scan_statistics::{FILTERED_SHARE, SMALL_ROWS};
use crate::scan::table_source::TableSource;

/// The plan with its inner joins in an order that lookups serve.
pub(crate) fn for_lookups(plan: LogicalPlan) -> Result<LogicalPlan> {
    let ordered = plan.transform_down(|node| {
        let LogicalPlan::Join(join) = &node else { return Ok(Transformed::no(node)) };
        let mut inputs = Inputs::default();
        if !inputs.take(join) {
            return Ok(Transformed::no(node));
        }
        let Some(order) = inputs.order()? else { return Ok(Transformed::no(node)) };
        Ok(match inputs.joined(&order, &join.schema)? {
            Some(plan) => Transformed::yes(plan),
            None => Transformed::no(node),
        })
    })?;
    Ok(ordered.data)
}

/// The inputs of a tree of inner joins.
#[derive(Default)]
struct Inputs {
    plans: Vec<Arc<LogicalPlan>>,
    equal: Vec<(PlanExpr, PlanExpr)>,
    filters: Vec<PlanExpr>,
    /// Whether a join stands on the right of another one: its tables are joined before they can be looked up for the rows on the left.
    is_bushy: bool,
}

impl Inputs {
    /// Takes a join apart; `false` if it is none that may be put in another order.
    fn take(&mut self, join: &Join) -> bool {
        if join.join_type != JoinType::Inner || join.null_equality != NullEquality::NullEqualsNothing {
            return false;
        }
        for (side, is_right) in [(&join.left, false), (&join.right, true)] {
            let taken = matches!(without_pruning(side), LogicalPlan::Join(inner) if self.take(inner));
            self.is_bushy |= taken && is_right;
            if !taken {
                self.plans.push(side.clone());
            }
        }
        self.equal.extend(join.on.iter().cloned());
        self.filters.extend(join.filter.iter().flat_map(|filter| chain(filter, Operator::And)).cloned());
        true
    }

    /// Another order that bounds more inputs, or joins fewer rows, if there is one.
    fn order(&self) -> Result<Option<Vec<usize>>> {
        let refused: Vec<bool> = self.plans.iter().map(|plan| reads_all(plan, &[])).collect::<Result<_>>()?;
        let has_refused = refused.contains(&true);
        let rows: Vec<Option<u64>> = self.plans.iter().map(|plan| rows_of(plan)).collect::<Result<_>>()?;
        // Which of two is read first is DataFusion's choice, and where a number is missing nothing is better.
        if !has_refused && (self.plans.len() < 3 || rows.contains(&None)) {
            return Ok(None);
        }
        // A looked-up table has as many rows as the others request.
        let sizes = rows.into_iter().zip(&refused).map(|(rows, refused)| match (rows, refused) {
            (_, true) => SMALL_ROWS,
            (rows, false) => rows.unwrap_or(u64::MAX).max(SMALL_ROWS),
        });
        let known = Known { refused: &refused, sizes: sizes.collect() };
        let bounded = |input: &usize| !refused.get(*input).copied().unwrap_or(true);
        let first = (0..self.plans.len()).find(bounded);
        let smallest = (0..self.plans.len()).filter(bounded).min_by_key(|input| known.size(*input));
        for start in [smallest, first].into_iter().flatten() {
            if let Some(order) = self.order_from(start, &known)? {
                return Ok((!order.is_sorted() || self.is_bushy && has_refused).then_some(order));
            }
        }
        Ok(None)
    }

    /// The order that begins with an input; `None` where it does not reach all of them.
    fn order_from(&self, first: usize, known: &Known<'_>) -> Result<Option<Vec<usize>>> {
        let mut order = vec![first];
        while order.len() < self.plans.len() {
            let Some(next) = self.next(&order, known)? else { return Ok(None) };
            order.push(next);
        }
        Ok(Some(order))
    }

    /// The smallest input with an equality to those joined so far, and bounded by its own conditions or by that.
    fn next(&self, joined: &[usize], known: &Known<'_>) -> Result<Option<usize>> {
        let mut best: Option<usize> = None;
        for (next, plan) in self.plans.iter().enumerate() {
            if joined.contains(&next) || best.is_some_and(|best| known.size(best) <= known.size(next)) {
                continue;
            }
            let keys: Vec<&PlanExpr> = self.pairs(joined, next).map(|(_, key)| key).collect();
            let is_refused = known.refused.get(next).copied().unwrap_or(true);
            if !keys.is_empty() && (!is_refused || !reads_all(plan, &keys)?) {
                best = Some(next);
            }
        }
        Ok(best)
    }

    /// The equalities between the joined inputs and another one, in this order.
    fn pairs<'a>(
        &'a self,
        joined: &'a [usize],
        next: usize,
    ) -> impl Iterator<Item = (&'a PlanExpr, &'a PlanExpr)> + 'a {
        let is_over = move |expr: &PlanExpr, inputs: &[usize]| {
            let has = |plan: &Arc<LogicalPlan>, column: &Column| plan.schema().has_column(column);
            let is_there = |column: &&Column| {
                inputs.iter().filter_map(|&input| self.plans.get(input)).any(|plan| has(plan, column))
            };
            let columns = expr.column_refs();
            !columns.is_empty() && columns.iter().all(is_there)
        };
        self.equal.iter().filter_map(move |(a, b)| {
            if is_over(a, joined) && is_over(b, &[next]) {
                Some((a, b))
            } else if is_over(b, joined) && is_over(a, &[next]) {
                Some((b, a))
            } else {
                None
            }
        })
    }

    /// The joins in this order, with the columns of `schema`; `None` where a condition finds no place.
    fn joined(&self, order: &[usize], schema: &DFSchemaRef) -> Result<Option<LogicalPlan>> {
        let mut filters = self.filters.clone();
        let mut placed = 0;
        let Some(first) = order.first().and_then(|&first| self.plans.get(first)) else { return Ok(None) };
        let mut plan = first.as_ref().clone();
        for (count, &next) in order.iter().enumerate().skip(1) {
            let Some(right) = self.plans.get(next) else { return Ok(None) };
            let joined = order.get(..count).unwrap_or_default();
            let on: Vec<_> = self.pairs(joined, next).map(|(a, b)| (a.clone(), b.clone())).collect();
            placed += on.len();
            let is_there = |column: &&Column| plan.schema().has_column(column) || right.schema().has_column(column);
            let (ready, later): (Vec<_>, Vec<_>) =
                filters.into_iter().partition(|filter| filter.column_refs().iter().all(is_there));
            filters = later;
            plan = LogicalPlan::Join(Join::try_new(
                Arc::new(plan),
                right.clone(),
                on,
                balanced(ready, Operator::And),
                JoinType::Inner,
                JoinConstraint::On,
                NullEquality::NullEqualsNothing,
                false,
            )?);
        }
        if !filters.is_empty() || placed != self.equal.len() {
            return Ok(None);
        }
        let columns = schema.columns().into_iter().map(PlanExpr::Column).collect();
        Ok(Some(LogicalPlan::Projection(Projection::try_new(columns, Arc::new(plan))?)))
    }
}

/// The estimates of the inputs.
struct Known<'a> {
    /// Which of them would be read whole by themselves.
    refused: &'a [bool],
    /// About how many rows each has.
    sizes: Vec<u64>,
}

impl Known<'_> {
    fn size(&self, input: usize) -> u64 {
        self.sizes.get(input).copied().unwrap_or(u64::MAX)
    }
}

/// The estimated rows of a plan; `None` if it has more than one table.
fn rows_of(plan: &LogicalPlan) -> Result<Option<u64>> {
    match plan {
        LogicalPlan::TableScan(scan) => {
            let Ok(provider) = source_as_provider(&scan.source) else { return Ok(None) };
            let Some(table) = provider.downcast_ref::<TableSource>() else { return Ok(None) };
            let rows = table.rows(&scan.filters)?;
            Ok(rows.map(|rows| rows.min(scan.fetch.map_or(u64::MAX, |fetch| fetch as u64))))
        }
        LogicalPlan::SubqueryAlias(alias) => rows_of(&alias.input),
        LogicalPlan::Projection(projection) => rows_of(&projection.input),
        LogicalPlan::Filter(filter) => Ok(rows_of(&filter.input)?.map(|rows| rows.div_ceil(FILTERED_SHARE))),
        _ => Ok(None),
    }
}

/// A plan without projections that do nothing but leave columns out.
fn without_pruning(plan: &LogicalPlan) -> &LogicalPlan {
    match plan {
        LogicalPlan::Projection(projection)
            if projection.expr.iter().all(|expr| matches!(expr, PlanExpr::Column(_))) =>
        {
            without_pruning(&projection.input)
        }
        other => other,
    }
}

/// Whether a plan reads all of some table, even when these of its columns have known values.
fn reads_all(plan: &LogicalPlan, known: &[&PlanExpr]) -> Result<bool> {
    let names: HashSet<&str> = known
        .iter()
        .filter_map(|expr| match expr {
            PlanExpr::Column(column) => Some(column.name.as_str()),
            _ => None,
        })
        .collect();
    let is_path = is_path(plan, &names);
    let mut refused = false;
    plan.apply(|node| {
        if let LogicalPlan::TableScan(scan) = node
            && let Ok(provider) = source_as_provider(&scan.source)
            && let Some(table) = provider.downcast_ref::<TableSource>()
        {
            let known = if is_path { names.iter().copied().collect() } else { Vec::new() };
            refused |= table.reads_all(&scan.filters, &known)?;
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(refused)
}

/// Whether a plan is a table's rows, or groups of them by these columns among others, with its own column names.
fn is_path(plan: &LogicalPlan, names: &HashSet<&str>) -> bool {
    match plan {
        LogicalPlan::TableScan(_) => true,
        LogicalPlan::SubqueryAlias(alias) => is_path(&alias.input, names),
        LogicalPlan::Filter(filter) => is_path(&filter.input, names),
        LogicalPlan::Projection(projection) => {
            projection.expr.iter().all(|expr| matches!(expr, PlanExpr::Column(_))) && is_path(&projection.input, names)
        }
        LogicalPlan::Aggregate(aggregate) => {
            let is_grouped = |name: &&str| {
                let mut group = aggregate.group_expr.iter();
                group.any(|expr| matches!(expr, PlanExpr::Column(column) if column.name == **name))
            };
            !names.is_empty() && names.iter().all(is_grouped) && is_path(&aggregate.input, names)
        }
        _ => false,
    }
}
