//! Key expressions: parts of a key that are computed from the key columns after them.
//!
//! ```text
//! PRIMARY KEY (SUBSTR(MD5(phone), 1, 3), phone, start_time DESC, id)
//!              f15                       18601134210  ..
//! ```
//!
//! The part is stored only in the row key, and every statement that knows the inputs computes it again. It may
//! therefore consist only of functions with the same result in every version and on every machine. A NULL input makes
//! it NULL, regardless of the function.
//!
//! # Laws
//! 1. [`key_type`] accepts only expressions that are deterministic and NULL where an input is.
//! 2. Every value of an accepted expression is a value of its key type: an expression
//!    of fixed width gives exactly so many characters, none of them a blank.

use crate::function::{KeyPart, KeyProperty};
use crate::{Expr, Function, SqlType, Value};

/// The functions allowed in a key expression, for messages.
pub fn key_functions() -> String {
    let allowed = Function::all().filter(|function| function.key_part != KeyPart::Refused);
    let names: Vec<&str> =
        allowed.filter(|function| *function != Function::CONCAT).map(|function| function.name).collect();
    format!("{}, ||, integer arithmetic, and CAST of integers", names.join(", "))
}

/// Why an expression is no part of a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyExpressionError {
    /// Something that a key may not hold.
    #[error("{0} is not for keys")]
    NotForKeys(String),
    /// An expression without a column.
    #[error("{0} names no column")]
    Constant(String),
    /// An expression that gives text without characters, always.
    #[error("{0} is always empty")]
    Empty(String),
}

/// The type in which a key keeps the expression.
///
/// MD5 is CHAR(32) and SHA256 CHAR(64); what SUBSTR and LEFT take of them by constants is CHAR of that many.
///
/// # Errors
/// [`KeyExpressionError`].
pub fn key_type(expr: &Expr) -> Result<SqlType, KeyExpressionError> {
    check(expr)?;
    if expr.columns().is_empty() {
        return Err(KeyExpressionError::Constant(expr.to_string()));
    }
    match (text_width(expr), expr.sql_type()) {
        (Some(0), _) => Err(KeyExpressionError::Empty(expr.to_string())),
        (Some(width), _) => Ok(SqlType::Char(width)),
        (None, Some(ty)) => Ok(ty),
        (None, None) => Err(KeyExpressionError::NotForKeys(expr.to_string())),
    }
}

/// Whether a part of this type is NULL where it would have no value: one of variable width.
///
/// A part of fixed width has no form for NULL, and so neither may its inputs.
pub fn may_be_null(ty: SqlType) -> bool {
    ty.fixed_key_bytes().is_none()
}

/// Whether all of the expression is deterministic, lasting, and NULL where an input is.
fn check(expr: &Expr) -> Result<(), KeyExpressionError> {
    let no = |what: String| Err(KeyExpressionError::NotForKeys(what));
    let is_integer = |e: &Expr| e.sql_type().is_some_and(SqlType::is_integer);
    let is_text = |e: &Expr| matches!(e.sql_type(), Some(SqlType::Char(_) | SqlType::Varchar(_)));
    match expr {
        Expr::Literal(value, _) if value.is_null() => return no("NULL".into()),
        Expr::Literal(..) | Expr::Column(_) => {}
        Expr::Call(function, ..) if function.key_part != KeyPart::Refused => {}
        Expr::Call(function, ..) => return no(format!("the function {}", function.name)),
        Expr::Arith(_, a, b, _) if is_integer(a) && is_integer(b) => {}
        Expr::Negate(e, _) if is_integer(e) => {}
        Expr::Arith(..) | Expr::Negate(..) => return no(format!("{expr}, arithmetic that is not of integers,")),
        Expr::Cast(e, ty) if is_integer(e) && (ty.is_integer() || matches!(ty, SqlType::Varchar(_))) => {}
        Expr::Cast(e, SqlType::Varchar(_)) if is_text(e) => {}
        other => return no(other.to_string()),
    }
    let mut checked = Ok(());
    expr.for_each_child(&mut |child| {
        if checked.is_ok() {
            checked = check(child);
        }
    });
    checked
}

