//! Runs queries in the relational engine, for which the direct path has no plan.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use arrow::array::RecordBatch;
use futures_util::{FutureExt, StreamExt};
use saltwing_access::ScanContext;
use saltwing_bind::{BoundQuery, ParamValues, ParameterTypes, Params, ResultColumn, RootQuery, check_plan_budget};
use saltwing_datafusion::{
    Binding, Mode, Planned, QueryRequest, RecursionLimits, RelationalError, RelationalErrorKind, Template,
};
use saltwing_sql::statement::QueryStatement;
use saltwing_types::{ErrorCode, Value};

use crate::Error;
use crate::error::table_help;
use crate::error_subject::Subject;
use crate::explained::Explained;
use crate::group_rows::{Again, Reading};
use crate::outcome::{BatchSource, RowsOutcome, Running};
use crate::query_run::{Purpose, QueryRun, query_run_at};
use crate::session::Session;
use crate::statement_plans::{PlanCache, RelationalTemplate};

/// Most batches that wait for the reader.
const BATCHES_AHEAD: usize = 2;

impl From<RelationalError> for Error {
    fn from(error: RelationalError) -> Self {
        let (span, mut help) = (error.span, error.help.clone());
        let (mut refused, mut subject, mut phoenix) = (None, Subject::default(), None);
        match &error.kind {
            RelationalErrorKind::Bind(error) => (subject, phoenix) = (Subject::of_bind(error), error.phoenix),
            RelationalErrorKind::Planner(error) => refused = error.refused().cloned(),
            RelationalErrorKind::Catalog(error) => subject = Subject::of_catalog(error),
            RelationalErrorKind::Table(error) => {
                subject = Subject::of_table(error);
                help = help.or_else(|| table_help(error));
            }
            _ => {}
        }
        let wrapped = Self::wrap(error.code(), error).at(span).with_help(help).with_phoenix(phoenix);
        wrapped.with_refused(refused).about(subject)
    }
}

/// Runs a query with its cached plan; `None` if there is no such plan, and the query must be planned from its text.
///
/// A query without parameters gets a cached plan at its first run, a query with parameters at its second.
pub(crate) fn run_kept(
    session: &Session,
    statement: &QueryStatement,
    values: ParamValues<'_>,
    plans: &PlanCache,
) -> Result<Option<RowsOutcome>, Error> {
    let ((snapshot, catalog), context) = (session.moment()?, session.begin());
    let plans = plans.of(catalog.version());
    let template = match plans.relational() {
        RelationalTemplate::Template(template) => template,
        RelationalTemplate::Never => return Ok(None),
        RelationalTemplate::New if !values.is_empty() => {
            plans.set_relational(RelationalTemplate::SeenOnce);
            return Ok(None);
        }
        RelationalTemplate::New | RelationalTemplate::SeenOnce => {
            let moment = (snapshot.clone(), catalog.clone());
            let run = query_run_at(session, moment, statement, Params::Later(values.types), &context)?;
            let root = {
                let _statement = context.enter();
                plans.bound(statement.into(), (&*catalog, session.shared().engine_functions()), values)
            };
            let template = root?.and_then(|root| run.template(&root, &values, context.clone()));
            let Some(template) = template.map(Arc::new) else {
                // If planning was stopped, nothing is known about the plan.
                context.check()?;
                plans.set_relational(RelationalTemplate::Never);
                return Ok(None);
            };
            plans.set_relational(RelationalTemplate::Template(template.clone()));
            template
        }
    };
    let guard = session.guard_of(statement.into(), &*catalog)?;
    let binding = Binding { values, snapshot, context: context.clone(), guard: &guard };
    match template.bind(binding)? {
        Some(planned) => start_relational(session, &RelationalPlan(Arc::new(planned)), context).map(Some),
        None => {
            // The template does not fit these tables or values, and probably not those of later runs.
            plans.set_relational(RelationalTemplate::SeenOnce);
            Ok(None)
        }
    }
}

pub(crate) fn start_relational(
    session: &Session,
    plan: &RelationalPlan,
    context: ScanContext,
) -> Result<RowsOutcome, Error> {
    let RelationalPlan(planned) = plan;
    let columns = planned.columns().into();
    let notices = planned.warnings().to_vec();
    let counters = planned.counters();
    let source = BatchSource::Channel(pump(session, planned.clone())?);
    let running = Running { warnings: Some(session.warnings()), ..Running::new(context, counters, notices) };
    Ok(RowsOutcome::running(columns, source, running))
}

/// Runs a plan on the library's threads; batches wait in the channel for their reader.
fn pump(
    session: &Session,
    planned: Arc<Planned>,
) -> Result<async_channel::Receiver<Result<RecordBatch, Error>>, Error> {
    let (sender, receiver) = async_channel::bounded(BATCHES_AHEAD);
    session.shared().pools.engine()?.spawn(async move {
        let rows = AssertUnwindSafe(send_batches(planned, &sender));
        // Without an error the reader would take the rows so far for the whole result.
        if rows.catch_unwind().await.is_err() {
            let error = Error::new(ErrorCode::Bug, "the relational engine panicked while it ran the query");
            let _ = sender.send(Err(error)).await;
        }
    });
    Ok(receiver)
}

