//! Runs queries, with their cached plans if there are any.

use std::sync::Arc;

use saltwing_access::{SHORT_RANGE_ROWS, ScanContext, Snapshot};
use saltwing_bind::{ParamValues, Params, StatementQuery};
use saltwing_catalog::CatalogReader;
use saltwing_exec::SelectPlan;
use saltwing_planner::{Guard, HintVerb};
use saltwing_sql::Statement;
use saltwing_sql::statement::QueryStatement;
use saltwing_types::ErrorCode;

use crate::Error;
use crate::group_rows::Again;
use crate::literal_template::fits;
use crate::outcome::RowsOutcome;
use crate::query_run::{executor, query_run, query_run_on, start_planned};
use crate::relational::run_kept;
use crate::session::Session;
use crate::settings::ExecutorChoice;
use crate::statement_cache::CachedStatement;
use crate::statement_plans::{GenericPlan, ReadyPlan, StatementPlans};

/// Runs a query that may have run before. Its cached plan is used if it is still valid.
pub(crate) fn run_known_query(
    session: &Session,
    statement: &QueryStatement,
    params: ParamValues<'_>,
    known: &Arc<CachedStatement>,
) -> Result<RowsOutcome, Error> {
    let mut rows = run_as_known(session, statement, params, known)?;
    if let Some(running) = &mut rows.running {
        running.notices.extend(saltwing_bind::query_notice(&statement.query));
    }
    Ok(rows)
}

fn run_as_known(
    session: &Session,
    statement: &QueryStatement,
    params: ParamValues<'_>,
    known: &Arc<CachedStatement>,
) -> Result<RowsOutcome, Error> {
    if statement.after.is_some() {
        return run_query(session, statement, params);
    }
    let executor = executor(session);
    let kept = || match run_kept(session, statement, params, &known.plans)? {
        Some(rows) => Ok(rows),
        None => run_query(session, statement, params),
    };
    if executor == ExecutorChoice::DataFusion {
        return kept();
    }
    let catalog = session.catalog()?;
    let plans = known.plans.of(catalog.version());
    let (generic, planning) = direct_plan(session, statement, (&plans, &*catalog), params, Session::begin)?;
    let begin = || planning.clone().unwrap_or_else(|| session.begin());
    let run_anew = || run_query_in(session, begin(), statement, params);
    let Some(ready) = generic.with_values(params) else {
        let is_kept = executor == ExecutorChoice::Auto && generic.is_relational();
        return if is_kept { kept() } else { run_anew() };
    };
    let snapshot = match read_few(session, &*catalog, &ready)? {
        Few::Rows(rows) => return Ok(session.read_at_once(rows)),
        Few::Unread(snapshot) => snapshot,
        Few::Outdated => return run_anew(),
    };
    let context = begin();
    let ReadyPlan { plan, part } = ready;
    let notices = judged(session, statement, &plan, &*catalog)?;
    if executor != ExecutorChoice::Auto || !plan.keeps_groups() {
        return start_planned(session, &plan, part, snapshot, context, notices);
    }
    let again = known_again(session, known, params, snapshot.clone(), context.clone());
    Ok(start_planned(session, &plan, part, snapshot, context, notices)?.or_again(again))
}

/// Runs a query of the direct path to its end, within the limits of a try; `None` if a thread of the library must run it.
///
/// # Errors
/// Errors of the query; a limit of the try.
pub(crate) fn try_query(
    session: &Session,
    statement: &QueryStatement,
    params: ParamValues<'_>,
    known: &CachedStatement,
    literals: Literals,
) -> Result<Option<RowsOutcome>, Error> {
    if statement.after.is_some() || executor(session) == ExecutorChoice::DataFusion {
        return Ok(None);
    }
    let catalog = session.catalog()?;
    let plans = known.plans.of(catalog.version());
    if literals == Literals::InTemplate && !fit(session, (statement, &plans), &*catalog, params)? {
        return Ok(None);
    }
    let (generic, planning) = direct_plan(session, statement, (&plans, &*catalog), params, Session::begin_try)?;
    let Some(ready) = generic.with_values(params) else { return Ok(None) };
    if ready.plan.keeps_groups() || ready.plan.access().table().is_attached() {
        return Ok(None);
    }
    let snapshot = match read_few(session, &*catalog, &ready)? {
        Few::Rows(rows) => return Ok(Some(session.read_at_once(rows))),
        Few::Unread(snapshot) => snapshot,
        Few::Outdated => return Ok(None),
    };
    let context = planning.unwrap_or_else(|| session.begin_try());
    let notices = judged(session, statement, &ready.plan, &*catalog)?;
    let mut rows = start_planned(session, &ready.plan, ready.part, snapshot, context, notices)?.collected()?;
    if let Some(running) = &mut rows.running {
        running.notices.extend(saltwing_bind::query_notice(&statement.query));
    }
    Ok(Some(rows))
}

/// The plan of the direct path for all values, with the context in which it was made, unless it was known.
fn direct_plan<'p>(
    session: &Session,
    statement: &QueryStatement,
    (plans, catalog): (&'p StatementPlans, &dyn CatalogReader),
    params: ParamValues<'_>,
    begin: fn(&Session) -> ScanContext,
) -> Result<(&'p GenericPlan, Option<ScanContext>), Error> {
    if let Some(known) = plans.known_direct() {
        return Ok((known, None));
    }
    let context = begin(session);
    let _statement = context.enter();
    let plan = plans.direct(statement.into(), (catalog, session.shared().engine_functions()), params)?;
    Ok((plan, Some(context)))
}

