//! UPSERT, INSERT, DELETE. For rows that are there already see [`crate::TargetRows`].
//!
//! Statements that read the rows they write (INSERT, an UPSERT of some columns or of a query, DELETE) run as an
//! [`Attempt`]; an UPSERT of whole rows reads nothing, and is one commit.

use std::borrow::Cow;
use std::collections::HashSet;

use arrow::array::RecordBatch;
use saltwing_access::{OldRow, RowChange, Table, TableStore};
use saltwing_bind::{ConflictUpdate, OnConflict, UpsertTarget};
use saltwing_types::dynamic::DYNAMIC_COLUMNS;
use saltwing_types::{ColumnDef, SqlType, TableDef, Value, dynamic, eval, number};

use crate::ExecError;
use crate::check::{check_row, complete_row};
use crate::conflicting_rows::ConflictingRows;
use crate::row_values::{key_text, row_of_batch};
use crate::transaction::{Attempt, Unfinished};
use crate::writer::Writer;

impl Writer<'_> {
    /// Writes `rows`, which have a value for each of the statement's columns, brought to its type, in one commit.
    ///
    /// Returns how many rows were written. `keys` gets the physical key of each of them, in their order.
    ///
    /// # Errors
    /// [`RowFailure`] with [`ExecError::DuplicateKey`], [`ExecError::TooLarge`]; those of rows and keys.
    pub fn upsert(
        &self,
        target: &UpsertTarget,
        rows: &[Vec<Value>],
        mut keys: Option<&mut Vec<Vec<u8>>>,
    ) -> Result<u64, RowFailure> {
        // The entries of an index follow from the old row, too.
        let reads_nothing = !target.reads_rows() && target.table.indexes().is_empty();
        let is_set = is_set_unread(target, self.store);
        if self.open.is_none() && (reads_nothing || is_set) {
            return self.put_all(target, is_set, rows, keys);
        }
        let written = self.transaction(self.limits.in_one(), |attempt| {
            if let Some(keys) = &mut keys {
                keys.clear();
            }
            attempt.upsert_rows(target, rows, keys.as_deref_mut())
        });
        let (rows, ()) = written.map_err(|unfinished: Unfinished<RowFailure>| unfinished.error)?;
        Ok(rows)
    }

    /// Writes rows without a look at existing ones: whole rows, which replace them, or, if `is_set`, some columns.
    fn put_all(
        &self,
        target: &UpsertTarget,
        is_set: bool,
        rows: &[Vec<Value>],
        mut keys: Option<&mut Vec<Vec<u8>>>,
    ) -> Result<u64, RowFailure> {
        let first_id = first_id(self.store, target, rows.len())?;
        let mut writes = self.store.batch();
        for (index, row) in rows.iter().enumerate() {
            let row_id = first_id.map(|id| id + index as i64);
            let put = match is_set {
                true => {
                    let set = RowChange::Set { columns: &target.columns, values: row };
                    writes.apply(&target.table, set, keys.as_deref_mut()).map_err(ExecError::from)
                }
                false => fresh_row(target, row, row_id, || self.store.now_ms()).and_then(|row| {
                    let row = complete_row(target.rules.as_ref(), &target.table, row)?;
                    check_row(target.rules.as_ref(), &target.table, &row)?;
                    Ok(writes.apply(&target.table, RowChange::put(&row), keys.as_deref_mut())?)
                }),
            };
            put.map_err(|error| RowFailure { row: Some(index), error })?;
            self.limits.check(&*writes)?;
        }
        writes.commit(self.durability).map_err(ExecError::from)?;
        Ok(rows.len() as u64)
    }
}

/// An error of rows that are written together.
#[derive(Debug)]
pub struct RowFailure {
    /// The row that it is about, if it is one: its place, from 0.
    pub row: Option<usize>,
    /// The error.
    pub error: ExecError,
}

impl From<ExecError> for RowFailure {
    fn from(error: ExecError) -> Self {
        Self { row: None, error }
    }
}

