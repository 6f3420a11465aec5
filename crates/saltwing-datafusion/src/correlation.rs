//! Correlated subqueries of one value that DataFusion cannot join.
//!
//! DataFusion joins `(SELECT count(*) FROM x WHERE x.a = t.a)` to the outer query by
//! its equalities. Where other conditions correlate (`x.a < t.a`), this rule makes
//! the join:
//!
//! ```text
//! keys   = the different values of the outer columns that are named
//! values = x for each of the keys, by the conditions, grouped by the keys
//! result = outer LEFT JOIN values ON the keys are the same, NULL included
//! ```
//! The outer query is planned twice: once for its rows, once for its keys. A LIMIT inside takes rows for each of the keys,
//! by their numbers in its order.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, JoinType, NullEquality, Result, TableReference};
use datafusion::functions_window::expr_fn::row_number;
use datafusion::logical_expr::expr::Case;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{
    Aggregate, Distinct, Expr as PlanExpr, ExprFunctionExt, ExprSchemable, FetchType, Filter, Limit, LogicalPlan,
    LogicalPlanBuilder, Operator, Projection, SkipType, SortExpr, Subquery, lit,
};
use datafusion::optimizer::AnalyzerRule;

use crate::translation::{balanced, chain};

/// The column that tells rows that found values from those that found none.
const FOUND: &str = "found";

/// The rule; it runs behind [`crate::lowering::Lowering`].
#[derive(Debug)]
pub(crate) struct Correlation;

impl AnalyzerRule for Correlation {
    fn name(&self) -> &str {
        "saltwing_correlation"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        let joins = Cell::new(0);
        Ok(plan.transform_up_with_subqueries(|node| joined(node, &joins))?.data)
    }
}

/// The node with its subqueries joined to its input.
fn joined(node: LogicalPlan, joins: &Cell<usize>) -> Result<Transformed<LogicalPlan>> {
    if !matches!(node, LogicalPlan::Projection(_) | LogicalPlan::Filter(_) | LogicalPlan::Aggregate(_)) {
        return Ok(Transformed::no(node));
    }
    let node = plain_conditions_first(node)?;
    let Some(input) = node.inputs().first().map(|input| (*input).clone()) else { return Ok(Transformed::no(node)) };
    let names = NamePreserver::new(&node);
    let mut wide = input.clone();
    let replaced = node.map_expressions(|expr| {
        let name = names.save(&expr);
        let replaced = expr.transform_down(|part| match &part {
            PlanExpr::ScalarSubquery(subquery) => match Correlated::of(subquery, &input)? {
                Some(correlated) => {
                    joins.set(joins.get() + 1);
                    Ok(match correlated.join(wide.clone(), joins.get())? {
                        Some((plan, value)) => {
                            wide = plan;
                            Transformed::yes(value)
                        }
                        None => Transformed::no(part),
                    })
                }
                None => Ok(Transformed::no(part)),
            },
            _ => Ok(Transformed::no(part)),
        })?;
        Ok(if replaced.transformed { replaced.update_data(|expr| name.restore(expr)) } else { replaced })
    })?;
    if !replaced.transformed {
        return Ok(replaced);
    }
    let wide = Arc::new(wide);
    Ok(Transformed::yes(match replaced.data {
        LogicalPlan::Projection(projection) => LogicalPlan::Projection(Projection::try_new(projection.expr, wide)?),
        LogicalPlan::Aggregate(aggregate) => {
            LogicalPlan::Aggregate(Aggregate::try_new(wide, aggregate.group_expr, aggregate.aggr_expr)?)
        }
        LogicalPlan::Filter(filter) => {
            let kept: Vec<PlanExpr> = input.schema().iter().map(PlanExpr::from).collect();
            let filtered = LogicalPlan::Filter(Filter::try_new(filter.predicate, wide)?);
            LogicalPlan::Projection(Projection::try_new(kept, Arc::new(filtered))?)
        }
        other => other,
    }))
}

/// A filter of conditions with subqueries over one of those without, which bounds the keys too.
fn plain_conditions_first(node: LogicalPlan) -> Result<LogicalPlan> {
    let LogicalPlan::Filter(filter) = node else { return Ok(node) };
    let has_subquery = |expr: &PlanExpr| expr.exists(|part| Ok(matches!(part, PlanExpr::ScalarSubquery(_))));
    let (mut plain, mut others) = (Vec::new(), Vec::new());
    for condition in chain(&filter.predicate, Operator::And) {
        if has_subquery(condition)? { &mut others } else { &mut plain }.push(condition.clone());
    }
    let (Some(plain), Some(others)) = (balanced(plain, Operator::And), balanced(others, Operator::And)) else {
        return Ok(LogicalPlan::Filter(filter));
    };
    let below = LogicalPlan::Filter(Filter::try_new(plain, filter.input)?);
    Ok(LogicalPlan::Filter(Filter::try_new(others, Arc::new(below))?))
}

