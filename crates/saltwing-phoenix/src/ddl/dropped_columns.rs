//! ALTER TABLE DROP COLUMN.

use super::added_columns::changed_header;
use super::call::CatalogCall;
use super::catalog_row::{CatalogRow, RowChange, TableKeys};
use super::catalog_value::count;
use crate::{NewTable, PhoenixError, TableDefinition};

/// The rows and the call that drop columns, by their places in `old`. The server refuses it if the table has changed since `old`. Cells of the columns
/// stay; no later column gets their qualifiers, if columns have numbers.
///
/// # Errors
/// [`PhoenixError::Key`].
pub fn dropped_columns(old: &TableDefinition, dropped: &[usize]) -> Result<NewTable, PhoenixError> {
    let keys = TableKeys::of(old)?;
    let mut new = old.clone();
    let mut rows = Vec::new();
    let mut places = 0..;
    new.columns.clear();
    for (place, column) in old.columns.iter().enumerate() {
        let key = keys.column(&column.name, column.family.as_deref())?;
        if dropped.contains(&place) {
            rows.push(CatalogRow { key, change: RowChange::Delete });
            continue;
        }
        new.columns.push(column.clone());
        if let Some(next) = places.next()
            && next != place
        {
            rows.push(CatalogRow::put(key, vec![("ORDINAL_POSITION", count(next + 1))]));
        }
    }
    rows.insert(0, CatalogRow::put(keys.header()?, changed_header(old, &new)));
    let call = CatalogCall::drop_columns(keys.header()?, &rows);
    Ok(NewTable { rows, call })
}