/// How many characters the text always has: for parts of MD5 and SHA256.
fn text_width(expr: &Expr) -> Option<u32> {
    let Expr::Call(function, args, _) = expr else { return None };
    let width = || args.first().and_then(text_width);
    let count = |at: usize| match args.get(at) {
        Some(Expr::Literal(Value::Int(count), _)) => Some(*count),
        _ => None,
    };
    match (function.key_part, function.key_property) {
        (KeyPart::Chars(width), _) => Some(width),
        (KeyPart::AsWideAsArgument, _) => width(),
        (KeyPart::Allowed, KeyProperty::Prefix) => {
            let (width, count) = (width()?, count(1)?);
            let taken = if count < 0 { i64::from(width).checked_add(count)? } else { count };
            u32::try_from(taken.clamp(0, width.into())).ok()
        }
        (KeyPart::Allowed, KeyProperty::Substring) => {
            let width = i64::from(width()?);
            let skipped = match count(1)? {
                from if from < 0 => width.checked_add(from).filter(|skipped| *skipped >= 0).unwrap_or(width),
                from => (from - 1).clamp(0, width),
            };
            let taken = if args.len() > 2 { count(2)? } else { width };
            u32::try_from(taken.clamp(0, width - skipped)).ok()
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ArithOp, ColumnRef, eval, number, typing};

    fn column(ty: SqlType) -> Expr {
        Expr::Column(ColumnRef { index: 0, name: "c".into(), ty, nullable: true, span: None })
    }

    fn int(n: i64) -> Expr {
        Expr::Literal(Value::Int(n), SqlType::BigInt)
    }

    fn call(function: &str, args: Vec<Expr>) -> Expr {
        typing::call_named(function, args).unwrap()
    }

    fn md5() -> Expr {
        call("MD5", vec![column(SqlType::Varchar(None))])
    }

    /// Law 2 for text of fixed width.
    fn check_width(expr: &Expr) {
        let value = eval::eval(expr, &[Value::text("18601134210")]).unwrap();
        let Value::Text(computed) = &value else { panic!("{value:?}") };
        match key_type(expr) {
            Ok(SqlType::Char(width)) => {
                assert_eq!(computed.len(), width as usize, "{expr}");
                assert_eq!(number::assign(value.clone(), SqlType::Char(width)).unwrap(), value, "{expr}");
            }
            Err(KeyExpressionError::Empty(_)) => assert_eq!(computed, "", "{expr}"),
            other => panic!("{expr}: {other:?}"),
        }
        assert_eq!(eval::eval(expr, &[Value::Null]).unwrap(), Value::Null);
    }

    #[test]
    fn fixed_width_is_kept() {
        let ends = [i64::MIN, -65, -64, -33, -32, -31, -3, -1, 0, 1, 2, 31, 32, 33, 63, 64, 65, i64::MAX];
        for hash in [md5(), call("SHA256", vec![column(SqlType::Varchar(None))])] {
            for from in ends {
                check_width(&call("LEFT", vec![call("UPPER", vec![hash.clone()]), int(from)]));
                check_width(&call("SUBSTR", vec![call("REVERSE", vec![hash.clone()]), int(from)]));
                for count in ends {
                    check_width(&call("SUBSTR", vec![hash.clone(), int(from), int(count)]));
                }
            }
        }
    }

    #[test]
    fn types_follow_from_the_expression() {
        let text = || column(SqlType::Varchar(Some(9)));
        assert_eq!(key_type(&md5()), Ok(SqlType::Char(32)));
        assert_eq!(key_type(&call("SUBSTR", vec![md5(), int(1), int(3)])), Ok(SqlType::Char(3)));
        assert_eq!(key_type(&call("REVERSE", vec![text()])), Ok(SqlType::Varchar(None)));
        let number = || column(SqlType::Integer);
        let rest = typing::arith(ArithOp::Rem, number(), int(16)).unwrap();
        assert_eq!(key_type(&rest), Ok(SqlType::BigInt));
        assert_eq!(key_type(&typing::cast(rest, SqlType::TinyInt).unwrap()), Ok(SqlType::TinyInt));
        let day = typing::call_named("DATE_TRUNC", vec![typing::string("day"), column(SqlType::UnsignedDate)]).unwrap();
        assert_eq!(key_type(&day), Ok(SqlType::Date));
        let hash = call("HASH", vec![column(SqlType::Decimal(None))]);
        assert_eq!(key_type(&typing::arith(ArithOp::Rem, hash, int(8)).unwrap()), Ok(SqlType::BigInt));
        assert!(!may_be_null(SqlType::TinyInt) && may_be_null(SqlType::Varchar(None)));
    }

    #[test]
    fn what_is_not_for_keys_is_named() {
        let text = || column(SqlType::Varchar(None));
        let refused = |expr: Expr| key_type(&expr).unwrap_err().to_string();
        assert_eq!(refused(call("TRIM", vec![text()])), "the function TRIM is not for keys");
        assert_eq!(refused(call("MD5", vec![typing::string("x")])), "MD5('x') names no column");
        assert_eq!(refused(call("LEFT", vec![md5(), int(0)])), "LEFT(MD5(c), 0) is always empty");
        let half = typing::arith(ArithOp::Mul, column(SqlType::Double), int(2)).unwrap();
        assert!(refused(half).contains("not of integers"));
        let nested = call("MD5", vec![call("COALESCE", vec![text(), typing::string("x")])]);
        assert_eq!(refused(nested), "the function COALESCE is not for keys");
    }
}
