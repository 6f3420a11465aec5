//! Statements that a session answers itself, because the library does not know them, or knows them otherwise.
//!
//! The first word decides whether a statement can be one of them, so that the statements of the library cost no more than to find
//! that word. The words are the library's lexemes: a text may be in its language, in either dialect, and no parser of PostgreSQL's
//! has to read it.
//!
//! | statements | file |
//! |---|---|
//! | SET, SHOW, RESET, DISCARD | `setting` |
//! | BEGIN, COMMIT, ROLLBACK | `transaction` |
//! | DECLARE, FETCH, MOVE, CLOSE | `sql_cursor` |
//! | PREPARE, EXECUTE, DEALLOCATE | `prepared`, `argument`, `type_name` |
//! | LISTEN, NOTIFY, UNLISTEN, CHECKPOINT | here |
//!
//! # Laws
//! 1. [`parse()`] gives an answer for every text: it does not panic, and its time grows with the length of the text alone.
//! 2. The place of an error is one of a character of the text, or of its end.
//! 3. The body of PREPARE and the query of DECLARE are pieces of the text as they were written.
//!
//! # Left to others
//! Names are not looked up: a parameter, a cursor or a prepared statement need not be there. A text has one statement; the
//! session takes texts of several apart by `saltwing::split_statements_in`.

mod argument;
mod error;
mod prepared;
mod setting;
mod sql_cursor;
mod statement;
#[cfg(test)]
mod tests;
mod transaction;
mod type_name;

use saltwing::Dialect;
use saltwing::syntax::Lexeme;

pub(crate) use error::SessionSyntaxError;
pub(crate) use statement::{
    Argument, ArgumentKind, Declare, Discard, Execute, Fetch, Prepare, SessionStatement, Target,
};
pub(crate) use transaction::{SavepointStatement, savepoint};

use crate::tokens::Tokens;

/// The letters of the longest first word.
const VERB_LETTERS_MAX: usize = 10;

/// The statement of the session that a text is; `None` of a statement that is the library's, and of a text that is none.
///
/// # Errors
/// A statement of the session that cannot be read, or that is refused.
pub(crate) fn parse(sql: &str, dialect: Dialect) -> Result<Option<SessionStatement>, SessionSyntaxError> {
    let mut tokens = Tokens::new(sql, dialect);
    let Some((Lexeme::Word, word)) = tokens.peek(0) else { return Ok(None) };
    if word.len() > VERB_LETTERS_MAX {
        return Ok(None);
    }
    let statement = match word.to_ascii_uppercase().as_str() {
        "SET" => setting::set(&mut tokens)?,
        "SHOW" => setting::show(&mut tokens)?,
        "RESET" => setting::reset(&mut tokens)?,
        "DISCARD" => setting::discard(&mut tokens)?,
        "BEGIN" | "START" => transaction::begin(&mut tokens)?,
        "COMMIT" | "END" => transaction::commit(&mut tokens)?,
        "ROLLBACK" | "ABORT" => transaction::rollback(&mut tokens)?,
        "DECLARE" => sql_cursor::declare(&mut tokens)?,
        "FETCH" => sql_cursor::fetch(&mut tokens)?,
        "MOVE" => sql_cursor::move_forward(&mut tokens)?,
        "CLOSE" => sql_cursor::close(&mut tokens)?,
        "PREPARE" => prepared::prepare(&mut tokens)?,
        "EXECUTE" => prepared::execute(&mut tokens)?,
        "DEALLOCATE" => prepared::deallocate(&mut tokens)?,
        "UNLISTEN" => unlisten(&mut tokens)?,
        "LISTEN" => return Err(refused(&mut tokens, "LISTEN", NO_CHANNELS)),
        "NOTIFY" => return Err(refused(&mut tokens, "NOTIFY", NO_CHANNELS)),
        "CHECKPOINT" => {
            return Err(refused(
                &mut tokens,
                "CHECKPOINT",
                "the storage writes by itself, and a COMMIT waits for the disk",
            ));
        }
        _ => return Ok(None),
    };
    // A statement of the library is read to its end by the library.
    if !matches!(statement, None | Some(SessionStatement::OfTheLibrary { tag: "SET", .. })) {
        tokens.finish()?;
    }
    Ok(statement)
}

const NO_CHANNELS: &str = "sessions send each other no notifications";

fn refused(tokens: &mut Tokens<'_>, statement: &'static str, reason: &'static str) -> SessionSyntaxError {
    SessionSyntaxError::NotSupported { statement, reason, help: None, position: tokens.position() }
}

/// `UNLISTEN channel`, `UNLISTEN *`: a session listens to no channel.
fn unlisten(tokens: &mut Tokens<'_>) -> Result<Option<SessionStatement>, SessionSyntaxError> {
    tokens.skip();
    if !tokens.eat_symbol("*") {
        tokens.name("the name of a channel, or *")?;
    }
    Ok(Some(SessionStatement::Nothing { tag: "UNLISTEN" }))
}
