//! RETURNING: planned, and computed from the rows that a statement has written or deleted.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::compute::concat_batches;
use saltwing_access::Table;
use saltwing_bind::{
    BoundQuery, BoundReturning, EngineFunctions, ParamValues, Params, ResultColumn, ReturnedQuery, returning,
};
use saltwing_catalog::{ArrowRows, ArrowTable, CatalogReader};
use saltwing_exec::select::result_schema;
use saltwing_exec::{Attempt, ExecError, Returning, no_returned_rows};
use saltwing_planner::{DirectQuery, HintVerb, plan_select};
use saltwing_sql::Statement;
use saltwing_types::ErrorCode;

use super::describer::Describer;
use super::dml::Dml;
use crate::Error;
use crate::statement_plans::{ReturningPlan, StatementPlans};

/// The columns of a result, and its rows.
type Returned = (Arc<[ResultColumn]>, RecordBatch);

fn planned(bound: BoundReturning) -> Result<ReturningPlan, Error> {
    let bound = match bound {
        BoundReturning::Rows(bound) => *bound,
        BoundReturning::Queries(table) => return Ok(ReturningPlan::Query(table)),
    };
    let planned = DirectQuery::of(bound).map(plan_select).transpose()?.flatten();
    let planned = planned.ok_or_else(|| Error::new(ErrorCode::Bug, "a RETURNING has no plan"))?;
    Ok(ReturningPlan::Rows(Arc::new(Returning::new(planned)?)))
}

/// The RETURNING of a statement, planned for these values. A RETURNING without parameters is kept with the statement's plans.
pub(super) fn returning_of(
    statement: &Statement,
    (catalog, engine): (&dyn CatalogReader, &dyn EngineFunctions),
    params: ParamValues<'_>,
    plans: &StatementPlans,
) -> Result<Option<ReturningPlan>, Error> {
    if let Some(known) = plans.returning.get() {
        return Ok(known.clone());
    }
    let names_parameter = |bound: &BoundQuery| {
        let mut found = false;
        bound.for_each_expr(&mut |e| found |= e.has_parameter());
        found
    };
    // An error without values is not reported here: planning with values, below, reports it.
    if let Ok(open) = returning(statement, catalog, engine, Params::Open(params.types))
        && !matches!(&open, Some(BoundReturning::Rows(bound)) if names_parameter(bound))
    {
        let returning = open.map(planned).transpose()?;
        return Ok(plans.returning.get_or_init(|| returning).clone());
    }
    returning(statement, catalog, engine, Params::Given(params))?.map(planned).transpose()
}

/// Describes the RETURNING of a statement; its columns, if it has one and they are known.
pub(super) fn described_returning(
    describer: &mut Describer<'_>,
    statement: &Statement,
) -> Result<Option<Arc<[ResultColumn]>>, Error> {
    let (catalog, session) = (describer.catalog()?, describer.session());
    let bound = returning(statement, &*catalog, session.shared().engine_functions(), describer.open())?;
    let Some(bound) = bound else { return Ok(None) };
    if let BoundReturning::Rows(query) = &bound {
        describer.types.note_query(query);
    }
    match planned(bound)? {
        ReturningPlan::Rows(returning) => Ok(Some(returning.columns().clone())),
        ReturningPlan::Query(table) => {
            let batch = no_returned_rows(&table, describer.session().begin().memory())?;
            let rows = rows_of(&table, batch);
            let query = ReturnedQuery { statement, rows: &rows };
            Ok(describer.described_query(query, verb_of(statement))?.columns)
        }
    }
}

impl Dml<'_> {
    /// The result of RETURNING for the rows that an attempt has written or deleted. Subqueries read the rows before the statement.
    pub(super) fn returned(&self, plan: &ReturningPlan, attempt: &mut Attempt<'_>) -> Result<Returned, Error> {
        let table = match plan {
            ReturningPlan::Rows(returning) => {
                return Ok((returning.columns().clone(), attempt.returned(returning)?));
            }
            ReturningPlan::Query(table) => table,
        };
        let rows = rows_of(table, attempt.returned_rows(table)?);
        let query = ReturnedQuery { statement: self.statement, rows: &rows };
        let now_ms = self.session.now_ms();
        let found = self.start_query(attempt, query.into(), verb_of(self.statement), now_ms)?;
        let columns = found.columns.clone();
        let (batches, _) = found.drain(|batches| batches.collect::<Result<Vec<_>, Error>>())?;
        let schema = batches.first().map_or_else(|| result_schema(&columns), RecordBatch::schema);
        Ok((columns, concat_batches(&schema, &batches).map_err(ExecError::from)?))
    }
}

/// Rows as a table that a query can name.
fn rows_of(table: &Table, batch: RecordBatch) -> Arc<ArrowTable> {
    let (name, schema) = (table.def().name.name.clone(), batch.schema());
    Arc::new(ArrowTable { name, schema, rows: ArrowRows::Batches(vec![batch]) })
}

/// Where a statement of this kind has its hints.
fn verb_of(statement: &Statement) -> HintVerb {
    match statement {
        Statement::Upsert(_) => HintVerb::Upsert,
        Statement::Insert(_) => HintVerb::Insert,
        Statement::Delete(_) => HintVerb::Delete,
        Statement::Update(_) => HintVerb::Update,
        Statement::Merge(_) => HintVerb::Merge,
        _ => HintVerb::Select,
    }
}
