//! One page of a query's rows, and the statements that have pages.

use std::sync::Arc;

use saltwing_bind::{Params, StatementQuery, page_identity};
use saltwing_exec::{PageRows, SelectPlan};
use saltwing_planner::DirectPlan;
use saltwing_sql::statement::{After, AfterToken};
use saltwing_types::{ErrorCode, Value, ViewDef};

use crate::outcome::{BatchSource, RowsOutcome, Running};
use crate::page_token::{Identity, NextPage, identity_of, position};
use crate::query_run::QueryRun;
use crate::subqueries::QueryPlan;
use crate::{Error, FromRow, Row, Rows, Stats};

/// One page of a query's rows: see [`Connection::query_page`](crate::Connection::query_page).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<R> {
    /// The rows: as many as LIMIT, or fewer if there are no more, or if `rows_max`, `bytes_max` or `statement_timeout` ends
    /// the page.
    pub rows: Vec<R>,
    /// The token of the next page, in letters, digits, `-` and `_`. `None`: there are no rows after this page. A full page always has a token,
    /// even if it is the last one: then the next page is empty. The token is valid until the table is altered or dropped. It contains the key
    /// of the last row, unencrypted.
    pub next: Option<String>,
    /// The reads.
    pub stats: Stats,
    /// Notices for the user, for example that a budget ended the page.
    pub notices: Vec<String>,
}

impl<R> Page<R> {
    pub(crate) fn of(rows: Vec<R>, read: &Rows) -> Self {
        Self { rows, next: read.next_page(), stats: read.stats(), notices: read.notices().to_vec() }
    }
}

impl Page<Row> {
    /// The same page with each row as an `R`.
    pub(crate) fn typed<R: FromRow>(self) -> Result<Page<R>, Error> {
        let Self { rows, next, stats, notices } = self;
        let rows = rows.iter().map(R::from_row).collect::<Result<_, _>>()?;
        Ok(Page { rows, next, stats, notices })
    }
}

/// The plan, if each of its rows is a row of one table, in stored order.
pub(crate) fn page_plan<'a>(plan: &'a QueryPlan, after: &After) -> Result<&'a Arc<SelectPlan>, Error> {
    let QueryPlan::Direct(select) = plan else {
        return Err(no_page("it is more than rows of one table in the order of its key", after));
    };
    match select.planned().plan {
        DirectPlan::Scan(_) | DirectPlan::PointGet { .. } if select.planned().offset > 0 => {
            Err(no_page("it has an OFFSET, which a page needs no more", after))
        }
        DirectPlan::Scan(_) | DirectPlan::PointGet { .. } => Ok(select),
        _ => Err(no_page("its rows are aggregates or made distinct", after)),
    }
}

/// Refuses pages whose rows take values of sequences: reading a page again would take other values.
pub(crate) fn check_no_page(query: StatementQuery<'_>) -> Result<(), Error> {
    let refused = |after| Err(no_page("its rows take values of sequences", after));
    query.after().map_or(Ok(()), refused)
}

/// The error of a query that cannot be read in pages.
fn no_page(why: &str, after: &After) -> Error {
    Error::new(ErrorCode::NotSupported, format!("AFTER is not supported for this query: {why}"))
        .at(Some(after.span))
        .with_help(Some("pages are of rows of one table, without ORDER BY or ordered by its key or that of an index in either direction"))
}

pub(crate) fn bad_token(why: &str, after: Option<&After>) -> Error {
    Error::new(ErrorCode::BadArgument, why)
        .at(after.map(|after| after.span))
        .with_help(Some("AFTER NULL is the first page"))
}

/// The token's text; `None` means the first page.
fn given_token(after: &After, params: Params<'_>) -> Result<Option<String>, Error> {
    let value = match (&after.token, params) {
        (AfterToken::None, _) => return Ok(None),
        (AfterToken::Text(text), _) => return Ok(Some(text.clone())),
        (AfterToken::Parameter(place), Params::Given(given)) => given.values.get(*place),
        (AfterToken::Parameter(_), Params::Open(_) | Params::Later(_)) => None,
    };
    match value {
        Some(Value::Null) => Ok(None),
        Some(Value::Text(text)) => Ok(Some(text.to_string())),
        _ => Err(bad_token("AFTER takes the token of a page as text", Some(after))),
    }
}

/// The identity of a query, for which its tokens are valid.
fn identity((run, views): (&QueryRun<'_>, &[Arc<ViewDef>]), select: &SelectPlan) -> Result<Identity, Error> {
    let StatementQuery::Query(statement) = run.query else {
        return Err(Error::new(ErrorCode::Bug, "a page of rows that a statement writes"));
    };
    let (access, params) = (select.access(), run.params.values().unwrap_or_default());
    let (table, query) = (access.table(), page_identity(statement, views, &params));
    let order = access.access().order.as_str();
    let key = access.index().map_or(table.def().id, |index| index.def().id);
    Ok(identity_of(&format!("{} {} {order}\n{query}", key.0, table.version())))
}

impl QueryRun<'_> {
    /// Starts the page of a planned query, whose access was judged.
    pub(crate) fn start_page(
        &self,
        plan: &QueryPlan,
        views: &[Arc<ViewDef>],
        after: &After,
        context: saltwing_access::ScanContext,
    ) -> Result<RowsOutcome, Error> {
        let select = page_plan(plan, after)?;
        let identity = identity((self, views), select)?;
        let position = match given_token(after, self.params)? {
            None => None,
            Some(text) => Some(position(identity, &text).map_err(|why| bad_token(why, Some(after)))?),
        };
        let notices = select.access().judge()?.into_iter().collect();
        let rows = PageRows::start(select, self.snapshot.clone(), position.as_ref(), context.clone())?;
        let page = Some(NextPage::new(identity, rows.end()));
        let running = Running { warnings: Some(self.session.warnings()), page, ..Running::of_scan(context, notices) };
        Ok(RowsOutcome::running(select.columns().clone(), BatchSource::Page(Box::new(rows)), running))
    }
}
