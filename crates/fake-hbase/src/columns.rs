//! What of a row is read: its columns, and the times of its cells.

use bytes::Bytes;
use hbase_client::cell::Cell;
use hbase_client::proto::{Column, ColumnFamilyTimeRange, TimeRange};

use crate::row::Row;

/// The part of rows that a get or a scan reads.
#[derive(Clone, Debug, Default)]
pub(crate) struct Columns {
    /// No families are all; no qualifiers are all of the family.
    columns: Vec<Column>,
    time: Option<TimeRange>,
    family_times: Vec<ColumnFamilyTimeRange>,
}

impl Columns {
    pub(crate) fn new(columns: Vec<Column>, time: Option<TimeRange>, family_times: Vec<ColumnFamilyTimeRange>) -> Self {
        Self { columns, time, family_times }
    }

    /// The families that are named.
    pub(crate) fn families(&self) -> impl Iterator<Item = &Bytes> {
        self.columns.iter().map(|column| &column.family)
    }

    /// The cells of a row that are read.
    pub(crate) fn cells(&self, row: &Row) -> Vec<Cell> {
        row.cells().filter(|cell| self.is_named(cell) && self.is_in_time(cell)).cloned().collect()
    }

    /// Whether any cell of a row is read.
    pub(crate) fn has_any(&self, row: &Row) -> bool {
        row.cells().any(|cell| self.is_named(cell) && self.is_in_time(cell))
    }

    fn is_named(&self, cell: &Cell) -> bool {
        let is_of = |column: &Column| {
            column.family == cell.family()
                && (column.qualifier.is_empty() || column.qualifier.iter().any(|is| is == cell.qualifier()))
        };
        self.columns.is_empty() || self.columns.iter().any(is_of)
    }

    fn is_in_time(&self, cell: &Cell) -> bool {
        let of_family = self.family_times.iter().find(|times| times.column_family == cell.family());
        let Some(range) = of_family.map(|times| &times.time_range).or(self.time.as_ref()) else { return true };
        let time = cell.timestamp();
        time >= range.from.unwrap_or(0) && range.to.is_none_or(|to| time < to)
    }
}
