//! Aggregate calls that DataFusion must see in another form.

use std::collections::HashSet;

use datafusion::logical_expr::Expr as PlanExpr;
use datafusion::logical_expr::expr::Sort;

/// Aggregates whose result does not hang on the order of their values.
const OF_ANY_ORDER: [&str; 26] = [
    "approx_distinct",
    "avg",
    "bit_and",
    "bit_or",
    "bit_xor",
    "bool_and",
    "bool_or",
    "corr",
    "count",
    "covar",
    "covar_pop",
    "covar_samp",
    "max",
    "mean",
    "median",
    "min",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "sum",
    "var",
    "var_pop",
    "var_population",
    "var_samp",
    "var_sample",
    "variance",
];

/// `count(k ORDER BY v)` without its order: DataFusion would hand `count` the order's columns as values.
pub(super) fn without_idle_order(expr: PlanExpr) -> PlanExpr {
    match expr {
        PlanExpr::AggregateFunction(mut call) => {
            match OF_ANY_ORDER.contains(&call.func.name()) {
                true => call.params.order_by.clear(),
                false => without_repeated_keys(&mut call.params.order_by),
            }
            PlanExpr::AggregateFunction(call)
        }
        other => other,
    }
}

/// `ORDER BY k, v, k`: DataFusion's aggregates count on an order in which no key stands twice.
pub(super) fn without_repeated_keys(order: &mut Vec<Sort>) {
    let mut known = HashSet::new();
    order.retain(|key| known.insert(key.expr.clone()));
}