/// A subquery of the form `SELECT value(aggregates) FROM ..`.
struct Correlated<'a> {
    outer: &'a LogicalPlan,
    /// The outer columns that it names.
    columns: Vec<Column>,
    value: PlanExpr,
    aggregate: &'a Aggregate,
}

impl<'a> Correlated<'a> {
    /// The subquery, if it has this form, and DataFusion cannot join it.
    fn of(subquery: &'a Subquery, outer: &'a LogicalPlan) -> Result<Option<Self>> {
        let LogicalPlan::Projection(projection) = subquery.subquery.as_ref() else { return Ok(None) };
        let ([value], LogicalPlan::Aggregate(aggregate)) = (projection.expr.as_slice(), projection.input.as_ref())
        else {
            return Ok(None);
        };
        let mut columns: Vec<Column> = Vec::new();
        for expr in subquery.subquery.all_out_ref_exprs() {
            match expr {
                PlanExpr::OuterReferenceColumn(_, column) if outer.schema().has_column(&column) => {
                    if !columns.contains(&column) {
                        columns.push(column);
                    }
                }
                // A column of a query further out.
                _ => return Ok(None),
            }
        }
        if columns.is_empty() || !aggregate.group_expr.is_empty() || is_left_to_datafusion(value, aggregate) {
            return Ok(None);
        }
        Ok(Some(Self { outer, columns, value: value.clone(), aggregate }))
    }

    /// The outer query with the values joined to it, and the value in each row; `None` where
    /// there is something in the subquery that keys do not pass through.
    fn join(self, wide: LogicalPlan, number: usize) -> Result<Option<(LogicalPlan, PlanExpr)>> {
        let keys_name = TableReference::bare(format!("\u{1}keys{number}"));
        let values_name = TableReference::bare(format!("\u{1}values{number}"));
        let keys = self.columns.iter().enumerate().map(|(i, c)| PlanExpr::Column(c.clone()).alias(key_name(number, i)));
        let keys = LogicalPlanBuilder::from(self.outer.clone()).project(keys)?.distinct()?;
        let keys = Keys { plan: keys.alias(keys_name)?.build()?, columns: &self.columns };
        let Some(Keyed { plan, keys }) = keys.through(&self.aggregate.input)? else { return Ok(None) };
        let inside = self.replacements(&keys);
        let aggregates =
            self.aggregate.aggr_expr.iter().map(|e| in_place(e.clone(), &inside)).collect::<Result<Vec<_>>>()?;
        let group: Vec<PlanExpr> = keys.into_iter().map(PlanExpr::Column).collect();
        let grouped = LogicalPlanBuilder::from(plan).aggregate(group.clone(), aggregates)?;
        let results: Vec<PlanExpr> = grouped.schema().iter().skip(group.len()).map(PlanExpr::from).collect();
        let named = group
            .into_iter()
            .enumerate()
            .map(|(i, key)| key.alias(key_name(number, i)))
            .chain(results.into_iter().enumerate().map(|(i, result)| result.alias(result_name(i))))
            .chain([lit(true).alias(FOUND)]);
        let values = grouped.project(named)?.alias(values_name.clone())?.build()?;
        let right: Vec<Column> =
            (0..self.columns.len()).map(|i| Column::new(Some(values_name.clone()), key_name(number, i))).collect();
        let plan = LogicalPlanBuilder::from(wide)
            .join_detailed(values, JoinType::Left, (self.columns.clone(), right), None, NullEquality::NullEqualsNull)?
            .build()?;
        let value = value_of(&self.value, self.aggregate, &self.columns, &values_name)?;
        Ok(Some((plan, value)))
    }

    fn replacements(&self, keys: &[Column]) -> HashMap<Column, PlanExpr> {
        self.columns.iter().cloned().zip(keys.iter().cloned().map(PlanExpr::Column)).collect()
    }
}

fn key_name(number: usize, i: usize) -> String {
    format!("\u{1}k{number}_{i}")
}

fn result_name(i: usize) -> String {
    format!("\u{1}a{i}")
}

