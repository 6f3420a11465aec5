//! Plans and starts one query: the query with its snapshot, catalog, guard and executor.

use std::sync::Arc;

use saltwing_access::{ScanContext, Snapshot};
use saltwing_bind::{BoundQuery, Params, RootQuery, StatementQuery, SystemFacts, query};
use saltwing_catalog::CatalogReader;
use saltwing_exec::{RunningSelect, SelectPlan, system_rows};
use saltwing_planner::{DirectQuery, Guard, KeyAccess, PlannedSelect, SystemQuery, plan_select};
use saltwing_types::{ErrorCode, Span};

use crate::Error;
use crate::files::file_tables::with_files;
use crate::outcome::{BatchSource, RowsOutcome, Running, Values};
use crate::session::Session;
use crate::settings::ExecutorChoice;

/// A query, and everything that decides how it runs.
pub(crate) struct QueryRun<'a> {
    pub(crate) session: &'a Session,
    pub(crate) query: StatementQuery<'a>,
    pub(crate) params: Params<'a>,
    /// The rows, not newer than `catalog`, so that it, or a later catalog, has the definitions of all these rows.
    pub(crate) snapshot: Arc<dyn Snapshot>,
    pub(crate) catalog: Arc<dyn CatalogReader>,
    /// The notices about the files that the query reads, whose columns are known only for this run; `None` if it reads no files.
    pub(crate) files: Option<Arc<[String]>>,
    pub(crate) guard: Guard,
    pub(crate) executor: ExecutorChoice,
    /// The value of `now()`, in milliseconds since 1970; `None` is the time of planning.
    #[cfg_attr(not(feature = "datafusion"), allow(dead_code))] // only the relational engine has such functions
    pub(crate) now_ms: Option<i64>,
}

/// The purpose of planning a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The query runs.
    Execute,
    /// The guard judges the query, and it does not run.
    Judge,
    /// The query is explained: the guard refuses nothing.
    Explain,
}

pub(crate) fn executor(session: &Session) -> ExecutorChoice {
    session.read_settings(|settings| settings.executor)
}

/// A query with the current rows, catalog and guard of the session.
pub(crate) fn query_run<'a>(
    session: &'a Session,
    query: impl Into<StatementQuery<'a>>,
    params: Params<'a>,
    context: &ScanContext,
) -> Result<QueryRun<'a>, Error> {
    let moment = session.moment()?;
    query_run_at(session, moment, query, params, context)
}

/// The same over an existing snapshot.
pub(crate) fn query_run_on<'a>(
    session: &'a Session,
    snapshot: Arc<dyn Snapshot>,
    query: impl Into<StatementQuery<'a>>,
    params: Params<'a>,
    context: &ScanContext,
) -> Result<QueryRun<'a>, Error> {
    query_run_at(session, (snapshot, session.catalog()?), query, params, context)
}

/// The same over an existing snapshot and catalog.
pub(crate) fn query_run_at<'a>(
    session: &'a Session,
    (snapshot, mut catalog): (Arc<dyn Snapshot>, Arc<dyn CatalogReader>),
    query: impl Into<StatementQuery<'a>>,
    params: Params<'a>,
    context: &ScanContext,
) -> Result<QueryRun<'a>, Error> {
    let query = query.into();
    let files = with_files(session, query, &catalog, context)?.map(|(with_files, notices)| {
        catalog = with_files;
        notices.into()
    });
    let guard = session.guard_of(query, &*catalog)?;
    // Only the direct path reads pages.
    let executor = if query.after().is_some() { ExecutorChoice::Auto } else { executor(session) };
    let now_ms = session.is_within_transaction().then(|| session.now_ms());
    Ok(QueryRun { session, query, params, snapshot, catalog, files, guard, executor, now_ms })
}

