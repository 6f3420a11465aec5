//! Function calls: the number and types of the arguments and the type of the result, by the function's signature.

use super::{
    Typed, arith_type, array, as_text, as_type, cast, common_type_of, meet_type, not, rewrite, signed_instant, string,
    type_name,
};
use crate::function::{Evaluation, ParameterKind, ResultType, Signature};
use crate::sql_type::TypeFamily;
use crate::{ArithOp, Expr, Function, SqlType, Value, ValueError, suggest};

/// A function call.
///
/// # Errors
/// [`ValueError::NoSuchFunction`] when the arguments do not fit in number, a type mismatch when not in type.
pub fn call(function: Function, args: Vec<Expr>) -> Typed {
    let signature = signature(function, &args)?;
    if let Some(joining) = array::joining(function, &args) {
        return call(joining, args);
    }
    if let Some(another) = array::another(function, &args) {
        return another;
    }
    let rewritten = match function.evaluation {
        Evaluation::Rewritten(rewrite) => Some(rewrite),
        _ => signature.rewritten,
    };
    if let Some(rewrite) = rewritten {
        return rewrite::rewrite(function, rewrite, args);
    }
    let kind = |index: usize| signature.kind(index).unwrap_or(ParameterKind::Any);
    let common = common_type_of(args.iter().enumerate().filter_map(|(index, arg)| {
        Some((
            arg,
            match kind(index) {
                ParameterKind::Common => arg.sql_type()?,
                ParameterKind::Array => arg.sql_type()?.element()?,
                _ => return None,
            },
        ))
    }))?;
    let typed = args.into_iter().enumerate().map(|(index, arg)| typed(arg, kind(index), common, function.name));
    let args: Vec<Expr> = typed.collect::<Result<_, _>>()?;
    if let Some(check) = function.check {
        check(&args.iter().map(literal).collect::<Vec<_>>())?;
    }
    let type_at = |index: usize| args.get(index).and_then(Expr::sql_type);
    let ty = match signature.result {
        ResultType::Is(ty) => ty,
        ResultType::At(index) => type_at(index).unwrap_or(SqlType::Null),
        ResultType::Common => common,
        ResultType::Array => array_of(common)?,
        ResultType::ArrayOf(ty) => array_of(ty)?,
        ResultType::InstantAt(index) => type_at(index).map_or(SqlType::Timestamp, signed_instant),
        ResultType::Arithmetic => {
            let ty = type_at(0).unwrap_or(SqlType::Null);
            let refused = || ValueError::TypeMismatch(format!("{} takes a number", function.name));
            arith_type(ArithOp::Add, ty, ty).ok_or_else(refused)?
        }
    };
    Ok(if function == Function::MAKE_ARRAY { array::array(args, ty) } else { Expr::Call(function, args, ty) })
}

/// A call of the function of a name.
///
/// # Errors
/// [`ValueError::NoSuchFunction`] for an unknown name, with one that was perhaps meant; else as [`call`].
pub fn call_named(name: &str, args: Vec<Expr>) -> Typed {
    if let Some(function) = Function::by_name(name) {
        return call(function, args);
    }
    let near = suggest(name, Function::all().map(|function| function.name));
    Err(ValueError::NoSuchFunction(match near {
        Some(near) => format!("{name}; there is {near}"),
        None => name.to_owned(),
    }))
}

/// The signature that a call follows: that whose first parameter takes the first argument, if there are several the one
/// of as many arguments.
fn signature(function: Function, args: &[Expr]) -> Result<&'static Signature, ValueError> {
    let name = function.name;
    let fits = |signature: &&Signature| match (signature.parameters.first(), args.first()) {
        (Some(parameter), Some(arg)) => takes(parameter.kind, arg),
        _ => true,
    };
    let [first, others @ ..] = function.signatures else {
        return Err(ValueError::Internal(format!("{name} has no signature")));
    };
    let wrong_count = |signature: &Signature| {
        ValueError::NoSuchFunction(format!("{name} with {} arguments; there is {name}{signature}", args.len()))
    };
    if !function.signatures.iter().any(|signature| signature.takes_count(args.len())) {
        return Err(wrong_count(first));
    }
    let fitting = || function.signatures.iter().filter(fits);
    let best = fitting().find(|signature| signature.takes_count(args.len())).or_else(|| fitting().next());
    let signature = match (best, args.first()) {
        (Some(signature), _) => signature,
        (None, Some(arg)) if !others.is_empty() => {
            let kinds =
                function.signatures.iter().filter_map(|signature| Some(signature.parameters.first()?.kind.noun()));
            let kinds = kinds.collect::<Vec<_>>().join(" or ");
            let text = format!("{name} takes {kinds}, and {arg} is {}", type_name(arg));
            return Err(ValueError::TypeMismatch(text));
        }
        // The argument's own check names it.
        (None, _) => first,
    };
    if signature.takes_count(args.len()) { Ok(signature) } else { Err(wrong_count(signature)) }
}

fn literal(arg: &Expr) -> Option<&Value> {
    if let Expr::Literal(value, _) = arg { Some(value) } else { None }
}

