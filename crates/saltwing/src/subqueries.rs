//! Uncorrelated subqueries, which run before the statement around them: see `saltwing_bind::UncorrelatedSubquery`.

use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::Schema;
use saltwing_access::{Counters, ScanContext, TableError};
use saltwing_bind::{BoundQuery, ParameterTypes, RootQuery, UncorrelatedSubquery};
use saltwing_catalog::INFORMATION_SCHEMA;
use saltwing_exec::SelectPlan;
use saltwing_expr::value_at;
use saltwing_planner::{AccessReport, SystemQuery};
use saltwing_types::{ErrorCode, SqlType, Value};

use crate::Error;
use crate::explained::Explained;
use crate::outcome::{RowsOutcome, Running};
use crate::query_run::{Purpose, QueryRun, start_planned};
use crate::relational::{RelationalPlan, start_relational};
use crate::settings::ExecutorChoice;

/// The reads, notices, types and plans of the uncorrelated subqueries of a statement.
#[derive(Default)]
pub(crate) struct SubqueryReads {
    /// The counters of the subqueries' scans.
    pub(crate) counters: Vec<Arc<Counters>>,
    pub(crate) notices: Vec<String>,
    /// The types of parameters that the subqueries determine.
    pub(crate) parameters: ParameterTypes,
    /// The text of each subquery, and its plan for EXPLAIN.
    pub(crate) explained: Vec<(String, Explained)>,
}

/// The plan of a query.
pub(crate) enum QueryPlan {
    Direct(Arc<SelectPlan>),
    Relational(RelationalPlan),
    /// A query over a system table.
    System(Box<SystemQuery>),
    /// One row [without columns](BoundQuery::is_one_row).
    OneRow,
}

fn first_value(batch: &RecordBatch, ty: SqlType) -> Result<Option<Value>, Error> {
    batch.columns().first().map(|column| Ok(value_at(column.as_ref(), 0, ty)?)).transpose()
}

/// The row of a query that reads nothing. The statement runs until the row is taken, since only then its values of sequences are taken.
fn one_row(context: ScanContext) -> Result<RowsOutcome, Error> {
    let options = RecordBatchOptions::new().with_row_count(Some(1));
    let batch = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), Vec::new(), &options);
    let running = Running::new(context, Vec::new(), Vec::new());
    let rows = RowsOutcome::ready(Arc::new([]), batch.map_err(TableError::from)?);
    Ok(RowsOutcome { running: Some(Box::new(running)), ..rows })
}

fn several_rows() -> Error {
    Error::new(ErrorCode::SeveralRows, "a subquery that stands for one value has several rows")
}

impl QueryPlan {
    /// The accesses of the plan's tables; with counters if the plan `ran`.
    pub(crate) fn explained(self, context: &ScanContext, ran: bool) -> Explained {
        match self {
            Self::Direct(plan) => {
                let counters = ran.then(|| context.counters.clone());
                let reports = vec![AccessReport { access: plan.access().clone(), counters }];
                Explained { direct: Some(plan), ..Explained::direct(reports) }
            }
            Self::Relational(plan) => plan.explained(ran),
            Self::System(query) => {
                let plan = format!("rows of the system table {INFORMATION_SCHEMA}.{}\n", query.table.name());
                Explained { plan: Some(plan), ..Explained::direct(Vec::new()) }
            }
            Self::OneRow => Explained::direct(Vec::new()),
        }
    }
}