impl Attempt<'_> {
    /// Writes rows, which have a value for each of the statement's columns, brought to its type. `keys` gets the physical
    /// key of each of them that is written.
    ///
    /// # Errors
    /// As [`Writer::upsert`].
    pub fn upsert_rows(
        &mut self,
        target: &UpsertTarget,
        rows: &[Vec<Value>],
        mut keys: Option<&mut Vec<Vec<u8>>>,
    ) -> Result<(), RowFailure> {
        let first_id = first_id(self.store(), target, rows.len())?;
        let mut sink = RowSink::new(self, target);
        sink.look_up(rows)?;
        for (index, row) in rows.iter().enumerate() {
            let row_id = first_id.map(|id| id + index as i64);
            let put = sink.put(row, row_id, keys.as_deref_mut());
            put.map_err(|error| RowFailure { row: Some(index), error })?;
        }
        Ok(())
    }

    /// Writes the rows of a query: batches with as many columns as the statement writes, of these types. `defaults`
    /// gives the values of [`UpsertTarget::computed_defaults`] for a number of rows, if there are any.
    ///
    /// # Errors
    /// As [`Writer::upsert`], and errors of the batches.
    pub fn upsert_batches<E: From<ExecError>>(
        &mut self,
        target: &UpsertTarget,
        types: &[SqlType],
        batches: impl Iterator<Item = Result<RecordBatch, E>>,
        mut defaults: impl FnMut(usize) -> Result<Vec<Vec<Value>>, E>,
    ) -> Result<(), E> {
        let mut sink = RowSink::new(self, target);
        let given = target.columns.get(..target.given()).unwrap_or_default();
        for batch in batches {
            let batch = batch?;
            let first_id = first_id(sink.attempt.store(), target, batch.num_rows())?;
            let mut more = match target.computed_defaults.is_empty() {
                true => Vec::new(),
                false => defaults(batch.num_rows())?,
            }
            .into_iter();
            let mut rows = Vec::with_capacity(batch.num_rows());
            for row in 0..batch.num_rows() {
                let mut values = row_of_batch(&target.table, (given, &target.dynamic), types, &batch, (row, 0))?;
                values.extend(target.constants.iter().cloned());
                values.extend(more.next().into_iter().flatten());
                rows.push(values);
            }
            sink.look_up(&rows)?;
            for (row, values) in rows.iter().enumerate() {
                sink.put(values, first_id.map(|id| id + row as i64), None)?;
                if sink.end_part()? {
                    sink.look_up(rows.get(row + 1..).unwrap_or_default())?;
                }
            }
        }
        Ok(())
    }
}

/// Takes a statement's rows one by one, and looks up existing rows as needed.
struct RowSink<'s, 't> {
    attempt: &'s mut Attempt<'t>,
    target: &'s UpsertTarget,
    /// Whether the rows are written by their columns: see [`is_set_unread`].
    is_set: bool,
    /// The rows of this part, on which a later row of the same key builds.
    rows: ConflictingRows<'s>,
    /// Keys of this part, where each may come once.
    inserted: HashSet<Vec<u8>>,
}

impl<'s, 't> RowSink<'s, 't> {
    fn new(attempt: &'s mut Attempt<'t>, target: &'s UpsertTarget) -> Self {
        let rows = ConflictingRows::new(&target.table, &target.arbiters);
        let is_set = !attempt.keeps_rows() && !attempt.is_within() && is_set_unread(target, attempt.store());
        Self { attempt, target, is_set, rows, inserted: HashSet::new() }
    }

    /// Looks up the rows together that these may replace. Only where a read waits for another machine: there each look-up by itself would wait.
    fn look_up(&mut self, rows: &[Vec<Value>]) -> Result<(), ExecError> {
        let (target, table) = (self.target, &self.target.table);
        let is_replaced_unseen =
            target.on_conflict == OnConflict::Replace && !target.partial && table.indexes().is_empty();
        let view = self.attempt.latest();
        let (has_keys, by_values) = (!table.def().has_hidden_key(), !target.arbiters.indexes.is_empty());
        if rows.len() < 2 || !view.reads_wait() || is_replaced_unseen || self.is_set || !has_keys && !by_values {
            return Ok(());
        }
        let now_ms = self.attempt.snapshot().now_ms();
        let (mut keys, mut valued) = (Vec::new(), Vec::new());
        for row in rows {
            // A row that is no complete one, or has no key, is refused when its turn comes.
            let Ok(fresh) = fresh_row(target, row, None, || now_ms) else { continue };
            if has_keys {
                keys.extend(table.row_key(&fresh));
            }
            if by_values {
                valued.extend(self.complete(fresh).map(Cow::into_owned));
            }
        }
        self.rows.look_up(view, keys, &valued)
    }

