//! Aggregates of which a store makes a part where the rows are.

use std::sync::Arc;

use saltwing_access::{Aggregation, PartialCall, PartialSource, ScanContext, ScanRoute, ScanSpec, Snapshot};
use saltwing_bind::AggregateCall;
use saltwing_planner::{Aggregate, AggregateStrategy, GroupOrder, TableAccess};
use saltwing_types::function::aggregate::AggregateState;
use saltwing_types::{ColumnRef, Direction, Expr, SortOrder};

use super::grouped::AggregatePlan;
use crate::ExecError;

/// An aggregation of plain columns: a store may make a part of it.
pub(crate) struct PartialPlan {
    /// By place among the scanned columns.
    groups: Box<[usize]>,
    calls: Box<[PartialCall]>,
    /// The groups that the parts are added to. They come in any order, so this plan never streams.
    plan: Arc<AggregatePlan>,
}

impl PartialPlan {
    /// That of an aggregate over scanned columns; `None` if it has other keys, calls or arguments than plain columns.
    pub(crate) fn of(
        aggregate: &Aggregate,
        scanned: &[usize],
        access: &TableAccess,
    ) -> Result<Option<Self>, ExecError> {
        let place = |expr: &Expr| match expr {
            Expr::Column(column) => scanned.iter().position(|index| *index == column.index),
            _ => None,
        };
        let grouping = &aggregate.grouping;
        let groups: Option<Box<[usize]>> = grouping.keys.iter().map(place).collect();
        let calls: Option<Box<[PartialCall]>> = grouping.calls.iter().map(|call| partial_call(call, place)).collect();
        let (Some(groups), Some(calls)) = (groups, calls) else { return Ok(None) };
        let mut grouping = grouping.clone();
        let strategy = match aggregate.strategy {
            AggregateStrategy::Ungrouped => AggregateStrategy::Ungrouped,
            AggregateStrategy::Hash => AggregateStrategy::Hash,
            AggregateStrategy::Streaming => {
                if grouping.order.is_empty() {
                    grouping.order = order_of_key(access, &grouping.keys);
                }
                AggregateStrategy::Hash
            }
        };
        let plan = Arc::new(AggregatePlan::new(&Aggregate { grouping, strategy }, false)?);
        Ok(Some(Self { groups, calls, plan }))
    }

    /// The groups that the parts are added to.
    pub(crate) fn plan(&self) -> &Arc<AggregatePlan> {
        &self.plan
    }

    /// Starts the aggregation of the rows of some routes; `None` if the store does not make it.
    pub(crate) fn start(
        &self,
        snapshot: &dyn Snapshot,
        (spec, routes): (&ScanSpec, Vec<ScanRoute>),
        context: &ScanContext,
    ) -> Result<Option<Vec<Box<dyn PartialSource>>>, ExecError> {
        let aggregation = Aggregation { spec, groups: &self.groups, calls: &self.calls };
        let start = |route| snapshot.aggregate(&aggregation, route, context.clone());
        Ok(routes.into_iter().map(start).collect::<Result<Option<Vec<_>>, _>>()?)
    }
}

/// What a store makes of the rows for a call.
fn partial_call(call: &AggregateCall, place: impl Fn(&Expr) -> Option<usize>) -> Option<PartialCall> {
    if call.distinct || call.filter.is_some() {
        return None;
    }
    let state = call.function.state();
    let Some(argument) = &call.argument else {
        return (state == AggregateState::Count).then_some(PartialCall::Rows);
    };
    let is_integer = argument.sql_type().is_some_and(|ty| ty.is_integer());
    let place = place(argument)?;
    match state {
        AggregateState::Count => Some(PartialCall::Known(place)),
        AggregateState::Least => Some(PartialCall::Min(place)),
        AggregateState::Greatest => Some(PartialCall::Max(place)),
        AggregateState::Sum | AggregateState::SumAndCount => is_integer.then_some(PartialCall::Total(place)),
    }
}

/// The order in which a scan of an access gives groups of columns of its key.
fn order_of_key(access: &TableAccess, groups: &[Expr]) -> Vec<GroupOrder> {
    let is_reverse = access.direction() == Direction::Reverse;
    let parts = access.key().columns.iter();
    let order = parts.filter_map(|part| {
        let column = part.column()?;
        let (place, of) = groups.iter().enumerate().find_map(|(place, group)| match group {
            Expr::Column(group) if group.index == column => Some((place, group)),
            _ => None,
        })?;
        let is_descending = (part.order == SortOrder::Desc) != is_reverse;
        let order = if is_descending { SortOrder::Desc } else { SortOrder::Asc };
        // NULL is the least value of a key.
        let expr = Expr::Column(ColumnRef { index: place, ..of.clone() });
        Some(GroupOrder { expr, order, nulls_first: !is_descending })
    });
    order.collect()
}
