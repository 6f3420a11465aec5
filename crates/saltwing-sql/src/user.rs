//! Users and what they may do.
//!
//! ```text
//! CREATE USER [IF NOT EXISTS] u [WITH] PASSWORD '..'
//! ALTER  USER u [WITH] PASSWORD '..'
//! DROP   USER [IF EXISTS] u
//! GRANT  privilege, .. ON object TO u, ..
//! REVOKE privilege, .. ON object FROM u, ..
//! privilege:  SELECT | UPSERT | DELETE | DDL | ALL [PRIVILEGES]
//! object:     [TABLE | VIEW | SEQUENCE] [schema.]t | SCHEMA s | DATABASE
//! ```
//!
//! No error here has the token that it found where a password may be.

use saltwing_types::Privilege;
use sqlparser::tokenizer::Token;

use crate::cursor::Cursor;
use crate::error::SqlError;
use crate::statement::{AlterUser, CreateUser, DropUser, Grant, GrantObject, Password, Statement};

/// Reads on after `CREATE USER`.
pub(crate) fn create(cursor: &mut Cursor<'_>) -> Result<CreateUser, SqlError> {
    let if_not_exists = cursor.eat(&["IF", "NOT", "EXISTS"]);
    let name = cursor.name("a name for the user")?;
    Ok(CreateUser { if_not_exists, name, password: password(cursor)? })
}

/// Reads on after `ALTER USER`.
pub(crate) fn alter(cursor: &mut Cursor<'_>) -> Result<AlterUser, SqlError> {
    let name = cursor.name("the name of a user")?;
    Ok(AlterUser { name, password: password(cursor)? })
}

/// Reads on after `DROP USER`.
pub(crate) fn drop(cursor: &mut Cursor<'_>) -> Result<DropUser, SqlError> {
    let if_exists = cursor.eat(&["IF", "EXISTS"]);
    Ok(DropUser { if_exists, name: cursor.name("the name of a user")? })
}

/// Reads `[WITH] PASSWORD '..'`, which ends the statement.
fn password(cursor: &mut Cursor<'_>) -> Result<Password, SqlError> {
    cursor.eat(&["WITH"]);
    if !cursor.eat(&["PASSWORD"]) {
        return Err(SqlError::syntax("expected PASSWORD after the name of the user", cursor.here())
            .with_help("a user has a name and a PASSWORD '..', and nothing else"));
    }
    let span = cursor.here();
    let Token::TripleSingleQuotedString(text) = cursor.peek(0) else {
        return Err(SqlError::syntax("expected a password in ''", span));
    };
    let password = Password { text: text.clone(), span };
    cursor.skip();
    match cursor.is_at_end() {
        true => Ok(password),
        false => Err(SqlError::syntax("expected the end of the statement after the password", cursor.here())
            .with_help("a quote inside a text is written twice: 'it''s'")),
    }
}

/// Reads on after GRANT.
pub(crate) fn grant(cursor: &mut Cursor<'_>) -> Result<Statement, SqlError> {
    privileges(cursor, "TO").map(Statement::Grant)
}

/// Reads on after REVOKE.
pub(crate) fn revoke(cursor: &mut Cursor<'_>) -> Result<Statement, SqlError> {
    privileges(cursor, "FROM").map(Statement::Revoke)
}

fn privileges(cursor: &mut Cursor<'_>, before_users: &str) -> Result<Grant, SqlError> {
    let privileges = cursor.list(privilege)?.into_iter().collect();
    cursor.expect(&["ON"])?;
    let object = object(cursor)?;
    cursor.expect(&[before_users])?;
    let users = cursor.list(|cursor| cursor.name("the name of a user"))?;
    match cursor.at(&["WITH", "GRANT"]) {
        true => Err(SqlError::not_supported("WITH GRANT OPTION", cursor.here())
            .with_help("users with ALL ON DATABASE grant privileges")),
        false => Ok(Grant { privileges, object, users }),
    }
}

fn privilege(cursor: &mut Cursor<'_>) -> Result<Privilege, SqlError> {
    let found = Privilege::EACH.into_iter().chain([Privilege::All]).find(|it| cursor.eat(&[it.as_str()]));
    if let Some(privilege) = found {
        if privilege == Privilege::All {
            cursor.eat(&["PRIVILEGES"]);
        }
        return Ok(privilege);
    }
    let help = match cursor.word(0).map(str::to_uppercase).as_deref() {
        Some("INSERT" | "UPDATE" | "MERGE") => {
            "UPSERT is the privilege to write rows: by UPSERT, INSERT, UPDATE and MERGE"
        }
        Some("TRUNCATE") => "DELETE is the privilege to delete rows: by DELETE and TRUNCATE",
        Some("CREATE" | "DROP" | "ALTER" | "INDEX" | "REFERENCES" | "TRIGGER") => {
            "DDL is the privilege to make, change and drop"
        }
        Some("USAGE") => {
            "UPSERT on a sequence takes its values, SELECT shows it; a schema needs no privilege of its own"
        }
        _ => return Err(cursor.expected_word(&["SELECT", "UPSERT", "DELETE", "DDL", "ALL"])),
    };
    Err(cursor.expected("SELECT, UPSERT, DELETE, DDL or ALL").with_help(help))
}

/// A table of the name `schema` or `database` is written in quotes.
fn object(cursor: &mut Cursor<'_>) -> Result<GrantObject, SqlError> {
    if cursor.eat(&["DATABASE"]) {
        return Ok(GrantObject::Database);
    }
    if cursor.eat(&["SCHEMA"]) {
        return cursor.name("a schema name").map(GrantObject::Schema);
    }
    let is_kind = ["VIEW", "SEQUENCE"].iter().any(|kind| cursor.word_is(0, kind));
    if is_kind && matches!(cursor.peek(1), Token::Word(_)) && !cursor.word_is(1, "TO") && !cursor.word_is(1, "FROM") {
        cursor.skip();
    } else {
        cursor.eat(&["TABLE"]);
    }
    cursor.table().map(GrantObject::Relation)
}
