//! UPDATE, DELETE and MERGE: changes of rows that are there, which a query finds.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow::array::{AsArray, BinaryArray, RecordBatch};
use arrow::datatypes::BinaryType;
use saltwing_access::{OldRow, Reservation, RowChange, ScanContext, Table, TableError};
use saltwing_bind::{ChangedColumns, RowRules};
use saltwing_planner::TableAccess;
use saltwing_types::{SqlType, Value, text};

use crate::ExecError;
use crate::check::{check_row, complete_row};
use crate::looked_up_rows::LookedUpRows;
use crate::row_values::row_of_batch;
use crate::transaction::Attempt;
use crate::write::{duplicate_key, put_dynamic, put_time_of_write};

/// How often a statement's query may give the same row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeats {
    /// It gives each row once.
    None,
    /// A row of a join may come again with the same change, and counts once: UPDATE .. FROM, DELETE .. USING.
    Alike,
    /// It is an error: MERGE.
    Refused,
}

/// The rows of a table that a statement changes.
///
/// In the batches that it takes, the first column is the physical key of a row; the others are all columns of the table, after them dynamic ones,
/// and after those the columns of the table before the change, if the statement must know them.
pub struct TargetRows<'s, 'a> {
    attempt: &'s mut Attempt<'a>,
    table: &'s Arc<Table>,
    rules: Option<RowRules>,
    repeats: Repeats,
    /// The rows changed so far, if the statement's query may repeat them: `None` for a row that is deleted.
    changed: HashMap<Vec<u8>, Option<Vec<Value>>>,
    moved: MovedRows,
    /// The memory of `changed` and `moved`.
    reserved: Reservation,
    rows: u64,
}

impl<'s, 'a> TargetRows<'s, 'a> {
    /// No rows yet.
    pub fn new(attempt: &'s mut Attempt<'a>, table: &'s Arc<Table>, repeats: Repeats) -> Self {
        let (changed, moved) = (HashMap::new(), MovedRows::default());
        let reserved = Reservation::new(attempt.memory().clone());
        Self { attempt, table, rules: None, repeats, changed, moved, reserved, rows: 0 }
    }

    /// Makes the new rows of updates obey the rules of the table.
    #[must_use]
    pub fn obeying(self, rules: Option<RowRules>) -> Self {
        Self { rules, ..self }
    }

