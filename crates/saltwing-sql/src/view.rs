//! Views.
//!
//! ```text
//! CREATE [OR REPLACE] VIEW [IF NOT EXISTS] [schema.]v [(column, ..)] AS query
//! DROP   VIEW [IF EXISTS] [schema.]v, .. [CASCADE | RESTRICT]
//! ```

use saltwing_types::Span;
use sqlparser::tokenizer::Token;

use crate::cursor::Cursor;
use crate::error::SqlError;
use crate::statement::{CreateView, DropObjects, Hint};
use crate::{column_type, query};

/// Reads `CREATE [OR REPLACE] VIEW`, if it stands here; a materialized view and the like are other statements.
pub(crate) fn create(cursor: &mut Cursor<'_>, hints: &[Hint]) -> Result<Option<CreateView>, SqlError> {
    let replaces = cursor.at(&["CREATE", "OR", "REPLACE", "VIEW"]);
    if !replaces && !cursor.at(&["CREATE", "VIEW"]) {
        return Ok(None);
    }
    cursor.eat(&["CREATE", "OR", "REPLACE"]);
    cursor.eat(&["CREATE"]);
    cursor.skip();
    let start = cursor.index();
    let if_not_exists = cursor.eat(&["IF", "NOT", "EXISTS"]);
    if if_not_exists && replaces {
        return Err(SqlError::syntax("OR REPLACE and IF NOT EXISTS exclude each other", cursor.span_from(start)));
    }
    let name = cursor.table()?;
    let columns = match cursor.peek(0) {
        Token::LParen => Some(cursor.in_brackets(column)?),
        _ => None,
    };
    cursor.expect(&["AS"])?;
    if let Some(hint) = hints.first() {
        return Err(SqlError::not_supported("a hint in a view", hint.span)
            .with_help("hints stand in the statements that read the view"));
    }
    let from = cursor.index();
    if let Some(parameter) = parameter(cursor, from) {
        return Err(SqlError::not_supported("a parameter in a view", parameter)
            .with_help("write the condition where the view is read: SELECT .. FROM view WHERE .. = ?"));
    }
    let query = query::statement(cursor, Vec::new())?;
    let text = cursor.kept_text(from, &*query.query);
    Ok(Some(CreateView { replaces, if_not_exists, name, columns, query, text }))
}

/// A column's name. One with a type would be a column of the view's own.
fn column(cursor: &mut Cursor<'_>) -> Result<crate::Name, SqlError> {
    let name = cursor.name("a column name")?;
    match cursor.word(0).is_some_and(column_type::is_type_name) {
        true => Err(SqlError::not_supported("a column of a view's own", name.span.union(cursor.here()))
            .with_help("add the column to the table, or leave the type out to name a column of the query")),
        false => Ok(name),
    }
}

/// The place of the first parameter from token number `from` on.
fn parameter(cursor: &Cursor<'_>, from: usize) -> Option<Span> {
    let is_parameter = |index: &usize| matches!(cursor.token(*index).token, Token::Placeholder(_));
    (from..cursor.token_count()).find(is_parameter).map(|index| cursor.span_at(index))
}

/// Reads on behind `DROP TABLE` and `DROP VIEW`.
pub(crate) fn drop(cursor: &mut Cursor<'_>) -> Result<DropObjects, SqlError> {
    let if_exists = cursor.eat(&["IF", "EXISTS"]);
    let names = cursor.list(Cursor::table)?;
    let cascade = cursor.eat(&["CASCADE"]);
    if !cascade {
        cursor.eat(&["RESTRICT"]);
    }
    Ok(DropObjects { if_exists, names, cascade })
}
