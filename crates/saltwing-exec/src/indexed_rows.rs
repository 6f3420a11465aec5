//! Entries of secondary indexes, written in the transaction that writes their rows.
//!
//! The entry of a row follows from the row alone. So a change deletes the entry of the old row and puts that of the new
//! one, and the statement must know the old row. One that does not is read once, at the transaction's own view.
//!
//! # Invariant
//! A commit that changes a row of an indexed table always writes the keys of the entries that go and of those that come.
//! The build of an index relies on it: its own commits write the same keys, so either it or the writer is in conflict.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use saltwing_access::{Index, OldRow, Projection, RowChange, Savepoint, Snapshot, Table, TableError, Transaction};
use saltwing_types::table::IMMUTABLE_ROWS;
use saltwing_types::{TableId, Value};

use crate::ExecError;
use crate::looked_up_rows::LookedUpRows;
use crate::row_values::key_text;
use crate::unique_values::UniqueValues;

/// A transaction remembers the keys of its changed rows up to this many bytes. Then it takes a new view, and forgets them.
const REMEMBERED_BYTES_MAX: usize = 32 << 20;

/// The rows of indexed tables that a transaction has changed since its view.
///
/// A row that it changes again is read from a new view. A view makes each later change copy parts of the memtables, so only
/// such rows, and large transactions, take a second one.
#[derive(Default)]
pub(crate) struct IndexedRows {
    /// The rows before the changes that are remembered.
    view: Option<Arc<dyn Snapshot>>,
    /// Rows of the view that were looked up together.
    looked_up: LookedUpRows,
    /// The keys of the changed rows of each table.
    changed: HashMap<TableId, HashSet<Vec<u8>>>,
    /// All columns of the table whose rows were read last.
    all: Option<Projection>,
    /// The bytes of `changed`.
    changed_bytes: usize,
    /// Entries that were written, and rows that were deleted because they move to another key: they count as no rows.
    uncounted: usize,
    /// The same number at each savepoint.
    savepoints: Vec<usize>,
    unique: UniqueValues,
}

impl IndexedRows {
    /// The transaction has a savepoint more.
    pub(crate) fn savepoint(&mut self) {
        self.savepoints.push(self.uncounted);
    }

    /// The transaction went back to a savepoint: rows that were read before are read again.
    pub(crate) fn rolled_back_to(&mut self, savepoint: Savepoint) {
        self.uncounted = self.savepoints.get(savepoint.0).copied().unwrap_or(self.uncounted);
        self.savepoints.truncate(savepoint.0 + 1);
        self.forget_view();
        self.unique = UniqueValues::default();
    }

    /// A savepoint and those after it are forgotten.
    pub(crate) fn released(&mut self, savepoint: Savepoint) {
        self.savepoints.truncate(savepoint.0);
    }

    /// How many of the rows that the transaction has written count as none.
    pub(crate) fn uncounted(&self) -> usize {
        self.uncounted
    }

    /// A row was deleted that moves to another key: it counts when it is put there.
    pub(crate) fn moved(&mut self) {
        self.uncounted += 1;
    }

    /// Bytes of the keys that are remembered.
    pub(crate) fn bytes(&self) -> usize {
        self.changed_bytes
    }

    /// The row that a change replaces, before the change is written.
    ///
    /// # Errors
    /// [`ExecError::Immutable`]; those of the row's key; the store's.
    pub(crate) fn old_row(
        &mut self,
        transaction: &mut dyn Transaction,
        table: &Arc<Table>,
        change: RowChange<'_>,
    ) -> Result<Replaced, ExecError> {
        let (key, old) = match change {
            RowChange::Put { new, old, .. } => (table.row_key(new)?, old),
            RowChange::Delete { key, old } => (key.to_vec(), old),
            RowChange::Set { .. } => return Err(SET_UNREAD),
        };
        if self.changed_bytes >= REMEMBERED_BYTES_MAX {
            self.forget_view();
            // The view is taken before the change is written.
            self.view = Some(transaction.view()?);
        }
        let row = match old {
            OldRow::Absent => None,
            OldRow::Present(row) => Some(row.to_vec()),
            OldRow::Unknown => self.row(transaction, table, &key)?,
        };
        if let (RowChange::Put { new, .. }, Some(_)) = (change, &row)
            && table.def().option(IMMUTABLE_ROWS) == Some(&Value::Bool(true))
        {
            return Err(ExecError::Immutable { table: table.def().name.to_string(), key: key_text(table, new) });
        }
        // New entries may name a row that is expired by now.
        let row = match (row, table.with_kept_rows()) {
            (None, Some(kept)) => self.row(transaction, kept, &key)?,
            (row, _) => row,
        };
        Ok(Replaced { key, row })
    }

