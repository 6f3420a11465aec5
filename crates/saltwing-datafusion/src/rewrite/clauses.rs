//! What may stand in which clause, where DataFusion's refusal has no place in the statement, or tells of its plans.

use std::collections::HashSet;
use std::ops::ControlFlow;

use saltwing_sql::expr_span;
use saltwing_types::{Function, Span};
use sqlparser::ast::{
    Expr, GroupByExpr, JoinConstraint, OrderByKind, Query, Select, SelectItem, SetExpr, Value, Visit, Visitor,
};

use super::rewriter::Rewriter;
use super::tree::{Result, constraint_of, factor_name, factors, visited};
use crate::function::function_names::FunctionNames;
use crate::{RelationalError, RelationalErrorKind};

impl Rewriter<'_> {
    /// # Errors
    /// A window function or an aggregate where none may stand, two tables of one name in FROM, a number of no item in GROUP BY.
    pub(super) fn check_clauses(&self, select: &Select) -> Result<()> {
        if let Some(condition) = &select.selection {
            self.check_calls(condition, Clause { name: "WHERE", takes_aggregates: false })?;
        }
        if let Some(condition) = &select.having {
            self.check_calls(condition, Clause { name: "HAVING", takes_aggregates: true })?;
        }
        if let GroupByExpr::Expressions(keys, _) = &select.group_by {
            for key in keys {
                self.check_calls(key, Clause { name: "GROUP BY", takes_aggregates: false })?;
                check_number(key, select, "GROUP BY")?;
            }
        }
        for join in select.from.iter().flat_map(|from| &from.joins) {
            if let Some(JoinConstraint::On(condition)) = constraint_of(&join.join_operator) {
                self.check_calls(condition, Clause { name: "ON", takes_aggregates: false })?;
            }
        }
        check_names(select)
    }

    fn check_calls(&self, expr: &Expr, clause: Clause) -> Result<()> {
        visited(expr.visit(&mut Calls { functions: self.functions, clause, depth: 0 }))
    }
}

/// # Errors
/// A number in ORDER BY that is that of no item.
pub(super) fn check_order(query: &Query) -> Result<()> {
    let (SetExpr::Select(select), Some(order_by)) = (query.body.as_ref(), &query.order_by) else { return Ok(()) };
    let OrderByKind::Expressions(list) = &order_by.kind else { return Ok(()) };
    list.iter().try_for_each(|item| check_number(&item.expr, select, "ORDER BY"))
}

/// A clause, and whether values of groups may stand in it.
#[derive(Clone, Copy)]
struct Clause {
    name: &'static str,
    takes_aggregates: bool,
}

/// Looks for calls that may not stand in a clause. Subqueries have clauses of their own.
struct Calls<'a> {
    functions: &'a FunctionNames<'a>,
    clause: Clause,
    depth: usize,
}

impl Visitor for Calls<'_> {
    type Break = RelationalError;

    fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<RelationalError> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<RelationalError> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<RelationalError> {
        let Expr::Function(call) = expr else { return ControlFlow::Continue(()) };
        if self.depth > 0 {
            return ControlFlow::Continue(());
        }
        let Clause { name: clause, takes_aggregates } = self.clause;
        let name = call.name.0.last().and_then(|part| part.as_ident()).map(|name| name.value.to_lowercase());
        let is_aggregate = name.is_some_and(|name| {
            Function::by_name(&name).is_none() && self.functions.is_aggregate(&name) && !takes_aggregates
        });
        let (what, help) = match (call.over.is_some(), is_aggregate) {
            (true, _) => ("window functions", "QUALIFY takes conditions on them, or a query around this one"),
            (false, true) => ("aggregate functions", "HAVING takes conditions on groups, or a query around this one"),
            (false, false) => return ControlFlow::Continue(()),
        };
        let text = format!("{what} are not allowed in {clause}");
        ControlFlow::Break(syntax(text, expr_span(expr)).help(help))
    }
}

/// # Errors
/// A number that is that of no item; `*` counts as any number of them.
fn check_number(expr: &Expr, select: &Select, clause: &str) -> Result<()> {
    let Expr::Value(value) = expr else { return Ok(()) };
    let Value::Number(text, _) = &value.value else { return Ok(()) };
    let has_wildcard = select
        .projection
        .iter()
        .any(|item| matches!(item, SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..)));
    let is_item = text.parse::<usize>().is_ok_and(|number| (1..=select.projection.len()).contains(&number));
    if has_wildcard || is_item {
        return Ok(());
    }
    let columns = select.projection.len();
    let text = format!("{clause} {text} is no column of the query, which has {columns}");
    Err(syntax(text, expr_span(expr)).help("write an expression, or the number of a column from 1 on"))
}

/// # Errors
/// A name that two tables of FROM have.
fn check_names(select: &Select) -> Result<()> {
    let mut known = HashSet::new();
    for name in select.from.iter().flat_map(factors).filter_map(factor_name) {
        let parts: Vec<_> = name.0.iter().filter_map(|part| part.as_ident()).cloned().collect();
        if !known.insert(parts.iter().map(|part| part.value.clone()).collect::<Vec<_>>()) {
            let shown = parts.iter().map(|part| part.value.as_str()).collect::<Vec<_>>().join(".");
            let span = expr_span(&Expr::CompoundIdentifier(parts));
            let text = format!("table name {shown} stands twice in FROM");
            return Err(syntax(text, span).help("an alias tells them apart: FROM t AS a, t AS b"));
        }
    }
    Ok(())
}

fn syntax(text: String, span: Option<Span>) -> RelationalError {
    RelationalError::from(RelationalErrorKind::Syntax(text)).at(span)
}
