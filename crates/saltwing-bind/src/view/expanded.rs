//! Statements with the queries of views in their places.

use std::borrow::Cow;
use std::ops::ControlFlow;

use saltwing_catalog::CatalogReader;
use saltwing_sql::guard::check_tree;
use saltwing_sql::on_large_stack;
use saltwing_sql::statement::QueryStatement;
use saltwing_sql::without_dynamic_columns;
use saltwing_types::table::is_same_name;
use saltwing_types::{Span, ViewDef};
use sqlparser::ast::{
    Expr, Ident, ObjectName, Query, Select, TableAlias, TableAliasColumnDef, TableFactor, VisitMut, VisitorMut,
    visit_relations,
};

use super::apart::{keep_apart, query_of_view};
use super::dynamic::{ListedTable, named_hidden};
use super::merged::merged;
use super::name::{ident, span_of, table_name};
use super::own_columns::{listed_behind, with_columns};
use super::relations::Relations;
use crate::error::{BindError, BindErrorKind, Result};
use crate::plain_query::simple;

/// How many views a statement may read, those that views read among them.
pub const VIEWS_MAX: usize = 256;

/// Where a statement names a view. All parts of the view's query stand there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewPlace {
    /// The view.
    pub name: String,
    /// The place of its name.
    pub span: Span,
}

/// The places where a query names views, but for views inside views.
pub fn view_places(query: &Query, catalog: &dyn CatalogReader) -> Vec<ViewPlace> {
    let mut places = Vec::new();
    if !catalog.has_views() {
        return places;
    }
    let _ = visit_relations(query, |name| {
        if let Some((schema, bare)) = table_name(name)
            && let (Some(view), Some(span)) = (catalog.view(schema, bare), span_of(name))
        {
            places.push(ViewPlace { name: view.name.to_string(), span });
        }
        ControlFlow::<()>::Continue(())
    });
    places
}

/// The statement with the query of each view in the place of its name. A query over one view of one table becomes a query over
/// that table. In every other query, a view becomes a subquery in FROM. A table with dynamic columns is like a view.
///
/// # Errors
/// More than [`VIEWS_MAX`] views; a statement that is deeper or larger than one that was written so may be; dynamic columns of
/// what is no table, or with names that the table's columns have.
pub fn with_views<'a>(statement: &'a QueryStatement, catalog: &dyn CatalogReader) -> Result<Cow<'a, QueryStatement>> {
    let listed = listed_tables(&statement.query);
    if listed.is_empty() && view_places(&statement.query, catalog).is_empty() {
        return Ok(Cow::Borrowed(statement));
    }
    // Each view may be as deep as a statement. So the tree needs a large stack until it is known to be no deeper.
    on_large_stack(|| {
        let relations = Relations { catalog, ctes: Vec::new() };
        let mut expansion =
            Expansion { relations, open_ctes: Vec::new(), listed, hidden: Vec::new(), count: 0, reads_past: false };
        let mut expanded = statement.clone();
        expansion.statement(&mut expanded)?;
        expanded.reads_past |= expansion.reads_past;
        check_tree(&expanded.query, statement.span)?;
        Ok(Cow::Owned(expanded))
    })?
}

struct Expansion<'a> {
    relations: Relations<'a>,
    /// How many WITH queries were known where each open query began.
    open_ctes: Vec<usize>,
    /// The tables of the statement with dynamic columns.
    listed: Vec<ObjectName>,
    /// For each open SELECT the hidden columns that it names.
    hidden: Vec<Vec<&'static str>>,
    count: usize,
    /// Whether a view reads the past of a table.
    reads_past: bool,
}

