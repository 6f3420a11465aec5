//! EXPLAIN.

use std::sync::Arc;

use arrow::array::{RecordBatch, StringArray};
use saltwing_bind::Params;
use saltwing_bind::ResultColumn;
use saltwing_exec::select::result_schema;
use saltwing_planner::{AccessReport, explain_json, explain_text};
use saltwing_sql::Statement;
use saltwing_sql::statement::{Explain, ExplainFormat, QueryStatement, RowSource};
use saltwing_types::{ErrorCode, SqlType, Value};

use crate::Error;
use crate::outcome::{Outcome, RowsOutcome};
use crate::run::Purpose;
use crate::session::Session;

/// Accesses, and what else the executor has to tell.
pub(crate) struct Explained {
    pub(crate) executor: &'static str,
    /// The plan of a SELECT on the direct path, by the name of its kind.
    pub(crate) direct_plan: Option<&'static str>,
    pub(crate) reports: Vec<AccessReport>,
    /// The relational plan, as text.
    pub(crate) plan: Option<String>,
    /// The subqueries that run first, by themselves, with their texts.
    pub(crate) subqueries: Vec<(String, Explained)>,
}

impl Explained {
    fn text(&self) -> String {
        let accesses = explain_text(self.executor, self.direct_plan, &self.reports);
        self.plan.iter().fold(accesses, |text, plan| text + plan)
    }
}

/// The one column of EXPLAIN.
pub(crate) const PLAN_COLUMN: &str = "plan";

impl Session {
    pub(crate) fn run_explain(&self, explain: &Explain, params: &[Value]) -> Result<RowsOutcome, Error> {
        let explained = match (&*explain.statement, explain.analyze) {
            (Statement::Query(query), false) => self.explain_query(query, params)?,
            (Statement::Query(query), true) => self.analyze_query(query, params)?,
            (statement, true) => self.analyze_write(statement, params)?,
            (statement, false) => self.explain_write(statement, params)?,
        };
        let lines = match explain.format {
            ExplainFormat::Json => {
                let before = explained.subqueries.iter().flat_map(|(_, subquery)| &subquery.reports);
                vec![explain_json(explained.executor, explained.direct_plan, before.chain(&explained.reports))]
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
        text_rows(PLAN_COLUMN, lines)
    }

    fn explain_query(&self, statement: &QueryStatement, params: &[Value]) -> Result<Explained, Error> {
        let mut run = self.query_run(statement, Params::Given(params))?;
        // Without values a statement with parameters is explained as far as it is known.
        if params.is_empty() {
            run.params = Params::Open;
        }
        let context = self.begin();
        let (run, reads) = self.with_subqueries(run, &context, Purpose::Explain)?;
        let plan = self.plan_query(&run, &context, Purpose::Explain)?;
        Ok(Explained { subqueries: reads.explained, ..plan.explained(&context, false) })
    }

    fn analyze_query(&self, statement: &QueryStatement, params: &[Value]) -> Result<Explained, Error> {
        let run = self.query_run(statement, Params::Given(params))?;
        let context = self.begin();
        let (run, reads) = self.with_subqueries(run, &context, Purpose::Execute)?;
        let plan = self.plan_query(&run, &context, Purpose::Execute)?;
        self.start_query(&plan, &run, context.clone())?.read_all()?;
        Ok(Explained { subqueries: reads.explained, ..plan.explained(&context, true) })
    }

    /// The rows that an UPSERT SELECT or a DELETE reads.
    fn explain_write(&self, statement: &Statement, params: &[Value]) -> Result<Explained, Error> {
        match statement {
            Statement::Upsert(upsert) | Statement::Insert(upsert) => match &upsert.source {
                RowSource::Values(_) => Ok(direct(Vec::new())),
                RowSource::Query(query) => self.explain_query(&upsert.source_query(query), params),
            },
            Statement::Delete(delete) => {
                let given = if params.is_empty() { Params::Open } else { Params::Given(params) };
                match self.plan_delete(delete, &*self.catalog(), given)? {
                    Some(access) => Ok(direct(vec![AccessReport { access, counters: None }])),
                    None => self.explain_query(&saltwing_bind::row_key_query(delete)?, params),
                }
            }
            Statement::Update(update) => {
                self.explain_query(&saltwing_bind::update(update, &*self.catalog())?.query, params)
            }
            _ => Err(Error::new(ErrorCode::NotSupported, "EXPLAIN of this statement is not supported")
                .with_help(Some("EXPLAIN takes SELECT, UPSERT, INSERT, UPDATE and DELETE"))),
        }
    }

    fn analyze_write(&self, statement: &Statement, params: &[Value]) -> Result<Explained, Error> {
        let mut explained = self.explain_write(statement, params)?;
        if let Outcome::Rows(rows) = self.run_statement(statement, params)? {
            rows.read_all()?;
        }
        if let ([report], Some(context)) = (explained.reports.as_mut_slice(), self.last_context()) {
            report.counters = Some(context.counters);
        }
        Ok(explained)
    }
}

/// The reads of a write on the direct path.
fn direct(reports: Vec<AccessReport>) -> Explained {
    Explained { executor: "direct", direct_plan: None, reports, plan: None, subqueries: Vec::new() }
}

/// A result of one text column.
pub(crate) fn text_rows(label: &str, lines: Vec<String>) -> Result<RowsOutcome, Error> {
    table_rows(&[label], lines.into_iter().map(|line| vec![Some(line)]).collect())
}

/// Text columns of a result.
pub(crate) fn text_columns(labels: &[&str]) -> Vec<ResultColumn> {
    let column = |label: &&str| ResultColumn { label: (*label).into(), ty: SqlType::Varchar(None), nullable: true };
    labels.iter().map(column).collect()
}

/// A result of text columns.
pub(crate) fn table_rows(labels: &[&str], rows: Vec<Vec<Option<String>>>) -> Result<RowsOutcome, Error> {
    let columns = text_columns(labels);
    let column = |i: usize| -> arrow::array::ArrayRef {
        Arc::new(rows.iter().map(|row| row.get(i).and_then(Option::as_deref)).collect::<StringArray>())
    };
    let arrays = (0..labels.len()).map(column).collect();
    let batch = RecordBatch::try_new(result_schema(&columns), arrays).map_err(saltwing_access::TableError::from)?;
    Ok(RowsOutcome::ready(columns, batch))
}
