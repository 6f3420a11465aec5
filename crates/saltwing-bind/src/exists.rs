//! `EXISTS` over all rows of a table: one row decides, so it is asked for as a subquery of one value.

use sqlparser::ast::{
    BinaryOperator, Expr, GroupByExpr, LimitClause, Query, SelectItem, SetExpr, TableFactor, Value,
    WildcardAdditionalOptions,
};

/// `SELECT TRUE FROM t LIMIT 1` for the query of an EXISTS that reads all rows of a table: a value that is NULL if there is no
/// row. `None` for another query.
///
/// The columns that the query names are in it, so that it is wrong where the query is.
pub(crate) fn first_of_all(query: &Query) -> Option<Query> {
    let SetExpr::Select(select) = query.body.as_ref() else { return None };
    let [from] = select.from.as_slice() else { return None };
    let is_all = query.with.is_none()
        && query.limit_clause.is_none()
        && query.fetch.is_none()
        && query.order_by.is_none()
        && from.joins.is_empty()
        && matches!(from.relation, TableFactor::Table { args: None, .. })
        && select.distinct.is_none()
        && select.top.is_none()
        && select.selection.is_none()
        && select.having.is_none()
        && select.qualify.is_none()
        && matches!(&select.group_by, GroupByExpr::Expressions(keys, modifiers) if keys.is_empty() && modifiers.is_empty());
    if !is_all {
        return None;
    }
    let items = select.projection.iter().map(is_something).collect::<Option<Vec<_>>>()?;
    let and = |left, right| Expr::BinaryOp { left: Box::new(left), op: BinaryOperator::And, right: Box::new(right) };
    let item = items.into_iter().reduce(and)?;
    let mut first = query.clone();
    if let SetExpr::Select(select) = first.body.as_mut() {
        select.projection = vec![SelectItem::UnnamedExpr(item)];
    }
    let one = Some(Expr::value(Value::Number("1".into(), false)));
    first.limit_clause = Some(LimitClause::LimitOffset { limit: one, offset: None, limit_by: Vec::new() });
    Some(first)
}

/// A value that is never NULL, and wrong where an item is; `None` for an item that may be an aggregate.
fn is_something(item: &SelectItem) -> Option<Expr> {
    let truth = || Some(Expr::value(Value::Boolean(true)));
    match item {
        SelectItem::Wildcard(options) if *options == WildcardAdditionalOptions::default() => truth(),
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => match expr {
            Expr::Value(_) => truth(),
            Expr::Identifier(_) | Expr::CompoundIdentifier(_) => Some(Expr::IsNull(Box::new(expr.clone()))),
            _ => None,
        },
        _ => None,
    }
}