/// The keys on their way up through a subquery's plan.
struct Keys<'a> {
    plan: LogicalPlan,
    /// The outer columns that they are, in order.
    columns: &'a [Column],
}

/// A plan with the keys beside its own columns, and their names there.
struct Keyed {
    plan: LogicalPlan,
    keys: Vec<Column>,
}

impl Keys<'_> {
    /// A plan with each of its rows for each of the keys that it holds for.
    fn through(&self, plan: &LogicalPlan) -> Result<Option<Keyed>> {
        if plan.all_out_ref_exprs().is_empty() {
            let keys = self.plan.schema().columns();
            let plan = LogicalPlanBuilder::from(plan.clone()).cross_join(self.plan.clone())?.build()?;
            return Ok(Some(Keyed { plan, keys }));
        }
        match plan {
            LogicalPlan::Filter(filter) => {
                let Some(below) = self.through(&filter.input)? else { return Ok(None) };
                let condition = self.inside(filter.predicate.clone(), &below.keys)?;
                let plan = LogicalPlan::Filter(Filter::try_new(condition, Arc::new(below.plan))?);
                Ok(Some(Keyed { plan, keys: below.keys }))
            }
            LogicalPlan::Projection(projection) => {
                let Some(below) = self.through(&projection.input)? else { return Ok(None) };
                self.projected(projection, below).map(Some)
            }
            LogicalPlan::SubqueryAlias(alias) => {
                let Some(below) = self.through(&alias.input)? else { return Ok(None) };
                let named = |key: Column| Column::new(Some(alias.alias.clone()), key.name);
                let keys = below.keys.into_iter().map(named).collect();
                let plan = LogicalPlanBuilder::from(below.plan).alias(alias.alias.clone())?.build()?;
                Ok(Some(Keyed { plan, keys }))
            }
            LogicalPlan::Distinct(Distinct::All(input)) => {
                let Some(below) = self.through(input)? else { return Ok(None) };
                let plan = LogicalPlan::Distinct(Distinct::All(Arc::new(below.plan)));
                Ok(Some(Keyed { plan, keys: below.keys }))
            }
            // Only a limit above would say something of the order.
            LogicalPlan::Sort(sort) if sort.fetch.is_none() => self.through(&sort.input),
            LogicalPlan::Limit(limit) => self.limited(limit),
            LogicalPlan::Aggregate(aggregate) if !aggregate.group_expr.is_empty() => {
                let Some(below) = self.through(&aggregate.input)? else { return Ok(None) };
                let own = |list: &[PlanExpr]| {
                    list.iter().map(|e| self.inside(e.clone(), &below.keys)).collect::<Result<Vec<_>>>()
                };
                let mut group = own(&aggregate.group_expr)?;
                group.extend(below.keys.iter().cloned().map(PlanExpr::Column));
                let aggregate = Aggregate::try_new(Arc::new(below.plan.clone()), group, own(&aggregate.aggr_expr)?)?;
                Ok(Some(Keyed { plan: LogicalPlan::Aggregate(aggregate), keys: below.keys }))
            }
            _ => Ok(None),
        }
    }

    /// The first rows for each of the keys: by their numbers in the order that the limit follows.
    fn limited(&self, limit: &Limit) -> Result<Option<Keyed>> {
        let (SkipType::Literal(skip), FetchType::Literal(fetch)) = (limit.get_skip_type()?, limit.get_fetch_type()?)
        else {
            return Ok(None);
        };
        let (mut projections, mut input) = (Vec::new(), limit.input.as_ref());
        while let LogicalPlan::Projection(projection) = input {
            projections.push(projection);
            input = projection.input.as_ref();
        }
        let (order, input) = match input {
            LogicalPlan::Sort(sort) if sort.fetch.is_none() => (sort.expr.as_slice(), sort.input.as_ref()),
            other => (&[] as &[_], other),
        };
        let Some(Keyed { plan, keys }) = self.through(input)? else { return Ok(None) };
        let mut order = order
            .iter()
            .map(|item| Ok(SortExpr::new(self.inside(item.expr.clone(), &keys)?, item.asc, item.nulls_first)))
            .collect::<Result<Vec<_>>>()?;
        // Any order will do where none is asked for, but a window wants one.
        if order.is_empty() {
            order.extend(keys.first().map(|key| PlanExpr::Column(key.clone()).sort(true, true)));
        }
        let columns = plan.schema().columns();
        let by_key = keys.iter().cloned().map(PlanExpr::Column).collect();
        let number = row_number().partition_by(by_key).order_by(order).build()?;
        let numbered = LogicalPlanBuilder::from(plan).window([number])?;
        let Some(number) = numbered.schema().columns().pop().map(PlanExpr::Column) else { return Ok(None) };
        let first = skip as u64;
        let mut wanted = number.clone().gt(lit(first));
        if let Some(fetch) = fetch {
            wanted = wanted.and(number.lt_eq(lit(first.saturating_add(fetch as u64))));
        }
        let plan = numbered.filter(wanted)?.project(columns.into_iter().map(PlanExpr::Column))?.build()?;
        let numbered = Keyed { plan, keys };
        projections.into_iter().rev().try_fold(numbered, |below, above| self.projected(above, below)).map(Some)
    }

    /// A projection's columns, and the keys.
    fn projected(&self, projection: &Projection, below: Keyed) -> Result<Keyed> {
        let mut exprs = Vec::with_capacity(projection.expr.len() + below.keys.len());
        for expr in &projection.expr {
            exprs.push(self.inside(expr.clone(), &below.keys)?);
        }
        exprs.extend(below.keys.iter().cloned().map(PlanExpr::Column));
        let plan = LogicalPlan::Projection(Projection::try_new(exprs, Arc::new(below.plan))?);
        Ok(Keyed { plan, keys: below.keys })
    }

    /// An expression with the keys in the place of the outer columns.
    fn inside(&self, expr: PlanExpr, keys: &[Column]) -> Result<PlanExpr> {
        let columns = self.columns.iter().cloned().zip(keys.iter().cloned().map(PlanExpr::Column)).collect();
        in_place(expr, &columns)
    }
}

