//! Subqueries that run by themselves, before the statement around them: see `saltwing_bind::Subquery`.

use std::borrow::Cow;
use std::sync::Arc;

use arrow::array::RecordBatch;
use saltwing_access::{Counters, ScanContext};
use saltwing_bind::{ParameterTypes, ResultColumn, Subquery, candidates, with_placeholders};
use saltwing_exec::SelectPlan;
use saltwing_expr::value_at;
use saltwing_planner::AccessReport;
use saltwing_types::{ErrorCode, SqlType, Value};

use crate::Error;
use crate::explain::Explained;
use crate::outcome::RowsOutcome;
use crate::relational::RelationalPlan;
use crate::run::{Purpose, QueryRun};
use crate::session::Session;
use crate::settings::ExecutorChoice;

/// The results of the uncorrelated scalar subqueries.
#[derive(Default)]
pub(crate) struct SubqueryReads {
    /// The counters of their scans.
    pub(crate) counters: Vec<Arc<Counters>>,
    pub(crate) notices: Vec<String>,
    /// The types of the parameters of relational ones.
    pub(crate) parameters: ParameterTypes,
    /// Their texts, and how they are read.
    pub(crate) explained: Vec<(String, Explained)>,
}

/// A query that its caller plans.
pub(crate) enum QueryPlan {
    Direct(Arc<SelectPlan>),
    Relational(RelationalPlan),
}

impl Session {
    /// The query with placeholders for its subqueries that run by themselves; to execute it, these have run.
    ///
    /// # Errors
    /// Errors of a subquery, including a refusal by the guard. One that cannot be planned on its own stays in the
    /// statement, which then reports its errors, if any.
    pub(crate) fn with_subqueries<'a>(
        &self,
        mut run: QueryRun<'a>,
        context: &ScanContext,
        purpose: Purpose,
    ) -> Result<(QueryRun<'a>, SubqueryReads), Error> {
        let mut reads = SubqueryReads::default();
        let mut refused: Option<Error> = None;
        for candidate in candidates(&run.statement) {
            let statement = Cow::Owned(with_placeholders(&candidate.statement, &run.subqueries));
            let alone = QueryRun { statement, ..run.clone() };
            let context = context.for_another_scan();
            let plan = match self.plan_query(&alone, &context, purpose) {
                Ok(plan) => plan,
                Err(error) if error.code() == ErrorCode::FullScanRefused => {
                    refused = Some(match refused {
                        Some(known) => known.and_refused(error),
                        None => error,
                    });
                    // It is still planned, because the outer query may be refused too.
                    match self.plan_query(&alone, &context, Purpose::Explain) {
                        Ok(plan) => plan,
                        Err(_) => {
                            context.check()?;
                            continue;
                        }
                    }
                }
                Err(_) => {
                    // Planning may have been stopped.
                    context.check()?;
                    continue;
                }
            };
            if let QueryPlan::Relational(plan) = &plan {
                reads.parameters.note_all(plan.parameters());
            }
            let Some(ty) = plan.one_type() else { continue };
            let value = match purpose {
                Purpose::Execute if refused.is_none() => {
                    Some(self.one_value(&plan, ty, &alone, context.clone(), &mut reads)?)
                }
                _ => None,
            };
            let text = candidate.query.to_string();
            reads.explained.push((text, plan.explained(&context, purpose == Purpose::Execute)));
            run.subqueries.push(Subquery { query: candidate.query, ty, value });
        }
        if !run.subqueries.is_empty() {
            run.statement = Cow::Owned(with_placeholders(&run.statement, &run.subqueries));
        }
        match refused {
            None => Ok((run, reads)),
            Some(refused) => match self.plan_query(&run, context, Purpose::Judge) {
                Err(error) if error.code() == ErrorCode::FullScanRefused => Err(error.and_refused(refused)),
                _ => Err(refused),
            },
        }
    }

    /// Plans a query, and lets the guard judge it unless it is only explained.
    pub(crate) fn plan_query(
        &self,
        run: &QueryRun<'_>,
        context: &ScanContext,
        purpose: Purpose,
    ) -> Result<QueryPlan, Error> {
        let _span = tracing::debug_span!(target: "saltwing::plan", "plan").entered();
        let _statement = context.enter();
        let bound = self.bound(run)?;
        let Some(direct) = self.plan_direct(run, &bound)? else {
            return self.plan_relational((run, bound), context.clone(), purpose).map(QueryPlan::Relational);
        };
        if purpose != Purpose::Explain {
            direct.access().judge()?;
        }
        Ok(QueryPlan::Direct(Arc::new(direct)))
    }

    /// Starts the planned query.
    pub(crate) fn start_query(
        &self,
        plan: &QueryPlan,
        run: &QueryRun<'_>,
        context: ScanContext,
    ) -> Result<RowsOutcome, Error> {
        if let Some(after) = &run.statement.after {
            return self.start_page(plan, run, after, context);
        }
        match plan {
            QueryPlan::Direct(direct) => {
                let rows = self.start_direct(direct, run.snapshot.clone(), context.clone())?;
                let may_begin_again = run.executor == ExecutorChoice::Auto && direct.keeps_groups();
                Ok(if may_begin_again { rows.or_again(self.again(run, context)) } else { rows })
            }
            QueryPlan::Relational(plan) => self.start_relational(plan, context),
        }
    }

    /// The value of a subquery: NULL if it has no row.
    fn one_value(
        &self,
        plan: &QueryPlan,
        ty: SqlType,
        run: &QueryRun<'_>,
        context: ScanContext,
        reads: &mut SubqueryReads,
    ) -> Result<Value, Error> {
        let RowsOutcome { mut source, running, columns, .. } = self.start_query(plan, run, context)?;
        let mut value = None;
        while let Some(batch) = source.next_blocking(&columns)? {
            if value.is_some() || batch.num_rows() > 1 {
                return Err(several_rows());
            }
            value = first_value(&batch, ty)?;
        }
        // Some scans begin when rows are read.
        if let Some(running) = running {
            reads.counters.extend(running.scans().cloned());
            reads.notices.extend(running.notices);
        }
        Ok(value.unwrap_or(Value::Null))
    }
}

fn first_value(batch: &RecordBatch, ty: SqlType) -> Result<Option<Value>, Error> {
    batch.columns().first().map(|column| Ok(value_at(column.as_ref(), 0, ty)?)).transpose()
}

fn several_rows() -> Error {
    Error::new(ErrorCode::SeveralRows, "a subquery that stands for one value has several rows")
}

impl QueryPlan {
    /// The type of the only column, where SQL has one.
    fn one_type(&self) -> Option<SqlType> {
        match self {
            Self::Direct(direct) => match direct.columns().as_ref() {
                [ResultColumn { ty, .. }] => Some(*ty),
                _ => None,
            },
            Self::Relational(plan) => plan.one_type(),
        }
    }

    /// The accesses of its tables; with counters if the plan `ran`.
    pub(crate) fn explained(self, context: &ScanContext, ran: bool) -> Explained {
        match self {
            Self::Direct(plan) => {
                let counters = ran.then(|| context.counters.clone());
                let reports = vec![AccessReport { access: plan.access().clone(), counters }];
                Explained {
                    executor: "direct",
                    direct: Some(plan),
                    reports,
                    plan: None,
                    effects: Vec::new(),
                    subqueries: Vec::new(),
                }
            }
            Self::Relational(plan) => plan.explained(ran),
        }
    }
}
