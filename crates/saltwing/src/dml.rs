//! UPSERT, INSERT, DELETE, UPDATE and MERGE.

use std::sync::Arc;

use arrow::array::RecordBatch;
use saltwing_access::{ScanContext, Table};
use saltwing_bind::{
    BoundMerge, BoundQuery, BoundSource, BoundUpdate, BoundUpsert, MergeStep, Params, RowRules, UpsertTarget, delete,
    deleted_rows, merge, resolve, returning, through_view, update, upsert, with_dynamic_columns,
};
use saltwing_catalog::CatalogReader;
use saltwing_exec::{Attempt, CommitLimits, ExecError, Repeats, Returning, RowFailure, TargetRows};
use saltwing_planner::{AccessRequest, DirectQuery, Guard, HintVerb, TableAccess, has_parameter, plan, plan_select};
use saltwing_sql::statement::{Delete, Merge, QueryStatement, RowSource, Update, Upsert};
use saltwing_sql::{Statement, TableRef};
use saltwing_types::{ErrorCode, SqlType, Value};

use crate::Error;
use crate::computed::{Computing, computing};
use crate::kept::Kept;
use crate::kept_select::KeptSelect;
use crate::kept_write::{KeptUpdate, KeptWrite};
use crate::outcome::{ExecResult, Outcome, RowsOutcome, Running, Stats};
use crate::run::{query_run_on, start_kept, writable};
use crate::sequences::fill_sequences;
use crate::session::Session;
use crate::settings::ExecutorChoice;
use crate::temporary::change_definition;

/// A statement that writes rows.
struct Dml<'a> {
    session: &'a Session,
    catalog: Arc<dyn CatalogReader>,
    params: &'a [Value],
    context: ScanContext,
    returning: Option<Arc<Returning>>,
    /// The place for what is kept of it.
    kept: Option<&'a KeptWrite>,
}

/// Runs a statement that writes rows, and again, from name resolution on, if a table's definition changed meanwhile. `kept`
/// is the place for what is kept of it if it may run again.
pub(crate) fn run_dml(
    session: &Session,
    statement: &Statement,
    params: &[Value],
    kept: Option<&KeptWrite>,
) -> Result<Outcome, Error> {
    writable(session)?;
    loop {
        let catalog = session.catalog();
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
        match (Dml { session: session, catalog, params, context: context.clone(), returning, kept }).run(statement) {
            Err(error)
                if error.code() == ErrorCode::Conflict
                    && error.rows_committed() == 0
                    && session.catalog().version() != version => {}
            other => return other,
        }
    }
}

/// Gives a table whose dynamic columns are written the hidden column for them, if it has none yet; whether it did.
pub(crate) fn adds_dynamic_columns(session: &Session, name: &TableRef) -> Result<bool, Error> {
    let span = name.span();
    let table = resolve(&*session.catalog(), name)?;
    if with_dynamic_columns(table.def(), span)?.is_none() {
        return Ok(false);
    }
    // An appender is made between the statements of a transaction.
    if session.is_within_transaction() || session.transaction.current().is_some() {
        let text = format!("the first dynamic column of table {name} cannot be written in a transaction");
        let help = "write one before BEGIN: the table gets a hidden column for them";
        return Err(Error::new(ErrorCode::ActiveTransaction, text).with_help(Some(help)).at(Some(span)));
    }
    change_definition(session, name, |table: &Arc<Table>| Ok(with_dynamic_columns(table.def(), span)?))?;
    Ok(true)
}