pub(crate) fn start_planned(
    session: &Session,
    planned: &Arc<SelectPlan>,
    part: Option<KeyAccess>,
    snapshot: Arc<dyn Snapshot>,
    context: ScanContext,
    notices: Option<String>,
) -> Result<RowsOutcome, Error> {
    let columns = planned.columns().clone();
    let source = match planned.start(snapshot, part, context.clone())? {
        RunningSelect::Total(row) => BatchSource::Values(Some(Values::Total(row))),
        RunningSelect::Rows(rows) => BatchSource::Direct(Box::new(rows)),
    };
    let notices = notices.into_iter().collect();
    let running = Running { warnings: Some(session.warnings()), ..Running::of_scan(context, notices) };
    Ok(RowsOutcome::running(columns, source, running))
}

fn not_supported(what: &str, span: Span, help: &str) -> Error {
    let text = format!("{what} is not supported");
    Error::new(ErrorCode::NotSupported, text).with_help(Some(help)).at(Some(span))
}

impl QueryRun<'_> {
    /// Runs the uncorrelated subqueries, and starts the query around them.
    pub(crate) fn start_run(&self, context: ScanContext) -> Result<RowsOutcome, Error> {
        let (mut root, reads) = self.with_subqueries(&context, Purpose::Execute)?;
        // Errors of sequences take precedence over a refusal by the guard.
        let sequencing = root.draw.take().map(|draw| self.sequencing(&draw, &root.query)).transpose()?;
        let plan = self.plan_query(&root.query, &context, Purpose::Execute)?;
        let mut rows = self.start_root(&plan, root, context)?;
        if let Some(running) = &mut rows.running {
            running.counters.extend(reads.counters);
            running.notices.extend(reads.notices);
            running.notices.extend(self.files.iter().flat_map(|notices| notices.iter().cloned()));
        }
        Ok(sequencing.into_iter().fold(rows, |rows, sequencing| sequencing.over(rows)))
    }

    /// The bound query, with the subqueries that run before it.
    ///
    /// # Errors
    /// Errors of the query.
    pub(crate) fn bound(&self) -> Result<RootQuery, Error> {
        let engine = self.session.shared().engine_functions();
        Ok(query(self.query, &*self.catalog, engine, self.params)?)
    }

    /// The plan of the direct path; `None` if the direct path does not run the query.
    ///
    /// # Errors
    /// 0A000 if only the direct path is requested and it cannot run the query.
    pub(crate) fn plan_direct(&self, bound: &BoundQuery) -> Result<Option<SelectPlan>, Error> {
        let choice = self.executor;
        if choice == ExecutorChoice::DataFusion {
            return Ok(None);
        }
        let planned = DirectQuery::of(bound.clone()).map(plan_select).transpose()?.flatten();
        let ready = |mut planned: PlannedSelect| {
            planned.access = planned.access.with_overrides(&self.guard);
            SelectPlan::new(planned)
        };
        let planned = planned.map(ready).transpose()?;
        match (planned, choice) {
            (None, ExecutorChoice::Direct) => {
                Err(not_supported("this query on the direct path", self.query.span(), "SET executor = 'auto'"))
            }
            (planned, _) => Ok(planned),
        }
    }

    /// The query as steps over the rows of a system table; `None` if it reads no system table, or the relational engine is requested.
    pub(crate) fn plan_system(&self, bound: &BoundQuery) -> Option<SystemQuery> {
        SystemQuery::of(bound).filter(|_| self.executor != ExecutorChoice::DataFusion)
    }

    /// Runs a query over a system table, and returns its complete rows.
    pub(crate) fn start_system(&self, query: &SystemQuery, context: ScanContext) -> Result<RowsOutcome, Error> {
        let _statement = context.enter();
        let rows = query.table.rows(&SystemFacts::of(&*self.catalog), &query.read)?;
        let batch = system_rows(query, &rows, context.memory())?;
        let warnings = Some(self.session.warnings());
        let running = Running { warnings, ..Running::new(context.clone(), Vec::new(), Vec::new()) };
        let rows = RowsOutcome::ready(query.columns.clone(), batch);
        Ok(RowsOutcome { running: Some(Box::new(running)), ..rows })
    }
}
