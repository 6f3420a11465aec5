//! The small statements: SHOW, DESCRIBE, SET, USE, schemas, DROP, TRUNCATE, COMPACT, BACKUP, EXPORT, ATTACH, DETACH.

use sqlparser::tokenizer::Token;

use crate::create_table;
use crate::cursor::Cursor;
use crate::error::SqlError;
use crate::index;
use crate::name::{Name, TableRef};
use crate::statement::{
    Attach, Backup, CreateSchema, DropSchema, Export, ExportedObjects, Set, SettingName, ShowTables, Statement,
};

/// Reads what follows SHOW.
pub(crate) fn show(cursor: &mut Cursor<'_>) -> Result<Statement, SqlError> {
    if cursor.eat(&["CREATE", "TABLE"]) || cursor.eat(&["CREATE", "VIEW"]) {
        return cursor.existing_table().map(Statement::ShowCreateTable);
    }
    if cursor.eat(&["CREATE", "SEQUENCE"]) {
        return cursor.table().map(Statement::ShowCreateSequence);
    }
    if cursor.eat(&["TABLES"]) {
        return in_schema(cursor).map(Statement::ShowTables);
    }
    if cursor.eat(&["SEQUENCES"]) {
        return in_schema(cursor).map(Statement::ShowSequences);
    }
    if cursor.eat(&["VIEWS"]) {
        return in_schema(cursor).map(Statement::ShowViews);
    }
    if cursor.eat(&["INDEXES"]) || cursor.eat(&["INDEX"]) {
        return index::shown(cursor).map(Statement::ShowIndexes);
    }
    if cursor.eat(&["SCHEMAS"]) || cursor.eat(&["DATABASES"]) {
        return like(cursor).map(Statement::ShowSchemas);
    }
    if cursor.eat(&["FUNCTIONS"]) {
        return like(cursor).map(Statement::ShowFunctions);
    }
    if cursor.eat(&["USERS"]) {
        return Ok(Statement::ShowUsers);
    }
    if cursor.eat(&["GRANTS"]) {
        let user = match cursor.eat(&["FOR"]) {
            true => Some(cursor.name("the name of a user")?),
            false => None,
        };
        return Ok(Statement::ShowGrants(user));
    }
    if cursor.eat(&["COLUMNS"]) {
        if !cursor.eat(&["FROM"]) {
            cursor.eat(&["IN"]);
        }
        return cursor.existing_table().map(Statement::Describe);
    }
    if cursor.eat(&["STORAGE"]) {
        let table = match cursor.eat(&["FOR"]) {
            true => Some(cursor.table()?),
            false => None,
        };
        return Ok(Statement::ShowStorage(table));
    }
    if cursor.eat(&["TRANSACTIONS"]) {
        return Ok(Statement::ShowTransactions);
    }
    if cursor.eat(&["ATTACHED"]) {
        cursor.eat(&["DATABASES"]);
        return Ok(Statement::ShowAttached);
    }
    if cursor.eat(&["ALL"]) {
        return Ok(Statement::ShowSetting(None));
    }
    setting_name(cursor).map(|name| Statement::ShowSetting(Some(name)))
}

/// `[FROM schema] [LIKE 'pattern']`.
fn in_schema(cursor: &mut Cursor<'_>) -> Result<ShowTables, SqlError> {
    let schema = match cursor.eat(&["FROM"]) || cursor.eat(&["IN"]) {
        true => Some(cursor.name("a schema name")?),
        false => None,
    };
    Ok(ShowTables { schema, like: like(cursor)? })
}

fn like(cursor: &mut Cursor<'_>) -> Result<Option<String>, SqlError> {
    match cursor.eat(&["LIKE"]) {
        true => cursor.string("a pattern in ''").map(Some),
        false => Ok(None),
    }
}

/// Words with dots between them; reserved ones too.
fn setting_name(cursor: &mut Cursor<'_>) -> Result<SettingName, SqlError> {
    let start = cursor.index();
    loop {
        if !matches!(cursor.peek(0), Token::Word(_)) {
            return Err(cursor.expected("a setting"));
        }
        cursor.skip();
        if !cursor.eat_symbol(&Token::Period) {
            break;
        }
    }
    let text: String = cursor.text_from(start).chars().filter(|c| !c.is_whitespace()).collect();
    Ok(SettingName { text, span: cursor.span_from(start) })
}

/// Reads what follows SET.
pub(crate) fn set(cursor: &mut Cursor<'_>) -> Result<Set, SqlError> {
    if cursor.at(&["TRANSACTION"]) || cursor.at(&["SESSION", "CHARACTERISTICS"]) {
        return Err(SqlError::not_supported("SET TRANSACTION", cursor.here())
            .with_help("transactions have snapshot isolation; BEGIN READ ONLY begins one that only reads"));
    }
    let name = setting_name(cursor)?;
    if !cursor.eat_symbol(&Token::Eq) && !cursor.eat(&["TO"]) {
        return Err(cursor.expected("\"=\" or TO"));
    }
    let start = cursor.index();
    let value = match cursor.eat(&["DEFAULT"]) {
        true => None,
        false => Some(create_table::option_value(cursor)?),
    };
    Ok(Set { name, value, value_span: cursor.span_from(start) })
}

