//! Sequences: their definitions, and the values that statements take from them.
//!
//! ```text
//! CREATE SEQUENCE [IF NOT EXISTS] [schema.]s [option ..]
//! ALTER  SEQUENCE [IF EXISTS] [schema.]s [RESTART [[WITH] n]] [option ..]
//! DROP   SEQUENCE [IF EXISTS] [schema.]s, ..
//! option:  START [WITH] n | INCREMENT [BY] n | MINVALUE n | NO MINVALUE | MAXVALUE n | NO MAXVALUE | CYCLE | NO CYCLE | CACHE n
//! ```
//!
//! `NEXT VALUE FOR s`, `NEXT n VALUES FOR s` and `CURRENT VALUE FOR s` are read as the calls `NEXTVAL(s)`, `NEXTVAL(s, n)` and
//! `CURRVAL(s)`. In these calls the name of the sequence may also be a text, as in Postgres.

use std::ops::ControlFlow;

use saltwing_types::Span;
use sqlparser::ast::{
    self, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, GroupByExpr, Ident, OrderByKind, Query, SelectItem,
    SetExpr, Visit, Visitor,
};
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, Word};

use crate::call::function_call;
use crate::cursor::Cursor;
use crate::error::SqlError;
use crate::expr::expr_span;
use crate::name::{Name, TableRef};
use crate::place;
use crate::statement::{AlterSequence, CreateSequence, DropSequence, Restart, SequenceNumber, SequenceOptions};
use crate::words;

const NEXT: &str = "NEXTVAL";
const CURRENT: &str = "CURRVAL";
const SET: &str = "SETVAL";

/// Reads on behind `CREATE SEQUENCE`.
pub(crate) fn create(cursor: &mut Cursor<'_>) -> Result<CreateSequence, SqlError> {
    let if_not_exists = cursor.eat(&["IF", "NOT", "EXISTS"]);
    let name = cursor.table()?;
    let mut options = SequenceOptions::default();
    while option(cursor, &mut options)? {}
    Ok(CreateSequence { if_not_exists, name, options })
}

/// Reads on behind `ALTER SEQUENCE`.
pub(crate) fn alter(cursor: &mut Cursor<'_>) -> Result<AlterSequence, SqlError> {
    let if_exists = cursor.eat(&["IF", "EXISTS"]);
    let name = cursor.table()?;
    let (mut options, mut restart) = (SequenceOptions::default(), None);
    loop {
        let start = cursor.index();
        if cursor.eat(&["RESTART"]) {
            let has_number = cursor.eat(&["WITH"]) || matches!(cursor.peek(0), Token::Number(..) | Token::Minus);
            let value = match has_number {
                true => Restart::With(number(cursor)?),
                false => Restart::AtStart,
            };
            once(cursor, start, &mut restart, value)?;
        } else if !option(cursor, &mut options)? {
            break;
        }
    }
    if restart.is_none() && options == SequenceOptions::default() {
        return Err(cursor.expected_word(&["RESTART", "INCREMENT", "MINVALUE", "MAXVALUE", "CYCLE", "CACHE"]));
    }
    Ok(AlterSequence { if_exists, name, restart, options })
}

/// Reads on behind `DROP SEQUENCE`.
pub(crate) fn drop(cursor: &mut Cursor<'_>) -> Result<DropSequence, SqlError> {
    let if_exists = cursor.eat(&["IF", "EXISTS"]);
    let names = cursor.list(Cursor::table)?;
    if !cursor.eat(&["RESTRICT"]) && cursor.at(&["CASCADE"]) {
        return Err(SqlError::not_supported("DROP SEQUENCE .. CASCADE", cursor.here()));
    }
    Ok(DropSequence { if_exists, names })
}

/// Reads `[([SEQUENCE NAME s] [option ..])]`, as it stands behind IDENTITY.
pub(crate) fn identity_options(cursor: &mut Cursor<'_>) -> Result<(Option<TableRef>, SequenceOptions), SqlError> {
    let (mut sequence, mut options) = (None, SequenceOptions::default());
    if !cursor.eat_symbol(&Token::LParen) {
        return Ok((sequence, options));
    }
    loop {
        let start = cursor.index();
        if cursor.eat(&["SEQUENCE", "NAME"]) {
            let name = cursor.table()?;
            once(cursor, start, &mut sequence, name)?;
        } else if !option(cursor, &mut options)? {
            break;
        }
    }
    cursor.expect_symbol(&Token::RParen)?;
    Ok((sequence, options))
}

