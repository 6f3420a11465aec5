//! UPSERT and INSERT.

use saltwing_bind::{BoundSource, BoundUpsert, ComputedQuery, Params, UpsertTarget, table_path, upsert};
use saltwing_exec::{Attempt, ExecError, RowFailure, Writer};
use saltwing_planner::HintVerb;
use saltwing_sql::statement::{Returning, RowSource, Upsert};
use saltwing_types::{ErrorCode, Span, TableName};

use super::describer::Describer;
use super::dml::Dml;
use super::explaining::Explaining;
use super::row_write::RowWrite;
use super::{Effects, Privilege, Target};
use crate::Error;
use crate::computed::{Computing, EXPRS_AT_ONCE, computing, fill_sequences};
use crate::explained::Explained;
use crate::outcome::{ExecResult, Outcome, RowsOutcome};
use crate::sequences::sequence_values;

pub(super) struct UpsertRows<'a> {
    pub(super) statement: &'a Upsert,
    pub(super) verb: HintVerb,
}

impl UpsertRows<'_> {
    fn is_insert(&self) -> bool {
        self.verb == HintVerb::Insert
    }
}

impl RowWrite for UpsertRows<'_> {
    fn tag(&self) -> &'static str {
        if self.is_insert() { "INSERT" } else { "UPSERT" }
    }

    fn targets(&self) -> Vec<Target<'_>> {
        vec![Target::relation(&self.statement.table, Privilege::Upsert)]
    }

    fn returning(&self) -> Option<&Returning> {
        self.statement.returning.as_ref()
    }

    fn check(&self, describer: &mut Describer<'_>) -> Result<(), Error> {
        let engine = describer.session().shared().engine_functions();
        let bound = upsert(self.statement, self.is_insert(), (&*describer.catalog()?, engine), describer.open())?;
        bound.open.iter().for_each(|e| describer.types.note_expr(e));
        for row in &bound.sequenced {
            describer.draws(&row.uses);
            sequence_values(describer.session(), &row.uses, describer.open())?;
        }
        if !bound.subqueries.is_empty() {
            let exprs: Vec<_> = bound.subqueries.iter().map(|subquery| &*subquery.expr).collect();
            let query =
                ComputedQuery { exprs: &exprs, rows: 1, hints: &self.statement.hints, span: self.statement.span };
            describer.described_query(query, self.verb)?;
        }
        match bound.source {
            BoundSource::Rows(_) => {
                for chunk in bound.computed.chunks(EXPRS_AT_ONCE) {
                    let exprs: Vec<_> = chunk.iter().map(|value| &*value.expr).collect();
                    let Upsert { hints, span, .. } = self.statement;
                    let query = ComputedQuery { exprs: &exprs, rows: 2, hints, span: *span };
                    describer.described_query(query, self.verb)?;
                }
            }
            BoundSource::Query(query) => {
                describer.types.note_targets(&query, &bound.target);
                describer.described_query(&self.statement.source_query(&query), self.verb)?;
            }
        }
        Ok(())
    }

    fn effects(&self, table: &TableName) -> Effects {
        let what = match &self.statement.source {
            RowSource::Values(rows) if rows.len() == 1 => "1 row".to_owned(),
            RowSource::Values(rows) => format!("{} rows", rows.len()),
            RowSource::Query(_) => "the rows of the query".to_owned(),
        };
        Effects::rows("writes", format!("{what} into table {}", table_path(table)))
    }

    fn explain(&self, explaining: &Explaining<'_>) -> Result<Explained, Error> {
        let read = match &self.statement.source {
            RowSource::Values(_) => Explained::direct(Vec::new()),
            RowSource::Query(query) => explaining.query(&self.statement.source_query(query))?,
        };
        let names = (&*explaining.session.catalog()?, explaining.session.shared().engine_functions());
        let target = upsert(self.statement, self.is_insert(), names, explaining.given())?.target;
        let mut effects = self.effects(&target.table.def().name).lines;
        let rows = match target.reads_rows() {
            true => "those with the keys of new ones are read first",
            false => "none are read by their keys",
        };
        effects.push(("rows", rows.to_owned()));
        Ok(Explained { effects, ..read })
    }

    fn run(&self, dml: &Dml<'_>) -> Result<Outcome, Error> {
        let Self { statement, verb } = *self;
        let Dml { session, params, .. } = *dml;
        let names = (&*dml.catalog, session.shared().engine_functions());
        let BoundUpsert { mut target, source, computed, sequenced, subqueries, .. } =
            upsert(statement, self.is_insert(), names, Params::Given(params))?;
        let change = if subqueries.is_empty() { None } else { target.update.clone() };
        if target.writes_dynamic_columns() {
            dml.keep_dynamic_columns(&statement.table, &target.table)?;
        }
        let computing = || computing(session, &statement.hints, params, &dml.context);
        let rows = match source {
            BoundSource::Query(query) => {
                let (query, computing) = (statement.source_query(&query), computing());
                let limits = dml.limits(&query, &target.table, 0);
                return dml.write(limits, |attempt| {
                    computing.fill_change(attempt.snapshot(), &mut target, (&change, &subqueries), statement.span)?;
                    let rows = dml.start_kept(attempt, (&query).into(), verb, computing.now_ms)?;
                    Ok((None, dml.upsert_from(attempt, &target, (rows, query.span), &computing)?))
                });
            }
            BoundSource::Rows(mut rows) => {
                fill_sequences(session, &target, &mut rows, &sequenced, params)?;
                rows
            }
        };
        let is_plain =
            computed.is_empty() && change.is_none() && target.computed_defaults.is_empty() && dml.returning.is_none();
        if is_plain {
            let writer = Writer { memory: dml.context.memory(), ..session.writer() };
            let written = writer.upsert(&target, &rows, None);
            let rows_affected = written.map_err(|failure| of_row(statement, failure))?;
            return Ok(ExecResult { rows_affected, ..ExecResult::default() }.into());
        }
        let computing = computing();
        dml.write(session.writer().limits.in_one(), |attempt| {
            let mut rows = rows.clone();
            computing.fill_change(attempt.snapshot(), &mut target, (&change, &subqueries), statement.span)?;
            computing.fill(attempt.snapshot(), &target, &mut rows, &computed, statement.span)?;
            computing.add_defaults(attempt.snapshot(), &target, &mut rows)?;
            attempt.upsert_rows(&target, &rows, None).map_err(|failure| of_row(statement, failure))?;
            Ok((None, ExecResult::default()))
        })
    }
}

impl Dml<'_> {
    /// Writes the rows of the statement's query, whose position is `span`.
    pub(super) fn upsert_from(
        &self,
        attempt: &mut Attempt<'_>,
        target: &UpsertTarget,
        (rows, span): (RowsOutcome, Span),
        computing: &Computing<'_>,
    ) -> Result<ExecResult, Error> {
        if rows.columns.len() != target.given() {
            let text = format!("the query gives {} columns for {} to be written", rows.columns.len(), target.given());
            let error = Error::new(ErrorCode::Syntax, text).at(Some(span));
            return Err(error.with_phoenix(Some(1020)));
        }
        let (types, snapshot) = (rows.types(), attempt.snapshot().clone());
        let defaults = |rows| computing.defaults(&snapshot, target, rows);
        let ((), result) = rows.drain(|batches| attempt.upsert_batches(target, &types, batches, defaults))?;
        Ok(result)
    }
}

/// The error of a row, with the row's position in the statement if its key exists.
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