/// Sends the batches of a plan, and an error if the plan fails. If the reader is gone, errors of sending do not matter.
async fn send_batches(planned: Arc<Planned>, sender: &async_channel::Sender<Result<RecordBatch, Error>>) {
    let mut stream = match planned.stream() {
        Ok(stream) => stream,
        Err(error) => {
            let _ = sender.send(Err(error.into())).await;
            return;
        }
    };
    drop(planned);
    while let Some(batch) = stream.next().await {
        if sender.send(batch.map_err(Error::from)).await.is_err() {
            return;
        }
    }
}

fn is_known_before_values(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::FullScanRefused
            | ErrorCode::NoSuchTable
            | ErrorCode::NoSuchColumn
            | ErrorCode::NoSuchFunction
            | ErrorCode::AmbiguousColumn
            | ErrorCode::NotSupported
    )
}

/// The purpose of a plan, and the values for its estimates.
struct PlanMode<'a> {
    mode: Mode,
    samples: &'a [Value],
}

/// A query ready to run.
pub(crate) struct RelationalPlan(Arc<Planned>);

impl RelationalPlan {
    /// The result's columns.
    pub(crate) fn columns(&self) -> Arc<[ResultColumn]> {
        self.0.columns().into()
    }

    /// The types of the parameters that have no values.
    pub(crate) fn parameters(&self) -> &ParameterTypes {
        self.0.parameters()
    }

    /// The accesses of the plan's tables; with counters if the plan `ran`.
    pub(crate) fn explained(&self, ran: bool) -> Explained {
        let (reports, plan) = (self.0.accesses(ran), Some(self.0.plan_text()));
        Explained { executor: "datafusion", direct: None, reports, plan, effects: Vec::new(), subqueries: Vec::new() }
    }
}

impl QueryRun<'_> {
    /// A plan for all runs of a query. These values serve its estimates.
    fn template(&self, root: &RootQuery, values: &[Value], context: ScanContext) -> Option<Template> {
        if self.files.is_some() || !root.has_one_plan() {
            return None;
        }
        let mode = PlanMode { mode: Mode::Keep, samples: values };
        self.plan_in(root.query.clone(), context, mode).ok()?.into_template()
    }

    /// The plan of a query whose parameters have no values; `None` if the query cannot be planned without values.
    ///
    /// # Errors
    /// Errors that the query has with all values. A parameter without a value may have no type: an error that
    /// may result from a missing type is reported only when the query runs.
    pub(crate) fn judge_relational(
        &self,
        query: BoundQuery,
        context: ScanContext,
        purpose: Purpose,
        has_parameters: bool,
    ) -> Result<Option<RelationalPlan>, Error> {
        match self.plan_relational(query, context, purpose) {
            Err(error) if !has_parameters || is_known_before_values(error.code()) => Err(error),
            planned => Ok(planned.ok()),
        }
    }

    pub(crate) fn plan_relational(
        &self,
        query: BoundQuery,
        context: ScanContext,
        purpose: Purpose,
    ) -> Result<RelationalPlan, Error> {
        let mode = if purpose == Purpose::Explain { Mode::Explain } else { Mode::Execute };
        let planned = self.plan_in(query, context, PlanMode { mode, samples: &[] })?;
        Ok(RelationalPlan(Arc::new(planned)))
    }

    /// The means to begin a query again in this engine if the direct path runs out of memory for groups.
    pub(crate) fn again(&self, query: BoundQuery, context: ScanContext) -> Again {
        let mode = PlanMode { mode: Mode::Execute, samples: &[] };
        let (session, request) = (self.session.clone(), self.request(query, context.clone(), mode));
        Box::new(move || {
            let planned = request.and_then(|request| Ok(session.shared().engine.plan(request)?));
            let Ok(planned) = planned else {
                context.check()?;
                return Ok(None);
            };
            let counters = planned.counters();
            Ok(Some(Reading { batches: pump(&session, Arc::new(planned))?, counters }))
        })
    }

    fn plan_in(&self, query: BoundQuery, context: ScanContext, mode: PlanMode<'_>) -> Result<Planned, Error> {
        Ok(self.session.shared().engine.plan(self.request(query, context, mode)?)?)
    }

    fn request(&self, query: BoundQuery, context: ScanContext, mode: PlanMode<'_>) -> Result<QueryRequest, Error> {
        check_plan_budget(self.query)?;
        let PlanMode { mode, samples } = mode;
        let recursion = self.session.read_settings(|settings| RecursionLimits {
            rounds_max: settings.recursion_rounds_max,
            rows_max: settings.recursion_rows_max,
        });
        Ok(QueryRequest {
            query,
            catalog: self.catalog.clone(),
            snapshot: self.snapshot.clone(),
            context,
            guard: self.guard.clone(),
            samples: samples.to_vec(),
            recursion,
            mode,
            now_ms: self.now_ms,
        })
    }
}
