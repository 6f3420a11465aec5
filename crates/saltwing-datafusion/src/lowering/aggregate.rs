//! Aggregate calls that DataFusion must see in another form.

use std::collections::HashSet;

use datafusion::logical_expr::Expr as PlanExpr;
use datafusion::logical_expr::expr::Sort;

/// Aggregates whose result depends on the order of their values, beside those that take it behind WITHIN GROUP.
const ORDERED: [&str; 5] = ["array_agg", "first_value", "last_value", "nth_value", "string_agg"];

/// `count(k ORDER BY v)` without its order: DataFusion would hand `count` the order's columns as values.
pub(super) fn without_idle_order(expr: PlanExpr) -> PlanExpr {
    let PlanExpr::AggregateFunction(mut call) = expr else { return expr };
    match ORDERED.contains(&call.func.name()) || call.func.supports_within_group_clause() {
        true => without_repeated_keys(&mut call.params.order_by),
        false => call.params.order_by.clear(),
    }
    PlanExpr::AggregateFunction(call)
}

/// `ORDER BY k, v, k`: DataFusion's aggregates count on an order in which no key stands twice.
pub(super) fn without_repeated_keys(order: &mut Vec<Sort>) {
    let mut known = HashSet::new();
    order.retain(|key| known.insert(key.expr.clone()));
}
