//! Pages of a query: `SELECT .. LIMIT n AFTER token`.

use std::sync::Arc;

use saltwing_sql::statement::{AfterToken, QueryStatement};
use saltwing_types::{Value, ViewDef};
use sqlparser::ast::LimitClause;

use crate::parameters::parameter;

/// A text that two pages have in common if they are pages of the same rows: the query without LIMIT, the queries of the views that it reads,
/// and the values of its parameters. A page may be larger than the one before.
pub fn page_identity(statement: &QueryStatement, views: &[Arc<ViewDef>], params: &[Value]) -> String {
    let mut query = statement.query.clone();
    let limit = match query.limit_clause.take() {
        Some(LimitClause::LimitOffset { limit: Some(limit), .. }) => parameter(&limit),
        _ => None,
    };
    let after = match statement.after.as_ref().map(|after| &after.token) {
        Some(AfterToken::Parameter(place)) => Some(*place),
        _ => None,
    };
    let of_rows = |place: &usize| Some(*place) != limit && Some(*place) != after;
    let values: Vec<&Value> = params.iter().enumerate().filter(|(i, _)| of_rows(i)).map(|(_, value)| value).collect();
    let views: Vec<&str> = views.iter().map(|view| view.query.as_str()).collect();
    format!("{query}\n{views:?}\n{values:?}")
}
