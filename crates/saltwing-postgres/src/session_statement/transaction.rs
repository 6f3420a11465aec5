//! BEGIN, COMMIT, ROLLBACK, their modes, and the savepoints that the library runs.

use saltwing::Dialect;
use saltwing::syntax::Lexeme;

use super::error::SessionSyntaxError;
use super::statement::SessionStatement;
use crate::settings::{IsolationLevel, TransactionModes};
use crate::tokens::Tokens;

type Parsed = Result<Option<SessionStatement>, SessionSyntaxError>;

const NO_TWO_PHASES: &str = "there are no transactions in two phases";

/// `BEGIN [WORK | TRANSACTION] [modes]`, `START TRANSACTION [modes]`.
pub(super) fn begin(tokens: &mut Tokens<'_>) -> Parsed {
    let tag = if tokens.eat(&["BEGIN"]) {
        noise_word(tokens);
        "BEGIN"
    } else if tokens.eat(&["START", "TRANSACTION"]) {
        "START TRANSACTION"
    } else {
        return Ok(None);
    };
    // The library says why there is none of these, which are SQLite's.
    if ["DEFERRED", "IMMEDIATE", "EXCLUSIVE", "CONCURRENT"].iter().any(|lock| tokens.at(&[lock])) {
        return Ok(None);
    }
    let modes = if tokens.is_at_end() { TransactionModes::default() } else { modes(tokens)? };
    Ok(Some(SessionStatement::Begin { modes, tag }))
}

/// At least one mode; commas may stand between them.
pub(super) fn modes(tokens: &mut Tokens<'_>) -> Result<TransactionModes, SessionSyntaxError> {
    let mut modes = TransactionModes::default();
    loop {
        if tokens.eat(&["READ", "ONLY"]) {
            modes.is_read_only = Some(true);
        } else if tokens.eat(&["READ", "WRITE"]) {
            modes.is_read_only = Some(false);
        } else if tokens.eat(&["NOT", "DEFERRABLE"]) {
            modes.is_deferrable = Some(false);
        } else if tokens.eat(&["DEFERRABLE"]) {
            modes.is_deferrable = Some(true);
        } else if tokens.eat(&["ISOLATION", "LEVEL"]) {
            modes.isolation = Some(isolation_level(tokens)?);
        } else {
            return Err(tokens.expected("ISOLATION LEVEL, READ ONLY, READ WRITE or DEFERRABLE").into());
        }
        if !tokens.eat_symbol(",") && tokens.is_at_end() {
            return Ok(modes);
        }
    }
}

fn isolation_level(tokens: &mut Tokens<'_>) -> Result<IsolationLevel, SessionSyntaxError> {
    let levels: [(&[&str], IsolationLevel); 4] = [
        (&["READ", "UNCOMMITTED"], IsolationLevel::ReadUncommitted),
        (&["READ", "COMMITTED"], IsolationLevel::ReadCommitted),
        (&["REPEATABLE", "READ"], IsolationLevel::RepeatableRead),
        // The library's own word for it.
        (&["SNAPSHOT"], IsolationLevel::RepeatableRead),
    ];
    if let Some((_, level)) = levels.into_iter().find(|(words, _)| tokens.eat(words)) {
        return Ok(level);
    }
    let position = tokens.position();
    if tokens.at(&["SERIALIZABLE"]) {
        return Err(SessionSyntaxError::NotSupported {
            statement: "ISOLATION LEVEL SERIALIZABLE",
            reason: IsolationLevel::NOT_SERIALIZABLE,
            help: Some("leave the level out; to prevent write skew, let both transactions write a common row"),
            position,
        });
    }
    Err(tokens.expected("READ UNCOMMITTED, READ COMMITTED or REPEATABLE READ").into())
}

/// `COMMIT`, `END`.
pub(super) fn commit(tokens: &mut Tokens<'_>) -> Parsed {
    tokens.skip();
    no_two_phases(tokens, "COMMIT PREPARED")?;
    end(tokens)?;
    Ok(Some(SessionStatement::Commit))
}

/// `ROLLBACK`, `ABORT`. To a savepoint it is the library's.
pub(super) fn rollback(tokens: &mut Tokens<'_>) -> Parsed {
    tokens.skip();
    no_two_phases(tokens, "ROLLBACK PREPARED")?;
    noise_word(tokens);
    if tokens.at(&["TO"]) {
        return Ok(None);
    }
    end(tokens)?;
    Ok(Some(SessionStatement::Rollback))
}

/// `PREPARE TRANSACTION` and its kin.
pub(super) fn no_two_phases(tokens: &mut Tokens<'_>, statement: &'static str) -> Result<(), SessionSyntaxError> {
    let position = tokens.position();
    let has_word = tokens.is_word(0, "PREPARED") || tokens.is_word(0, "TRANSACTION");
    // `COMMIT TRANSACTION` has no string after it.
    match has_word && matches!(tokens.peek(1), Some((Lexeme::Text | Lexeme::EscapedText, _))) {
        true => Err(SessionSyntaxError::NotSupported { statement, reason: NO_TWO_PHASES, help: None, position }),
        false => Ok(()),
    }
}

/// `[WORK | TRANSACTION] [AND [NO] CHAIN]`.
fn end(tokens: &mut Tokens<'_>) -> Result<(), SessionSyntaxError> {
    noise_word(tokens);
    let position = tokens.position();
    if tokens.eat(&["AND", "CHAIN"]) {
        return Err(SessionSyntaxError::NotSupported {
            statement: "AND CHAIN",
            reason: "a transaction begins with a statement of its own",
            help: Some("write BEGIN as the next statement"),
            position,
        });
    }
    if tokens.eat(&["AND"]) {
        tokens.expect(&["NO", "CHAIN"])?;
    }
    Ok(())
}

fn noise_word(tokens: &mut Tokens<'_>) {
    let _ = tokens.eat(&["TRANSACTION"]) || tokens.eat(&["WORK"]);
}

/// A statement about a savepoint. The library runs it, and the session's settings follow it if it has succeeded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SavepointStatement {
    /// `SAVEPOINT name`.
    Set(String),
    /// `RELEASE [SAVEPOINT] name`.
    Release(String),
    /// `ROLLBACK [WORK | TRANSACTION] TO [SAVEPOINT] name`.
    RollbackTo(String),
}

/// The savepoint that a statement is about; `None` of another statement, and of one that the library refuses.
pub(crate) fn savepoint(sql: &str, dialect: Dialect) -> Option<SavepointStatement> {
    let mut tokens = Tokens::new(sql, dialect);
    let kind = if tokens.eat(&["SAVEPOINT"]) {
        SavepointStatement::Set
    } else if tokens.eat(&["RELEASE"]) {
        tokens.eat(&["SAVEPOINT"]);
        SavepointStatement::Release
    } else if tokens.eat(&["ROLLBACK"]) || tokens.eat(&["ABORT"]) {
        noise_word(&mut tokens);
        if !tokens.eat(&["TO"]) {
            return None;
        }
        tokens.eat(&["SAVEPOINT"]);
        SavepointStatement::RollbackTo
    } else {
        return None;
    };
    let name = tokens.name("a savepoint").ok()?.text;
    tokens.finish().ok()?;
    Some(kind(name))
}
