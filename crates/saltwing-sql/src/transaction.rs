//! BEGIN, COMMIT, ROLLBACK, savepoints.

use sqlparser::tokenizer::Token;

use crate::cursor::Cursor;
use crate::error::SqlError;
use crate::statement::Statement;

/// The isolation levels that a snapshot satisfies.
const SATISFIED_LEVELS: [&[&str]; 4] =
    [&["READ", "UNCOMMITTED"], &["READ", "COMMITTED"], &["REPEATABLE", "READ"], &["SNAPSHOT"]];

/// Reads what follows BEGIN or `START TRANSACTION`.
pub(crate) fn begin(cursor: &mut Cursor<'_>) -> Result<Statement, SqlError> {
    noise_word(cursor);
    if let Some(lock) = ["DEFERRED", "IMMEDIATE", "EXCLUSIVE", "CONCURRENT"].iter().find(|word| cursor.at(&[word])) {
        return Err(SqlError::not_supported(format!("BEGIN {lock}"), cursor.here()).with_help(
            "write BEGIN: transactions take no locks, and the second of two that write the same row fails with 40001",
        ));
    }
    let mut read_only = false;
    loop {
        if cursor.eat(&["READ", "ONLY"]) {
            read_only = true;
        } else if cursor.eat(&["READ", "WRITE"]) {
            read_only = false;
        } else if cursor.eat(&["ISOLATION", "LEVEL"]) {
            isolation_level(cursor)?;
        } else if cursor.is_at_end() {
            return Ok(Statement::Begin { read_only });
        } else {
            return Err(cursor.expected("READ ONLY, READ WRITE, ISOLATION LEVEL or the end of the statement"));
        }
        let _ = cursor.eat_symbol(&Token::Comma);
    }
}

fn isolation_level(cursor: &mut Cursor<'_>) -> Result<(), SqlError> {
    if SATISFIED_LEVELS.iter().any(|level| cursor.eat(level)) {
        return Ok(());
    }
    if cursor.at(&["SERIALIZABLE"]) {
        return Err(SqlError::not_supported("ISOLATION LEVEL SERIALIZABLE", cursor.here())
            .with_help("transactions have snapshot isolation: leave the level out"));
    }
    Err(cursor.expected("READ UNCOMMITTED, READ COMMITTED, REPEATABLE READ or SNAPSHOT"))
}

/// Reads what follows COMMIT or END.
pub(crate) fn commit(cursor: &mut Cursor<'_>) -> Result<Statement, SqlError> {
    noise_word(cursor);
    no_chain(cursor)?;
    Ok(Statement::Commit)
}

/// Reads what follows ROLLBACK or ABORT.
pub(crate) fn rollback(cursor: &mut Cursor<'_>) -> Result<Statement, SqlError> {
    noise_word(cursor);
    if cursor.eat(&["TO"]) {
        cursor.eat(&["SAVEPOINT"]);
        return cursor.name("a savepoint").map(Statement::RollbackTo);
    }
    no_chain(cursor)?;
    Ok(Statement::Rollback)
}

/// Reads what follows RELEASE.
pub(crate) fn release(cursor: &mut Cursor<'_>) -> Result<Statement, SqlError> {
    cursor.eat(&["SAVEPOINT"]);
    cursor.name("a savepoint").map(Statement::ReleaseSavepoint)
}

fn noise_word(cursor: &mut Cursor<'_>) {
    let _ = cursor.eat(&["TRANSACTION"]) || cursor.eat(&["WORK"]);
}

fn no_chain(cursor: &mut Cursor<'_>) -> Result<(), SqlError> {
    if cursor.eat(&["AND", "NO", "CHAIN"]) {
        return Ok(());
    }
    match cursor.at(&["AND"]) {
        true => Err(SqlError::not_supported("AND CHAIN", cursor.here()).with_help("write BEGIN as the next statement")),
        false => Ok(()),
    }
}
