//! ALTER TABLE, as Phoenix and as standard SQL write it.
//!
//! ```text
//! ALTER TABLE [schema.]table
//!     ADD  [COLUMN] [IF NOT EXISTS] [family.]column type [NOT NULL | NULL] [DEFAULT expression] [PRIMARY KEY [ASC | DESC]], ..
//!   | ADD  [CONSTRAINT name] CHECK (condition)
//!   | ADD  [CONSTRAINT name] UNIQUE (part [ASC | DESC], ..)
//!   | DROP [COLUMN] [IF EXISTS] [family.]column, ..
//!   | DROP CONSTRAINT [IF EXISTS] name
//!   | SET  option = value, ..
//!   | RENAME TO table
//!   | RENAME [COLUMN] [family.]column TO column
//!   | ALTER [COLUMN] [family.]column { SET DEFAULT expression | DROP DEFAULT | SET NOT NULL | DROP NOT NULL
//!                                    | [SET DATA] TYPE type [USING expression] }
//! ```

use sqlparser::tokenizer::Token;

use crate::column_type;
use crate::create_table;
use crate::cursor::Cursor;
use crate::error::SqlError;
use crate::name::TableRef;
use crate::statement::{AlterTable, ColumnChange, OptionSpec, Statement, TableChange};

/// Reads what follows `ALTER TABLE`. ADD UNIQUE makes an index.
pub(crate) fn parse(cursor: &mut Cursor<'_>) -> Result<Statement, SqlError> {
    let table = cursor.table()?;
    if cursor.at(&["ADD", "UNIQUE"]) || (cursor.at(&["ADD", "CONSTRAINT"]) && cursor.word_is(3, "UNIQUE")) {
        cursor.expect(&["ADD"])?;
        return match create_table::unique(cursor)? {
            Some(unique) => Ok(Statement::CreateIndex(Box::new(unique.index_of(&table)))),
            None => create_table::other_constraint(cursor).and(Err(cursor.expected("UNIQUE (column, ..)"))),
        };
    }
    change(cursor, table).map(Statement::AlterTable)
}

fn change(cursor: &mut Cursor<'_>, table: TableRef) -> Result<AlterTable, SqlError> {
    let change = if cursor.eat(&["ADD"]) {
        match create_table::check(cursor)? {
            Some(check) => TableChange::AddCheck(Box::new(check)),
            None => {
                cursor.eat(&["COLUMN"]);
                let if_not_exists = cursor.eat(&["IF", "NOT", "EXISTS"]);
                TableChange::Add { if_not_exists, columns: cursor.list(added_column)? }
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
    } else if cursor.eat(&["ALTER"]) {
        cursor.eat(&["COLUMN"]);
        let column = cursor.column()?;
        let change = Box::new(column_change(cursor, &column.name.text)?);
        TableChange::AlterColumn { column, change }
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
    let column = create_table::column(cursor)?;
    match column.unique {
        Some(span) => Err(SqlError::not_supported("UNIQUE of a column that is added", span)
            .with_help("add the column, then ADD UNIQUE (column)")),
        None => Ok(column),
    }
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
        Some("MODIFY" | "CHANGE") => {
            return SqlError::not_supported("to change a column", cursor.here())
                .with_help("ALTER COLUMN c TYPE type, ALTER COLUMN c SET NOT NULL, ..");
        }
        Some("OWNER") => "OWNER of a table",
        Some("ENABLE" | "DISABLE") => "ALTER TABLE .. ENABLE",
        _ => return cursor.expected_word(&["ADD", "DROP", "SET", "RENAME", "ALTER"]),
    };
    SqlError::not_supported(what, cursor.here()).with_help("ALTER TABLE takes ADD, DROP, SET, RENAME and ALTER COLUMN")
}

/// Reads what follows the name of a column after ALTER COLUMN.
fn column_change(cursor: &mut Cursor<'_>, column: &str) -> Result<ColumnChange, SqlError> {
    if cursor.eat(&["SET", "DEFAULT"]) {
        return create_table::default(cursor).map(ColumnChange::SetDefault);
    }
    if cursor.eat(&["DROP", "DEFAULT"]) {
        return Ok(ColumnChange::DropDefault);
    }
    if cursor.eat(&["SET", "NOT", "NULL"]) {
        return Ok(ColumnChange::SetNotNull);
    }
    if cursor.eat(&["DROP", "NOT", "NULL"]) {
        return Ok(ColumnChange::DropNotNull);
    }
    if cursor.eat(&["SET", "DATA", "TYPE"]) || cursor.eat(&["TYPE"]) {
        let (sql_type, type_span) = column_type::parse(cursor, column)?;
        let using = if cursor.eat(&["USING"]) { Some(create_table::default(cursor)?) } else { None };
        return Ok(ColumnChange::Type { sql_type, type_span, using });
    }
    let what = match cursor.word(1).map(str::to_uppercase).as_deref() {
        Some("GENERATED" | "IDENTITY" | "EXPRESSION") => "another way in which a column gets its values",
        Some("STATISTICS" | "STORAGE" | "COMPRESSION") => "SET STATISTICS, STORAGE or COMPRESSION of a column",
        _ => return Err(cursor.expected("SET DEFAULT, DROP DEFAULT, SET NOT NULL, DROP NOT NULL or TYPE")),
    };
    let help = "ALTER COLUMN takes SET DEFAULT, DROP DEFAULT, SET NOT NULL, DROP NOT NULL and TYPE";
    Err(SqlError::not_supported(what, cursor.here()).with_help(help))
}
