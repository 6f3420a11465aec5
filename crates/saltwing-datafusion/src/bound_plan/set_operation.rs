//! VALUES and set operations.

use std::sync::Arc;

use datafusion::logical_expr::{Expr as PlanExpr, ExprSchemable, LogicalPlan, LogicalPlanBuilder, Union, cast};
use saltwing_bind::{SetInput, SetOperator};
use saltwing_expr::arrow_type;
use saltwing_types::{ColumnRef, Expr, SqlType};

use super::counted::with_counts;
use super::{Planner, Result};
use crate::RelationalError;
use crate::expression::expr_function::{ExprFunction, argument};
use crate::expression::literal::to_scalar;
use crate::expression::sql_field::field_type;
use crate::internal_name::unique_name;

impl Planner<'_> {
    pub(super) fn values(&mut self, rows: &[Vec<Expr>], columns: &[ColumnRef]) -> Result<LogicalPlan> {
        if columns.is_empty() {
            return Ok(LogicalPlanBuilder::empty(true).build()?);
        }
        let value = |expr: &Expr| match expr {
            Expr::Literal(value, ty) => Ok(PlanExpr::Literal(to_scalar(value, *ty)?, None)),
            other => self.expr(other),
        };
        let row = |row: &Vec<Expr>| row.iter().map(value).collect::<Result<Vec<_>>>();
        let plan = LogicalPlanBuilder::values(rows.iter().map(row).collect::<Result<_>>()?)?.build()?;
        let mut exprs = Vec::with_capacity(columns.len());
        for (column, given) in columns.iter().zip(plan.schema().columns()) {
            let field = plan.schema().qualified_field_from_column(&given)?.1;
            let is_typed = field_type(field) == Some(column.ty);
            let mut value = PlanExpr::Column(given);
            if !is_typed {
                value = ExprFunction::call(argument(0, column.name.clone(), column.ty, column.nullable), vec![value]);
            }
            exprs.push(self.named(value, column));
        }
        Ok(LogicalPlanBuilder::from(plan).project(exprs)?.build()?)
    }

    pub(super) fn set_operation(
        &mut self,
        operator: SetOperator,
        inputs: &[SetInput],
        columns: &[ColumnRef],
    ) -> Result<LogicalPlan> {
        let plans = inputs.iter().enumerate().map(|(number, input)| self.set_input(input, columns, number));
        let plans = plans.collect::<Result<Vec<_>>>()?;
        let plan = match operator {
            SetOperator::Union => {
                LogicalPlan::Union(Union::try_new_with_loose_types(plans.into_iter().map(Arc::new).collect())?)
            }
            SetOperator::Intersect { all } | SetOperator::Except { all } => {
                let [left, right] = <[_; 2]>::try_from(plans)
                    .map_err(|_| RelationalError::bug("INTERSECT and EXCEPT take two queries"))?;
                let plan = match operator {
                    SetOperator::Intersect { .. } => LogicalPlanBuilder::intersect(left, right, all)?,
                    _ => LogicalPlanBuilder::except(left, right, all)?,
                };
                match plan {
                    LogicalPlan::Join(join) if all => with_counts(join)?,
                    _ if all => return Err(RelationalError::bug("INTERSECT ALL or EXCEPT ALL is no join")),
                    other => other,
                }
            }
        };
        self.renamed(plan, columns)
    }

    /// An input of an operation with these columns, under names that no other input has.
    pub(super) fn set_input(&mut self, input: &SetInput, columns: &[ColumnRef], number: usize) -> Result<LogicalPlan> {
        let plan = self.relation(&input.relation)?;
        let named = |(given, column): (&ColumnRef, &ColumnRef)| {
            let given = self.column(given)?;
            // Functions of DataFusion's give integers without a sign, for example.
            let is_own = column.ty == SqlType::Opaque || given.get_type(plan.schema())? == arrow_type(column.ty);
            let given = if is_own { given } else { cast(given, arrow_type(column.ty)) };
            Ok(given.alias(unique_name(&column.name, format_args!("{}.{number}", column.index))))
        };
        let exprs = input.columns.iter().zip(columns).map(named).collect::<Result<Vec<_>>>()?;
        Ok(LogicalPlanBuilder::from(plan).project(exprs)?.build()?)
    }

    /// A plan whose columns are these, in order.
    pub(super) fn renamed(&mut self, plan: LogicalPlan, columns: &[ColumnRef]) -> Result<LogicalPlan> {
        let given = plan.schema().columns();
        let named = |(column, given)| self.named(PlanExpr::Column(given), column);
        let exprs: Vec<PlanExpr> = columns.iter().zip(given).map(named).collect();
        Ok(LogicalPlanBuilder::from(plan).project(exprs)?.build()?)
    }
}
