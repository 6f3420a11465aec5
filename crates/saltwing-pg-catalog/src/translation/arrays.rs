//! `ARRAY (SELECT ..)`.

use sqlparser::ast::{
    Expr, FunctionArgumentClause, FunctionArguments, GroupByExpr, Ident, OrderByExpr, OrderByKind, Query, Select,
    SelectItem, SetExpr, Value,
};

use super::build::{self, call, cast, take, text};
use super::casts;
use super::queries::Place;
use super::scope::{Output, Scope, Type};
use super::set_returning::parsed;
use super::translator::{Translator, not_supported};
use crate::CatalogError;
use crate::pg_type::PgType;

impl Translator<'_> {
    /// The rows of a query as an array, which is empty and not NULL if there are none.
    pub(super) fn array_of_query(&mut self, mut query: Query, scope: Scope<'_>) -> Result<(Expr, Type), CatalogError> {
        let around = self.expansion.take();
        let outputs = self.query(&mut query, scope, Place::Inside);
        self.expansion = around;
        let outputs: [Output; 1] = outputs?.try_into().map_err(|_| not_supported("ARRAY of several columns"))?;
        let [output] = outputs;
        let ty = output.ty.array();
        let collected = match collect_in_place(&mut query) {
            true => query,
            false if query.order_by.is_some() => return Err(not_supported("ORDER BY of such a query in ARRAY")),
            false => {
                let source = self.made_up_name();
                let (column, alias) = (build::column(&source, &output.physical), build::name(&source));
                parsed(&format!("SELECT array_agg({column}) FROM ({query}) AS {alias}"))?
            }
        };
        let empty = cast(text("{}"), casts::engine_type(ty.pg().unwrap_or(PgType::TEXT_ARRAY)));
        Ok((call("coalesce", vec![Expr::Subquery(Box::new(collected)), empty]), ty))
    }
}

/// Makes the list of a plain SELECT an aggregate over its rows, in their order.
fn collect_in_place(query: &mut Query) -> bool {
    let is_plain = |select: &Select| {
        let no_groups = matches!(&select.group_by, GroupByExpr::Expressions(keys, _) if keys.is_empty());
        no_groups && select.distinct.is_none() && select.having.is_none()
    };
    if query.limit_clause.is_some() || query.fetch.is_some() {
        return false;
    }
    let SetExpr::Select(select) = &mut *query.body else { return false };
    let true = is_plain(select) else { return false };
    let [SelectItem::ExprWithAlias { expr, alias }] = select.projection.as_mut_slice() else { return false };
    let keys = match query.order_by.take().map(|order| order.kind) {
        Some(OrderByKind::Expressions(keys)) => keys,
        _ => Vec::new(),
    };
    let keys: Vec<OrderByExpr> = keys.into_iter().map(|key| of_column(key, expr, alias)).collect();
    let mut aggregate = call("array_agg", vec![take(expr)]);
    if let Expr::Function(function) = &mut aggregate
        && let FunctionArguments::List(list) = &mut function.args
        && !keys.is_empty()
    {
        list.clauses.push(FunctionArgumentClause::OrderBy(keys));
    }
    *expr = aggregate;
    true
}

/// A key by the place or the label of the only column is the column.
fn of_column(key: OrderByExpr, column: &Expr, label: &Ident) -> OrderByExpr {
    let is_place = matches!(&key.expr, Expr::Value(value) if matches!(&value.value, Value::Number(..)));
    let is_label = matches!(&key.expr, Expr::Identifier(name) if name == label);
    if is_place || is_label { OrderByExpr { expr: column.clone(), ..key } } else { key }
}