/// Whether a parameter of this kind takes an argument, so far as its type tells.
fn takes(kind: ParameterKind, arg: &Expr) -> bool {
    use ParameterKind::*;
    let family = match arg.sql_type().map(SqlType::family) {
        None | Some(TypeFamily::Null) => return !matches!(kind, Bytes | Instant),
        Some(family) => family,
    };
    match kind {
        kind if kind.is_text() || kind == Json => family == TypeFamily::Text,
        Bytes => family == TypeFamily::Bytes,
        Boolean => family == TypeFamily::Boolean,
        Integer | Number | Decimal | Double => family == TypeFamily::Number,
        Instant => family == TypeFamily::Instant,
        Array | ArrayAsTexts => family == TypeFamily::Array || matches!(arg, Expr::Literal(Value::Text(_), _)),
        Interval => family == TypeFamily::Interval || matches!(arg, Expr::Literal(Value::Text(_), _)),
        InstantOrString => family == TypeFamily::Instant || matches!(arg, Expr::Literal(Value::Text(_), _)),
        _ => true,
    }
}

/// An argument as its parameter takes it.
fn typed(arg: Expr, kind: ParameterKind, common: SqlType, name: &str) -> Typed {
    let family = arg.sql_type().map(SqlType::family);
    match kind {
        kind if kind.is_text() => {
            let text = as_text(arg, name)?;
            if let Expr::Literal(Value::Text(text), _) = &text {
                kind.check_text(text)?;
            }
            Ok(text)
        }
        ParameterKind::AnyAsText => match family {
            None | Some(TypeFamily::Null) => meet_type(arg, SqlType::Varchar(None)),
            Some(TypeFamily::Text) => Ok(arg),
            Some(_) => cast(arg, SqlType::Varchar(None)),
        },
        ParameterKind::AnyAsJson if arg.sql_type() == Some(SqlType::Json) => Ok(arg),
        ParameterKind::AnyAsJson => call(Function::TO_JSON, vec![arg]),
        ParameterKind::JsonSource => json_source(arg),
        ParameterKind::Any if family.is_none() => meet_type(arg, SqlType::Varchar(None)),
        ParameterKind::Any => Ok(arg),
        ParameterKind::Common => as_type(arg, common),
        ParameterKind::Array if takes(kind, &arg) => as_type(arg, array_of(common)?),
        ParameterKind::ArrayAsTexts if takes(kind, &arg) => as_type(arg, array_of(SqlType::Varchar(None))?),
        ParameterKind::Integer => {
            let count = meet_type(arg, SqlType::BigInt)?;
            if count.sql_type().is_some_and(|ty| ty.is_integer() || ty == SqlType::Null) {
                return Ok(count);
            }
            Err(ValueError::TypeMismatch(format!("{name} counts in integers, and {count} is none")))
        }
        ParameterKind::Number if family.is_none() => meet_type(arg, SqlType::Decimal(None)),
        ParameterKind::Boolean if takes(kind, &arg) => meet_type(arg, SqlType::Boolean),
        ParameterKind::Json if takes(kind, &arg) => as_type(arg, SqlType::Json),
        ParameterKind::Decimal if takes(kind, &arg) => as_type(arg, SqlType::Decimal(None)),
        ParameterKind::Double if takes(kind, &arg) => as_type(arg, SqlType::Double),
        ParameterKind::Interval if takes(kind, &arg) => meet_type(arg, SqlType::Interval),
        ParameterKind::InstantOrString if takes(kind, &arg) && family != Some(TypeFamily::Instant) => {
            meet_type(arg, SqlType::Timestamp)
        }
        kind if takes(kind, &arg) => Ok(arg),
        kind => {
            Err(ValueError::TypeMismatch(format!("{name} takes {}, and {arg} is {}", kind.noun(), type_name(&arg))))
        }
    }
}

/// A value in the form of which JSON is made.
fn json_source(arg: Expr) -> Typed {
    let is_plain = |ty: SqlType| matches!(ty.family(), TypeFamily::Number | TypeFamily::Boolean | TypeFamily::Null);
    match arg.sql_type() {
        None => meet_type(arg, SqlType::Varchar(None)),
        Some(ty) if is_plain(ty) || ty.family() == TypeFamily::Text => Ok(arg),
        Some(ty) => match ty.element() {
            Some(element) if is_plain(element) || element.family() == TypeFamily::Text => Ok(arg),
            Some(_) => cast(arg, array_of(SqlType::Varchar(None))?),
            None => cast(arg, SqlType::Varchar(None)),
        },
    }
}

/// The type of arrays of a type.
pub(super) fn array_of(element: SqlType) -> Result<SqlType, ValueError> {
    SqlType::array(element).ok_or_else(|| ValueError::TypeMismatch(format!("there are no arrays of {element}")))
}

/// `text ~ pattern`; with `ignore_case` `~*`.
pub fn regexp(text: Expr, pattern: Expr, ignore_case: bool, negated: bool) -> Typed {
    let mut args = vec![text, pattern];
    args.extend(ignore_case.then(|| string("i")));
    let test = call(Function::REGEXP_LIKE, args)?;
    if negated { not(test) } else { Ok(test) }
}
