//! The laws of accumulators and of the numbers of groups.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Float64Array};
use proptest::prelude::*;
use saltwing_bind::{AggregateCall, AggregateFunction};
use saltwing_expr::{ColumnBuilder, arrow_type, value_at};
use saltwing_types::{ColumnRef, Decimal, Expr, Interval, SqlType, Value};

use super::call::accumulator;
use super::group_table::GroupTable;
use super::grouping::{Assigned, Groups, canonical};

const FUNCTIONS: [AggregateFunction; 6] = [
    AggregateFunction::Count,
    AggregateFunction::Sum,
    AggregateFunction::WrappingSum,
    AggregateFunction::Min,
    AggregateFunction::Max,
    AggregateFunction::Avg,
];

const TYPES: [SqlType; 7] = [
    SqlType::TinyInt,
    SqlType::Integer,
    SqlType::BigInt,
    SqlType::Double,
    SqlType::Decimal(Some((38, 3))),
    SqlType::Decimal(None),
    SqlType::Interval,
];

fn value(ty: SqlType, n: i64) -> Value {
    match ty {
        // Halves add without rounding.
        SqlType::Double => Value::Double(n as f64 / 2.0),
        SqlType::Decimal(_) => Value::Decimal(Decimal::new(n.into(), 2).unwrap()),
        // Each value has another length.
        SqlType::Interval => Value::Interval(Interval { months: n as i32, days: -(n as i32) * 7, nanos: n << 50 }),
        SqlType::BigInt => Value::Int(n * (i64::MAX / 1000)),
        _ => Value::Int(n),
    }
}

fn column(ty: SqlType, values: &[Value]) -> ArrayRef {
    let mut builder = ColumnBuilder::new(ty, values.len());
    values.iter().for_each(|value| builder.append_value(value).unwrap());
    builder.finish()
}

fn call(function: AggregateFunction, ty: SqlType) -> AggregateCall {
    let column = ColumnRef { index: 0, name: "c".into(), ty, nullable: true, span: None };
    AggregateCall { function, argument: Some(Expr::Column(column)), distinct: false, filter: None, ty }
}

/// Results by group as text, or that there was an error.
fn results(array: Result<ArrayRef, saltwing_types::ValueError>) -> Result<Vec<String>, ()> {
    let array = array.map_err(drop)?;
    let ty = saltwing_expr::sql_type(array.data_type()).unwrap();
    Ok((0..array.len()).map(|row| format!("{:?}", value_at(&array, row, ty).unwrap())).collect())
}

/// What SQL says, by a scalar loop.
fn expected(function: AggregateFunction, ty: SqlType, values: &[Value]) -> Result<String, ()> {
    let known: Vec<&Value> = values.iter().filter(|value| !value.is_null()).collect();
    if function == AggregateFunction::Count {
        return Ok(format!("{:?}", Value::Int(known.len() as i64)));
    }
    if known.is_empty() {
        return Ok(format!("{:?}", Value::Null));
    }
    let number = |value: &Value| saltwing_types::number::to_decimal(value).unwrap();
    let found = match function {
        AggregateFunction::Min => (*known.iter().min_by(|a, b| a.sort_cmp(b)).unwrap()).clone(),
        AggregateFunction::Max => (*known.iter().max_by(|a, b| a.sort_cmp(b)).unwrap()).clone(),
        _ if ty == SqlType::Interval => {
            let parts = known.iter().map(|value| if let Value::Interval(i) = value { i.parts() } else { [0; 3] });
            let sum = parts.fold([0; 3], |[a, b, c], [x, y, z]| [a + x, b + y, c + z]);
            let average = Interval::average(sum, known.len() as u64);
            let is_sum = function != AggregateFunction::Avg;
            let [months, days, nanos] = sum;
            let found = if is_sum { Interval::new(months, days, nanos) } else { average };
            Value::Interval(found.map_err(drop)?)
        }
        _ if ty == SqlType::Double => {
            let sum: f64 = known.iter().map(|value| if let Value::Double(d) = value { *d } else { 0.0 }).sum();
            Value::Double(if function == AggregateFunction::Avg { sum / known.len() as f64 } else { sum })
        }
        _ => {
            let sum = known.iter().fold(Decimal::from(0), |sum, value| sum.checked_add(number(value)).unwrap());
            let is_decimal = matches!(ty, SqlType::Decimal(_));
            match (function, is_decimal) {
                (AggregateFunction::Sum | AggregateFunction::WrappingSum, true) => Value::Decimal(sum),
                (AggregateFunction::WrappingSum, false) => Value::Int(sum.unscaled_at(0).unwrap() as i64),
                (AggregateFunction::Sum, false) => Value::Int(sum.to_i64().ok_or(())?),
                (_, true) => Value::Decimal(sum.checked_div(Decimal::from(known.len() as i64)).unwrap()),
                (_, false) => Value::Double(sum.to_f64() / known.len() as f64),
            }
        }
    };
    Ok(format!("{found:?}"))
}

