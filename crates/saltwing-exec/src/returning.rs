//! RETURNING: a result that is computed from the rows that a statement writes, or deletes.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, RecordBatchOptions, StringArray};
use arrow::datatypes::{DataType, Field, FieldRef, Schema};
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

/// What a statement does to a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowAction {
    /// It writes a new one.
    Insert,
    /// It changes one.
    Update,
    /// It deletes one.
    Delete,
}

impl RowAction {
    /// Its word, as `MERGE_ACTION()` gives it.
    fn word(self) -> &'static str {
        match self {
            Self::Insert => "INSERT",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
        }
    }
}

/// The rows that a statement has written or deleted, in this order.
pub(crate) struct ReturnedRows {
    rows: Vec<Vec<Value>>,
    /// What was done to each of them.
    actions: Vec<RowAction>,
    /// What a row is written for.
    pub(crate) puts: RowAction,
    reserved: Reservation,
}

/// The rows that a statement has written or deleted as a batch: all columns of the table, its physical key, the place of each row among them, and
/// what was done to it. Without rows it is the batch of none.
pub(crate) fn batch_of_rows(table: &Table, returned: &ReturnedRows) -> Result<RecordBatch, ExecError> {
    let rows = &returned.rows;
    let of_table = 0..=table.row_key_index();
    let mut fields: Vec<FieldRef> = table.schema().fields().iter().take(of_table.end() + 1).cloned().collect();
    let mut columns = of_table.map(|column| column_of(rows, table, column)).collect::<Result<Vec<_>, _>>()?;
    fields.push(Arc::new(Field::new("place", DataType::Int64, false)));
    columns.push(Arc::new(Int64Array::from_iter_values(0..i64::try_from(rows.len()).unwrap_or(i64::MAX))));
    fields.push(Arc::new(Field::new("action", DataType::Utf8, false)));
    columns.push(Arc::new(StringArray::from_iter_values(returned.actions.iter().map(|action| action.word()))));
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?)
}

/// The batch of a statement that has written no row.
///
/// # Errors
/// As of one that has.
pub fn no_returned_rows(table: &Table, memory: &Arc<Memory>) -> Result<RecordBatch, ExecError> {
    batch_of_rows(table, &ReturnedRows::new(memory))
}

impl ReturnedRows {
    pub(crate) fn new(memory: &Arc<Memory>) -> Self {
        let (rows, actions, puts) = (Vec::new(), Vec::new(), RowAction::Insert);
        Self { rows, actions, puts, reserved: Reservation::new(memory.clone()) }
    }

    /// A row that is deleted without being known has only moved: it comes again.
    pub(crate) fn add(&mut self, change: RowChange<'_>) -> Result<(), ExecError> {
        let (row, action) = match change {
            RowChange::Put { new, .. } => (new, self.puts),
            RowChange::Delete { old: OldRow::Present(old), .. } => (old, RowAction::Delete),
            RowChange::Delete { .. } => return Ok(()),
            RowChange::Set { .. } => {
                return Err(ExecError::Bug("a row is returned of which some columns were written"));
            }
        };
        self.reserved.resize(self.reserved.bytes() + Value::bytes_of_row(row))?;
        self.rows.push(row.to_vec());
        self.actions.push(action);
        Ok(())
    }
}
