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
    table_of(catalog, schema, bare).map_err(|error| of_absence(error, schema, bare).at(Some(name.span())))
}

/// The error of a name that is that of no table; of a catalog of another database with what shows the same.
pub(crate) fn of_absence(error: CatalogError, schema: Option<&str>, name: &str) -> BindError {
    let help = match (schema, name.to_ascii_lowercase().as_str()) {
        (None, "sqlite_master" | "sqlite_schema" | "pg_tables" | "duckdb_tables") => {
            Some("SHOW TABLES lists tables, information_schema.tables tells more")
        }
        (Some(schema), _) if schema.eq_ignore_ascii_case("pg_catalog") => {
            Some("clients of the Postgres server see pg_catalog; here information_schema shows the catalog")
        }
        _ => None,
    };
    let is_absence = error.is_absence();
    let error = BindError::from(error);
    match help.filter(|_| is_absence) {
        Some(help) => error.help(help),
        None => error,
    }
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
