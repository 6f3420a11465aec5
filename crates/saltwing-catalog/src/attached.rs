//! The tables and views of another database, which a session has attached under an alias.
//!
//! ```text
//! ATTACH 'dir' AS other      other.t     the table or view t
//!                            other.s.t   the same of the schema s; names carry "other.s" as one schema
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;

use saltwing_access::{Snapshot, Table, attached_table};
use saltwing_types::table::is_same_name;
use saltwing_types::{TableName, ViewDef};

use crate::definitions::key;
use crate::{CatalogError, CatalogReader};

/// Tables and views of another database at one moment, under names that begin with its alias.
pub struct AttachedTables {
    alias: String,
    /// Its directory, as ATTACH was given it.
    path: String,
    /// By lower-case schema, the alias before it, and name.
    tables: BTreeMap<(String, String), Arc<Table>>,
    /// Its views, by the same keys.
    views: BTreeMap<(String, String), View>,
}

/// A view of an attached database.
enum View {
    /// Its query names tables and views by the names that they have here.
    Readable(Arc<ViewDef>),
    /// It reads what is something else here; its name.
    Unreadable(String),
}

/// The name that a table or view of a database has where the database is attached as `alias`.
pub fn attached_name(alias: &str, name: &TableName) -> TableName {
    let schema = match &name.schema {
        None => alias.to_owned(),
        Some(schema) => format!("{alias}.{schema}"),
    };
    TableName { schema: Some(schema), name: name.name.clone() }
}

impl AttachedTables {
    /// The tables of `catalog`, whose rows `rows` has, of the database in a directory. `readable` gives a view the name that it has here,
    /// and the tables in its query theirs; `None` for a view that cannot be read here.
    ///
    /// # Errors
    /// Those of `readable`, and of the catalog.
    pub fn new<E: From<CatalogError>>(
        alias: &str,
        path: String,
        catalog: &dyn CatalogReader,
        rows: &Arc<dyn Snapshot>,
        readable: impl Fn(&ViewDef) -> Result<Option<ViewDef>, E>,
    ) -> Result<Self, E> {
        let named = |name: &TableName| attached_name(alias, name);
        let key_of = |name: &TableName| key(name.schema.as_deref(), &name.name);
        let table = |table: &Arc<Table>| {
            let name = named(&table.def().name);
            (key_of(&name), Arc::new(attached_table(table, name, rows.clone())))
        };
        let tables = catalog.tables()?.iter().map(table).collect();
        let view = |view: &Arc<ViewDef>| {
            let name = named(&view.name);
            let own = readable(view)?;
            let own = own.map_or_else(|| View::Unreadable(name.to_string()), |view| View::Readable(Arc::new(view)));
            Ok((key_of(&name), own))
        };
        let views = catalog.views()?.iter().map(view).collect::<Result<_, E>>()?;
        Ok(Self { alias: alias.to_owned(), path, tables, views })
    }

    /// The name that stands before those of the tables.
    pub fn alias(&self) -> &str {
        &self.alias
    }

    /// The directory of the database, as ATTACH was given it.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Whether a schema, as a statement writes it, is this database or one of its schemas.
    pub(crate) fn has(&self, schema: &str) -> bool {
        is_same_name(schema.split_once('.').map_or(schema, |(alias, _)| alias), &self.alias)
    }

    pub(crate) fn resolve(&self, schema: &str, name: &str) -> Result<Arc<Table>, CatalogError> {
        let wanted = key(Some(schema), name);
        if let Some(table) = self.tables.get(&wanted) {
            return Ok(table.clone());
        }
        match self.views.get(&wanted) {
            Some(View::Readable(view)) => return Err(CatalogError::IsView(view.name.to_string())),
            Some(View::Unreadable(name)) => return Err(CatalogError::AttachedView(name.clone())),
            None => {}
        }
        let asked = TableName { schema: Some(schema.to_owned()), name: name.to_owned() }.to_string();
        let views = self.views().map(|view| view.name.to_string());
        let names: Vec<String> = self.tables().map(|table| table.def().name.to_string()).chain(views).collect();
        let nearest = saltwing_types::suggest(&asked, names.iter().map(String::as_str)).map(str::to_owned);
        Err(CatalogError::NoSuchTable { name: asked, nearest })
    }

    pub(crate) fn view(&self, schema: &str, name: &str) -> Option<&Arc<ViewDef>> {
        match self.views.get(&key(Some(schema), name))? {
            View::Readable(view) => Some(view),
            View::Unreadable(_) => None,
        }
    }

    /// The views that can be read.
    pub(crate) fn views(&self) -> impl Iterator<Item = &Arc<ViewDef>> {
        self.views.values().filter_map(|view| match view {
            View::Readable(view) => Some(view),
            View::Unreadable(_) => None,
        })
    }

    pub(crate) fn tables(&self) -> impl Iterator<Item = &Arc<Table>> {
        self.tables.values()
    }
}
