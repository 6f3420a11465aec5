//! The table, the rows and the columns that a statement writes.

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_catalog::CatalogReader;
use saltwing_sql::statement::{Hint, QueryStatement};
use saltwing_sql::{ColumnName, DynamicColumn, Name, TableRef, dynamic_columns, quote_name};
use saltwing_types::table::{ROW_KEY_COLUMN, ROW_TIME_COLUMN};
use saltwing_types::{ColumnDef, Span, TableDef, TableName};
use sqlparser::ast::{self, SetExpr, TableFactor};

use crate::computed::query_of;
use crate::error::{BindError, BindErrorKind, Result};
use crate::scope::Scope;

/// The table that a statement names.
///
/// # Errors
/// That of the catalog, with the place.
pub fn resolve(catalog: &dyn CatalogReader, name: &TableRef) -> Result<Arc<Table>> {
    let schema = name.schema.as_ref().map(|s| s.text.as_str());
    catalog.resolve(schema, &name.name.text).map_err(|error| BindError::from(error).at(Some(name.span())))
}

/// A table that a statement writes, as the statement names it.
#[derive(Clone, Copy)]
pub(crate) struct NamedTable<'a> {
    pub(crate) table: &'a TableRef,
    /// Its dynamic columns, as a list in brackets.
    pub(crate) dynamic: Option<&'a Name>,
    pub(crate) alias: Option<&'a Name>,
    pub(crate) hints: &'a [Hint],
    pub(crate) span: Span,
}

impl NamedTable<'_> {
    /// The query for all its rows: first their physical keys, `_row_key`, then these columns.
    pub(crate) fn rows(&self, columns: &[String]) -> Result<QueryStatement> {
        let name = self.alias.map_or_else(|| self.table.to_string(), ToString::to_string);
        let columns: String = columns.iter().map(|column| format!(", {name}.{column}")).collect();
        self.query(&format!("{name}.{ROW_KEY_COLUMN}{columns}"))
    }

    /// `SELECT items FROM table`.
    pub(crate) fn query(&self, items: &str) -> Result<QueryStatement> {
        let renamed = self.alias.map(|alias| format!(" AS {alias}")).unwrap_or_default();
        let dynamic = self.dynamic.map(|list| list.text.as_str()).unwrap_or_default();
        let mut query = query_of(&format!("SELECT {items} FROM {}{dynamic}{renamed}", self.table))?;
        if let Some(TableFactor::Table { name, .. }) =
            select_of(&mut query)?.from.first_mut().map(|it| &mut it.relation)
        {
            self.table.place(name);
        }
        query.hints = self.hints.to_vec();
        query.span = self.span;
        Ok(query)
    }
}

/// The SELECT of such a query.
pub(crate) fn select_of(query: &mut QueryStatement) -> Result<&mut ast::Select> {
    match query.query.body.as_mut() {
        SetExpr::Select(select) => Ok(select),
        _ => Err(BindErrorKind::Syntax("the rows to be written are no SELECT".into()).into()),
    }
}

/// The names of a table's columns as statements write them, hidden ones too.
pub(crate) fn column_names(table: &Table) -> Vec<String> {
    table.def().columns.iter().map(|column| column_path(table.def(), column)).collect()
}

/// A table, a view or a sequence as a statement names it: with its schema, and in quotes if these are needed.
pub fn table_path(name: &TableName) -> String {
    let schema = name.schema.as_ref().map(|schema| format!("{}.", quote_name(schema)));
    format!("{}{}", schema.unwrap_or_default(), quote_name(&name.name))
}

/// The name if it is not taken, else the first one with a number behind it that is not, as Postgres names what has no name.
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

/// The dynamic columns of a list behind a table.
pub(crate) fn declared(list: Option<&Name>) -> Result<Vec<DynamicColumn>> {
    list.map_or(Ok(Vec::new()), |list| Ok(dynamic_columns(&list.text, list.span)?))
}

/// The columns that an INSERT's list names; without one, all that are neither hidden nor generated.
///
/// # Errors
/// [`BindErrorKind::NoSuchColumn`], [`BindErrorKind::DuplicateColumn`]; a hidden column.
pub fn target_columns(table: &Arc<Table>, names: Option<&[ColumnName]>) -> Result<Vec<usize>> {
    let def = table.def();
    let Some(names) = names else {
        let mut columns = Vec::with_capacity(def.columns.len());
        let is_given = |(_, column): &(usize, &ColumnDef)| !column.hidden && column.generated().is_none();
        columns.extend(def.columns.iter().enumerate().filter(is_given).map(|(index, _)| index));
        return Ok(columns);
    };
    let scope = Scope::of(table.clone(), None);
    let mut columns = Vec::with_capacity(names.len());
    for name in names {
        let column = scope.resolve(&name.parts(), Some(name.span()))?;
        let place = |error: BindErrorKind| BindError::from(error).at(Some(name.span()));
        if column.name == ROW_KEY_COLUMN {
            return Err(place(BindErrorKind::Syntax(format!(
                "{ROW_KEY_COLUMN} is made from the key columns, not written"
            ))));
        }
        if column.name == ROW_TIME_COLUMN {
            return Err(place(BindErrorKind::Syntax(format!(
                "{ROW_TIME_COLUMN} is the time of the write, not written"
            ))));
        }
        if def.columns.get(column.index).is_some_and(|column| column.hidden) {
            let name = column.name;
            return Err(place(BindErrorKind::Syntax(format!("{name} is a hidden column: the table fills it itself"))));
        }
        if columns.contains(&column.index) {
            return Err(place(BindErrorKind::DuplicateColumn(column.name)));
        }
        columns.push(column.index);
    }
    Ok(columns)
}
