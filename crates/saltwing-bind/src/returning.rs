//! RETURNING.

use std::cell::Cell;
use std::sync::Arc;

use saltwing_access::Table;
use saltwing_catalog::CatalogReader;
use saltwing_sql::Statement;

use crate::engine::EngineFunctions;
use crate::error::Result;
use crate::lower::Params;
use crate::names::Names;
use crate::query::BoundWith;
use crate::query_binder::BinderState;
use crate::returned_query::checked;
use crate::returning_clause::clause_of;
use crate::statement_query::Root;
use crate::tree::{BoundQuery, Relation};

/// What a RETURNING is computed from.
pub enum BoundReturning {
    /// Each row by itself: a query of all rows of the table, in whose place those come that the statement writes or deletes.
    Rows(Box<BoundQuery>),
    /// The rows of this table and more: subqueries, what a MERGE has done, or functions of the relational engine. The query is a
    /// [`ReturnedQuery`](crate::ReturnedQuery).
    Queries(Arc<Table>),
}

/// Binds the RETURNING of a statement; `None` without one.
///
/// # Errors
/// [`BindErrorKind::NotSupported`](crate::BindErrorKind::NotSupported) for aggregates, windows and times of rows; as [`query`](crate::query).
pub fn returning(
    statement: &Statement,
    catalog: &dyn CatalogReader,
    engine: &dyn EngineFunctions,
    params: Params<'_>,
) -> Result<Option<BoundReturning>> {
    let Some(returned) = clause_of(statement) else { return Ok(None) };
    let with = BoundWith { catalog, engine, params, names: Names::Statement };
    let state = BinderState::new(Root::Returning(returned.clause));
    let action = Cell::new(0);
    let root = with.bound(&state, |binder, _| {
        let (query, added) = binder.returned_rows(statement, &returned)?;
        action.set(added.action);
        Ok(query)
    })?;
    let table = checked(&root.query, returned.clause)?;
    let mut is_of_rows = root.subqueries.is_empty();
    root.query.relation.for_each(&mut |relation| is_of_rows &= !matches!(relation, Relation::Apply { .. }));
    root.query.for_each_expr(&mut |e| is_of_rows &= !e.is_of_engine() && !e.columns().contains(&action.get()));
    is_of_rows &= root.query.output.iter().all(|output| output.column.index != action.get());
    Ok(Some(if is_of_rows { BoundReturning::Rows(Box::new(root.query)) } else { BoundReturning::Queries(table) }))
}
