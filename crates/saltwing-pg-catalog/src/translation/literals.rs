//! Literals.

use sqlparser::ast::{Expr, Value};

use super::build::text;
use super::scope::Type;
use super::translator::not_supported;
use crate::CatalogError;
use crate::pg_type::PgType;

/// A literal. Texts of all forms become one.
pub(super) fn literal(value: Value) -> Result<(Expr, Type), CatalogError> {
    use Value as V;
    let plain = |value: Value| Expr::Value(value.with_empty_span());
    Ok(match value {
        V::SingleQuotedString(it) | V::EscapedStringLiteral(it) | V::UnicodeStringLiteral(it) => {
            (text(&it), Type::Open)
        }
        V::DollarQuotedString(it) => (text(&it.value), Type::Open),
        V::Null => (plain(V::Null), Type::Open),
        V::Placeholder(name) => (plain(V::Placeholder(name)), Type::Open),
        V::Boolean(value) => (plain(V::Boolean(value)), Type::Of(PgType::BOOL)),
        V::Number(digits, long) => {
            let ty = if digits.parse::<i32>().is_ok() { Type::Of(PgType::INT4) } else { Type::Natural };
            (plain(V::Number(digits, long)), ty)
        }
        other => return Err(not_supported(format!("the literal {other}"))),
    })
}
