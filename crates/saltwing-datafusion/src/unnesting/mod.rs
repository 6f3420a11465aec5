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
//! The outer query occurs twice in the plan: once for its rows, once for its keys.

mod keys;
mod left;
mod one_value;
mod quantified;
mod references;

use std::cell::Cell;
use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DataFusionError, ExprSchema, JoinType, Result, ScalarValue};
use datafusion::functions::expr_fn::coalesce;
use datafusion::functions_aggregate::expr_fn::count;
use datafusion::logical_expr::expr::Exists;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{
    Aggregate, Expr as PlanExpr, Filter, Join, LogicalPlan, LogicalPlanBuilder, Operator, Projection, Sort, Subquery,
    Window, lit,
};

use self::keys::{Grouped, Keyed, Keys, join};
use self::left::{Position, Site, has_subquery, is_left, plan_of};
use self::one_value::value_of;
use self::quantified::Quantified;
use self::references::{is_lateral, of_plan};
use crate::translation::{balanced, chain};
use crate::{RelationalError, RelationalErrorKind};

pub(crate) use self::left::without_idle_marks;
pub(crate) use self::one_value::prepared;

/// The alias below a lateral side that DataFusion may not know as such.
pub(crate) const LATERAL_MARKER: &str = "__saltwing_lateral";

/// Numbers for names that no statement has. One statement has one of them.
#[derive(Debug, Default)]
pub(crate) struct Numbers(Cell<usize>);

impl Numbers {
    fn next(&self) -> usize {
        self.0.set(self.0.get() + 1);
        self.0.get()
    }
}

/// The error for what the rule cannot do.
fn not_supported() -> DataFusionError {
    RelationalError::correlated().into()
}

