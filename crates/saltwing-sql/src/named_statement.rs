//! Statements that a session keeps under a name.
//!
//! ```text
//! PREPARE name [(type, ..)] AS statement
//! EXECUTE name [(value, ..)]
//! DEALLOCATE [PREPARE] name | ALL
//! ```

use sqlparser::tokenizer::Token;

use crate::column_type;
use crate::cursor::Cursor;
use crate::error::SqlError;
use crate::name::Name;
use crate::statement::{Execute, Prepare, Statement};

/// Reads what follows PREPARE up to the statement, which `statement` reads.
pub(crate) fn prepare(
    cursor: &mut Cursor<'_>,
    statement: impl FnOnce(&mut Cursor<'_>) -> Result<Statement, SqlError>,
) -> Result<Prepare, SqlError> {
    let name = cursor.name("a name for the statement")?;
    let types = match *cursor.peek(0) == Token::LParen {
        true => cursor.in_brackets(|cursor| column_type::parse(cursor, "of a parameter").map(|(ty, _)| ty))?,
        false => Vec::new(),
    };
    if !cursor.eat(&["AS"]) && !cursor.eat(&["FROM"]) {
        return Err(cursor.expected_word(&["AS"]));
    }
    let (start, span) = (cursor.index(), cursor.here());
    let prepared = statement(cursor)?;
    if !matches!(
        prepared,
        Statement::Query(_)
            | Statement::Upsert(_)
            | Statement::Insert(_)
            | Statement::Update(_)
            | Statement::Delete(_)
            | Statement::Merge(_)
    ) {
        return Err(SqlError::not_supported("PREPARE of this statement", span)
            .with_help("queries, UPSERT, INSERT, UPDATE, DELETE and MERGE are prepared; others run as they are"));
    }
    Ok(Prepare { name, types, text: cursor.text_from(start).to_owned() })
}

/// Reads what follows EXECUTE.
pub(crate) fn execute(cursor: &mut Cursor<'_>) -> Result<Execute, SqlError> {
    if cursor.at(&["IMMEDIATE"]) {
        return Err(SqlError::not_supported("EXECUTE IMMEDIATE", cursor.here())
            .with_help("send the statement by itself, or PREPARE it under a name"));
    }
    let name = cursor.name("the name of a prepared statement")?;
    let values = match *cursor.peek(0) == Token::LParen {
        true => cursor.in_brackets(Cursor::expr)?,
        false => Vec::new(),
    };
    Ok(Execute { name, values })
}

/// Reads what follows DEALLOCATE; `None` means all.
pub(crate) fn deallocate(cursor: &mut Cursor<'_>) -> Result<Option<Name>, SqlError> {
    cursor.eat(&["PREPARE"]);
    match cursor.eat(&["ALL"]) {
        true => Ok(None),
        false => cursor.name("the name of a prepared statement").map(Some),
    }
}
