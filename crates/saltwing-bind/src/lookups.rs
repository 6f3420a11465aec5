//! Lookups of code that walks a syntax tree, and has no way out of it for an error.

use std::cell::RefCell;
use std::sync::Arc;

use saltwing_access::Table;
use saltwing_catalog::{CatalogError, CatalogReader, optional};
use saltwing_types::{SequenceDef, ViewDef};

use crate::error::Result;

/// A catalog of which the first error is kept. After an error a name means nothing, so what the walk has made is worth nothing either:
/// who began it asks [`Lookups::finish`] before anything else.
pub(crate) struct Lookups<'a> {
    catalog: &'a dyn CatalogReader,
    failure: RefCell<Option<CatalogError>>,
}

impl<'a> Lookups<'a> {
    pub(crate) fn new(catalog: &'a dyn CatalogReader) -> Self {
        Self { catalog, failure: RefCell::new(None) }
    }

    pub(crate) fn view(&self, schema: Option<&str>, name: &str) -> Option<Arc<ViewDef>> {
        self.kept(self.catalog.view(schema, name))
    }

    pub(crate) fn table(&self, schema: Option<&str>, name: &str) -> Option<Arc<Table>> {
        self.kept(optional(self.catalog.resolve(schema, name)))
    }

    pub(crate) fn sequence(&self, schema: Option<&str>, name: &str) -> Option<Arc<SequenceDef>> {
        self.kept(optional(self.catalog.sequence(schema, name)))
    }

    fn kept<T>(&self, found: std::result::Result<Option<T>, CatalogError>) -> Option<T> {
        found.unwrap_or_else(|error| {
            self.failure.borrow_mut().get_or_insert(error);
            None
        })
    }

    /// # Errors
    /// The first one of the catalog.
    pub(crate) fn finish(self) -> Result<()> {
        self.failure.into_inner().map_or(Ok(()), |error| Err(error.into()))
    }
}
