//! What the queries of one statement are bound with.

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::sync::Arc;

use saltwing_catalog::CatalogReader;
use saltwing_sql::guard::TreeSize;
use saltwing_sql::statement::Hint;
use saltwing_types::table::is_same_name;
use saltwing_types::{ColumnRef, Span, TableName, ViewDef};
use sqlparser::ast::{self, Cte};

use crate::error::{BindErrorKind, Result};
use crate::lower::{LowerError, Lowerer, Params};
use crate::names::Names;
use crate::resolved_names::ResolvedNames;
use crate::scope::Scope;
use crate::statement_query::Root;
use crate::tree::{ColumnIds, SetInput};
use crate::uncorrelated::{QueryRead, UncorrelatedSubquery};

/// What binding gives, or why the query is not bound.
pub(crate) type Bound<T> = std::result::Result<T, LowerError>;

/// What the binder does not support. The error gets its place from the expression, the item or the query around it.
pub(crate) fn unsupported<T>(what: &str) -> Bound<T> {
    Err(LowerError::Unsupported(what.to_owned(), None))
}

/// Binds the queries of one statement.
#[derive(Clone, Copy)]
pub(crate) struct QueryBinder<'a> {
    pub(crate) catalog: &'a dyn CatalogReader,
    pub(crate) params: Params<'a>,
    /// What the binders of the statement share.
    pub(crate) state: &'a BinderState<'a>,
    /// The size of the statement and the views around the query, if it is that of a view.
    pub(crate) around: Option<TreeSize>,
    /// The view of the statement that the query is a part of.
    pub(crate) view: Option<&'a ViewDef>,
    /// Which tables its names mean.
    pub(crate) names: Names<'a>,
    pub(crate) ids: &'a ColumnIds<'a>,
    pub(crate) hints: &'a [Hint],
    /// The WITH queries that a FROM clause may name.
    pub(crate) ctes: Option<&'a CteScope<'a>>,
    /// The query around the one that is bound.
    pub(crate) outer: Option<&'a OuterScope<'a>>,
    /// The id of the column that tells what a MERGE has done to a row: only its RETURNING has one.
    pub(crate) merge_action: Option<usize>,
}

impl QueryBinder<'_> {
    /// Takes note of a table or view that the statement reads.
    pub(crate) fn note_read(&self, name: &TableName) {
        let through = self.view.map(|view| view.name.clone());
        self.state.reads.borrow_mut().push(QueryRead { name: name.clone(), through });
    }
}

/// What the binders of one statement share: what they have found so far.
pub(crate) struct BinderState<'a> {
    /// The query, or RETURNING, of the statement.
    pub(crate) root: Root<'a>,
    /// The views that it reads, those that views read among them, each as often as it is named.
    pub(crate) views: RefCell<Vec<Arc<ViewDef>>>,
    /// The tables and views that it reads, each as often as it is named.
    pub(crate) reads: RefCell<Vec<QueryRead>>,
    /// What the names of the statement mean, if that is noted.
    pub(crate) names: Option<RefCell<ResolvedNames>>,
    /// The size of the statement with these views, once there is one.
    pub(crate) size: Cell<Option<TreeSize>>,
    /// The subqueries that run before the statement.
    pub(crate) uncorrelated: RefCell<Vec<Uncorrelated>>,
    /// How many WITH clauses.
    pub(crate) with_clauses: Cell<usize>,
}

impl<'a> BinderState<'a> {
    pub(crate) fn new(root: Root<'a>) -> Self {
        let (views, reads, names, size, uncorrelated, with_clauses) = Default::default();
        Self { root, views, reads, names, size, uncorrelated, with_clauses }
    }

    /// The same, which notes what the names of the statement mean.
    pub(crate) fn noting_names(root: Root<'a>) -> Self {
        Self { names: Some(RefCell::default()), ..Self::new(root) }
    }
}

/// A subquery that runs before the statement. Where it is written again, and means the same, it is the same one.
pub(crate) struct Uncorrelated {
    /// How it is written.
    pub(crate) syntax: ast::Expr,
    /// The WITH queries that it may name.
    pub(crate) ctes: Option<CteScopeId>,
    pub(crate) subquery: UncorrelatedSubquery,
}

/// Which queries of WITH clauses a FROM clause may name: the number of the innermost clause, and how many of its queries.
pub(crate) type CteScopeId = (usize, usize);

