//! Subqueries that DataFusion's planner would refuse or misread, prepared for [`crate::unnesting`].
//!
//! DataFusion plans one value before `IN`, ANY and ALL, and one column behind. So a row value, and the columns with
//! which it is compared, become one value each: `row(a, b) IN (SELECT row(c0, c1) FROM (..) AS rows (c0, c1))`.

use std::ops::ControlFlow;

use saltwing_types::Span;
use sqlparser::ast::{
    self, Expr, Ident, Query, SelectItem, SetExpr, TableAlias, TableAliasColumnDef, TableFactor, TableWithJoins,
    WildcardAdditionalOptions, visit_expressions,
};
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::Parser;

use super::{Result, Rewriter};
use crate::RelationalError;
use crate::operation::Operation;
use crate::unnesting::LATERAL_MARKER;

impl Rewriter<'_> {
    /// `SELECT row(c0, c1) FROM (members) AS m (c0, c1)`.
    pub(super) fn rows_of(&mut self, members: Box<Query>, width: usize, span: Option<Span>) -> Result<Box<Query>> {
        let mut query = template()?;
        let SetExpr::Select(select) = query.body.as_mut() else { return Err(RelationalError::bug("no SELECT")) };
        let quoted = |name: &str| Ident::with_quote('"', name);
        let columns: Vec<Ident> = (0..width).map(|i| quoted(&format!("__saltwing_c{i}"))).collect();
        let column = |name: &Ident| TableAliasColumnDef { name: name.clone(), data_type: None };
        let alias = TableAlias {
            explicit: true,
            name: quoted("__saltwing_rows"),
            columns: columns.iter().map(column).collect(),
            at: None,
        };
        let row = self.call(Operation::Row, columns.into_iter().map(Expr::Identifier).collect(), span);
        let relation = TableFactor::Derived { lateral: false, subquery: members, alias: Some(alias), sample: None };
        select.projection = vec![SelectItem::ExprWithAlias { expr: row, alias: quoted("__saltwing_row") }];
        select.from = vec![TableWithJoins { relation, joins: Vec::new() }];
        Ok(query)
    }
}

/// Marks a lateral table that names the tables to its left in subqueries alone.
pub(super) fn marked(factor: &mut TableFactor) -> Result<()> {
    let TableFactor::Derived { lateral: true, subquery, .. } = factor else { return Ok(()) };
    let is_subquery = |expr: &Expr| matches!(expr, Expr::Subquery(_) | Expr::Exists { .. } | Expr::InSubquery { .. });
    let found = visit_expressions(subquery.as_ref(), |expr| match is_subquery(expr) {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    });
    if found.is_continue() {
        return Ok(());
    }
    let mut query = template()?;
    std::mem::swap(subquery, &mut query);
    let SetExpr::Select(select) = subquery.body.as_mut() else { return Err(RelationalError::bug("no SELECT")) };
    let name = Ident::with_quote('"', LATERAL_MARKER);
    let alias = TableAlias { explicit: true, name, columns: Vec::new(), at: None };
    let relation = TableFactor::Derived { lateral: false, subquery: query, alias: Some(alias), sample: None };
    select.projection = vec![SelectItem::Wildcard(WildcardAdditionalOptions::default())];
    select.from = vec![TableWithJoins { relation, joins: Vec::new() }];
    Ok(())
}

/// A SELECT to be filled in: its fields are many, and the parser knows them.
fn template() -> Result<Box<Query>> {
    let mut statements = Parser::parse_sql(&GenericDialect {}, "SELECT 1")
        .map_err(|error| RelationalError::bug(format!("SELECT 1: {error}")))?;
    match statements.pop() {
        Some(ast::Statement::Query(query)) => Ok(query),
        _ => Err(RelationalError::bug("SELECT 1 is no query")),
    }
}
