//! COMMENT ON into the next definition of a table or view.

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_catalog::{CatalogError, CatalogReader, optional};
use saltwing_sql::statement::{Comment, CommentObject};
use saltwing_sql::{ColumnName, TableRef, quote_name};
use saltwing_types::{SqlType, TableDef, Value, ViewDef, text};

use crate::create_table::check_not_hidden;
use crate::error::{BindError, BindErrorKind, Result};
use crate::resolve::resolve;
use crate::scope::Scope;
use crate::table_path::{column_path, table_path};
use crate::view::create_view_text;

/// The table or view of a comment.
pub struct Commented {
    /// Its name.
    pub name: TableRef,
    /// The column of it, if the comment is about one.
    pub column: Option<ColumnName>,
    /// Whether it is a view.
    pub is_view: bool,
}

/// Finds what a comment is about.
///
/// # Errors
/// That of the catalog, with the place.
pub fn commented(statement: &Comment, catalog: &dyn CatalogReader) -> Result<Commented> {
    let is_view = |name: &TableRef| -> Result<bool> {
        let (schema, bare) = name.parts();
        Ok(catalog.view(schema, bare)?.is_some())
    };
    let is_table = |name: &TableRef| -> Result<bool> {
        let (schema, bare) = name.parts();
        Ok(optional(catalog.resolve(schema, bare))?.is_some())
    };
    let (name, column) = match &statement.object {
        CommentObject::Table(name) => (name.clone(), None),
        CommentObject::View(name) if !is_view(name)? => {
            let table = resolve(catalog, name)?;
            return Err(BindError::from(CatalogError::IsTable(table.def().name.to_string())).at(Some(name.span())));
        }
        CommentObject::View(name) => (name.clone(), None),
        CommentObject::Column(names) => {
            let (name, family, column) = match names.as_slice() {
                [table, column] => (TableRef { schema: None, name: table.clone() }, None, column),
                [first, second, column] => {
                    let bare = TableRef { schema: None, name: first.clone() };
                    match is_view(&bare)? || is_table(&bare)? {
                        true => (bare, Some(second.clone()), column),
                        false => (TableRef { schema: Some(first.clone()), name: second.clone() }, None, column),
                    }
                }
                [schema, table, family, column] => {
                    (TableRef { schema: Some(schema.clone()), name: table.clone() }, Some(family.clone()), column)
                }
                _ => return Err(BindErrorKind::Syntax("a column is named with its table".into()).into()),
            };
            (name, Some(ColumnName { family, name: column.clone() }))
        }
    };
    let is_view = is_view(&name)?;
    if !is_view || matches!(statement.object, CommentObject::Table(_)) {
        resolve(catalog, &name)?;
    }
    Ok(Commented { name, column, is_view })
}

impl Commented {
    /// The definition of a table with the comment.
    ///
    /// # Errors
    /// No such column.
    pub fn table(&self, table: &Arc<Table>, text: Option<&String>) -> Result<TableDef> {
        let mut def = TableDef::clone(table.def());
        let comment = match &self.column {
            None => &mut def.comment,
            Some(name) => {
                check_not_hidden(&name.name)?;
                let index = Scope::of(table.clone(), None).resolve(&name.parts(), Some(name.span()))?.index;
                let column = def.columns.get_mut(index).map(|column| &mut column.comment);
                column.ok_or_else(|| BindErrorKind::Syntax(format!("{name} is no column of the table's own")))?
            }
        };
        *comment = text.cloned();
        Ok(def)
    }

    /// The definition of a view with the comment.
    ///
    /// # Errors
    /// No such column.
    pub fn view(&self, view: &ViewDef, text: Option<&String>) -> Result<ViewDef> {
        let mut def = view.clone();
        let comment = match &self.column {
            None => &mut def.comment,
            Some(name) => {
                let index = def.column_index(&name.name.text).filter(|_| name.family.is_none());
                let column = index.and_then(|index| def.columns.get_mut(index)).map(|column| &mut column.comment);
                column.ok_or_else(|| {
                    let (table, column) = (view.name.to_string(), name.to_string());
                    BindError::from(BindErrorKind::NoSuchColumn { table, column }).at(Some(name.span()))
                })?
            }
        };
        *comment = text.cloned();
        Ok(def)
    }
}

/// The statements that give a table its comments.
pub fn table_comments(def: &TableDef) -> Vec<String> {
    let name = table_path(&def.name);
    let columns = def.columns.iter().filter_map(|column| {
        Some(format!("COMMENT ON COLUMN {name}.{} IS {}", column_path(def, column), literal(column.comment.as_ref()?)))
    });
    let table = def.comment.iter().map(|text| format!("COMMENT ON TABLE {name} IS {}", literal(text)));
    table.chain(columns).collect()
}

/// The statements that create a view with its comments.
pub fn view_statements(view: &ViewDef) -> Vec<String> {
    let name = table_path(&view.name);
    let columns = view.columns.iter().filter_map(|column| {
        let text = literal(column.comment.as_ref()?);
        Some(format!("COMMENT ON COLUMN {name}.{} IS {text}", quote_name(&column.name)))
    });
    let comment = view.comment.iter().map(|text| format!("COMMENT ON VIEW {name} IS {}", literal(text)));
    [create_view_text(view)].into_iter().chain(comment).chain(columns).collect()
}

fn literal(text: &str) -> String {
    text::literal(&Value::text(text), SqlType::Varchar(None))
}
