//! Queries for values of rows to be written that the relational engine computes.

use saltwing_sql::Statement;
use saltwing_sql::statement::QueryStatement;
use saltwing_types::Span;
use sqlparser::ast::{Expr, SelectItem, SetExpr};

use crate::error::{BindErrorKind, Result};

/// The query that computes expressions once for each of `rows` rows: a column for each of them, in their order. One that
/// gives another number of rows has an aggregate in it, or something else that is no value of one row.
///
/// # Errors
/// [`BindErrorKind::Sql`].
pub fn computed_query<'e>(
    exprs: impl IntoIterator<Item = &'e Expr>,
    rows: usize,
    span: Option<Span>,
) -> Result<QueryStatement> {
    // The names are nobody's: an expression of VALUES or of a DEFAULT names no column.
    let mut query =
        query_of(&format!("SELECT 1 FROM generate_series(1, {rows}) AS \"__saltwing_rows\" (\"__saltwing_row\")"))?;
    if let SetExpr::Select(select) = query.query.body.as_mut() {
        select.projection = exprs.into_iter().map(|expr| SelectItem::UnnamedExpr(expr.clone())).collect();
    }
    query.span = span.unwrap_or(query.span);
    Ok(query)
}

/// The expression that a text is.
///
/// # Errors
/// [`BindErrorKind::Sql`]; [`BindErrorKind::Syntax`] where it is none.
pub fn expr_of(text: &str) -> Result<Expr> {
    if let SetExpr::Select(select) = *query_of(&format!("SELECT {text}"))?.query.body
        && let [SelectItem::UnnamedExpr(expr)] = select.projection.as_slice()
    {
        return Ok(expr.clone());
    }
    Err(BindErrorKind::Syntax(format!("{text} is no expression")).into())
}

/// The query that a text is.
pub(crate) fn query_of(text: &str) -> Result<QueryStatement> {
    match saltwing_sql::parse_one(text)?.statement {
        Statement::Query(query) => Ok(query),
        _ => Err(BindErrorKind::Syntax(format!("{text} is no query")).into()),
    }
}
