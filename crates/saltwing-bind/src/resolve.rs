//! Tables by the names that statements have for them.

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_catalog::{CatalogError, CatalogReader};
use saltwing_sql::TableRef;

use crate::error::{BindError, Result};
use crate::system_table::no_system_table;

/// The table that a statement names.
///
/// # Errors
/// That of the catalog, with the place.
pub fn resolve(catalog: &dyn CatalogReader, name: &TableRef) -> Result<Arc<Table>> {
    let (schema, bare) = name.parts();
    table_of(catalog, schema, bare).map_err(|error| BindError::from(error).at(Some(name.span())))
}

/// The table of this name.
///
/// # Errors
/// That of the catalog, which does not know the names of system tables.
pub(crate) fn table_of(
    catalog: &dyn CatalogReader,
    schema: Option<&str>,
    name: &str,
) -> std::result::Result<Arc<Table>, CatalogError> {
    catalog.resolve(schema, name).map_err(|error| match error {
        CatalogError::SystemTable(_) => no_system_table(schema, name).unwrap_or(error),
        other => other,
    })
}
