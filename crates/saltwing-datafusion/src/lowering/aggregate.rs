//! Aggregate calls that DataFusion must see in another form.

use std::collections::HashSet;

use arrow::datatypes::DataType;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::Sort;
use datafusion::logical_expr::{Expr as PlanExpr, ExprSchemable, cast};

/// Aggregates whose result depends on the order of their values, beside those that take it behind WITHIN GROUP.
const ORDERED: [&str; 5] = ["array_agg", "first_value", "last_value", "nth_value", "string_agg"];

/// Aggregates that add values up.
const SUMS: [&str; 3] = ["sum", "wrapping_sum", "avg"];

/// `count(k ORDER BY v)` without its order: DataFusion would hand `count` the order's columns as values.
pub(super) fn without_idle_order(expr: PlanExpr) -> PlanExpr {
    let PlanExpr::AggregateFunction(mut call) = expr else { return expr };
    match ORDERED.contains(&call.func.name()) || call.func.supports_within_group_clause() {
        true => without_repeated_keys(&mut call.params.order_by),
        false => call.params.order_by.clear(),
    }
    PlanExpr::AggregateFunction(call)
}

/// SUM and AVG of a value without a type, which is NULL: as of a BIGINT.
pub(super) fn of_typed_values(mut expr: PlanExpr, schema: &DFSchema) -> Result<PlanExpr> {
    let (name, args) = match &mut expr {
        PlanExpr::AggregateFunction(call) => (call.func.name().to_owned(), &mut call.params.args),
        PlanExpr::WindowFunction(call) => (call.fun.name().to_owned(), &mut call.params.args),
        _ => return Ok(expr),
    };
    if let [argument] = args.as_mut_slice()
        && SUMS.contains(&name.as_str())
        && argument.get_type(schema)? == DataType::Null
    {
        *argument = cast(argument.clone(), DataType::Int64);
    }
    Ok(expr)
}

/// `ORDER BY k, v, k`: DataFusion's aggregates count on an order in which no key stands twice.
pub(super) fn without_repeated_keys(order: &mut Vec<Sort>) {
    let mut known = HashSet::new();
    order.retain(|key| known.insert(key.expr.clone()));
}
