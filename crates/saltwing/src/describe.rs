//! The work of PREPARE: the parameters, columns and errors of a statement.

use std::sync::Arc;

use saltwing_bind::{
    BoundQuery, BoundSource, ParameterTypes, Params, Subquery, alter_table, candidates, computed_query, create_table,
    query, resolve, row_key_query, update, upsert,
};
use saltwing_planner::HintVerb;
use saltwing_sql::Statement;
use saltwing_sql::statement::{CopySource, Delete, QueryStatement, Upsert};

use crate::Error;
use crate::computed::EXPRS_AT_ONCE;
use crate::description::Description;
use crate::explain::{PLAN_COLUMN, text_columns};
use crate::run::{Purpose, unsupported};
use crate::session::Session;
use crate::settings::Setting;
use crate::subqueries::QueryPlan;

impl Session {
    /// Describes a statement of so many parameters.
    ///
    /// # Errors
    /// Its errors regardless of values: names, types, definitions, the guard's refusal.
    pub(crate) fn describe_statement(&self, statement: &Statement, parameters: usize) -> Result<Description, Error> {
        let mut types = ParameterTypes::new(parameters);
        let mut description = self.described(statement, &mut types)?;
        description.parameters = types.into_types();
        Ok(description)
    }

    fn described(&self, statement: &Statement, types: &mut ParameterTypes) -> Result<Description, Error> {
        let catalog = self.catalog();
        let nothing = Description::default();
        match statement {
            Statement::Query(query) => self.described_query(query, HintVerb::Select, types),
            Statement::Upsert(upserted) => self.check_upsert(upserted, HintVerb::Upsert, types).map(|()| nothing),
            Statement::Insert(upserted) => self.check_upsert(upserted, HintVerb::Insert, types).map(|()| nothing),
            Statement::Delete(delete) => self.check_delete(delete, types).map(|()| nothing),
            Statement::Update(statement) => {
                let bound = update(statement, &*catalog)?;
                self.described_query(&bound.query, HintVerb::Update, types).map(|_| nothing)
            }
            Statement::CopyTo(copy) => match &copy.source {
                CopySource::Query(query) => self.described_query(query, HintVerb::Select, types).map(|_| nothing),
                CopySource::Table { table, .. } => Ok(resolve(&*catalog, table).map(|_| nothing)?),
            },
            Statement::CopyFrom(copy) => Ok(resolve(&*catalog, &copy.table).map(|_| nothing)?),
            Statement::Explain(explain) => {
                match (&*explain.statement, explain.analyze) {
                    (explained, true) => drop(self.described(explained, types)?),
                    // Nothing is refused that is only explained.
                    (Statement::Query(query), false) => self.note_types(query, &[], types),
                    (_, false) => {}
                }
                Ok(Description { columns: Some(text_columns(&[PLAN_COLUMN]).into()), ..nothing })
            }
            Statement::CreateTable(create) => {
                let bound = create_table(create, self.shared().options.default_salt)?;
                self.check_defaults(&bound.def).map_err(|error| error.at(Some(create.table.span())))?;
                Ok(nothing)
            }
            Statement::AlterTable(alter) => {
                alter_table(alter, &resolve(&*catalog, &alter.table)?)?;
                Ok(nothing)
            }
            Statement::Set(set) => {
                Setting::named(&set.name.text).map_err(|error| error.at(Some(set.name.span)))?;
                Ok(nothing)
            }
            other => unsupported(other).map_or(Ok(nothing), Err),
        }
    }

    fn described_query(
        &self,
        statement: &QueryStatement,
        verb: HintVerb,
        types: &mut ParameterTypes,
    ) -> Result<Description, Error> {
        let mut run = self.query_run(statement, Params::Open)?;
        run.guard.verb = verb;
        let context = self.begin();
        let (run, _) = self.with_subqueries(run, &context, Purpose::Judge)?;
        self.note_types(&run.statement, &run.subqueries, types);
        for inner in candidates(statement) {
            self.note_types(&inner.statement, &[], types);
        }
        let plan = match self.plan_direct(&run)? {
            Some(direct) => {
                direct.access().judge()?;
                Some(QueryPlan::Direct(Arc::new(direct)))
            }
            None => self.judge_relational(&run, context, !types.is_empty())?.map(QueryPlan::Relational),
        };
        let (columns, name) = match &plan {
            Some(QueryPlan::Direct(plan)) => (Some(plan.columns().clone()), plan.planned().plan.as_str()),
            Some(QueryPlan::Relational(plan)) => (Some(plan.columns()), "relational"),
            None => (None, "relational"),
        };
        Ok(Description { columns, plan: Some(name), ..Description::default() })
    }

    /// Notes what a query over one table tells of parameters; some of its placeholders stand for `subqueries`.
    fn note_types(&self, statement: &QueryStatement, subqueries: &[Subquery], types: &mut ParameterTypes) {
        // What is wrong with it is told where it is planned.
        if let Ok(BoundQuery::Single(bound)) = query(statement, &*self.catalog(), Params::Open, subqueries) {
            types.note_select(&bound);
        }
    }

    fn check_upsert(&self, statement: &Upsert, verb: HintVerb, types: &mut ParameterTypes) -> Result<(), Error> {
        let bound = upsert(statement, verb == HintVerb::Insert, &*self.catalog(), Params::Open)?;
        bound.open.iter().for_each(|e| types.note_expr(e));
        match bound.source {
            BoundSource::Rows(_) if bound.computed.is_empty() => Ok(()),
            BoundSource::Rows(_) => {
                let exprs = bound.computed.iter().map(|value| &*value.expr);
                let query = computed_query(exprs.take(EXPRS_AT_ONCE), 2, Some(statement.span))?;
                self.described_query(&query, verb, types).map(drop)
            }
            BoundSource::Query(query) => self.described_query(&statement.source_query(&query), verb, types).map(drop),
        }
    }

    fn check_delete(&self, statement: &Delete, types: &mut ParameterTypes) -> Result<(), Error> {
        let query = row_key_query(statement)?;
        match self.plan_delete(statement, &*self.catalog(), Params::Open)? {
            Some(access) => {
                self.note_types(&query, &[], types);
                Ok(access.judge().map(drop)?)
            }
            None => self.described_query(&query, HintVerb::Delete, types).map(drop),
        }
    }
}
