//! A node of the plan whose subqueries are joined to its input.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, JoinType, Result};
use datafusion::functions::expr_fn::coalesce;
use datafusion::functions_aggregate::expr_fn::count;
use datafusion::logical_expr::expr::Exists;
use datafusion::logical_expr::{
    Aggregate, Expr as PlanExpr, LogicalPlan, LogicalPlanBuilder, Projection, Subquery, lit,
};

use super::join::join;
use super::keys::{Grouped, Keyed, Keys};
use super::left::{Position, Site, has_subquery, is_left};
use super::numbers::{Numbers, not_supported};
use super::one_value::value_of;
use super::quantified::Quantified;
use super::references::of_plan;
use crate::RelationalError;

/// The node.
pub(super) struct Node<'a> {
    /// Its input.
    pub(super) input: LogicalPlan,
    /// The input with what was joined to it.
    pub(super) wide: LogicalPlan,
    site: Site,
    numbers: &'a Numbers,
}

impl<'a> Node<'a> {
    pub(super) fn new(input: LogicalPlan, site: Site, numbers: &'a Numbers) -> Self {
        Self { wide: input.clone(), input, site, numbers }
    }

    /// An expression with the values of its subqueries in their places.
    pub(super) fn without_subqueries(&mut self, expr: PlanExpr, position: Position) -> Result<PlanExpr> {
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
            return Err(RelationalError::not_supported("a correlated subquery over rows with random values").into());
        }
        Ok(Keys { outer: outer.clone(), columns, numbers: self.numbers })
    }

    /// A subquery's plan for each of its keys, and the outer columns that these are.
    pub(super) fn keyed(&self, plan: &LogicalPlan) -> Result<(Vec<Column>, Keyed)> {
        let keys = self.keys(plan)?;
        let keyed = keys.through(plan)?;
        Ok((keys.columns, keyed))
    }

    /// `EXISTS` as a condition that rows have to meet.
    pub(super) fn semi_join(&mut self, exists: &Exists) -> Result<()> {
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
        value_of(value, aggregate, &keys.columns, results)
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
