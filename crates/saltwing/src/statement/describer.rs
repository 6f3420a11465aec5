//! Describes queries: their parameters, columns and errors, and the objects that they read.

use std::sync::Arc;

use saltwing_access::ScanContext;
use saltwing_bind::{
    BoundQuery, GivenTypes, ParamValues, ParameterTypes, Params, QueryRead, ResultColumn, RootQuery, SequenceDraw,
    SequenceUses, StatementQuery, if_bound, query, query_noting_reads,
};
use saltwing_catalog::CatalogReader;
use saltwing_planner::HintVerb;
use saltwing_sql::TableRef;
use saltwing_sql::statement::{After, AfterToken, QueryStatement};
use saltwing_types::{ErrorCode, SqlType};

use crate::Error;
use crate::description::Description;
use crate::page::page_plan;
use crate::query_run::{Purpose, QueryRun, query_run};
use crate::sequences::Sequencing;
use crate::session::Session;
use crate::subqueries::QueryPlan;

/// The columns of a query with this number of parameters.
///
/// # Errors
/// Errors of the query, without refusals if the query is only explained; 0A000 if its columns depend on the values of the parameters.
pub(crate) fn columns_of(
    session: &Session,
    query: &QueryStatement,
    parameters: ParamValues<'_>,
    purpose: Purpose,
) -> Result<Arc<[ResultColumn]>, Error> {
    Describer::new(session, purpose, (parameters.len(), parameters.types)).columns_of(query)
}

/// Describes a statement part by part.
pub(crate) struct Describer<'s> {
    session: &'s Session,
    /// The purpose: the guard refuses nothing that is only explained.
    pub(crate) purpose: Purpose,
    has_parameters: bool,
    /// Whether queries are bound only to find the objects that they touch; then their columns stay unknown.
    pub(super) names_only: bool,
    /// The types of parameters that the caller has given.
    given: GivenTypes<'s>,
    /// The parameter types that the parts described so far determine.
    pub(crate) types: ParameterTypes,
    /// The tables and views that the queries described so far read.
    pub(super) reads: Vec<QueryRead>,
    /// The sequences from which the parts described so far take values.
    pub(super) sequences: Vec<TableRef>,
}

