//! A table as stored: the position of its columns in rows and blocks.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use saltwing_access::Table;
use saltwing_heat::{KeyPrefix, Recorder};
use saltwing_types::table::{BLOCK_BYTES, BLOCK_BYTES_MAX, BLOCK_ROWS, BLOCK_ROWS_MAX, KeptVersions};
use saltwing_types::{TableId, Value};

use crate::engine::options::{BlockLimits, LayoutOptions};
use crate::format::row_format::FamilyLayout;
use crate::format::stored_row::StoredRow;

/// Tables whose definitions are open.
pub(crate) type OpenTables = RwLock<BTreeMap<TableId, Arc<StoredTable>>>;

/// A table with the layout of its rows.
#[derive(Debug)]
pub(crate) struct StoredTable {
    table: Arc<Table>,
    layouts: Vec<FamilyLayout>,
    /// By family: the column of each slot; `None` where it was dropped.
    slot_columns: Vec<Vec<Option<usize>>>,
    /// The versions that it keeps.
    versions: Option<KeptVersions>,
    /// Since when, in milliseconds since 1970, all commits of this process keep them.
    versions_from_ms: i64,
    /// The next hidden row id; `None` until the first insert has looked for the largest.
    pub(crate) next_row_id: Mutex<Option<i64>>,
    /// Counts its accesses; `None` if it was never open.
    accesses: Option<Arc<Recorder>>,
}

impl Deref for StoredTable {
    type Target = Table;

    fn deref(&self) -> &Table {
        &self.table
    }
}

impl StoredTable {
    /// The layout that follows from a table's definition.
    pub(crate) fn new(table: Arc<Table>) -> Self {
        let def = table.def();
        let slots: Vec<_> = (0..def.families.len()).map(|family| def.slots(family)).collect();
        let layouts = slots.iter().map(|slots| FamilyLayout::new(slots.iter().map(|(ty, _)| *ty))).collect();
        let slot_columns =
            slots.into_iter().map(|slots| slots.into_iter().map(|(_, column)| column).collect()).collect();
        let versions = def.kept_versions();
        let next_row_id = Mutex::default();
        Self { table, layouts, slot_columns, versions, versions_from_ms: 0, next_row_id, accesses: None }
    }

    /// A table that is opened now, in the place of `before`.
    pub(crate) fn opened(table: Arc<Table>, before: Option<&Self>, accesses: Arc<Recorder>, now_ms: i64) -> Self {
        let opened = Self::new(table);
        let since = |table: &Self| table.versions.map(|kept| kept.since);
        let known = before.filter(|before| since(before) == since(&opened)).map(|before| before.versions_from_ms);
        Self { versions_from_ms: known.unwrap_or(now_ms), accesses: Some(accesses), ..opened }
    }

    /// The counts of its accesses by key; `None` if it was never open.
    pub(crate) fn accesses(&self) -> Option<&Arc<Recorder>> {
        self.accesses.as_ref()
    }

    /// Counts accesses that read, in order; `key` tells the key of one by index, where it is known.
    #[inline]
    pub(crate) fn count_reads(&self, count: usize, key: impl FnMut(usize) -> Option<KeyPrefix>) {
        if let Some(accesses) = &self.accesses {
            accesses.read(count, key);
        }
    }

    /// Counts the read of one row by its key.
    #[inline]
    pub(crate) fn count_read(&self, key: &[u8]) {
        self.count_reads(1, |_| Some(KeyPrefix::of(key)));
    }

    /// The versions of rows that it keeps, if any.
    pub(crate) fn versions(&self) -> Option<KeptVersions> {
        self.versions
    }

    /// The time, in milliseconds since 1970, from which on this process knows all commits of the table.
    pub(crate) fn versions_from_ms(&self) -> i64 {
        self.versions_from_ms
    }

