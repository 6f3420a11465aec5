//! Operators.

use sqlparser::ast::{BinaryOperator, Expr};

use super::build::take;
use super::casts;
use super::patterns::like_of_operator;
use super::scope::{Scope, Type};
use super::translator::{Translator, not_supported};
use crate::CatalogError;
use crate::pg_type::PgType;

impl Translator<'_> {
    pub(super) fn operator(&mut self, expr: &mut Expr, scope: Scope<'_>) -> Result<Type, CatalogError> {
        let Expr::BinaryOp { left, op, right } = expr else { return Ok(Type::Natural) };
        *op = plain_operator(op)?;
        use BinaryOperator as B;
        match op {
            B::And | B::Or => {
                self.expr(left, scope)?;
                self.expr(right, scope)?;
                Ok(Type::Of(PgType::BOOL))
            }
            B::Eq | B::NotEq | B::Lt | B::LtEq | B::Gt | B::GtEq => {
                self.compared(left, right, scope)?;
                Ok(Type::Of(PgType::BOOL))
            }
            B::PGRegexMatch | B::PGRegexIMatch | B::PGRegexNotMatch | B::PGRegexNotIMatch => {
                self.expr(left, scope)?;
                self.expr(right, scope)?;
                Ok(Type::Of(PgType::BOOL))
            }
            B::PGLikeMatch | B::PGNotLikeMatch | B::PGILikeMatch | B::PGNotILikeMatch => {
                self.expr(left, scope)?;
                self.expr(right, scope)?;
                *expr = like_of_operator(op, take(left), take(right));
                Ok(Type::Of(PgType::BOOL))
            }
            B::StringConcat => {
                let (of_left, of_right) = (self.expr(left, scope)?, self.expr(right, scope)?);
                let is_array = |ty: &Type| ty.pg().and_then(PgType::element).is_some();
                if is_array(&of_left) || is_array(&of_right) {
                    return Ok(if is_array(&of_left) { of_left } else { of_right });
                }
                for (side, ty) in [(left, of_left), (right, of_right)] {
                    let value = take(side);
                    **side = casts::as_text(value, &ty);
                }
                Ok(Type::Of(PgType::TEXT))
            }
            B::Plus
            | B::Minus
            | B::Multiply
            | B::Divide
            | B::Modulo
            | B::BitwiseAnd
            | B::BitwiseOr
            | B::BitwiseXor
            | B::PGBitwiseShiftLeft
            | B::PGBitwiseShiftRight => {
                let of_left = self.expr(left, scope)?;
                Ok(of_left.arithmetic(self.expr(right, scope)?))
            }
            B::Arrow | B::LongArrow | B::HashArrow | B::HashLongArrow => {
                self.expr(left, scope)?;
                self.expr(right, scope)?;
                Ok(Type::Natural)
            }
            other => Err(not_supported(format!("the operator {other}"))),
        }
    }
}

/// `OPERATOR(pg_catalog.~)` is `~`.
pub(super) fn plain_operator(op: &BinaryOperator) -> Result<BinaryOperator, CatalogError> {
    use BinaryOperator as B;
    let B::PGCustomBinaryOperator(path) = op else { return Ok(op.clone()) };
    let symbol = path.last().map_or("", String::as_str);
    Ok(match symbol {
        "~" => B::PGRegexMatch,
        "~*" => B::PGRegexIMatch,
        "!~" => B::PGRegexNotMatch,
        "!~*" => B::PGRegexNotIMatch,
        "~~" => B::PGLikeMatch,
        "!~~" => B::PGNotLikeMatch,
        "~~*" => B::PGILikeMatch,
        "!~~*" => B::PGNotILikeMatch,
        "=" => B::Eq,
        "<>" => B::NotEq,
        "<" => B::Lt,
        "<=" => B::LtEq,
        ">" => B::Gt,
        ">=" => B::GtEq,
        "+" => B::Plus,
        "-" => B::Minus,
        "||" => B::StringConcat,
        other => return Err(not_supported(format!("the operator {other}"))),
    })
}
