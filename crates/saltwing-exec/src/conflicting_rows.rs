//! The rows that are there and in conflict with a new one: of INSERT, ON CONFLICT and ON DUPLICATE KEY.
//!
//! A statement handles its rows one after the other, so a row that it has written may be in conflict with a later one. Of two rows with one
//! value the statement means the one that it has not changed: rows may exchange their values, and the other one has only just got it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use saltwing_access::{Index, Projection, ScanSpec, Snapshot, Table, TableError};
use saltwing_bind::Arbiters;
use saltwing_rowkey::KeySlices;
use saltwing_types::Value;

use crate::ExecError;
use crate::looked_up_rows::LookedUpRows;
use crate::unique_values::{UniqueValue, find_entry};

/// A row and its physical key.
type KeyedRow = (Vec<u8>, Vec<Value>);

/// The values of the parts of an index in an entry, and the key of its row.
type ValuedKey = (Vec<Value>, Vec<u8>);

/// Finds rows by the keys of a statement's [`Arbiters`].
pub(crate) struct ConflictingRows<'s> {
    arbiters: &'s Arbiters,
    /// All columns, for rows that are looked up.
    all: Projection,
    /// For each index, the scan of its entries.
    entries: Vec<ScanSpec>,
    /// Rows of the view that were looked up together.
    looked_up: LookedUpRows,
    /// The values of entries that were looked up together, and the keys of their rows, by the place of the index and the start of the range of
    /// entries with a value: a range that is here has no others.
    looked_up_values: HashMap<(usize, Vec<u8>), Vec<ValuedKey>>,
    /// The rows that the statement has written since its view, by key; `None` for one that has left its key.
    written: HashMap<Vec<u8>, Option<Vec<Value>>>,
    /// The keys of written rows, by the place of an index and the start of the range of entries with a value.
    by_value: HashMap<(usize, Vec<u8>), Vec<Vec<u8>>>,
}

impl<'s> ConflictingRows<'s> {
    pub(crate) fn new(table: &Arc<Table>, arbiters: &'s Arbiters) -> Self {
        let all = Projection::all(table);
        let (looked_up, looked_up_values) = (LookedUpRows::default(), HashMap::new());
        let (written, by_value) = (HashMap::new(), HashMap::new());
        Self { arbiters, all, entries: Vec::new(), looked_up, looked_up_values, written, by_value }
    }

    /// Looks up together, as they are in the view, the rows of some keys, and those that have a value of some complete rows by an index.
    pub(crate) fn look_up(
        &mut self,
        view: &dyn Snapshot,
        mut keys: Vec<Vec<u8>>,
        valued: &[Vec<Value>],
    ) -> Result<(), ExecError> {
        self.looked_up_values.clear();
        self.make_specs()?;
        for (place, (index, spec)) in self.arbiters.indexes.iter().zip(&self.entries).enumerate() {
            let mut ranges = BTreeMap::new();
            for row in valued {
                // A row that the index has no key for is refused when its turn comes.
                let Some(value) = UniqueValue::of_row(index, row).ok().flatten() else { continue };
                ranges.insert(value.range.start().to_vec(), value.range);
            }
            for start in ranges.keys() {
                self.looked_up_values.insert((place, start.clone()), Vec::new());
            }
            if ranges.is_empty() {
                continue;
            }
            let found = &mut self.looked_up_values;
            find_entry(view, index, spec, ranges.into_values().collect(), |values, entry| {
                let key = row_key_of(index, &entry)?;
                let range = index.entries().key_prefix(&entry, index.def().parts.len())?;
                let range = range.ok_or(ExecError::Bug("an entry of an index has no range"))?;
                keys.push(key.clone());
                found.entry((place, range.start().to_vec())).or_default().push((values, key));
                Ok(None::<()>)
            })?;
        }
        self.looked_up = LookedUpRows::read(view, self.all.table(), keys.into_iter())?;
        Ok(())
    }

    /// Makes the scans of the indexes' entries.
    fn make_specs(&mut self) -> Result<(), ExecError> {
        if self.entries.is_empty() {
            let spec =
                |index: &Index| ScanSpec::new(index.entries(), (0..index.entries().width()).collect(), Vec::new());
            self.entries = self.arbiters.indexes.iter().map(spec).collect::<Result<_, TableError>>()?;
        }
        Ok(())
    }

    /// Whether rows were looked up together.
    pub(crate) fn has_looked_up(&self) -> bool {
        !self.looked_up.is_empty()
    }

    /// Whether the view has a row of a key.
    pub(crate) fn is_in_view(&self, view: &dyn Snapshot, key: &[u8]) -> Result<bool, ExecError> {
        match self.looked_up.get(self.all.table(), key) {
            Some(row) => Ok(row.is_some()),
            None => Ok(view.contains(self.all.table(), key)?),
        }
    }

    /// Forgets the written rows, and those that were looked up: the next view has them from now on.
    pub(crate) fn clear(&mut self) {
        self.looked_up = LookedUpRows::default();
        self.looked_up_values.clear();
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
        match self.written.get(key).or_else(|| self.looked_up.get(self.all.table(), key)) {
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
        self.make_specs()?;
        for (place, (index, spec)) in self.arbiters.indexes.iter().zip(&self.entries).enumerate() {
            let Some(value) = UniqueValue::of_row(index, new)? else { continue };
            if let Some(key) =
                self.unchanged(view, place, (index, spec), &value)?.or_else(|| self.changed(place, index, &value))
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
        place: usize,
        (index, spec): (&Index, &ScanSpec),
        value: &UniqueValue,
    ) -> Result<Option<Vec<u8>>, ExecError> {
        if let Some(found) = self.looked_up_values.get(&(place, value.range.start().to_vec())) {
            let is_it = |(values, key): &&ValuedKey| *values == value.values && !self.written.contains_key(key);
            return Ok(found.iter().find(is_it).map(|(_, key)| key.clone()));
        }
        let range = [value.range.clone()].into_iter().collect();
        find_entry(view, index, spec, range, |values, entry| {
            if values != value.values {
                return Ok(None);
            }
            let key = row_key_of(index, &entry)?;
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

/// The key of the row that an entry, with all its columns, is of.
fn row_key_of(index: &Index, entry: &[Value]) -> Result<Vec<u8>, ExecError> {
    match entry.get(index.entries().row_key_index()) {
        Some(Value::Bytes(entry)) => Ok(index.row_key(entry, &mut KeySlices::new())?),
        _ => Err(ExecError::Bug("an entry of an index has no key")),
    }
}
