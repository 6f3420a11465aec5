//! Notices about queries.

use saltwing_sql::cast_type;
use saltwing_types::SqlType;
use sqlparser::ast::{CastKind, Expr, GroupByExpr, Query, Select, SelectItem, SetExpr, Value};

/// A notice about a legal query that probably does not do what the user intended.
pub fn query_notice(query: &Query) -> Option<String> {
    let SetExpr::Select(select) = query.body.as_ref() else { return None };
    let GroupByExpr::Expressions(keys, _) = &select.group_by else { return None };
    let cast = keys.iter().find_map(|key| day_cast(item_of(key, select)))?;
    Some(format!("{cast} keeps the time of day, and so do groups by it; DATE_TRUNC('day', ..) is the day"))
}

/// The item that a key of GROUP BY names by place or alias, else the key itself.
fn item_of<'a>(key: &'a Expr, select: &'a Select) -> &'a Expr {
    let expr = |item: &'a SelectItem| match item {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => Some(expr),
        _ => None,
    };
    let found = match key {
        Expr::Value(value) => match &value.value {
            Value::Number(text, _) => {
                let place = text.parse::<usize>().ok().and_then(|place| place.checked_sub(1));
                place.and_then(|place| select.projection.get(place)).and_then(expr)
            }
            _ => None,
        },
        Expr::Identifier(name) => select.projection.iter().find_map(|item| match item {
            SelectItem::ExprWithAlias { expr, alias } if alias.value.eq_ignore_ascii_case(&name.value) => Some(expr),
            _ => None,
        }),
        _ => None,
    };
    found.unwrap_or(key)
}

/// A cast to DATE of something that may have a time of day.
fn day_cast(expr: &Expr) -> Option<&Expr> {
    match expr {
        Expr::Nested(inner) => day_cast(inner),
        Expr::Cast { kind: CastKind::Cast | CastKind::DoubleColon, expr: inner, data_type, .. }
            if cast_type(data_type) == Some(SqlType::Date)
                && matches!(inner.as_ref(), Expr::Identifier(_) | Expr::CompoundIdentifier(_)) =>
        {
            Some(expr)
        }
        _ => None,
    }
}
