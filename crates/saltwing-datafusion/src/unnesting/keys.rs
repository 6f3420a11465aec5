//! The keys of a correlated subquery, carried up through its plan.
//!
//! The keys are the distinct values of the outer columns in the subquery. They are joined to the plan at the first
//! operator from below that has no outer columns, and every operator above works within each key. So the plan returns,
//! beside its own columns, the key of each row.
//!
//! Invariant: for every key, the plan returns exactly the rows that the subquery has for these values of the outer
//! columns. The join of the plan to the outer rows relies on it; a missing row is a lost outer row.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::FieldRef;
use datafusion::common::alias::AliasGenerator;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, JoinType, NullEquality, Result, TableReference};
use datafusion::functions::expr_fn::coalesce;
use datafusion::functions_window::expr_fn::row_number;
use datafusion::logical_expr::{
    Aggregate, Distinct, DistinctOn, Expr as PlanExpr, ExprFunctionExt, FetchType, Filter, Join, Limit, LogicalPlan,
    LogicalPlanBuilder, Projection, SkipType, SortExpr, SubqueryAlias, Union, Values, Window, lit,
};

use super::derived::derived;
use super::join::{join, same_columns};
use super::references::{is_lateral, of_plan, put_in_place};
use super::refusal::not_supported;

/// The keys of one subquery.
pub(super) struct Keys<'a> {
    /// The rows that hold the outer columns. A superset would do: further keys find no outer row.
    pub(super) outer: LogicalPlan,
    /// The outer columns.
    pub(super) columns: Vec<Column>,
    pub(super) names: &'a AliasGenerator,
}

/// A plan with the keys beside its own columns.
pub(super) struct Keyed {
    pub(super) plan: LogicalPlan,
    /// The names of the keys there, in the order of the outer columns.
    pub(super) keys: Vec<Column>,
}

/// An aggregate without groups as one with a group for each key.
pub(super) struct Grouped {
    pub(super) keyed: Keyed,
    /// The value of each result, also for a key without rows once the plan is joined to that.
    pub(super) results: Vec<PlanExpr>,
}

impl Keyed {
    /// A projection with the keys beside its own items.
    fn projected(items: impl IntoIterator<Item = PlanExpr>, plan: LogicalPlan, keys: Vec<Column>) -> Result<Self> {
        let items = items.into_iter().chain(keys.iter().cloned().map(PlanExpr::Column)).collect();
        let plan = LogicalPlan::Projection(Projection::try_new(items, Arc::new(plan))?);
        Ok(Self { plan, keys })
    }
}

/// An expression under the name of a field.
fn named_as((expr, (qualifier, field)): (PlanExpr, (Option<&TableReference>, &FieldRef))) -> PlanExpr {
    expr.alias_qualified(qualifier.cloned(), field.name())
}

