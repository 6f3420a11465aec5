//! Sequences: their definitions, and where statements may take values from them.
//!
//! ```text
//! CREATE SEQUENCE [IF NOT EXISTS] [schema.]s [option ..]
//! ALTER  SEQUENCE [IF EXISTS] [schema.]s [RESTART [[WITH] n]] [option ..]
//! DROP   SEQUENCE [IF EXISTS] [schema.]s, ..
//! option:  START [WITH] n | INCREMENT [BY] n | MINVALUE n | NO MINVALUE | MAXVALUE n | NO MAXVALUE | CYCLE | NO CYCLE | CACHE n
//! ```

use std::ops::ControlFlow;

use saltwing_types::Span;
use sqlparser::ast::{self, Expr, GroupByExpr, OrderByKind, Query, SelectItem, SetExpr, Visit, Visitor};
use sqlparser::tokenizer::Token;

use crate::cursor::Cursor;
use crate::error::SqlError;
use crate::expr::expr_span;
use crate::name::TableRef;
use crate::place;
use crate::sequence_value::call_span;
use crate::statement::{AlterSequence, CreateSequence, DropSequence, Restart, SequenceNumber, SequenceOptions};

/// Reads what follows `CREATE SEQUENCE`.
pub(crate) fn create(cursor: &mut Cursor<'_>) -> Result<CreateSequence, SqlError> {
    let if_not_exists = cursor.eat(&["IF", "NOT", "EXISTS"]);
    let name = cursor.table()?;
    let mut options = SequenceOptions::default();
    while option(cursor, &mut options)? {}
    Ok(CreateSequence { if_not_exists, name, options })
}

/// Reads what follows `ALTER SEQUENCE`.
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

/// Reads what follows `DROP SEQUENCE`.
pub(crate) fn drop(cursor: &mut Cursor<'_>) -> Result<DropSequence, SqlError> {
    let if_exists = cursor.eat(&["IF", "EXISTS"]);
    let names = cursor.list(Cursor::table)?;
    if !cursor.eat(&["RESTRICT"]) && cursor.at(&["CASCADE"]) {
        return Err(SqlError::not_supported("DROP SEQUENCE .. CASCADE", cursor.here()));
    }
    Ok(DropSequence { if_exists, names })
}

/// Reads `[([SEQUENCE NAME s] [option ..])]`, as it stands after IDENTITY.
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

/// The error of a value of a sequence that stands where none may.
pub(crate) fn misplaced(span: Span) -> SqlError {
    SqlError::misplaced_sequence(span).with_help(
        "it may stand in the list of the outermost SELECT, in VALUES, in the SET of an UPDATE, in the actions of a MERGE, and in a DEFAULT",
    )
}

/// # Errors
/// A value of a sequence that was read stands in a subquery of these expressions.
pub(crate) fn check_values<'e>(cursor: &Cursor<'_>, mut exprs: impl Iterator<Item = &'e Expr>) -> Result<(), SqlError> {
    match cursor.take_sequence() {
        None => Ok(()),
        Some(_) => exprs.try_for_each(|expr| refuse(Calls::in_tree(expr, 1))),
    }
}

/// # Errors
/// A value of a sequence that was read stands anywhere but in the list of the outermost SELECT of a query, or a clause refers to one.
pub(crate) fn check_query(cursor: &Cursor<'_>, query: &Query) -> Result<(), SqlError> {
    if cursor.take_sequence().is_none() {
        return Ok(());
    }
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

/// Whether an expression is the alias or the position of an item with a value of a sequence. After a wildcard the position
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
