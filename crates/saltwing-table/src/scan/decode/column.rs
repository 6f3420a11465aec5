//! A column while rows are decoded into it.

use crate::engine::stored_table::StoredTable;
use crate::format::stored_column::Unreadable;
use crate::scan::column_location::ColumnLocation;
use crate::scan::column_writer::ColumnWriter;
use saltwing_access::TableError;
use saltwing_types::table::{ROW_KEY_COLUMN, ROW_TIME_COLUMN};
use saltwing_types::text;

/// A column that a scan decodes.
pub(crate) struct Column {
    /// Its index in the table.
    pub(crate) index: usize,
    pub(crate) source: ColumnLocation,
    pub(crate) sink: ColumnWriter,
}

/// The error of a column's value that cannot be read; `damaged` is that of bytes that are no value.
pub(crate) fn unreadable(
    table: &StoredTable,
    column: usize,
    why: Unreadable,
    damaged: impl FnOnce() -> TableError,
) -> TableError {
    let Unreadable::Value(source) = why else { return damaged() };
    let def = table.def();
    let hidden = if column == table.row_time_index() { ROW_TIME_COLUMN } else { ROW_KEY_COLUMN };
    let name = def.columns.get(column).map_or(hidden, |c| &c.name);
    TableError::Value { column: Some(format!("{}.{name}", def.name)), source }
}

/// The error of a row with this key, whose `what` is damaged.
pub(crate) fn corrupt(table: &StoredTable, key: &[u8], what: &'static str) -> TableError {
    TableError::Corrupt { table: table.def().name.to_string(), key: text::hex(key), what }
}
