//! The tables and views of another database, which a session has attached under an alias.
//!
//! ```text
//! ATTACH 'dir' AS other      other.t     the table or view t
//!                            other.s.t   the same in the schema s; "other.s" is one schema in names
//!                            other.public.t   other.t, unless the database has a schema public
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;

use saltwing_access::{Snapshot, Table, attached_table};
use saltwing_types::table::is_same_name;
use saltwing_types::{TableName, ViewDef, ViewUse};

use crate::definitions::key;
use crate::{CatalogError, CatalogReader, PUBLIC_SCHEMA};

/// A snapshot of the tables and views of another database, under names that begin with its alias.
pub struct AttachedTables {
    alias: String,
    /// The directory, as given to ATTACH.
    path: String,
    /// Whether the database has a schema `public` of its own.
    has_public: bool,
    /// The tables by lower-case schema, with the alias before it, and name.
    tables: BTreeMap<(String, String), Arc<Table>>,
    /// The views, by the same keys. Their queries have the names of their own database.
    views: BTreeMap<(String, String), Arc<ViewDef>>,
}

/// The name of a database's schema where the database is attached as `alias`.
pub fn attached_schema(alias: &str, schema: Option<&str>) -> String {
    schema.map_or_else(|| alias.to_owned(), |schema| format!("{alias}.{schema}"))
}

impl AttachedTables {
    /// The tables and views of `catalog`, with their rows in `rows`, of the database in a directory.
    ///
    /// # Errors
    /// Those of the catalog.
    pub fn new(
        alias: &str,
        path: String,
        catalog: &dyn CatalogReader,
        rows: &Arc<dyn Snapshot>,
    ) -> Result<Self, CatalogError> {
        let named = |name: &TableName| {
            let schema = Some(attached_schema(alias, name.schema.as_deref()));
            TableName { schema, name: name.name.clone() }
        };
        let key_of = |name: &TableName| key(name.schema.as_deref(), &name.name);
        let table = |table: &Arc<Table>| {
            let name = named(&table.def().name);
            (key_of(&name), Arc::new(attached_table(table, name, rows.clone())))
        };
        let view = |view: &Arc<ViewDef>| {
            let used = |used: &ViewUse| ViewUse { name: named(&used.name), columns: used.columns.clone() };
            let name = named(&view.name);
            let uses = view.uses.iter().map(used).collect();
            (key_of(&name), Arc::new(ViewDef { name, uses, ..ViewDef::clone(view) }))
        };
        let tables = catalog.tables()?.iter().map(table).collect();
        let views = catalog.views()?.iter().map(view).collect();
        let has_public = !catalog.canonical_schema(PUBLIC_SCHEMA)?.is_empty();
        Ok(Self { alias: alias.to_owned(), path, has_public, tables, views })
    }

    /// The alias, which precedes the names of the tables.
    pub fn alias(&self) -> &str {
        &self.alias
    }

    /// The directory of the database, as given to ATTACH.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Whether a schema, as a statement writes it, is this database or one of its schemas.
    pub(crate) fn has(&self, schema: &str) -> bool {
        is_same_name(schema.split_once('.').map_or(schema, |(alias, _)| alias), &self.alias)
    }

    /// As [`CatalogReader::canonical_schema`], of this database or one of its schemas.
    pub(crate) fn canonical<'s>(&self, schema: &'s str) -> &'s str {
        match schema.split_once('.') {
            Some((alias, own)) if is_same_name(own, PUBLIC_SCHEMA) && !self.has_public => alias,
            _ => schema,
        }
    }

    pub(crate) fn resolve(&self, schema: &str, name: &str) -> Result<Arc<Table>, CatalogError> {
        let schema = self.canonical(schema);
        let wanted = key(Some(schema), name);
        if let Some(table) = self.tables.get(&wanted) {
            return Ok(table.clone());
        }
        if let Some(view) = self.views.get(&wanted) {
            return Err(CatalogError::IsView(view.name.to_string()));
        }
        let asked = TableName { schema: Some(schema.to_owned()), name: name.to_owned() }.to_string();
        let views = self.views().map(|view| view.name.to_string());
        let names: Vec<String> = self.tables().map(|table| table.def().name.to_string()).chain(views).collect();
        let nearest = saltwing_types::suggest(&asked, names.iter().map(String::as_str)).map(str::to_owned);
        Err(CatalogError::NoSuchTable { name: asked, nearest })
    }

    pub(crate) fn view(&self, schema: &str, name: &str) -> Option<&Arc<ViewDef>> {
        self.views.get(&key(Some(self.canonical(schema)), name))
    }

    pub(crate) fn views(&self) -> impl Iterator<Item = &Arc<ViewDef>> {
        self.views.values()
    }

    pub(crate) fn tables(&self) -> impl Iterator<Item = &Arc<Table>> {
        self.tables.values()
    }
}
