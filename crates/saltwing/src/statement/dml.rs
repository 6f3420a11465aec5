//! UPSERT, INSERT, DELETE, UPDATE and MERGE.

use std::sync::Arc;

use arrow::array::RecordBatch;
use saltwing_access::ScanContext;
use saltwing_bind::{BoundQuery, MergeStep, ParamValues, Params, merge, returning, through_view, update, upsert};
use saltwing_catalog::CatalogReader;
use saltwing_exec::{Attempt, CommitLimits, ExecError, Returning};
use saltwing_planner::{DirectQuery, HintVerb, has_parameter, plan_select};
use saltwing_sql::statement::QueryStatement;
use saltwing_sql::{Statement, TableRef};
use saltwing_types::{ErrorCode, SqlType};

use crate::Error;
use crate::kept::Kept;
use crate::kept_select::KeptSelect;
use crate::kept_write::KeptWrite;
use crate::outcome::{ExecResult, Outcome, RowsOutcome, Running};
use crate::queries::start_kept;
use crate::query_run::query_run_on;
use crate::session::Session;
use crate::settings::ExecutorChoice;
use crate::temporary::adds_dynamic_columns;

/// A statement that writes rows.
pub(crate) struct Dml<'a> {
    pub(crate) session: &'a Session,
    pub(crate) catalog: Arc<dyn CatalogReader>,
    pub(crate) params: ParamValues<'a>,
    pub(crate) context: ScanContext,
    pub(crate) returning: Option<Arc<Returning>>,
    /// The place for what is kept of it.
    pub(crate) kept: Option<&'a KeptWrite>,
}

/// Runs a statement that writes rows, and again, from name resolution on, if a table's definition changed meanwhile. `kept`
/// is the place for what is kept of it if it may run again.
pub(crate) fn run_dml(
    session: &Session,
    statement: &Statement,
    params: ParamValues<'_>,
    kept: Option<&KeptWrite>,
) -> Result<Outcome, Error> {
    session.writable()?;
    loop {
        let catalog = session.catalog()?;
        let version = catalog.version();
        let through = through_view(statement, &*catalog, Params::Given(params))?;
        let statement = through.as_deref().unwrap_or(statement);
        if let Some(table) = writes_dynamic_columns(statement, &*catalog, Params::Given(params))?
            && adds_dynamic_columns(session, table)?
        {
            continue;
        }
        let context = session.begin();
        let _statement = context.enter();
        let kept = kept.filter(|_| through.is_none());
        let returning = returning_of(statement, &*catalog, params, kept.map(|kept| &kept.returning))?;
        match (Dml { session, catalog, params, context: context.clone(), returning, kept }).run(statement) {
            Err(error)
                if error.code() == ErrorCode::Conflict
                    && error.rows_committed() == 0
                    && session.catalog_version() != version => {}
            other => return other,
        }
    }
}

/// The table of which a statement writes dynamic columns, if it does. What is wrong with such a statement comes first.
fn writes_dynamic_columns<'s>(
    statement: &'s Statement,
    catalog: &dyn CatalogReader,
    params: Params<'_>,
) -> Result<Option<&'s TableRef>, Error> {
    Ok(match statement {
        Statement::Upsert(it) | Statement::Insert(it) if !it.dynamic.is_empty() || !it.known.is_empty() => {
            let target = upsert(it, false, catalog, params)?.target;
            let is_updated = target.update.as_ref().is_some_and(|update| !update.dynamic.is_empty());
            (is_updated || !target.dynamic.is_empty()).then_some(&it.table)
        }
        Statement::Update(it) if it.dynamic.is_some() => {
            (!update(it, catalog, params)?.changed.dynamic.is_empty()).then_some(&it.table)
        }
        Statement::Merge(it) if it.dynamic.is_some() => {
            let writes = |step: &MergeStep| match step {
                MergeStep::Update(_, changed) => !changed.dynamic.is_empty(),
                MergeStep::Insert(target, _) => !target.dynamic.is_empty(),
                MergeStep::Delete(_) => false,
            };
            merge(it, catalog, params)?.steps.iter().any(writes).then_some(&it.table)
        }
        _ => None,
    })
}

/// The RETURNING of a statement, made ready.
pub(crate) fn planned_returning(
    statement: &Statement,
    catalog: &dyn CatalogReader,
    params: Params<'_>,
) -> Result<Option<Returning>, Error> {
    returning(statement, catalog, params)?.map(planned).transpose()
}

fn planned(bound: BoundQuery) -> Result<Returning, Error> {
    let planned = DirectQuery::of(bound).map(plan_select).transpose()?.flatten();
    let planned = planned.ok_or_else(|| Error::new(ErrorCode::Bug, "a RETURNING has no plan"))?;
    Ok(Returning::new(planned)?)
}

