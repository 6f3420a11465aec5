//! The query of a new view with its names resolved.
//!
//! `*` becomes the list of its columns. In a query over several relations, columns get the names of their relations before them:
//! so a column that a table gets later neither makes a name ambiguous nor takes it over.

use std::ops::ControlFlow;

use saltwing_catalog::CatalogReader;
use saltwing_sql::expr_span;
use saltwing_sql::statement::QueryStatement;
use saltwing_types::ViewUse;
use sqlparser::ast::{Expr, Ident, Query, Select, SelectItem, VisitMut, VisitorMut};

use crate::engine::EngineFunctions;
use crate::error::{BindError, BindErrorKind, Result};
use crate::object_name::quoted;
use crate::query::resolved_names;
use crate::resolved_names::{ColumnPath, ResolvedNames};
use crate::select_items::wildcard_span;

/// A query with resolved names.
pub(crate) struct QualifiedQuery {
    pub(crate) query: Query,
    /// The tables and views that it names.
    pub(crate) uses: Vec<ViewUse>,
    /// Whether its text is another one than before.
    pub(crate) is_changed: bool,
}

impl QualifiedQuery {
    /// # Errors
    /// A query that cannot be bound; NATURAL JOIN.
    pub(crate) fn of(
        statement: &QueryStatement,
        catalog: &dyn CatalogReader,
        engine: &dyn EngineFunctions,
    ) -> Result<Self> {
        let names = resolved_names(statement, catalog, engine)?;
        let (mut query, uses) = (Query::clone(&statement.query), names.uses());
        let mut qualifier = Qualifier { names, is_changed: false };
        match VisitMut::visit(&mut query, &mut qualifier) {
            ControlFlow::Break(error) => Err(BindError::at(*error, Some(statement.span))),
            ControlFlow::Continue(()) => Ok(Self { query, uses, is_changed: qualifier.is_changed }),
        }
    }
}

/// Writes names as they were resolved.
struct Qualifier {
    names: ResolvedNames,
    is_changed: bool,
}

impl Qualifier {
    /// A column; of several relations, after the name of its own.
    fn column(&self, path: &ColumnPath) -> Expr {
        let qualifier = path.relation.iter().filter(|_| self.names.relations > 1);
        let mut parts: Vec<Ident> = qualifier.chain(&path.column).map(|part| quoted(part)).collect();
        match (parts.pop(), parts.is_empty()) {
            (Some(column), true) => Expr::Identifier(column),
            (last, _) => Expr::CompoundIdentifier(parts.into_iter().chain(last).collect()),
        }
    }
}

impl VisitorMut for Qualifier {
    type Break = Box<BindError>;

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<Self::Break> {
        let mut projection = Vec::with_capacity(select.projection.len());
        for item in std::mem::take(&mut select.projection) {
            if !matches!(item, SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..)) {
                projection.push(item);
                continue;
            }
            // The columns of the wildcard are the table's own, without the expressions of REPLACE.
            let noted = wildcard_span(&item).filter(|_| !has_replace(&item));
            let Some(columns) = noted.and_then(|span| self.names.wildcards.get(&span)) else {
                let error = BindErrorKind::NotSupported(format!("{item} in this view"));
                let error = BindError::from(error).help("write the columns one by one");
                return ControlFlow::Break(Box::new(error));
            };
            projection.extend(columns.iter().map(|path| SelectItem::UnnamedExpr(self.column(path))));
            self.is_changed = true;
        }
        select.projection = projection;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Self::Break> {
        if self.names.relations > 1
            && let Expr::Identifier(_) | Expr::CompoundIdentifier(_) = expr
            && let Some(path) = expr_span(expr).and_then(|span| self.names.columns.get(&span))
        {
            *expr = self.column(path);
            self.is_changed = true;
        }
        ControlFlow::Continue(())
    }
}

fn has_replace(item: &SelectItem) -> bool {
    match item {
        SelectItem::Wildcard(options) | SelectItem::QualifiedWildcard(_, options) => options.opt_replace.is_some(),
        _ => false,
    }
}