    /// Writes the entries for a change of a row, after the change itself: errors of the row come first.
    ///
    /// # Errors
    /// [`ExecError::Entry`] for a row that an index has no key for; the store's.
    pub(crate) fn write_entries(
        &mut self,
        transaction: &mut dyn Transaction,
        table: &Arc<Table>,
        change: RowChange<'_>,
        replaced: Replaced,
    ) -> Result<(), ExecError> {
        let (new, written_ms) = match change {
            RowChange::Put { new, written_ms, .. } => {
                (Some(new), if written_ms.is_some() { written_ms } else { table.row_time_ms(new)? })
            }
            RowChange::Delete { .. } => (None, None),
            RowChange::Set { .. } => return Err(SET_UNREAD),
        };
        for index in table.written_indexes() {
            let refused = |source| ExecError::Entry { index: index.def().name.clone(), row: None, source };
            let new = new.map(|row| index.entry(row)).transpose().map_err(refused)?.flatten();
            // An old row has an entry, so one can be computed; if none can since, there is nothing to delete.
            let old = replaced.row.as_deref().and_then(|row| index.entry(row).ok().flatten());
            self.uncounted += write_entry(transaction, index, old.as_deref(), new.as_deref(), written_ms)?;
            self.unique.note(transaction, index, old.as_deref(), new.as_deref())?;
        }
        self.changed_bytes += replaced.key.len();
        self.changed.entry(table.def().id).or_default().insert(replaced.key);
        Ok(())
    }

    /// Looks up the rows of some keys together, if the table has indexes and reads wait: changes of these rows do not say what they replace.
    ///
    /// # Errors
    /// The store's.
    pub(crate) fn look_up(
        &mut self,
        transaction: &mut dyn Transaction,
        table: &Arc<Table>,
        keys: impl Iterator<Item = Vec<u8>>,
    ) -> Result<(), ExecError> {
        if table.written_indexes().next().is_none() || !transaction.latest().reads_wait() {
            return Ok(());
        }
        self.forget_view();
        let view = self.view.insert(transaction.view()?);
        self.looked_up = LookedUpRows::read(&**view, table, keys)?;
        Ok(())
    }

    /// The next row is read from a view that has all changes so far.
    fn forget_view(&mut self) {
        self.view = None;
        self.looked_up = LookedUpRows::default();
        self.changed.clear();
        self.changed_bytes = 0;
    }

    /// Checks the new values of unique indexes, when a statement or a part of it has written all its rows.
    ///
    /// # Errors
    /// [`ExecError::NotUnique`]; the store's.
    pub(crate) fn check_unique(&mut self, transaction: &mut dyn Transaction) -> Result<(), ExecError> {
        self.unique.check(transaction)
    }

    /// The row of a key as the transaction sees it.
    fn row(
        &mut self,
        transaction: &mut dyn Transaction,
        table: &Arc<Table>,
        key: &[u8],
    ) -> Result<Option<Vec<Value>>, TableError> {
        if self.view.is_none() || self.changed.get(&table.def().id).is_some_and(|changed| changed.contains(key)) {
            self.forget_view();
        }
        if let Some(row) = self.looked_up.get(table, key) {
            return Ok(row.clone());
        }
        let view = match &self.view {
            Some(view) => view,
            None => self.view.insert(transaction.view()?),
        };
        let all = match self.all.take() {
            Some(all) if Arc::ptr_eq(all.table(), table) => all,
            _ => Projection::all(table),
        };
        view.get(self.all.insert(all), key)
    }
}

/// Entries follow from whole rows.
const SET_UNREAD: ExecError = ExecError::Bug("some columns are written of a row with entries in indexes");

/// A row that is replaced or deleted.
pub(crate) struct Replaced {
    key: Vec<u8>,
    /// `None` if there is none. It may be expired, and have entries only in an index that is rebuilt.
    row: Option<Vec<Value>>,
}

/// Brings the entry of an index from an old one to a new one; how many rows of entries that wrote.
fn write_entry(
    transaction: &mut dyn Transaction,
    index: &Index,
    old: Option<&[Value]>,
    new: Option<&[Value]>,
    written_ms: Option<i64>,
) -> Result<usize, ExecError> {
    let entries = index.entries();
    let refused = |source| ExecError::Entry { index: index.def().name.clone(), row: None, source };
    // An entry that stays has a time that goes with it.
    if old == new && entries.def().ttl_s.is_none() {
        return Ok(0);
    }
    let key_of = |entry: Option<&[Value]>| entry.map(|entry| entries.row_key(entry)).transpose();
    // An old row has an entry, so it has a key; if it has none since, there is nothing to delete.
    let old_key = key_of(old).ok().flatten();
    let mut written = 0;
    if let Some(key) = old_key
        && key_of(new).map_err(refused)?.as_ref() != Some(&key)
    {
        transaction.apply(entries, RowChange::delete(&key), None)?;
        written += 1;
    }
    if let Some(new) = new {
        let change = RowChange::Put { new, old: OldRow::Unknown, written_ms };
        transaction.apply(entries, change, None).map_err(refused)?;
        written += 1;
    }
    Ok(written)
}
