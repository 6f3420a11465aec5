//! The names in the catalog, for completion and for the layout of results.

use std::sync::{Arc, Mutex, PoisonError};

use saltwing::blocking::Connection;
use saltwing::syntax::quote_name;
use saltwing::{Database, Row};

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ColumnName {
    /// The name, as statements write it.
    pub(crate) name: String,
    pub(crate) ty: String,
}

/// Reads names through a connection of its own: the shell's connection may be in a transaction, which an error would fail. An
/// unreadable catalog has no names. All clones switch to another database together.
#[derive(Clone)]
pub(crate) struct CatalogNames {
    connection: Arc<Mutex<Connection>>,
}

impl CatalogNames {
    pub(crate) fn new(database: &Database) -> Self {
        Self { connection: Arc::new(Mutex::new(database.connect().blocking())) }
    }

    /// Switches to the names of another database.
    pub(crate) fn turn_to(&self, database: &Database) {
        *self.connection.lock().unwrap_or_else(PoisonError::into_inner) = database.connect().blocking();
    }

    fn rows(&self, sql: &str) -> impl Iterator<Item = Row> + use<> {
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner).clone();
        connection.query(sql, ()).into_iter().flatten().flatten()
    }

    /// The schema and the name of each object that a SHOW lists.
    fn shown(&self, objects: &str) -> impl Iterator<Item = (Option<String>, String)> + use<> {
        self.rows(&format!("SHOW {objects}")).filter_map(|row| Some((row.get(0).ok()?, row.get(1).ok()?)))
    }

    /// All TABLES or SEQUENCES, as SQL names them.
    pub(crate) fn objects(&self, objects: &str) -> Vec<String> {
        let quoted = |(schema, name): (Option<String>, String)| match schema {
            Some(schema) => format!("{}.{}", quote_name(&schema), quote_name(&name)),
            None => quote_name(&name),
        };
        self.shown(objects).map(quoted).collect()
    }

    /// The names of all tables of a schema.
    pub(crate) fn tables_in(&self, is_schema: impl Fn(&str) -> bool) -> Vec<String> {
        let of_schema = self.shown("TABLES").filter(|(schema, _)| schema.as_deref().is_some_and(&is_schema));
        of_schema.map(|(_, name)| quote_name(&name)).collect()
    }

    /// The names of all functions.
    pub(crate) fn functions(&self) -> Vec<String> {
        self.rows("SHOW FUNCTIONS").filter_map(|row| row.get("name").ok()).collect()
    }

    /// The columns of a table.
    pub(crate) fn columns(&self, table: &str) -> Vec<ColumnName> {
        let column = |row: Row| {
            let (name, ty) = (row.get::<String>("name").ok()?, row.get("type").ok()?);
            is_column(&row).then(|| ColumnName { name: quote_name(&name), ty })
        };
        self.rows(&format!("DESCRIBE {table}")).filter_map(column).collect()
    }

    /// The names of a table's key columns, without quotes.
    pub(crate) fn key_columns(&self, table: &str) -> Vec<String> {
        let is_key = |row: &Row| row.get::<Option<String>>("key").is_ok_and(|key| key.is_some());
        let rows = self.rows(&format!("DESCRIBE {table}"));
        rows.filter(|row| is_column(row) && is_key(row)).filter_map(|row| row.get("name").ok()).collect()
    }
}

/// Whether a row of DESCRIBE is about a column, not about a property, whose type is in brackets, or a computed part of the key.
fn is_column(row: &Row) -> bool {
    let is_property = row.get::<String>("type").is_ok_and(|ty| ty.starts_with('('));
    !is_property && !is_computed(row)
}

/// Whether a row of DESCRIBE is about a computed part of the key. The name in such a row is the expression, as written.
pub(crate) fn is_computed(row: &Row) -> bool {
    let note: Option<String> = row.get("note").ok().flatten();
    note.is_some_and(|note| note.starts_with("computed from "))
}
