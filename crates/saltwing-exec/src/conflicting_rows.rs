//! The rows that are there and in conflict with a new one: of INSERT, ON CONFLICT and ON DUPLICATE KEY.
//!
//! A statement handles its rows one after the other, so a row that it has written may be in conflict with a later one. Of two rows with one
//! value the statement means the one that it has not changed: rows may exchange their values, and the other one has only just got it.

use std::collections::HashMap;
use std::sync::Arc;

use saltwing_access::{Index, Projection, ScanSpec, Snapshot, Table, TableError};
use saltwing_bind::Arbiters;
use saltwing_rowkey::KeySlices;
use saltwing_types::Value;

use crate::ExecError;
use crate::unique_values::{UniqueValue, find_entry};

/// A row and its physical key.
type KeyedRow = (Vec<u8>, Vec<Value>);

/// Finds rows by the keys of a statement's [`Arbiters`].
pub(crate) struct ConflictingRows<'s> {
    arbiters: &'s Arbiters,
    /// All columns, for rows that are looked up.
    all: Projection,
    /// For each index, the scan of its entries.
    entries: Vec<ScanSpec>,
    /// The rows that the statement has written since its view, by key; `None` for one that has left its key.
    written: HashMap<Vec<u8>, Option<Vec<Value>>>,
    /// The keys of written rows, by the place of an index and the start of the range of entries with a value.
    by_value: HashMap<(usize, Vec<u8>), Vec<Vec<u8>>>,
}

impl<'s> ConflictingRows<'s> {
    pub(crate) fn new(table: &Arc<Table>, arbiters: &'s Arbiters) -> Self {
        let all = Projection::all(table);
        Self { arbiters, all, entries: Vec::new(), written: HashMap::new(), by_value: HashMap::new() }
    }

    /// Forgets the written rows: the view has them from now on.
    pub(crate) fn clear(&mut self) {
        self.written.clear();
        self.by_value.clear();
    }

    /// Remembers the row that the statement has left at a key.
    pub(crate) fn note(&mut self, key: Vec<u8>, row: Option<Vec<Value>>) -> Result<(), ExecError> {
        if let Some(row) = &row {
            for (place, index) in self.arbiters.indexes.iter().enumerate() {
                let Some(value) = UniqueValue::of_row(index, row)? else { continue };
                let keys = self.by_value.entry((place, value.range.start().to_vec())).or_default();
                if !keys.contains(&key) {
                    keys.push(key.clone());
                }
            }
        }
        self.written.insert(key, row);
        Ok(())
    }

    /// The row of a key: as the statement has left it, or as it was.
    pub(crate) fn row(&self, view: &dyn Snapshot, key: &[u8]) -> Result<Option<Vec<Value>>, ExecError> {
        match self.written.get(key) {
            Some(row) => Ok(row.clone()),
            None => Ok(view.get(&self.all, key)?),
        }
    }

    /// A row that is in conflict with a new one of this key, with its key.
    pub(crate) fn of(&mut self, view: &dyn Snapshot, key: &[u8], new: &[Value]) -> Result<Option<KeyedRow>, ExecError> {
        if self.arbiters.primary_key
            && let Some(row) = self.row(view, key)?
        {
            return Ok(Some((key.to_vec(), row)));
        }
        if self.entries.is_empty() {
            let spec =
                |index: &Index| ScanSpec::new(index.entries(), (0..index.entries().width()).collect(), Vec::new());
            self.entries = self.arbiters.indexes.iter().map(spec).collect::<Result<_, TableError>>()?;
        }
        for (place, (index, spec)) in self.arbiters.indexes.iter().zip(&self.entries).enumerate() {
            let Some(value) = UniqueValue::of_row(index, new)? else { continue };
            if let Some(key) =
                self.unchanged(view, (index, spec), &value)?.or_else(|| self.changed(place, index, &value))
            {
                let row = self.row(view, &key)?.ok_or(ExecError::Bug("an entry of an index has no row"))?;
                return Ok(Some((key, row)));
            }
        }
        Ok(None)
    }

    /// The key of a row with a value that the statement has not changed.
    fn unchanged(
        &self,
        view: &dyn Snapshot,
        (index, spec): (&Index, &ScanSpec),
        value: &UniqueValue,
    ) -> Result<Option<Vec<u8>>, ExecError> {
        find_entry(view, index, spec, &value.range, |values, entry| {
            let key = match values == value.values {
                true => match entry.get(index.entries().row_key_index()) {
                    Some(Value::Bytes(entry)) => index.row_key(entry, &mut KeySlices::new())?,
                    _ => return Err(ExecError::Bug("an entry of an index has no key")),
                },
                false => return Ok(None),
            };
            Ok((!self.written.contains_key(&key)).then_some(key))
        })
    }

    /// The key of a row with a value that the statement has written.
    fn changed(&self, place: usize, index: &Index, value: &UniqueValue) -> Option<Vec<u8>> {
        let keys = self.by_value.get(&(place, value.range.start().to_vec()))?;
        let has_value = |key: &&Vec<u8>| {
            let row = self.written.get(*key).and_then(Option::as_ref);
            row.and_then(|row| UniqueValue::of_row(index, row).ok().flatten())
                .is_some_and(|it| it.values == value.values)
        };
        keys.iter().find(has_value).cloned()
    }
}
