//! Aggregations.

use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::utils::COUNT_STAR_EXPANSION;
use datafusion::logical_expr::{Expr as PlanExpr, GroupingSet, LogicalPlan, LogicalPlanBuilder};
use saltwing_bind::{
    AggregateFunction as OwnFunction, CallColumn, ComputedColumn, GroupCall, GroupingColumn, GroupingSets,
    group_columns,
};
use saltwing_types::SqlType;

use super::{Planner, Result};
use crate::RelationalError;
use crate::expression::order_form::{order_form, without_form};

impl Planner<'_> {
    pub(super) fn aggregate(
        &mut self,
        input: LogicalPlan,
        keys: &[ComputedColumn],
        calls: &[CallColumn],
    ) -> Result<LogicalPlan> {
        let key_exprs = keys.iter().map(|key| self.expr(&key.expr)).collect::<Result<Vec<_>>>()?;
        let call_exprs = calls.iter().map(|call| self.call(call)).collect::<Result<Vec<_>>>()?;
        let plan = LogicalPlanBuilder::from(input).aggregate(key_exprs, call_exprs)?.build()?;
        let given = plan.schema().columns();
        if given.len() != keys.len() + calls.len() {
            return Err(RelationalError::bug("an aggregation gives other columns than its keys and calls"));
        }
        let mut exprs = Vec::with_capacity(given.len());
        for (column, given) in group_columns(keys, calls).zip(given) {
            let is_known = self.columns.get(&column.index) == Some(&given);
            let given = PlanExpr::Column(given);
            let call = exprs.len().checked_sub(keys.len()).and_then(|place| calls.get(place));
            exprs.push(match call {
                _ if is_known => given,
                Some(call) => self.call_result(call, given)?,
                None => self.named(given, column),
            });
        }
        Ok(LogicalPlanBuilder::from(plan).project(exprs)?.build()?)
    }

    /// An aggregation by sets of keys. DataFusion gives the keys in the order in which the sets name them, then the number of the set.
    pub(super) fn aggregate_of_sets(
        &mut self,
        input: LogicalPlan,
        keys: &[ComputedColumn],
        calls: &[CallColumn],
        GroupingSets { sets, groupings }: &GroupingSets,
    ) -> Result<LogicalPlan> {
        let key_exprs = keys.iter().map(|key| self.expr(&key.expr)).collect::<Result<Vec<_>>>()?;
        let of = |places: &[usize]| -> Vec<PlanExpr> {
            places.iter().filter_map(|place| key_exprs.get(*place)).cloned().collect()
        };
        let mut call_exprs = calls.iter().map(|call| self.call(call)).collect::<Result<Vec<_>>>()?;
        for GroupingColumn { keys, .. } in groupings {
            let function = self.aggregate_function(GROUPING)?;
            let call = AggregateFunction::new_udf(function, of(keys), false, None, Vec::new(), None);
            call_exprs.push(PlanExpr::AggregateFunction(call));
        }
        let group = PlanExpr::GroupingSet(GroupingSet::GroupingSets(sets.iter().map(|set| of(set)).collect()));
        let plan = LogicalPlanBuilder::from(input).aggregate([group], call_exprs)?.build()?;
        let mut order: Vec<usize> = Vec::with_capacity(keys.len());
        for place in sets.iter().flatten() {
            if !order.contains(place) {
                order.push(*place);
            }
        }
        let given = plan.schema().columns();
        let Some((of_keys, of_calls)) = given.split_at_checked(keys.len()) else {
            return Err(RelationalError::bug("an aggregation by sets has fewer columns than keys"));
        };
        let mut exprs = Vec::with_capacity(given.len());
        for (given, key) in of_keys.iter().zip(order.iter().filter_map(|place| keys.get(*place))) {
            exprs.push(self.named(PlanExpr::Column(given.clone()), &key.column));
        }
        let mut of_calls = of_calls.iter().skip(1);
        for (call, given) in calls.iter().zip(&mut of_calls) {
            exprs.push(self.call_result(call, PlanExpr::Column(given.clone()))?);
        }
        for (grouping, given) in groupings.iter().zip(of_calls) {
            exprs.push(self.named(PlanExpr::Column(given.clone()), &grouping.column));
        }
        Ok(LogicalPlanBuilder::from(plan).project(exprs)?.build()?)
    }

    /// The column of a call, from what DataFusion gives.
    fn call_result(&mut self, CallColumn { column, call }: &CallColumn, given: PlanExpr) -> Result<PlanExpr> {
        let is_form = matches!(call, GroupCall::Own(call) if is_extreme_of_char(call.function, call.ty));
        let value = if is_form { without_form(given, column.ty)? } else { given };
        Ok(self.named(value, column))
    }

    fn call(&self, CallColumn { call, .. }: &CallColumn) -> Result<PlanExpr> {
        let call = match call {
            GroupCall::Own(call) => call,
            GroupCall::Engine(call) => return self.translated(|translator| translator.aggregate(call)),
        };
        let function = self.aggregate_function(&call.function.name().to_lowercase())?;
        let argument = match &call.argument {
            Some(argument) if is_extreme_of_char(call.function, call.ty) => order_form(self.expr(argument)?, call.ty)?,
            Some(argument) => self.expr(argument)?,
            None => PlanExpr::Literal(COUNT_STAR_EXPANSION, None),
        };
        let filter = call.filter.as_ref().map(|filter| self.expr(filter)).transpose()?.map(Box::new);
        let call = AggregateFunction::new_udf(function, vec![argument], call.distinct, filter, Vec::new(), None);
        Ok(PlanExpr::AggregateFunction(call))
    }
}

/// DataFusion's function that tells which keys a row of a grouping set is grouped by.
const GROUPING: &str = "grouping";

/// Whether a call gives the least or the greatest CHAR: that of the forms, which compare in Arrow as CHARs do.
pub(super) fn is_extreme_of_char(function: OwnFunction, ty: SqlType) -> bool {
    matches!((function, ty), (OwnFunction::Min | OwnFunction::Max, SqlType::Char(_)))
}
