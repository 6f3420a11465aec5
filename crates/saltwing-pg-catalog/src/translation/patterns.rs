//! LIKE, SIMILAR TO, SUBSTRING: parts of texts, and the patterns of texts.

use sqlparser::ast::{BinaryOperator, Expr, Value, ValueWithSpan};

use super::build::{call, int, take};
use super::scope::{Scope, Type};
use super::translator::{Translator, not_supported};
use crate::CatalogError;
use crate::pg_type::PgType;

impl Translator<'_> {
    /// `left LIKE pattern ESCAPE escape`, and the like.
    pub(super) fn pattern(
        &mut self,
        left: &mut Expr,
        pattern: &mut Expr,
        escape: &mut Option<ValueWithSpan>,
        scope: Scope<'_>,
    ) -> Result<Type, CatalogError> {
        self.expr(left, scope)?;
        self.expr(pattern, scope)?;
        check_escape(escape)?;
        Ok(Type::Of(PgType::BOOL))
    }

    /// In PostgreSQL, places before the first character count.
    pub(super) fn substring(&mut self, expr: &mut Expr, scope: Scope<'_>) -> Result<Type, CatalogError> {
        let Expr::Substring { expr: of, substring_from, substring_for, .. } = expr else { return Ok(Type::Natural) };
        self.expr(of, scope)?;
        let mut arguments = vec![take(of)];
        if let Some(from) = substring_from {
            let ty = self.expr(from, scope)?;
            if substring_for.is_none() && matches!(&**from, Expr::Value(_)) && ty == Type::Open {
                *expr = call("regexp_substr", vec![arguments.remove(0), take(from)]);
                return Ok(Type::Of(PgType::TEXT));
            }
            arguments.push(take(from));
        } else {
            arguments.push(int(1));
        }
        if let Some(count) = substring_for {
            self.expr(count, scope)?;
            arguments.push(take(count));
        }
        let function = if arguments.len() == 3 { "pg_substring_for" } else { "pg_substring" };
        *expr = call(function, arguments);
        Ok(Type::Of(PgType::TEXT))
    }
}

/// The operators `~~`, `!~~`, `~~*` and `!~~*` as LIKE and ILIKE.
pub(super) fn like_of_operator(op: &BinaryOperator, left: Expr, pattern: Expr) -> Expr {
    use BinaryOperator as B;
    let negated = matches!(op, B::PGNotLikeMatch | B::PGNotILikeMatch);
    let (expr, pattern, escape_char) = (Box::new(left), Box::new(pattern), Some(backslash()));
    match op {
        B::PGILikeMatch | B::PGNotILikeMatch => Expr::ILike { negated, any: false, expr, pattern, escape_char },
        _ => Expr::Like { negated, any: false, expr, pattern, escape_char },
    }
}

fn backslash() -> ValueWithSpan {
    Value::SingleQuotedString("\\".to_owned()).with_empty_span()
}

/// In PostgreSQL, a backslash escapes unless ESCAPE names another character.
fn check_escape(escape: &mut Option<ValueWithSpan>) -> Result<(), CatalogError> {
    let value = escape.get_or_insert_with(backslash);
    match &value.value {
        Value::SingleQuotedString(text) | Value::EscapedStringLiteral(text)
            if text.chars().count() <= 1 && text != "'" =>
        {
            value.value = Value::SingleQuotedString(text.clone());
            Ok(())
        }
        _ => Err(not_supported("this ESCAPE")),
    }
}
