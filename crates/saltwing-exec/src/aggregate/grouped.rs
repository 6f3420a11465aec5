//! From batches of rows to the rows of groups.

use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::compute::{SortColumn, SortOptions, filter, lexsort_to_indices, take};
use saltwing_access::{Memory, Reservation, TableError};
use saltwing_bind::Grouping;
use saltwing_expr::{Columns, Filter, arrow_type};
use saltwing_types::{SortOrder, SqlType};

use super::call::Call;
use super::grouping::{Groups, canonical};
use crate::ExecError;
use crate::output::Output;

/// Groups put out at once.
const BATCH_GROUPS_MAX: usize = 8192;

/// How groups come out of the rows read.
#[derive(Clone, Debug)]
pub(crate) struct GroupOptions {
    /// Whether rows of a group follow each other.
    pub(crate) runs: bool,
    /// Whether each row is a whole group.
    pub(crate) whole: bool,
    /// Whether groups come in the order asked for.
    pub(crate) in_order: bool,
    /// Groups that are wanted, where they must be sorted.
    pub(crate) wanted: Option<usize>,
    /// What its groups count in.
    pub(crate) memory: Arc<Memory>,
}

/// Groups while rows come in.
pub(crate) struct GroupedRows {
    keys: Vec<Output>,
    groups: Groups,
    calls: Vec<Call>,
    having: Option<Filter>,
    /// Empty where groups come in order.
    order: Vec<(Output, SortOptions)>,
    outputs: Vec<(String, Output)>,
    options: GroupOptions,
    /// Whether groups are given up as soon as they are done.
    streams: bool,
    ready: Ready,
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
    pub(crate) fn new(grouping: &Grouping, options: GroupOptions) -> Result<Self, ExecError> {
        let first = usize::from(grouping.keys.is_empty());
        let calls = grouping.calls.iter().map(|call| Call::new(call, first)).collect::<Result<Vec<_>, _>>()?;
        // What a call has seen of a group cannot be given up with it.
        let runs = options.runs && calls.iter().all(Call::can_give_up_groups);
        let groups = if grouping.keys.is_empty() {
            Groups::one()
        } else if runs {
            Groups::runs()
        } else {
            let ty = |key: &saltwing_types::Expr| arrow_type(key.sql_type().unwrap_or(SqlType::Null));
            Groups::hashed(&grouping.keys.iter().map(ty).collect::<Vec<_>>())?
        };
        let having = grouping.having.clone();
        let order = grouping.order.iter().filter(|_| !options.in_order).map(|item| {
            let descending = item.order == SortOrder::Desc;
            (Output::new(item.expr.clone()), SortOptions { descending, nulls_first: item.nulls_first })
        });
        let outputs = grouping.outputs.iter().map(|output| (output.label.clone(), Output::new(output.expr.clone())));
        Ok(Self {
            keys: grouping.keys.iter().cloned().map(Output::new).collect(),
            streams: groups.are_runs() && options.in_order,
            groups,
            calls,
            having: if having.is_empty() { None } else { Some(Filter::new(having)?) },
            order: order.collect(),
            outputs: outputs.collect(),
            reservation: Reservation::new(options.memory.clone()),
            options,
            ready: Ready::default(),
        })
    }

    /// Whether groups must be [put out](GroupedRows::put_out) before more rows are added.
    pub(crate) fn streams(&self) -> bool {
        self.streams
    }

    /// Adds rows of the table.
    pub(crate) fn add(&mut self, columns: &Columns, rows: usize) -> Result<(), ExecError> {
        let key = |key: &Output| key.compute(columns, rows, &self.options.memory).map(canonical);
        let keys = self.keys.iter().map(key).collect::<Result<Vec<_>, _>>()?;
        let assigned = self.groups.assign(&keys, rows)?;
        for call in &mut self.calls {
            call.add(columns, rows, &assigned, self.groups.count(), &self.options.memory)?;
        }
        // More rows of the last group may follow.
        let done = self.groups.count().saturating_sub(usize::from(!self.options.whole));
        if self.streams {
            // No more than the batch had: only what is kept grows.
            return self.give_up(done);
        }
        let bytes = self.groups.bytes() + self.calls.iter().map(Call::bytes).sum::<usize>();
        self.reservation.resize(bytes).map_err(|error| match error {
            TableError::OutOfMemory { used, limit, .. } => ExecError::OutOfMemory { bytes, used, limit },
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
        if let Some(having) = &self.having {
            let mask = having.mask(&columns, rows)?;
            rows = mask.true_count();
            for column in columns.iter_mut().flatten() {
                *column = filter(column, &mask)?;
            }
        }
        if !self.order.is_empty() && rows > 1 {
            let by = |(expr, options): &(Output, SortOptions)| {
                let values = expr.compute(&columns, rows, &self.options.memory)?;
                Ok::<_, ExecError>(SortColumn { values, options: Some(*options) })
            };
            let by = self.order.iter().map(by).collect::<Result<Vec<_>, _>>()?;
            let sorted = lexsort_to_indices(&by, self.options.wanted)?;
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
            output.compute(&columns, rows, &self.options.memory).map_err(|error| error.of_column(label))
        };
        Ok(Some((self.outputs.iter().map(output).collect::<Result<_, _>>()?, rows)))
    }
}
