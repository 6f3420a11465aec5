//! Values of sequences, as expressions.
//!
//! `NEXT VALUE FOR s`, `NEXT n VALUES FOR s` and `CURRENT VALUE FOR s` are read as the calls `NEXTVAL(s)`, `NEXTVAL(s, n)` and
//! `CURRVAL(s)`. In these calls the name of the sequence may also be a text, as in Postgres.

use saltwing_types::Span;
use sqlparser::ast::{self, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, Ident};
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, Word};

use crate::call::function_call;
use crate::error::SqlError;
use crate::expr::expr_span;
use crate::name::{Name, TableRef};
use crate::{place, words};

const NEXT: &str = "NEXTVAL";
const CURRENT: &str = "CURRVAL";
const SET: &str = "SETVAL";

/// Whether `NEXT VALUE FOR`, `NEXT n VALUES FOR` or `CURRENT VALUE FOR` comes next.
pub(crate) fn follows(parser: &Parser<'_>) -> bool {
    let is = |n: usize, text: &str| is_word(&parser.peek_nth_token_ref(n).token, text);
    let is_counted = || matches!(parser.peek_nth_token_ref(1).token, Token::Number(..) | Token::Placeholder(_));
    (is(0, "NEXT") || is(0, "CURRENT")) && is(1, "VALUE") && is(2, "FOR")
        || is(0, "NEXT") && is_counted() && is(2, "VALUES") && is(3, "FOR")
}

/// Whether the FOR after this token belongs to a value of a sequence: it is no clause then.
pub(crate) fn precedes_for(token: &Token) -> bool {
    is_word(token, "VALUE") || is_word(token, "VALUES")
}

fn is_word(token: &Token, text: &str) -> bool {
    matches!(token, Token::Word(word) if word.quote_style.is_none() && word.value.eq_ignore_ascii_case(text))
}

/// Reads a value of a sequence, where [`follows`] says that one comes.
pub(crate) fn value(parser: &mut Parser<'_>) -> Result<Expr, ParserError> {
    let verb = parser.next_token();
    let function = if is_word(&verb.token, "NEXT") { NEXT } else { CURRENT };
    let count = match parser.peek_token_ref().token {
        Token::Number(..) | Token::Placeholder(_) => Some(Expr::Value(parser.parse_value()?)),
        _ => None,
    };
    // VALUE or VALUES, and FOR.
    parser.advance_token();
    parser.advance_token();
    let mut parts = vec![name_part(parser)?];
    if parser.consume_token(&Token::Period) {
        parts.push(name_part(parser)?);
    }
    let name = match <[Ident; 1]>::try_from(parts) {
        Ok([name]) => Expr::Identifier(name),
        Err(parts) => Expr::CompoundIdentifier(parts),
    };
    Ok(function_call(Ident::with_span(verb.span, function), std::iter::once(name).chain(count)))
}

fn name_part(parser: &mut Parser<'_>) -> Result<Ident, ParserError> {
    let token = parser.next_token();
    match token.token {
        Token::Word(word) if word.quote_style.is_some() || !words::is_reserved(word.keyword) => {
            Ok(Word::into_ident(word, token.span))
        }
        _ => parser.expected("the name of a sequence", token),
    }
}

/// The place of a value of a sequence, if `expr` is one.
pub(crate) fn call_span(expr: &Expr) -> Option<sqlparser::tokenizer::Span> {
    match expr {
        Expr::Function(call) => verb(call).map(|(name, _)| name.span),
        _ => None,
    }
}

/// The name of a function of sequences, and what it does.
fn verb(call: &ast::Function) -> Option<(&Ident, SequenceVerb)> {
    let [name] = call.name.0.as_slice() else { return None };
    let name = name.as_ident()?;
    let verbs = [(NEXT, SequenceVerb::Next), (CURRENT, SequenceVerb::Current), (SET, SequenceVerb::Set)];
    let (_, verb) = verbs.into_iter().find(|(function, _)| name.value.eq_ignore_ascii_case(function))?;
    Some((name, verb))
}

/// What a value of a sequence does to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SequenceVerb {
    /// Takes values.
    Next,
    /// Repeats the last value that the session took.
    Current,
    /// Sets its value.
    Set,
}

/// A value of a sequence in a statement.
#[derive(Clone, Debug, PartialEq)]
pub struct SequenceCall {
    /// The sequence.
    pub name: TableRef,
    /// What it does.
    pub verb: SequenceVerb,
    /// How many values it takes, if it says so, or the value that it sets: expressions without columns.
    pub number: Option<Expr>,
    /// Whether the value that it sets counts as taken, so that the next one follows it.
    pub is_taken: bool,
}

/// The value of a sequence that `expr` is; `None` if it is something else.
///
/// # Errors
/// A call of NEXTVAL, CURRVAL or SETVAL without a name as its first argument, or with others than it takes.
pub fn sequence_call(expr: &Expr) -> Result<Option<SequenceCall>, SqlError> {
    let Expr::Function(call) = expr else { return Ok(None) };
    let Some((function, verb)) = verb(call) else { return Ok(None) };
    let span = expr_span(expr).unwrap_or_else(place::origin);
    let more = if verb == SequenceVerb::Set { ", n" } else { "" };
    let wrong = || SqlError::syntax(format!("{} takes the name of a sequence: {0}('s'{more})", function.value), span);
    let plain = call.over.is_none() && call.filter.is_none() && call.within_group.is_empty();
    let FunctionArguments::List(list) = &call.args else { return Err(wrong()) };
    let args = list.args.iter().map(|arg| match arg {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(arg)) => Some(arg),
        _ => None,
    });
    let args: Option<Vec<&Expr>> = args.collect();
    let truth = |expr: &Expr| match expr {
        Expr::Value(ast::ValueWithSpan { value: ast::Value::Boolean(truth), .. }) => Some(*truth),
        _ => None,
    };
    let (name, number, is_taken) = match (verb, args.as_deref()) {
        _ if !plain => return Err(wrong()),
        (SequenceVerb::Next | SequenceVerb::Current, Some([name])) => (name, None, true),
        (SequenceVerb::Next | SequenceVerb::Set, Some([name, number])) => (name, Some((*number).clone()), true),
        (SequenceVerb::Set, Some([name, number, is_taken])) => {
            (name, Some((*number).clone()), truth(is_taken).ok_or_else(wrong)?)
        }
        _ => return Err(wrong()),
    };
    let name = sequence_name(name, span).ok_or_else(wrong)?;
    Ok(Some(SequenceCall { name, verb, number, is_taken }))
}

fn sequence_name(expr: &Expr, span: Span) -> Option<TableRef> {
    let of_ident = |ident: &Ident| {
        let span = place::span_of(ident.span).unwrap_or(span);
        Name { text: ident.value.clone(), quoted: ident.quote_style.is_some(), span }
    };
    let of_text = |text: &str| Name { text: text.trim_matches('"').to_owned(), quoted: text.starts_with('"'), span };
    let mut parts = match expr {
        Expr::Identifier(name) => vec![of_ident(name)],
        Expr::CompoundIdentifier(names) => names.iter().map(of_ident).collect(),
        Expr::Value(value) => match &value.value {
            ast::Value::SingleQuotedString(text) => text.split('.').map(of_text).collect(),
            _ => return None,
        },
        _ => return None,
    };
    let name = parts.pop()?;
    let schema = parts.pop();
    let has_text = |name: &Name| !name.text.is_empty();
    (parts.is_empty() && has_text(&name) && schema.as_ref().is_none_or(has_text)).then_some(TableRef { schema, name })
}