    /// The statement.
    pub fn attempt(&mut self) -> &mut Attempt<'a> {
        self.attempt
    }

    /// Deletes the rows that an access finds.
    ///
    /// # Errors
    /// The scan's; [`ExecError::TooLarge`].
    pub fn delete_found(&mut self, access: &TableAccess, context: &ScanContext) -> Result<(), ExecError> {
        let all = if self.attempt.keeps_rows() || self.table.is_compared() { self.columns() } else { Vec::new() };
        let columns: Vec<usize> = [self.table.row_key_index()].into_iter().chain(all).collect();
        let types: Vec<SqlType> = columns.iter().map(|&column| self.table.column_type(column)).collect();
        let spec = access.spec(columns)?;
        let mut scan = spec.scan(self.attempt.snapshot(), access.route(None), context.clone())?;
        while let Some(batch) = scan.next_batch()? {
            self.delete(&types, &batch)?;
        }
        Ok(())
    }

    /// Deletes the rows of a batch. If it has columns after the key, they are the rows as they are, of these types.
    ///
    /// # Errors
    /// [`ExecError::TooLarge`], [`ExecError::ChangedTwice`].
    pub fn delete(&mut self, types: &[SqlType], batch: &RecordBatch) -> Result<(), ExecError> {
        let columns = if batch.num_columns() > 1 { self.columns() } else { Vec::new() };
        if columns.is_empty() {
            self.attempt.look_up(self.table, keys_of(batch)?.iter().flatten().map(<[u8]>::to_vec))?;
        }
        for (row, key) in keys_of(batch)?.iter().enumerate() {
            let Some(key) = key else { continue };
            if !self.is_first(key, || Ok(None))? {
                continue;
            }
            let old = match columns.is_empty() {
                true => None,
                false => Some(row_of_batch(self.table, (&columns, &[]), types, batch, (row, 1))?),
            };
            let old = old.as_deref().map_or(OldRow::Unknown, OldRow::Present);
            self.attempt.apply(self.table, RowChange::Delete { key, old }, None)?;
            self.attempt.end_part()?;
            self.rows += 1;
        }
        Ok(())
    }

    /// Replaces the rows of a batch by those that it has after the keys, with the values of dynamic columns after them; the
    /// values are of these types.
    ///
    /// Keys that change are judged by [`TargetRows::end`], when all rows are known: `SET k = k + 1` moves every row.
    ///
    /// # Errors
    /// [`ExecError::ChangedTwice`]; those of rows and keys.
    pub fn update(
        &mut self,
        changed: &ChangedColumns,
        types: &[SqlType],
        batch: &RecordBatch,
    ) -> Result<(), ExecError> {
        let ChangedColumns { dynamic, row_timestamp } = changed;
        let (of_table, keys) = (self.table.def().columns.len(), keys_of(batch)?);
        let columns: Vec<usize> = (0..of_table + dynamic.len()).collect();
        let first_old = 1 + columns.len();
        let has_old = batch.num_columns() > first_old;
        if !has_old {
            self.attempt.look_up(self.table, keys.iter().flatten().map(<[u8]>::to_vec))?;
        }
        for row in 0..batch.num_rows() {
            let old_key = keys.value(row);
            let mut new = row_of_batch(self.table, (&columns, dynamic), types, batch, (row, 1))?;
            let values = new.split_off(of_table.min(new.len()));
            put_dynamic(self.table.def(), &mut new, dynamic.iter().zip(&values))?;
            if let Some(column) = *row_timestamp {
                let now_ms = self.attempt.snapshot().now_ms();
                put_time_of_write(self.table, &mut new, column, || now_ms)?;
            }
            if !self.is_first(old_key, || Ok(Some(new.clone())))? {
                continue;
            }
            let old = match has_old {
                true => Some(row_of_batch(self.table, (&self.columns(), &[]), types, batch, (row, first_old))?),
                false => None,
            };
            let old = old.as_deref().map_or(OldRow::Unknown, OldRow::Present);
            self.rows += 1;
            let new = complete_row(self.rules.as_ref(), self.table, new.into())?.into_owned();
            check_row(self.rules.as_ref(), self.table, &new)?;
            let key = self.table.row_key(&new)?;
            if key == old_key {
                self.attempt.apply(self.table, RowChange::Put { new: &new, old, written_ms: None }, None)?;
                self.attempt.end_part()?;
            } else {
                self.attempt.leave_key(self.table, old_key, old)?;
                self.reserve(old_key.len() + key.len() + Value::bytes_of_row(&new))?;
                self.moved.left.insert(old_key.to_vec());
                self.moved.rows.push((key, new));
            }
        }
        Ok(())
    }

    /// Puts the rows that have got another key; how many rows were changed.
    ///
    /// # Errors
    /// [`ExecError::DuplicateKey`] if two rows would have one key.
    pub fn end(self) -> Result<u64, ExecError> {
        self.moved.put(self.attempt, self.table)?;
        Ok(self.rows)
    }

    fn columns(&self) -> Vec<usize> {
        (0..self.table.def().columns.len()).collect()
    }

    /// Whether the row of this key comes for the first time; `change` is its new row.
    fn is_first(
        &mut self,
        key: &[u8],
        change: impl FnOnce() -> Result<Option<Vec<Value>>, ExecError>,
    ) -> Result<bool, ExecError> {
        if self.repeats == Repeats::None {
            return Ok(true);
        }
        let change = change()?;
        self.reserve(key.len() + change.as_deref().map_or(0, Value::bytes_of_row))?;
        match self.changed.entry(key.to_vec()) {
            Entry::Vacant(entry) => {
                entry.insert(change);
                Ok(true)
            }
            Entry::Occupied(entry) if self.repeats == Repeats::Alike && *entry.get() == change => Ok(false),
            Entry::Occupied(_) => {
                let (table, values) = (self.table.def(), self.table.codec().decode(key).map_err(TableError::from)?);
                let texts =
                    table.key.columns.iter().zip(&values).map(|(column, value)| text::literal(value, column.ty));
                let key = texts.collect::<Vec<_>>().join(", ");
                Err(ExecError::ChangedTwice { table: table.name.to_string(), key })
            }
        }
    }

    fn reserve(&mut self, bytes: usize) -> Result<(), ExecError> {
        Ok(self.reserved.resize(self.reserved.bytes() + bytes)?)
    }
}

/// The physical keys of rows, which are the first column of a batch.
fn keys_of(batch: &RecordBatch) -> Result<&BinaryArray, ExecError> {
    let keys = batch.columns().first().and_then(|column| column.as_bytes_opt::<BinaryType>());
    keys.ok_or(ExecError::Bug("the rows to be written come without their keys"))
}

/// Rows that get another key. They are put when all rows with the old keys are deleted.
#[derive(Default)]
struct MovedRows {
    /// The keys that they leave.
    left: HashSet<Vec<u8>>,
    rows: Vec<(Vec<u8>, Vec<Value>)>,
}

impl MovedRows {
    fn put(self, attempt: &mut Attempt<'_>, table: &Arc<Table>) -> Result<(), ExecError> {
        let mut taken = HashSet::with_capacity(self.rows.len());
        let snapshot = attempt.snapshot().clone();
        let arrivals = || self.rows.iter().map(|(key, _)| key).filter(|key| !self.left.contains(*key));
        let looked_up = match snapshot.reads_wait() {
            true => LookedUpRows::read(&*snapshot, table, arrivals().cloned())?,
            false => LookedUpRows::default(),
        };
        for (key, row) in &self.rows {
            let is_there = || match looked_up.get(table, key) {
                Some(row) => Ok(row.is_some()),
                None => snapshot.contains(table, key),
            };
            let is_free = self.left.contains(key) || !is_there()?;
            if !is_free || !taken.insert(key) {
                return Err(duplicate_key(table, row));
            }
            attempt.apply(table, RowChange::Put { new: row, old: OldRow::Absent, written_ms: None }, None)?;
        }
        Ok(())
    }
}
