//! Subqueries.

use std::sync::Arc;

use datafusion::common::Spans;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::expr::{Exists, InSubquery, SetComparison, SetQuantifier};
use datafusion::logical_expr::{Expr as PlanExpr, LogicalPlan, LogicalPlanBuilder, Subquery};
use saltwing_bind::{SubqueryColumn, SubqueryKind};

use super::{COMPUTED, Planner, Result};
use crate::expression::operator::compare_operator;
use crate::expression::row_value::row;

impl Planner<'_> {
    /// The value of a subquery over the rows of `input`. As a part of an expression it is what our rule makes joins of.
    pub(super) fn subquery(&mut self, input: &LogicalPlan, subquery: &SubqueryColumn) -> Result<PlanExpr> {
        let values = subquery.values().iter().map(|value| self.expr(value)).collect::<Result<Vec<_>>>()?;
        let output = &subquery.query.output;
        let plan = self.nested(input, |planner| {
            let plan = planner.relation(&subquery.query.relation)?;
            merged(planner.put_out(plan, output)?)
        })?;
        Ok(match &subquery.kind {
            SubqueryKind::Scalar => PlanExpr::ScalarSubquery(plan),
            SubqueryKind::Exists => PlanExpr::Exists(Exists::new(plan, false)),
            SubqueryKind::In { .. } => {
                let (value, plan) = self.compared_rows(values, plan)?;
                PlanExpr::InSubquery(InSubquery::new(Box::new(value), plan, false))
            }
            SubqueryKind::Quantified { op, all, .. } => {
                let (value, plan) = self.compared_rows(values, plan)?;
                let quantifier = if *all { SetQuantifier::All } else { SetQuantifier::Any };
                PlanExpr::SetComparison(SetComparison::new(Box::new(value), plan, compare_operator(*op), quantifier))
            }
        })
    }

    /// A plan that may name the columns of `outer`.
    pub(super) fn nested(
        &mut self,
        outer: &LogicalPlan,
        plan: impl FnOnce(&mut Self) -> Result<LogicalPlan>,
    ) -> Result<Subquery> {
        self.outer.push(outer.schema().clone());
        let nested = plan(self);
        self.outer.pop();
        let subquery = Arc::new(nested?);
        Ok(Subquery { outer_ref_columns: subquery.all_out_ref_exprs(), subquery, spans: Spans::new() })
    }

    /// The left side of a comparison with the rows of a subquery, and these: each side is one expression, a row of several values.
    fn compared_rows(&self, values: Vec<PlanExpr>, subquery: Subquery) -> Result<(PlanExpr, Subquery)> {
        let values = match <[PlanExpr; 1]>::try_from(values) {
            Ok([value]) => return Ok((value, subquery)),
            Err(values) => values,
        };
        let alias = format!("{COMPUTED}row");
        let members = LogicalPlanBuilder::from(subquery.subquery.as_ref().clone()).alias(alias)?;
        let columns = members.schema().columns().into_iter().map(PlanExpr::Column).collect();
        let plan = members.project([row(columns).alias(COMPUTED)])?.build()?;
        Ok((row(values), subquery.with_plan(Arc::new(plan))))
    }
}

/// A plan whose projections on top are one: subqueries of one aggregate are known by that.
fn merged(plan: LogicalPlan) -> Result<LogicalPlan> {
    let LogicalPlan::Projection(outer) = &plan else { return Ok(plan) };
    let LogicalPlan::Projection(inner) = outer.input.as_ref() else { return Ok(plan) };
    if inner.expr.iter().any(PlanExpr::is_volatile) {
        return Ok(plan);
    }
    let mut exprs = Vec::with_capacity(outer.expr.len());
    for expr in &outer.expr {
        let (qualifier, name) = expr.qualified_name();
        let value = expr.clone().unalias().transform(|part| match &part {
            PlanExpr::Column(column) => {
                let value = inner.schema.maybe_index_of_column(column).and_then(|place| inner.expr.get(place));
                Ok(match value {
                    Some(value) => Transformed::new(value.clone().unalias(), true, TreeNodeRecursion::Jump),
                    None => Transformed::no(part),
                })
            }
            _ => Ok(Transformed::no(part)),
        })?;
        exprs.push(value.data.alias_qualified(qualifier, name));
    }
    merged(LogicalPlanBuilder::from(inner.input.as_ref().clone()).project(exprs)?.build()?)
}
