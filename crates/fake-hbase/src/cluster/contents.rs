//! What a cluster has: tables and rows, looked at and written without a client.

use std::sync::Arc;

use bytes::Bytes;
use hbase_client::cell::{Cell, CellKind, CellParts, LATEST_TIMESTAMP};
use hbase_client::proto::{ColumnFamilySchema, CoprocessorServiceCall, Scan, TableSchema};

use super::handle::Cluster;
use crate::exception::Exception;
use crate::name::{RegionId, table_name};
use crate::operation::{create_table, delete_table, disable_table, enable_table, finish_all};

impl Cluster {
    /// Creates a table with these families, split at these keys.
    ///
    /// # Errors
    /// `TableExistsException`; `DoNotRetryIOException` without families or with wrong keys.
    pub fn create_table(&self, table: &str, families: &[&str], split_keys: &[&[u8]]) -> Result<(), Exception> {
        let family = |name: &&str| ColumnFamilySchema {
            name: Bytes::copy_from_slice(name.as_bytes()),
            ..ColumnFamilySchema::default()
        };
        let schema = TableSchema {
            table_name: Some(table_name(table)),
            column_families: families.iter().map(family).collect(),
            ..TableSchema::default()
        };
        let split_keys: Vec<Bytes> = split_keys.iter().map(|key| Bytes::copy_from_slice(key)).collect();
        create_table(&mut self.state(), schema, &split_keys)
    }

    /// Takes a table out of service.
    ///
    /// # Errors
    /// `TableNotFoundException`, `TableNotEnabledException`.
    pub fn disable_table(&self, table: &str) -> Result<(), Exception> {
        disable_table(&mut self.state(), table)
    }

    /// Brings a table back into service.
    ///
    /// # Errors
    /// `TableNotFoundException`, `TableNotDisabledException`.
    pub fn enable_table(&self, table: &str) -> Result<(), Exception> {
        enable_table(&mut self.state(), table)
    }

    /// Deletes a table that is out of service.
    ///
    /// # Errors
    /// As [`Cluster::enable_table`].
    pub fn delete_table(&self, table: &str) -> Result<(), Exception> {
        delete_table(&mut self.state(), table)
    }

    /// Makes the master's procedures do their work now. Otherwise a procedure does it when clients have polled it several times.
    pub fn finish_procedures(&self) {
        finish_all(&mut self.state());
    }

    /// Writes a value, with the servers' time.
    ///
    /// # Errors
    /// `TableNotFoundException`; `IOException` for keys that no cell can have.
    pub fn put(&self, table: &str, row: &[u8], column: (&str, &str), value: &[u8]) -> Result<(), Exception> {
        let (family, qualifier) = (column.0.as_bytes(), column.1.as_bytes());
        let timestamp = LATEST_TIMESTAMP;
        let cell = Cell::new(CellParts { row, family, qualifier, timestamp, kind: CellKind::PUT, value });
        let cell = cell.map_err(|error| Exception::io(error.to_string()))?;
        let mut state = self.state();
        let now = state.clock.tick();
        state.table_mut(table)?.apply(&[cell], now).map_err(|error| Exception::io(error.to_string()))
    }

    /// All cells of a table, in the order of rows and columns.
    ///
    /// # Errors
    /// `TableNotFoundException`.
    pub fn cells(&self, table: &str) -> Result<Vec<Cell>, Exception> {
        let state = self.state();
        Ok(state.table(table)?.rows().values().flat_map(|row| row.cells().cloned().collect::<Vec<_>>()).collect())
    }

    /// The number of rows that a table has or had.
    pub(crate) fn count_rows(&self, table: &str) -> usize {
        self.state().table(table).map_or(0, |table| table.rows().len())
    }

    /// The key of a row of a table, counted from 0 in their order.
    pub(crate) fn row_key(&self, table: &str, at: usize) -> Option<Bytes> {
        Some(self.state().table(table).ok()?.rows().keys().nth(at)?.bytes.clone())
    }

    /// The regions of a table that are in service or about to be, in their order.
    ///
    /// # Errors
    /// `TableNotFoundException`.
    pub fn regions(&self, table: &str) -> Result<Vec<RegionId>, Exception> {
        let state = self.state();
        state.table(table)?;
        Ok(state.live_regions(table))
    }

    /// Lets a function answer calls of coprocessors: it gets the region and the call.
    pub fn set_coprocessor(
        &self,
        coprocessor: impl Fn(&RegionId, &CoprocessorServiceCall) -> Result<Bytes, Exception> + Send + Sync + 'static,
    ) {
        self.state().coprocessor = Some(Arc::new(coprocessor));
    }

    /// Lets a function make rows of the rows of scans that have attributes: it gets the region, the scan, and its rows in the region. It is
    /// called when a scanner is opened.
    pub fn set_scan_coprocessor(
        &self,
        coprocessor: impl Fn(&RegionId, &Scan, Vec<Vec<Cell>>) -> Result<Vec<Vec<Cell>>, Exception> + Send + Sync + 'static,
    ) {
        self.state().scan_coprocessor = Some(Arc::new(coprocessor));
    }

    /// Lets the servers' clock stand still, or go on: else it goes on by a millisecond with each write. While it stands, a row that was
    /// deleted can't be written again, because the marker hides what has its time.
    pub fn stop_clock(&self, stands_still: bool) {
        self.state().clock.stand_still(stands_still);
    }

    /// The servers' time, in milliseconds since 1970.
    pub fn now_ms(&self) -> u64 {
        self.state().clock.now_ms()
    }

    /// Sets the servers' time. It may go back, as the time of a row does whose region moves to a slower server.
    pub fn set_now_ms(&self, now_ms: u64) {
        self.state().clock.set(now_ms);
    }
}
