//! Tables with their rows.

use std::sync::Arc;

use bytes::Bytes;
use hbase_client::WireError;
use hbase_client::cell::{Cell, CellKind, CellParts, LATEST_TIMESTAMP};
use hbase_client::proto::{TableSchema, TableStateKind};
use imbl::OrdMap;

use crate::row::Row;
use crate::row_key::RowKey;

/// A table: its descriptor and the rows of all of its regions.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) schema: TableSchema,
    pub(crate) state: TableStateKind,
    rows: OrdMap<RowKey, Arc<Row>>,
    is_meta: bool,
}

impl Table {
    pub(crate) fn new(schema: TableSchema, is_meta: bool) -> Self {
        Self { schema, state: TableStateKind::Enabled, rows: OrdMap::new(), is_meta }
    }

    pub(crate) fn has_family(&self, family: &[u8]) -> bool {
        self.schema.column_families.iter().any(|is| is.name == family)
    }

    pub(crate) fn families(&self) -> impl Iterator<Item = &Bytes> {
        self.schema.column_families.iter().map(|family| &family.name)
    }

    /// The key that orders a row.
    pub(crate) fn key(&self, row: impl Into<Bytes>) -> RowKey {
        RowKey::new(row.into(), self.is_meta)
    }

    /// All rows as they are now; a clone shares them.
    pub(crate) fn rows(&self) -> &OrdMap<RowKey, Arc<Row>> {
        &self.rows
    }

    pub(crate) fn row(&self, row: &[u8]) -> Option<&Arc<Row>> {
        self.rows.get(&self.key(Bytes::copy_from_slice(row)))
    }

    /// Applies values and markers, which are of rows that may differ.
    pub(crate) fn apply(&mut self, cells: &[Cell], now: u64) -> Result<(), WireError> {
        for cell in cells {
            let key = self.key(Bytes::copy_from_slice(cell.row()));
            let row = self.rows.entry(key).or_default();
            Arc::make_mut(row).apply(cell, now)?;
        }
        Ok(())
    }

    /// Sets a column of a row.
    pub(crate) fn set(&mut self, row: &[u8], column: (&str, &str), value: &[u8], now: u64) -> Result<(), WireError> {
        let (family, qualifier) = (column.0.as_bytes(), column.1.as_bytes());
        let timestamp = LATEST_TIMESTAMP;
        let cell = Cell::new(CellParts { row, family, qualifier, timestamp, kind: CellKind::PUT, value })?;
        self.apply(&[cell], now)
    }

    /// Takes a row away, with its markers.
    pub(crate) fn forget(&mut self, row: &[u8]) {
        let key = self.key(Bytes::copy_from_slice(row));
        self.rows.remove(&key);
    }
}