/// Reads what follows RESET: the setting gets its default.
pub(crate) fn reset(cursor: &mut Cursor<'_>) -> Result<Set, SqlError> {
    let name = setting_name(cursor)?;
    Ok(Set { value_span: name.span, name, value: None })
}

/// Reads `PRAGMA table_info(t)`, which is DESCRIBE, if it stands here.
pub(crate) fn table_info(cursor: &mut Cursor<'_>) -> Result<Option<TableRef>, SqlError> {
    if !(cursor.at(&["PRAGMA", "TABLE_INFO"]) && *cursor.peek(2) == Token::LParen) {
        return Ok(None);
    }
    (0..3).for_each(|_| cursor.skip());
    let table = match cursor.peek(0) {
        Token::TripleSingleQuotedString(text) => {
            let name = Name { text: text.clone(), quoted: false, span: cursor.here() };
            cursor.skip();
            TableRef { schema: None, name }
        }
        _ => cursor.existing_table()?,
    };
    cursor.expect_symbol(&Token::RParen)?;
    Ok(Some(table))
}

/// Reads what follows EXPORT. A table of the name `all` or `schema` is written in quotes.
pub(crate) fn export(cursor: &mut Cursor<'_>) -> Result<Export, SqlError> {
    let objects = if cursor.eat(&["ALL"]) {
        ExportedObjects::All
    } else if cursor.eat(&["SCHEMA"]) {
        ExportedObjects::Schema(cursor.name("a schema name")?)
    } else {
        ExportedObjects::Table(cursor.table()?)
    };
    cursor.expect(&["AS"])?;
    cursor.expect(&["PHOENIX"])?;
    Ok(Export { objects })
}

/// Reads what follows `CREATE SCHEMA`.
pub(crate) fn create_schema(cursor: &mut Cursor<'_>) -> Result<CreateSchema, SqlError> {
    let if_not_exists = cursor.eat(&["IF", "NOT", "EXISTS"]);
    Ok(CreateSchema { if_not_exists, name: cursor.name("a schema name")? })
}

/// Reads what follows `DROP SCHEMA`.
pub(crate) fn drop_schema(cursor: &mut Cursor<'_>) -> Result<DropSchema, SqlError> {
    let if_exists = cursor.eat(&["IF", "EXISTS"]);
    let names: Vec<Name> = cursor.list(|cursor| cursor.name("a schema name"))?;
    skip_cascade(cursor);
    Ok(DropSchema { if_exists, names })
}

/// A schema with tables is never dropped: either word changes nothing.
fn skip_cascade(cursor: &mut Cursor<'_>) {
    if !cursor.eat(&["CASCADE"]) {
        cursor.eat(&["RESTRICT"]);
    }
}

/// Reads what follows TRUNCATE and COMPACT.
pub(crate) fn tables(cursor: &mut Cursor<'_>) -> Result<Vec<TableRef>, SqlError> {
    cursor.eat(&["TABLE"]);
    cursor.list(Cursor::table)
}

/// Reads what follows ATTACH: `[DATABASE] 'directory' AS alias [READ ONLY | (READ_ONLY)]`.
pub(crate) fn attach(cursor: &mut Cursor<'_>) -> Result<Attach, SqlError> {
    cursor.eat(&["DATABASE"]);
    let start = cursor.index();
    let path = cursor.string("the directory of a database in ''")?;
    let path_span = cursor.span_from(start);
    cursor.expect(&["AS"])?;
    let alias = cursor.name("a name for the database")?;
    if cursor.eat_symbol(&Token::LParen) {
        cursor.expect(&["READ_ONLY"])?;
        cursor.expect_symbol(&Token::RParen)?;
    } else if cursor.eat(&["READ"]) {
        cursor.expect(&["ONLY"])?;
    }
    Ok(Attach { path, path_span, alias })
}

/// Reads what follows DETACH.
pub(crate) fn detach(cursor: &mut Cursor<'_>) -> Result<Name, SqlError> {
    cursor.eat(&["DATABASE"]);
    cursor.name("the name of an attached database")
}

/// Reads what follows BACKUP.
pub(crate) fn backup(cursor: &mut Cursor<'_>, start: usize) -> Result<Backup, SqlError> {
    cursor.expect(&["TO"])?;
    let path = cursor.string("a directory's name in ''")?;
    Ok(Backup { path, span: cursor.span_from(start) })
}
