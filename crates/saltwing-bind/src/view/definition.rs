//! Definitions of views: ALTER VIEW, and the statement that creates a view.

use saltwing_catalog::{CatalogError, CatalogReader, TEMPORARY_SCHEMA};
use saltwing_sql::statement::{AlterView, ViewChange};
use saltwing_sql::{DynamicColumn, TableRef, parse_query_at, quote_name};
use saltwing_types::{Span, ViewDef};

use super::dynamic::check_dynamic;
use super::own_columns::{declared_by, with_columns, without_columns};
use crate::error::{BindError, Result};
use crate::names::Names;
use crate::resolve::resolve;
use crate::table_path::table_path;

/// A view with other columns of its own.
pub struct AlteredView {
    /// Its definition; `None` if nothing changes.
    pub def: Option<ViewDef>,
    /// The table that keeps the columns that are new, if there are some.
    pub table: Option<TableRef>,
    /// Notices.
    pub notices: Vec<String>,
}

/// Adds columns of its own to a view, or takes them away.
///
/// # Errors
/// No such view; a name that it has already, or its table; a view that is more than rows of one table; no such column of its own.
pub fn altered_view(alter: &AlterView, catalog: &dyn CatalogReader) -> Result<AlteredView> {
    let (schema, name) = alter.view.parts();
    let Some(view) = catalog.view(schema, name)? else {
        let table = resolve(catalog, &alter.view)?;
        let error = CatalogError::IsTable(table.def().name.to_string());
        return Err(BindError::from(error)
            .at(Some(alter.view.span()))
            .help("ALTER TABLE changes the columns of a table"));
    };
    match &alter.change {
        ViewChange::Add { if_not_exists, columns } => {
            with_more(&view, (columns.as_slice(), *if_not_exists), alter.view.span(), catalog)
        }
        ViewChange::Drop { if_exists, columns } => {
            let mut query = parse_query_at(&view.query, alter.view.span())?;
            let (def, notices) = without_columns(&view, &mut query, columns, *if_exists)?;
            Ok(AlteredView { def, table: None, notices })
        }
    }
}

/// A view with more columns, but for those that it has if these are passed over.
fn with_more(
    view: &ViewDef,
    (columns, if_not_exists): (&[DynamicColumn], bool),
    span: Span,
    catalog: &dyn CatalogReader,
) -> Result<AlteredView> {
    let is_there = |column: &&DynamicColumn| view.column_index(&column.column.name.text).is_some();
    let (there, new): (Vec<&DynamicColumn>, Vec<&DynamicColumn>) =
        columns.iter().partition(|column| if_not_exists && is_there(column));
    let notices = there.iter().map(|it| format!("column {} exists already", it.column)).collect();
    let new: Vec<DynamicColumn> = new.into_iter().cloned().collect();
    if new.is_empty() {
        return Ok(AlteredView { def: None, table: None, notices });
    }
    let mut query = parse_query_at(&view.query, span)?;
    let mut def = with_columns(view, &mut query, &new)?;
    def.query = saltwing_sql::tree_text(&*query.query);
    let declared = declared_by(&query, Names::of(view, catalog), catalog)?;
    if let Some((table, columns)) = &declared {
        let table = catalog.resolve(table.schema.as_deref(), &table.name)?;
        check_dynamic(table.def(), columns.iter().map(|it| &it.column))?;
    }
    let table = declared.map(|(table, _)| TableRef::of(&table, span));
    Ok(AlteredView { def: Some(def), table, notices })
}

/// The statement that creates a view.
pub(crate) fn create_view_text(view: &ViewDef) -> String {
    let columns: Vec<String> = view.columns.iter().map(|column| quote_name(&column.name)).collect();
    let (columns, query) = (columns.join(", "), &view.query);
    match view.name.schema.as_deref() {
        Some(TEMPORARY_SCHEMA) => {
            format!("CREATE TEMPORARY VIEW {} ({columns}) AS {query}", quote_name(&view.name.name))
        }
        _ => format!("CREATE VIEW {} ({columns}) AS {query}", table_path(&view.name)),
    }
}
