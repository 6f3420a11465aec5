//! A snapshot of a session's catalog: its temporary tables and attached databases over the catalog of all sessions.

use std::collections::BTreeMap;
use std::sync::Arc;

use saltwing_access::Table;
use saltwing_types::table::is_same_name;
use saltwing_types::{SchemaDef, SequenceDef, TableDef, UserDef, ViewDef};

use crate::arrow_table::ArrowTable;
use crate::attached::AttachedTables;
use crate::{CatalogError, CatalogReader, TEMPORARY_SCHEMA};

/// Temporary tables by lower-case name.
pub(crate) type Tables = BTreeMap<String, Arc<Table>>;
/// Temporary views by lower-case name.
pub(crate) type Views = BTreeMap<String, Arc<ViewDef>>;

/// Whether a name with this schema may be the name of a temporary table or view.
pub(crate) fn is_own(schema: Option<&str>) -> bool {
    schema.is_none_or(|schema| is_same_name(schema, TEMPORARY_SCHEMA))
}

/// A snapshot of the catalog of a session that has temporary tables or views, or attached databases.
pub(crate) struct Overlaid {
    /// The version, which no other catalog of the process has.
    pub(crate) version: u64,
    /// The catalog of all sessions.
    pub(crate) stored: Arc<dyn CatalogReader>,
    pub(crate) tables: Tables,
    pub(crate) views: Views,
    pub(crate) attached: Vec<Arc<AttachedTables>>,
}

impl Overlaid {
    fn own(&self, schema: Option<&str>, name: &str) -> Option<&Arc<Table>> {
        is_own(schema).then(|| self.tables.get(&name.to_lowercase())).flatten()
    }

    fn own_view(&self, schema: Option<&str>, name: &str) -> Option<&Arc<ViewDef>> {
        is_own(schema).then(|| self.views.get(&name.to_lowercase())).flatten()
    }

    /// Whether the schema of the session's objects has one.
    fn has_own(&self) -> bool {
        !self.tables.is_empty() || !self.views.is_empty()
    }

    fn no_such_table(&self, name: &str) -> CatalogError {
        let views = self.views.values().map(|view| view.name.to_string());
        let names: Vec<String> = self.tables.values().map(|table| table.def().name.to_string()).chain(views).collect();
        let name = format!("{TEMPORARY_SCHEMA}.{name}");
        let nearest = saltwing_types::suggest(&name, names.iter().map(String::as_str)).map(str::to_owned);
        CatalogError::NoSuchTable { name, nearest }
    }

    fn attached_of(&self, schema: Option<&str>) -> Option<&AttachedTables> {
        let schema = schema?;
        self.attached.iter().find(|attached| attached.has(schema)).map(|attached| &**attached)
    }
}

impl CatalogReader for Overlaid {
    fn version(&self) -> u64 {
        self.version
    }

    fn resolve(&self, schema: Option<&str>, name: &str) -> Result<Arc<Table>, CatalogError> {
        if let (Some(attached), Some(schema)) = (self.attached_of(schema), schema) {
            return attached.resolve(schema, name);
        }
        match (self.own(schema, name), schema) {
            (Some(table), _) => Ok(table.clone()),
            // The view hides the table of its name.
            (None, _) if self.own_view(schema, name).is_some() => Err(self.no_such_table(name)),
            (None, Some(written)) if is_own(schema) && self.has_own() && !self.stored.has_schema(written)? => {
                Err(self.no_such_table(name))
            }
            (None, _) => self.stored.resolve(schema, name),
        }
    }

    fn arrow_table(&self, name: &str) -> Option<Arc<ArrowTable>> {
        self.stored.arrow_table(name)
    }

    fn canonical_schema<'s>(&self, schema: &'s str) -> Result<&'s str, CatalogError> {
        match self.attached_of(Some(schema)) {
            Some(attached) => Ok(attached.canonical(schema)),
            None => self.stored.canonical_schema(schema),
        }
    }

    fn has_schema(&self, schema: &str) -> Result<bool, CatalogError> {
        let is_temporary = is_own(Some(schema)) && self.has_own();
        match is_temporary || self.attached_of(Some(schema)).is_some() {
            true => Ok(true),
            false => self.stored.has_schema(schema),
        }
    }

    fn tables(&self) -> Result<Vec<Arc<Table>>, CatalogError> {
        let mut tables = self.stored.tables()?;
        tables.extend(self.tables.values().cloned());
        Ok(tables)
    }

    fn sequence(&self, schema: Option<&str>, name: &str) -> Result<Arc<SequenceDef>, CatalogError> {
        self.stored.sequence(schema, name)
    }

    fn sequences(&self) -> Result<Vec<Arc<SequenceDef>>, CatalogError> {
        self.stored.sequences()
    }

    fn view(&self, schema: Option<&str>, name: &str) -> Result<Option<Arc<ViewDef>>, CatalogError> {
        if let (Some(attached), Some(schema)) = (self.attached_of(schema), schema) {
            return Ok(attached.view(schema, name).cloned());
        }
        match (self.own_view(schema, name), self.own(schema, name)) {
            (Some(view), _) => Ok(Some(view.clone())),
            (None, Some(_)) => Ok(None),
            (None, None) => self.stored.view(schema, name),
        }
    }

    fn views(&self) -> Result<Vec<Arc<ViewDef>>, CatalogError> {
        let mut views = self.stored.views()?;
        views.extend(self.views.values().cloned());
        Ok(views)
    }

    fn has_views(&self) -> bool {
        self.stored.has_views()
            || !self.views.is_empty()
            || self.attached.iter().any(|attached| attached.views().next().is_some())
    }

    fn schemas(&self) -> Result<Vec<Arc<SchemaDef>>, CatalogError> {
        self.stored.schemas()
    }

    fn user(&self, name: &str) -> Result<Option<Arc<UserDef>>, CatalogError> {
        self.stored.user(name)
    }

    fn users(&self) -> Result<Vec<Arc<UserDef>>, CatalogError> {
        self.stored.users()
    }

    fn user_secret(&self) -> Result<Option<[u8; 32]>, CatalogError> {
        self.stored.user_secret()
    }

    fn hides(&self, name: &str) -> bool {
        self.own(None, name).is_some() || self.own_view(None, name).is_some()
    }

    fn is_temporary(&self, table: &TableDef) -> bool {
        let own = self.own(table.name.schema.as_deref(), &table.name.name);
        own.is_some_and(|own| own.def().name == table.name && own.def().id == table.id)
    }

    fn attached_tables(&self) -> Vec<Arc<Table>> {
        self.attached.iter().flat_map(|attached| attached.tables()).cloned().collect()
    }

    fn attached_views(&self) -> Vec<Arc<ViewDef>> {
        self.attached.iter().flat_map(|attached| attached.views()).cloned().collect()
    }

    fn is_attached(&self, schema: &str) -> bool {
        self.attached_of(Some(schema)).is_some()
    }
}
