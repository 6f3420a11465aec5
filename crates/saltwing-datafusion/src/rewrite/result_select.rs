//! The SELECT that names the result's columns.

use sqlparser::ast::{Query, SetExpr};

/// Finds the SELECT that names the result's columns while a statement's tree is visited and changed.
///
/// It is the first SELECT that the visit enters outside of all WITH clauses, because the visit enters the WITH queries
/// of a query first, then the left side of a set operation. The caller must report each query and each SELECT of the
/// tree.
pub(super) struct ResultSelect {
    is_found: bool,
    /// Of each query around the place of the visit, how many of its WITH queries have not ended.
    open: Vec<usize>,
}

impl ResultSelect {
    /// Before the visit of a statement.
    pub(super) fn of(statement: &Query) -> Self {
        Self { is_found: !starts_with_select(&statement.body), open: Vec::new() }
    }

    pub(super) fn enter_query(&mut self, query: &Query) {
        self.open.push(query.with.as_ref().map_or(0, |with| with.cte_tables.len()));
    }

    pub(super) fn leave_query(&mut self) {
        self.open.pop();
        if let Some(around) = self.open.last_mut() {
            *around = around.saturating_sub(1);
        }
    }

    /// Whether the SELECT that is entered is the one.
    pub(super) fn enter_select(&mut self) -> bool {
        let is_result = !self.is_found && self.open.iter().all(|open| *open == 0);
        self.is_found |= is_result;
        is_result
    }
}

/// Whether a SELECT names the columns, and not a VALUES.
fn starts_with_select(body: &SetExpr) -> bool {
    match body {
        SetExpr::Select(_) => true,
        SetExpr::Query(query) => starts_with_select(&query.body),
        SetExpr::SetOperation { left, .. } => starts_with_select(left),
        _ => false,
    }
}