    /// The earliest time, in milliseconds since 1970, that can be read at `now_ms`, if time limits that.
    pub(crate) fn first_readable_ms(&self, now_ms: i64) -> Option<i64> {
        let KeptVersions { count, keep_s, .. } = self.versions?;
        let s = match self.def().ttl_s {
            None if count > 1 => return None,
            // Expired rows are deleted without a version.
            Some(ttl_s) if count > 1 => keep_s.max(ttl_s),
            _ => keep_s,
        };
        Some(now_ms.saturating_sub(i64::try_from(s).unwrap_or(i64::MAX).saturating_mul(1000)))
    }

    /// Rows written at or before this time are deleted at `now_ms`: they are expired at each time that can be read, and by each TTL
    /// that the table is to get.
    pub(crate) fn deletable_ms(&self, now_ms: i64) -> Option<i64> {
        self.table.with_kept_rows().unwrap_or(&self.table).expired_ms(self.first_readable_ms(now_ms).unwrap_or(now_ms))
    }

    /// Adds a row of all columns, as records and versions have it, to `out`.
    pub(crate) fn encode(&self, row: &[Value], written_ms: i64, out: &mut Vec<u8>) {
        StoredRow::write(self.family_count(), out, |family, out| match self.layout(family) {
            Some(layout) if self.is_stored(family, row) => {
                layout.encode(written_ms, |slot| self.slot_value(family, slot, row), out);
            }
            _ => {}
        });
    }

    /// The table.
    pub(crate) fn table(&self) -> &Arc<Table> {
        &self.table
    }

    /// The layout of a table among open ones; made again for an earlier definition, which a statement may still read by.
    pub(crate) fn open(open: &OpenTables, table: &Arc<Table>) -> Arc<Self> {
        match open.read().get(&table.def().id) {
            Some(found) if Arc::ptr_eq(&found.table, table) => found.clone(),
            found => {
                let accesses = found.and_then(|found| found.accesses.clone());
                Arc::new(Self { accesses, ..Self::new(table.clone()) })
            }
        }
    }

    pub(crate) fn layout(&self, family: usize) -> Option<&FamilyLayout> {
        self.layouts.get(family)
    }

    /// The block size of the table: by its definition, else by the options. Sizes beyond the limits are clamped.
    pub(crate) fn block_limits(&self, options: &LayoutOptions) -> BlockLimits {
        let declared = |name, most: u64| match self.def().option(name) {
            Some(Value::Int(number)) => Some(number.clamp(&1, &(most as i64)).unsigned_abs() as usize),
            _ => None,
        };
        BlockLimits {
            rows: declared(BLOCK_ROWS, BLOCK_ROWS_MAX).unwrap_or(options.block_rows),
            bytes: declared(BLOCK_BYTES, BLOCK_BYTES_MAX).unwrap_or(options.block_bytes),
        }
    }

    pub(crate) fn family_count(&self) -> usize {
        self.layouts.len()
    }

    /// The value of a family's slot in a row of all columns.
    pub(crate) fn slot_value<'a>(&self, family: usize, slot: usize, row: &'a [Value]) -> &'a Value {
        let column = self.slot_columns.get(family).and_then(|slots| slots.get(slot));
        column.copied().flatten().and_then(|c| row.get(c)).unwrap_or(&Value::Null)
    }

    /// Whether the family is stored with the row: the first always is, another one where it has a value, or NULL for
    /// a column that reads otherwise in a row without the family.
    pub(crate) fn is_stored(&self, family: usize, row: &[Value]) -> bool {
        let has_value = |column: usize| row.get(column).is_some_and(|v| !v.is_null());
        family == 0 || self.has_default(family) || self.slot_columns(family).any(has_value)
    }

    /// Whether a column of the family reads as a value in rows that are older than it.
    pub(crate) fn has_default(&self, family: usize) -> bool {
        self.slot_columns(family).any(|column| !self.absent(column).is_null())
    }

    /// How many slots a family has, those of dropped columns included.
    pub(crate) fn slot_count(&self, family: usize) -> usize {
        self.slot_columns.get(family).map_or(0, Vec::len)
    }

    /// The columns of a family, by index, in slot order.
    pub(crate) fn slot_columns(&self, family: usize) -> impl Iterator<Item = usize> {
        self.slot_columns.get(family).into_iter().flatten().copied().flatten()
    }
}
