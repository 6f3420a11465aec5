//! Conditions without columns, and the constants that columns are compared with.

use saltwing_types::eval::eval;
use saltwing_types::{Expr, SqlType, Value};

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
    /// A value known only at execution, of a parameter or a subquery, and its type, if that is known.
    Open(Option<SqlType>),
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
        let (mut has_column, mut is_open) = (false, false);
        expr.walk(&mut |e| match e {
            Expr::Column(_) => has_column = true,
            Expr::Param(..) | Expr::Subquery(..) => is_open = true,
            _ => {}
        });
        match (has_column, is_open) {
            (true, _) => None,
            (false, true) => Some(Self::Open(expr.sql_type())),
            (false, false) => match eval(expr, &[]).ok()? {
                Value::Null => Some(Self::Null),
                value => Some(Self::Value { value, padded }),
            },
        }
    }

    /// Its place among a column's values; `None` for NULL, for another family, and if it is not known yet.
    pub(super) fn place(&self, domain: &Domain) -> Option<LiteralPosition> {
        match self {
            Self::Value { value, padded } => domain.locate(value, *padded),
            Self::Null | Self::Open(_) => None,
        }
    }

    /// Its text; `None` for NULL, for another family, and if it is not known yet.
    pub(super) fn text(&self) -> Option<&str> {
        if let Self::Value { value, .. } = self { value.as_text() } else { None }
    }
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
