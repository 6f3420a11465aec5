//! CREATE VIEW into a view's definition.

use std::sync::Arc;

use saltwing_catalog::{CatalogError, CatalogReader, optional};
use saltwing_sql::statement::{AlterView, CreateView, QueryStatement, ViewChange};
use saltwing_sql::{DynamicColumn, TableRef, parse_query_at, quote_name};
use saltwing_types::table::is_same_name;
use saltwing_types::{Span, TableName, ViewColumn, ViewDef, ViewUse};

use super::dynamic::check_dynamic;
use super::fixed;
use super::own_columns::{add_columns, declared_by, with_columns, without_columns};
use crate::error::{BindError, BindErrorKind, Result};
use crate::names::Names;
use crate::output::ResultColumn;
use crate::resolve::resolve;
use crate::sequence_collector::takes_values;
use crate::table_path::table_path;

/// How many views may stand on one another.
pub const VIEW_DEPTH_MAX: usize = 16;

/// The query of a new view.
pub struct BoundView {
    /// The query, its names fixed.
    pub query: QueryStatement,
    /// The table that keeps the columns of the view's own, if it has any.
    pub table: Option<TableRef>,
    /// Its text.
    text: String,
    uses: Vec<ViewUse>,
    /// The view of this name, if there is one: its comments stay.
    replaced: Option<Arc<ViewDef>>,
}

/// Fixes the names in the query of a new view.
///
/// # Errors
/// A `*` whose columns are not known without planning; NATURAL JOIN; values of sequences; [`VIEW_DEPTH_MAX`].
pub fn create_view(create: &CreateView, catalog: &dyn CatalogReader) -> Result<BoundView> {
    if takes_values(&create.query.query) {
        let error = BindErrorKind::NotSupported("a value of a sequence in a view".into());
        return Err(BindError::from(error).at(Some(create.query.span)));
    }
    let fixed::Fixed { query, uses, is_changed } = fixed::fixed(&create.query, catalog)?;
    let (query, table) = match create.own.as_slice() {
        [] => (query, None),
        own => {
            let mut rows = QueryStatement { query: Box::new(query), ..create.query.clone() };
            add_columns(&mut rows, own, "columns of a view's own, whose query is more than rows of one table")?;
            let table = declared_by(&rows, Names::Statement, catalog)?
                .map(|(table, _)| TableRef::of(&table, create.query.span));
            (*rows.query, table)
        }
    };
    let is_changed = is_changed || !create.own.is_empty();
    for used in &uses {
        if !is_temporary(&used.name, catalog)? {
            continue;
        }
        let text =
            format!("view {} would read the temporary table {}, which ends with its session", create.name, used.name);
        return Err(BindError::from(BindErrorKind::InvalidDefinition(text)).at(Some(create.query.span)));
    }
    let is_attached = |name: &TableName| name.schema.as_deref().is_some_and(|schema| catalog.is_attached(schema));
    if let Some(used) = uses.iter().find(|used| is_attached(&used.name)) {
        let text = format!("view {} would read {}, a table of an attached database", create.name, used.name);
        return Err(BindError::from(BindErrorKind::InvalidDefinition(text)).at(Some(create.query.span)));
    }
    if depth_of(&uses, catalog)? >= VIEW_DEPTH_MAX {
        let text = format!("views stand on one another at most {VIEW_DEPTH_MAX} deep");
        return Err(BindError::from(BindErrorKind::InvalidDefinition(text)).at(Some(create.name.span())));
    }
    let (schema, name) = create.name.parts();
    let replaced = catalog.view(schema, name)?;
    match is_changed {
        false => Ok(BoundView { query: create.query.clone(), table, text: create.text.clone(), uses, replaced }),
        true => {
            let text = saltwing_sql::tree_text(&query);
            Ok(BoundView { query: parse_query_at(&text, create.query.span)?, table, text, uses, replaced })
        }
    }
}

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

fn is_temporary(name: &TableName, catalog: &dyn CatalogReader) -> Result<bool> {
    let table = optional(catalog.resolve(name.schema.as_deref(), &name.name))?;
    Ok(table.is_some_and(|table| catalog.is_temporary(table.def())))
}

/// How many views stand on one another in what a view uses.
fn depth_of(uses: &[ViewUse], catalog: &dyn CatalogReader) -> Result<usize> {
    let mut depth = 0;
    for used in uses {
        if let Some(view) = catalog.view(used.name.schema.as_deref(), &used.name.name)? {
            depth = depth.max(1 + depth_of(&view.uses, catalog)?);
        }
    }
    Ok(depth)
}

impl BoundView {
    /// The definition, of a query that gives these columns.
    ///
    /// # Errors
    /// Two columns of one name; more names than columns.
    pub fn into_def(self, create: &CreateView, given: &[ResultColumn]) -> Result<ViewDef> {
        let names = create.columns.as_deref().unwrap_or_default();
        if let Some(name) = names.get(given.len()) {
            let error = BindErrorKind::Syntax(format!("the query gives {} columns, and this is one more", given.len()));
            return Err(BindError::from(error).at(Some(name.span)));
        }
        let mut columns: Vec<ViewColumn> = Vec::with_capacity(given.len());
        for (place, column) in given.iter().enumerate() {
            let name = names.get(place);
            let label = name.map_or(&column.label, |name| &name.text).clone();
            if columns.iter().any(|other| is_same_name(&other.name, &label)) {
                let error = BindError::from(BindErrorKind::DuplicateColumn(label));
                let span = name.map_or(create.query.span, |name| name.span);
                return Err(error.at(Some(span)).help("name the columns: CREATE VIEW v (a, b, ..) AS .."));
            }
            let replaced = self.replaced.as_ref().and_then(|view| view.columns.get(view.column_index(&label)?));
            let comment = replaced.and_then(|column| column.comment.clone());
            columns.push(ViewColumn { name: label, ty: column.ty, nullable: column.nullable, comment });
        }
        let comment = self.replaced.and_then(|view| view.comment.clone());
        Ok(ViewDef { name: create.name.to_name(), columns, query: self.text, uses: self.uses, comment })
    }
}

/// The statement that creates a view.
pub(crate) fn create_view_text(view: &ViewDef) -> String {
    let columns: Vec<String> = view.columns.iter().map(|column| quote_name(&column.name)).collect();
    format!("CREATE VIEW {} ({}) AS {}", table_path(&view.name), columns.join(", "), view.query)
}