/// Reads one option; false at the end of the options.
fn option(cursor: &mut Cursor<'_>, options: &mut SequenceOptions) -> Result<bool, SqlError> {
    let start = cursor.index();
    if cursor.eat(&["START"]) {
        cursor.eat(&["WITH"]);
        let value = number(cursor)?;
        once(cursor, start, &mut options.start, value)?;
    } else if cursor.eat(&["INCREMENT"]) {
        cursor.eat(&["BY"]);
        let value = number(cursor)?;
        once(cursor, start, &mut options.increment, value)?;
    } else if cursor.eat(&["MINVALUE"]) {
        let value = Some(number(cursor)?);
        once(cursor, start, &mut options.min, value)?;
    } else if cursor.eat(&["NO", "MINVALUE"]) {
        once(cursor, start, &mut options.min, None)?;
    } else if cursor.eat(&["MAXVALUE"]) {
        let value = Some(number(cursor)?);
        once(cursor, start, &mut options.max, value)?;
    } else if cursor.eat(&["NO", "MAXVALUE"]) {
        once(cursor, start, &mut options.max, None)?;
    } else if cursor.eat(&["CYCLE"]) {
        once(cursor, start, &mut options.cycles, true)?;
    } else if cursor.eat(&["NO", "CYCLE"]) {
        once(cursor, start, &mut options.cycles, false)?;
    } else if cursor.eat(&["CACHE"]) {
        let value = number(cursor)?;
        once(cursor, start, &mut options.cache, value)?;
    } else {
        return match ["AS", "OWNED", "OWNER"].into_iter().find(|word| cursor.at(&[word])) {
            Some(word) => Err(SqlError::not_supported(format!("{word} of a sequence"), cursor.here())),
            None => Ok(false),
        };
    }
    Ok(true)
}

/// Sets an option that begins at token number `start`, and may come once.
fn once<T>(cursor: &Cursor<'_>, start: usize, option: &mut Option<T>, value: T) -> Result<(), SqlError> {
    match option.replace(value) {
        None => Ok(()),
        Some(_) => Err(SqlError::syntax("this option is there twice", cursor.span_from(start))),
    }
}

/// A whole number with its sign.
fn number(cursor: &mut Cursor<'_>) -> Result<SequenceNumber, SqlError> {
    let start = cursor.index();
    let sign = if cursor.eat_symbol(&Token::Minus) { "-" } else { "" };
    let Token::Number(digits, _) = cursor.peek(0) else { return Err(cursor.expected("a whole number")) };
    let text = format!("{sign}{digits}");
    cursor.skip();
    let span = cursor.span_from(start);
    let value = text.parse().map_err(|_| SqlError::invalid(format!("{text} is no whole number of 64 bits"), span))?;
    Ok(SequenceNumber { value, span })
}

/// Whether `NEXT VALUE FOR`, `NEXT n VALUES FOR` or `CURRENT VALUE FOR` comes next.
pub(crate) fn follows(parser: &Parser<'_>) -> bool {
    let is = |n: usize, text: &str| is_word(&parser.peek_nth_token_ref(n).token, text);
    let is_counted = || matches!(parser.peek_nth_token_ref(1).token, Token::Number(..) | Token::Placeholder(_));
    (is(0, "NEXT") || is(0, "CURRENT")) && is(1, "VALUE") && is(2, "FOR")
        || is(0, "NEXT") && is_counted() && is(2, "VALUES") && is(3, "FOR")
}

/// Whether the FOR behind this token belongs to a value of a sequence: it is no clause then.
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

/// The error of a value of a sequence that stands where none may.
pub(crate) fn misplaced(span: Span) -> SqlError {
    SqlError::misplaced_sequence(span).with_help(
        "it may stand in the list of the outermost SELECT, in VALUES, in the SET of an UPDATE, in the actions of a MERGE, and in a DEFAULT",
    )
}

