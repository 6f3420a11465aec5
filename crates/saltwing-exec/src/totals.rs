//! COUNT, SUM and AVG over all rows of a range: added up where blocks have them, as one row of values.

use saltwing_access::{RowSource, Total, Totals};
use saltwing_bind::{AggregateCall, AggregateFunction, Grouping, OutputColumn};
use saltwing_expr::RowValues;
use saltwing_planner::{PlannedSelect, ReadMode};
use saltwing_types::{Expr, Value, ValueError};

use crate::ExecError;
use crate::aggregate::{average_of_integers, sum_of_integers};
use crate::parts::totals;

/// One output of such a SELECT.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TotalOutput {
    /// `COUNT(*)`.
    Rows,
    /// `COUNT(x)` of a column, by its place among the columns scanned.
    Known(usize),
    /// `SUM(x)` of a column of integers.
    Sum(usize),
    /// `AVG(x)` of one.
    Average(usize),
}

impl TotalOutput {
    /// The outputs of a SELECT that adds up whole columns, with or without a filter; `None` of another one.
    pub(crate) fn of(planned: &PlannedSelect, grouping: &Grouping, scanned: &[usize]) -> Option<Box<[Self]>> {
        let Grouping { keys, calls, having, outputs, .. } = grouping;
        let bound = &planned.bound;
        let fits = keys.is_empty()
            && having.is_empty()
            && matches!(planned.reading, ReadMode::Rows | ReadMode::Groups)
            && bound.offset == 0
            && bound.limit != Some(0);
        if !fits {
            return None;
        }
        let output = |output: &OutputColumn| match &output.expr {
            Expr::Column(column) => Self::of_call(calls.get(column.index)?, scanned),
            _ => None,
        };
        outputs.iter().map(output).collect()
    }

    fn of_call(call: &AggregateCall, scanned: &[usize]) -> Option<Self> {
        if call.distinct || call.filter.is_some() {
            return None;
        }
        let column = match &call.argument {
            None => return (call.function == AggregateFunction::Count).then_some(Self::Rows),
            Some(Expr::Column(column)) => column,
            Some(_) => return None,
        };
        let place = scanned.binary_search(&column.index).ok()?;
        match call.function {
            AggregateFunction::Count => Some(Self::Known(place)),
            AggregateFunction::Sum if column.ty.is_integer() => Some(Self::Sum(place)),
            AggregateFunction::Avg if column.ty.is_integer() => Some(Self::Average(place)),
            _ => None,
        }
    }

    fn value(self, totals: &Totals) -> Result<Value, ValueError> {
        let of = |place: usize| totals.columns.get(place).copied().unwrap_or_default();
        let of_some = |Total { known, sum }: Total, value: fn(i128, u64) -> Result<Value, ValueError>| match known {
            0 => Ok(Value::Null),
            known => value(sum, known),
        };
        match self {
            Self::Rows => Ok(Value::Int(totals.rows as i64)),
            Self::Known(place) => Ok(Value::Int(of(place).known as i64)),
            Self::Sum(place) => of_some(of(place), |sum, _| sum_of_integers(sum).map(Value::Int)),
            Self::Average(place) => of_some(of(place), |sum, known| Ok(Value::Double(average_of_integers(sum, known)))),
        }
    }
}

/// Reads all rows of some scans, on so many threads; the values of the outputs.
pub(crate) fn row_of_totals(
    scans: Vec<Box<dyn RowSource>>,
    outputs: &[TotalOutput],
    threads: usize,
) -> Result<RowValues, ExecError> {
    let all = totals(scans, threads)?;
    let mut row = RowValues::new(outputs.len());
    row.add(1);
    for (column, output) in outputs.iter().enumerate() {
        row.column_mut(0, column).put(output.value(&all)?);
    }
    Ok(row)
}
