//! The rows of columns.

use saltwing_types::SortOrder;

use super::catalog_row::{CatalogRow, TableKeys};
use super::catalog_value::{boolean, count, int, small_int, text};
use super::type_code::type_code;
use crate::{CellTypeError, ColumnDefinition, PhoenixError, TableDefinition};

/// The row of a table's column, by its place among the columns.
pub(super) fn column_row(table: &TableDefinition, keys: &TableKeys, place: usize) -> Result<CatalogRow, PhoenixError> {
    let Some(column) = table.columns.get(place) else {
        return Err(PhoenixError::Format(format!("no column {place}")));
    };
    let Some(ty) = type_code(column.ty) else {
        return Err(PhoenixError::ColumnType { column: column.name.clone(), error: CellTypeError(column.ty) });
    };
    let order = if column.order == SortOrder::Desc { 1 } else { 2 };
    let mut cells = vec![
        ("DATA_TYPE", int(ty.code)),
        ("NULLABLE", int(column.nullable.into())),
        ("ORDINAL_POSITION", count(place + 1)),
        ("SORT_ORDER", int(order)),
        ("IS_ROW_TIMESTAMP", boolean(column.is_row_timestamp)),
        ("IS_VIEW_REFERENCED", boolean(false)),
    ];
    if column.is_key() {
        let before = table.columns.iter().take(place).filter(|column| column.is_key()).count();
        cells.push(("KEY_SEQ", small_int(before + 1)));
    }
    cells.extend(column.qualifier.clone().map(|qualifier| ("COLUMN_QUALIFIER", qualifier)));
    cells.extend(ty.size.map(|size| ("COLUMN_SIZE", count(size as usize))));
    cells.extend(ty.scale.map(|scale| ("DECIMAL_DIGITS", int(scale.into()))));
    cells.extend(ty.elements.map(|elements| ("ARRAY_SIZE", count(elements as usize))));
    cells.extend(column.expression.as_deref().map(|default| ("COLUMN_DEF", text(default))));
    cells.extend(key_name_of(table, column).map(|name| ("PK_NAME", text(name))));
    Ok(CatalogRow::put(keys.column(&column.name, column.family.as_deref())?, cells))
}

/// The rows of all columns of a new table have the name of its key, and those of key columns that are added.
fn key_name_of<'a>(table: &'a TableDefinition, column: &ColumnDefinition) -> Option<&'a str> {
    let is_new = table.timestamp == 0;
    table.key_name.as_deref().filter(|_| is_new || column.is_key())
}

/// The rows of the numbers of families' next columns, for those that are not in `known`.
pub(super) fn counter_rows(
    table: &TableDefinition,
    keys: &TableKeys,
    known: &[(String, u32)],
) -> Result<Vec<CatalogRow>, PhoenixError> {
    let changed = table.counters.iter().filter(|counter| !known.contains(counter));
    let row = |(family, next): &(String, u32)| {
        Ok(CatalogRow::put(keys.counter(family)?, vec![("QUALIFIER_COUNTER", count(*next as usize))]))
    };
    changed.map(row).collect()
}
