//! Aggregates that DataFusion is to see otherwise.

use datafusion::logical_expr::Expr as PlanExpr;

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
        PlanExpr::AggregateFunction(mut call) if OF_ANY_ORDER.contains(&call.func.name()) => {
            call.params.order_by.clear();
            PlanExpr::AggregateFunction(call)
        }
        other => other,
    }
}
