//! What system tables are made of, with what the binder tells.

use saltwing_catalog::CatalogReader;

use crate::system_table::{Objects, SYSTEM_TABLES, SystemFacts};
use crate::view::is_updatable;

impl<'a> SystemFacts<'a> {
    /// The facts of a catalog.
    pub fn of(catalog: &'a dyn CatalogReader) -> Self {
        Self { catalog, objects: Objects::Own, system_tables: SYSTEM_TABLES, is_updatable }
    }
}
