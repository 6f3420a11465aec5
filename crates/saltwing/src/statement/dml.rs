//! UPSERT, INSERT, DELETE, UPDATE and MERGE.

use std::sync::Arc;

use arrow::array::RecordBatch;
use saltwing_access::{ScanContext, Table};
use saltwing_bind::{BoundQuery, ParamValues, Params, resolve, returning};
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

/// The error of a statement that runs again by the new definition of a table.
const CHANGED: &str = "a definition has changed meanwhile";

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
pub(super) fn returning_of(
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
    /// Gives a table of which the statement writes dynamic columns the hidden column for them.
    ///
    /// # Errors
    /// [`ErrorCode::Conflict`] if it has none yet: the statement runs again, by the new definition.
    pub(super) fn keep_dynamic_columns(&self, target: &TableRef, table: &Table) -> Result<(), Error> {
        let is_view = resolve(&*self.catalog, target).is_err();
        let table = if is_view { TableRef::of(&table.def().name, target.span()) } else { target.clone() };
        match adds_dynamic_columns(self.session, &table)? {
            true => Err(Error::new(ErrorCode::Conflict, CHANGED)),
            false => Ok(()),
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
            if self.session.catalog().version() != self.catalog.version() {
                return Err(Error::new(ErrorCode::Conflict, CHANGED));
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