/// Whether equalities alone correlate, just below the aggregate: DataFusion joins by these.
fn is_left_to_datafusion(value: &PlanExpr, aggregate: &Aggregate) -> bool {
    let outside = value.contains_outer() || aggregate.aggr_expr.iter().any(PlanExpr::contains_outer);
    match aggregate.input.as_ref() {
        LogicalPlan::Filter(filter) if !outside && filter.input.all_out_ref_exprs().is_empty() => {
            chain(&filter.predicate, Operator::And).into_iter().all(|c| !c.contains_outer() || is_equality(c))
        }
        _ => false,
    }
}

/// The value where rows were found, and where none was.
fn value_of(value: &PlanExpr, aggregate: &Aggregate, columns: &[Column], values: &TableReference) -> Result<PlanExpr> {
    let outside: HashMap<Column, PlanExpr> = columns.iter().map(|c| (c.clone(), PlanExpr::Column(c.clone()))).collect();
    let (mut found, mut empty) = (HashMap::new(), HashMap::new());
    for (i, (expr, (qualifier, field))) in aggregate.aggr_expr.iter().zip(aggregate.schema.iter()).enumerate() {
        let column = Column::from((qualifier, field));
        found.insert(column.clone(), PlanExpr::Column(Column::new(Some(values.clone()), result_name(i))));
        let call = expr.clone().unalias();
        let default = match &call {
            PlanExpr::AggregateFunction(call) => call.func.default_value(field.data_type())?,
            other => other.get_type(&aggregate.schema)?.try_into()?,
        };
        empty.insert(column, PlanExpr::Literal(default, None));
    }
    let put = |columns: &HashMap<Column, PlanExpr>| -> Result<PlanExpr> {
        let replaced = value.clone().unalias().transform(|part| match &part {
            PlanExpr::Column(column) => Ok(match columns.get(column) {
                Some(other) => Transformed::yes(other.clone()),
                None => Transformed::no(part),
            }),
            _ => Ok(Transformed::no(part)),
        })?;
        in_place(replaced.data, &outside)
    };
    let found_any = PlanExpr::Column(Column::new(Some(values.clone()), FOUND));
    let none = Box::new(found_any.is_null());
    Ok(PlanExpr::Case(Case::new(None, vec![(none, Box::new(put(&empty)?))], Some(Box::new(put(&found)?)))))
}

/// An expression with other columns in the place of outer ones.
fn in_place(expr: PlanExpr, columns: &HashMap<Column, PlanExpr>) -> Result<PlanExpr> {
    let replaced = expr.transform(|part| match &part {
        PlanExpr::OuterReferenceColumn(_, column) => Ok(match columns.get(column) {
            Some(other) => Transformed::yes(other.clone()),
            None => Transformed::no(part),
        }),
        _ => Ok(Transformed::no(part)),
    })?;
    Ok(replaced.data)
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
