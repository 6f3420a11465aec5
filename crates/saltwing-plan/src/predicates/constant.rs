//! Conditions without columns, and the constants that columns are compared with.

use saltwing_types::eval::eval;
use saltwing_types::{Expr, SqlType, Value};

use crate::column_set::ColumnSet;
use crate::cover::Cover;
use crate::domain::Domain;
use crate::literal_position::LiteralPosition;
use crate::predicates::TruthSet;

/// The side of a comparison that names no column.
pub(super) enum Constant {
    /// A value, not NULL; `padded` when it is CHAR.
    Value { value: Value, padded: bool },
    /// NULL.
    Null,
    /// A value known only at execution: a parameter or a subquery; this is the number of its sample.
    Parameter(usize),
}

impl Constant {
    /// Computes `expr`, if it names no column.
    ///
    /// A constant whose computation fails (division by zero, a failing cast) is not one here: the condition stays in
    /// the residual, where it raises its error.
    pub(super) fn of(expr: &Expr) -> Option<Self> {
        let padded = matches!(expr.sql_type(), Some(SqlType::Char(_)));
        match expr {
            Expr::Literal(Value::Null, _) => return Some(Self::Null),
            Expr::Literal(value, _) => return Some(Self::Value { value: value.clone(), padded }),
            Expr::Column(_) => return None,
            _ => {}
        }
        let (mut has_column, mut parameter) = (false, None);
        expr.walk(&mut |e| match e {
            Expr::Column(_) => has_column = true,
            e => parameter = parameter.or(unknown(e)),
        });
        match (has_column, parameter) {
            (true, _) => None,
            (false, Some(index)) => Some(Self::Parameter(index)),
            (false, None) => match eval(expr, &[]).ok()? {
                Value::Null => Some(Self::Null),
                value => Some(Self::Value { value, padded }),
            },
        }
    }

    /// Its place among a column's values, and whether that is made up for a
    /// parameter; `None` for NULL and for another family.
    pub(super) fn place(&self, domain: &Domain) -> Option<(LiteralPosition, bool)> {
        match self {
            Self::Null => None,
            Self::Value { value, padded } => Some((domain.locate(value, *padded)?, false)),
            Self::Parameter(index) => Some((LiteralPosition::At(domain.sample(*index)), true)),
        }
    }

    /// Its text, and whether that is made up for a parameter; `None` for NULL and for another family.
    pub(super) fn text(&self, domain: &Domain) -> Option<(String, bool)> {
        match self {
            Self::Null => None,
            Self::Value { value, .. } => Some((value.as_text()?.to_owned(), false)),
            Self::Parameter(index) => Some((domain.sample(*index).as_text()?.to_owned(), true)),
        }
    }
}

/// The number of the sample for a value known only at execution.
pub(super) fn unknown(expr: &Expr) -> Option<usize> {
    /// Parameters and subqueries of one condition are taken for different values.
    const SUBQUERIES_FROM: usize = 50;
    match expr {
        Expr::Param(index, _) => Some(*index),
        Expr::Subquery(index, _) => Some(SUBQUERIES_FROM + index),
        _ => None,
    }
}

/// Marks a set as made up if it is.
pub(super) fn marked(set: ColumnSet, unknown: bool) -> ColumnSet {
    if unknown { set.into_unknown() } else { set }
}

/// All rows or none, for a condition that names no column and no parameter.
pub(super) fn cover(expr: &Expr, want: TruthSet) -> Option<Cover> {
    let foldable = match expr {
        Expr::Literal(..) => true,
        Expr::Column(_) | Expr::Param(..) | Expr::Subquery(..) => false,
        // Lists are long and have columns in them, or the front end would have folded them.
        Expr::And(_) | Expr::Or(_) => false,
        Expr::InList(e, _) => e.is_constant() && expr.is_constant(),
        Expr::RowInList(row, _) => row.iter().all(Expr::is_constant) && expr.is_constant(),
        _ => expr.is_constant(),
    };
    if !foldable {
        return None;
    }
    let outcome = match eval(expr, &[]).ok()? {
        Value::Bool(b) => Some(b),
        _ => None,
    };
    Some(if want.has(outcome) { Cover::everything() } else { Cover::nothing() })
}