impl<'s> Describer<'s> {
    pub(super) fn new(session: &'s Session, purpose: Purpose, (parameters, given): (usize, GivenTypes<'s>)) -> Self {
        let (mut types, reads, sequences): (ParameterTypes, _, _) = Default::default();
        let known = given.iter().enumerate().filter_map(|(place, ty)| Some((place, (*ty)?)));
        known.for_each(|(place, ty)| types.note(place, ty));
        let (has_parameters, names_only) = (parameters > 0, false);
        Self { session, purpose, has_parameters, names_only, given, types, reads, sequences }
    }

    /// A describer that finds the objects that a statement touches.
    pub(super) fn of_names(session: &'s Session, parameters: (usize, GivenTypes<'s>)) -> Self {
        Self { names_only: true, ..Self::new(session, Purpose::Explain, parameters) }
    }

    pub(crate) fn session(&self) -> &Session {
        self.session
    }

    /// Parameters without values.
    pub(crate) fn open(&self) -> Params<'s> {
        Params::Open(self.given)
    }

    pub(crate) fn catalog(&self) -> Result<Arc<dyn CatalogReader>, Error> {
        self.session.catalog()
    }

    /// The columns of a query.
    ///
    /// # Errors
    /// As [`columns_of`].
    pub(crate) fn columns_of(&mut self, query: &QueryStatement) -> Result<Arc<[ResultColumn]>, Error> {
        self.described_query(query, HintVerb::Select)?.columns.ok_or_else(|| {
            let text = "the columns of the query are not known without its parameters";
            let help = "give each parameter a type: CAST(? AS INTEGER)";
            Error::new(ErrorCode::NotSupported, text).at(Some(query.span)).with_help(Some(help))
        })
    }

    pub(crate) fn described_query<'q>(
        &mut self,
        query: impl Into<StatementQuery<'q>>,
        verb: HintVerb,
    ) -> Result<Description, Error> {
        let query = query.into();
        self.types.note_row_counts(query);
        if let Some(After { token: AfterToken::Parameter(place), .. }) = query.after() {
            self.types.note(*place, SqlType::Varchar(None));
        }
        let context = self.session.begin();
        let mut run = query_run(self.session, query, self.open(), &context)?;
        run.guard.verb = verb;
        if self.names_only {
            let engine = self.session.shared().engine_functions();
            let root = query_noting_reads(run.query, &*run.catalog, engine, run.params, &mut self.reads)?;
            root.draw.iter().for_each(|draw| self.draws(&draw.uses));
            return Ok(Description::default());
        }
        let (root, reads) = run.with_subqueries(&context, self.purpose)?;
        let (origins, RootQuery { query: bound, draw, reads: read, .. }) = (root.origins(), root);
        self.reads.extend(read);
        self.types.note_query(&bound);
        let sequencing = draw.map(|draw| self.drawn(&draw, &run, &bound)).transpose()?;
        self.types.note_all(&reads.parameters);
        let _statement = context.enter();
        let plan = self.judged(&run, bound, context.clone())?;
        let (columns, name) = match &plan {
            Some(QueryPlan::Direct(plan)) => (Some(plan.columns().clone()), Some(plan.planned().plan.as_str())),
            Some(QueryPlan::Relational(plan)) => {
                self.types.note_all(plan.parameters());
                (Some(plan.columns()), Some("relational"))
            }
            Some(QueryPlan::System(query)) => (Some(query.columns.clone()), Some("system_table")),
            Some(QueryPlan::OneRow) => (Some(Arc::default()), None),
            None => (None, Some("relational")),
        };
        if let (Some(after), Some(plan)) = (run.query.after(), &plan) {
            page_plan(plan, after)?;
        }
        let (columns, origins) = match (columns, &sequencing) {
            (Some(columns), Some(sequencing)) => (Some(sequencing.columns(&columns)), sequencing.origins(&origins)),
            (columns, _) => (columns, origins),
        };
        Ok(Description { columns, origins, plan: name, ..Description::default() })
    }

    /// The values of sequences that the rows of a query take.
    fn drawn(&mut self, draw: &SequenceDraw, run: &QueryRun<'_>, query: &BoundQuery) -> Result<Sequencing, Error> {
        draw.columns.iter().for_each(|column| self.types.note_expr(&column.expr));
        self.draws(&draw.uses);
        run.sequencing(draw, query)
    }

    /// Records sequences from which the statement takes values.
    pub(super) fn draws(&mut self, uses: &SequenceUses) {
        self.sequences.extend(uses.iter().map(|it| it.name.clone()));
    }

    /// The plan of a query, judged by the guard unless the query is only explained; `None` if the query cannot be planned without values.
    fn judged(&self, run: &QueryRun<'_>, query: BoundQuery, context: ScanContext) -> Result<Option<QueryPlan>, Error> {
        if query.is_one_row() {
            return Ok(Some(QueryPlan::OneRow));
        }
        if let Some(system) = run.plan_system(&query) {
            return Ok(Some(QueryPlan::System(Box::new(system))));
        }
        match run.plan_direct(&query)? {
            Some(direct) => {
                if self.purpose == Purpose::Judge && !(self.has_parameters && direct.access().awaits_values()) {
                    direct.access().judge()?;
                }
                Ok(Some(QueryPlan::Direct(Arc::new(direct))))
            }
            None => {
                let planned = run.judge_relational(query, context, self.purpose, self.has_parameters)?;
                Ok(planned.map(QueryPlan::Relational))
            }
        }
    }

    /// Records the parameter types that a query determines. Planning reports the errors of the query.
    ///
    /// # Errors
    /// Errors of the catalog.
    pub(crate) fn note_types<'q>(&mut self, source: impl Into<StatementQuery<'q>>) -> Result<(), Error> {
        let engine = self.session.shared().engine_functions();
        if let Some(root) = if_bound(query(source, &*self.session.catalog()?, engine, self.open()))? {
            self.types.note_query(&root.query);
        }
        Ok(())
    }
}
