//! EXPLAIN.

use std::borrow::Cow;
use std::sync::Arc;

use saltwing_bind::{Params, sequenced_query, through_view};
use saltwing_exec::SelectPlan;
use saltwing_planner::{AccessReport, DirectPlan, explain_json, explain_text};
use saltwing_sql::Statement;
use saltwing_sql::statement::{Explain, ExplainFormat, QueryStatement, RowSource};
use saltwing_types::{ErrorCode, Value};

use crate::Error;
use crate::advise::advice;
use crate::copy::copied_query;
use crate::describe::describe_statement;
use crate::dml::plan_delete;
use crate::explain_effect::{Effect, effects_of_write, keys_read, whole_effect};
use crate::outcome::Outcome;
use crate::run::{Purpose, QueryRun, query_run, run_statement};
use crate::session::Session;
use crate::text_rows::TextRow;

/// Accesses, and what else the executor has to tell.
pub(crate) struct Explained {
    pub(crate) executor: &'static str,
    /// The plan of a SELECT on the direct path.
    pub(crate) direct: Option<Arc<SelectPlan>>,
    pub(crate) reports: Vec<AccessReport>,
    /// The relational plan, as text.
    pub(crate) plan: Option<String>,
    /// What the statement does beside reading.
    pub(crate) effects: Vec<Effect>,
    /// The subqueries that run first, by themselves, with their texts.
    pub(crate) subqueries: Vec<(String, Explained)>,
}

impl Explained {
    fn direct_plan(&self) -> Option<&DirectPlan> {
        self.direct.as_ref().map(|select| &select.planned().plan)
    }

    fn text(&self) -> String {
        let accesses = explain_text(self.executor, self.direct_plan(), &self.reports);
        let text = self.plan.iter().fold(accesses, |text, plan| text + plan);
        self.effects.iter().fold(text, |text, (name, effect)| text + &format!("{name:<10}{effect}\n"))
    }
}