impl QueryRun<'_> {
    /// Binds the query, and replaces the subqueries that run before it by their values. The subqueries run only if `purpose` is
    /// [`Purpose::Execute`].
    ///
    /// # Errors
    /// Errors of the query and of its subqueries. If the guard refuses several of them, the error has all refusals.
    pub(crate) fn with_subqueries(
        &self,
        context: &ScanContext,
        purpose: Purpose,
    ) -> Result<(RootQuery, SubqueryReads), Error> {
        let RootQuery { subqueries, mut query, draw, views, reads: read } = self.bound()?;
        let mut reads = SubqueryReads::default();
        let mut refused: Option<Error> = None;
        let (mut waiting, mut number) = (subqueries.into_iter(), 0);
        while let Some(subquery) = waiting.next() {
            reads.parameters.note_query(&subquery.query);
            let context = context.for_another_scan();
            let plan = match self.plan_query(&subquery.query, &context, purpose) {
                Err(error) if error.code() == ErrorCode::FullScanRefused => {
                    refused = Some(match refused {
                        Some(known) => known.and_refused(error),
                        None => error,
                    });
                    // The subquery is still planned, because the outer query may be refused, too.
                    self.plan_query(&subquery.query, &context, Purpose::Explain)?
                }
                planned => planned?,
            };
            if let QueryPlan::Relational(plan) = &plan {
                reads.parameters.note_all(plan.parameters());
            }
            if purpose == Purpose::Execute && refused.is_none() {
                let value = self.one_value(&plan, &subquery, context.clone(), &mut reads)?;
                query.set_subquery(number, &subquery, &value)?;
                for later in waiting.as_mut_slice() {
                    later.query.set_subquery(number, &subquery, &value)?;
                }
            }
            number += 1;
            reads.explained.push((subquery.text, plan.explained(&context, purpose == Purpose::Execute)));
        }
        match refused {
            None => Ok((RootQuery { subqueries: Vec::new(), query, draw, views, reads: read }, reads)),
            Some(refused) => match self.plan_query(&query, context, Purpose::Judge) {
                Err(error) if error.code() == ErrorCode::FullScanRefused => Err(error.and_refused(refused)),
                _ => Err(refused),
            },
        }
    }

    /// Plans a query. The guard judges it, unless the query is only explained.
    pub(crate) fn plan_query(
        &self,
        query: &BoundQuery,
        context: &ScanContext,
        purpose: Purpose,
    ) -> Result<QueryPlan, Error> {
        let _span = tracing::debug_span!(target: "saltwing::plan", "plan").entered();
        let _statement = context.enter();
        if query.is_one_row() {
            return Ok(QueryPlan::OneRow);
        }
        if let Some(system) = self.plan_system(query) {
            return Ok(QueryPlan::System(Box::new(system)));
        }
        let Some(direct) = self.plan_direct(query)? else {
            return self.plan_relational(query.clone(), context.clone(), purpose).map(QueryPlan::Relational);
        };
        if purpose != Purpose::Explain {
            direct.access().judge()?;
        }
        Ok(QueryPlan::Direct(Arc::new(direct)))
    }

    /// Starts the planned query of a statement: its rows, or a page of them.
    pub(crate) fn start_root(
        &self,
        plan: &QueryPlan,
        root: RootQuery,
        context: ScanContext,
    ) -> Result<RowsOutcome, Error> {
        match self.query.after() {
            Some(after) => self.start_page(plan, &root.views, after, context),
            None => self.start_query(plan, root.query, context),
        }
    }

    /// Starts a planned query.
    fn start_query(&self, plan: &QueryPlan, query: BoundQuery, context: ScanContext) -> Result<RowsOutcome, Error> {
        match plan {
            QueryPlan::Direct(direct) => {
                let (notices, snapshot) = (direct.access().judge()?, self.snapshot.clone());
                let rows = start_planned(self.session, direct, None, snapshot, context.clone(), notices)?;
                let may_begin_again = self.executor == ExecutorChoice::Auto && direct.keeps_groups();
                Ok(if may_begin_again { rows.or_again(self.again(query, context)) } else { rows })
            }
            QueryPlan::Relational(plan) => start_relational(self.session, plan, context),
            QueryPlan::System(query) => self.start_system(query, context),
            QueryPlan::OneRow => one_row(context),
        }
    }

    /// The value of a subquery: NULL if it has no row.
    fn one_value(
        &self,
        plan: &QueryPlan,
        subquery: &UncorrelatedSubquery,
        context: ScanContext,
        reads: &mut SubqueryReads,
    ) -> Result<Value, Error> {
        let query = subquery.query.clone();
        let RowsOutcome { mut source, running, columns, .. } = self.start_query(plan, query, context)?;
        let mut value = None;
        while let Some(batch) = source.next_blocking(&columns)? {
            if value.is_some() || batch.num_rows() > 1 {
                return Err(several_rows());
            }
            value = first_value(&batch, subquery.ty)?;
        }
        // Some scans begin when rows are read.
        if let Some(running) = running {
            reads.counters.extend(running.scans().cloned());
            reads.notices.extend(running.notices);
        }
        Ok(value.unwrap_or(Value::Null))
    }
}
