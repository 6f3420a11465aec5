//! The work of PREPARE: the parameters, columns and errors of a statement.

use std::sync::Arc;

use saltwing_bind::{ParameterTypes, Params, QueryRead, ResultColumn, RootQuery, query, sequenced_query};
use saltwing_catalog::CatalogReader;
use saltwing_planner::HintVerb;
use saltwing_sql::statement::{After, AfterToken, QueryStatement};
use saltwing_types::{ErrorCode, SqlType};

use super::description::Description;
use crate::Error;
use crate::page::{check_page, page_plan};
use crate::query_run::{Purpose, query_run};
use crate::sequences::{result_columns, sequence_values};
use crate::session::Session;
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
    let mut describer = Describer::new(session, purpose, parameters);
    let description = describer.described_query(query, HintVerb::Select)?;
    let unknown = || {
        let error =
            Error::new(ErrorCode::NotSupported, "the columns of the query are not known without its parameters");
        error.at(Some(query.span)).with_help(Some("give each parameter a type: CAST(? AS INTEGER)"))
    };
    description.columns.ok_or_else(unknown)
}

/// Describes a statement part by part.
pub(crate) struct Describer<'s> {
    session: &'s Session,
    /// Nothing is refused that is only explained.
    pub(crate) purpose: Purpose,
    has_parameters: bool,
    /// The types that the parts described so far tell.
    pub(crate) types: ParameterTypes,
    /// The tables and views that the queries described so far read.
    pub(super) reads: Vec<QueryRead>,
}

impl<'s> Describer<'s> {
    pub(super) fn new(session: &'s Session, purpose: Purpose, parameters: usize) -> Self {
        let (types, reads) = (ParameterTypes::default(), Vec::new());
        Self { session, purpose, has_parameters: parameters > 0, types, reads }
    }
}

impl Describer<'_> {
    pub(crate) fn session(&self) -> &Session {
        self.session
    }

    pub(crate) fn catalog(&self) -> Arc<dyn CatalogReader> {
        self.session.catalog()
    }

    pub(crate) fn described_query(&mut self, statement: &QueryStatement, verb: HintVerb) -> Result<Description, Error> {
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
        let (root, reads) = run.with_subqueries(&context, self.purpose)?;
        let (origins, RootQuery { query: bound, reads: read, .. }) = (root.origins(), root);
        self.reads.extend(read);
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
        Ok(Description { columns, origins, plan: Some(name), ..Description::default() })
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
    pub(crate) fn note_types(&mut self, statement: &QueryStatement) {
        // What is wrong with it is told where it is planned.
        let engine = self.session.shared().engine_functions();
        if let Ok(root) = query(statement, &*self.session.catalog(), engine, Params::Open) {
            self.types.note_query(&root.query);
        }
    }
}
