//! From batches of rows to the rows of groups.

use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::compute::{filter, lexsort_to_indices, take};
use arrow::datatypes::DataType;
use saltwing_access::{Memory, PartialGroups, Reservation, TableError};
use saltwing_bind::AggregateCall;
use saltwing_expr::{Columns, Filter, arrow_type};
use saltwing_planner::Grouping;
use saltwing_planner::{Aggregate, AggregateStrategy};
use saltwing_types::function::aggregate::AggregateState;
use saltwing_types::{Expr, SqlType};

use super::call::{Call, CallPlan};
use super::group_order::GroupOrder;
use super::grouping::{Groups, canonical};
use crate::ExecError;
use crate::output::Output;

/// Groups put out at once.
const BATCH_GROUPS_MAX: usize = 8192;

/// Groups of rows, made ready for any number of runs.
pub(crate) struct AggregatePlan {
    keys: Vec<Output>,
    key_types: Vec<DataType>,
    calls: Vec<CallPlan>,
    having: Option<Filter>,
    /// Empty if groups come in order.
    order: Vec<GroupOrder>,
    outputs: Vec<(String, Output)>,
    strategy: AggregateStrategy,
    /// Whether each row is a whole group.
    each_row: bool,
    takes_any_order: bool,
}

impl AggregatePlan {
    /// `each_row` says that each row is a whole group.
    pub(crate) fn new(aggregate: &Aggregate, each_row: bool) -> Result<Self, ExecError> {
        let Grouping { keys, calls, having, outputs, order } = &aggregate.grouping;
        let key_type = |key: &Expr| arrow_type(key.sql_type().unwrap_or(SqlType::Null));
        let outputs = outputs.iter().map(|output| (output.label.clone(), Output::new(output.expr.clone())));
        Ok(Self {
            keys: keys.iter().cloned().map(Output::new).collect(),
            key_types: keys.iter().map(key_type).collect(),
            calls: calls.iter().cloned().map(CallPlan::new).collect::<Result<_, _>>()?,
            having: if having.is_empty() { None } else { Some(Filter::new(having.clone())?) },
            order: order.iter().map(GroupOrder::new).collect(),
            outputs: outputs.collect(),
            strategy: aggregate.strategy,
            takes_any_order: aggregate.strategy != AggregateStrategy::Streaming && !calls.iter().any(sums_floats),
            each_row: each_row && aggregate.strategy == AggregateStrategy::Streaming,
        })
    }

    /// Whether the result is the same in whichever order the rows come. Sums of floats are not.
    pub(crate) fn takes_any_order(&self) -> bool {
        self.takes_any_order
    }

    /// Whether groups come out as soon as they are done: they must be [put out](GroupedRows::put_out) before more rows are
    /// added.
    pub(crate) fn streams(&self) -> bool {
        self.strategy == AggregateStrategy::Streaming && self.order.is_empty()
    }
}

fn sums_floats(call: &AggregateCall) -> bool {
    let is_float = |expr: &Expr| matches!(expr.sql_type().map(arrow_type), Some(DataType::Float32 | DataType::Float64));
    matches!(call.function.state(), AggregateState::Sum | AggregateState::SumAndCount)
        && call.argument.as_ref().is_some_and(is_float)
}

/// Groups while rows come in.
pub(crate) struct GroupedRows {
    plan: Arc<AggregatePlan>,
    groups: Groups,
    calls: Vec<Call>,
    /// Groups that are wanted, if they must be sorted.
    wanted: Option<usize>,
    ready: Ready,
    /// The memory account of expressions.
    memory: Arc<Memory>,
    /// The memory of the groups.
    reservation: Reservation,
}

/// Groups that are done: their keys, then their calls' results.
#[derive(Default)]
struct Ready {
    columns: Vec<Option<ArrayRef>>,
    rows: usize,
    put_out: usize,
}

impl GroupedRows {
    /// `wanted` groups are enough, if they must be sorted.
    pub(crate) fn new(
        plan: &Arc<AggregatePlan>,
        wanted: Option<usize>,
        memory: &Arc<Memory>,
    ) -> Result<Self, ExecError> {
        let groups = match plan.strategy {
            AggregateStrategy::Ungrouped => Groups::one(),
            AggregateStrategy::Streaming => Groups::runs(),
            AggregateStrategy::Hash => Groups::hashed(&plan.key_types)?,
        };
        let calls = plan.calls.iter().map(|call| Call::new(call, groups.count())).collect::<Result<_, _>>()?;
        Ok(Self {
            plan: plan.clone(),
            groups,
            calls,
            wanted,
            ready: Ready::default(),
            memory: memory.clone(),
            reservation: Reservation::new(memory.clone()),
        })
    }

