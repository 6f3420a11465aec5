//! The order of intervals.
//!
//! Intervals compare by their length ([`saltwing_types::Interval::span`]); Arrow compares the months first. So sorts go by
//! the length, and the smallest and the largest interval are the first and the last by it.

use datafusion::common::{DFSchema, Result};
use datafusion::functions_aggregate::first_last::first_value_udaf;
use datafusion::logical_expr::expr::{NullTreatment, Sort};
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
///
/// # Errors
/// MIN and MAX of intervals over a window.
pub(super) fn called_by_length(expr: PlanExpr, schema: &DFSchema) -> Result<PlanExpr> {
    match expr {
        PlanExpr::AggregateFunction(mut call) => {
            by_length(&mut call.params.order_by, schema)?;
            let is_min = call.func.name() == "min";
            if let [of] = call.params.args.as_slice()
                && (is_min || call.func.name() == "max")
                && is_interval(of, schema)?
            {
                call.params.order_by = vec![length(of.clone())?.sort(is_min, false)];
                call.params.null_treatment = Some(NullTreatment::IgnoreNulls);
                call.params.distinct = false;
                call.func = first_value_udaf();
            }
            Ok(PlanExpr::AggregateFunction(call))
        }
        PlanExpr::WindowFunction(mut window) => {
            by_length(&mut window.params.order_by, schema)?;
            let name = window.fun.name();
            if matches!(name, "min" | "max")
                && let [of] = window.params.args.as_slice()
                && is_interval(of, schema)?
            {
                let text = format!("{} of INTERVAL with OVER", name.to_uppercase());
                return Err(RelationalError::not_supported(text).help("take it of INTERVAL_SECONDS(..)").into());
            }
            Ok(PlanExpr::WindowFunction(window))
        }
        other => Ok(other),
    }
}
