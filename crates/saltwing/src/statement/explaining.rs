//! The context in which EXPLAIN plans a statement.

use saltwing_bind::{ParamValues, Params, StatementQuery};

use crate::Error;
use crate::explained::Explained;
use crate::query_run::{Purpose, query_run};
use crate::session::Session;

/// An EXPLAIN of a statement.
pub(crate) struct Explaining<'a> {
    pub(crate) session: &'a Session,
    /// The values of the parameters. Without values, EXPLAIN shows only the part that does not depend on them.
    pub(super) params: ParamValues<'a>,
}

impl<'a> Explaining<'a> {
    /// The values of the parameters.
    pub(crate) fn given(&self) -> Params<'a> {
        if self.params.is_empty() { Params::Open(self.params.types) } else { Params::Given(self.params) }
    }

    /// The reads of a query of the statement.
    pub(crate) fn query<'q>(&self, query: impl Into<StatementQuery<'q>>) -> Result<Explained, Error> {
        let (query, context): (StatementQuery<'_>, _) = (query.into(), self.session.begin());
        let run = query_run(self.session, query, self.given(), &context)?;
        let (root, reads) = run.with_subqueries(&context, Purpose::Explain)?;
        let plan = run.plan_query(&root.query, &context, Purpose::Explain)?;
        Ok(Explained { subqueries: reads.explained, ..plan.explained(&context, false) })
    }
}
