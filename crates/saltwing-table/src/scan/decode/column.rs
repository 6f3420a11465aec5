//! A column while rows are decoded into it.

use crate::engine::stored_table::StoredTable;
use crate::scan::column_location::ColumnLocation;
use crate::scan::column_writer::ColumnWriter;
use saltwing_access::TableError;
use saltwing_types::ValueError;

/// A column that a scan decodes.
pub(crate) struct Column {
    /// Its index in the table.
    pub(crate) index: usize,
    pub(crate) source: ColumnLocation,
    pub(crate) sink: ColumnWriter,
}

/// The error with the name of the column whose value it is.
pub(crate) fn named(table: &StoredTable, column: usize, source: ValueError) -> TableError {
    let def = table.def();
    let name = def.columns.get(column).map_or("_row_key", |c| &c.name);
    TableError::Value { column: Some(format!("{}.{name}", def.name)), source }
}
