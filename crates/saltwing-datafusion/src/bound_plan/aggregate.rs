//! Aggregations.

use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::utils::COUNT_STAR_EXPANSION;
use datafusion::logical_expr::{Expr as PlanExpr, GroupingSet, LogicalPlan, LogicalPlanBuilder};
use saltwing_bind::{CallColumn, ComputedColumn, GroupingColumn, GroupingSets, group_columns};

use super::{Planner, Result};
use crate::RelationalError;
use crate::lowering::GROUPING;

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
            exprs.push(if is_known { given } else { self.named(given, column) });
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
        let columns = calls.iter().map(|call| &call.column).chain(groupings.iter().map(|it| &it.column));
        for (given, column) in of_calls.iter().skip(1).zip(columns) {
            exprs.push(self.named(PlanExpr::Column(given.clone()), column));
        }
        Ok(LogicalPlanBuilder::from(plan).project(exprs)?.build()?)
    }

    fn call(&self, CallColumn { call, .. }: &CallColumn) -> Result<PlanExpr> {
        let function = self.aggregate_function(&call.function.name().to_lowercase())?;
        let argument = match &call.argument {
            Some(argument) => self.expr(argument)?,
            None => PlanExpr::Literal(COUNT_STAR_EXPANSION, None),
        };
        let filter = call.filter.as_ref().map(|filter| self.expr(filter)).transpose()?.map(Box::new);
        let call = AggregateFunction::new_udf(function, vec![argument], call.distinct, filter, Vec::new(), None);
        Ok(PlanExpr::AggregateFunction(call))
    }
}
