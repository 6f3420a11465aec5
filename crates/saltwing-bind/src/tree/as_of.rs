//! The time of a table's rows.

use saltwing_types::value::Timestamp;
use saltwing_types::{Expr, Span, SqlType, Value, eval, number};

use crate::error::{BindError, BindErrorKind, Result};

/// The time of a scan's rows, which is known before the statement runs: a subquery or a parameter gives it.
#[derive(Clone, Debug)]
pub struct AsOf {
    /// The time: constant but for subqueries and parameters.
    pub(crate) time: Expr,
    /// Where it stands.
    pub(crate) span: Option<Span>,
}

/// The time that an expression without columns is, in milliseconds since 1970.
///
/// # Errors
/// A value that is no time.
pub(crate) fn time_of(time: &Expr) -> Result<i64> {
    match eval::eval(time, &[]).and_then(|value| number::assign(value, SqlType::Timestamp))? {
        // A part of a millisecond has no commits of its own.
        Value::Timestamp(Timestamp { ms, .. }) | Value::Date(ms) => Ok(ms),
        _ => Err(no_time("NULL is none")),
    }
}

/// The error of what is no time.
pub(crate) fn no_time(why: &str) -> BindError {
    BindErrorKind::Syntax(format!("AS OF TIMESTAMP takes an instant, and {why}")).into()
}
