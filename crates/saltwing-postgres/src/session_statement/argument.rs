//! The arguments of EXECUTE: literals and their casts.

use saltwing::syntax::Lexeme;
use saltwing::{Decimal, ErrorCode, SqlType, Value, text};

use super::error::SessionSyntaxError;
use super::statement::{Argument, ArgumentKind};
use super::type_name;
use crate::tokens::{TokenError, Tokens};

/// The most casts and brackets of one argument. Each cast reads and writes the text of the value.
const CASTS_MAX: usize = 32;

/// Reads one argument.
pub(super) fn parse(tokens: &mut Tokens<'_>) -> Result<Argument, SessionSyntaxError> {
    let mut left = CASTS_MAX;
    nested(tokens, &mut left)
}

/// An argument, or one inside of a cast or brackets. `left` is the number of casts and brackets that it may have.
fn nested(tokens: &mut Tokens<'_>, left: &mut usize) -> Result<Argument, SessionSyntaxError> {
    let position = tokens.position();
    let mut argument = if tokens.eat_symbol("(") {
        take_one(left, position)?;
        let inner = nested(tokens, left)?;
        tokens.expect_symbol(")")?;
        inner
    } else if tokens.is_word(0, "CAST") && tokens.peek(1) == Some((Lexeme::Symbol, "(")) {
        take_one(left, position)?;
        tokens.skip();
        tokens.skip();
        let inner = nested(tokens, left)?;
        tokens.expect(&["AS"])?;
        let ty = type_name::parse(tokens)?;
        tokens.expect_symbol(")")?;
        cast(inner, ty)?
    } else {
        literal(tokens)?
    };
    argument.position = position;
    while tokens.eat_symbol("::") {
        take_one(left, position)?;
        let ty = type_name::parse(tokens)?;
        argument = cast(argument, ty)?;
    }
    Ok(argument)
}

fn take_one(left: &mut usize, position: usize) -> Result<(), SessionSyntaxError> {
    let counted = "casts and brackets of one value";
    *left = left.checked_sub(1).ok_or(SessionSyntaxError::TooMany { limit: CASTS_MAX, counted, position })?;
    Ok(())
}

/// A string, a number, TRUE, FALSE, NULL, bytes, or a string after its type: `DATE '2024-05-01'`.
fn literal(tokens: &mut Tokens<'_>) -> Result<Argument, SessionSyntaxError> {
    let position = tokens.position();
    let argument = |value, kind| Argument { value, kind, position };
    if let Some(string) = tokens.eat_string()? {
        return Ok(argument(Value::Text(string.text), ArgumentKind::Untyped));
    }
    let words = [
        ("NULL", Value::Null, ArgumentKind::Untyped),
        ("TRUE", Value::Bool(true), ArgumentKind::Boolean),
        ("FALSE", Value::Bool(false), ArgumentKind::Boolean),
    ];
    for (word, value, kind) in words {
        if tokens.eat(&[word]) {
            return Ok(argument(value, kind));
        }
    }
    match tokens.peek(0) {
        Some((Lexeme::Number, _)) | Some((Lexeme::Symbol, "-" | "+")) => {
            number(tokens).map(|value| argument(value, ArgumentKind::Number))
        }
        Some((Lexeme::Hex, written)) => {
            tokens.skip();
            let digits = written.get(2..written.len().saturating_sub(1)).and_then(text::unhex);
            let bad = TokenError::Malformed { reason: "X'..' takes two hexadecimal digits for each byte", position };
            Ok(argument(Value::Bytes(digits.ok_or(bad)?), ArgumentKind::Typed(SqlType::Varbinary)))
        }
        Some((Lexeme::Word, _)) => typed_string(tokens),
        Some((Lexeme::Parameter, _)) => Err(not_a_literal(position)),
        _ => Err(tokens.expected("a literal").into()),
    }
}

fn not_a_literal(position: usize) -> SessionSyntaxError {
    SessionSyntaxError::NotSupported {
        statement: "an expression as an argument of EXECUTE",
        reason: "arguments are literals",
        help: Some("compute it in the prepared statement, or pass it by the protocol's messages Parse and Bind"),
        position,
    }
}

/// `DATE '2024-05-01'`.
fn typed_string(tokens: &mut Tokens<'_>) -> Result<Argument, SessionSyntaxError> {
    let position = tokens.position();
    // The call of a function is no type with a length.
    let has_bracket = tokens.peek(1) == Some((Lexeme::Symbol, "("));
    if has_bracket && !matches!(tokens.peek(2), Some((Lexeme::Number, _))) {
        return Err(not_a_literal(position));
    }
    let ty = match type_name::parse(tokens) {
        Ok(ty) => ty,
        Err(SessionSyntaxError::NoSuchType { .. }) => return Err(not_a_literal(position)),
        Err(error) => return Err(error),
    };
    let Some(string) = tokens.eat_string()? else { return Err(not_a_literal(position)) };
    cast(Argument { value: Value::Text(string.text), kind: ArgumentKind::Untyped, position }, ty)
}

/// A number with or without a sign.
fn number(tokens: &mut Tokens<'_>) -> Result<Value, SessionSyntaxError> {
    let position = tokens.position();
    let is_negative = tokens.eat_symbol("-");
    if !is_negative {
        tokens.eat_symbol("+");
    }
    let Some(digits) = tokens.eat_number() else { return Err(tokens.expected("a number").into()) };
    let signed = format!("{}{digits}", if is_negative { "-" } else { "" });
    if let Ok(value) = signed.parse::<i64>() {
        return Ok(Value::Int(value));
    }
    let refused = |error: (ErrorCode, String)| bad_argument(error, position);
    let value = signed.parse::<Decimal>().map_err(|error| (error.code(), error.to_string())).map_err(refused)?;
    Ok(Value::Decimal(value))
}

/// The argument as a value of a type; `None` is `unknown`, which leaves it as it is.
fn cast(argument: Argument, ty: Option<SqlType>) -> Result<Argument, SessionSyntaxError> {
    let Some(ty) = ty else { return Ok(argument) };
    let Argument { value, kind, position } = argument;
    let from = match kind {
        ArgumentKind::Untyped => SqlType::Varchar(None),
        ArgumentKind::Number => SqlType::Decimal(None),
        ArgumentKind::Boolean => SqlType::Boolean,
        ArgumentKind::Typed(ty) => ty,
    };
    let value = match text::format(&value, from) {
        None => Value::Null,
        Some(written) => read(&written, ty).map_err(|error| bad_argument(error, position))?,
    };
    Ok(Argument { value, kind: ArgumentKind::Typed(ty), position })
}

/// The value of a text, with PostgreSQL's form of bytes: `\x00ff`.
fn read(written: &str, ty: SqlType) -> Result<Value, (ErrorCode, String)> {
    let is_bytes = matches!(ty, SqlType::Varbinary | SqlType::Binary(_) | SqlType::VarbinaryEncoded);
    let digits = written.strip_prefix("\\x").filter(|_| is_bytes);
    text::parse(digits.unwrap_or(written), ty).map_err(|error| (error.code(), error.to_string()))
}

fn bad_argument((code, message): (ErrorCode, String), position: usize) -> SessionSyntaxError {
    SessionSyntaxError::BadArgument { code, message, position }
}
