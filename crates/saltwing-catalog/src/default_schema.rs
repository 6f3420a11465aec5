//! The default schema, and its name.
//!
//! ```text
//! t                   a temporary table t, or t in the default schema
//! public.t            t in the default schema, whose name has no schema in definitions
//! other.public.t      other.t: the same in an attached database
//! ```
//!
//! Clients of PostgreSQL write `public` before the name of every object. An earlier version could make a schema of this name: if a database
//! has one, `public` means that schema, and the default schema has no name.
//!
//! Statements keep names as they are written. Every lookup and every new definition takes the canonical schema from here, so definitions,
//! grants and cached plans never contain `public` for the default schema.

use saltwing_types::TableName;
use saltwing_types::table::is_same_name;

use crate::definitions::{Definitions, key};
use crate::{CatalogError, CatalogReader};

/// The name of the default schema in statements, unless the catalog has a schema of this name.
pub const PUBLIC_SCHEMA: &str = "public";

/// The name with its canonical schema: none for the default schema. See [`CatalogReader::canonical_schema`].
///
/// # Errors
/// Errors of the store.
pub fn canonical_name(catalog: &dyn CatalogReader, name: TableName) -> Result<TableName, CatalogError> {
    let Some(written) = name.schema else { return Ok(name) };
    let schema = catalog.canonical_schema(&written)?;
    Ok(TableName { schema: (!schema.is_empty()).then(|| schema.to_owned()), name: name.name })
}

impl Definitions {
    /// As [`CatalogReader::canonical_schema`].
    pub(crate) fn canonical<'s>(&self, schema: &'s str) -> &'s str {
        match is_same_name(schema, PUBLIC_SCHEMA) && !self.schemas.contains_key(PUBLIC_SCHEMA) {
            true => "",
            false => schema,
        }
    }

    /// The key of the object that a statement names.
    pub(crate) fn key_of(&self, schema: Option<&str>, name: &str) -> (String, String) {
        key(schema.map(|schema| self.canonical(schema)), name)
    }

    /// Gives the name of a new object its canonical schema.
    pub(crate) fn settle(&self, name: &mut TableName) {
        let is_default = name.schema.as_deref().is_some_and(|schema| self.canonical(schema).is_empty());
        if is_default {
            name.schema = None;
        }
    }
}