impl Expansion<'_> {
    fn statement(&mut self, statement: &mut QueryStatement) -> Result<()> {
        let listed = simple(&statement.query).map(|query| self.listed_table(query.name)).transpose()?.flatten();
        if let Some(listed) = listed
            && let Some(merged) = listed.merged(statement, self.relations.catalog)
        {
            *statement = merged;
        }
        let only = simple(&statement.query)
            .and_then(|query| self.view_of(query.name).map(|view| (view, query.name.clone(), query.moment.is_some())));
        if let Some((view, name, has_moment)) = only {
            refuse_moment(has_moment, &name)?;
            let (view, inner) = self.inner(&view, &name, statement.span)?;
            if let Some(merged) = merged(statement, &view, &inner, self.relations.catalog) {
                *statement = merged;
                // Its subqueries may name views.
            } else if let sqlparser::ast::SetExpr::Select(select) = statement.query.body.as_mut()
                && let [from] = select.from.as_mut_slice()
            {
                put_query(&mut from.relation, &view, *inner.query);
            }
        }
        match VisitMut::visit(&mut *statement.query, self) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(error) => Err(*error),
        }
    }

    /// The view that a name stands for; a WITH query comes first.
    fn view_of(&self, name: &ObjectName) -> Option<std::sync::Arc<ViewDef>> {
        let (schema, name) = table_name(name)?;
        if self.relations.is_cte(schema, name) { None } else { self.relations.catalog.view(schema, name) }
    }

    /// The table that a name with dynamic columns stands for; `None` for a view.
    fn listed_table(&self, name: &ObjectName) -> Result<Option<ListedTable>> {
        let Some((_, list)) = without_dynamic_columns(name) else { return Ok(None) };
        let refused = |what: &str| {
            let error = BindErrorKind::NotSupported(format!("dynamic columns of {what}"));
            BindError::from(error).at(span_of(name)).help("tables and views have dynamic columns")
        };
        match table_name(name) {
            Some((schema, bare)) if self.relations.is_cte(schema, bare) => Err(refused(&format!("the query {bare}"))),
            Some((schema, bare)) if self.relations.catalog.view(schema, bare).is_some() => Ok(None),
            Some((schema, bare)) => {
                let span = span_of(name);
                let table = self.relations.catalog.resolve(schema, bare);
                ListedTable::new(table.map_err(|error| BindError::from(error).at(span))?, list).map(Some)
            }
            None => Err(refused(&name.to_string())),
        }
    }

    fn is_listed(&self, schema: &Ident, table: &Ident) -> bool {
        let mut names = self.listed.iter().filter_map(table_name);
        names.any(|(s, t)| is_same_name(t, &table.value) && s.is_some_and(|s| is_same_name(s, &schema.value)))
    }

    /// The query of a view, without views, and the view with the dynamic columns behind its name.
    fn inner<'v>(
        &mut self,
        view: &'v ViewDef,
        name: &ObjectName,
        statement: Span,
    ) -> Result<(Cow<'v, ViewDef>, QueryStatement)> {
        let span = span_of(name).unwrap_or(statement);
        self.count += 1;
        if self.count > VIEWS_MAX {
            return Err(BindError::from(BindErrorKind::TooManyViews(VIEWS_MAX)).at(Some(span)));
        }
        let mut inner = query_of_view(view, span, self.relations.catalog)?;
        let view = match listed_behind(name)? {
            Some(columns) => Cow::Owned(with_columns(view, &mut inner, &columns)?),
            None => Cow::Borrowed(view),
        };
        self.listed.extend(listed_tables(&inner.query));
        self.reads_past |= inner.reads_past;
        let ctes = std::mem::take(&mut self.relations.ctes);
        let done = self.statement(&mut inner);
        self.relations.ctes = ctes;
        done?;
        keep_apart(&mut inner.query, &self.relations);
        Ok((view, inner))
    }
}