/// The names of a query around another one.
pub(crate) struct OuterScope<'a> {
    pub(crate) scope: &'a Scope,
    /// What lowers the calls of aggregate functions that are of its rows, where it takes such.
    pub(crate) aggregates: Option<OuterAggregates<'a>>,
    /// The query around it.
    pub(crate) around: Option<&'a OuterScope<'a>>,
}

impl OuterScope<'_> {
    /// The column of the innermost query that has one of this name, and the names of that query.
    pub(crate) fn column(&self, parts: &[&str], span: Option<Span>) -> Option<Result<(ColumnRef, &Scope)>> {
        let is_other = match parts.split_last() {
            Some((_, [])) | None => self.scope.is_empty(),
            Some((_, qualifier)) => !self.scope.is_qualifier(qualifier),
        };
        let around = || self.around.and_then(|around| around.column(parts, span));
        if is_other {
            return around();
        }
        match self.scope.resolve(parts, span) {
            Err(error) if matches!(error.kind, BindErrorKind::NoSuchColumn { .. }) => {
                // A qualifier tells that the column was meant to be here.
                around().or_else(|| (parts.len() > 1).then_some(Err(error)))
            }
            found => Some(found.map(|column| (column, self.scope))),
        }
    }
}

/// Where a query takes calls of aggregate functions that stand in a subquery and are of its own rows.
pub(crate) struct OuterAggregates<'a> {
    /// The lowerer of the query, which has a collector.
    pub(crate) lowerer: &'a Lowerer<'a>,
    /// The ids for these calls: below those of the subquery, to which they are outer columns.
    pub(crate) ids: Range<usize>,
}

/// The queries of a WITH clause.
pub(crate) struct CteScope<'a> {
    /// A number that no other WITH clause of the statement has.
    pub(crate) number: usize,
    /// Those of the WITH clauses around it.
    pub(crate) around: Option<&'a CteScope<'a>>,
    pub(crate) list: &'a [Cte],
    /// How many of them, from the first on, may be named.
    pub(crate) visible: usize,
    /// RECURSIVE.
    pub(crate) is_recursive: bool,
    /// Which of them were named.
    pub(crate) named: &'a [Cell<bool>],
    /// Those whose rows all names share, once they were bound.
    pub(crate) shared: &'a [RefCell<Option<SharedQuery>>],
    /// The query around the WITH clause.
    pub(crate) outer: Option<&'a OuterScope<'a>>,
    /// The first of those that may not be named, inside of its own further rounds.
    pub(crate) work_table: Option<&'a WorkTable>,
}

/// A query whose rows are computed once, however often it is named.
#[derive(Clone)]
pub(crate) struct SharedQuery {
    pub(crate) number: usize,
    pub(crate) rows: Arc<SetInput>,
    pub(crate) labels: Vec<String>,
}

/// The rows of the round before, as a recursive query names them.
pub(crate) struct WorkTable {
    pub(crate) number: usize,
    pub(crate) columns: Vec<ColumnRef>,
}

/// What a name of a WITH clause stands for.
pub(crate) enum CteName<'a> {
    Query(NamedCte<'a>),
    WorkTable(&'a WorkTable),
}

/// A query of a WITH clause that a FROM clause names.
pub(crate) struct NamedCte<'a> {
    pub(crate) cte: &'a Cte,
    /// What it may name itself.
    pub(crate) scope: CteScope<'a>,
}

impl<'a> CteScope<'a> {
    pub(crate) fn id(&self) -> CteScopeId {
        (self.number, self.visible)
    }

    /// What a name stands for: the innermost query of this name.
    pub(crate) fn find(&'a self, name: &str) -> Bound<Option<CteName<'a>>> {
        let is_it = |cte: &Cte| is_same_name(&cte.alias.name.value, name);
        let hidden = self.list.get(self.visible..).unwrap_or_default();
        if let (Some(table), Some(own)) = (self.work_table, hidden.first())
            && is_it(own)
        {
            return Ok(Some(CteName::WorkTable(table)));
        }
        if self.is_recursive && hidden.iter().any(is_it) {
            return unsupported("a query that names one after it");
        }
        let visible = self.list.get(..self.visible).unwrap_or_default();
        match visible.iter().position(is_it).and_then(|place| Some((place, visible.get(place)?))) {
            Some((place, cte)) => {
                self.named.get(place).inspect(|named| named.set(true));
                let scope = CteScope { visible: place, work_table: None, ..*self };
                Ok(Some(CteName::Query(NamedCte { cte, scope })))
            }
            None => self.around.map_or(Ok(None), |around| around.find(name)),
        }
    }
}