/// How a DELETE finds its rows; `None` if a query must say which.
pub(crate) fn plan_delete(
    session: &Session,
    statement: &Delete,
    catalog: &dyn CatalogReader,
    params: Params<'_>,
) -> Result<Option<TableAccess>, Error> {
    let bound = delete(statement, catalog, params)?;
    let Some(conditions) = bound.conditions else { return Ok(None) };
    let access = plan(AccessRequest {
        alias: statement.alias.as_ref().map(|a| a.text.clone()),
        span: Some(statement.table.span()),
        hints: &statement.hints,
        ..AccessRequest::of(&bound.table, conditions)
    })?;
    let guard = Guard { verb: HintVerb::Delete, ..session.guard(&statement.hints) };
    Ok(Some(access.with_overrides(&guard)))
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
    params: &[Value],
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
        && let Ok(open) = returning(statement, catalog, Params::Open)
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
    fn write(
        &self,
        limits: CommitLimits,
        mut run: impl FnMut(&mut Attempt<'_>) -> Result<Written, Error>,
    ) -> Result<Outcome, Error> {
        let (rows, ((counted, result), returned)) = self.session.writer().transaction(limits, |attempt| {
            // The rows that it reads may be newer than an index that the catalog names.
            if self.session.catalog().version() != self.catalog.version() {
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
    fn start_query(
        &self,
        attempt: &Attempt<'_>,
        query: &QueryStatement,
        verb: HintVerb,
        now_ms: i64,
    ) -> Result<RowsOutcome, Error> {
        let params = Params::Given(self.params);
        let mut run = query_run_on(&self.session, attempt.snapshot().clone(), query, params, &self.context)?;
        run.guard.verb = verb;
        run.now_ms = Some(now_ms);
        // The requested executor applies only to queries.
        if run.executor == ExecutorChoice::Direct {
            run.executor = ExecutorChoice::Auto;
        }
        run.start_run(self.context.clone())
    }

    /// As [`Dml::start_query`], by the plan that is kept for the query if there is one.
    fn start_kept(
        &self,
        attempt: &Attempt<'_>,
        (query, kept): (&QueryStatement, Option<&KeptSelect>),
        verb: HintVerb,
        now_ms: i64,
    ) -> Result<RowsOutcome, Error> {
        if let Some(kept) = kept {
            let reading = (attempt.snapshot().clone(), self.context.clone());
            let started = start_kept(&self.session, (query, kept), &*self.catalog, self.params, reading, verb)?;
            if let Some(rows) = started {
                return Ok(rows);
            }
        }
        self.start_query(attempt, query, verb, now_ms)
    }

    fn upsert(&self, statement: &Upsert, verb: HintVerb) -> Result<Outcome, Error> {
        let (session, params) = (self.session, self.params);
        let is_insert = verb == HintVerb::Insert;
        let BoundUpsert { target, source, computed, sequenced, .. } =
            upsert(statement, is_insert, &*self.catalog, Params::Given(params))?;
        let computing = || computing(session, &statement.hints, params, &self.context);
        let rows = match source {
            BoundSource::Query(query) => {
                let (query, computing) = (statement.source_query(&query), computing());
                return self.write(session.writer().limits, |attempt| {
                    let query = (&query, self.kept.map(|kept| &kept.source));
                    self.upsert_query(attempt, &target, query, verb, &computing).map(|result| (None, result))
                });
            }
            BoundSource::Rows(mut rows) => {
                fill_sequences(session, &target, &mut rows, &sequenced, params)?;
                rows
            }
        };
        let is_plain = computed.is_empty() && target.computed_defaults.is_empty() && self.returning.is_none();
        if is_plain {
            let written = session.writer().upsert(&target, &rows, None);
            let rows_affected = written.map_err(|failure| of_row(statement, failure))?;
            return Ok(ExecResult { rows_affected, ..ExecResult::default() }.into());
        }
        let computing = computing();
        self.write(session.writer().limits.in_one(), |attempt| {
            let mut rows = rows.clone();
            computing.fill(attempt.snapshot(), &target, &mut rows, &computed, statement.span)?;
            computing.add_defaults(attempt.snapshot(), &target, &mut rows)?;
            attempt.upsert_rows(&target, &rows, None).map_err(|failure| of_row(statement, failure))?;
            Ok((None, ExecResult::default()))
        })
    }

    /// Writes the rows of a query.
    fn upsert_query(
        &self,
        attempt: &mut Attempt<'_>,
        target: &UpsertTarget,
        query: (&QueryStatement, Option<&KeptSelect>),
        verb: HintVerb,
        computing: &Computing<'_>,
    ) -> Result<ExecResult, Error> {
        let rows = self.start_kept(attempt, query, verb, computing.now_ms)?;
        if rows.columns.len() != target.columns.len() {
            let text =
                format!("the query gives {} columns for {} to be written", rows.columns.len(), target.columns.len());
            let error = Error::new(ErrorCode::Syntax, text).at(Some(query.0.span));
            return Err(error.with_phoenix(Some(1020)));
        }
        let (types, snapshot) = (rows.types(), attempt.snapshot().clone());
        let defaults = |rows| computing.defaults(&snapshot, target, rows);
        let ((), result) = rows.drain(|batches| attempt.upsert_batches(target, &types, batches, defaults))?;
        Ok(result)
    }

    fn delete(&self, statement: &Delete) -> Result<Outcome, Error> {
        let (session, now_ms) = (self.session, self.session.now_ms());
        let limits = session.writer().limits;
        let Some(access) = plan_delete(session, statement, &*self.catalog, Params::Given(self.params))? else {
            let table = resolve(&*self.catalog, &statement.table)?;
            let query = deleted_rows(statement, &*self.catalog)?;
            let repeats = if statement.using.is_empty() { Repeats::None } else { Repeats::Alike };
            return self.write(limits, |attempt| {
                let rows = self.start_query(attempt, &query, HintVerb::Delete, now_ms)?;
                let mut targets = TargetRows::new(attempt, &table, repeats);
                let result = each_batch(rows, |types, batch| targets.delete(types, batch))?;
                Ok((Some(targets.end()?), result))
            });
        };
        let notices: Vec<String> = access.judge()?.into_iter().collect();
        self.write(limits, |attempt| {
            let mut targets = TargetRows::new(attempt, access.table(), Repeats::None);
            targets.delete_found(&access, &self.context)?;
            let rows = targets.end()?;
            let mut result = ExecResult { notices: notices.clone(), ..ExecResult::default() };
            result.notices.extend(session.warnings().notices(&self.context));
            result.stats = Stats::of(&self.context.counters);
            Ok((Some(rows), result))
        })
    }

    /// An UPDATE: a query gives the rows as they will be.
    fn update(&self, statement: &Update) -> Result<Outcome, Error> {
        let known = self.known_update(statement)?;
        let KeptUpdate { bound, select } = &*known;
        let BoundUpdate { table, query, changed, moves_rows, is_joined, .. } = bound;
        let (limits, now_ms) = (self.session.writer().limits, self.session.now_ms());
        // Whether a key is free is known when all rows are.
        let limits = if *moves_rows { limits.in_one() } else { limits };
        let repeats = if *is_joined { Repeats::Alike } else { Repeats::None };
        let query = (query, self.kept.map(|_| select));
        self.write(limits, |attempt| {
            let rows = self.start_kept(attempt, query, HintVerb::Update, now_ms)?;
            let mut targets = TargetRows::new(attempt, table, repeats).obeying(RowRules::of(table)?);
            let result = each_batch(rows, |types, batch| targets.update(changed, types, batch))?;
            Ok((Some(targets.end()?), result))
        })
    }

    /// The UPDATE, bound now or before.
    fn known_update(&self, statement: &Update) -> Result<Arc<KeptUpdate>, Error> {
        let (kept, version) = (self.kept.map(|kept| &kept.update), self.catalog.version());
        if let Some(known) = kept.and_then(|kept| kept.of(version)) {
            return Ok(known);
        }
        let bound = update(statement, &*self.catalog, Params::Given(self.params))?;
        let made = Arc::new(KeptUpdate { bound, select: KeptSelect::default() });
        kept.iter().for_each(|kept| kept.put(version, made.clone()));
        Ok(made)
    }

    /// A MERGE: each clause has a query of its own, over the rows as they are before the statement.
    fn merge(&self, statement: &Merge) -> Result<Outcome, Error> {
        let BoundMerge { table, steps, .. } = merge(statement, &*self.catalog, Params::Given(self.params))?;
        let computing = computing(&self.session, &statement.hints, self.params, &self.context);
        let start = |attempt: &Attempt<'_>, query| self.start_query(attempt, query, HintVerb::Merge, computing.now_ms);
        self.write(self.session.writer().limits.in_one(), |attempt| {
            let mut all = ExecResult::default();
            let mut targets = TargetRows::new(attempt, &table, Repeats::Refused).obeying(RowRules::of(&table)?);
            for step in &steps {
                let attempt = targets.attempt();
                let result = match step {
                    MergeStep::Update(query, changed) => {
                        let rows = start(attempt, query)?;
                        each_batch(rows, |types, batch| targets.update(changed, types, batch))?
                    }
                    MergeStep::Delete(query) => {
                        let rows = start(attempt, query)?;
                        each_batch(rows, |types, batch| targets.delete(types, batch))?
                    }
                    MergeStep::Insert(target, query) => {
                        let before = attempt.changes();
                        let result = self.upsert_query(attempt, target, (query, None), HintVerb::Merge, &computing)?;
                        all.rows_affected += attempt.changes() - before;
                        result
                    }
                };
                all.notices.extend(result.notices);
                all.stats += result.stats;
            }
            Ok((Some(all.rows_affected + targets.end()?), all))
        })
    }
}

/// Hands the rows of a query to `take`, batch by batch, with the types of their columns.
fn each_batch(
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

/// The error of a row, with the place of the row if its key is there already.
fn of_row(statement: &Upsert, failure: RowFailure) -> Error {
    let RowFailure { error, row } = failure;
    let span = match (&error, &statement.source) {
        (ExecError::DuplicateKey { .. }, RowSource::Values(rows)) => {
            row.and_then(|row| rows.get(row)).map(|row| row.span)
        }
        _ => None,
    };
    Error::from(error).at(span)
}
