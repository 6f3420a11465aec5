//! The work of PREPARE: the parameters, columns and errors of a statement.

use std::sync::Arc;

use saltwing_bind::{
    BoundSource, ParameterTypes, Params, ResultColumn, RootQuery, alter_table, altered_view, commented, computed_query,
    create_index, create_table, create_table_as, create_view, deleted_rows, merge, query, resolve, returning,
    sequenced_query, through_view, update, upsert,
};
use saltwing_planner::HintVerb;
use saltwing_sql::Statement;
use saltwing_sql::statement::{After, AfterToken, CopySource, Delete, QueryStatement, Upsert};
use saltwing_types::{ErrorCode, SqlType};

use crate::Error;
use crate::computed::{EXPRS_AT_ONCE, check_defaults};
use crate::description::Description;
use crate::dml::{plan_delete, planned_returning};
use crate::page::{check_page, page_plan};
use crate::run::{Purpose, query_run, unsupported};
use crate::sequences::{result_columns, sequence_values};
use crate::session::Session;
use crate::settings::Setting;
use crate::show::columns_shown;
use crate::subqueries::QueryPlan;

/// The columns of a query with so many parameters.
///
/// # Errors
/// Those of the query; if it is only explained, no refusal; 0A000 if its columns depend on the values of the parameters.
pub(crate) fn columns_of(
    session: &Session,
    query: &QueryStatement,
    parameters: usize,
    purpose: Purpose,
) -> Result<Arc<[ResultColumn]>, Error> {
    let types = ParameterTypes::default();
    let mut describer = Describer { session: session, purpose, has_parameters: parameters > 0, types };
    let description = describer.described_query(query, HintVerb::Select)?;
    let unknown = || {
        let error =
            Error::new(ErrorCode::NotSupported, "the columns of the query are not known without its parameters");
        error.at(Some(query.span)).with_help(Some("give each parameter a type: CAST(? AS INTEGER)"))
    };
    description.columns.ok_or_else(unknown)
}

/// Describes a statement of so many parameters.
///
/// # Errors
/// Its errors regardless of values: names, types, definitions, the guard's refusal.
pub(crate) fn describe_statement(
    session: &Session,
    statement: &Statement,
    parameters: usize,
) -> Result<Description, Error> {
    let types = ParameterTypes::default();
    let mut describer = Describer { session: session, purpose: Purpose::Judge, has_parameters: parameters > 0, types };
    let through = through_view(statement, &*session.catalog(), Params::Open)?;
    let description = describer.described(through.as_deref().unwrap_or(statement))?;
    Ok(Description { parameters: describer.types.into_types(parameters), ..description })
}

/// Describes a statement part by part.
struct Describer<'s> {
    session: &'s Session,
    /// Nothing is refused that is only explained.
    purpose: Purpose,
    has_parameters: bool,
    /// The types that the parts described so far tell.
    types: ParameterTypes,
}

