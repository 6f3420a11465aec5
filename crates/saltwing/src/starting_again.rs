//! Queries that begin again in the relational engine: see [`GroupRows`](crate::group_rows::GroupRows).

use std::sync::Arc;

use saltwing_access::{ScanContext, Snapshot};
use saltwing_bind::{BoundQuery, ParamValues, Params};
use saltwing_catalog::CatalogReader;
use saltwing_planner::Guard;
use saltwing_sql::Statement;
use saltwing_sql::statement::QueryStatement;
use saltwing_types::{ErrorCode, SqlType, Value};

use crate::Error;
use crate::group_rows::Again;
use crate::query_run::{QueryRun, query_run_on};
use crate::session::Session;
use crate::settings::ExecutorChoice;
use crate::statement_cache::CachedStatement;

/// A query, kept while its rows are read.
struct KeptRun {
    session: Session,
    statement: QueryStatement,
    values: Option<Vec<Value>>,
    types: Vec<Option<SqlType>>,
    snapshot: Arc<dyn Snapshot>,
    catalog: Arc<dyn CatalogReader>,
    files: Option<Arc<[String]>>,
    guard: Guard,
    now_ms: Option<i64>,
}

impl KeptRun {
    fn of(run: &QueryRun<'_>) -> Self {
        Self {
            session: run.session.clone(),
            statement: QueryStatement::clone(&run.statement),
            values: run.params.values(),
            types: run.params.types().to_vec(),
            snapshot: run.snapshot.clone(),
            catalog: run.catalog.clone(),
            files: run.files.clone(),
            guard: run.guard.clone(),
            now_ms: run.now_ms,
        }
    }

    fn run(&self) -> QueryRun<'_> {
        QueryRun {
            session: &self.session,
            statement: std::borrow::Cow::Borrowed(&self.statement),
            params: match &self.values {
                Some(values) => Params::Given(ParamValues { values, types: &self.types }),
                None => Params::Open(&self.types),
            },
            snapshot: self.snapshot.clone(),
            catalog: self.catalog.clone(),
            files: self.files.clone(),
            guard: self.guard.clone(),
            executor: ExecutorChoice::DataFusion,
            now_ms: self.now_ms,
        }
    }
}

/// The same for a cached query with these values.
pub(crate) fn known_again(
    session: &Session,
    known: &Arc<CachedStatement>,
    values: ParamValues<'_>,
    snapshot: Arc<dyn Snapshot>,
    context: ScanContext,
) -> Again {
    let (session, known, values) = (session.clone(), known.clone(), values.to_vec());
    Box::new(move || match &known.parsed.statement {
        Statement::Query(query) => {
            let run = query_run_on(
                &session,
                snapshot,
                query,
                Params::Given(ParamValues { values: &values, types: &known.types }),
                &context,
            )?;
            // A plan is kept only of a query whose subqueries run with it.
            let query = run.bound()?.query;
            run.read_again(query, context)
        }
        _ => Err(Error::new(ErrorCode::Bug, "groups of a statement that is no query")),
    })
}

impl QueryRun<'_> {
    /// What starts a query again in the relational engine.
    pub(crate) fn again(&self, query: BoundQuery, context: ScanContext) -> Again {
        let kept = KeptRun::of(self);
        Box::new(move || kept.run().read_again(query, context))
    }
}
