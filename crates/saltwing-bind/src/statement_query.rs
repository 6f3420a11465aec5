//! The queries of a statement: those that stand in it, and those for the rows of the target that it writes.

use std::ops::ControlFlow;
use std::sync::Arc;

use saltwing_catalog::ArrowTable;
use saltwing_sql::guard::TreeSize;
use saltwing_sql::statement::{After, Delete, Hint, Merge, MergeAction, QueryStatement, Returning, Update};
use saltwing_sql::{SqlError, Statement, TableRef};
use saltwing_types::Span;
use sqlparser::ast::{Expr, ObjectName, OrderBy, OrderByKind, SelectItem, TableWithJoins, Visit, Visitor};

use crate::returning_clause::clause_of;

/// A query of a statement.
#[derive(Clone, Copy, Debug)]
pub enum StatementQuery<'a> {
    /// One that stands in it.
    Query(&'a QueryStatement),
    /// One for the rows of the target that it writes.
    Target(TargetQuery<'a>),
    /// One for values that it writes.
    Computed(ComputedQuery<'a>),
    /// Its RETURNING, over the rows that it has written.
    Returned(ReturnedQuery<'a>),
}

/// What is bound: a query of a statement, or its RETURNING.
#[derive(Clone, Copy)]
pub(crate) enum Root<'a> {
    Query(StatementQuery<'a>),
    Returning(&'a Returning),
}

impl<'a> Root<'a> {
    pub(crate) fn hints(self) -> &'a [Hint] {
        match self {
            Self::Query(query) => query.hints(),
            Self::Returning(_) => &[],
        }
    }

    pub(crate) fn span(self) -> Span {
        match self {
            Self::Query(query) => query.span(),
            Self::Returning(clause) => clause.span,
        }
    }

    /// The size of its syntax.
    ///
    /// # Errors
    /// As [`TreeSize::of`].
    pub(crate) fn size(self) -> std::result::Result<TreeSize, SqlError> {
        let span = self.span();
        match self {
            Self::Query(StatementQuery::Query(query)) => TreeSize::of(&*query.query, span),
            Self::Query(StatementQuery::Target(target)) => {
                let exprs = target.exprs().into_iter().map(|e| TreeSize::of(e, span));
                let items = target.items().iter().map(|item| TreeSize::of(item, span));
                all_beside(exprs.chain(items), span)
            }
            Self::Query(StatementQuery::Computed(query)) => {
                all_beside(query.exprs.iter().map(|e| TreeSize::of(*e, span)), span)
            }
            Self::Query(StatementQuery::Returned(query)) => {
                all_beside(query.items().iter().map(|item| TreeSize::of(item, span)), span)
            }
            Self::Returning(clause) => all_beside(clause.items.iter().map(|item| TreeSize::of(item, span)), span),
        }
    }
}

/// The size of trees beside one another.
fn all_beside(
    mut parts: impl Iterator<Item = std::result::Result<TreeSize, SqlError>>,
    span: Span,
) -> std::result::Result<TreeSize, SqlError> {
    parts.try_fold(TreeSize::default(), |all, part| all.beside(part?, span))
}

/// A query for the rows of the target that a statement writes.
///
/// Its columns are the physical key of each row, and what becomes of the row:
///
/// | statement | the other columns |
/// |---|---|
/// | UPDATE, WHEN MATCHED THEN UPDATE | all columns of the table, hidden ones too, then dynamic ones, with their new values. Only a value that is not assigned has the column's type |
/// | DELETE, WHEN MATCHED THEN DELETE | none; with RETURNING all columns of the table |
/// | WHEN NOT MATCHED THEN INSERT | no key, and a value for each column of the [`UpsertTarget`](crate::UpsertTarget) |
#[derive(Clone, Copy, Debug)]
pub enum TargetQuery<'a> {
    /// The rows that an UPDATE changes.
    Update(&'a Update),
    /// The rows that a DELETE deletes.
    Delete(&'a Delete),
    /// The rows that a clause of a MERGE, by its position, changes, deletes or inserts. No row is in the queries of two clauses.
    Merge(&'a Merge, usize),
}

/// Expressions that are computed once for each of `rows` rows: a column for each of them, in their order. If the query gives another
/// number of rows, an expression has an aggregate in it, or something else that is no value of one row.
#[derive(Clone, Copy, Debug)]
pub struct ComputedQuery<'a> {
    /// The expressions. They name no columns.
    pub exprs: &'a [&'a Expr],
    /// The number of rows.
    pub rows: usize,
    /// The hints for tables in subqueries.
    pub hints: &'a [Hint],
    /// Where they stand.
    pub span: Span,
}

/// The RETURNING of a statement over the rows that it has written or deleted.
#[derive(Clone, Copy, Debug)]
pub struct ReturnedQuery<'a> {
    /// The statement.
    pub statement: &'a Statement,
    /// The rows: all columns of the table, its physical key, the place of the row among them, from 0, and what was done to it, as
    /// `MERGE_ACTION()` tells it. The result is in the order of the places.
    pub rows: &'a Arc<ArrowTable>,
}

impl<'a> ReturnedQuery<'a> {
    fn items(self) -> &'a [SelectItem] {
        clause_of(self.statement).map_or(&[], |returned| &returned.clause.items)
    }
}

impl<'a> From<&'a QueryStatement> for StatementQuery<'a> {
    fn from(query: &'a QueryStatement) -> Self {
        Self::Query(query)
    }
}

impl<'a> From<TargetQuery<'a>> for StatementQuery<'a> {
    fn from(query: TargetQuery<'a>) -> Self {
        Self::Target(query)
    }
}

