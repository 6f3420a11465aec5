//! PREPARE, EXECUTE and DEALLOCATE.

use super::argument;
use super::error::SessionSyntaxError;
use super::statement::{Execute, Prepare, SessionStatement, Target};
use super::transaction::no_two_phases;
use super::type_name;
use crate::tokens::Tokens;

type Parsed = Result<Option<SessionStatement>, SessionSyntaxError>;

const PREPARED: &str = "the name of a prepared statement";

/// The most parameters of a statement, as the protocol and the library have it.
const PARAMETERS_MAX: usize = 65_535;

/// `PREPARE name [(type, ..)] AS statement`.
pub(super) fn prepare(tokens: &mut Tokens<'_>) -> Parsed {
    tokens.skip();
    no_two_phases(tokens, "PREPARE TRANSACTION")?;
    let name = tokens.name(PREPARED)?;
    let types = match tokens.eat_symbol("(") {
        true => list(tokens, type_name::parse)?,
        false => Vec::new(),
    };
    tokens.expect(&["AS"])?;
    let statement = tokens.body("a statement")?;
    Ok(Some(SessionStatement::Prepare(Prepare { name, types, statement })))
}

/// `EXECUTE name [(argument, ..)]`.
pub(super) fn execute(tokens: &mut Tokens<'_>) -> Parsed {
    tokens.skip();
    let name = tokens.name(PREPARED)?;
    let arguments = match tokens.eat_symbol("(") {
        true if tokens.eat_symbol(")") => Vec::new(),
        true => list(tokens, argument::parse)?,
        false => Vec::new(),
    };
    Ok(Some(SessionStatement::Execute(Execute { name, arguments })))
}

/// `DEALLOCATE [PREPARE] name`, `DEALLOCATE [PREPARE] ALL`.
pub(super) fn deallocate(tokens: &mut Tokens<'_>) -> Parsed {
    tokens.skip();
    // A statement may have the name `prepare`.
    if tokens.at(&["PREPARE"]) && !matches!(tokens.peek(1), None | Some((_, ";"))) {
        tokens.skip();
    }
    let target = if tokens.eat(&["ALL"]) { Target::All } else { Target::Named(tokens.name(PREPARED)?) };
    Ok(Some(SessionStatement::Deallocate(target)))
}

/// The elements up to the closing bracket, with commas between them.
fn list<'a, T>(
    tokens: &mut Tokens<'a>,
    element: impl Fn(&mut Tokens<'a>) -> Result<T, SessionSyntaxError>,
) -> Result<Vec<T>, SessionSyntaxError> {
    let mut elements = Vec::new();
    loop {
        if elements.len() >= PARAMETERS_MAX {
            let position = tokens.position();
            return Err(SessionSyntaxError::TooMany { limit: PARAMETERS_MAX, counted: "parameters", position });
        }
        elements.push(element(tokens)?);
        if tokens.eat_symbol(")") {
            return Ok(elements);
        }
        if !tokens.eat_symbol(",") {
            return Err(tokens.expected("\",\" or \")\"").into());
        }
    }
}