/// A node without subqueries but those that are left to DataFusion.
///
/// # Errors
/// What is not supported.
pub(crate) fn unnested(node: LogicalPlan, numbers: &Numbers) -> Result<LogicalPlan> {
    match node {
        LogicalPlan::Filter(filter) => filtered(filter, numbers),
        LogicalPlan::Join(join) => joined(join, numbers),
        LogicalPlan::Projection(_) => of_expressions(node, Site::Projection, numbers),
        LogicalPlan::Sort(sort) => sorted(sort, numbers),
        LogicalPlan::Aggregate(_) | LogicalPlan::Window(_) => of_expressions(node, Site::Other, numbers),
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
    let kind = RelationalErrorKind::NotSupported(format!("a subquery that names {} there", column.flat_name()));
    let help = "behind GROUP BY a subquery may name grouped columns; LATERAL names tables to its left";
    Err(RelationalError::from(kind).help(help).into())
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

fn filtered(filter: Filter, numbers: &Numbers) -> Result<LogicalPlan> {
    if !has_subquery(&filter.predicate) {
        return Ok(LogicalPlan::Filter(filter));
    }
    let schema = filter.input.schema().clone();
    let mut conditions = Vec::new();
    for condition in chain(&filter.predicate, Operator::And) {
        conditions.push(quantified::as_exists(condition.clone(), &schema, Position::Top, numbers)?);
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
    let mut node = Node::new(input, Site::Filter, numbers);
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
    with_columns_of(&node.input, wide)
}

/// A plan with the columns of another alone.
fn with_columns_of(narrow: &LogicalPlan, wide: LogicalPlan) -> Result<LogicalPlan> {
    if wide.schema().fields().len() == narrow.schema().fields().len() {
        return Ok(wide);
    }
    let columns = narrow.schema().columns().into_iter().map(PlanExpr::Column).collect();
    Ok(LogicalPlan::Projection(Projection::try_new(columns, Arc::new(wide))?))
}

/// A node that computes its expressions over one input.
fn of_expressions(node: LogicalPlan, site: Site, numbers: &Numbers) -> Result<LogicalPlan> {
    let mut subqueries = false;
    node.apply_expressions(|expr| {
        subqueries |= has_subquery(expr);
        Ok(TreeNodeRecursion::Continue)
    })?;
    let Some(input) = node.inputs().first().map(|input| (*input).clone()).filter(|_| subqueries) else {
        return Ok(node);
    };
    let columns = node.schema().columns();
    let names = NamePreserver::new(&node);
    let mut unnesting = Node::new(input, site, numbers);
    let replaced = node.map_expressions(|expr| {
        let name = names.save(&expr);
        let replaced = unnesting.without_subqueries(expr, Position::Value)?;
        Ok(Transformed::yes(name.restore(replaced)))
    })?;
    let wide = Arc::new(unnesting.wide);
    let plan = match replaced.data {
        LogicalPlan::Projection(projection) => LogicalPlan::Projection(Projection::try_new(projection.expr, wide)?),
        LogicalPlan::Aggregate(aggregate) => {
            LogicalPlan::Aggregate(Aggregate::try_new(wide, aggregate.group_expr, aggregate.aggr_expr)?)
        }
        LogicalPlan::Window(window) => LogicalPlan::Window(Window::try_new(window.window_expr, wide)?),
        LogicalPlan::Sort(sort) => LogicalPlan::Sort(Sort { expr: sort.expr, input: wide, fetch: sort.fetch }),
        other => other,
    };
    if plan.schema().fields().len() == columns.len() {
        return Ok(plan);
    }
    let columns = columns.into_iter().map(PlanExpr::Column).collect();
    Ok(LogicalPlan::Projection(Projection::try_new(columns, Arc::new(plan))?))
}

/// An order by subqueries; these name columns that stand below the items, too.
fn sorted(sort: Sort, numbers: &Numbers) -> Result<LogicalPlan> {
    let mut missing: Vec<Column> = Vec::new();
    for item in &sort.expr {
        item.expr.apply(|part| {
            let names = left::names_of_subquery(part).unwrap_or_default();
            missing.extend(names.into_iter().filter(|name| !sort.input.schema().has_column(name)));
            Ok(TreeNodeRecursion::Continue)
        })?;
    }
    let LogicalPlan::Projection(projection) = sort.input.as_ref() else {
        return of_expressions(LogicalPlan::Sort(sort), Site::Other, numbers);
    };
    missing.retain(|column| projection.input.schema().has_column(column));
    if missing.is_empty() {
        return of_expressions(LogicalPlan::Sort(sort), Site::Other, numbers);
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
    with_columns_of(&sort.input, of_expressions(wide_sort, Site::Other, numbers)?)
}

/// A join without subqueries in its condition, and with a lateral side made an ordinary one.
fn joined(mut join: Join, numbers: &Numbers) -> Result<LogicalPlan> {
    let filter = join.filter.take_if(|filter| has_subquery(filter));
    let Some(filter) = filter else { return lateral(join, numbers) };
    if join.join_type == JoinType::Inner {
        let conditions = chain(&filter, Operator::And).into_iter().cloned();
        let (others, plain): (Vec<_>, Vec<_>) = conditions.partition(has_subquery);
        join.filter = balanced(plain, Operator::And);
        let joined = Arc::new(lateral(join, numbers)?);
        let others = balanced(others, Operator::And).unwrap_or(filter);
        return filtered(Filter::try_new(others, joined)?, numbers);
    }
    if is_lateral(&join.right) {
        return Err(not_supported());
    }
    let schema = join.schema.clone();
    let mut left = Node::new(join.left.as_ref().clone(), Site::Other, numbers);
    let mut right = Node::new(join.right.as_ref().clone(), Site::Other, numbers);
    let mut conditions = Vec::new();
    for condition in chain(&filter, Operator::And) {
        conditions.push(match has_subquery(condition) {
            true => on_one_side(condition.clone(), &mut left, &mut right)?,
            false => condition.clone(),
        });
    }
    join.filter = balanced(conditions, Operator::And);
    let joined = Join::try_new(
        Arc::new(left.wide),
        Arc::new(right.wide),
        join.on,
        join.filter,
        join.join_type,
        join.join_constraint,
        join.null_equality,
        join.null_aware,
    )?;
    let columns = schema.columns().into_iter().map(PlanExpr::Column).collect();
    Ok(LogicalPlan::Projection(Projection::try_new(columns, Arc::new(LogicalPlan::Join(joined)))?))
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
            // What it names further out is no matter here.
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
fn lateral(join: Join, numbers: &Numbers) -> Result<LogicalPlan> {
    if !is_lateral(&join.right) {
        return Ok(LogicalPlan::Join(join));
    }
    if !matches!(join.join_type, JoinType::Inner | JoinType::Left) {
        return Err(not_supported());
    }
    if left::is_left_lateral(&join) {
        return Ok(LogicalPlan::Join(join));
    }
    let columns = join.schema.columns().into_iter().map(PlanExpr::Column).collect();
    let node = Node::new(join.left.as_ref().clone(), Site::Other, numbers);
    let (outer, Keyed { plan, keys }) = node.keyed(&join.right)?;
    let pairs = outer.into_iter().zip(keys).collect();
    let filter = join.on.into_iter().map(|(l, r)| l.eq(r)).chain(join.filter).collect();
    let joined = self::join(node.wide, plan, join.join_type, pairs, balanced(filter, Operator::And))?;
    Ok(LogicalPlan::Projection(Projection::try_new(columns, Arc::new(joined))?))
}

/// A node of the plan whose subqueries are joined to its input.
struct Node<'a> {
    /// Its input.
    input: LogicalPlan,
    /// The input with what was joined to it.
    wide: LogicalPlan,
    site: Site,
    numbers: &'a Numbers,
}

impl<'a> Node<'a> {
    fn new(input: LogicalPlan, site: Site, numbers: &'a Numbers) -> Self {
        Self { wide: input.clone(), input, site, numbers }
    }

    /// An expression with the values of its subqueries in their places.
    fn without_subqueries(&mut self, expr: PlanExpr, position: Position) -> Result<PlanExpr> {
        if is_left(&expr, self.input.schema(), self.site, position) {
            return Ok(expr);
        }
        match expr {
            PlanExpr::Exists(exists) => self.found(&exists),
            PlanExpr::ScalarSubquery(subquery) => self.value(&subquery),
            expr @ (PlanExpr::InSubquery(_) | PlanExpr::SetComparison(_)) => match Quantified::of(expr)? {
                Some(quantified) => self.quantified(quantified),
                None => Err(not_supported()),
            },
            expr => {
                let below = position.below(&expr);
                Ok(expr.map_children(|part| Ok(Transformed::yes(self.without_subqueries(part, below)?)))?.data)
            }
        }
    }

    /// The keys of a subquery's plan.
    fn keys(&self, plan: &LogicalPlan) -> Result<Keys<'a>> {
        let mut columns = of_plan(plan);
        columns.retain(|column| self.wide.schema().has_column(column));
        let in_input = columns.iter().all(|column| self.input.schema().has_column(column));
        let outer = if in_input { &self.input } else { &self.wide };
        if !columns.is_empty() && is_volatile(outer)? {
            let kind = RelationalErrorKind::NotSupported("a correlated subquery over rows with random values".into());
            return Err(RelationalError::from(kind).into());
        }
        Ok(Keys { outer: outer.clone(), columns, numbers: self.numbers })
    }

    /// A subquery's plan for each of its keys, and the outer columns that these are.
    fn keyed(&self, plan: &LogicalPlan) -> Result<(Vec<Column>, Keyed)> {
        let keys = self.keys(plan)?;
        let keyed = keys.through(plan)?;
        Ok((keys.columns, keyed))
    }

    /// `EXISTS` as a condition that rows have to meet.
    fn semi_join(&mut self, exists: &Exists) -> Result<()> {
        let (outer, Keyed { plan, keys }) = self.keyed(&exists.subquery.subquery)?;
        let kind = if exists.negated { JoinType::LeftAnti } else { JoinType::LeftSemi };
        let plan = LogicalPlanBuilder::from(plan).alias(format!("__saltwing_found{}", self.numbers.next()))?.build()?;
        let named = plan.schema().columns();
        // An alias gives all columns its own name.
        let keys: Vec<Column> =
            keys.iter().filter_map(|key| named.iter().find(|column| column.name == key.name).cloned()).collect();
        self.wide = join(self.wide.clone(), plan, kind, outer.into_iter().zip(keys).collect(), None)?;
        Ok(())
    }

    /// `EXISTS` as a value.
    fn found(&mut self, exists: &Exists) -> Result<PlanExpr> {
        let (outer, Keyed { plan, keys }) = self.keyed(&exists.subquery.subquery)?;
        let (plan, columns) = self.of_keys(plan, &keys, vec![count(lit(1))])?;
        let (keys, counts) = columns.split_at(keys.len());
        self.join_values(plan, outer, keys)?;
        let count = counts.first().cloned().map(PlanExpr::Column).ok_or_else(not_supported)?;
        let found = coalesce(vec![count.gt(lit(0_i64)), lit(false)]);
        Ok(if exists.negated { PlanExpr::Not(Box::new(found)) } else { found })
    }

    /// Aggregates of the rows of each key, named as nothing else: the keys, then the results.
    fn of_keys(
        &self,
        plan: LogicalPlan,
        keys: &[Column],
        aggregates: Vec<PlanExpr>,
    ) -> Result<(LogicalPlan, Vec<Column>)> {
        let group: Vec<PlanExpr> = keys.iter().cloned().map(PlanExpr::Column).collect();
        let grouped = LogicalPlan::Aggregate(Aggregate::try_new(Arc::new(plan), group, aggregates)?);
        let number = self.numbers.next();
        let name = |i: usize| format!("__saltwing_r{number}_{i}");
        let columns = grouped.schema().columns().into_iter().map(PlanExpr::Column).enumerate();
        let items: Vec<PlanExpr> = columns.map(|(i, column)| column.alias(name(i))).collect();
        let width = items.len();
        let alias = format!("__saltwing_of_keys{number}");
        let plan = LogicalPlanBuilder::from(grouped).project(items)?.alias(alias.as_str())?.build()?;
        let columns = (0..width).map(|i| Column::new(Some(alias.as_str()), name(i))).collect();
        Ok((plan, columns))
    }

    /// Joins values to the rows, of which each finds one row or none.
    fn join_values(&mut self, values: LogicalPlan, outer: Vec<Column>, keys: &[Column]) -> Result<()> {
        let pairs = outer.into_iter().zip(keys.iter().cloned()).collect();
        self.wide = join(self.wide.clone(), values, JoinType::Left, pairs, None)?;
        Ok(())
    }

    /// The value of a subquery that gives one row at most.
    fn value(&mut self, subquery: &Subquery) -> Result<PlanExpr> {
        let plan = subquery.subquery.as_ref();
        if let LogicalPlan::Projection(projection) = plan
            && let ([value], LogicalPlan::Aggregate(aggregate)) =
                (projection.expr.as_slice(), projection.input.as_ref())
            && aggregate.group_expr.is_empty()
        {
            return self.aggregate_value(plan, value, aggregate);
        }
        let (outer, Keyed { plan, keys }) = self.keyed(plan)?;
        let number = self.numbers.next();
        let name = |i: usize| format!("__saltwing_v{number}_{i}");
        let alias = format!("__saltwing_value{number}");
        let first = plan.schema().columns().into_iter().next().ok_or_else(not_supported)?;
        let columns = std::iter::once(first).chain(keys);
        let items: Vec<PlanExpr> =
            columns.enumerate().map(|(i, column)| PlanExpr::Column(column).alias(name(i))).collect();
        let plan = LogicalPlanBuilder::from(plan).project(items)?.alias(alias.as_str())?.build()?;
        let named = |i: usize| Column::new(Some(alias.as_str()), name(i));
        let keys: Vec<Column> = (1..=outer.len()).map(named).collect();
        self.join_values(plan, outer, &keys)?;
        Ok(PlanExpr::Column(named(0)))
    }

    /// The value of `SELECT value(aggregates) FROM ..`, which is one for no rows too.
    fn aggregate_value(&mut self, plan: &LogicalPlan, value: &PlanExpr, aggregate: &Aggregate) -> Result<PlanExpr> {
        let keys = self.keys(plan)?;
        let Grouped { keyed, results } = keys.grouped(aggregate)?;
        self.join_values(keyed.plan, keys.columns.clone(), &keyed.keys)?;
        value_of(value, aggregate, &keys.columns, &results)
    }

    /// `x op ANY (..)` and the like as a value, which may be unknown.
    fn quantified(&mut self, mut test: Quantified) -> Result<PlanExpr> {
        if has_subquery(&test.value) {
            test.value = self.without_subqueries(test.value, Position::Value)?;
            if has_subquery(&test.value) {
                test.value = self.computed(test.value)?;
            }
        }
        let plan = test.comparisons(self.wide.schema(), self.numbers)?;
        let compared = plan.schema().columns().into_iter().next().map(PlanExpr::Column).ok_or_else(not_supported)?;
        let (outer, Keyed { plan, keys }) = self.keyed(&plan)?;
        let (plan, columns) = self.of_keys(plan, &keys, test.aggregates(compared))?;
        let (keys, results) = columns.split_at(keys.len());
        self.join_values(plan, outer, keys)?;
        test.result(results)
    }

    /// A value as a column of its own.
    fn computed(&mut self, value: PlanExpr) -> Result<PlanExpr> {
        let column = Column::new_unqualified(format!("__saltwing_x{}", self.numbers.next()));
        let columns = self.wide.schema().columns().into_iter().map(PlanExpr::Column);
        let items = columns.chain([value.alias(&column.name)]).collect();
        self.wide = LogicalPlan::Projection(Projection::try_new(items, Arc::new(self.wide.clone()))?);
        Ok(PlanExpr::Column(column))
    }
}

/// Whether a plan gives other rows when it runs again.
fn is_volatile(plan: &LogicalPlan) -> Result<bool> {
    plan.exists(|node| {
        let mut volatile = false;
        node.apply_expressions(|expr| {
            volatile |= expr.is_volatile();
            Ok(TreeNodeRecursion::Continue)
        })?;
        Ok(volatile)
    })
}

/// Equalities that hold where two columns are the same, NULL included.
///
/// They are no `IS NOT DISTINCT FROM`: DataFusion makes a join of these in which every other
/// equality that it finds later takes NULL for equal to NULL, too.
fn null_safe(left: &LogicalPlan, l: &Column, right: &LogicalPlan, r: &Column) -> Result<Vec<(PlanExpr, PlanExpr)>> {
    let (left, right) = (left.schema().field_from_column(l)?, right.schema().field_from_column(r)?);
    let (l, r) = (PlanExpr::Column(l.clone()), PlanExpr::Column(r.clone()));
    if !left.is_nullable() && !right.is_nullable() {
        return Ok(vec![(l, r)]);
    }
    // All values of a column without a type are NULL.
    if left.data_type().is_null() {
        return Ok(vec![(l.is_null(), r.is_null())]);
    }
    let any = PlanExpr::Literal(ScalarValue::new_default(left.data_type())?, None);
    let or_any = |column: PlanExpr| coalesce(vec![column, any.clone()]);
    Ok(vec![(l.clone().is_null(), r.clone().is_null()), (or_any(l), or_any(r))])
}
