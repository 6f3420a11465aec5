//! `ARRAY(SELECT ..)`: the rows of a query of one column as an array.

use sqlparser::ast::{Expr, FunctionArgumentClause, FunctionArguments, OrderByKind, Query, SelectItem, SetExpr};

use crate::call::function_call;
use crate::derived;
use crate::ties::key_of;

/// The query of `ARRAY(query)` as a query whose one value is the array, which is NULL without rows. `None` of one whose order the array
/// would not have: with LIMIT, DISTINCT, groups and the like beside ORDER BY.
pub fn array_query(call: &Expr) -> Option<Option<Box<Query>>> {
    let Expr::Function(call) = call else { return None };
    let FunctionArguments::Subquery(query) = &call.args else { return None };
    let is_array = call.name.to_string().eq_ignore_ascii_case("ARRAY");
    is_array.then(|| match &query.order_by {
        None => of_rows(query),
        Some(_) => in_order(query),
    })
}

/// `SELECT ARRAY_AGG(x) FROM (query) AS q (x)`.
fn of_rows(query: &Query) -> Option<Box<Query>> {
    derived::around("SELECT ARRAY_AGG(x) FROM (SELECT 1) AS q (x)", query)
}

/// The query with `ARRAY_AGG(item ORDER BY ..)` for its item.
fn in_order(query: &Query) -> Option<Box<Query>> {
    let mut query = Box::new(query.clone());
    let OrderByKind::Expressions(order_by) = query.order_by.take()?.kind else { return None };
    let SetExpr::Select(select) = query.body.as_mut() else { return None };
    let has_groups = match &select.group_by {
        sqlparser::ast::GroupByExpr::Expressions(keys, _) => !keys.is_empty(),
        sqlparser::ast::GroupByExpr::All(_) => true,
    };
    let is_other = select.distinct.is_some() || select.having.is_some() || select.qualify.is_some() || has_groups;
    if is_other || query.limit_clause.is_some() || query.fetch.is_some() {
        return None;
    }
    let keys = order_by.iter().map(|key| key_of(key, select)).collect::<Option<Vec<_>>>()?;
    let [SelectItem::UnnamedExpr(item) | SelectItem::ExprWithAlias { expr: item, .. }] = select.projection.as_slice()
    else {
        return None;
    };
    let mut array = function_call("ARRAY_AGG".into(), [item.clone()]);
    if let Expr::Function(call) = &mut array
        && let FunctionArguments::List(list) = &mut call.args
    {
        list.clauses.push(FunctionArgumentClause::OrderBy(keys));
    }
    select.projection = vec![SelectItem::UnnamedExpr(array)];
    Some(query)
}
