//! The queries of statements, each bound to a tree with all that stands beside it.

use saltwing_catalog::CatalogReader;

use crate::dml::deleted_rows;
use crate::engine::EngineFunctions;
use crate::error::Result;
use crate::lower::Params;
use crate::merge::merged_rows;
use crate::names::Names;
use crate::query::{BoundWith, bound_query};
use crate::query_binder::BinderState;
use crate::statement_query::{Root, StatementQuery, TargetQuery};
use crate::uncorrelated::{QueryRead, RootQuery};
use crate::update::updated_rows;

/// Binds a query of a statement.
///
/// # Errors
/// If a name is unknown or ambiguous, a type does not fit, a clause stands where it may not, or Saltwing does not support a clause.
pub fn query<'q>(
    query: impl Into<StatementQuery<'q>>,
    catalog: &dyn CatalogReader,
    engine: &dyn EngineFunctions,
    params: Params<'_>,
) -> Result<RootQuery> {
    let query = query.into();
    bound(query, &BinderState::new(Root::Query(query)), with(catalog, engine, params))
}

/// As [`query`]. What the query reads is added to `reads`, also if there is an error after the names of its tables.
///
/// # Errors
/// As there.
pub fn query_noting_reads<'q>(
    query: impl Into<StatementQuery<'q>>,
    catalog: &dyn CatalogReader,
    engine: &dyn EngineFunctions,
    params: Params<'_>,
    reads: &mut Vec<QueryRead>,
) -> Result<RootQuery> {
    let query = query.into();
    let state = BinderState::new(Root::Query(query));
    let bound = bound(query, &state, with(catalog, engine, params));
    let found = bound.as_ref().map_or_else(|_| state.reads.take(), |root| root.reads.clone());
    reads.extend(found);
    bound
}

fn with<'a>(catalog: &'a dyn CatalogReader, engine: &'a dyn EngineFunctions, params: Params<'a>) -> BoundWith<'a> {
    BoundWith { catalog, engine, params, names: Names::Statement }
}

fn bound(query: StatementQuery<'_>, state: &BinderState<'_>, with: BoundWith<'_>) -> Result<RootQuery> {
    let target = match query {
        StatementQuery::Query(statement) => return bound_query(statement, state, with),
        StatementQuery::Computed(computed) => return with.bound(state, |binder, _| binder.computed(&computed)),
        StatementQuery::Returned(returned) => return with.bound(state, |binder, _| binder.returned_query(&returned)),
        StatementQuery::Target(target) => target,
    };
    let rows = match target {
        TargetQuery::Update(update) => updated_rows(update, with.catalog, with.params)?,
        TargetQuery::Delete(delete) => deleted_rows(delete),
        TargetQuery::Merge(merge, clause) => merged_rows(merge, clause, with.catalog, with.params)?,
    };
    with.bound(state, |binder, sequences| binder.target_rows(&rows, sequences))
}