/// Whether values of sequences were read in these expressions.
///
/// # Errors
/// One stands in a subquery.
pub(crate) fn in_values<'e>(cursor: &Cursor<'_>, exprs: impl Iterator<Item = &'e Expr>) -> Result<bool, SqlError> {
    if cursor.take_sequence().is_none() {
        return Ok(false);
    }
    for expr in exprs {
        refuse(Calls::in_tree(expr, 1))?;
    }
    Ok(true)
}

/// Whether values of sequences were read in a query.
///
/// # Errors
/// One stands anywhere but in the list of the outermost SELECT, or a clause refers to one.
pub(crate) fn in_query(cursor: &Cursor<'_>, query: &Query) -> Result<bool, SqlError> {
    match cursor.take_sequence() {
        None => Ok(false),
        Some(_) => check_query(query).map(|()| true),
    }
}

fn check_query(query: &Query) -> Result<(), SqlError> {
    let mut rest = query.clone();
    let items = match rest.body.as_mut() {
        SetExpr::Select(select) if select.distinct.is_none() => std::mem::take(&mut select.projection),
        _ => Vec::new(),
    };
    refuse(Calls::in_tree(&rest, 0))?;
    for item in &items {
        refuse(Calls::in_tree(item, 1))?;
    }
    let clauses = clause_expressions(&rest);
    match clauses.into_iter().find(|expr| refers_to_call(expr, &items)) {
        Some(expr) => Err(misplaced(expr_span(expr).unwrap_or_else(place::origin))),
        None => Ok(()),
    }
}

fn refuse(call: Option<Span>) -> Result<(), SqlError> {
    call.map_or(Ok(()), |span| Err(misplaced(span)))
}

/// The expressions of ORDER BY and GROUP BY, which may name items by alias or position.
fn clause_expressions(query: &Query) -> Vec<&Expr> {
    let order = query.order_by.iter().flat_map(|order| match &order.kind {
        OrderByKind::Expressions(exprs) => exprs.as_slice(),
        OrderByKind::All(_) => &[],
    });
    let groups = match query.body.as_ref() {
        SetExpr::Select(select) => match &select.group_by {
            GroupByExpr::Expressions(exprs, _) => exprs.as_slice(),
            GroupByExpr::All(_) => &[],
        },
        _ => &[],
    };
    order.map(|order| &order.expr).chain(groups).collect()
}

/// Whether an expression is the alias or the position of an item with a value of a sequence. Behind a wildcard the position
/// of an item is unknown.
fn refers_to_call(expr: &Expr, items: &[SelectItem]) -> bool {
    let has_call = |item: &SelectItem| Calls::in_tree(item, 0).is_some();
    match expr {
        Expr::Identifier(name) => items.iter().any(|item| match item {
            SelectItem::ExprWithAlias { alias, .. } => alias.value.eq_ignore_ascii_case(&name.value) && has_call(item),
            _ => false,
        }),
        Expr::Value(value) => match &value.value {
            ast::Value::Number(digits, _) => {
                let place = digits.parse::<usize>().ok().and_then(|place| place.checked_sub(1));
                let is_expr =
                    |item: &SelectItem| matches!(item, SelectItem::UnnamedExpr(_) | SelectItem::ExprWithAlias { .. });
                let before = items.iter().take(place.map_or(0, |place| place + 1));
                !before.clone().all(is_expr) || before.skip(place.unwrap_or(0)).any(has_call)
            }
            _ => false,
        },
        _ => false,
    }
}

/// Looks for a value of a sequence.
struct Calls {
    /// How many queries deep it must stand.
    depth_min: usize,
    depth: usize,
}

impl Calls {
    /// The place of the first one that stands at least so many queries deep in a part of a statement.
    fn in_tree(tree: &impl Visit, depth_min: usize) -> Option<Span> {
        match tree.visit(&mut Self { depth_min, depth: 0 }) {
            ControlFlow::Break(span) => Some(span),
            ControlFlow::Continue(()) => None,
        }
    }
}

impl Visitor for Calls {
    type Break = Span;

    fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<Span> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<Span> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<Span> {
        match call_span(expr) {
            Some(span) if self.depth >= self.depth_min => {
                ControlFlow::Break(place::span_of(span).unwrap_or_else(place::origin))
            }
            _ => ControlFlow::Continue(()),
        }
    }
}
