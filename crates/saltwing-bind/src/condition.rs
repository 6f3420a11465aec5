//! Conditions of a WHERE clause.

use saltwing_plan::Condition;
use saltwing_types::Expr;

/// The conditions that must all hold, each with its text.
pub fn conditions(e: Expr) -> Vec<Condition> {
    e.into_conjuncts().into_iter().map(Condition::new).collect()
}
