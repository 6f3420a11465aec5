//! EXPLAIN.

use saltwing_bind::{ParamValues, Params, ResultColumn};
use saltwing_planner::explain_json;
use saltwing_sql::Statement;
use saltwing_sql::statement::{Explain, ExplainFormat, QueryStatement};
use saltwing_types::ErrorCode;

use super::describer::Describer;
use super::describing::{describe_statement, described};
use super::explaining::Explaining;
use super::{Effects, HasKind, InTransaction, Run, StatementKind, Target};
use crate::Error;
use crate::advise::{self, advice};
use crate::description::Description;
use crate::explained::Explained;
use crate::outcome::Outcome;
use crate::query_run::{Purpose, query_run};
use crate::session::Session;
use crate::text_rows::{TextRow, text_columns, text_rows};

impl StatementKind for Explain {
    fn tag(&self) -> &'static str {
        "EXPLAIN"
    }

    fn targets(&self) -> Vec<Target<'_>> {
        // `for_each_target` visits the targets of the explained statement.
        Vec::new()
    }

    fn in_transaction(&self) -> InTransaction {
        match self.analyze {
            true => self.statement.ask(|kind| kind.in_transaction()),
            false => InTransaction::Allowed,
        }
    }

    fn columns(&self) -> Option<Vec<ResultColumn>> {
        Some(text_columns(if self.format == ExplainFormat::Advice { &advise::COLUMNS } else { &["plan"] }))
    }

    fn describe(&self, describer: &mut Describer<'_>) -> Result<Description, Error> {
        describer.purpose = if self.analyze { Purpose::Judge } else { Purpose::Explain };
        described(describer, &self.statement)?;
        Ok(Description::default())
    }

    fn effects(&self) -> Effects {
        Effects::none()
    }

    fn run(&self, run: &Run<'_>) -> Result<Outcome, Error> {
        let rows = explained_rows(run, self)?;
        text_rows(self.columns().unwrap_or_default(), &rows).map(Outcome::Rows)
    }
}

/// The rows of an EXPLAIN.
///
/// # Errors
/// Errors of the explained statement, without refusals unless it runs.
fn explained_rows(run: &Run<'_>, explain: &Explain) -> Result<Vec<TextRow>, Error> {
    let Run { session, params, .. } = *run;
    let explained = match (&*explain.statement, explain.analyze) {
        (Statement::Query(query), true) => analyze_query(session, query, params)?,
        (statement, true) => analyze_write(run, statement)?,
        (statement, false) => explained(run, statement)?,
    };
    let lines = match explain.format {
        ExplainFormat::Advice => {
            let before = explained.subqueries.iter().flat_map(|(_, subquery)| &subquery.reports);
            let advice = before.chain(&explained.reports).map(|report| advice(session, &report.access));
            return Ok(advice.collect::<Result<Vec<_>, _>>()?.concat());
        }
        ExplainFormat::Json => {
            let before = explained.subqueries.iter().flat_map(|(_, subquery)| &subquery.reports);
            let reports = before.chain(&explained.reports);
            vec![explain_json(explained.executor, explained.direct_plan(), reports, &explained.effects)]
        }
        ExplainFormat::Text => {
            let mut text = String::new();
            for (number, (query, subquery)) in explained.subqueries.iter().enumerate() {
                text.push_str(&format!("subquery {}, which runs first: {query}\n{}", number + 1, subquery.text()));
            }
            text.push_str(&explained.text());
            text.lines().map(str::to_owned).collect()
        }
    };
    Ok(lines.into_iter().map(|line| vec![Some(line)]).collect())
}

/// Runs a query whose rows take no values of sequences.
fn analyze_query(session: &Session, statement: &QueryStatement, params: ParamValues<'_>) -> Result<Explained, Error> {
    let context = session.begin();
    let run = query_run(session, statement, Params::Given(params), &context)?;
    let (root, reads) = run.with_subqueries(&context, Purpose::Execute)?;
    let plan = run.plan_query(&root.query, &context, Purpose::Execute)?;
    run.start_root(&plan, root, context.clone())?.read_all()?;
    Ok(Explained { subqueries: reads.explained, ..plan.explained(&context, true) })
}

/// Explains a statement without running it.
fn explained(run: &Run<'_>, statement: &Statement) -> Result<Explained, Error> {
    let Run { session, params, .. } = *run;
    let explaining = Explaining { session, params };
    let context = session.begin();
    let _statement = context.enter();
    if let Some(explained) = statement.ask(|kind| kind.explain(&explaining))? {
        return Ok(explained);
    }
    describe_statement(session, statement, (params.len(), params.types), Purpose::Judge)?;
    let Effects { executor, lines } = statement.ask(|kind| kind.effects());
    Ok(Explained { executor, effects: lines, ..Explained::direct(Vec::new()) })
}

fn analyze_write(run: &Run<'_>, statement: &Statement) -> Result<Explained, Error> {
    let session = run.session;
    if !statement.ask(|kind| kind.is_analyzed()) {
        return Err(Error::new(ErrorCode::NotSupported, "EXPLAIN ANALYZE of this statement is not supported")
            .with_help(Some("EXPLAIN ANALYZE takes SELECT, UPSERT, INSERT, UPDATE, DELETE and MERGE")));
    }
    let mut explained = explained(run, statement)?;
    if let Outcome::Rows(rows) = statement.ask(|kind| kind.run(&Run { statement, ..*run }))? {
        rows.read_all()?;
    }
    if let ([report], Some(context)) = (explained.reports.as_mut_slice(), session.last_context()) {
        report.counters = Some(context.counters);
    }
    Ok(explained)
}
