//! One call of an aggregate function while rows come in.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BooleanArray, NullArray, UInt32Array};
use arrow::compute::{filter, take};
use arrow::datatypes::{DataType, i256};
use saltwing_access::{Memory, PartialValues};
use saltwing_bind::{AggregateCall, AggregateFunction};
use saltwing_expr::sum::{FloatTotal, IntervalTotal, SumKind};
use saltwing_expr::{Columns, Filter, arrow_type};
use saltwing_types::function::aggregate::AggregateState;
use saltwing_types::{SqlType, ValueError};

use super::accumulator::{Accumulator, unexpected};
use super::count::{Counted, Counts};
use super::extreme::{self, End};
use super::group_table::GroupTable;
use super::grouping::{Assigned, canonical};
use super::sum::{SumOutput, Sums};

use crate::ExecError;
use crate::output::Output;

/// A call made ready for any number of runs.
pub(crate) struct CallPlan {
    call: AggregateCall,
    argument: Option<Output>,
    filter: Option<Filter>,
    /// The type of the argument, if equal values count once.
    distinct: Option<SqlType>,
}

impl CallPlan {
    pub(crate) fn new(call: AggregateCall) -> Result<Self, ExecError> {
        let filter = call.filter.clone().map(|condition| Filter::new(vec![condition])).transpose()?;
        let ty = call.argument.as_ref().and_then(|argument| argument.sql_type());
        let argument = call.argument.clone().map(Output::new);
        Ok(Self { argument, filter, distinct: ty.filter(|_| call.distinct), call })
    }

    fn values(&self, columns: &Columns, rows: usize, memory: &Arc<Memory>) -> Result<ArrayRef, ExecError> {
        match &self.argument {
            Some(argument) => argument.compute(columns, rows, memory),
            None => Ok(Arc::new(NullArray::new(rows))),
        }
    }
}

/// The state of a call for each group.
pub(crate) struct Call {
    /// Group and value of the rows that were added, if equal values count once.
    seen: Option<GroupTable>,
    accumulator: Box<dyn Accumulator>,
}

impl Call {
    /// A call over so many groups to begin with.
    pub(crate) fn new(plan: &CallPlan, groups: usize) -> Result<Self, ExecError> {
        let seen = match plan.distinct {
            Some(ty) => Some(GroupTable::new(&[DataType::UInt32, arrow_type(ty)])?),
            None => None,
        };
        let mut accumulator = accumulator(&plan.call)?;
        accumulator.resize(groups);
        Ok(Self { seen, accumulator })
    }

    /// Memory held.
    pub(crate) fn bytes(&self) -> usize {
        self.accumulator.bytes() + self.seen.as_ref().map_or(0, GroupTable::bytes)
    }

    /// Adds some rows, of which there are `groups` groups by now.
    pub(crate) fn add(
        &mut self,
        plan: &CallPlan,
        columns: &Columns,
        rows: usize,
        assigned: &Assigned,
        groups: usize,
        memory: &Arc<Memory>,
    ) -> Result<(), ExecError> {
        self.accumulator.resize(groups);
        let mask = plan.filter.as_ref().map(|filter| filter.mask(columns, rows)).transpose()?;
        if mask.is_none() && self.seen.is_none() {
            let values = plan.values(columns, rows, memory)?;
            match assigned {
                Assigned::Rows(groups) => self.accumulator.add_rows(groups, &values)?,
                Assigned::Runs(runs) => {
                    for (group, rows) in runs {
                        self.accumulator.add_run(*group, &values, rows.clone())?;
                    }
                }
            }
            return Ok(());
        }
        // An argument is not computed for rows that do not count: it may fail there.
        let groups = UInt32Array::from(assigned.of_rows());
        match mask {
            Some(mask) if mask.true_count() < rows => {
                let kept = kept_columns(columns, &mask)?;
                let values = plan.values(&kept, mask.true_count(), memory)?;
                let groups = UInt32Array::from(filter(&groups, &mask)?.to_data());
                self.add_once(&groups, values)
            }
            _ => {
                let values = plan.values(columns, rows, memory)?;
                self.add_once(&groups, values)
            }
        }
    }

    /// Adds rows, or those whose group has not seen their value yet.
    fn add_once(&mut self, groups: &UInt32Array, values: ArrayRef) -> Result<(), ExecError> {
        let Some(seen) = &mut self.seen else {
            return Ok(self.accumulator.add_rows(groups.values(), &values)?);
        };
        let values = canonical(values);
        let (mut numbers, mut firsts) = (Vec::new(), Vec::new());
        let group_column: ArrayRef = Arc::new(groups.clone());
        seen.number(&[group_column.clone(), values.clone()], values.len(), &mut numbers, &mut firsts)?;
        let firsts = UInt32Array::from(firsts);
        let groups = UInt32Array::from(take(&group_column, &firsts, None)?.to_data());
        Ok(self.accumulator.add_rows(groups.values(), &take(&values, &firsts, None)?)?)
    }

    /// Adds what a store has made of some rows of groups, of which there are `groups` by now.
    pub(crate) fn add_partial(
        &mut self,
        groups: usize,
        of_rows: &[u32],
        partial: &PartialValues,
    ) -> Result<(), ExecError> {
        self.accumulator.resize(groups);
        Ok(self.accumulator.add_partial(of_rows, partial)?)
    }

    /// The results of the first `groups` groups, which are given up.
    pub(crate) fn take(&mut self, groups: usize) -> Result<ArrayRef, ExecError> {
        Ok(self.accumulator.take(groups)?)
    }
}

fn kept_columns(columns: &Columns, mask: &BooleanArray) -> Result<Vec<Option<ArrayRef>>, ExecError> {
    let keep = |column: &Option<ArrayRef>| column.as_ref().map(|column| filter(column, mask)).transpose();
    Ok(columns.iter().map(keep).collect::<Result<_, _>>()?)
}

/// The accumulator of a call.
pub(crate) fn accumulator(call: &AggregateCall) -> Result<Box<dyn Accumulator>, ValueError> {
    let Some(ty) = call.argument.as_ref().and_then(|argument| argument.sql_type()) else {
        return Ok(Box::new(Counts::new(Counted::Rows)));
    };
    let data_type = arrow_type(ty);
    let output = match call.function.state() {
        AggregateState::Count => return Ok(Box::new(Counts::new(Counted::Values))),
        AggregateState::Least => return extreme::accumulator(End::Min, ty, &data_type),
        AggregateState::Greatest => return extreme::accumulator(End::Max, ty, &data_type),
        AggregateState::Sum => SumOutput::Sum,
        AggregateState::SumAndCount => SumOutput::Average,
    };
    Ok(match SumKind::of(&data_type).map(|kind| kind_of(call.function, kind)) {
        Some(kind @ (SumKind::Integers | SumKind::WrappingIntegers)) => Box::new(Sums::<i128>::new(kind, output)),
        Some(kind @ SumKind::Decimals(_)) => Box::new(Sums::<i256>::new(kind, output)),
        Some(kind @ SumKind::Floats) => Box::new(Sums::<FloatTotal>::new(kind, output)),
        Some(kind @ SumKind::Intervals) => Box::new(Sums::<IntervalTotal>::new(kind, output)),
        None => return Err(unexpected(ty)),
    })
}

fn kind_of(function: AggregateFunction, kind: SumKind) -> SumKind {
    if function == AggregateFunction::WrappingSum { kind.wrapping() } else { kind }
}
