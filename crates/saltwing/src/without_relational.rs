//! For builds without the relational engine: refuses its statements.

use std::sync::Arc;

use saltwing_access::ScanContext;
use saltwing_bind::{BoundQuery, ParameterTypes, ResultColumn};
use saltwing_sql::statement::QueryStatement;
use saltwing_types::{ErrorCode, Value};

use crate::Error;
use crate::explain::Explained;
use crate::group_rows::Reading;
use crate::kept_plan::KeptPlan;
use crate::outcome::RowsOutcome;
use crate::run::{Purpose, QueryRun};
use crate::session::Session;

/// There are none.
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
    session: &Session,
    _: &QueryStatement,
    _: &[Value],
    _: &KeptPlan,
) -> Result<Option<RowsOutcome>, Error> {
    Ok(None)
}

pub(crate) fn start_relational(session: &Session, plan: &RelationalPlan, _: ScanContext) -> Result<RowsOutcome, Error> {
    match *plan {}
}

fn refused(run: &QueryRun<'_>) -> Error {
    Error::new(ErrorCode::NotSupported, "a query that is more than one table's rows is not supported")
        .at(Some(run.statement.span))
        .with_help(Some("build with the feature `datafusion`"))
}

impl QueryRun<'_> {
    pub(crate) fn judge_relational(
        &self,
        _: BoundQuery,
        _: ScanContext,
        _: Purpose,
        _: bool,
    ) -> Result<Option<RelationalPlan>, Error> {
        Err(refused(self))
    }

    pub(crate) fn plan_relational(&self, _: BoundQuery, _: ScanContext, _: Purpose) -> Result<RelationalPlan, Error> {
        Err(refused(self))
    }

    pub(crate) fn read_again(&self, _: (&QueryRun<'_>, BoundQuery), _: ScanContext) -> Result<Option<Reading>, Error> {
        Ok(None)
    }
}
