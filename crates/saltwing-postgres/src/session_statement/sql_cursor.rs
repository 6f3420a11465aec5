//! DECLARE, FETCH, MOVE and CLOSE.

use super::error::SessionSyntaxError;
use super::statement::{Declare, Fetch, SessionStatement, Target};
use crate::tokens::{TokenError, Tokens};

type Parsed = Result<Option<SessionStatement>, SessionSyntaxError>;

const CURSOR: &str = "the name of a cursor";

/// `DECLARE name [BINARY] [INSENSITIVE | ASENSITIVE] [[NO] SCROLL] CURSOR [WITH HOLD | WITHOUT HOLD] FOR query`.
pub(super) fn declare(tokens: &mut Tokens<'_>) -> Parsed {
    tokens.skip();
    let name = tokens.name(CURSOR)?;
    let mut is_binary = false;
    while !tokens.eat(&["CURSOR"]) {
        let position = tokens.position();
        if tokens.eat(&["BINARY"]) {
            is_binary = true;
        } else if tokens.eat(&["SCROLL"]) {
            return Err(SessionSyntaxError::NotSupported {
                statement: "DECLARE .. SCROLL CURSOR",
                reason: "cursors move forward only",
                help: Some("leave SCROLL out, and order the query the other way to read backwards"),
                position,
            });
        } else if !tokens.eat(&["NO", "SCROLL"]) && !tokens.eat(&["INSENSITIVE"]) && !tokens.eat(&["ASENSITIVE"]) {
            return Err(tokens.expected("CURSOR").into());
        }
    }
    let position = tokens.position();
    if tokens.eat(&["WITH", "HOLD"]) {
        return Err(SessionSyntaxError::NotSupported {
            statement: "DECLARE .. CURSOR WITH HOLD",
            reason: "a cursor reads the snapshot of its transaction, and ends with it",
            help: Some("leave WITH HOLD out, and read the rows before COMMIT"),
            position,
        });
    }
    tokens.eat(&["WITHOUT", "HOLD"]);
    tokens.expect(&["FOR"])?;
    let query = tokens.body("a query")?;
    Ok(Some(SessionStatement::Declare(Declare { name, is_binary, query })))
}

/// `FETCH ..`.
pub(super) fn fetch(tokens: &mut Tokens<'_>) -> Parsed {
    tokens.skip();
    rows(tokens).map(|fetch| Some(SessionStatement::Fetch(fetch)))
}

/// `MOVE ..`.
pub(super) fn move_forward(tokens: &mut Tokens<'_>) -> Parsed {
    tokens.skip();
    rows(tokens).map(|fetch| Some(SessionStatement::Move(fetch)))
}

/// `[direction] [FROM | IN] name`. Without a direction it is the next row.
fn rows(tokens: &mut Tokens<'_>) -> Result<Fetch, SessionSyntaxError> {
    // A cursor may have the name of a direction: it is the last word then.
    let rows_max = if is_last(tokens) { Some(1) } else { direction(tokens)? };
    let _ = tokens.eat(&["FROM"]) || tokens.eat(&["IN"]);
    Ok(Fetch { name: tokens.name(CURSOR)?, rows_max })
}

fn is_last(tokens: &mut Tokens<'_>) -> bool {
    tokens.peek(0).is_some() && matches!(tokens.peek(1), None | Some((_, ";")))
}

/// The most rows that a direction moves over; `None` is all.
fn direction(tokens: &mut Tokens<'_>) -> Result<Option<u64>, SessionSyntaxError> {
    let position = tokens.position();
    if tokens.eat(&["NEXT"]) {
        return Ok(Some(1));
    }
    if tokens.eat(&["ALL"]) {
        return Ok(None);
    }
    let backward = ["PRIOR", "FIRST", "LAST", "ABSOLUTE", "BACKWARD"];
    if let Some(direction) = backward.into_iter().find(|word| tokens.at(&[word])) {
        return Err(SessionSyntaxError::ForwardOnly { direction, position });
    }
    if tokens.at(&["RELATIVE"]) {
        return Err(SessionSyntaxError::NotSupported {
            statement: "RELATIVE",
            reason: "a cursor gives the rows from its place on",
            help: Some("MOVE n - 1, and then FETCH NEXT"),
            position,
        });
    }
    let is_forward = tokens.eat(&["FORWARD"]);
    if is_forward && tokens.eat(&["ALL"]) {
        return Ok(None);
    }
    let position = tokens.position();
    if tokens.eat_symbol("-") {
        return Err(SessionSyntaxError::ForwardOnly { direction: "a negative number of rows", position });
    }
    tokens.eat_symbol("+");
    match tokens.eat_number() {
        None => Ok(Some(1)),
        Some(number) => match number.parse::<u64>() {
            Ok(0) => {
                Err(SessionSyntaxError::ForwardOnly { direction: "FETCH 0, which reads the last row again,", position })
            }
            Ok(rows) => Ok(Some(rows)),
            Err(_) => {
                Err(TokenError::Malformed { reason: "a number of rows is a whole number below 2^64", position }.into())
            }
        },
    }
}

/// `CLOSE name`, `CLOSE ALL`.
pub(super) fn close(tokens: &mut Tokens<'_>) -> Parsed {
    tokens.skip();
    let target = if tokens.eat(&["ALL"]) { Target::All } else { Target::Named(tokens.name(CURSOR)?) };
    Ok(Some(SessionStatement::Close(target)))
}
