//! Expressions and conditions.

use std::collections::{BTreeMap, HashSet};

use datafusion::common::TableReference;
use datafusion::logical_expr::expr::{Exists, InSubquery};
use datafusion::logical_expr::{Expr as PlanExpr, LogicalPlan, Operator};
use saltwing_plan::Condition;
use saltwing_types::{ColumnRef, CompareOp, Expr, SqlType, typing};

use super::translator::Translator;
use super::{Planner, Result};
use crate::RelationalError;
use crate::expression::comparison::{Side, between_relations, compares_natively};
use crate::expression::translation::balanced;

/// Most conditions of one relation that stay apart.
const SEPARATE_CONDITIONS_MAX: usize = 64;

impl Planner<'_> {
    /// All of these conditions; `None` if there is none. Of very many those over the same columns go together.
    pub(super) fn conditions(&self, conditions: &[Condition]) -> Result<Option<PlanExpr>> {
        let mut plans = Vec::with_capacity(conditions.len());
        let mut together: BTreeMap<Vec<usize>, Vec<Expr>> = BTreeMap::new();
        for Condition { expr, .. } in conditions {
            let is_one_of_many =
                conditions.len() > SEPARATE_CONDITIONS_MAX && self.is_plain(expr) && !expr.is_of_engine();
            match is_one_of_many {
                true => together.entry(expr.columns()).or_default().push(expr.clone()),
                false => plans.push(self.condition(expr)?),
            }
        }
        for group in together.into_values() {
            plans.push(self.expr(&typing::and(group)?)?);
        }
        Ok(balanced(plans, Operator::And))
    }

    /// Whether an expression is over one relation, without subqueries.
    fn is_plain(&self, expr: &Expr) -> bool {
        self.relations_of(expr).len() < 2 && !self.has_subquery(expr)
    }

    /// A condition. Over several relations and over subqueries its comparisons, AND, OR and NOT are DataFusion's: joins find their keys
    /// in these, and subqueries become joins.
    fn condition(&self, expr: &Expr) -> Result<PlanExpr> {
        if self.is_plain(expr) {
            return self.expr(expr);
        }
        let all = |list: &[Expr], op| {
            let parts = list.iter().map(|part| self.condition(part)).collect::<Result<_>>()?;
            balanced(parts, op).ok_or_else(|| RelationalError::bug("AND or OR of nothing"))
        };
        match expr {
            Expr::And(list) => all(list, Operator::And),
            Expr::Or(list) => all(list, Operator::Or),
            Expr::Not(inner) if self.has_subquery(inner) => Ok(match self.condition(inner)? {
                PlanExpr::Exists(test) => PlanExpr::Exists(Exists { negated: !test.negated, ..test }),
                PlanExpr::InSubquery(test) => PlanExpr::InSubquery(InSubquery { negated: !test.negated, ..test }),
                other => PlanExpr::Not(Box::new(other)),
            }),
            Expr::Compare(op, a, b) => self.comparison(*op, a, b, expr),
            other => self.expr(other),
        }
    }

    /// A comparison: between two relations in a form in which joins find their keys.
    fn comparison(&self, op: CompareOp, a: &Expr, b: &Expr, whole: &Expr) -> Result<PlanExpr> {
        if op == CompareOp::Eq
            && let Some(joined) = self.in_one_row(a, b)?.map_or_else(|| self.in_one_row(b, a), |it| Ok(Some(it)))?
        {
            return Ok(joined);
        }
        let (of_a, of_b) = (self.relations_of(a), self.relations_of(b));
        let joins = !of_a.is_empty() && !of_b.is_empty() && of_a.is_disjoint(&of_b);
        if !joins || whole.is_of_engine() && [a, b].iter().any(|side| side.sql_type() == Some(SqlType::Opaque)) {
            return self.expr(whole);
        }
        // Below a comparison with an outer query there is no join yet.
        if op == CompareOp::NotDistinct && self.is_of_outer_query(a) != self.is_of_outer_query(b) {
            return self.expr(whole);
        }
        let decides = self.expr(whole)?;
        Ok(between_relations(op, self.side(a)?, self.side(b)?, decides)?)
    }

    fn side(&self, expr: &Expr) -> Result<Side> {
        let ty = expr.sql_type().unwrap_or(SqlType::Null);
        Ok(Side { value: self.expr(expr)?, ty, nullable: expr.is_nullable() })
    }

    /// `value = (SELECT ..)` as `value IN (SELECT ..)`, which is a join, if the subquery is sure to give one row; `None` if `one` is no
    /// such subquery.
    fn in_one_row(&self, value: &Expr, one: &Expr) -> Result<Option<PlanExpr>> {
        let types = value.sql_type().zip(one.sql_type());
        let is_key = types.is_some_and(|(a, b)| compares_natively(CompareOp::Eq, a, b));
        if let Expr::Column(column) = one
            && let Some(PlanExpr::ScalarSubquery(query)) = self.subqueries.get(&column.index)
            && query.outer_ref_columns.is_empty()
            && is_key
            && is_one_row(&query.subquery)
            && self.relations_of(value).len() == 1
            && self.is_plain(value)
            && !self.is_of_outer_query(value)
        {
            let test = InSubquery::new(Box::new(self.expr(value)?), query.clone(), false);
            return Ok(Some(PlanExpr::InSubquery(test)));
        }
        Ok(None)
    }

    /// Whether an expression names a column of a query around this one.
    fn is_of_outer_query(&self, expr: &Expr) -> bool {
        let mut is_outer = false;
        expr.walk(&mut |part| {
            if let Expr::Column(column) = part
                && let Some(known) = self.columns.get(&column.index)
            {
                is_outer |= self.outer.iter().any(|schema| schema.has_column(known));
            }
        });
        is_outer
    }

    fn has_subquery(&self, expr: &Expr) -> bool {
        let mut found = false;
        expr.walk(&mut |part| {
            found |= matches!(part, Expr::Column(column) if self.subqueries.contains_key(&column.index));
        });
        found
    }

    /// The relations whose columns an expression names, by their names in the plan.
    fn relations_of(&self, expr: &Expr) -> HashSet<String> {
        let mut found = HashSet::new();
        expr.walk(&mut |part| {
            if let Expr::Column(column) = part
                && let Some(column) = self.columns.get(&column.index)
            {
                found.insert(column.relation.as_ref().map_or_else(String::new, TableReference::to_string));
            }
        });
        found
    }

    pub(super) fn expr(&self, expr: &Expr) -> Result<PlanExpr> {
        self.translated(|translator| translator.expr(expr))
    }

    /// What `translate` makes of an expression over the plan's columns.
    pub(super) fn translated<T>(&self, translate: impl FnOnce(&Translator<'_>) -> Result<T>) -> Result<T> {
        let column = |column: &ColumnRef| self.column(column);
        translate(&Translator { functions: self.functions, column: &column })
    }
}

/// Whether a plan gives the row of an aggregate without groups.
pub(crate) fn is_one_row(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Aggregate(aggregate) => aggregate.group_expr.is_empty(),
        LogicalPlan::Projection(_) | LogicalPlan::SubqueryAlias(_) | LogicalPlan::Filter(_) | LogicalPlan::Sort(_) => {
            plan.inputs().first().is_some_and(|input| is_one_row(input))
        }
        _ => false,
    }
}