    /// Takes one row: a value for each of the statement's columns. `keys` gets its physical key, unless the row is left out.
    fn put(&mut self, values: &[Value], row_id: Option<i64>, keys: Option<&mut Vec<Vec<u8>>>) -> Result<(), ExecError> {
        let target = self.target;
        let table = &target.table;
        if self.is_set {
            return self.attempt.apply(table, RowChange::Set { columns: &target.columns, values }, keys);
        }
        let fresh = fresh_row(target, values, row_id, || self.attempt.snapshot().now_ms())?;
        if target.update.is_some() || !target.arbiters.indexes.is_empty() {
            return self.insert_or_handle(self.complete(fresh)?.into_owned(), keys);
        }
        if row_id.is_none() && target.on_conflict != OnConflict::Replace {
            return self.insert(fresh, keys);
        }
        if row_id.is_some() || !target.partial && !self.rows.has_looked_up() {
            return self.write(&self.complete(fresh)?, OldRow::Unknown, keys);
        }
        let key = table.row_key(&fresh)?;
        let old = self.rows.row(self.attempt.latest(), &key)?;
        let mut new = fresh.into_owned();
        if target.partial
            && let Some(old) = &old
        {
            new.clone_from(old);
            set_columns(&mut new, &target.columns, values);
            put_written_dynamic(&mut new, target, values)?;
        }
        let new = self.complete(new.into())?.into_owned();
        let old = old.as_deref().map_or(OldRow::Absent, OldRow::Present);
        self.write(&new, old, keys)?;
        self.rows.note(key, Some(new))
    }

    /// A row with the values of its generated columns.
    fn complete<'r>(&self, row: Cow<'r, [Value]>) -> Result<Cow<'r, [Value]>, ExecError> {
        complete_row(self.target.rules.as_ref(), &self.target.table, row)
    }

    /// Writes a complete row.
    fn write(&mut self, new: &[Value], old: OldRow<'_>, keys: Option<&mut Vec<Vec<u8>>>) -> Result<(), ExecError> {
        check_row(self.target.rules.as_ref(), &self.target.table, new)?;
        self.attempt.apply(&self.target.table, RowChange::Put { new, old, written_ms: None }, keys)
    }

    /// Writes a row if no other one is in conflict with it. Else changes that one, or leaves the row out.
    fn insert_or_handle(&mut self, fresh: Vec<Value>, keys: Option<&mut Vec<Vec<u8>>>) -> Result<(), ExecError> {
        let key = self.target.table.row_key(&fresh)?;
        match (self.rows.of(self.attempt.latest(), &key, &fresh)?, &self.target.update) {
            (Some((key, old)), Some(update)) => self.change(key, &old, update, fresh, keys),
            (Some(_), None) => Ok(()),
            (None, _) => {
                // A hidden key is new.
                if !self.target.arbiters.primary_key && !self.target.table.def().has_hidden_key() {
                    self.check_free(&key, &fresh)?;
                }
                self.write(&fresh, OldRow::Absent, keys)?;
                self.rows.note(key, Some(fresh))
            }
        }
    }

    /// Changes the row that is there, which may get another key.
    fn change(
        &mut self,
        key: Vec<u8>,
        old: &[Value],
        update: &ConflictUpdate,
        excluded: Vec<Value>,
        keys: Option<&mut Vec<Vec<u8>>>,
    ) -> Result<(), ExecError> {
        let table = &self.target.table;
        let now_ms = self.attempt.snapshot().now_ms();
        let Some(new) = updated(table, update, old, excluded, now_ms)? else { return Ok(()) };
        let new = self.complete(new.into())?.into_owned();
        let new_key = if update.moves_rows { table.row_key(&new)? } else { key.clone() };
        if new_key == key {
            self.write(&new, OldRow::Present(old), keys)?;
        } else {
            self.check_free(&new_key, &new)?;
            self.attempt.leave_key(table, &key, OldRow::Present(old))?;
            self.write(&new, OldRow::Absent, keys)?;
            self.rows.note(key, None)?;
        }
        self.rows.note(new_key, Some(new))
    }

    /// # Errors
    /// [`ExecError::DuplicateKey`] if the key of a row is that of another one.
    fn check_free(&self, key: &[u8], row: &[Value]) -> Result<(), ExecError> {
        match self.rows.row(self.attempt.latest(), key)? {
            Some(_) => Err(duplicate_key(&self.target.table, row)),
            None => Ok(()),
        }
    }

    /// Writes a row whose key is new.
    fn insert(&mut self, row: Cow<'_, [Value]>, keys: Option<&mut Vec<Vec<u8>>>) -> Result<(), ExecError> {
        let table = &self.target.table;
        let key = table.row_key(&row)?;
        let is_known = self.inserted.contains(&key) || self.rows.is_in_view(self.attempt.latest(), &key)?;
        match (is_known, self.target.on_conflict) {
            (true, OnConflict::Ignore) => Ok(()),
            (true, _) => Err(duplicate_key(table, &row)),
            (false, _) => {
                let row = self.complete(row)?;
                self.write(&row, OldRow::Absent, keys)?;
                self.inserted.insert(key);
                Ok(())
            }
        }
    }

    /// Ends a part if it is large enough: later lookups see its rows. Whether it was.
    fn end_part(&mut self) -> Result<bool, ExecError> {
        let has_ended = self.attempt.end_part()?;
        if has_ended {
            self.rows.clear();
            self.inserted.clear();
        }
        Ok(has_ended)
    }
}

