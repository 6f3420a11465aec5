//! UPSERT, INSERT, DELETE.
//!
//! A statement's writes are one commit. One that reads what it writes (INSERT, an
//! UPSERT of some columns, DELETE) is a transaction of its own: when another commit
//! comes first it starts over, up to [`TRIES_MAX`] times.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::BinaryType;
use saltwing_bind::UpsertTarget;
use saltwing_bind::access::TableAccess;
use saltwing_expr::value_at;
use saltwing_store::BATCH_BYTES_MAX;
use saltwing_table::{Durability, EmbeddedTables, ReadView, ScanContext, Table, TableError, WriteSet};
use saltwing_types::{SqlType, Value, eval, number, text};

use crate::ExecError;

/// How often a statement in conflict is run.
pub const TRIES_MAX: u32 = 100;

/// Writes rows for statements.
pub struct Writer<'a> {
    /// The tables.
    pub store: &'a EmbeddedTables,
    /// What an acknowledgement promises.
    pub durability: Durability,
}

/// What a DELETE did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeleteOutcome {
    /// Rows deleted.
    pub rows: u64,
}

impl Writer<'_> {
    /// Writes `rows`, which have a value for each of the statement's columns, brought to its type.
    ///
    /// Returns how many rows were written.
    ///
    /// # Errors
    /// [`ExecError::DuplicateKey`], [`ExecError::TooLarge`]; those of rows and keys.
    pub fn upsert(&self, target: &UpsertTarget, rows: Cow<'_, [Vec<Value>]>) -> Result<u64, ExecError> {
        let count = rows.len();
        let first_id = match target.table.def().has_hidden_key() {
            true => Some(self.store.allocate_row_ids(&target.table, rows.len())?.start),
            false => None,
        };
        if !target.insert && !target.partial || first_id.is_some() {
            let mut writes = WriteSet::new();
            for (i, row) in rows.into_owned().into_iter().enumerate() {
                writes.put(&target.table, fresh_row(target, row, first_id.map(|id| id + i as i64))?)?;
                check_size(&writes)?;
            }
            self.store.commit(&writes, None, self.durability)?;
            return Ok(count as u64);
        }
        retried(|| {
            let (view, token) = self.store.begin()?;
            let writes =
                if target.insert { self.inserts(target, &rows, &view)? } else { self.merges(target, &rows, &view)? };
            // What the view alone still sees can be given back.
            drop(view);
            self.store.commit(&writes, Some(&token), self.durability)?;
            Ok(count as u64)
        })
    }

    /// Rows whose keys must not be there.
    fn inserts(&self, target: &UpsertTarget, rows: &[Vec<Value>], view: &ReadView) -> Result<WriteSet, ExecError> {
        let mut writes = WriteSet::new();
        let mut seen = HashMap::new();
        for (index, row) in rows.iter().enumerate() {
            let row = fresh_row(target, row.clone(), None)?;
            let key_text = key_text(&target.table, &row);
            let key = writes.put(&target.table, row)?.to_vec();
            if seen.insert(key.clone(), ()).is_some() || self.store.contains(view, &target.table, &key)? {
                let table = target.table.def().name.to_string();
                return Err(ExecError::DuplicateKey { table, key: key_text, row: index });
            }
            check_size(&writes)?;
        }
        Ok(writes)
    }

    /// Rows over what is there: columns that are not written keep their values.
    fn merges(&self, target: &UpsertTarget, rows: &[Vec<Value>], view: &ReadView) -> Result<WriteSet, ExecError> {
        let mut writes = WriteSet::new();
        let mut written: HashMap<Vec<u8>, Vec<Value>> = HashMap::new();
        for row in rows {
            let fresh = fresh_row(target, row.clone(), None)?;
            let key = target.table.row_key(&fresh)?;
            let old = match written.remove(&key) {
                Some(row) => Some(row),
                None => self.store.get(view, &target.table, &key)?,
            };
            let merged = match old {
                None => fresh,
                Some(mut old) => {
                    for (&column, value) in target.columns.iter().zip(row) {
                        if let Some(place) = old.get_mut(column) {
                            place.clone_from(value);
                        }
                    }
                    old
                }
            };
            writes.put(&target.table, merged.clone())?;
            written.insert(key, merged);
            check_size(&writes)?;
        }
        Ok(writes)
    }

    /// Writes the rows of a query: batches with as many columns as the statement writes.
    ///
    /// # Errors
    /// As [`Writer::upsert`], and what the batches end with.
    pub fn upsert_batches<E: From<ExecError>>(
        &self,
        target: &UpsertTarget,
        types: &[SqlType],
        batches: impl Iterator<Item = Result<RecordBatch, E>>,
    ) -> Result<u64, E> {
        let mut rows = Vec::new();
        let mut bytes = 0;
        for batch in batches {
            let batch = batch?;
            bytes += batch.get_array_memory_size();
            if bytes > BATCH_BYTES_MAX {
                return Err(ExecError::TooLarge { bytes, limit: BATCH_BYTES_MAX }.into());
            }
            for row in 0..batch.num_rows() {
                rows.push(row_of_batch(target, types, &batch, row)?);
            }
        }
        Ok(self.upsert(target, rows.into())?)
    }

    /// Deletes the rows that an access finds; `start` makes the access anew for each try.
    ///
    /// # Errors
    /// The scan's; [`ExecError::TooLarge`].
    pub fn delete(&self, access: &TableAccess, context: &ScanContext) -> Result<DeleteOutcome, ExecError> {
        let table = access.table();
        retried(|| {
            let (view, token) = self.store.begin()?;
            let request = access.scan_request(vec![table.row_key_index()], None);
            let mut scan = self.store.scan(view, request, context.clone())?;
            let mut writes = WriteSet::new();
            while let Some(batch) = scan.next_batch()? {
                delete_keys(&mut writes, table, &batch)?;
            }
            drop(scan);
            self.store.commit(&writes, Some(&token), self.durability)?;
            Ok(DeleteOutcome { rows: writes.len() as u64 })
        })
    }

    /// Deletes the rows whose physical keys come in the first column of `batches`, read at `view`'s token.
    ///
    /// # Errors
    /// A conflict is not retried: the batches are gone.
    pub fn delete_batches<E: From<ExecError>>(
        &self,
        table: &Arc<Table>,
        read_at: &saltwing_table::ReadToken,
        batches: impl Iterator<Item = Result<RecordBatch, E>>,
    ) -> Result<DeleteOutcome, E> {
        let mut writes = WriteSet::new();
        for batch in batches {
            delete_keys(&mut writes, table, &batch?)?;
        }
        self.store.commit(&writes, Some(read_at), self.durability).map_err(ExecError::from)?;
        Ok(DeleteOutcome { rows: writes.len() as u64 })
    }
}

