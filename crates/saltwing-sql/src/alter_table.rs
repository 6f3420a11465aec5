//! ALTER TABLE, as Phoenix and as standard SQL write it.
//!
//! ```text
//! ALTER TABLE [schema.]table
//!     ADD  [COLUMN] [IF NOT EXISTS] [family.]column type [NOT NULL | NULL] [DEFAULT expression], ..
//!   | DROP [COLUMN] [IF EXISTS] [family.]column, ..
//!   | SET  option = value, ..
//! ```

use sqlparser::tokenizer::Token;

use crate::create_table;
use crate::cursor::Cursor;
use crate::error::SqlError;
use crate::statement::{AlterTable, OptionSpec, TableChange};

/// Reads on behind `ALTER TABLE`.
pub(crate) fn parse(cursor: &mut Cursor<'_>) -> Result<AlterTable, SqlError> {
    let table = cursor.table()?;
    let change = if cursor.eat(&["ADD"]) {
        cursor.eat(&["COLUMN"]);
        let if_not_exists = cursor.eat(&["IF", "NOT", "EXISTS"]);
        TableChange::Add { if_not_exists, columns: cursor.list(added_column)? }
    } else if cursor.eat(&["DROP"]) {
        if cursor.at(&["CONSTRAINT"]) || cursor.at(&["PRIMARY", "KEY"]) {
            return Err(key_is_fixed(cursor));
        }
        cursor.eat(&["COLUMN"]);
        let if_exists = cursor.eat(&["IF", "EXISTS"]);
        TableChange::Drop { if_exists, columns: cursor.list(Cursor::column)? }
    } else if cursor.eat(&["SET"]) {
        TableChange::Set { options: options(cursor)? }
    } else {
        return Err(other_change(cursor));
    };
    Ok(AlterTable { table, change })
}

fn added_column(cursor: &mut Cursor<'_>) -> Result<crate::statement::ColumnSpec, SqlError> {
    if create_table::key_constraint(cursor).is_some() {
        return Err(key_is_fixed(cursor));
    }
    create_table::other_constraint(cursor)?;
    create_table::column(cursor)
}

fn key_is_fixed(cursor: &Cursor<'_>) -> SqlError {
    SqlError::not_supported("another key for a table", cursor.here())
        .with_help("make a table with the new key, then UPSERT INTO new SELECT .. FROM old")
}

fn options(cursor: &mut Cursor<'_>) -> Result<Vec<OptionSpec>, SqlError> {
    let bracketed = *cursor.peek(0) == Token::LParen;
    let options = match bracketed {
        true => cursor.in_brackets(create_table::option)?,
        false => cursor.list(create_table::option)?,
    };
    create_table::refuse_repeated(&options)?;
    Ok(options)
}

/// Changes of a table that other databases support.
fn other_change(cursor: &Cursor<'_>) -> SqlError {
    let what = match cursor.word(0).map(str::to_uppercase).as_deref() {
        Some("RENAME") => "ALTER TABLE .. RENAME",
        Some("ALTER" | "MODIFY" | "CHANGE") => "to change a column",
        Some("OWNER") => "OWNER of a table",
        Some("ENABLE" | "DISABLE") => "ALTER TABLE .. ENABLE",
        _ => return cursor.expected_word(&["ADD", "DROP", "SET"]),
    };
    SqlError::not_supported(what, cursor.here()).with_help("ALTER TABLE takes ADD, DROP and SET")
}
