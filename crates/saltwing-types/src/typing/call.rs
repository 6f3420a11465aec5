//! Function calls: how many arguments, of which types, and the result's type.

use super::{
    Typed, arith, arith_type, as_text, as_type, case, cast, common_type, compare, meet_type, not, signed_instant,
    string, type_name,
};
use crate::calendar::{Bins, DateUnit};
use crate::regexp::Regexp;
use crate::sql_type::TypeFamily;
use crate::value::Timestamp;
use crate::{ArithOp, CompareOp, Expr, Function, SqlType, Value, ValueError};

/// A function call.
///
/// # Errors
/// [`ValueError::NoSuchFunction`] when the arguments do not fit in number, a type mismatch when not in type.
pub fn call(function: Function, args: Vec<Expr>) -> Typed {
    use Function::*;
    let (least, most) = match function {
        Coalesce | Concat => (1, usize::MAX),
        Substr => (2, 3),
        Left | Mod | NullIf | StartsWith | DateTrunc => (2, 2),
        DateBin | RegexpLike => (2, 3),
        Ceil | Floor | Round | Trunc => (1, 3),
        _ => (1, 1),
    };
    if !(least..=most).contains(&args.len()) {
        return Err(ValueError::NoSuchFunction(format!("{} with {} arguments", function.name(), args.len())));
    }
    let text = |args: Vec<Expr>| args.into_iter().map(|e| as_text(e, function.name())).collect::<Result<Vec<_>, _>>();
    let varchar = SqlType::Varchar(None);
    match function {
        Abs => {
            let ty = args.first().and_then(Expr::sql_type).unwrap_or(SqlType::Null);
            let ty = arith_type(ArithOp::Add, ty, ty).filter(|ty| ty.family() == TypeFamily::Number);
            let ty = ty.ok_or_else(|| ValueError::TypeMismatch("ABS takes a number".into()))?;
            Ok(Expr::Call(function, args, ty))
        }
        Mod | NullIf | Sign => {
            let mut args = args.into_iter();
            match (function, args.next(), args.next()) {
                (Mod, Some(a), Some(b)) => arith(ArithOp::Rem, a, b),
                (NullIf, Some(a), Some(b)) => null_if(a, b),
                (_, Some(number), None) => sign(number),
                _ => Err(ValueError::NoSuchFunction(function.name().into())),
            }
        }
        Coalesce => {
            let ty = common_type(&args.iter().collect::<Vec<_>>())?;
            let args = args.into_iter().map(|e| as_type(e, ty)).collect::<Result<Vec<_>, _>>()?;
            Ok(Expr::Call(function, args, ty))
        }
        Concat => {
            let args = args.into_iter().map(concat_part).collect::<Result<Vec<_>, _>>()?;
            Ok(Expr::Call(function, args, varchar))
        }
        Ceil | Floor | Round | Trunc => rounding(function, args),
        DateBin | DateTrunc => {
            let mut args = args.into_iter();
            let stride = args.next().map(|e| as_text(e, function.name())).transpose()?;
            let instants: Vec<Expr> = args.map(|e| as_instant(e, function.name())).collect::<Result<_, _>>()?;
            if let (Some(Expr::Literal(Value::Text(stride), _)), true) = (&stride, function == DateTrunc) {
                DateUnit::by_name(stride)?;
            } else if let Some(Expr::Literal(Value::Text(stride), _)) = &stride {
                Bins::of_stride(stride, Timestamp { ms: 0, nanos: 0 })?;
            }
            let ty = instants.first().and_then(Expr::sql_type).map_or(SqlType::Timestamp, signed_instant);
            Ok(Expr::Call(function, stride.into_iter().chain(instants).collect(), ty))
        }
        Extract(_) => {
            let args = args.into_iter().map(|e| as_instant(e, function.name())).collect::<Result<_, _>>()?;
            Ok(Expr::Call(function, args, SqlType::Integer))
        }
        Hash => {
            let args = args.into_iter().map(|e| match e {
                Expr::Param(_, None) => meet_type(e, varchar),
                other => Ok(other),
            });
            Ok(Expr::Call(function, args.collect::<Result<_, _>>()?, SqlType::BigInt))
        }
        RegexpLike => {
            let args = text(args)?;
            let literal = |e: Option<&Expr>| match e {
                Some(Expr::Literal(Value::Text(text), _)) => Some(text.clone()),
                _ => None,
            };
            let flags = literal(args.get(2)).unwrap_or_default();
            let ignore_case = Function::regexp_ignores_case(&flags)?;
            if let Some(pattern) = literal(args.get(1)) {
                Regexp::parse(&pattern, ignore_case)?;
            }
            Ok(Expr::Call(function, args, SqlType::Boolean))
        }
        Length if args.first().and_then(Expr::sql_type).is_some_and(|ty| ty.family() == TypeFamily::Bytes) => {
            Ok(Expr::Call(function, args, SqlType::Integer))
        }
        Length => Ok(Expr::Call(function, text(args)?, SqlType::Integer)),
        StartsWith => Ok(Expr::Call(function, text(args)?, SqlType::Boolean)),
        Left | Substr => {
            let mut args = args.into_iter();
            let mut typed: Vec<Expr> =
                args.next().map(|e| as_text(e, function.name())).transpose()?.into_iter().collect();
            for count in args {
                typed.push(as_count(count, function.name())?);
            }
            Ok(Expr::Call(function, typed, varchar))
        }
        ToDate => Ok(Expr::Call(function, text(args)?, SqlType::Date)),
        ToTime => Ok(Expr::Call(function, text(args)?, SqlType::Time)),
        ToTimestamp => Ok(Expr::Call(function, text(args)?, SqlType::Timestamp)),
        Lower | Upper | Trim | Reverse | Md5 | Sha256 => Ok(Expr::Call(function, text(args)?, varchar)),
    }
}

