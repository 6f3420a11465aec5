//! Refuses relational queries in builds without the relational engine.

use std::sync::Arc;

use saltwing_access::ScanContext;
use saltwing_bind::{BoundQuery, ParamValues, ParameterTypes, ResultColumn};
use saltwing_sql::statement::QueryStatement;
use saltwing_types::ErrorCode;

use crate::Error;
use crate::explained::Explained;
use crate::group_rows::Again;
use crate::outcome::RowsOutcome;
use crate::query_run::{Purpose, QueryRun};
use crate::session::Session;
use crate::statement_plans::PlanCache;

/// A type without values: this build has no such plans.
pub(crate) enum RelationalPlan {}

impl RelationalPlan {
    pub(crate) fn columns(&self) -> Arc<[ResultColumn]> {
        match *self {}
    }

    pub(crate) fn parameters(&self) -> &ParameterTypes {
        match *self {}
    }

    pub(crate) fn explained(&self, _: bool) -> Explained {
        match *self {}
    }
}

pub(crate) fn run_kept(
    _: &Session,
    _: &QueryStatement,
    _: ParamValues<'_>,
    _: &PlanCache,
) -> Result<Option<RowsOutcome>, Error> {
    Ok(None)
}

pub(crate) fn start_relational(_: &Session, plan: &RelationalPlan, _: ScanContext) -> Result<RowsOutcome, Error> {
    match *plan {}
}

impl QueryRun<'_> {
    pub(crate) fn judge_relational(
        &self,
        _: BoundQuery,
        _: ScanContext,
        _: Purpose,
        _: bool,
    ) -> Result<Option<RelationalPlan>, Error> {
        Err(self.refused())
    }

    pub(crate) fn again(&self, _: BoundQuery, _: ScanContext) -> Again {
        Box::new(|| Ok(None))
    }

    pub(crate) fn plan_relational(&self, _: BoundQuery, _: ScanContext, _: Purpose) -> Result<RelationalPlan, Error> {
        Err(self.refused())
    }

    fn refused(&self) -> Error {
        Error::new(ErrorCode::NotSupported, "a query that is more than one table's rows is not supported")
            .at(Some(self.query.span()))
            .with_help(Some("build with the feature `datafusion`"))
    }
}