impl Describer<'_> {
    fn described(&mut self, statement: &Statement) -> Result<Description, Error> {
        let session = self.session;
        let catalog = session.catalog();
        match statement {
            Statement::Query(query) => return self.described_query(query, HintVerb::Select),
            Statement::Upsert(upserted) => self.check_upsert(upserted, HintVerb::Upsert)?,
            Statement::Insert(upserted) => self.check_upsert(upserted, HintVerb::Insert)?,
            Statement::Update(statement) => {
                let bound = update(statement, &*catalog, Params::Open)?;
                bound.open.iter().for_each(|e| self.types.note_expr(e));
                drop(self.described_query(&bound.query, HintVerb::Update)?);
            }
            Statement::Delete(delete) => self.check_delete(delete)?,
            Statement::Merge(statement) => {
                let bound = merge(statement, &*catalog, Params::Open)?;
                bound.open.iter().for_each(|e| self.types.note_expr(e));
                for step in &bound.steps {
                    drop(self.described_query(step.query(), HintVerb::Merge)?);
                }
            }
            Statement::CopyTo(copy) => match &copy.source {
                CopySource::Query(query) => drop(self.described_query(query, HintVerb::Select)?),
                CopySource::Table { table, .. } => drop(resolve(&*catalog, table)?),
            },
            Statement::CopyFrom(copy) => drop(resolve(&*catalog, &copy.table)?),
            Statement::Explain(explain) => {
                self.purpose = if explain.analyze { Purpose::Judge } else { Purpose::Explain };
                let through = through_view(&explain.statement, &*catalog, Params::Open)?;
                self.described(through.as_deref().unwrap_or(&explain.statement))?;
            }
            Statement::CreateTable(create) => {
                let bound = create_table(create, session.shared().options.default_salt)?;
                check_defaults(session, &bound.def).map_err(|error| error.at(Some(create.table.span())))?;
            }
            Statement::CreateTableAs(create) => {
                let columns = self.described_query(&create.query, HintVerb::Select)?.columns;
                if let Some(columns) = columns {
                    create_table_as(create, &columns, &*catalog, None)?;
                }
            }
            Statement::CreateView(create) => {
                let view = create_view(create, &*catalog)?;
                let columns = columns_of(session, &view.query, 0, Purpose::Explain)?;
                drop(view.into_def(create, &columns)?);
            }
            Statement::AlterView(alter) => drop(altered_view(alter, &*catalog)?),
            Statement::AlterTable(alter) => drop(alter_table(alter, &resolve(&*catalog, &alter.table)?, None)?),
            Statement::CreateIndex(create) => drop(create_index(create, &resolve(&*catalog, &create.table)?)?),
            Statement::AlterIndex(index) => drop(resolve(&*catalog, &index.table)?),
            Statement::DropIndex(index) => drop(resolve(&*catalog, &index.table)?),
            Statement::Comment(comment) => drop(commented(comment, &*catalog)?),
            Statement::Set(set) => {
                Setting::named(&set.name.text).map_err(|error| error.at(Some(set.name.span)))?;
            }
            other => unsupported(other).map_or(Ok(()), Err)?,
        }
        if let Some(bound) = returning(statement, &*catalog, Params::Open)? {
            self.types.note_query(&bound);
        }
        let columns = match planned_returning(statement, &*catalog, Params::Open)? {
            Some(returning) => Some(returning.columns().clone()),
            None => columns_shown(statement).map(Arc::from),
        };
        Ok(Description { columns, ..Description::default() })
    }

    fn described_query(&mut self, statement: &QueryStatement, verb: HintVerb) -> Result<Description, Error> {
        self.types.note_row_counts(&statement.query);
        if let Some(After { token: AfterToken::Parameter(place), .. }) = statement.after {
            self.types.note(place, SqlType::Varchar(None));
        }
        if statement.has_sequences {
            check_page(statement)?;
            return self.described_sequenced(statement, verb);
        }
        let context = self.session.begin();
        let mut run = query_run(&self.session, statement, Params::Open, &context)?;
        run.guard.verb = verb;
        let (RootQuery { query: bound, .. }, reads) = run.with_subqueries(&context, self.purpose)?;
        self.types.note_query(&bound);
        self.types.note_all(&reads.parameters);
        let _statement = context.enter();
        let plan = match run.plan_direct(&bound)? {
            Some(direct) => {
                if self.purpose == Purpose::Judge {
                    direct.access().judge()?;
                }
                Some(QueryPlan::Direct(Arc::new(direct)))
            }
            None => {
                let planned = run.judge_relational(bound, context.clone(), self.purpose, self.has_parameters)?;
                planned.map(QueryPlan::Relational)
            }
        };
        let (columns, name) = match &plan {
            Some(QueryPlan::Direct(plan)) => (Some(plan.columns().clone()), plan.planned().plan.as_str()),
            Some(QueryPlan::Relational(plan)) => {
                self.types.note_all(plan.parameters());
                (Some(plan.columns()), "relational")
            }
            None => (None, "relational"),
        };
        if let (Some(after), Some(plan)) = (&run.statement.after, &plan) {
            page_plan(plan, after)?;
        }
        Ok(Description { columns, plan: Some(name), ..Description::default() })
    }

    fn described_sequenced(&mut self, statement: &QueryStatement, verb: HintVerb) -> Result<Description, Error> {
        let sequenced = sequenced_query(statement)?;
        sequence_values(&self.session, &sequenced.uses, Params::Open)?;
        let described = match sequenced.is_of_one_row() {
            true => Description { columns: Some(sequenced.columns_of_one_row().into()), ..Description::default() },
            false => self.described_query(&sequenced.query, verb)?,
        };
        let Some(columns) = &described.columns else { return Ok(described) };
        let outputs = sequenced.outputs(columns, Params::Open)?;
        outputs.iter().for_each(|output| self.types.note_expr(&output.expr));
        Ok(Description { columns: Some(result_columns(&outputs).into()), ..described })
    }

    /// Notes what a query tells of parameters.
    fn note_types(&mut self, statement: &QueryStatement) {
        // What is wrong with it is told where it is planned.
        let engine = self.session.shared().engine_functions();
        if let Ok(root) = query(statement, &*self.session.catalog(), engine, Params::Open) {
            self.types.note_query(&root.query);
        }
    }

    fn check_upsert(&mut self, statement: &Upsert, verb: HintVerb) -> Result<(), Error> {
        let bound = upsert(statement, verb == HintVerb::Insert, &*self.session.catalog(), Params::Open)?;
        bound.open.iter().for_each(|e| self.types.note_expr(e));
        for row in &bound.sequenced {
            sequence_values(&self.session, &row.uses, Params::Open)?;
        }
        match bound.source {
            BoundSource::Rows(_) if bound.computed.is_empty() => Ok(()),
            BoundSource::Rows(_) => {
                let exprs = bound.computed.iter().map(|value| &*value.expr);
                let query = computed_query(exprs.take(EXPRS_AT_ONCE), 2, Some(statement.span))?;
                self.described_query(&query, verb).map(drop)
            }
            BoundSource::Query(query) => {
                self.types.note_targets(&query, &bound.target);
                self.described_query(&statement.source_query(&query), verb).map(drop)
            }
        }
    }

    fn check_delete(&mut self, statement: &Delete) -> Result<(), Error> {
        let query = deleted_rows(statement, &*self.session.catalog())?;
        match plan_delete(&self.session, statement, &*self.session.catalog(), Params::Open)? {
            Some(access) => {
                self.note_types(&query);
                if self.purpose == Purpose::Judge {
                    access.judge()?;
                }
                Ok(())
            }
            None => self.described_query(&query, HintVerb::Delete).map(drop),
        }
    }
}