impl VisitorMut for Expansion<'_> {
    type Break = Box<BindError>;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<Self::Break> {
        self.open_ctes.push(self.relations.ctes.len());
        if let Some(with) = &mut query.with {
            for cte in &mut with.cte_tables {
                let name = (cte.alias.name.value.clone(), None);
                // A query sees those before it, and itself if it is recursive. It is visited again with all of them in sight,
                // when its views are gone.
                if with.recursive {
                    self.relations.ctes.push(name.clone());
                }
                VisitMut::visit(&mut *cte.query, self)?;
                self.relations.ctes.push(name);
            }
        }
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<Self::Break> {
        self.relations.ctes.truncate(self.open_ctes.pop().unwrap_or(0));
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<Self::Break> {
        self.hidden.push(if self.listed.is_empty() { Vec::new() } else { named_hidden(select) });
        ControlFlow::Continue(())
    }

    fn post_visit_select(&mut self, _: &mut Select) -> ControlFlow<Self::Break> {
        self.hidden.pop();
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<Self::Break> {
        if let TableFactor::Table { name, args: None, version, .. } = factor
            && without_dynamic_columns(name).is_some()
        {
            let query = self.listed_table(name).and_then(|table| match table {
                Some(table) => {
                    let hidden = self.hidden.last().map(Vec::as_slice).unwrap_or_default();
                    table.query(name, version.take(), hidden).map(Some)
                }
                None => Ok(None),
            });
            match query {
                Ok(Some((view, query))) => {
                    put_query(factor, &view, query);
                    return ControlFlow::Continue(());
                }
                Ok(None) => {}
                Err(error) => return ControlFlow::Break(Box::new(error)),
            }
        }
        if let TableFactor::Table { name, args: None, version, .. } = factor
            && let Some(view) = self.view_of(name)
            && let Some(span) = span_of(name)
        {
            let inner = refuse_moment(version.is_some(), name).and_then(|()| self.inner(&view, name, span));
            match inner.map_err(Box::new) {
                Ok((view, inner)) => put_query(factor, &view, *inner.query),
                Err(error) => return ControlFlow::Break(error),
            }
        }
        ControlFlow::Continue(())
    }

    /// A query in brackets has no schema: `s.v.a` becomes `v.a`.
    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Self::Break> {
        if let Expr::CompoundIdentifier(parts) = expr
            && let [schema, name, _] = parts.as_slice()
            && (self.relations.catalog.view(Some(&schema.value), &name.value).is_some() || self.is_listed(schema, name))
        {
            parts.remove(0);
        }
        ControlFlow::Continue(())
    }
}

/// The names of tables with dynamic columns.
fn listed_tables(query: &Query) -> Vec<ObjectName> {
    let mut listed = Vec::new();
    let _ = visit_relations(query, |name| {
        listed.extend(without_dynamic_columns(name).map(|_| name.clone()));
        ControlFlow::<()>::Continue(())
    });
    listed
}

/// A view has no versions of its own.
fn refuse_moment(has_moment: bool, view: &ObjectName) -> Result<()> {
    match has_moment {
        true => Err(BindError::from(BindErrorKind::NotSupported(format!("AS OF TIMESTAMP of the view {view}")))
            .at(span_of(view))),
        false => Ok(()),
    }
}

/// Puts a query in brackets in the place of a view's name.
fn put_query(factor: &mut TableFactor, view: &ViewDef, query: Query) {
    let TableFactor::Table { name, alias, sample, .. } = factor else { return };
    let span =
        name.0.last().and_then(|part| part.as_ident()).map_or_else(sqlparser::tokenizer::Span::empty, |name| name.span);
    let (name, mut columns) = match alias.take() {
        Some(TableAlias { name, columns, .. }) => (name, columns),
        None => (ident(&view.name.name, span), Vec::new()),
    };
    let others = view.columns.iter().skip(columns.len());
    columns.extend(others.map(|column| TableAliasColumnDef { name: ident(&column.name, span), data_type: None }));
    let alias = Some(TableAlias { explicit: true, name, columns, at: None });
    *factor = TableFactor::Derived { lateral: false, subquery: Box::new(query), alias, sample: sample.take() };
}
