//! Expressions and conditions.

use std::collections::{BTreeMap, HashSet};

use datafusion::common::TableReference;
use datafusion::logical_expr::{Expr as PlanExpr, Operator};
use saltwing_plan::Condition;
use saltwing_types::{ColumnRef, CompareOp, Expr, SqlType, typing};

use super::translator::Translator;
use super::{Planner, Result};
use crate::RelationalError;
use crate::expression::comparison::{Side, between_relations};
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

    /// Whether an expression is over one relation.
    fn is_plain(&self, expr: &Expr) -> bool {
        self.relations_of(expr).len() < 2
    }

    /// A condition. Over several relations its comparisons, AND and OR are DataFusion's: joins find their keys in these.
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
            Expr::Compare(op, a, b) => self.comparison(*op, a, b, expr),
            other => self.expr(other),
        }
    }

    /// A comparison: between two relations in a form in which joins find their keys.
    fn comparison(&self, op: CompareOp, a: &Expr, b: &Expr, whole: &Expr) -> Result<PlanExpr> {
        let (of_a, of_b) = (self.relations_of(a), self.relations_of(b));
        let joins = !of_a.is_empty() && !of_b.is_empty() && of_a.is_disjoint(&of_b);
        if !joins || whole.is_of_engine() && [a, b].iter().any(|side| side.sql_type() == Some(SqlType::Opaque)) {
            return self.expr(whole);
        }
        let decides = self.expr(whole)?;
        Ok(between_relations(op, self.compared(a)?, self.compared(b)?, decides)?)
    }

    fn compared(&self, expr: &Expr) -> Result<Side> {
        let ty = expr.sql_type().unwrap_or(SqlType::Null);
        Ok(Side { value: self.expr(expr)?, ty, nullable: expr.is_nullable() })
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
