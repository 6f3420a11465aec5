//! Aggregates that a store makes of rows are those of the rows that a scan gives.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow::array::ArrayRef;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use saltwing_expr::value_at;
use saltwing_types::Value;

use super::fixture::{context, everything, read};
use crate::{Aggregation, PartialCall, PartialGroups, PartialValues, ScanSpec, Table, TableStore, Total};

/// What calls have made of the rows of a group.
type Group = (Vec<Value>, Vec<Made>);

#[derive(Clone, Debug, PartialEq)]
enum Made {
    Count(u64),
    Total(Total),
    End(Value),
}

/// Compares all calls over some columns, the first half of which make the groups. A store may decline.
pub(super) fn partials_are_those_of_rows(
    store: &dyn TableStore,
    table: &Arc<Table>,
    columns: &[usize],
) -> Result<(), TestCaseError> {
    let spec = ScanSpec::new(table, columns.to_vec(), Vec::new()).unwrap();
    let groups: Vec<usize> = (0..columns.len() / 2).collect();
    let mut calls = vec![PartialCall::Rows];
    for (place, column) in columns.iter().enumerate() {
        calls.extend([PartialCall::Known(place), PartialCall::Min(place), PartialCall::Max(place)]);
        if table.column_type(*column).is_integer() {
            calls.push(PartialCall::Total(place));
        }
    }
    let aggregation = Aggregation { spec: &spec, groups: &groups, calls: &calls };
    let snapshot = store.snapshot().unwrap();
    let Some(mut source) = snapshot.aggregate(&aggregation, everything(), context()).unwrap() else { return Ok(()) };
    let mut made: Vec<Group> = Vec::new();
    while let Some(partial) = source.next_groups().unwrap() {
        for row in 0..partial.rows {
            let (key, of_row) = group_of(table, columns, &aggregation, &partial, row);
            add(&mut made, key, of_row, &calls);
        }
    }
    let mut expected: Vec<Group> = Vec::new();
    for row in read(store, table, columns, everything(), &context()) {
        let key = groups.iter().map(|&place| row[place].clone()).collect();
        add(&mut expected, key, calls.iter().map(|call| of_value(*call, &row)).collect(), &calls);
    }
    let sorted = |mut groups: Vec<Group>| {
        groups.sort_by_key(|(key, _)| format!("{key:?}"));
        groups
    };
    prop_assert_eq!(sorted(made), sorted(expected));
    Ok(())
}

fn of_value(call: PartialCall, row: &[Value]) -> Made {
    match call {
        PartialCall::Rows => Made::Count(1),
        PartialCall::Known(place) => Made::Count(u64::from(!row[place].is_null())),
        PartialCall::Total(place) => Made::Total(Total::default().with(&row[place], 1)),
        PartialCall::Min(place) | PartialCall::Max(place) => Made::End(row[place].clone()),
    }
}

fn group_of(
    table: &Table,
    columns: &[usize],
    aggregation: &Aggregation<'_>,
    partial: &PartialGroups,
    row: usize,
) -> (Vec<Value>, Vec<Made>) {
    let value = |array: &ArrayRef, place: usize| value_at(array, row, table.column_type(columns[place])).unwrap();
    let key = partial.groups.iter().zip(aggregation.groups).map(|(array, &place)| value(array, place)).collect();
    let made = |(call, values): (&PartialCall, &PartialValues)| match (values, call) {
        (PartialValues::Counts(counts), _) => Made::Count(counts[row]),
        (PartialValues::Totals(totals), _) => Made::Total(totals[row]),
        (PartialValues::Ends(ends), PartialCall::Min(place) | PartialCall::Max(place)) => {
            Made::End(value(ends, *place))
        }
        (PartialValues::Ends(_), call) => panic!("ends of {call:?}"),
    };
    (key, aggregation.calls.iter().zip(&partial.calls).map(made).collect())
}

fn add(groups: &mut Vec<Group>, key: Vec<Value>, more: Vec<Made>, calls: &[PartialCall]) {
    let Some((_, known)) = groups.iter_mut().find(|(of, _)| *of == key) else {
        return groups.push((key, more));
    };
    for ((call, known), more) in calls.iter().zip(known).zip(more) {
        match (known, more) {
            (Made::Count(known), Made::Count(more)) => *known += more,
            (Made::Total(known), Made::Total(more)) => known.add(more.known, more.sum),
            (Made::End(known), Made::End(more)) => {
                let wanted = if matches!(call, PartialCall::Min(_)) { Ordering::Less } else { Ordering::Greater };
                if known.is_null() || !more.is_null() && more.compare(known) == Some(wanted) {
                    *known = more;
                }
            }
            (known, more) => panic!("{known:?} and {more:?}"),
        }
    }
}
