//! CREATE VIEW into a view's definition.

use std::ops::ControlFlow;
use std::sync::Arc;

use saltwing_catalog::{CatalogError, CatalogReader, TEMPORARY_SCHEMA};
use saltwing_sql::statement::{CreateView, QueryStatement};
use saltwing_sql::{TableRef, parse_query_at};
use saltwing_types::table::is_same_name;
use saltwing_types::{ObjectId, TableName, ViewColumn, ViewDef, ViewUse};
use sqlparser::ast::{ObjectName, ObjectNamePart, Query, VisitMut, VisitorMut};

use crate::engine::EngineFunctions;
use crate::error::{BindError, BindErrorKind, Result};
use crate::names::{Names, is_temporary};
use crate::object_name::{quoted, table_name};
use crate::output::ResultColumn;
use crate::qualified_query::QualifiedQuery;
use crate::sequence_collector::takes_values;
use crate::view::{add_columns, declared_by};

/// How many views may stand on one another.
pub const VIEW_DEPTH_MAX: usize = 16;

/// The query of a new view.
pub struct BoundView {
    /// The query, its names resolved.
    pub query: QueryStatement,
    /// The table that keeps the columns of the view's own, if it has any.
    pub table: Option<TableRef>,
    /// Its text.
    text: String,
    uses: Vec<ViewUse>,
    /// The view of this name, if there is one: its comments stay.
    replaced: Option<Arc<ViewDef>>,
}

/// Resolves the names in the query of a new view.
///
/// # Errors
/// A query that cannot be bound; NATURAL JOIN; values of sequences; [`VIEW_DEPTH_MAX`].
pub fn create_view(
    create: &CreateView,
    catalog: &dyn CatalogReader,
    engine: &dyn EngineFunctions,
) -> Result<BoundView> {
    if takes_values(&create.query.query) {
        let error = BindErrorKind::NotSupported("a value of a sequence in a view".into());
        return Err(BindError::from(error).at(Some(create.query.span)));
    }
    check_schema(create)?;
    let QualifiedQuery { mut query, uses, is_changed } = QualifiedQuery::of(&create.query, catalog, engine)?;
    let is_changed = is_changed | (create.temporary && with_temporary_names(&mut query, &uses, catalog)?);
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
    if let Some(used) = uses.iter().find(|used| !create.temporary && is_temporary(&used.name, catalog)) {
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
    let replaced = catalog.view(schema, name)?.filter(|view| is_temporary(&view.name, catalog) == create.temporary);
    match is_changed {
        false => Ok(BoundView { query: create.query.clone(), table, text: create.text.clone(), uses, replaced }),
        true => {
            let text = saltwing_sql::tree_text(&query);
            Ok(BoundView { query: parse_query_at(&text, create.query.span)?, table, text, uses, replaced })
        }
    }
}

/// # Errors
/// A temporary view in a schema, or with columns of its own; another view in the schema of temporary ones.
fn check_schema(create: &CreateView) -> Result<()> {
    if let Some(own) = create.own.first().filter(|_| create.temporary) {
        let error = BindErrorKind::NotSupported("a column of a temporary view's own".into());
        return Err(BindError::from(error).at(Some(own.column.span())).help("a view that stays may have one"));
    }
    let Some(schema) = &create.name.schema else { return Ok(()) };
    match (create.temporary, is_same_name(&schema.text, TEMPORARY_SCHEMA)) {
        (true, true) | (false, false) => Ok(()),
        (true, false) => {
            let text = format!("a temporary view is in no schema, and {} has schema {schema}", create.name);
            Err(BindError::from(BindErrorKind::InvalidDefinition(text))
                .at(Some(schema.span))
                .help(format!("CREATE TEMPORARY VIEW {}", create.name.name)))
        }
        (false, true) => {
            let error = BindError::from(CatalogError::ReservedName(schema.text.clone()));
            Err(error.at(Some(schema.span)).help(format!("CREATE TEMPORARY VIEW {}", create.name.name)))
        }
    }
}

/// Writes the names of temporary tables and views with their schema. So the view goes on to read these, and under the other names never
/// one that is made later.
///
/// # Errors
/// A query of WITH that has the name of one.
fn with_temporary_names(query: &mut Query, uses: &[ViewUse], catalog: &dyn CatalogReader) -> Result<bool> {
    let own: Vec<&str> =
        uses.iter().filter(|used| is_temporary(&used.name, catalog)).map(|used| used.name.name.as_str()).collect();
    let mut names = TemporaryNames { own, is_changed: false };
    match VisitMut::visit(query, &mut names) {
        ControlFlow::Continue(()) => Ok(names.is_changed),
        ControlFlow::Break(name) => {
            let text = format!("a query of WITH has the name {name} of a temporary table");
            Err(BindError::from(BindErrorKind::InvalidDefinition(text)).help("give the query another name"))
        }
    }
}

struct TemporaryNames<'a> {
    own: Vec<&'a str>,
    is_changed: bool,
}

impl VisitorMut for TemporaryNames<'_> {
    type Break = String;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<Self::Break> {
        let named = query.with.iter().flat_map(|with| &with.cte_tables).map(|cte| &cte.alias.name.value);
        match named.into_iter().find(|name| self.own.iter().any(|own| is_same_name(own, name))) {
            Some(name) => ControlFlow::Break(name.clone()),
            None => ControlFlow::Continue(()),
        }
    }

    fn pre_visit_relation(&mut self, relation: &mut ObjectName) -> ControlFlow<Self::Break> {
        let is_own = match table_name(relation) {
            Some((None, name)) => self.own.iter().any(|own| is_same_name(own, name)),
            _ => false,
        };
        if is_own {
            relation.0.insert(0, ObjectNamePart::Identifier(quoted(TEMPORARY_SCHEMA)));
            self.is_changed = true;
        }
        ControlFlow::Continue(())
    }
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
        Ok(ViewDef {
            id: ObjectId::NEW,
            name: match create.temporary {
                true => TableName { schema: Some(TEMPORARY_SCHEMA.to_owned()), name: create.name.name.text.clone() },
                false => create.name.to_name(),
            },
            columns,
            query: self.text,
            uses: self.uses,
            comment,
        })
    }
}
