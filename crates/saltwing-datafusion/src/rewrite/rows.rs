//! Subqueries that DataFusion's planner would refuse or misread, prepared for [`crate::unnesting`].
//!
//! DataFusion plans one value before `IN`, ANY and ALL, and one column behind. So a row value, and the columns with
//! which it is compared, become one value each: `row(a, b) IN (SELECT row(c0, c1) FROM (..) AS rows (c0, c1))`.

use std::ops::ControlFlow;

use saltwing_types::Span;
use sqlparser::ast::{
    Expr, Ident, Query, SelectItem, TableAlias, TableAliasColumnDef, TableFactor, WildcardAdditionalOptions,
    visit_expressions,
};

use super::rewriter::Rewriter;
use super::tree::{Result, select_from};
use crate::expression::internal_name::LATERAL_MARKER;
use crate::expression::operation::Operation;

impl Rewriter<'_> {
    /// `SELECT row(c0, c1) FROM (members) AS m (c0, c1)`.
    pub(super) fn rows_of(&mut self, members: Box<Query>, width: usize, span: Option<Span>) -> Result<Box<Query>> {
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
        select_from(vec![SelectItem::ExprWithAlias { expr: row, alias: quoted("__saltwing_row") }], relation)
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
    let name = Ident::with_quote('"', LATERAL_MARKER);
    let alias = TableAlias { explicit: true, name, columns: Vec::new(), at: None };
    let relation =
        TableFactor::Derived { lateral: false, subquery: subquery.clone(), alias: Some(alias), sample: None };
    *subquery = select_from(vec![SelectItem::Wildcard(WildcardAdditionalOptions::default())], relation)?;
    Ok(())
}
