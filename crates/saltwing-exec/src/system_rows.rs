//! Queries over system tables: all rows of a table in memory, and one step after the other over all of them.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, UInt64Array, new_empty_array};
use arrow::compute::{SortColumn, concat, filter, lexsort_to_indices, take};
use saltwing_access::Memory;
use saltwing_bind::{ComputedColumn, RowCount};
use saltwing_expr::{Filter, arrow_type, columns_of_rows};
use saltwing_planner::{Aggregate, GroupOrder, SystemQuery, SystemStep};
use saltwing_types::{Expr, SqlType, Value, ValueError};

use crate::ExecError;
use crate::aggregate::{self, AggregatePlan, GroupedRows};
use crate::output::Output;
use crate::select::result_schema;

/// The result of a query over rows of a system table, whose values are those of the columns that the query reads.
///
/// # Errors
/// What computing a value fails with; a memory limit.
pub fn system_rows(query: &SystemQuery, rows: &[Vec<Value>], memory: &Arc<Memory>) -> Result<RecordBatch, ExecError> {
    let types: Vec<SqlType> = query.read_columns().map(|column| column.ty).collect();
    let mut now = Rows { columns: Vec::new(), count: rows.len() };
    for (column, array) in query.read_columns().zip(columns_of_rows(&types, rows)?) {
        now.put(column.index, array);
    }
    for step in &query.steps {
        match step {
            SystemStep::Filter(conditions) => now.filter(conditions)?,
            SystemStep::Compute(columns) => now.compute(columns, memory)?,
            SystemStep::Group { aggregate, columns } => now = now.grouped(aggregate, columns, memory)?,
            SystemStep::Sort(items) => now.sort(items, memory)?,
            SystemStep::Limit { limit, offset } => now.limit(*limit, *offset)?,
        }
    }
    let arrays = query.output.iter().map(|id| now.column(*id)).collect::<Result<_, _>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(now.count));
    Ok(RecordBatch::try_new_with_options(result_schema(&query.columns), arrays, &options)?)
}

/// All rows between two steps.
struct Rows {
    /// By id.
    columns: Vec<Option<ArrayRef>>,
    count: usize,
}

impl Rows {
    fn column(&self, id: usize) -> Result<ArrayRef, ExecError> {
        let column = self.columns.get(id).cloned().flatten();
        column.ok_or(ExecError::Bug("a query over a system table names a column that no step gives"))
    }

    fn put(&mut self, id: usize, column: ArrayRef) {
        if self.columns.len() <= id {
            self.columns.resize(id + 1, None);
        }
        if let Some(place) = self.columns.get_mut(id) {
            *place = Some(column);
        }
    }

    /// Has other rows in the place of these, made of each column.
    fn replace(
        &mut self,
        count: usize,
        rows: impl Fn(&ArrayRef) -> Result<ArrayRef, ExecError>,
    ) -> Result<(), ExecError> {
        for column in self.columns.iter_mut().flatten() {
            *column = rows(column)?;
        }
        self.count = count;
        Ok(())
    }

    fn filter(&mut self, conditions: &[Expr]) -> Result<(), ExecError> {
        let mask = Filter::new(conditions.to_vec())?.mask(&self.columns, self.count)?;
        self.replace(mask.true_count(), |column| Ok(filter(column, &mask)?))
    }

    fn compute(&mut self, columns: &[ComputedColumn], memory: &Arc<Memory>) -> Result<(), ExecError> {
        let compute = |computed: &ComputedColumn| {
            let values = Output::new(computed.expr.clone()).compute(&self.columns, self.count, memory);
            values.map_err(|error| error.of_column(&computed.column.name))
        };
        let values = columns.iter().map(compute).collect::<Result<Vec<_>, _>>()?;
        columns.iter().zip(values).for_each(|(computed, values)| self.put(computed.column.index, values));
        Ok(())
    }

    fn grouped(&self, aggregate: &Aggregate, ids: &[usize], memory: &Arc<Memory>) -> Result<Self, ExecError> {
        let mut groups = GroupedRows::new(&Arc::new(AggregatePlan::new(aggregate, false)?), None, memory)?;
        if self.count > 0 {
            groups.add(&self.columns, self.count)?;
        }
        groups.end()?;
        let (mut parts, mut count) = (Vec::new(), 0);
        while let Some((columns, rows)) = groups.put_out()? {
            parts.push(columns);
            count += rows;
        }
        let mut grouped = Self { columns: Vec::new(), count };
        for (place, (id, output)) in ids.iter().zip(&aggregate.grouping.outputs).enumerate() {
            let parts: Vec<&dyn Array> = parts.iter().filter_map(|part| part.get(place)).map(|part| &**part).collect();
            let column = if parts.is_empty() { new_empty_array(&arrow_type(output.ty)) } else { concat(&parts)? };
            grouped.put(*id, column);
        }
        Ok(grouped)
    }

    /// Rows that are equal in all items stay in their order.
    fn sort(&mut self, items: &[GroupOrder], memory: &Arc<Memory>) -> Result<(), ExecError> {
        let by = |item: &GroupOrder| aggregate::GroupOrder::new(item).column(&self.columns, self.count, memory);
        let mut by = items.iter().map(by).collect::<Result<Vec<_>, _>>()?;
        let places = UInt64Array::from_iter_values(0..self.count as u64);
        by.push(SortColumn { values: Arc::new(places), options: None });
        let sorted = lexsort_to_indices(&by, None)?;
        self.replace(self.count, |column| Ok(take(column, &sorted, None)?))
    }

    fn limit(&mut self, limit: RowCount, offset: RowCount) -> Result<(), ExecError> {
        if limit.is_open() || offset.is_open() {
            return Err(ValueError::BadArgument("LIMIT has no value yet".into()).into());
        }
        let known = |rows: u64| usize::try_from(rows).unwrap_or(usize::MAX);
        let from = known(offset.rows().unwrap_or(0)).min(self.count);
        let count = limit.rows().map_or(usize::MAX, known).min(self.count - from);
        self.replace(count, |column| Ok(column.slice(from, count)))
    }
}
