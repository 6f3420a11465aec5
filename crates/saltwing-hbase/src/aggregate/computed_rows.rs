//! The answers of coprocessors: a cell for each group of a region's rows.

use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use hbase_client::{Row, Scan};
use saltwing_phoenix::AggregateScan;
use saltwing_types::Value;

use super::pushed::Pushed;
use crate::HbaseError;
use crate::rows::{AnswerReader, ReadRow};

/// After how long a server gives what it has come to, in milliseconds: well before a call ends.
const PAGE_MS: u64 = 15_000;

/// Reads groups as rows: the values of the groups, and the results of the aggregates.
pub(super) struct ComputedRows {
    pub(super) table: String,
    pub(super) pushed: Pushed,
    /// The cells of the table that the servers read.
    pub(super) cells: Vec<(Bytes, Bytes)>,
    /// Whether a server gave rows of the table: it has no coprocessors.
    pub(super) gave_rows: AtomicBool,
}

impl AnswerReader for ComputedRows {
    fn ask(&self, scan: Scan) -> Scan {
        let cells = self.cells.iter();
        let scan = cells.fold(scan, |scan, (family, qualifier)| scan.column(family.clone(), qualifier.clone()));
        let attributes = self.pushed.scan.attributes().into_iter().chain([AggregateScan::page(PAGE_MS)]);
        let scan = attributes.fold(scan, |scan, attribute| scan.attribute(attribute.name, attribute.value));
        scan.computed_rows()
    }

    fn is_computed(&self) -> bool {
        true
    }

    fn read(&self, row: &Row, rows: &mut Vec<ReadRow>) -> Result<u64, HbaseError> {
        let mut scanned = 0;
        for cell in row.cells() {
            let (family, qualifier) = (cell.family(), cell.qualifier());
            if self.cells.iter().any(|(of_table, column)| of_table == family && column == qualifier) {
                self.gave_rows.store(true, Ordering::Relaxed);
                return Err(HbaseError::NotComputed { table: self.table.clone() });
            }
            if family.is_empty() && qualifier.is_empty() {
                continue;
            }
            let damaged = |error| HbaseError::Row { table: self.table.clone(), error };
            let results = self.pushed.scan.read(cell.value()).map_err(damaged)?;
            scanned += match results.first() {
                Some(Value::Int(rows)) => u64::try_from(*rows).unwrap_or(0),
                _ => 0,
            };
            let mut values = match &self.pushed.groups {
                Some(key) => key.read(cell.row()).map_err(damaged)?,
                None => Vec::new(),
            };
            values.extend(results);
            let bytes = cell.key_value().len() as u64;
            rows.push(ReadRow { key: Bytes::copy_from_slice(cell.row()), values, bytes });
        }
        Ok(scanned)
    }
}