/// `NULLIF(a, b)`: CASE WHEN a = b THEN NULL ELSE a END, so of a's type, and compared as `=` compares.
///
/// What has no type of its own (a parameter, NULL) takes b's, as a plain string does.
fn null_if(a: Expr, b: Expr) -> Typed {
    let typed = match compare(CompareOp::Eq, a.clone(), b)? {
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

/// `SIGN(number)`: CASE WHEN n > 0 THEN 1 WHEN n < 0 THEN -1 WHEN n = 0 THEN 0 END, an INTEGER.
fn sign(number: Expr) -> Typed {
    let zero = || Expr::Literal(Value::Int(0), SqlType::BigInt);
    let number = meet_type(number, SqlType::Decimal(None))?;
    if !number.sql_type().is_some_and(|ty| matches!(ty.family(), TypeFamily::Number | TypeFamily::Null)) {
        return Err(ValueError::TypeMismatch(format!("SIGN takes a number, and {number} is {}", type_name(&number))));
    }
    let whens = [(CompareOp::Gt, 1), (CompareOp::Lt, -1), (CompareOp::Eq, 0)].map(|(op, sign)| {
        Ok((compare(op, number.clone(), zero())?, Expr::Literal(Value::Int(sign), SqlType::Integer)))
    });
    case(None, whens.into_iter().collect::<Result<_, ValueError>>()?, None)
}

/// `text ~ pattern`; with `ignore_case` `~*`.
pub fn regexp(text: Expr, pattern: Expr, ignore_case: bool, negated: bool) -> Typed {
    let mut args = vec![text, pattern];
    args.extend(ignore_case.then(|| string("i")));
    let test = call(Function::RegexpLike, args)?;
    if negated { not(test) } else { Ok(test) }
}

/// FLOOR and its kin: of a number to decimal places, of an instant to a unit of time.
fn rounding(function: Function, args: Vec<Expr>) -> Typed {
    let name = function.name();
    let mut args = args.into_iter();
    let Some(value) = args.next() else { return Err(ValueError::NoSuchFunction(name.into())) };
    let rest: Vec<Expr> = args.collect();
    if let Some(ty) = value.sql_type().filter(|ty| ty.family() == TypeFamily::Instant) {
        let mut rest = rest.into_iter();
        let Some(unit) = rest.next() else {
            return Err(ValueError::NoSuchFunction(format!("{name} of {ty} without a unit such as 'day'")));
        };
        let unit = as_text(unit, name)?;
        if let Expr::Literal(Value::Text(unit), _) = &unit {
            DateUnit::by_name(unit)?;
        }
        let count = rest.next().map(|e| as_count(e, name)).transpose()?;
        let args = [value, unit].into_iter().chain(count).collect();
        return Ok(Expr::Call(function, args, signed_instant(ty)));
    }
    if rest.len() > 1 {
        return Err(ValueError::NoSuchFunction(format!("{name} of a number with {} arguments", rest.len() + 1)));
    }
    let value = if value.sql_type().is_none() { meet_type(value, SqlType::Decimal(None))? } else { value };
    let ty = value.sql_type().unwrap_or(SqlType::Null);
    let ty = arith_type(ArithOp::Add, ty, ty).filter(|ty| ty.family() == TypeFamily::Number);
    let ty = ty.ok_or_else(|| {
        ValueError::TypeMismatch(format!("{name} takes a number or an instant, and {value} is {}", type_name(&value)))
    })?;
    let places = rest.into_iter().map(|e| as_count(e, name)).collect::<Result<Vec<_>, _>>()?;
    Ok(Expr::Call(function, std::iter::once(value).chain(places).collect(), ty))
}

fn as_count(e: Expr, place: &str) -> Typed {
    let count = meet_type(e, SqlType::BigInt)?;
    if count.sql_type().is_some_and(|ty| ty.is_integer() || ty == SqlType::Null) {
        return Ok(count);
    }
    Err(ValueError::TypeMismatch(format!("{place} counts in integers, and {count} is none")))
}

/// An instant; a string is read as a TIMESTAMP.
fn as_instant(e: Expr, place: &str) -> Typed {
    match (e.sql_type().map(SqlType::family), &e) {
        (Some(TypeFamily::Instant), _) => Ok(e),
        (None | Some(TypeFamily::Null), _) | (_, Expr::Literal(Value::Text(_), _)) => meet_type(e, SqlType::Timestamp),
        _ => Err(ValueError::TypeMismatch(format!("{place} takes an instant, and {e} is {}", type_name(&e)))),
    }
}

/// What `||` joins: text as it is, a number or another value as its text.
fn concat_part(e: Expr) -> Typed {
    match e.sql_type().map(SqlType::family) {
        None | Some(TypeFamily::Null) => meet_type(e, SqlType::Varchar(None)),
        Some(TypeFamily::Text) => Ok(e),
        Some(_) => cast(e, SqlType::Varchar(None)),
    }
}
