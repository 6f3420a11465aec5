//! Rows to be written by one commit.

use std::sync::Arc;

use saltwing_access::{Table, TableError};
use saltwing_types::{TableId, Value, text};

use crate::engine::stored_table::{OpenTables, StoredTable};
use crate::format::delta_record::{Record, RecordBuilder};
use crate::format::row_format::VALUE_BYTES_MAX;

/// Puts and deletes of whole rows over any tables, in order: of several on one row the last one counts.
///
/// Rows are encoded as they come, in the form in which the commit stores them: a set takes as much memory as its commit
/// takes in the store.
#[derive(Debug)]
pub(crate) struct WriteSet {
    /// The time that rows are stamped with.
    now_ms: i64,
    open: Arc<OpenTables>,
    records: RecordBuilder,
    /// The tables written to, each once.
    tables: Vec<Arc<StoredTable>>,
    rows: usize,
    /// Keys without rows that the commit is checked by.
    claims: Vec<(TableId, Vec<u8>)>,
    /// Whether a row is put, rather than deleted.
    has_puts: bool,
    frees_space: bool,
}

/// The length of a set at some time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WriteMark {
    records: usize,
    rows: usize,
    claims: usize,
    tables: usize,
    has_puts: bool,
}

impl WriteSet {
    /// A set that changes nothing; its rows are stamped with this time, in milliseconds since 1970.
    pub(crate) fn new(now_ms: i64, open: Arc<OpenTables>) -> Self {
        Self {
            now_ms,
            open,
            records: RecordBuilder::default(),
            tables: Vec::new(),
            rows: 0,
            claims: Vec::new(),
            has_puts: false,
            frees_space: false,
        }
    }

    /// Writes a row whole; its physical key. Rows that were written before say when.
    pub(crate) fn put(
        &mut self,
        table: &Arc<Table>,
        row: &[Value],
        written_ms: Option<i64>,
    ) -> Result<Vec<u8>, TableError> {
        let written_ms = match written_ms {
            Some(written_ms) => written_ms,
            None => table.row_time_ms(row)?.unwrap_or(self.now_ms),
        };
        let def = table.def();
        for (column, value) in def.columns.iter().zip(row) {
            if value.is_null() && !column.nullable && column.family.is_some() {
                return Err(TableError::NotNull { table: def.name.to_string(), column: column.name.clone() });
            }
            let bytes = value.heap_bytes();
            if bytes > VALUE_BYTES_MAX {
                let (table, column) = (def.name.to_string(), column.name.clone());
                return Err(TableError::ValueTooLarge { table, column, bytes, limit: VALUE_BYTES_MAX });
            }
        }
        let key = table.row_key(row)?;
        self.has_puts = true;
        let table = self.stored(table);
        self.add(def.id, &key, |out| table.encode(row, written_ms, out));
        Ok(key)
    }

    /// Deletes a row by its physical key, if it exists.
    pub(crate) fn delete(&mut self, table: &Arc<Table>, key: &[u8]) {
        self.stored(table);
        self.add(table.def().id, key, |_| {});
    }

    /// Claims a key: see [`saltwing_access::WriteBatch::claim`].
    pub(crate) fn claim(&mut self, table: &Table, key: &[u8]) {
        self.claims.push((table.def().id, key.to_vec()));
    }

    /// The claimed keys.
    pub(crate) fn claims(&self) -> impl Iterator<Item = (TableId, &[u8])> {
        self.claims.iter().map(|(table, key)| (*table, key.as_slice()))
    }

    /// Says that the rows that are put are about space that comes back: they may be written where the device is nearly full,
    /// as deletions may.
    pub(crate) fn reclaims_space(&mut self) {
        self.frees_space = true;
    }

    /// Whether it must not be written where the device is nearly full.
    pub(crate) fn takes_space(&self) -> bool {
        !self.frees_space && self.has_puts
    }

    /// The layout of a table that is written to.
    fn stored(&mut self, table: &Arc<Table>) -> Arc<StoredTable> {
        if let Some(known) = self.tables.iter().find(|known| Arc::ptr_eq(known.table(), table)) {
            return known.clone();
        }
        let stored = StoredTable::open(&self.open, table);
        self.tables.push(stored.clone());
        stored
    }

    fn add(&mut self, table: TableId, key: &[u8], write: impl FnOnce(&mut Vec<u8>)) {
        self.rows += 1;
        self.records.add(table, key, write);
    }

    /// How many rows are written.
    pub(crate) fn len(&self) -> usize {
        self.rows
    }

    /// Whether nothing is written.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// How many bytes the rows take, encoded as the commit stores them.
    pub(crate) fn bytes(&self) -> usize {
        self.records.bytes()
    }

    /// The tables written to, each definition once.
    pub(crate) fn tables(&self) -> &[Arc<StoredTable>] {
        &self.tables
    }

    /// The rows so far, for [`WriteSet::truncate`].
    pub(crate) fn mark(&mut self) -> WriteMark {
        let records = self.records.finished().len();
        WriteMark {
            records,
            rows: self.rows,
            claims: self.claims.len(),
            tables: self.tables.len(),
            has_puts: self.has_puts,
        }
    }

    /// Removes the rows since a mark.
    pub(crate) fn truncate(&mut self, to: WriteMark) {
        self.records.truncate(to.records);
        self.tables.truncate(to.tables);
        self.claims.truncate(to.claims);
        (self.rows, self.has_puts) = (to.rows, to.has_puts);
    }

    /// The rows as the store takes them, in records to which none is added any more.
    pub(crate) fn finished_records(&mut self) -> &[Record] {
        self.records.finished()
    }

    /// The rows as the store takes them.
    pub(crate) fn records(&self) -> Vec<Record> {
        self.records.records()
    }

    pub(crate) fn conflict(&self, id: TableId, key: &[u8]) -> TableError {
        match self.tables.iter().find(|table| table.def().id == id) {
            Some(table) => TableError::Conflict { table: table.def().name.to_string(), key: table.key_text(key) },
            None => TableError::Conflict { table: id.0.to_string(), key: text::hex(key) },
        }
    }
}
