//! The catalog at one moment.

use std::collections::BTreeMap;
use std::sync::Arc;

use saltwing_access::Table;
use saltwing_types::TableName;

use crate::CatalogError;
use crate::information_schema::{INFORMATION_SCHEMA, catalog_view};

/// Tables and schemas at one moment.
#[derive(Clone, Debug, Default)]
pub struct CatalogView {
    /// Grows with every change: a statement prepared on one version is valid for it alone.
    pub(crate) version: u64,
    /// By lower-case name; the value is as spelt.
    pub(crate) schemas: BTreeMap<String, String>,
    /// By lower-case schema ("" is the default one) and name.
    pub(crate) tables: BTreeMap<(String, String), Arc<Table>>,
}

impl CatalogView {
    /// Grows with every change.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The table of this name, in any case.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`], with the nearest name; [`CatalogError::NoSuchSchema`];
    /// [`CatalogError::View`] for a view of the catalog itself.
    pub fn resolve(&self, schema: Option<&str>, name: &str) -> Result<Arc<Table>, CatalogError> {
        if let Some(table) = self.tables.get(&key(schema, name)) {
            return Ok(table.clone());
        }
        if let Some(view) = catalog_view(schema, name) {
            return Err(CatalogError::View(format!("{INFORMATION_SCHEMA}.{}", view.name)));
        }
        if let Some(schema) = schema
            && !self.has_schema(schema)
        {
            return Err(CatalogError::NoSuchSchema(schema.into()));
        }
        let asked = TableName { schema: schema.map(str::to_owned), name: name.into() }.to_string();
        let names: Vec<String> = self.tables.values().map(|t| t.def().name.to_string()).collect();
        let nearest = saltwing_types::suggest(&asked, names.iter().map(String::as_str)).map(str::to_owned);
        Err(CatalogError::NoSuchTable { name: asked, nearest })
    }

    /// Whether there is such a schema, in any case.
    pub fn has_schema(&self, schema: &str) -> bool {
        let lower = schema.to_lowercase();
        lower == INFORMATION_SCHEMA || self.schemas.contains_key(&lower)
    }

    /// All tables, by schema and name.
    pub fn tables(&self) -> impl Iterator<Item = &Arc<Table>> {
        self.tables.values()
    }

    /// All schemas but the default one, as spelt.
    pub fn schemas(&self) -> impl Iterator<Item = &str> {
        self.schemas.values().map(String::as_str)
    }

    pub(crate) fn insert(&mut self, table: Arc<Table>) {
        let name = &table.def().name;
        if let Some(schema) = &name.schema {
            self.schemas.entry(schema.to_lowercase()).or_insert_with(|| schema.clone());
        }
        self.tables.insert(key(name.schema.as_deref(), &name.name), table);
    }
}

pub(crate) fn key(schema: Option<&str>, name: &str) -> (String, String) {
    (schema.unwrap_or("").to_lowercase(), name.to_lowercase())
}
