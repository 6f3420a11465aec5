//! `t AS OF TIMESTAMP expression`: the table that a statement reads as it was.

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_sql::{expr_span, tree_span};
use saltwing_types::{Expr, eval};
use sqlparser::ast::TableVersion;

use crate::error::{BindError, BindErrorKind, Result};
use crate::lower::Params;
use crate::query_binder::QueryBinder;
use crate::scope::Scope;
use crate::subquery_column::SubqueryBinder;
use crate::tree::{AsOf, no_time, time_of};

impl QueryBinder<'_> {
    /// The table at the time that a FROM clause tells. If a subquery tells it, or a parameter without a value, the table as it is now, and the
    /// time.
    ///
    /// # Errors
    /// [`BindErrorKind::Syntax`] for a time that is no constant, or NULL; a value that is no TIMESTAMP.
    pub(crate) fn table_as_of(&self, table: Arc<Table>, version: &TableVersion) -> Result<(Arc<Table>, Option<AsOf>)> {
        let TableVersion::ForSystemTimeAsOf(time) = version else {
            let error = BindError::from(BindErrorKind::NotSupported(format!("{version} after a table")));
            return Err(error.at(tree_span(version)));
        };
        let span = expr_span(time);
        let scope = Scope::empty();
        let queries = SubqueryBinder::new(self, &scope);
        let lowered = queries.lowerer(None).lower(time).map_err(|error| match error.into_error() {
            BindError { kind: BindErrorKind::ColumnInConstant { .. }, .. } => {
                no_time("this one names columns: it is to be known before the statement runs").at(span)
            }
            other => other.at(span),
        })?;
        let (mut is_open, mut is_of_subquery) = (false, false);
        lowered.walk(&mut |part| match part {
            Expr::Column(_) | Expr::Param(..) => is_open = true,
            Expr::Subquery(..) => is_of_subquery = true,
            _ => {}
        });
        match self.params {
            Params::Open(_) | Params::Later(_) if !lowered.is_constant() || is_null(&lowered) => {
                Ok((table, Some(AsOf { time: lowered, span })))
            }
            _ if is_of_subquery && !is_open => Ok((table, Some(AsOf { time: lowered, span }))),
            _ if !lowered.is_constant() => {
                Err(no_time(&format!("{lowered} is not known before the statement runs")).at(span))
            }
            _ => Ok((Arc::new(table.as_of(time_of(&lowered).map_err(|error| error.at(span))?)), None)),
        }
    }
}

fn is_null(expr: &Expr) -> bool {
    eval::eval(expr, &[]).is_ok_and(|value| value.is_null())
}
