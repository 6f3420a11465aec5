//! `CAST(k AS VARCHAR) = '42'`, `SUBSTR(k, 2) = 'x9'`: texts made of a key column, whose equality bounds the column.
//!
//! Two values of a column never have the same text, so a text is that of one value, or of none. No part of a text is
//! longer than the text. The order of texts is not that of values, so order comparisons stay in the residual.

use saltwing_types::function::KeyProperty;
use saltwing_types::{Expr, SqlType, Value, text};

use crate::domain::Domain;
use crate::literal_position::LiteralPosition;

/// A text made of a value.
#[derive(Clone, Copy, Debug)]
pub(super) enum KeyText {
    /// All of a value of this type, as it is written.
    Whole(SqlType),
    /// At most this many characters of it, from the second on or from the end.
    Substring(usize),
}

impl KeyText {
    /// The key column, and the form of its text.
    pub(super) fn of(expr: &Expr) -> Option<(&Expr, Self)> {
        match expr {
            Expr::Cast(inner, SqlType::Varchar(None)) => Some((inner, Self::Whole(inner.sql_type()?))),
            Expr::Call(function, args, _) if function.key_property == KeyProperty::Substring => {
                let (inner, from, count) = match args.as_slice() {
                    [inner, from] => (inner, integer(from)?, i64::MAX),
                    [inner, from, count] => (inner, integer(from)?, integer(count)?),
                    _ => return None,
                };
                let limit = match inner.sql_type()? {
                    // UTF-16 units are as many as characters at least.
                    SqlType::Char(limit) | SqlType::Varchar(Some(limit)) => i64::from(limit),
                    _ => i64::MAX,
                };
                let left = if from < 0 { limit.min(from.saturating_neg()) } else { limit - (from - 1).clamp(0, limit) };
                Some((inner, Self::Substring(usize::try_from(left.min(count).max(0)).ok()?)))
            }
            _ => None,
        }
    }

    /// The value with this text; the inner `None`: no value has it. The outer `None`: this form cannot answer the
    /// wanted outcome.
    pub(super) fn value(self, constant: &str, domain: &Domain) -> Option<Option<Value>> {
        match self {
            Self::Substring(chars_max) => (constant.chars().count() > chars_max).then_some(None),
            Self::Whole(ty) => {
                let value = text::parse(constant, ty).ok();
                // The value may be written in another way than here: then no value is written so.
                let value = value.filter(|value| text::format(value, ty).as_deref() == Some(constant));
                let place = value.and_then(|value| domain.locate(&value, false));
                Some(if let Some(LiteralPosition::At(value)) = place { Some(value) } else { None })
            }
        }
    }
}

fn integer(e: &Expr) -> Option<i64> {
    if let Expr::Literal(Value::Int(n), _) = e { Some(*n) } else { None }
}
