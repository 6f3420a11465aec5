//! Expressions and conditions.

use std::collections::HashSet;

use datafusion::common::TableReference;
use datafusion::logical_expr::expr::{Exists, InSubquery};
use datafusion::logical_expr::{BinaryExpr, Expr as PlanExpr, Operator};
use saltwing_plan::Condition;
use saltwing_types::{ColumnRef, Expr};

use super::translator::Translator;
use super::{Planner, Result};
use crate::RelationalError;
use crate::expression::operator::compare_operator;
use crate::expression::translation::balanced;

impl Planner<'_> {
    /// All of these conditions; `None` if there is none.
    pub(super) fn conditions(&self, conditions: &[Condition]) -> Result<Option<PlanExpr>> {
        let conditions = conditions.iter().map(|condition| self.condition(&condition.expr)).collect::<Result<_>>()?;
        Ok(balanced(conditions, Operator::And))
    }

    /// A condition. Over several relations and over subqueries its comparisons, AND, OR and NOT are DataFusion's: joins find their keys
    /// in these, and subqueries become joins.
    fn condition(&self, expr: &Expr) -> Result<PlanExpr> {
        if self.relations_of(expr).len() < 2 && !self.has_subquery(expr) {
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
            Expr::Compare(op, a, b) => {
                let (left, right) = (Box::new(self.expr(a)?), Box::new(self.expr(b)?));
                Ok(PlanExpr::BinaryExpr(BinaryExpr::new(left, compare_operator(*op), right)))
            }
            other => self.expr(other),
        }
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
