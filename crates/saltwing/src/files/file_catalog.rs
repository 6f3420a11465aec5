//! The catalog of a query that names files.

use std::collections::HashMap;
use std::sync::Arc;

use saltwing_access::Table;
use saltwing_catalog::{ArrowTable, CatalogError, CatalogReader};
use saltwing_types::{SchemaDef, SequenceDef, TableDef, UserDef, ViewDef};

/// A catalog, with the files that one query names as tables.
pub(crate) struct WithFiles {
    pub(crate) catalog: Arc<dyn CatalogReader>,
    /// The files by their names in lower case.
    pub(crate) files: HashMap<String, Arc<ArrowTable>>,
}

impl CatalogReader for WithFiles {
    fn version(&self) -> u64 {
        self.catalog.version()
    }

    fn resolve(&self, schema: Option<&str>, name: &str) -> Result<Arc<Table>, CatalogError> {
        match schema.is_none() && self.files.contains_key(&name.to_lowercase()) {
            true => Err(CatalogError::NoSuchTable { name: name.to_owned(), nearest: None }),
            false => self.catalog.resolve(schema, name),
        }
    }

    fn arrow_table(&self, name: &str) -> Option<Arc<ArrowTable>> {
        self.files.get(&name.to_lowercase()).cloned().or_else(|| self.catalog.arrow_table(name))
    }

    fn is_file(&self, name: &str) -> bool {
        self.files.contains_key(&name.to_lowercase())
    }

    fn canonical_schema<'s>(&self, schema: &'s str) -> Result<&'s str, CatalogError> {
        self.catalog.canonical_schema(schema)
    }

    fn has_schema(&self, schema: &str) -> Result<bool, CatalogError> {
        self.catalog.has_schema(schema)
    }

    fn tables(&self) -> Result<Vec<Arc<Table>>, CatalogError> {
        self.catalog.tables()
    }

    fn sequence(&self, schema: Option<&str>, name: &str) -> Result<Arc<SequenceDef>, CatalogError> {
        self.catalog.sequence(schema, name)
    }

    fn sequences(&self) -> Result<Vec<Arc<SequenceDef>>, CatalogError> {
        self.catalog.sequences()
    }

    fn view(&self, schema: Option<&str>, name: &str) -> Result<Option<Arc<ViewDef>>, CatalogError> {
        self.catalog.view(schema, name)
    }

    fn views(&self) -> Result<Vec<Arc<ViewDef>>, CatalogError> {
        self.catalog.views()
    }

    fn has_views(&self) -> bool {
        self.catalog.has_views()
    }

    fn schemas(&self) -> Result<Vec<Arc<SchemaDef>>, CatalogError> {
        self.catalog.schemas()
    }

    fn user(&self, name: &str) -> Result<Option<Arc<UserDef>>, CatalogError> {
        self.catalog.user(name)
    }

    fn users(&self) -> Result<Vec<Arc<UserDef>>, CatalogError> {
        self.catalog.users()
    }

    fn user_secret(&self) -> Result<Option<[u8; 32]>, CatalogError> {
        self.catalog.user_secret()
    }

    fn session_user(&self) -> &str {
        self.catalog.session_user()
    }

    fn hides(&self, name: &str) -> bool {
        self.catalog.hides(name)
    }

    fn is_temporary(&self, table: &TableDef) -> bool {
        self.catalog.is_temporary(table)
    }

    fn attached_tables(&self) -> Vec<Arc<Table>> {
        self.catalog.attached_tables()
    }

    fn attached_views(&self) -> Vec<Arc<ViewDef>> {
        self.catalog.attached_views()
    }

    fn is_attached(&self, schema: &str) -> bool {
        self.catalog.is_attached(schema)
    }
}
