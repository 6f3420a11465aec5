//! Conditions with volatile functions such as `random()`: they are evaluated where they stand, once for each row.
//!
//! DataFusion moves a condition below aggregates, DISTINCT and joins by its columns. A condition without columns moves
//! to the bottom, and two equal conditions become one. Both are right only for functions that are not volatile.

use std::sync::Arc;

use datafusion::logical_expr::{Expr as PlanExpr, Filter, LogicalPlan, Operator, Projection, lit};

use crate::RelationalError;
use crate::expression::expr_function::ExprFunction;
use crate::expression::translation::{balanced, chain};

/// The column of a condition that was computed; no statement can write its name.
const CONDITION: &str = "__saltwing_volatile";

/// A filter whose volatile conditions are computed as columns: these DataFusion neither moves nor repeats.
pub(super) fn kept_in_place(filter: Filter) -> Result<LogicalPlan, RelationalError> {
    let conjuncts = chain(&filter.predicate, Operator::And).into_iter().cloned();
    let (volatile, plain): (Vec<PlanExpr>, Vec<PlanExpr>) = conjuncts.partition(PlanExpr::is_volatile);
    let Some(condition) = balanced(volatile, Operator::And) else { return Ok(LogicalPlan::Filter(filter)) };
    let input = match balanced(plain, Operator::And) {
        Some(plain) => Arc::new(LogicalPlan::Filter(Filter::try_new(plain, filter.input)?)),
        None => filter.input,
    };
    let columns: Vec<PlanExpr> = input.schema().iter().map(PlanExpr::from).collect();
    let computed = columns.iter().cloned().chain([condition.alias(CONDITION)]).collect();
    let computed = LogicalPlan::Projection(Projection::try_new(computed, input)?);
    let condition = computed.schema().columns().pop().map_or_else(|| lit(true), PlanExpr::Column);
    let kept = LogicalPlan::Filter(Filter::try_new(condition, Arc::new(computed))?);
    Ok(LogicalPlan::Projection(Projection::try_new(columns, Arc::new(kept))?))
}

/// A join's condition whose volatile parts name a column of each side: they are checked for pairs of rows.
pub(super) fn tied_to_pairs(condition: PlanExpr, left: &LogicalPlan, right: &LogicalPlan) -> PlanExpr {
    if !condition.is_volatile() {
        return condition;
    }
    let sides: Vec<PlanExpr> = [left, right]
        .iter()
        .filter_map(|side| side.schema().columns().into_iter().next())
        .map(PlanExpr::Column)
        .collect();
    let tied = chain(&condition, Operator::And).into_iter().map(|conjunct| match conjunct.is_volatile() {
        false => conjunct.clone(),
        true => ExprFunction::tied(conjunct.clone(), sides.iter().cloned()),
    });
    balanced(tied.collect(), Operator::And).unwrap_or(condition)
}
