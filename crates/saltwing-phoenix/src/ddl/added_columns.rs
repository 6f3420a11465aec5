//! ALTER TABLE ADD.

use super::call::CatalogCall;
use super::catalog_row::{CatalogRow, TableKeys};
use super::catalog_value::{big_int, count, text};
use super::column_rows::{column_row, counter_rows};
use crate::{NewTable, PhoenixError, TableDefinition};

/// The rows and the call that add columns: those that `new` has after the columns of `old`. The server refuses it if the table has changed since `old`.
///
/// # Errors
/// [`PhoenixError::ColumnType`]; [`PhoenixError::Key`].
pub fn added_columns(old: &TableDefinition, new: &TableDefinition) -> Result<NewTable, PhoenixError> {
    let keys = TableKeys::of(new)?;
    let mut rows = vec![CatalogRow::put(keys.header()?, changed_header(old, new))];
    for place in old.columns.len()..new.columns.len() {
        rows.push(column_row(new, &keys, place)?);
    }
    rows.extend(counter_rows(new, &keys, &old.counters)?);
    let call = CatalogCall::add_columns(keys.header()?, &rows);
    Ok(NewTable { rows, call })
}

/// The header of a table that is changed: the number of its changes is one more, and its columns are counted without the salt.
pub(super) fn changed_header(old: &TableDefinition, new: &TableDefinition) -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("TABLE_TYPE", text("u")),
        ("TABLE_SEQ_NUM", big_int(old.sequence_number.saturating_add(1))),
        ("COLUMN_COUNT", count(new.columns.len())),
    ]
}