/// The RETURNING of a statement, made ready for these values, or taken from `kept`. One without parameters is kept there.
fn returning_of(
    statement: &Statement,
    catalog: &dyn CatalogReader,
    params: ParamValues<'_>,
    kept: Option<&Kept<Option<Arc<Returning>>>>,
) -> Result<Option<Arc<Returning>>, Error> {
    let version = catalog.version();
    if let Some(known) = kept.and_then(|kept| kept.of(version)) {
        return Ok(known);
    }
    let names_parameter = |bound: &BoundQuery| {
        let mut found = false;
        bound.for_each_expr(&mut |e| found |= has_parameter(e));
        found
    };
    // An error without values is reported as that of the statement with its values, below.
    if let Some(kept) = kept
        && let Ok(open) = returning(statement, catalog, Params::Open(params.types))
        && !open.as_ref().is_some_and(names_parameter)
    {
        let returning = open.map(|bound| planned(bound).map(Arc::new)).transpose()?;
        kept.put(version, returning.clone());
        return Ok(returning);
    }
    Ok(planned_returning(statement, catalog, Params::Given(params))?.map(Arc::new))
}

/// The rows that a statement has written, if it counts them itself, and what it has read and noticed.
type Written = (Option<u64>, ExecResult);

impl Dml<'_> {
    fn run(&self, statement: &Statement) -> Result<Outcome, Error> {
        match statement {
            Statement::Upsert(statement) => self.upsert(statement, HintVerb::Upsert),
            Statement::Insert(statement) => self.upsert(statement, HintVerb::Insert),
            Statement::Delete(statement) => self.delete(statement),
            Statement::Update(statement) => self.update(statement),
            Statement::Merge(statement) => self.merge(statement),
            _ => Err(Error::new(ErrorCode::Bug, "a statement that writes no rows")),
        }
    }

    /// Runs a write. Where another commit comes first, it runs again.
    pub(crate) fn write(
        &self,
        limits: CommitLimits,
        mut run: impl FnMut(&mut Attempt<'_>) -> Result<Written, Error>,
    ) -> Result<Outcome, Error> {
        let (rows, ((counted, result), returned)) = self.session.writer().transaction(limits, |attempt| {
            // The rows that it reads may be newer than an index that the catalog names.
            if self.session.catalog_version() != self.catalog.version() {
                return Err(Error::new(ErrorCode::Conflict, "a definition has changed meanwhile"));
            }
            if self.returning.is_some() {
                attempt.keep_rows();
            }
            let written = run(attempt)?;
            let returned = self.returning.as_ref().map(|returning| attempt.returned(returning)).transpose()?;
            Ok::<_, Error>((written, returned))
        })?;
        let rows_affected = counted.unwrap_or(rows);
        let (Some(batch), Some(returning)) = (returned, &self.returning) else {
            return Ok(ExecResult { rows_affected, ..result }.into());
        };
        let rows = RowsOutcome::ready(returning.columns().clone(), batch);
        let running = Running { rows_affected, ..Running::new(self.context.clone(), Vec::new(), result.notices) };
        Ok(Outcome::Rows(RowsOutcome { read: result.stats, running: Some(Box::new(running)), ..rows }))
    }

    /// A query for the rows that the statement writes.
    pub(crate) fn start_query(
        &self,
        attempt: &Attempt<'_>,
        query: &QueryStatement,
        verb: HintVerb,
        now_ms: i64,
    ) -> Result<RowsOutcome, Error> {
        let params = Params::Given(self.params);
        let mut run = query_run_on(self.session, attempt.snapshot().clone(), query, params, &self.context)?;
        run.guard.verb = verb;
        run.now_ms = Some(now_ms);
        // The requested executor applies only to queries.
        if run.executor == ExecutorChoice::Direct {
            run.executor = ExecutorChoice::Auto;
        }
        run.start_run(self.context.clone())
    }

    /// As [`Dml::start_query`], by the plan that is kept for the query if there is one.
    pub(crate) fn start_kept(
        &self,
        attempt: &Attempt<'_>,
        (query, kept): (&QueryStatement, Option<&KeptSelect>),
        verb: HintVerb,
        now_ms: i64,
    ) -> Result<RowsOutcome, Error> {
        if let Some(kept) = kept {
            let reading = (attempt.snapshot().clone(), self.context.clone());
            let started = start_kept(self.session, (query, kept), &*self.catalog, self.params, reading, verb)?;
            if let Some(rows) = started {
                return Ok(rows);
            }
        }
        self.start_query(attempt, query, verb, now_ms)
    }
}

/// Hands the rows of a query to `take`, batch by batch, with the types of their columns.
pub(crate) fn each_batch(
    rows: RowsOutcome,
    mut take: impl FnMut(&[SqlType], &RecordBatch) -> Result<(), ExecError>,
) -> Result<ExecResult, Error> {
    let types = rows.types();
    let ((), result) = rows.drain(|batches| {
        for batch in batches {
            take(&types, &batch?)?;
        }
        Ok(())
    })?;
    Ok(result)
}
