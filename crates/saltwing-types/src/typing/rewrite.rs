//! Functions that are another way to write an expression.

use super::{Typed, arith, case, compare, meet_type, repeated, string, type_name};
use crate::function::Rewrite;
use crate::sql_type::TypeFamily;
use crate::{ArithOp, CompareOp, Expr, Function, SqlType, Value, ValueError};

/// The expression that a call becomes, whose arguments are as many as the function's signature says.
pub(super) fn rewrite(function: Function, rewrite: Rewrite, args: Vec<Expr>) -> Typed {
    let mut args = args.into_iter();
    match (rewrite, args.next(), args.next()) {
        (Rewrite::NullIf, Some(a), Some(b)) => null_if(a, b),
        (Rewrite::TypeName, Some(value), None) => match value.sql_type() {
            Some(ty) => Ok(string(ty.to_string())),
            None => Err(ValueError::TypeMismatch(format!("{value} has no type before it has a value: CAST it"))),
        },
        (Rewrite::If, Some(condition), Some(value)) => {
            case(None, vec![(condition, value)], Some(args.next().unwrap_or(Expr::NULL)))
        }
        (Rewrite::Remainder, Some(a), Some(b)) => arith(ArithOp::Rem, a, b),
        (Rewrite::Moved(op), Some(at), Some(length)) => moved(function, op, at, length),
        (Rewrite::Sign, Some(number), None) => sign(number),
        (Rewrite::Decode, Some(value), Some(search)) => decode(value, search, args),
        _ => Err(ValueError::Internal(format!("a call of {function:?} with too few arguments"))),
    }
}

/// `CASE WHEN a = b THEN NULL ELSE a END`, so of a's type, and compared as `=` compares.
///
/// An operand without a type (a parameter, NULL) takes the type of `b`, as a plain string does.
fn null_if(a: Expr, b: Expr) -> Typed {
    let typed = match compare(CompareOp::Eq, repeated(&a)?, b)? {
        Expr::Compare(op, met, b)
            if matches!(a, Expr::Param(_, None) | Expr::Literal(Value::Null | Value::Text(_), _)) =>
        {
            let a = (*met).clone();
            (Expr::Compare(op, met, b), a)
        }
        equal => (equal, a),
    };
    let (equal, a) = typed;
    case(None, vec![(equal, Expr::NULL)], Some(a))
}

/// `at + length` or `at - length`: a string is read as a TIMESTAMP and as an INTERVAL.
fn moved(function: Function, op: ArithOp, at: Expr, length: Expr) -> Typed {
    let is_text = |e: &Expr| matches!(e, Expr::Literal(Value::Text(_), _) | Expr::Param(_, None));
    let at = if is_text(&at) { meet_type(at, SqlType::Timestamp)? } else { at };
    let length = if is_text(&length) { meet_type(length, SqlType::Interval)? } else { length };
    if !at.sql_type().is_some_and(|ty| matches!(ty.family(), TypeFamily::Instant | TypeFamily::Null)) {
        let text = format!("{} takes an instant, and {at} is {}", function.name, type_name(&at));
        return Err(ValueError::TypeMismatch(text));
    }
    arith(op, at, length)
}

/// `CASE WHEN value IS NOT DISTINCT FROM search THEN result .. ELSE default END`: a search without a result is the default.
fn decode(value: Expr, search: Expr, mut rest: impl Iterator<Item = Expr>) -> Typed {
    let (mut whens, mut next) = (Vec::new(), Some(search));
    while let Some(search) = next {
        let Some(result) = rest.next() else { return case(None, whens, Some(search)) };
        whens.push((compare(CompareOp::NotDistinct, repeated(&value)?, search)?, result));
        next = rest.next();
    }
    case(None, whens, None)
}

/// `CASE WHEN n > 0 THEN 1 WHEN n < 0 THEN -1 WHEN n = 0 THEN 0 END`, an INTEGER.
fn sign(number: Expr) -> Typed {
    let zero = || Expr::Literal(Value::Int(0), SqlType::BigInt);
    let number = meet_type(number, SqlType::Decimal(None))?;
    if !number.sql_type().is_some_and(|ty| matches!(ty.family(), TypeFamily::Number | TypeFamily::Null)) {
        return Err(ValueError::TypeMismatch(format!("SIGN takes a number, and {number} is {}", type_name(&number))));
    }
    let whens = [(CompareOp::Gt, 1), (CompareOp::Lt, -1), (CompareOp::Eq, 0)].map(|(op, sign)| {
        Ok((compare(op, repeated(&number)?, zero())?, Expr::Literal(Value::Int(sign), SqlType::Integer)))
    });
    case(None, whens.into_iter().collect::<Result<_, ValueError>>()?, None)
}