/// Whether the rows of a statement are written by the columns that it names, without a look at existing rows: the store writes them so, and nothing
/// of a row follows from its other columns, or from whether it was there.
fn is_set_unread(target: &UpsertTarget, store: &dyn TableStore) -> bool {
    let (table, def) = (&target.table, target.table.def());
    let is_left_alone = |(index, column): (usize, &ColumnDef)| {
        target.columns.contains(&index) || column.default.is_none() && (column.nullable || column.family.is_none())
    };
    let of_row = target.rules.is_some() || target.row_timestamp.is_some() || !table.indexes().is_empty();
    target.partial
        && target.on_conflict == OnConflict::Replace
        && store.capabilities().sets_columns
        && !(of_row || target.update.is_some() || def.has_hidden_key())
        && target.dynamic.is_empty()
        && target.computed_defaults.is_empty()
        && def.columns.iter().enumerate().all(is_left_alone)
}

/// The error of a row whose key is that of another one.
pub(crate) fn duplicate_key(table: &Table, row: &[Value]) -> ExecError {
    let def = table.def();
    ExecError::DuplicateKey { table: def.name.to_string(), constraint: def.key_name.clone(), key: key_text(table, row) }
}

/// The first of the hidden row ids of this many rows, if the table has them.
fn first_id(store: &dyn TableStore, target: &UpsertTarget, rows: usize) -> Result<Option<i64>, ExecError> {
    match target.table.def().has_hidden_key() {
        true => Ok(Some(store.allocate_row_ids(&target.table, rows)?.start)),
        false => Ok(None),
    }
}

/// A row as an ON CONFLICT .. DO UPDATE leaves it; `None` if its WHERE leaves it alone.
fn updated(
    table: &Table,
    update: &ConflictUpdate,
    old: &[Value],
    excluded: Vec<Value>,
    now_ms: i64,
) -> Result<Option<Vec<Value>>, ExecError> {
    let def = table.def();
    // The places between are those of `_row_key` and `_row_time`.
    let both: Vec<Value> = old.iter().cloned().chain([Value::Null, Value::Null]).chain(excluded).collect();
    if let Some(condition) = &update.condition
        && eval::eval(condition, &both)? != Value::Bool(true)
    {
        return Ok(None);
    }
    let (mut new, mut dynamic) = (old.to_vec(), Vec::with_capacity(update.dynamic.len()));
    for (column, value) in &update.assignments {
        let Some(target) = def.written_column(&update.dynamic, *column) else {
            return Err(ExecError::Bug("a column is assigned that the table does not have"));
        };
        let named = |source| ExecError::Value { column: Some(format!("{}.{}", def.name, target.name)), source };
        let from = value.sql_type().unwrap_or(SqlType::Null);
        let value = eval::eval(value, &both).and_then(|value| number::assign_from(value, from, target.ty));
        let value = value.map_err(named)?;
        match new.get_mut(*column) {
            Some(place) => *place = value,
            None => dynamic.push((target, value)),
        }
    }
    put_dynamic(def, &mut new, dynamic.iter().map(|(column, value)| (*column, value)))?;
    if let Some(column) = update.row_timestamp {
        put_time_of_write(table, &mut new, column, || now_ms)?;
    }
    Ok(Some(new))
}