pub(crate) fn run_explain(session: &Session, explain: &Explain, params: &[Value]) -> Result<Vec<TextRow>, Error> {
    let explained = match (&*explain.statement, explain.analyze) {
        (Statement::Query(query), false) => explain_query(session, query, params)?,
        (Statement::Query(query), true) => analyze_query(session, query, params)?,
        (statement, true) => analyze_write(session, statement, params)?,
        (statement, false) => match whole_effect(statement) {
            Some(effect) => explain_effect(session, statement, effect, params)?,
            None => explain_write(session, statement, params)?,
        },
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

fn explain_query(session: &Session, statement: &QueryStatement, params: &[Value]) -> Result<Explained, Error> {
    let context = session.begin();
    let mut run = without_sequences(query_run(session, statement, Params::Given(params), &context)?)?;
    // Without values a statement with parameters is explained as far as it is known.
    if params.is_empty() {
        run.params = Params::Open;
    }
    let (root, reads) = run.with_subqueries(&context, Purpose::Explain)?;
    let plan = run.plan_query(&root.query, &context, Purpose::Explain)?;
    Ok(Explained { subqueries: reads.explained, ..plan.explained(&context, false) })
}

fn analyze_query(session: &Session, statement: &QueryStatement, params: &[Value]) -> Result<Explained, Error> {
    let context = session.begin();
    let run = without_sequences(query_run(session, statement, Params::Given(params), &context)?)?;
    let (root, reads) = run.with_subqueries(&context, Purpose::Execute)?;
    let plan = run.plan_query(&root.query, &context, Purpose::Execute)?;
    run.start_root(&plan, root, context.clone())?.read_all()?;
    Ok(Explained { subqueries: reads.explained, ..plan.explained(&context, true) })
}

/// The rows that a statement reads which writes rows, or a file, and what it writes.
fn explain_write(session: &Session, statement: &Statement, params: &[Value]) -> Result<Explained, Error> {
    let given = if params.is_empty() { Params::Open } else { Params::Given(params) };
    let context = session.begin();
    let _statement = context.enter();
    let through = through_view(statement, &*session.catalog(), given)?;
    let statement = through.as_deref().unwrap_or(statement);
    let read = match statement {
        Statement::Upsert(upsert) | Statement::Insert(upsert) => match &upsert.source {
            RowSource::Values(_) => direct(Vec::new()),
            RowSource::Query(query) => explain_query(session, &upsert.source_query(query), params)?,
        },
        Statement::Delete(delete) => match plan_delete(session, delete, &*session.catalog(), given)? {
            Some(access) => direct(vec![AccessReport { access, counters: None }]),
            None => explain_query(session, &saltwing_bind::deleted_rows(delete, &*session.catalog())?, params)?,
        },
        Statement::Update(update) => {
            explain_query(session, &saltwing_bind::update(update, &*session.catalog(), given)?.query, params)?
        }
        Statement::Merge(merge) => {
            let steps = saltwing_bind::merge(merge, &*session.catalog(), given)?.steps;
            let explained = steps.iter().map(|step| explain_query(session, step.query(), params));
            let explained = explained.collect::<Result<Vec<_>, _>>()?;
            explained.into_iter().reduce(together).unwrap_or_else(|| direct(Vec::new()))
        }
        Statement::CopyTo(copy) => {
            let query = copied_query(session, copy)?;
            explain_query(session, &query, params)?
        }
        _ => {
            return Err(Error::new(ErrorCode::NotSupported, "EXPLAIN ANALYZE of this statement is not supported")
                .with_help(Some("EXPLAIN ANALYZE takes SELECT, UPSERT, INSERT, UPDATE, DELETE and MERGE")));
        }
    };
    let mut effects = effects_of_write(statement);
    if let Statement::Upsert(upsert) | Statement::Insert(upsert) = statement {
        let is_insert = matches!(statement, Statement::Insert(_));
        let target = saltwing_bind::upsert(upsert, is_insert, &*session.catalog(), given)?.target;
        effects.push(keys_read(target.reads_rows()));
    }
    Ok(Explained { effects, ..read })
}

/// What a statement does that reads no rows by keys; of CREATE TABLE AS also the rows that its query reads.
fn explain_effect(
    session: &Session,
    statement: &Statement,
    (executor, effects): (&'static str, Vec<Effect>),
    params: &[Value],
) -> Result<Explained, Error> {
    if let Statement::CreateTableAs(create) = statement {
        return Ok(Explained { effects, ..explain_query(session, &create.query, params)? });
    }
    describe_statement(session, statement, params.len())?;
    Ok(Explained { executor, effects, ..direct(Vec::new()) })
}

fn analyze_write(session: &Session, statement: &Statement, params: &[Value]) -> Result<Explained, Error> {
    let mut explained = explain_write(session, statement, params)?;
    if let Outcome::Rows(rows) = run_statement(session, statement, params)? {
        rows.read_all()?;
    }
    if let ([report], Some(context)) = (explained.reports.as_mut_slice(), session.last_context()) {
        report.counters = Some(context.counters);
    }
    Ok(explained)
}

/// The reads of two queries of one statement.
fn together(one: Explained, other: Explained) -> Explained {
    let Explained { executor, direct: _, mut reports, plan, effects, mut subqueries } = one;
    reports.extend(other.reports);
    subqueries.extend(other.subqueries);
    let plan = plan.into_iter().chain(other.plan).reduce(|text, more| text + &more);
    let executor = if executor == other.executor { executor } else { "datafusion" };
    Explained { executor, direct: None, reports, plan, effects, subqueries }
}

/// The query that gives the rows before they take values of sequences. EXPLAIN ANALYZE of a query takes none.
fn without_sequences(run: QueryRun<'_>) -> Result<QueryRun<'_>, Error> {
    match run.statement.has_sequences {
        true => Ok(QueryRun { statement: Cow::Owned(sequenced_query(&run.statement)?.query), ..run }),
        false => Ok(run),
    }
}

/// The reads of a write on the direct path.
fn direct(reports: Vec<AccessReport>) -> Explained {
    Explained { executor: "direct", direct: None, reports, plan: None, effects: Vec::new(), subqueries: Vec::new() }
}
