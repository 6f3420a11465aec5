//! `FETCH FIRST n ROWS WITH TIES`: the rows whose rank in the order is at most n.

use sqlparser::ast::{
    BinaryOperator, Expr, Function, OrderByExpr, OrderByKind, Query, Select, SelectItem, SetExpr, Value, WindowSpec,
    WindowType,
};

use crate::call::function_call;

/// Puts the condition `RANK() OVER (ORDER BY ..) <= count` into a query. `false` of a query for which that is another one: without an
/// order, with DISTINCT, of several SELECTs.
pub(crate) fn keep(query: &mut Query, count: Expr) -> bool {
    let Some(OrderByKind::Expressions(order_by)) = query.order_by.as_ref().map(|order_by| &order_by.kind) else {
        return false;
    };
    let SetExpr::Select(select) = query.body.as_mut() else { return false };
    if order_by.is_empty() || select.distinct.is_some() {
        return false;
    }
    let Some(keys) = order_by.iter().map(|key| key_of(key, select)).collect::<Option<Vec<_>>>() else { return false };
    let Expr::Function(rank) = function_call("RANK".into(), []) else { return false };
    let spec = WindowSpec { window_name: None, partition_by: Vec::new(), order_by: keys, window_frame: None };
    let rank = Expr::Function(Function { over: Some(WindowType::WindowSpec(spec)), ..rank });
    let keeps = Expr::BinaryOp { left: Box::new(rank), op: BinaryOperator::LtEq, right: Box::new(count) };
    // Beside another condition the rank would be of rows that it leaves out.
    if select.qualify.is_some() {
        return false;
    }
    select.qualify = Some(keeps);
    true
}

/// A key of the order as a window takes it: an item of the SELECT by its number or alias is its expression.
pub(crate) fn key_of(key: &OrderByExpr, select: &Select) -> Option<OrderByExpr> {
    let item = |place: usize| match select.projection.get(place)? {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => Some(expr.clone()),
        _ => None,
    };
    let expr = match &key.expr {
        Expr::Value(value) => match &value.value {
            Value::Number(number, _) => item(number.parse::<usize>().ok()?.checked_sub(1)?)?,
            _ => return None,
        },
        Expr::Identifier(name) => {
            let is_it = |item: &SelectItem| matches!(item, SelectItem::ExprWithAlias { alias, .. } if alias.value.eq_ignore_ascii_case(&name.value));
            match select.projection.iter().position(is_it) {
                Some(place) => item(place)?,
                None => key.expr.clone(),
            }
        }
        other => other.clone(),
    };
    Some(OrderByExpr { expr, ..key.clone() })
}
