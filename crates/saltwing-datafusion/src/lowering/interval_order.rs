//! The order of intervals.
//!
//! Intervals compare by their length ([`saltwing_types::Interval::span`]); Arrow compares the months first. So sorts go by
//! the length. MIN and MAX compare by it themselves (`function/aggregate/extreme.rs`).

use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::Sort;
use datafusion::logical_expr::{Expr as PlanExpr, ExprSchemable, LogicalPlan};
use saltwing_types::{SqlType, typing};

use crate::RelationalError;
use crate::expression::expr_function::{ExprFunction, argument};
use crate::expression::sql_field::field_type;

fn is_interval(expr: &PlanExpr, schema: &DFSchema) -> Result<bool> {
    Ok(field_type(&expr.to_field(schema)?.1) == Some(SqlType::Interval))
}

/// The length of an interval.
fn length(expr: PlanExpr) -> Result<PlanExpr> {
    let name = expr.schema_name().to_string();
    let call = typing::call_named("INTERVAL_SECONDS", vec![argument(0, name, SqlType::Interval, true)]);
    Ok(ExprFunction::call(call.map_err(RelationalError::from)?, vec![expr]))
}

/// A sort whose keys that are intervals are their lengths.
pub(super) fn sorted_by_length(plan: LogicalPlan) -> Result<LogicalPlan> {
    let LogicalPlan::Sort(mut sort) = plan else { return Ok(plan) };
    by_length(&mut sort.expr, sort.input.schema())?;
    Ok(LogicalPlan::Sort(sort))
}

fn by_length(keys: &mut [Sort], schema: &DFSchema) -> Result<()> {
    for key in keys {
        if is_interval(&key.expr, schema)? {
            key.expr = length(key.expr.clone())?;
        }
    }
    Ok(())
}

/// A call of an aggregate or window function that orders intervals by their lengths.
pub(super) fn called_by_length(mut expr: PlanExpr, schema: &DFSchema) -> Result<PlanExpr> {
    match &mut expr {
        PlanExpr::AggregateFunction(call) => by_length(&mut call.params.order_by, schema)?,
        PlanExpr::WindowFunction(window) => by_length(&mut window.params.order_by, schema)?,
        _ => {}
    }
    Ok(expr)
}
