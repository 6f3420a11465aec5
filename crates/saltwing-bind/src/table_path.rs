//! The names of tables and columns as statements write them.

use saltwing_sql::quote_name;
use saltwing_types::{ColumnDef, TableDef, TableName};

/// A table, a view or a sequence as a statement names it: with its schema, and in quotes if these are needed.
pub fn table_path(name: &TableName) -> String {
    let schema = name.schema.as_ref().map(|schema| format!("{}.", quote_name(schema)));
    format!("{}{}", schema.unwrap_or_default(), quote_name(&name.name))
}

/// The name; if it is taken, the first of `name1`, `name2`, .. that is free, as Postgres names what has no name.
pub(crate) fn free_name(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let numbered = (1..).map(|number| format!("{name}{number}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    names.find(|name| !is_taken(name)).unwrap_or_else(|| name.to_owned())
}

/// A column as a statement names it: with its family if that is needed, and in quotes if these are.
pub fn column_path(def: &TableDef, column: &ColumnDef) -> String {
    let family = def.needed_family(column).map(|family| format!("{}.", quote_name(family)));
    format!("{}{}", family.unwrap_or_default(), quote_name(&column.name))
}
