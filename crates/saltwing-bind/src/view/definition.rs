//! CREATE VIEW into a view's definition.

use std::sync::Arc;

use saltwing_catalog::CatalogReader;
use saltwing_sql::statement::{CreateView, QueryStatement};
use saltwing_sql::{parse_query_at, quote_name};
use saltwing_types::table::is_same_name;
use saltwing_types::{TableName, ViewColumn, ViewDef, ViewUse};

use super::fixed;
use crate::error::{BindError, BindErrorKind, Result};
use crate::output::ResultColumn;
use crate::target::table_path;

/// How many views may stand on one another.
pub const VIEW_DEPTH_MAX: usize = 16;

/// The query of a new view.
pub struct BoundView {
    /// The query, its names fixed.
    pub query: QueryStatement,
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
    if create.query.has_sequences {
        let error = BindErrorKind::NotSupported("a value of a sequence in a view".into());
        return Err(BindError::from(error).at(Some(create.query.span)));
    }
    let fixed::Fixed { query, uses, is_changed } = fixed::fixed(&create.query, catalog)?;
    if let Some(used) = uses.iter().find(|used| is_temporary(&used.name, catalog)) {
        let text =
            format!("view {} would read the temporary table {}, which ends with its session", create.name, used.name);
        return Err(BindError::from(BindErrorKind::InvalidDefinition(text)).at(Some(create.query.span)));
    }
    let is_attached = |name: &TableName| name.schema.as_deref().is_some_and(|schema| catalog.is_attached(schema));
    if let Some(used) = uses.iter().find(|used| is_attached(&used.name)) {
        let text = format!("view {} would read {}, a table of an attached database", create.name, used.name);
        return Err(BindError::from(BindErrorKind::InvalidDefinition(text)).at(Some(create.query.span)));
    }
    let depth = uses.iter().filter_map(|used| catalog.view(used.name.schema.as_deref(), &used.name.name));
    if depth.map(|view| depth_of(&view, catalog)).max().unwrap_or(0) >= VIEW_DEPTH_MAX {
        let text = format!("views stand on one another at most {VIEW_DEPTH_MAX} deep");
        return Err(BindError::from(BindErrorKind::InvalidDefinition(text)).at(Some(create.name.span())));
    }
    let (schema, name) = create.name.parts();
    let replaced = catalog.view(schema, name);
    match is_changed {
        false => Ok(BoundView { query: create.query.clone(), text: create.text.clone(), uses, replaced }),
        true => {
            let text = saltwing_sql::tree_text(&query);
            Ok(BoundView { query: parse_query_at(&text, create.query.span)?, text, uses, replaced })
        }
    }
}

fn is_temporary(name: &TableName, catalog: &dyn CatalogReader) -> bool {
    catalog.resolve(name.schema.as_deref(), &name.name).is_ok_and(|table| catalog.is_temporary(table.def()))
}

/// How many views stand on one another here.
fn depth_of(view: &ViewDef, catalog: &dyn CatalogReader) -> usize {
    let inner = view.uses.iter().filter_map(|used| catalog.view(used.name.schema.as_deref(), &used.name.name));
    1 + inner.map(|inner| depth_of(&inner, catalog)).max().unwrap_or(0)
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
