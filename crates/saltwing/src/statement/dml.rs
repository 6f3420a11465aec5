//! UPSERT, INSERT, DELETE, UPDATE and MERGE.

use std::sync::Arc;

use arrow::array::RecordBatch;
use saltwing_access::{ScanContext, SnapshotScope, Table};
use saltwing_bind::{ParamValues, Params, StatementQuery, query_noting_reads};
use saltwing_catalog::{CatalogReader, optional};
use saltwing_exec::{Attempt, CommitLimits, ExecError, Writer};
use saltwing_planner::HintVerb;
use saltwing_sql::{Statement, TableRef};
use saltwing_types::{ErrorCode, SqlType};

use crate::Error;
use crate::outcome::{ExecResult, Outcome, RowsOutcome, Running};
use crate::queries::start_kept;
use crate::query_run::query_run_on;
use crate::session::Session;
use crate::settings::ExecutorChoice;
use crate::statement_plans::{ReturningPlan, StatementPlans};
use crate::temporary::adds_dynamic_columns;

/// The error that makes a statement run again with the new definition of a table.
const CHANGED: &str = "a definition has changed meanwhile";

/// A statement that writes rows.
pub(crate) struct Dml<'a> {
    pub(crate) session: &'a Session,
    pub(crate) statement: &'a Statement,
    pub(crate) catalog: Arc<dyn CatalogReader>,
    pub(crate) params: ParamValues<'a>,
    pub(crate) context: ScanContext,
    pub(crate) returning: Option<ReturningPlan>,
    /// The statement's plans for this version of the catalog.
    pub(crate) plans: Arc<StatementPlans>,
}

/// The number of rows that a statement has written, if it counts them itself, and its reads and notices.
type Written = (Option<u64>, ExecResult);

impl Dml<'_> {
    /// Adds the hidden column for dynamic columns to a table whose dynamic columns the statement writes.
    ///
    /// # Errors
    /// [`ErrorCode::Conflict`] if the table did not have the hidden column: the statement runs again, with the new definition.
    pub(super) fn keep_dynamic_columns(&self, target: &TableRef, table: &Table) -> Result<(), Error> {
        let (schema, bare) = target.parts();
        let is_view = optional(self.catalog.resolve(schema, bare))?.is_none();
        let table = if is_view { TableRef::of(&table.def().name, target.span()) } else { target.clone() };
        match adds_dynamic_columns(self.session, &table)? {
            true => Err(Error::new(ErrorCode::Conflict, CHANGED)),
            false => Ok(()),
        }
    }

    /// The limits of a statement that writes the rows of `query` to `table`.
    ///
    /// A store without snapshots of all tables shows a scan the rows that an earlier part of its statement has committed. So a statement commits in
    /// parts only if its query reads `table` at most `scans` times: once if it changes each row that it finds in place, never if it adds rows.
    pub(super) fn limits<'q>(&self, query: impl Into<StatementQuery<'q>>, table: &Table, scans: usize) -> CommitLimits {
        let limits = self.session.writer().limits;
        let shared = self.session.shared();
        if limits.part_rows.is_none() || shared.tables.capabilities().snapshots == SnapshotScope::Store {
            return limits;
        }
        let (engine, mut reads) = (shared.engine_functions(), Vec::new());
        let bound = query_noting_reads(query, &*self.catalog, engine, Params::Given(self.params), &mut reads);
        let own_reads = reads.iter().filter(|read| read.name == table.def().name).count();
        // A query over files is bound only with their columns.
        if bound.is_ok() && own_reads <= scans { limits } else { limits.in_one() }
    }

    /// Runs a write. If another commit comes first, the write runs again.
    pub(crate) fn write(
        &self,
        limits: CommitLimits,
        mut run: impl FnMut(&mut Attempt<'_>) -> Result<Written, Error>,
    ) -> Result<Outcome, Error> {
        let writer = Writer { memory: self.context.memory(), ..self.session.writer() };
        let (rows, ((counted, result), returned)) = writer.transaction(limits, |attempt| {
            // The snapshot may be newer than an index in the catalog.
            if self.session.catalog_version() != self.catalog.version() {
                return Err(Error::new(ErrorCode::Conflict, CHANGED));
            }
            if self.returning.is_some() {
                attempt.keep_rows();
            }
            let written = run(attempt)?;
            let returned = self.returning.as_ref().map(|plan| self.returned(plan, attempt)).transpose()?;
            Ok::<_, Error>((written, returned))
        })?;
        let rows_affected = counted.unwrap_or(rows);
        let Some((columns, batch)) = returned else {
            return Ok(ExecResult { rows_affected, ..result }.into());
        };
        let rows = RowsOutcome::ready(columns, batch);
        let running = Running { rows_affected, ..Running::new(self.context.clone(), Vec::new(), result.notices) };
        Ok(Outcome::Rows(RowsOutcome { read: result.stats, running: Some(Box::new(running)), ..rows }))
    }

    /// A query for the rows that the statement writes.
    pub(crate) fn start_query(
        &self,
        attempt: &Attempt<'_>,
        query: StatementQuery<'_>,
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

    /// As [`Dml::start_query`] for the only query of the statement, with its cached plan if there is one.
    pub(crate) fn start_kept(
        &self,
        attempt: &Attempt<'_>,
        query: StatementQuery<'_>,
        verb: HintVerb,
        now_ms: i64,
    ) -> Result<RowsOutcome, Error> {
        let reading = (attempt.snapshot().clone(), self.context.clone());
        match start_kept(self.session, (query, &self.plans), &*self.catalog, self.params, reading, verb)? {
            Some(rows) => Ok(rows),
            None => self.start_query(attempt, query, verb, now_ms),
        }
    }
}

/// Passes the rows of a query to `take`, batch by batch, with the types of their columns.
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