impl Keys<'_> {
    /// A plan for each of the keys.
    pub(super) fn through(&self, plan: &LogicalPlan) -> Result<Keyed> {
        if !self.are_named_in(plan) {
            return self.beside(plan.clone());
        }
        match plan {
            LogicalPlan::Subquery(subquery) => self.through(&subquery.subquery),
            LogicalPlan::Filter(filter) => {
                let below = self.through(&filter.input)?;
                let condition = self.inside(filter.predicate.clone(), &below.keys)?;
                let plan = LogicalPlan::Filter(Filter::try_new(condition, Arc::new(below.plan))?);
                Ok(Keyed { plan, keys: below.keys })
            }
            LogicalPlan::Projection(projection) => self.projected(projection, self.through(&projection.input)?),
            LogicalPlan::SubqueryAlias(alias) => {
                let below = self.through(&alias.input)?;
                let named = |key: Column| Column::new(Some(alias.alias.clone()), key.name);
                let keys = below.keys.into_iter().map(named).collect();
                let aliased = SubqueryAlias::try_new(Arc::new(below.plan), alias.alias.clone())?;
                Ok(Keyed { plan: LogicalPlan::SubqueryAlias(aliased), keys })
            }
            LogicalPlan::Distinct(Distinct::All(input)) => {
                let below = self.through(input)?;
                let plan = LogicalPlan::Distinct(Distinct::All(Arc::new(below.plan)));
                Ok(Keyed { plan, keys: below.keys })
            }
            LogicalPlan::Distinct(Distinct::On(distinct)) => self.distinct_on(distinct),
            // Only a limit above would depend on the order.
            LogicalPlan::Sort(sort) if sort.fetch.is_none() => self.through(&sort.input),
            LogicalPlan::Limit(limit) => self.limited(limit),
            LogicalPlan::Aggregate(aggregate) if aggregate.group_expr.is_empty() => self.one_row(aggregate),
            LogicalPlan::Aggregate(aggregate) => self.groups(aggregate),
            LogicalPlan::Join(join) => self.joined(join),
            LogicalPlan::Union(union) => self.united(union),
            LogicalPlan::Window(window) => self.windowed(window),
            LogicalPlan::Values(values) => self.through(&as_union(values)?),
            LogicalPlan::Unnest(unnest) => {
                let Keyed { plan, keys } = self.through(&unnest.input)?;
                let (columns, options) = (unnest.exec_columns.clone(), unnest.options.clone());
                let plan = LogicalPlanBuilder::from(plan).unnest_columns_with_options(columns, options)?.build()?;
                Ok(Keyed { plan, keys })
            }
            _ => Err(not_supported()),
        }
    }

    fn are_named_in(&self, plan: &LogicalPlan) -> bool {
        of_plan(plan).iter().any(|column| self.columns.contains(column))
    }

    /// The keys as a plan, named as no other.
    fn fresh(&self) -> Result<Keyed> {
        let columns = self.columns.iter().cloned().map(PlanExpr::Column);
        let (plan, keys) = derived(self.outer.clone(), columns, self.names)?;
        Ok(Keyed { plan: LogicalPlanBuilder::from(plan).distinct()?.build()?, keys })
    }

    /// A plan that names none of the keys, its rows for each of them.
    fn beside(&self, plan: LogicalPlan) -> Result<Keyed> {
        if self.columns.is_empty() {
            return Ok(Keyed { plan, keys: Vec::new() });
        }
        let keys = self.fresh()?;
        let plan = LogicalPlanBuilder::from(plan).cross_join(keys.plan)?.build()?;
        Ok(Keyed { plan, keys: keys.keys })
    }

    /// A projection's columns, and the keys.
    fn projected(&self, projection: &Projection, below: Keyed) -> Result<Keyed> {
        Keyed::projected(self.all_named(&projection.expr, &below.keys)?, below.plan, below.keys)
    }

    /// The first rows of each key: those of the lowest numbers in the order that the limit follows.
    fn limited(&self, limit: &Limit) -> Result<Keyed> {
        let (SkipType::Literal(skip), FetchType::Literal(fetch)) = (limit.get_skip_type()?, limit.get_fetch_type()?)
        else {
            return Err(not_supported());
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
        let Keyed { plan, keys } = self.through(input)?;
        let mut order = self.order(order, &keys)?;
        // No order is requested, but a window needs one.
        if order.is_empty() {
            order.extend(keys.first().map(|key| PlanExpr::Column(key.clone()).sort(true, true)));
        }
        let columns = plan.schema().columns();
        let by_key = keys.iter().cloned().map(PlanExpr::Column).collect();
        let number = row_number().partition_by(by_key).order_by(order).build()?;
        let numbered = LogicalPlanBuilder::from(plan).window([number])?;
        let Some(number) = numbered.schema().columns().pop().map(PlanExpr::Column) else { return Err(not_supported()) };
        let first = skip as u64;
        let mut wanted = number.clone().gt(lit(first));
        if let Some(fetch) = fetch {
            wanted = wanted.and(number.lt_eq(lit(first.saturating_add(fetch as u64))));
        }
        let plan = numbered.filter(wanted)?.project(columns.into_iter().map(PlanExpr::Column))?.build()?;
        let numbered = Keyed { plan, keys };
        projections.into_iter().rev().try_fold(numbered, |below, above| self.projected(above, below))
    }

    fn distinct_on(&self, distinct: &DistinctOn) -> Result<Keyed> {
        let Keyed { plan, keys } = self.through(&distinct.input)?;
        let by_key = || keys.iter().cloned().map(PlanExpr::Column);
        let on = by_key().chain(self.all_inside(&distinct.on_expr, &keys)?).collect();
        let items = self.all_named(&distinct.select_expr, &keys)?.into_iter().chain(by_key()).collect();
        let order = match &distinct.sort_expr {
            Some(order) => {
                let order = self.order(order, &keys)?;
                Some(by_key().map(|key| key.sort(true, true)).chain(order).collect())
            }
            None => None,
        };
        let distinct = DistinctOn::try_new(on, items, order, Arc::new(plan))?;
        Ok(Keyed { plan: LogicalPlan::Distinct(Distinct::On(distinct)), keys })
    }

    /// The groups of each key.
    fn groups(&self, aggregate: &Aggregate) -> Result<Keyed> {
        if aggregate.group_expr.iter().any(|expr| matches!(expr, PlanExpr::GroupingSet(_))) {
            return Err(not_supported());
        }
        let groups = aggregate.group_expr.len();
        let Keyed { plan, keys } = self.through(&aggregate.input)?;
        let mut group = self.all_inside(&aggregate.group_expr, &keys)?;
        group.extend(keys.iter().cloned().map(PlanExpr::Column));
        let results = self.all_inside(&aggregate.aggr_expr, &keys)?;
        let grouped = LogicalPlan::Aggregate(Aggregate::try_new(Arc::new(plan), group, results)?);
        let columns = grouped.schema().columns();
        let own = columns.iter().take(groups).chain(columns.iter().skip(groups + keys.len()));
        let items = own.cloned().map(PlanExpr::Column).zip(aggregate.schema.iter()).map(named_as);
        Keyed::projected(items, grouped, keys)
    }

    /// An aggregate without groups: it has a row for each key, even for one without rows.
    fn one_row(&self, aggregate: &Aggregate) -> Result<Keyed> {
        let Grouped { keyed, results } = self.grouped(aggregate)?;
        let Keyed { plan: keys_plan, keys } = self.fresh()?;
        let pairs = keys.iter().cloned().zip(keyed.keys).collect();
        let plan = join(keys_plan, keyed.plan, JoinType::Left, pairs, None)?;
        Keyed::projected(results.into_iter().zip(aggregate.schema.iter()).map(named_as), plan, keys)
    }

    /// An aggregate without groups, its results for the keys that have rows.
    pub(super) fn grouped(&self, aggregate: &Aggregate) -> Result<Grouped> {
        let Keyed { plan, keys } = self.through(&aggregate.input)?;
        let results = self.all_inside(&aggregate.aggr_expr, &keys)?;
        let (plan, keys, values) = grouped_by(keys, plan, results, self.names)?;
        let results = aggregate.aggr_expr.iter().zip(aggregate.schema.fields()).zip(values);
        let results = results
            .map(|((expr, field), value)| {
                let default = match expr.clone().unalias() {
                    PlanExpr::AggregateFunction(call) => call.func.default_value(field.data_type())?,
                    _ => return Err(not_supported()),
                };
                let value = PlanExpr::Column(value);
                // Only COUNT and its like have a value for no rows, and they are never NULL.
                Ok(match default.is_null() {
                    true => value,
                    false => coalesce(vec![value, PlanExpr::Literal(default, None)]),
                })
            })
            .collect::<Result<_>>()?;
        Ok(Grouped { keyed: Keyed { plan, keys }, results })
    }

    fn joined(&self, join: &Join) -> Result<Keyed> {
        use JoinType::*;
        // Of a lateral side that is left, all outer columns are those of the other side.
        let right_names = !is_lateral(&join.right) && self.are_named_in(&join.right);
        let left_names = self.are_named_in(&join.left);
        let (in_left, in_right) = match join.join_type {
            Inner => (left_names || !right_names, right_names),
            Left | LeftSemi | LeftAnti | LeftMark => (true, right_names),
            Right | RightSemi | RightAnti | RightMark => (left_names, true),
            Full => (true, true),
        };
        let side = |plan: &Arc<LogicalPlan>, keyed: bool| match keyed {
            true => self.through(plan),
            false => Ok(Keyed { plan: plan.as_ref().clone(), keys: Vec::new() }),
        };
        let (left, right) = (side(&join.left, in_left)?, side(&join.right, in_right)?);
        let keys = if in_left { &left.keys } else { &right.keys };
        let named = |expr: &PlanExpr| self.inside(expr.clone(), keys);
        let mut on = join.on.iter().map(|(l, r)| Ok((named(l)?, named(r)?))).collect::<Result<Vec<_>>>()?;
        let filter = join.filter.as_ref().map(named).transpose()?;
        if in_left && in_right {
            let pairs = left.keys.iter().zip(&right.keys);
            for (l, r) in pairs {
                match join.null_equality {
                    NullEquality::NullEqualsNull => on.push((PlanExpr::Column(l.clone()), PlanExpr::Column(r.clone()))),
                    NullEquality::NullEqualsNothing => {
                        on.extend(same_columns((l, left.plan.schema()), (r, right.plan.schema()))?)
                    }
                }
            }
        }
        let output = match join.join_type {
            Right | RightSemi | RightAnti | RightMark => right.keys.clone(),
            _ => keys.clone(),
        };
        let (left_keys, right_keys) = (left.keys, right.keys);
        let (left, right) = (Arc::new(left.plan), Arc::new(right.plan));
        let plan = LogicalPlan::Join(Join { left, right, on, filter, ..join.clone() }).recompute_schema()?;
        match join.join_type {
            Full => self.merged(plan, join, left_keys, right_keys),
            _ => Ok(Keyed { plan, keys: output }),
        }
    }

    /// A full join whose rows have their key on either side.
    fn merged(&self, plan: LogicalPlan, join: &Join, left: Vec<Column>, right: Vec<Column>) -> Result<Keyed> {
        let name = self.names.next("__saltwing");
        let keys: Vec<Column> = (0..left.len()).map(|i| Column::new_unqualified(format!("{name}_{i}"))).collect();
        let merged = left.into_iter().zip(right).zip(&keys).map(|((left, right), key)| {
            coalesce(vec![PlanExpr::Column(left), PlanExpr::Column(right)]).alias(&key.name)
        });
        let items = join.schema.columns().into_iter().map(PlanExpr::Column).chain(merged).collect();
        let plan = LogicalPlan::Projection(Projection::try_new(items, Arc::new(plan))?);
        Ok(Keyed { plan, keys })
    }

    fn united(&self, union: &Union) -> Result<Keyed> {
        let alias = self.names.next("__saltwing");
        let name = |i: usize| format!("{alias}_{i}");
        let mut inputs = Vec::with_capacity(union.inputs.len());
        for input in &union.inputs {
            let Keyed { plan, keys } = self.through(input)?;
            let own = input.schema().columns().into_iter().map(PlanExpr::Column);
            let keys = keys.into_iter().enumerate().map(|(i, key)| PlanExpr::Column(key).alias(name(i)));
            let items = own.chain(keys).collect();
            inputs.push(Arc::new(LogicalPlan::Projection(Projection::try_new(items, Arc::new(plan))?)));
        }
        let united = LogicalPlan::Union(Union::try_new_with_loose_types(inputs)?);
        let keys: Vec<Column> = (0..self.columns.len()).map(|i| Column::new_unqualified(name(i))).collect();
        let columns = united.schema().columns();
        let own = columns.into_iter().zip(union.schema.iter()).map(|(column, field)| {
            let is_named = (column.relation.as_ref(), &column.name) == (field.0, field.1.name());
            let column = PlanExpr::Column(column);
            if is_named { column } else { named_as((column, field)) }
        });
        Keyed::projected(own, united, keys)
    }

    /// Window functions over the rows of each key.
    fn windowed(&self, window: &Window) -> Result<Keyed> {
        let Keyed { plan, keys } = self.through(&window.input)?;
        let by_key = || keys.iter().cloned().map(PlanExpr::Column);
        let functions = self.all_inside(&window.window_expr, &keys)?.into_iter().map(|expr| {
            let within = expr.transform(|part| match part {
                PlanExpr::WindowFunction(mut function) => {
                    function.params.partition_by.extend(by_key());
                    Ok(Transformed::yes(PlanExpr::WindowFunction(function)))
                }
                part => Ok(Transformed::no(part)),
            });
            within.map(|within| within.data)
        });
        let functions = functions.collect::<Result<Vec<_>>>()?;
        let below = plan.schema().fields().len();
        let windowed = LogicalPlan::Window(Window::try_new(functions, Arc::new(plan))?);
        let columns = windowed.schema().columns();
        let own = window.input.schema().columns().into_iter().map(PlanExpr::Column);
        let named = window.schema.iter().skip(window.input.schema().fields().len());
        let results = columns.into_iter().skip(below).map(PlanExpr::Column).zip(named).map(named_as);
        let items = own.chain(results).collect::<Vec<_>>();
        Keyed::projected(items, windowed, keys)
    }

    fn order(&self, order: &[SortExpr], keys: &[Column]) -> Result<Vec<SortExpr>> {
        let item =
            |item: &SortExpr| Ok(SortExpr::new(self.inside(item.expr.clone(), keys)?, item.asc, item.nulls_first));
        order.iter().map(item).collect()
    }

    /// An expression with the keys in the place of the outer columns.
    fn inside(&self, expr: PlanExpr, keys: &[Column]) -> Result<PlanExpr> {
        let columns: HashMap<Column, PlanExpr> =
            self.columns.iter().cloned().zip(keys.iter().cloned().map(PlanExpr::Column)).collect();
        put_in_place(expr, &columns)
    }

    fn all_inside(&self, exprs: &[PlanExpr], keys: &[Column]) -> Result<Vec<PlanExpr>> {
        exprs.iter().map(|expr| self.inside(expr.clone(), keys)).collect()
    }

    /// The same under the names that they had: operators above go by these.
    fn all_named(&self, exprs: &[PlanExpr], keys: &[Column]) -> Result<Vec<PlanExpr>> {
        let named = |expr: &PlanExpr| {
            let (qualifier, name) = expr.qualified_name();
            let inside = self.inside(expr.clone(), keys)?;
            Ok(match inside.qualified_name() == (qualifier.clone(), name.clone()) {
                true => inside,
                false => inside.alias_qualified(qualifier, name),
            })
        };
        exprs.iter().map(named).collect()
    }
}