/// Runs a transaction until no other commit came first.
fn retried<T>(mut run: impl FnMut() -> Result<T, ExecError>) -> Result<T, ExecError> {
    for _ in 0..TRIES_MAX {
        match run() {
            Err(ExecError::Table(TableError::Conflict { .. } | TableError::SnapshotTooOld)) => {}
            other => return other,
        }
    }
    Err(ExecError::Contended(TRIES_MAX))
}

fn check_size(writes: &WriteSet) -> Result<(), ExecError> {
    let bytes = writes.bytes();
    if bytes > BATCH_BYTES_MAX { Err(ExecError::TooLarge { bytes, limit: BATCH_BYTES_MAX }) } else { Ok(()) }
}

/// A row of all columns: those written, and DEFAULTs for the others.
fn fresh_row(target: &UpsertTarget, values: Vec<Value>, row_id: Option<i64>) -> Result<Vec<Value>, ExecError> {
    let def = target.table.def();
    if target.columns.iter().copied().eq(0..def.columns.len()) {
        return Ok(values);
    }
    let mut row = Vec::with_capacity(def.columns.len());
    for column in &def.columns {
        row.push(match (&column.default, row_id) {
            (Some(default), _) => eval::eval(&default.expr, &[])?,
            (None, Some(id)) if column.hidden => Value::Int(id),
            (None, _) => Value::Null,
        });
    }
    for (&column, value) in target.columns.iter().zip(values) {
        if let Some(place) = row.get_mut(column) {
            *place = value;
        }
    }
    Ok(row)
}

/// The values of the key's columns; what is computed from them says nothing more.
fn key_text(table: &Table, row: &[Value]) -> String {
    let literal = |k: &saltwing_types::KeyColumn| Some(text::literal(row.get(k.column()?)?, k.ty));
    table.def().key.columns.iter().filter_map(literal).collect::<Vec<_>>().join(", ")
}

fn row_of_batch(
    target: &UpsertTarget,
    types: &[SqlType],
    batch: &RecordBatch,
    row: usize,
) -> Result<Vec<Value>, ExecError> {
    let def = target.table.def();
    let mut values = Vec::with_capacity(target.columns.len());
    for (i, &column) in target.columns.iter().enumerate() {
        let (Some(target), Some(ty)) = (def.columns.get(column), types.get(i)) else { continue };
        let named = |source| ExecError::Value { column: Some(format!("{}.{}", def.name, target.name)), source };
        let value = value_at(batch.column(i), row, *ty).map_err(named)?;
        values.push(number::assign(value, target.ty).map_err(named)?);
    }
    Ok(values)
}

fn delete_keys(writes: &mut WriteSet, table: &Arc<Table>, batch: &RecordBatch) -> Result<(), ExecError> {
    if let Some(keys) = batch.columns().first().and_then(|c| c.as_bytes_opt::<BinaryType>()) {
        keys.iter().flatten().for_each(|key| writes.delete(table, key.to_vec()));
    }
    check_size(writes)
}
