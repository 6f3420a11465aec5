//! ALTER TABLE, as Phoenix and as standard SQL write it.
//!
//! ```text
//! ALTER TABLE [schema.]table
//!     ADD  [COLUMN] [IF NOT EXISTS] [family.]column type [NOT NULL | NULL] [DEFAULT expression] [PRIMARY KEY [ASC | DESC]], ..
//!   | ADD  [CONSTRAINT name] CHECK (condition)
//!   | DROP [COLUMN] [IF EXISTS] [family.]column, ..
//!   | DROP CONSTRAINT [IF EXISTS] name
//!   | SET  option = value, ..
//!   | RENAME TO table
//!   | RENAME [COLUMN] [family.]column TO column
//! ```

use sqlparser::tokenizer::Token;

use crate::create_table;
use crate::cursor::Cursor;
use crate::error::SqlError;
use crate::name::TableRef;
use crate::statement::{AlterTable, OptionSpec, TableChange};

/// Reads what follows `ALTER TABLE`.
pub(crate) fn parse(cursor: &mut Cursor<'_>) -> Result<AlterTable, SqlError> {
    let table = cursor.table()?;
    let change = if cursor.eat(&["ADD"]) {
        match create_table::check(cursor)? {
            Some(check) => TableChange::AddCheck(Box::new(check)),
            None => {
                cursor.eat(&["COLUMN"]);
                let if_not_exists = cursor.eat(&["IF", "NOT", "EXISTS"]);
                TableChange::Add { if_not_exists, columns: cursor.list(|cursor| added_column(cursor, &table))? }
            }
        }
    } else if cursor.eat(&["DROP"]) {
        if cursor.at(&["PRIMARY", "KEY"]) {
            return Err(key_is_fixed(cursor));
        }
        let is_constraint = cursor.eat(&["CONSTRAINT"]);
        cursor.eat(if is_constraint { &[] } else { &["COLUMN"] });
        let if_exists = cursor.eat(&["IF", "EXISTS"]);
        match is_constraint {
            true => TableChange::DropConstraint { if_exists, name: cursor.name("a constraint name")? },
            false => TableChange::Drop { if_exists, columns: cursor.list(Cursor::column)? },
        }
    } else if cursor.eat(&["SET"]) {
        TableChange::Set { options: options(cursor)? }
    } else if cursor.eat(&["RENAME", "TO"]) {
        TableChange::Rename { to: cursor.name("a table name")? }
    } else if cursor.eat(&["RENAME"]) {
        cursor.eat(&["COLUMN"]);
        let column = cursor.column()?;
        cursor.expect(&["TO"])?;
        TableChange::RenameColumn { column, to: cursor.name("a column name")? }
    } else {
        return Err(other_change(cursor));
    };
    Ok(AlterTable { table, change })
}

fn added_column(cursor: &mut Cursor<'_>, table: &TableRef) -> Result<crate::statement::ColumnSpec, SqlError> {
    if create_table::key_constraint(cursor).is_some() {
        return Err(key_is_fixed(cursor));
    }
    create_table::other_constraint(cursor, table)?;
    create_table::column(cursor, table)
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
        Some("ALTER" | "MODIFY" | "CHANGE") => "to change a column",
        Some("OWNER") => "OWNER of a table",
        Some("ENABLE" | "DISABLE") => "ALTER TABLE .. ENABLE",
        _ => return cursor.expected_word(&["ADD", "DROP", "SET", "RENAME"]),
    };
    SqlError::not_supported(what, cursor.here()).with_help("ALTER TABLE takes ADD, DROP, SET and RENAME")
}