/// Aggregates of the rows of each key as a derived table: its plan, the keys there, and the results.
pub(super) fn grouped_by(
    keys: Vec<Column>,
    plan: LogicalPlan,
    aggregates: Vec<PlanExpr>,
    names: &AliasGenerator,
) -> Result<(LogicalPlan, Vec<Column>, Vec<Column>)> {
    let group: Vec<PlanExpr> = keys.iter().cloned().map(PlanExpr::Column).collect();
    let grouped = LogicalPlan::Aggregate(Aggregate::try_new(Arc::new(plan), group, aggregates)?);
    let columns = grouped.schema().columns().into_iter().map(PlanExpr::Column);
    let (plan, mut columns) = derived(grouped, columns, names)?;
    let results = columns.split_off(keys.len());
    Ok((plan, columns, results))
}

/// The rows of a VALUES as selects, which may name columns.
fn as_union(values: &Values) -> Result<LogicalPlan> {
    let row = |row: &Vec<PlanExpr>| {
        let items = row.iter().zip(values.schema.fields()).map(|(expr, field)| expr.clone().alias(field.name()));
        Ok(Arc::new(LogicalPlanBuilder::empty(true).project(items.collect::<Vec<_>>())?.build()?))
    };
    let rows = values.values.iter().map(row).collect::<Result<Vec<_>>>()?;
    match rows.as_slice() {
        [only] => Ok(only.as_ref().clone()),
        _ => Ok(LogicalPlan::Union(Union::try_new_with_loose_types(rows)?)),
    }
}