    /// Adds rows of the table.
    pub(crate) fn add(&mut self, columns: &Columns, rows: usize) -> Result<(), ExecError> {
        let plan = &*self.plan;
        let key = |key: &Output| key.compute(columns, rows, &self.memory).map(canonical);
        let keys = plan.keys.iter().map(key).collect::<Result<Vec<_>, _>>()?;
        let assigned = self.groups.assign(&keys, rows)?;
        for (call, plan) in self.calls.iter_mut().zip(&plan.calls) {
            call.add(plan, columns, rows, &assigned, self.groups.count(), &self.memory)?;
        }
        // More rows of the last group may follow.
        let done = self.groups.count().saturating_sub(usize::from(!plan.each_row));
        if plan.streams() {
            // No more than the batch had: only what is kept grows.
            return self.give_up(done);
        }
        self.reserve()
    }

    /// Adds what a store has made of rows. Groups may come in any order, so the plan must not stream.
    pub(crate) fn add_partial(&mut self, partial: &PartialGroups) -> Result<(), ExecError> {
        debug_assert!(!self.plan.streams());
        let keys: Vec<ArrayRef> = partial.groups.iter().cloned().map(canonical).collect();
        let groups = self.groups.assign(&keys, partial.rows)?.of_rows();
        if self.calls.len() != partial.calls.len() {
            return Err(ExecError::Bug("a store has made values of other calls"));
        }
        for (call, values) in self.calls.iter_mut().zip(&partial.calls) {
            call.add_partial(self.groups.count(), &groups, values)?;
        }
        self.reserve()
    }

    /// Counts the memory of the groups.
    fn reserve(&mut self) -> Result<(), ExecError> {
        let bytes = self.groups.bytes() + self.calls.iter().map(Call::bytes).sum::<usize>();
        self.reservation.resize(bytes).map_err(|error| match error {
            TableError::OutOfMemory { used, limit, scope, .. } => ExecError::OutOfMemory { bytes, used, limit, scope },
            other => other.into(),
        })
    }

    /// There are no more rows.
    pub(crate) fn end(&mut self) -> Result<(), ExecError> {
        self.give_up(self.groups.count())
    }

    /// Makes the first groups ready to be put out.
    fn give_up(&mut self, count: usize) -> Result<(), ExecError> {
        if count == 0 {
            return Ok(());
        }
        let mut columns = self.groups.take(count)?;
        for call in &mut self.calls {
            columns.push(call.take(count)?);
        }
        let mut rows = count;
        let mut columns: Vec<Option<ArrayRef>> = columns.into_iter().map(Some).collect();
        if let Some(having) = &self.plan.having {
            let mask = having.mask(&columns, rows)?;
            rows = mask.true_count();
            for column in columns.iter_mut().flatten() {
                *column = filter(column, &mask)?;
            }
        }
        if !self.plan.order.is_empty() && rows > 1 {
            let by = self.plan.order.iter().map(|item| item.column(&columns, rows, &self.memory));
            let by = by.collect::<Result<Vec<_>, _>>()?;
            let sorted = lexsort_to_indices(&by, self.wanted)?;
            rows = sorted.len();
            for column in columns.iter_mut().flatten() {
                *column = take(column, &sorted, None)?;
            }
        }
        self.ready = Ready { columns, rows, put_out: 0 };
        Ok(())
    }

    /// The outputs of some groups that are ready, and how many.
    pub(crate) fn put_out(&mut self) -> Result<Option<(Vec<ArrayRef>, usize)>, ExecError> {
        let ready = &mut self.ready;
        let rows = (ready.rows - ready.put_out).min(BATCH_GROUPS_MAX);
        if rows == 0 {
            return Ok(None);
        }
        let slice = |column: &Option<ArrayRef>| column.as_ref().map(|column| column.slice(ready.put_out, rows));
        let columns: Vec<Option<ArrayRef>> = ready.columns.iter().map(slice).collect();
        ready.put_out += rows;
        let output = |(label, output): &(String, Output)| {
            output.compute(&columns, rows, &self.memory).map_err(|error| error.of_column(label))
        };
        Ok(Some((self.plan.outputs.iter().map(output).collect::<Result<_, _>>()?, rows)))
    }
}
