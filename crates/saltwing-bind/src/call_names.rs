//! The columns that a call names.

use std::ops::ControlFlow;

use sqlparser::ast::{self, visit_expressions};

/// Whether the arguments of a call name columns, and only such that `is_it`. A subquery among them may name others.
pub(crate) fn names_only(call: &ast::Function, is_it: impl Fn(&[&str]) -> bool) -> bool {
    let mut found = false;
    let visited = visit_expressions(call, |e| {
        let parts: Vec<&str> = match e {
            ast::Expr::Identifier(name) => vec![&name.value],
            ast::Expr::CompoundIdentifier(parts) => parts.iter().map(|part| part.value.as_str()).collect(),
            ast::Expr::Subquery(_) | ast::Expr::Exists { .. } | ast::Expr::InSubquery { .. } => {
                return ControlFlow::Break(());
            }
            _ => return ControlFlow::Continue(()),
        };
        found = true;
        if is_it(&parts) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    found && visited.is_continue()
}
