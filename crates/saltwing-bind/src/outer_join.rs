//! Outer joins that a condition above makes inner joins.
//!
//! `a LEFT JOIN b .. WHERE b.k = 5` is an inner join: for a row of `a` without a partner, the condition is unknown, and the row is
//! left out. Only below an inner join do conditions reach the table `b`.

use saltwing_plan::Condition;
use saltwing_types::function::NullRule;
use saltwing_types::{ColumnRef, CompareOp, Expr};

use crate::tree::{JoinKind, Relation};

/// The relation below a filter, with such joins made inner ones.
pub(crate) fn without_extra_rows(relation: Relation, conditions: &[Condition]) -> Relation {
    let Relation::Join { kind, mut left, mut right, lateral, same, conditions: on } = relation else { return relation };
    let rejects = |side: &Relation| {
        conditions.iter().any(|condition| is_never_true(&condition.expr, &|column| side.has_column(column.index)))
    };
    let kind = match kind {
        JoinKind::Left if rejects(&right) => JoinKind::Inner,
        JoinKind::Right if rejects(&left) => JoinKind::Inner,
        JoinKind::Full => match (rejects(&left), rejects(&right)) {
            (true, true) => JoinKind::Inner,
            (true, false) => JoinKind::Left,
            (false, true) => JoinKind::Right,
            (false, false) => JoinKind::Full,
        },
        same => same,
    };
    // A side whose rows all come is itself below the filter.
    if matches!(kind, JoinKind::Inner | JoinKind::Left) {
        *left = without_extra_rows(*left, conditions);
    }
    if matches!(kind, JoinKind::Inner | JoinKind::Right) {
        *right = without_extra_rows(*right, conditions);
    }
    Relation::Join { kind, left, right, lateral, same, conditions: on }
}

/// Whether a condition cannot hold where these columns are NULL.
fn is_never_true(condition: &Expr, is_null: &dyn Fn(&ColumnRef) -> bool) -> bool {
    match condition {
        Expr::And(list) => list.iter().any(|part| is_never_true(part, is_null)),
        Expr::Or(list) => list.iter().all(|part| is_never_true(part, is_null)),
        Expr::IsTruth(inner, Some(true)) => is_never_true(inner, is_null),
        Expr::Not(inner) => match &**inner {
            Expr::IsNull(inner) => is_unknown(inner, is_null),
            _ => is_unknown(inner, is_null),
        },
        other => is_unknown(other, is_null),
    }
}

/// Whether an expression is NULL where these columns are.
fn is_unknown(expr: &Expr, is_null: &dyn Fn(&ColumnRef) -> bool) -> bool {
    let unknown = |part: &Expr| is_unknown(part, is_null);
    match expr {
        Expr::Column(column) => is_null(column),
        Expr::Not(inner) | Expr::Negate(inner, _) | Expr::Cast(inner, _) | Expr::InList(inner, _) => unknown(inner),
        Expr::Compare(op, a, b) => {
            !matches!(op, CompareOp::Distinct | CompareOp::NotDistinct) && (unknown(a) || unknown(b))
        }
        Expr::Arith(_, a, b, _) => unknown(a) || unknown(b),
        Expr::Like { text, pattern, .. } => unknown(text) || unknown(pattern),
        Expr::Call(function, args, _) if function.name == "NULLIF" => args.first().is_some_and(unknown),
        Expr::Call(function, args, _) => function.nulls == NullRule::Strict && args.iter().any(unknown),
        _ => false,
    }
}
