//! A node of the plan whose subqueries are joined to its input.

use std::sync::Arc;

use datafusion::common::alias::AliasGenerator;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, JoinType, Result};
use datafusion::functions::expr_fn::coalesce;
use datafusion::functions_aggregate::expr_fn::count;
use datafusion::logical_expr::expr::Exists;
use datafusion::logical_expr::{Aggregate, Expr as PlanExpr, LogicalPlan, Projection, Subquery, lit};

use super::derived::derived;
use super::join::join;
use super::keys::{Grouped, Keyed, Keys, grouped_by};
use super::left::{Position, Site, has_subquery, is_left};
use super::one_value::value_of;
use super::quantified::Quantified;
use super::references::of_plan;
use super::refusal::not_supported;
use crate::RelationalError;

/// The node.
pub(super) struct Node<'a> {
    /// Its input.
    pub(super) input: LogicalPlan,
    /// The input with what was joined to it.
    pub(super) wide: LogicalPlan,
    site: Site,
    names: &'a AliasGenerator,
}

impl<'a> Node<'a> {
    pub(super) fn new(input: LogicalPlan, site: Site, names: &'a AliasGenerator) -> Self {
        Self { wide: input.clone(), input, site, names }
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
        Ok(Keys { outer: outer.clone(), columns, names: self.names })
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
        // Without keys the table still needs a column.
        let columns = keys.into_iter().map(PlanExpr::Column).chain([lit(true)]);
        let (plan, keys) = derived(plan, columns, self.names)?;
        self.wide = join(self.wide.clone(), plan, kind, outer.into_iter().zip(keys).collect(), None)?;
        Ok(())
    }

    /// `EXISTS` as a value.
    fn found(&mut self, exists: &Exists) -> Result<PlanExpr> {
        let (outer, Keyed { plan, keys }) = self.keyed(&exists.subquery.subquery)?;
        let (plan, keys, counts) = grouped_by(keys, plan, vec![count(lit(1))], self.names)?;
        self.join_values(plan, outer, keys)?;
        let count = counts.into_iter().next().map(PlanExpr::Column).ok_or_else(not_supported)?;
        let found = coalesce(vec![count.gt(lit(0_i64)), lit(false)]);
        Ok(if exists.negated { PlanExpr::Not(Box::new(found)) } else { found })
    }

    /// Joins values to the rows, of which each finds one row or none.
    fn join_values(&mut self, values: LogicalPlan, outer: Vec<Column>, keys: Vec<Column>) -> Result<()> {
        let pairs = outer.into_iter().zip(keys).collect();
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
        let first = plan.schema().columns().into_iter().next().ok_or_else(not_supported)?;
        let columns = std::iter::once(first).chain(keys).map(PlanExpr::Column);
        let (plan, mut columns) = derived(plan, columns, self.names)?;
        let value = columns.remove(0);
        self.join_values(plan, outer, columns)?;
        Ok(PlanExpr::Column(value))
    }

    /// The value of `SELECT value(aggregates) FROM ..`, which is one for no rows too.
    fn aggregate_value(&mut self, plan: &LogicalPlan, value: &PlanExpr, aggregate: &Aggregate) -> Result<PlanExpr> {
        let keys = self.keys(plan)?;
        let Grouped { keyed, results } = keys.grouped(aggregate)?;
        self.join_values(keyed.plan, keys.columns.clone(), keyed.keys)?;
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
        let plan = test.comparisons(self.wide.schema(), self.names)?;
        let compared = plan.schema().columns().into_iter().next().map(PlanExpr::Column).ok_or_else(not_supported)?;
        let (outer, Keyed { plan, keys }) = self.keyed(&plan)?;
        let (plan, keys, results) = grouped_by(keys, plan, test.aggregates(compared), self.names)?;
        self.join_values(plan, outer, keys)?;
        test.result(&results)
    }

    /// A value as a column of its own.
    fn computed(&mut self, value: PlanExpr) -> Result<PlanExpr> {
        let column = Column::new_unqualified(self.names.next("__saltwing"));
        let columns = self.wide.schema().columns().into_iter().map(PlanExpr::Column);
        let items = columns.chain([value.alias(&column.name)]).collect();
        self.wide = LogicalPlan::Projection(Projection::try_new(items, Arc::new(self.wide.clone()))?);
        Ok(PlanExpr::Column(column))
    }
}

/// Whether a plan gives other rows when it runs again.
pub(crate) fn is_volatile(plan: &LogicalPlan) -> Result<bool> {
    plan.exists(|node| Ok(node.expressions().iter().any(PlanExpr::is_volatile)))
}
