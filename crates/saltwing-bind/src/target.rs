//! The table and the columns that a statement writes.

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_catalog::CatalogReader;
use saltwing_sql::{ColumnName, TableRef};
use saltwing_types::table::ROW_KEY_COLUMN;

use crate::error::{BindError, BindErrorKind, Result};
use crate::scope::Scope;

/// The table that a statement names.
///
/// # Errors
/// That of the catalog, with the place.
pub fn resolve(catalog: &dyn CatalogReader, name: &TableRef) -> Result<Arc<Table>> {
    let schema = name.schema.as_ref().map(|s| s.text.as_str());
    catalog.resolve(schema, &name.name.text).map_err(|error| BindError::from(error).at(Some(name.span())))
}

/// The columns that an INSERT's list names; all that are not hidden without one.
///
/// # Errors
/// [`BindErrorKind::NoSuchColumn`], [`BindErrorKind::DuplicateColumn`].
pub fn target_columns(table: &Arc<Table>, names: Option<&[ColumnName]>) -> Result<Vec<usize>> {
    let def = table.def();
    let Some(names) = names else {
        return Ok((0..def.columns.len()).filter(|&c| def.columns.get(c).is_some_and(|c| !c.hidden)).collect());
    };
    let scope = Scope::of(table.clone(), None);
    let mut columns = Vec::with_capacity(names.len());
    for name in names {
        let parts: Vec<&str> = name.family.iter().chain([&name.name]).map(|n| n.text.as_str()).collect();
        let column = scope.resolve(&parts, Some(name.span()))?;
        let place = |error: BindErrorKind| BindError::from(error).at(Some(name.span()));
        if column.name == ROW_KEY_COLUMN {
            return Err(place(BindErrorKind::Syntax(format!(
                "{ROW_KEY_COLUMN} is made from the key columns, not written"
            ))));
        }
        if columns.contains(&column.index) {
            return Err(place(BindErrorKind::DuplicateColumn(column.name)));
        }
        columns.push(column.index);
    }
    Ok(columns)
}