/// Where the values of a statement's parameters are from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Literals {
    /// The caller gave them.
    OfCaller,
    /// They were literals in the text of which the statement is a [template](crate::literal_template).
    InTemplate,
}

/// Whether the literals of a template mean as parameters what they mean in the text.
fn fit(
    session: &Session,
    (statement, plans): (&QueryStatement, &StatementPlans),
    catalog: &dyn CatalogReader,
    params: ParamValues<'_>,
) -> Result<bool, Error> {
    let names = (catalog, session.shared().engine_functions());
    let types = plans.parameter_types(statement.into(), names, params)?;
    Ok(types.is_some_and(|types| params.values.iter().zip(types).all(|(value, ty)| fits(value, *ty))))
}

/// The rows of a plan that reads few.
enum Few {
    /// They are read.
    Rows(RowsOutcome),
    /// Perhaps there are many, or limits and notices apply to them: they are to be read from this snapshot.
    Unread(Arc<dyn Snapshot>),
    /// The definitions or the row changed meanwhile.
    Outdated,
}

/// Reads the rows of a plan at once if it reads few by their keys. Such a statement needs no cancellation, and has no notice at its end.
fn read_few(session: &Session, catalog: &dyn CatalogReader, ready: &ReadyPlan) -> Result<Few, Error> {
    let ReadyPlan { plan, part } = ready;
    if let Some(row_key) = plan.point_key(part.as_ref())
        && may_read_at_once(session, 1)
        && !plan.access().table().is_attached()
    {
        return match plan.point(&*session.shared().tables, row_key).map_err(Error::from) {
            Ok(row) => Ok(Few::Rows(RowsOutcome::point(plan.columns().clone(), row.map(|row| row.values)))),
            Err(error) if error.code() == ErrorCode::Conflict => Ok(Few::Outdated),
            Err(error) => Err(error),
        };
    }
    let snapshot = session.snapshot()?;
    // Rows must not be read with a definition that is older than they are.
    if session.catalog_version() != catalog.version() {
        return Ok(Few::Outdated);
    }
    // A part of the key is known only if the access is allowed. For each row, an index entry may be read as well.
    if may_read_at_once(session, 2 * SHORT_RANGE_ROWS as u64)
        && let Some(few) = plan.get_range(&snapshot, part.as_ref())?
    {
        return Ok(Few::Rows(RowsOutcome::few(plan.columns().clone(), few)));
    }
    Ok(Few::Unread(snapshot))
}

/// The notice of the guard about a plan that it allows.
///
/// # Errors
/// A refusal.
fn judged(
    session: &Session,
    statement: &QueryStatement,
    plan: &SelectPlan,
    catalog: &dyn CatalogReader,
) -> Result<Option<String>, Error> {
    match plan.access().access().verdict.allowed {
        // An allowed access does not depend on the guard's overrides.
        Some(true) => Ok(None),
        _ => Ok(plan.access().judge_with(&session.guard_of(statement.into(), catalog)?)?),
    }
}

/// Whether a statement that reads at most `rows_most` rows needs no context: no limit, notice or cancellation applies to it.
fn may_read_at_once(session: &Session, rows_most: u64) -> bool {
    session.read_settings(|settings| settings.allows_unmetered(rows_most)) && !session.is_within_transaction()
}

pub(crate) fn run_query(
    session: &Session,
    statement: &QueryStatement,
    params: ParamValues<'_>,
) -> Result<RowsOutcome, Error> {
    run_query_in(session, session.begin(), statement, params)
}

fn run_query_in(
    session: &Session,
    context: ScanContext,
    statement: &QueryStatement,
    params: ParamValues<'_>,
) -> Result<RowsOutcome, Error> {
    query_run(session, statement, Params::Given(params), &context)?.start_run(context)
}

/// Starts the query of a write with its cached plan; `None` if the query must be planned from its text.
pub(crate) fn start_kept(
    session: &Session,
    (query, plans): (StatementQuery<'_>, &StatementPlans),
    catalog: &dyn CatalogReader,
    values: ParamValues<'_>,
    (snapshot, context): (Arc<dyn Snapshot>, ScanContext),
    verb: HintVerb,
) -> Result<Option<RowsOutcome>, Error> {
    // The plan has no functions of the relational engine, so it does not need `now()`.
    if executor(session) == ExecutorChoice::DataFusion {
        return Ok(None);
    }
    let generic = plans.direct(query, (catalog, session.shared().engine_functions()), values)?;
    let Some(ReadyPlan { plan, part }) = generic.with_values(values) else { return Ok(None) };
    if plan.keeps_groups() {
        return Ok(None);
    }
    let notices = match plan.access().access().verdict.allowed {
        Some(true) => None,
        _ => plan.access().judge_with(&Guard { verb, ..session.guard_of(query, catalog)? })?,
    };
    start_planned(session, &plan, part, snapshot, context, notices).map(Some)
}

/// The means to begin a cached query again, with these values, in the relational engine.
fn known_again(
    session: &Session,
    known: &Arc<CachedStatement>,
    values: ParamValues<'_>,
    snapshot: Arc<dyn Snapshot>,
    context: ScanContext,
) -> Again {
    let (session, known, values) = (session.clone(), known.clone(), values.to_vec());
    Box::new(move || {
        let Statement::Query(query) = &known.parsed.statement else {
            return Err(Error::new(ErrorCode::Bug, "groups of a statement that is no query"));
        };
        let values = Params::Given(ParamValues { values: &values, types: &known.types });
        let run = query_run_on(&session, snapshot, query, values, &context)?;
        // Only a query without subqueries that run before it has a cached plan.
        let query = run.bound()?.query;
        run.again(query, context)()
    })
}
