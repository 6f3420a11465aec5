//! `t AS OF TIMESTAMP expression`: the table that a statement reads as it was.

use std::ops::ControlFlow;
use std::sync::Arc;

use saltwing_access::Table;
use saltwing_sql::expr_span;
use saltwing_types::value::Timestamp;
use saltwing_types::{SqlType, Value, eval, number};
use sqlparser::ast::{self, TableVersion, visit_expressions};

use crate::error::{BindError, BindErrorKind, Result};
use crate::lower::{Lowerer, Params};
use crate::scope::Scope;
use crate::subquery::Subquery;

/// Whether an expression names a column.
fn names_columns(expr: &ast::Expr) -> bool {
    let found = visit_expressions(expr, |part| match part {
        ast::Expr::Identifier(_) | ast::Expr::CompoundIdentifier(_) => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    found.is_break()
}

/// The table at the moment that a FROM clause says; before its parameters have values, as it is now: it is only judged.
///
/// # Errors
/// [`BindErrorKind::Syntax`] for a moment that is no constant, or NULL; a value that is no TIMESTAMP.
pub fn table_as_of(
    table: Arc<Table>,
    moment: &TableVersion,
    params: Params<'_>,
    subqueries: &[Subquery],
) -> Result<Arc<Table>> {
    let TableVersion::ForSystemTimeAsOf(moment) = moment else {
        return Err(BindErrorKind::NotSupported(format!("{moment} behind a table")).into());
    };
    let place = |error: BindError| error.at(expr_span(moment));
    let wrong =
        |what: &str| place(BindErrorKind::Syntax(format!("AS OF TIMESTAMP takes an instant, and {what}")).into());
    // A moment that is computed runs first, if it can.
    if matches!(moment, ast::Expr::Subquery(_)) && names_columns(moment) {
        return Err(wrong("this one names columns: it is to be known before the statement runs"));
    }
    let scope = Scope::empty();
    let lowerer = Lowerer::new(&scope, params).with_subqueries(subqueries);
    let lowered = lowerer.lower(moment).map_err(|error| place(error.into_error()))?;
    if !lowered.is_constant() {
        return match params {
            Params::Open | Params::Later => Ok(table),
            Params::Given(_) => Err(wrong(&format!("{lowered} is not known before the statement runs"))),
        };
    }
    let value = eval::eval(&lowered, &[]).and_then(|value| number::assign(value, SqlType::Timestamp));
    match value.map_err(|error| place(error.into()))? {
        // A part of a millisecond has no commits of its own.
        Value::Timestamp(Timestamp { ms, .. }) => Ok(Arc::new(table.as_of(ms))),
        Value::Date(ms) => Ok(Arc::new(table.as_of(ms))),
        Value::Null if !matches!(params, Params::Given(_)) => Ok(table),
        _ => Err(wrong("NULL is none")),
    }
}