/// A row of all columns: those written, and DEFAULTs for the others. `now_ms` is the time of the write.
fn fresh_row<'v>(
    target: &UpsertTarget,
    values: &'v [Value],
    row_id: Option<i64>,
    now_ms: impl FnOnce() -> i64,
) -> Result<Cow<'v, [Value]>, ExecError> {
    let def = target.table.def();
    let is_whole = target.columns.iter().copied().eq(0..def.columns.len());
    if is_whole && target.row_timestamp.is_none() {
        return Ok(values.into());
    }
    let mut row = Vec::with_capacity(def.columns.len());
    for column in &def.columns {
        row.push(match (&column.default, row_id) {
            (Some(default), _) => eval::eval(&default.expr, &[])?,
            (None, Some(id)) if column.hidden && column.family.is_none() => Value::Int(id),
            (None, _) => Value::Null,
        });
    }
    set_columns(&mut row, target.columns.iter().chain(&target.computed_defaults), values);
    put_written_dynamic(&mut row, target, values)?;
    if let Some(column) = target.row_timestamp {
        put_time_of_write(&target.table, &mut row, column, now_ms)?;
    }
    Ok(row.into())
}

/// Gives a row without a value for its `ROW_TIMESTAMP` the time of the write.
pub(crate) fn put_time_of_write(
    table: &Table,
    row: &mut [Value],
    column: usize,
    now_ms: impl FnOnce() -> i64,
) -> Result<(), ExecError> {
    if let Some(place) = row.get_mut(column).filter(|value| value.is_null()) {
        *place = eval::cast(Value::Date(now_ms()), SqlType::Date, table.column_type(column))?;
    }
    Ok(())
}

/// Puts the dynamic columns that a statement writes among those that the row has; `values` has theirs among others.
fn put_written_dynamic(row: &mut [Value], target: &UpsertTarget, values: &[Value]) -> Result<(), ExecError> {
    if target.dynamic.is_empty() {
        return Ok(());
    }
    let def = target.table.def();
    let written = target
        .columns
        .iter()
        .zip(values)
        .filter_map(|(&column, value)| Some((def.dynamic_column(&target.dynamic, column)?, value)));
    put_dynamic(def, row, written)
}

/// Puts the values of dynamic columns among those that the row has.
pub(crate) fn put_dynamic<'v>(
    def: &TableDef,
    row: &mut [Value],
    written: impl Iterator<Item = (&'v ColumnDef, &'v Value)>,
) -> Result<(), ExecError> {
    let mut written = written.map(|(column, value)| (column.name.as_str(), column.ty, value)).peekable();
    if written.peek().is_none() {
        return Ok(());
    }
    let Some(kept) = def.column_index(DYNAMIC_COLUMNS).and_then(|column| row.get_mut(column)) else {
        return Err(ExecError::Bug("the table has no column for dynamic columns"));
    };
    let named = |source| ExecError::Value { column: Some(format!("{}.{DYNAMIC_COLUMNS}", def.name)), source };
    *kept = dynamic::with(kept.as_text(), written).map_err(named)?.map_or(Value::Null, Value::Text);
    Ok(())
}

/// Puts values into columns of a row, by index; dynamic ones have none there.
fn set_columns<'c>(row: &mut [Value], columns: impl IntoIterator<Item = &'c usize>, values: &[Value]) {
    for (&column, value) in columns.into_iter().zip(values) {
        if let Some(place) = row.get_mut(column) {
            place.clone_from(value);
        }
    }
}
