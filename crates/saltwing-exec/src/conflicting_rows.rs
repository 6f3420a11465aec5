//! The rows that are there and in conflict with a new one: of INSERT, ON CONFLICT and ON DUPLICATE KEY.
//!
//! A statement handles its rows one after the other, so a row that it has written may be in conflict with a later one. Of two rows with one
//! value the statement means the one that it has not changed: rows may exchange their values, and the other one has only just got it.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use saltwing_access::{Index, Projection, ScanSpec, Snapshot, Table, TableError};
use saltwing_bind::Arbiters;
use saltwing_expr::RowValues;
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
    /// Rows of the view that were looked up together, by key; `None` for one that is not there.
    looked_up: HashMap<Vec<u8>, Option<Vec<Value>>>,
    /// The rows that the statement has written since its view, by key; `None` for one that has left its key.
    written: HashMap<Vec<u8>, Option<Vec<Value>>>,
    /// The keys of written rows, by the place of an index and the start of the range of entries with a value.
    by_value: HashMap<(usize, Vec<u8>), Vec<Vec<u8>>>,
}

impl<'s> ConflictingRows<'s> {
    pub(crate) fn new(table: &Arc<Table>, arbiters: &'s Arbiters) -> Self {
        let all = Projection::all(table);
        let (looked_up, written, by_value) = (HashMap::new(), HashMap::new(), HashMap::new());
        Self { arbiters, all, entries: Vec::new(), looked_up, written, by_value }
    }

    /// Looks up the rows of some keys together, as they are in the view.
    pub(crate) fn look_up(
        &mut self,
        view: &dyn Snapshot,
        keys: impl Iterator<Item = Vec<u8>>,
    ) -> Result<(), ExecError> {
        let keys: Vec<Vec<u8>> = keys.collect::<BTreeSet<_>>().into_iter().collect();
        let (table, width) = (self.all.table(), self.all.columns().len());
        let keyed = Projection::new(table, (0..width).chain([table.row_key_index()]));
        let mut values = RowValues::new(width + 1);
        view.get_all(&keyed, &keys, &mut values, None)?;
        self.looked_up = keys.into_iter().map(|key| (key, None)).collect();
        let (rows, mut values) = (values.rows(), values.values());
        for _ in 0..rows {
            let row = values.by_ref().take(width).collect();
            let Some(Value::Bytes(key)) = values.next() else { return Err(ExecError::Bug("a row without a key")) };
            self.looked_up.insert(key, Some(row));
        }
        Ok(())
    }

    /// Whether rows were looked up together.
    pub(crate) fn has_looked_up(&self) -> bool {
        !self.looked_up.is_empty()
    }

    /// Whether the view has a row of a key.
    pub(crate) fn is_in_view(&self, view: &dyn Snapshot, key: &[u8]) -> Result<bool, ExecError> {
        match self.looked_up.get(key) {
            Some(row) => Ok(row.is_some()),
            None => Ok(view.contains(self.all.table(), key)?),
        }
    }

    /// Forgets the written rows, and those that were looked up: the next view has them from now on.
    pub(crate) fn clear(&mut self) {
        self.looked_up.clear();
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
        match self.written.get(key).or_else(|| self.looked_up.get(key)) {
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
        let range = [value.range.clone()].into_iter().collect();
        find_entry(view, index, spec, range, |values, entry| {
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