proptest! {
    /// Runs and single rows, split into batches at random, give the results of a scalar loop over each group.
    #[test]
    fn accumulators_agree_with_a_scalar_loop(
        rows in prop::collection::vec((0usize..4, prop::option::of(-100i64..100)), 0..60),
        cut in 0usize..60,
        which in 0usize..FUNCTIONS.len(),
        ty in 0usize..TYPES.len(),
    ) {
        let (function, ty) = (FUNCTIONS[which], TYPES[ty]);
        let mut rows = rows;
        rows.sort_by_key(|(group, _)| *group);
        let values: Vec<Value> = rows.iter().map(|(_, n)| n.map_or(Value::Null, |n| value(ty, n))).collect();
        let by_group = |wanted: usize| -> Vec<Value> {
            rows.iter().zip(&values).filter(|((group, _), _)| *group == wanted).map(|(_, value)| value.clone()).collect()
        };
        let expected: Result<Vec<String>, ()> = (0..4).map(|group| expected(function, ty, &by_group(group))).collect();
        let cut = cut.min(rows.len());
        let (mut by_run, mut by_row) = (accumulator(&call(function, ty)).unwrap(), accumulator(&call(function, ty)).unwrap());
        for part in [0..cut, cut..rows.len()] {
            let array = column(ty, &values[part.clone()]);
            by_run.resize(4);
            by_row.resize(4);
            let groups: Vec<u32> = rows[part].iter().map(|(group, _)| *group as u32).collect();
            for group in 0..4usize {
                let start = groups.iter().position(|g| *g as usize == group).unwrap_or(0);
                let count = groups.iter().filter(|g| **g as usize == group).count();
                by_run.add_run(group, &array, start..start + count).unwrap();
            }
            by_row.add_rows(&groups, &array).unwrap();
        }
        prop_assert_eq!(&results(by_run.take(4)), &expected);
        prop_assert_eq!(&results(by_row.take(4)), &expected);
    }

    /// Two rows have one number exactly when their values are equal, NULL equal to NULL; numbers count up.
    #[test]
    fn equal_values_have_one_number(
        rows in prop::collection::vec((prop::option::of(0i64..5), prop::option::of("[ab]{0,2}")), 1..60),
        cut in 0usize..60,
        which in 0usize..3,
    ) {
        let numbers: Vec<Value> = rows.iter().map(|(n, _)| n.map_or(Value::Null, Value::Int)).collect();
        let texts: Vec<Value> = rows.iter().map(|(_, t)| t.as_ref().map_or(Value::Null, Value::text)).collect();
        let (int, text) = (SqlType::Integer, SqlType::Varchar(None));
        let columns: Vec<ArrayRef> = match which {
            0 => vec![column(int, &numbers)],
            1 => vec![column(text, &texts)],
            _ => vec![column(int, &numbers), column(text, &texts)],
        };
        let mut table = GroupTable::new(&columns.iter().map(|c| c.data_type().clone()).collect::<Vec<_>>()).unwrap();
        let (mut found, mut part_numbers, mut firsts, mut news) = (Vec::new(), Vec::new(), Vec::new(), 0);
        let cut = cut.min(rows.len());
        for part in [0..cut, cut..rows.len()] {
            let columns: Vec<ArrayRef> = columns.iter().map(|c| c.slice(part.start, part.len())).collect();
            table.number(&columns, part.len(), &mut part_numbers, &mut firsts).unwrap();
            news += firsts.len();
            found.extend_from_slice(&part_numbers);
        }
        let mut known = BTreeMap::new();
        for (row, number) in found.iter().enumerate() {
            let key = match which {
                0 => format!("{:?}", numbers[row]),
                1 => format!("{:?}", texts[row]),
                _ => format!("{:?} {:?}", numbers[row], texts[row]),
            };
            let next = known.len() as u32;
            prop_assert_eq!(*known.entry(key).or_insert(next), *number);
        }
        prop_assert_eq!((table.len(), news), (known.len(), known.len()));
    }
}

#[test]
fn a_group_goes_on_in_the_next_batch_and_the_done_ones_are_given_up() {
    let mut groups = Groups::runs();
    let text = SqlType::Varchar(None);
    let batch = |values: &[&str]| -> Vec<ArrayRef> {
        vec![column(text, &values.iter().map(|value| Value::text(*value)).collect::<Vec<_>>())]
    };
    let runs = |assigned: Assigned| assigned.of_rows();
    assert_eq!(runs(groups.assign(&batch(&["a", "a", "a", "a", "b"]), 5).unwrap()), [0, 0, 0, 0, 1]);
    assert_eq!(runs(groups.assign(&batch(&["b", "c"]), 2).unwrap()), [1, 2]);
    let done = groups.take(2).unwrap();
    assert_eq!(done[0].len(), 2);
    assert_eq!(groups.count(), 1);
    assert_eq!(runs(groups.assign(&batch(&["c", "d"]), 2).unwrap()), [0, 1]);
    assert_eq!(arrow_type(text), *groups.take(2).unwrap()[0].data_type());
}

#[test]
fn equal_floats_have_one_form() {
    let column: ArrayRef = Arc::new(Float64Array::from(vec![-0.0, 0.0, f64::NAN, -f64::NAN]));
    let column = canonical(column);
    let mut table = GroupTable::new(&[column.data_type().clone()]).unwrap();
    let (mut numbers, mut firsts) = (Vec::new(), Vec::new());
    table.number(&[column], 4, &mut numbers, &mut firsts).unwrap();
    assert_eq!(numbers, [0, 0, 1, 1]);
}

#[test]
fn a_sum_of_floats_that_overflows_is_an_error_and_an_infinity_is_not() {
    let sum = |values: Vec<f64>| {
        let mut sum = accumulator(&call(AggregateFunction::Sum, SqlType::Double)).unwrap();
        sum.resize(1);
        let rows = values.len();
        sum.add_run(0, &Float64Array::from(values), 0..rows).unwrap();
        results(sum.take(1))
    };
    assert_eq!(sum(vec![1e308, 1e308]), Err(()));
    assert_eq!(sum(vec![1e308, f64::INFINITY]), Ok(vec!["Double(inf)".into()]));
}
