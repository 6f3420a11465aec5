//! EXPLAIN.

use std::borrow::Cow;
use std::sync::Arc;

use saltwing_bind::{Params, sequenced_query, through_view};
use saltwing_exec::SelectPlan;
use saltwing_planner::{AccessReport, DirectPlan, explain_json, explain_text};
use saltwing_sql::statement::{
    AlterTable, CommentObject, Explain, ExplainFormat, QueryStatement, RowSource, TableChange,
};
use saltwing_sql::{Statement, TableRef};
use saltwing_types::{ErrorCode, Value};

use crate::Error;
use crate::outcome::Outcome;
use crate::run::{Purpose, QueryRun};
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
    /// The subqueries that run first, by themselves, with their texts.
    pub(crate) subqueries: Vec<(String, Explained)>,
}

impl Explained {
    fn direct_plan(&self) -> Option<&DirectPlan> {
        self.direct.as_ref().map(|select| &select.planned().plan)
    }

    fn text(&self) -> String {
        let accesses = explain_text(self.executor, self.direct_plan(), &self.reports);
        self.plan.iter().fold(accesses, |text, plan| text + plan)
    }
}

impl Session {
    pub(crate) fn run_explain(&self, explain: &Explain, params: &[Value]) -> Result<Vec<TextRow>, Error> {
        let explained = match (&*explain.statement, explain.analyze) {
            (Statement::Query(query), false) => self.explain_query(query, params)?,
            (Statement::Query(query), true) => self.analyze_query(query, params)?,
            (statement, true) => self.analyze_write(statement, params)?,
            (statement, false) => match change_of_catalog(statement) {
                Some(change) => self.explain_definition(statement, change, params)?,
                None => self.explain_write(statement, params)?,
            },
        };
        let lines = match explain.format {
            ExplainFormat::Json => {
                let before = explained.subqueries.iter().flat_map(|(_, subquery)| &subquery.reports);
                vec![explain_json(explained.executor, explained.direct_plan(), before.chain(&explained.reports))]
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

    fn explain_query(&self, statement: &QueryStatement, params: &[Value]) -> Result<Explained, Error> {
        let mut run = without_sequences(self.query_run(statement, Params::Given(params))?)?;
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
        let run = without_sequences(self.query_run(statement, Params::Given(params))?)?;
        let context = self.begin();
        let (run, reads) = self.with_subqueries(run, &context, Purpose::Execute)?;
        let plan = self.plan_query(&run, &context, Purpose::Execute)?;
        self.start_query(&plan, &run, context.clone())?.read_all()?;
        Ok(Explained { subqueries: reads.explained, ..plan.explained(&context, true) })
    }

    /// The rows that an UPSERT SELECT or a DELETE reads.
    fn explain_write(&self, statement: &Statement, params: &[Value]) -> Result<Explained, Error> {
        let given = if params.is_empty() { Params::Open } else { Params::Given(params) };
        match through_view(statement, &*self.catalog(), given)?.as_deref().unwrap_or(statement) {
            Statement::Upsert(upsert) | Statement::Insert(upsert) => match &upsert.source {
                RowSource::Values(_) => Ok(direct(Vec::new())),
                RowSource::Query(query) => self.explain_query(&upsert.source_query(query), params),
            },
            Statement::Delete(delete) => match self.plan_delete(delete, &*self.catalog(), given)? {
                Some(access) => Ok(direct(vec![AccessReport { access, counters: None }])),
                None => self.explain_query(&saltwing_bind::deleted_rows(delete, &*self.catalog())?, params),
            },
            Statement::Update(update) => {
                self.explain_query(&saltwing_bind::update(update, &*self.catalog(), given)?.query, params)
            }
            Statement::Merge(merge) => {
                let steps = saltwing_bind::merge(merge, &*self.catalog(), given)?.steps;
                let explained = steps.iter().map(|step| self.explain_query(step.query(), params));
                Ok(explained
                    .collect::<Result<Vec<_>, _>>()?
                    .into_iter()
                    .reduce(together)
                    .unwrap_or_else(|| direct(Vec::new())))
            }
            _ => Err(Error::new(ErrorCode::NotSupported, "EXPLAIN of this statement is not supported")
                .with_help(Some("EXPLAIN takes SELECT, UPSERT, INSERT, UPDATE, DELETE, MERGE, and definitions"))),
        }
    }

    /// What a definition changes, and the rows that it reads: those of the query behind CREATE TABLE AS.
    fn explain_definition(&self, statement: &Statement, change: String, params: &[Value]) -> Result<Explained, Error> {
        if let Statement::CreateTableAs(create) = statement {
            let explained = self.explain_query(&create.query, params)?;
            let plan = explained.plan.unwrap_or_default() + &change;
            return Ok(Explained { plan: Some(plan), ..explained });
        }
        self.describe_statement(statement, params.len())?;
        Ok(Explained { executor: "catalog", plan: Some(change), ..direct(Vec::new()) })
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

/// The reads of two queries of one statement.
fn together(one: Explained, other: Explained) -> Explained {
    let Explained { executor, direct: _, mut reports, plan, mut subqueries } = one;
    reports.extend(other.reports);
    subqueries.extend(other.subqueries);
    let plan = plan.into_iter().chain(other.plan).reduce(|text, more| text + &more);
    let executor = if executor == other.executor { executor } else { "datafusion" };
    Explained { executor, direct: None, reports, plan, subqueries }
}

/// The query that gives the rows before they take values of sequences. EXPLAIN ANALYZE of a query takes none.
fn without_sequences(run: QueryRun<'_>) -> Result<QueryRun<'_>, Error> {
    match run.statement.has_sequences {
        true => Ok(QueryRun { statement: Cow::Owned(sequenced_query(&run.statement)?.query), ..run }),
        false => Ok(run),
    }
}

/// The lines of a definition: what it does to the catalog, and to rows. `None` of another statement.
fn change_of_catalog(statement: &Statement) -> Option<String> {
    let listed = |names: Vec<String>| names.join(", ");
    let tables = |names: &[TableRef]| listed(names.iter().map(TableRef::to_string).collect());
    let (change, rows) = match statement {
        Statement::CreateTable(create) => (format!("creates table {}", create.table), NONE),
        Statement::CreateTableAs(create) => {
            (format!("creates table {}", create.table.table), "those of the query are written into the table")
        }
        Statement::AlterTable(alter) => change_of_table(alter),
        Statement::Comment(comment) => (format!("changes the comment of {}", commented(&comment.object)), NONE),
        Statement::DropTable(drop) => (format!("drops table {}", tables(&drop.names)), REMOVED),
        Statement::Truncate(names) => (format!("empties table {}", tables(names)), REMOVED),
        Statement::CreateView(create) => (format!("creates view {}", create.name), NONE),
        Statement::DropView(drop) => (format!("drops view {}", tables(&drop.names)), NONE),
        Statement::CreateSequence(create) => (format!("creates sequence {}", create.name), NONE),
        Statement::AlterSequence(alter) => (format!("changes sequence {}", alter.name), NONE),
        Statement::DropSequence(drop) => (format!("drops sequence {}", tables(&drop.names)), NONE),
        Statement::CreateSchema(create) => (format!("creates schema {}", create.name.text), NONE),
        Statement::DropSchema(drop) => {
            (format!("drops schema {}", listed(drop.names.iter().map(|name| name.text.clone()).collect())), NONE)
        }
        _ => return None,
    };
    Some(format!("catalog   {change}\nrows      {rows}\n"))
}

/// What an ALTER TABLE does to the catalog, and to rows.
fn change_of_table(AlterTable { table, change }: &AlterTable) -> (String, &'static str) {
    let listed = |columns: Vec<String>| columns.join(", ");
    let change = match change {
        TableChange::Add { columns, .. } => {
            let names = columns.iter().map(|column| column.name.to_string()).collect();
            let change = format!("adds columns {} to table {table}", listed(names));
            if columns.iter().any(|column| column.primary_key.is_some()) {
                return (
                    change,
                    "all are read if the last key column may have values that only the end of a key holds",
                );
            }
            change
        }
        TableChange::Drop { columns, .. } => {
            let columns = columns.iter().map(ToString::to_string).collect();
            format!("drops columns {} of table {table}", listed(columns))
        }
        TableChange::AddCheck(check) => {
            let change = format!("adds CHECK ({}) to table {table}", check.text);
            return (change, "all are read, until one is found that breaks the constraint");
        }
        TableChange::DropConstraint { name, .. } => format!("drops constraint {} of table {table}", name.text),
        TableChange::Set { .. } => format!("changes options of table {table}"),
        TableChange::Rename { to } => format!("renames table {table} to {}", to.text),
        TableChange::RenameColumn { column, to } => {
            format!("renames column {column} of table {table} to {}", to.text)
        }
    };
    (change, NONE)
}

/// The object of a COMMENT, with its kind.
fn commented(object: &CommentObject) -> String {
    match object {
        CommentObject::Table(name) => format!("table {name}"),
        CommentObject::View(name) => format!("view {name}"),
        CommentObject::Column(names) => {
            let names: Vec<&str> = names.iter().map(|name| name.text.as_str()).collect();
            format!("column {}", names.join("."))
        }
    }
}

/// Rows of definitions that are about the catalog alone.
const NONE: &str = "none are read or written";
/// Rows of tables that go as a whole.
const REMOVED: &str = "all are removed without being read";

/// The reads of a write on the direct path.
fn direct(reports: Vec<AccessReport>) -> Explained {
    Explained { executor: "direct", direct: None, reports, plan: None, subqueries: Vec::new() }
}
