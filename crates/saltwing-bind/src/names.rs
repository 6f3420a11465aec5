//! Which tables and views the names of a query mean.
//!
//! ```text
//! CREATE VIEW v AS SELECT t.host, s.u.w FROM t, s.u      t                               s.u
//! the query as a statement                               a temporary table t, or t       s.u
//! SELECT .. FROM v                                       t, never a temporary table      s.u
//! ATTACH .. AS other; SELECT .. FROM other.v             other.t                         "other.s".u
//! ```
//!
//! The catalog resolves `public.t` itself. Names before columns are resolved here: `public.t.k` is a column of a table of the default schema.

use std::borrow::Cow;
use std::sync::Arc;

use saltwing_access::Table;
use saltwing_catalog::{CatalogError, CatalogReader, PUBLIC_SCHEMA, TEMPORARY_SCHEMA, attached_schema, optional};
use saltwing_types::table::is_same_name;
use saltwing_types::{TableName, ViewDef};
use sqlparser::ast::ObjectName;

use crate::error::Result;
use crate::object_name::table_name;

/// Whether this is the name of a temporary table or view.
pub fn is_temporary(name: &TableName, catalog: &dyn CatalogReader) -> bool {
    let is_own = name.schema.as_deref().is_some_and(|schema| is_same_name(schema, TEMPORARY_SCHEMA));
    is_own && catalog.hides(&name.name)
}

/// The names of a query.
#[derive(Clone, Copy)]
pub(crate) enum Names<'a> {
    /// Those of the statement: temporary tables come first.
    Statement,
    /// Those of a view's database.
    View,
    /// Those of the database of a view that is attached.
    Attached(&'a ViewDef),
}

impl<'a> Names<'a> {
    /// The names of a view's query.
    pub(crate) fn of(view: &'a ViewDef, catalog: &dyn CatalogReader) -> Self {
        match view.name.schema.as_deref().is_some_and(|schema| catalog.is_attached(schema)) {
            true => Self::Attached(view),
            false => Self::View,
        }
    }

    /// The view in an attached database whose query this is.
    pub(crate) fn attached(self) -> Option<&'a ViewDef> {
        match self {
            Self::Attached(view) => Some(view),
            Self::Statement | Self::View => None,
        }
    }

    /// The schema in the catalog of the table or view that a name means.
    pub(crate) fn schema<'s>(
        self,
        schema: Option<&'s str>,
        name: &str,
        catalog: &dyn CatalogReader,
    ) -> Option<Cow<'s, str>> {
        match self {
            Self::Statement => schema.map(Cow::Borrowed),
            // The default schema: so it is no temporary table.
            Self::View if schema.is_none() && catalog.hides(name) => Some(Cow::Borrowed("")),
            Self::View => schema.map(Cow::Borrowed),
            Self::Attached(view) => {
                let own = view.name.schema.as_deref().unwrap_or_default();
                let alias = own.split_once('.').map_or(own, |(alias, _)| alias);
                Some(Cow::Owned(attached_schema(alias, schema.filter(|schema| !schema.is_empty()))))
            }
        }
    }

    /// Whether `public` is a name of the schema of a table or view, where a query with these names stands.
    ///
    /// # Errors
    /// That of the catalog.
    pub(crate) fn is_public(self, object: &TableName, catalog: &dyn CatalogReader) -> Result<bool> {
        let Some(public) = self.schema(Some(PUBLIC_SCHEMA), &object.name, catalog) else { return Ok(false) };
        Ok(is_same_name(catalog.canonical_schema(&public)?, object.schema.as_deref().unwrap_or_default()))
    }

    /// The view that a name means, if it is one.
    ///
    /// # Errors
    /// That of the catalog.
    pub(crate) fn view(self, name: &ObjectName, catalog: &dyn CatalogReader) -> Result<Option<Arc<ViewDef>>> {
        let Some((schema, bare)) = table_name(name) else { return Ok(None) };
        Ok(catalog.view(self.schema(schema, bare, catalog).as_deref(), bare)?)
    }

    /// The table that a name means, if it is one.
    ///
    /// # Errors
    /// That of the catalog.
    pub(crate) fn table(self, name: &ObjectName, catalog: &dyn CatalogReader) -> Result<Option<Arc<Table>>> {
        let Some((schema, bare)) = table_name(name) else { return Ok(None) };
        Ok(optional(catalog.resolve(self.schema(schema, bare, catalog).as_deref(), bare))?)
    }

    /// # Errors
    /// [`CatalogError::AttachedView`] of a view in an attached database: it reads something else than tables and views of that.
    pub(crate) fn check_of_tables(self) -> std::result::Result<(), CatalogError> {
        self.attached().map_or(Ok(()), |view| Err(CatalogError::AttachedView(view.name.to_string())))
    }
}
