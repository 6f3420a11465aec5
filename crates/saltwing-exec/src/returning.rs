//! RETURNING: a result that is computed from the rows that a statement writes, or deletes.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use saltwing_access::{Memory, OldRow, Reservation, RowChange, Table};
use saltwing_bind::ResultColumn;
use saltwing_expr::ColumnBuilder;
use saltwing_planner::PlannedSelect;
use saltwing_types::Value;

use crate::ExecError;
use crate::select::SelectPlan;

/// The items of a RETURNING, made ready.
pub struct Returning(SelectPlan);

impl Returning {
    /// `planned` is the plan of a query for all rows of the table: its items are computed, and nothing is read.
    ///
    /// # Errors
    /// As [`SelectPlan::new`].
    pub fn new(planned: PlannedSelect) -> Result<Self, ExecError> {
        SelectPlan::new(planned).map(Self)
    }

    /// The columns of the result.
    pub fn columns(&self) -> &Arc<[ResultColumn]> {
        self.0.columns()
    }

    pub(crate) fn batch(&self, returned: ReturnedRows, memory: &Arc<Memory>) -> Result<RecordBatch, ExecError> {
        let (rows, table) = (&returned.rows, self.0.access().table());
        let scanned = self.0.spec().columns().iter().map(|&column| column_of(rows, table, column));
        let columns = self.0.outputs(scanned.collect::<Result<_, _>>()?, rows.len(), memory)?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
        Ok(RecordBatch::try_new_with_options(self.0.schema().clone(), columns, &options)?)
    }
}

/// A column of rows, by index; [`Table::row_key_index`] is `_row_key`.
fn column_of(rows: &[Vec<Value>], table: &Table, column: usize) -> Result<ArrayRef, ExecError> {
    let mut builder = ColumnBuilder::new(table.column_type(column), rows.len());
    for row in rows {
        match row.get(column) {
            Some(value) => builder.append_value(value)?,
            None => builder.append_value(&Value::Bytes(table.row_key(row)?))?,
        }
    }
    Ok(builder.finish())
}

/// The rows that a statement has written or deleted, in this order.
pub(crate) struct ReturnedRows {
    rows: Vec<Vec<Value>>,
    reserved: Reservation,
}

impl ReturnedRows {
    pub(crate) fn new(memory: &Arc<Memory>) -> Self {
        Self { rows: Vec::new(), reserved: Reservation::new(memory.clone()) }
    }

    /// A row that is deleted without being known has only moved: it comes again.
    pub(crate) fn add(&mut self, change: RowChange<'_>) -> Result<(), ExecError> {
        let row = match change {
            RowChange::Put { new, .. } => new,
            RowChange::Delete { old: OldRow::Present(old), .. } => old,
            RowChange::Delete { .. } => return Ok(()),
            RowChange::Set { .. } => {
                return Err(ExecError::Bug("a row is returned of which some columns were written"));
            }
        };
        self.reserved.resize(self.reserved.bytes() + Value::bytes_of_row(row))?;
        self.rows.push(row.to_vec());
        Ok(())
    }
}
