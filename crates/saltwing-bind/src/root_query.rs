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
use crate::uncorrelated::RootQuery;
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
    let with = BoundWith { catalog, engine, params, names: Names::Statement };
    let state = BinderState::new(Root::Query(query));
    let target = match query {
        StatementQuery::Query(statement) => return bound_query(statement, with),
        StatementQuery::Computed(computed) => return with.bound(&state, |binder, _| binder.computed(&computed)),
        StatementQuery::Target(target) => target,
    };
    let rows = match target {
        TargetQuery::Update(update) => updated_rows(update, catalog, params)?,
        TargetQuery::Delete(delete) => deleted_rows(delete),
        TargetQuery::Merge(merge, clause) => merged_rows(merge, clause, catalog, params)?,
    };
    with.bound(&state, |binder, sequences| binder.target_rows(&rows, sequences))
}