impl<'a> From<ComputedQuery<'a>> for StatementQuery<'a> {
    fn from(query: ComputedQuery<'a>) -> Self {
        Self::Computed(query)
    }
}

impl<'a> From<ReturnedQuery<'a>> for StatementQuery<'a> {
    fn from(query: ReturnedQuery<'a>) -> Self {
        Self::Returned(query)
    }
}

impl<'a> StatementQuery<'a> {
    /// The hints for its tables.
    pub fn hints(self) -> &'a [Hint] {
        match self {
            Self::Query(query) => &query.hints,
            Self::Target(target) => target.parts().1,
            Self::Computed(query) => query.hints,
            Self::Returned(query) => clause_of(query.statement).map_or(&[], |returned| returned.hints),
        }
    }

    /// The whole statement; of computed values and of RETURNING, their place.
    pub fn span(self) -> Span {
        match self {
            Self::Query(query) => query.span,
            Self::Target(target) => target.parts().2,
            Self::Computed(query) => query.span,
            Self::Returned(query) => {
                clause_of(query.statement).map_or_else(|| Span::on_line(1, 1, 1), |returned| returned.clause.span)
            }
        }
    }

    /// The page that it gives, if its rows are one.
    pub fn after(self) -> Option<&'a After> {
        match self {
            Self::Query(query) => query.after.as_ref(),
            Self::Target(_) | Self::Computed(_) | Self::Returned(_) => None,
        }
    }

    /// The target whose rows it gives.
    pub(crate) fn target(self) -> Option<&'a TableRef> {
        match self {
            Self::Target(target) => Some(target.parts().0),
            Self::Returned(query) => clause_of(query.statement).map(|returned| returned.table),
            Self::Query(_) | Self::Computed(_) => None,
        }
    }

    /// The LIMIT of a statement that writes.
    pub(crate) fn limit(self) -> Option<&'a Expr> {
        match self {
            Self::Target(TargetQuery::Delete(delete)) => delete.limit.as_ref(),
            _ => None,
        }
    }

    /// Calls `visit` with each name of a table in it, but for that of the target.
    pub(crate) fn for_each_relation(self, visit: &mut dyn FnMut(&ObjectName)) {
        let _ = self.visit(&mut RelationNames(visit));
    }

    /// Walks the syntax of the query, but for the name of the target.
    pub(crate) fn visit<V: Visitor>(self, visitor: &mut V) -> ControlFlow<V::Break> {
        match self {
            Self::Query(query) => query.query.visit(visitor),
            Self::Target(target) => {
                target.exprs().into_iter().try_for_each(|e| e.visit(visitor))?;
                target.items().iter().try_for_each(|item| item.visit(visitor))
            }
            Self::Computed(query) => query.exprs.iter().try_for_each(|e| e.visit(visitor)),
            Self::Returned(query) => query.items().iter().try_for_each(|item| item.visit(visitor)),
        }
    }
}

impl<'a> TargetQuery<'a> {
    /// The target, the hints and the place of its statement.
    fn parts(self) -> (&'a TableRef, &'a [Hint], Span) {
        match self {
            Self::Update(Update { table, hints, span, .. })
            | Self::Delete(Delete { table, hints, span, .. })
            | Self::Merge(Merge { table, hints, span, .. }, _) => (table, hints, *span),
        }
    }

    /// The expressions that stand in it.
    fn exprs(self) -> Vec<&'a Expr> {
        match self {
            Self::Update(Update { assignments, selection, limit, order_by, .. }) => {
                let values = assignments.iter().map(|assignment| &assignment.value);
                values.chain(selection).chain(limit).chain(order_exprs(order_by.as_ref())).collect()
            }
            Self::Delete(Delete { selection, limit, order_by, .. }) => {
                selection.iter().chain(limit).chain(order_exprs(order_by.as_ref())).collect()
            }
            Self::Merge(Merge { on, clauses, .. }, place) => {
                let conditions = clauses.iter().take(place + 1).flat_map(|clause| &clause.condition);
                let values: Vec<&Expr> = match clauses.get(place).map(|clause| &clause.action) {
                    Some(MergeAction::Update(assignments)) => assignments.iter().map(|it| &it.value).collect(),
                    Some(MergeAction::Insert { values, .. }) => values.iter().collect(),
                    Some(MergeAction::Delete | MergeAction::Nothing) | None => Vec::new(),
                };
                std::iter::once(on).chain(conditions).chain(values).collect()
            }
        }
    }

    /// The items of FROM beside the target.
    fn items(self) -> &'a [TableWithJoins] {
        match self {
            Self::Update(update) => &update.from,
            Self::Delete(delete) => &delete.using,
            Self::Merge(merge, _) => std::slice::from_ref(&merge.source),
        }
    }
}

/// Hands the names of tables on.
struct RelationNames<'v>(&'v mut dyn FnMut(&ObjectName));

impl Visitor for RelationNames<'_> {
    type Break = ();

    fn pre_visit_relation(&mut self, name: &ObjectName) -> ControlFlow<()> {
        (self.0)(name);
        ControlFlow::Continue(())
    }
}

/// The expressions of an ORDER BY.
fn order_exprs(order_by: Option<&OrderBy>) -> impl Iterator<Item = &Expr> {
    let items = order_by.into_iter().flat_map(|order_by| match &order_by.kind {
        OrderByKind::Expressions(items) => items.as_slice(),
        OrderByKind::All(_) => &[],
    });
    items.map(|item| &item.expr)
}
