//! Aggregations that the servers make: a call reads a whole region, and its answer has groups instead of rows.

use std::cmp::Ordering;

use saltwing_access::{Aggregation, PartialCall, PartialGroups, PartialSource, PartialValues, TableError, Total};
use saltwing_expr::ColumnBuilder;
use saltwing_types::{SqlType, Value};

use crate::scan::RemoteScan;

pub(crate) struct RemoteAggregation {
    scan: RemoteScan,
    groups: Vec<usize>,
    calls: Vec<PartialCall>,
    /// The types of the scan's columns.
    types: Vec<SqlType>,
}

/// What a call makes of the rows of a group.
enum State {
    Count(u64),
    Total(Total),
    End(Value),
}

impl RemoteAggregation {
    /// Over a scan whose pages are whole regions.
    pub(crate) fn new(scan: RemoteScan, aggregation: &Aggregation<'_>) -> Self {
        let table = aggregation.spec.table();
        let types = aggregation.spec.columns().iter().map(|&column| table.column_type(column)).collect();
        Self { scan, groups: aggregation.groups.to_vec(), calls: aggregation.calls.to_vec(), types }
    }

    fn type_of(&self, place: usize) -> SqlType {
        self.types.get(place).copied().unwrap_or(SqlType::Null)
    }

    /// Adds a row to what a call has made so far.
    fn add(&self, call: PartialCall, state: &mut State, row: &[Value]) {
        let value = |place: usize| row.get(place).unwrap_or(&Value::Null);
        match (call, state) {
            (PartialCall::Rows, State::Count(count)) => *count += 1,
            (PartialCall::Known(place), State::Count(count)) => *count += u64::from(!value(place).is_null()),
            (PartialCall::Total(place), State::Total(total)) => *total = total.with(value(place), 1),
            (PartialCall::Min(place) | PartialCall::Max(place), State::End(end)) => {
                let wanted = if matches!(call, PartialCall::Min(_)) { Ordering::Less } else { Ordering::Greater };
                let value = value(place);
                let is_beyond = || value.compare_as(end, self.type_of(place)) == Some(wanted);
                if !value.is_null() && (end.is_null() || is_beyond()) {
                    end.clone_from(value);
                }
            }
            _ => debug_assert!(false, "the state of another call"),
        }
    }

    fn values(&self, call: PartialCall, states: Vec<State>) -> Result<PartialValues, TableError> {
        Ok(match call {
            PartialCall::Rows | PartialCall::Known(_) => {
                PartialValues::Counts(states.iter().map(|s| if let State::Count(n) = s { *n } else { 0 }).collect())
            }
            PartialCall::Total(_) => {
                let total = |state: &State| if let State::Total(total) = state { *total } else { Total::default() };
                PartialValues::Totals(states.iter().map(total).collect())
            }
            PartialCall::Min(place) | PartialCall::Max(place) => {
                let end = |state: State| if let State::End(end) = state { end } else { Value::Null };
                PartialValues::Ends(self.column(place, states.into_iter().map(end))?)
            }
        })
    }

    fn column(
        &self,
        place: usize,
        values: impl ExactSizeIterator<Item = Value>,
    ) -> Result<arrow::array::ArrayRef, TableError> {
        let mut builder = ColumnBuilder::new(self.type_of(place), values.len());
        for value in values {
            builder.append_value(&value).map_err(|source| TableError::Value { column: None, source })?;
        }
        Ok(builder.finish())
    }
}

impl PartialSource for RemoteAggregation {
    /// The groups of the rows of some calls.
    fn next_groups(&mut self) -> Result<Option<PartialGroups>, TableError> {
        let Some(rows) = self.scan.next_rows_of_values()? else { return Ok(None) };
        let mut groups: Vec<(Vec<Value>, Vec<State>)> = Vec::new();
        for row in &rows {
            let key: Vec<Value> =
                self.groups.iter().map(|place| row.get(*place).cloned().unwrap_or(Value::Null)).collect();
            let place = groups.iter().position(|(known, _)| *known == key).unwrap_or(groups.len());
            if place == groups.len() {
                let states = self.calls.iter().map(|call| match call {
                    PartialCall::Rows | PartialCall::Known(_) => State::Count(0),
                    PartialCall::Total(_) => State::Total(Total::default()),
                    PartialCall::Min(_) | PartialCall::Max(_) => State::End(Value::Null),
                });
                groups.push((key, states.collect()));
            }
            let Some((_, states)) = groups.get_mut(place) else { continue };
            for (call, state) in self.calls.iter().zip(states) {
                self.add(*call, state, row);
            }
        }
        let (keys, states): (Vec<_>, Vec<_>) = groups.into_iter().unzip();
        let columns = self.groups.iter().enumerate().map(|(at, &place)| {
            let values: Vec<Value> = keys.iter().map(|key| key.get(at).cloned().unwrap_or(Value::Null)).collect();
            self.column(place, values.into_iter())
        });
        let columns = columns.collect::<Result<_, _>>()?;
        let mut by_call: Vec<Vec<State>> = self.calls.iter().map(|_| Vec::new()).collect();
        for states in states {
            by_call.iter_mut().zip(states).for_each(|(of_call, state)| of_call.push(state));
        }
        let calls = self.calls.iter().zip(by_call).map(|(call, states)| self.values(*call, states));
        Ok(Some(PartialGroups { rows: keys.len(), groups: columns, calls: calls.collect::<Result<_, _>>()? }))
    }
}
