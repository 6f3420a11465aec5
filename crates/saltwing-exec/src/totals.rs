//! COUNT, SUM and AVG over all rows of a range: added up where blocks have them, as one row of values.

use saltwing_access::{RowSource, Total, Totals};
use saltwing_expr::RowValues;
use saltwing_expr::sum::{average_of_integers, sum_of_integers, wrapped};
use saltwing_planner::TotalOutput;
use saltwing_types::{Value, ValueError};

use crate::ExecError;
use crate::parts::totals;

/// The value of an output.
fn value(output: TotalOutput, totals: &Totals) -> Result<Value, ValueError> {
    let of = |place: usize| totals.columns.get(place).copied().unwrap_or_default();
    let of_some = |Total { known, sum }: Total, value: fn(i128, u64) -> Result<Value, ValueError>| match known {
        0 => Ok(Value::Null),
        known => value(sum, known),
    };
    match output {
        TotalOutput::Rows => Ok(Value::Int(totals.rows as i64)),
        TotalOutput::Known(place) => Ok(Value::Int(of(place).known as i64)),
        TotalOutput::Sum(place) => of_some(of(place), |sum, _| sum_of_integers(sum).map(Value::Int)),
        TotalOutput::WrappingSum(place) => of_some(of(place), |sum, _| Ok(Value::Int(wrapped(sum)))),
        TotalOutput::Average(place) => {
            of_some(of(place), |sum, known| Ok(Value::Double(average_of_integers(sum, known))))
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
        row.column_mut(0, column).put(value(*output, &all)?);
    }
    Ok(row)
}
