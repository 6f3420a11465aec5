//! Views.
//!
//! ```text
//! CREATE [OR REPLACE] [[LOCAL] TEMP[ORARY]] VIEW [IF NOT EXISTS] [schema.]v [(column, .. [, own type, ..])] AS query
//! ALTER  VIEW [schema.]v ADD [IF NOT EXISTS] own type, ..
//!                      | DROP [COLUMN] [IF EXISTS] own, ..
//! DROP   VIEW [IF EXISTS] [schema.]v, .. [CASCADE | RESTRICT]
//! ```

use saltwing_types::Span;
use sqlparser::tokenizer::Token;

use crate::cursor::Cursor;
use crate::dynamic_column::DynamicColumn;
use crate::dynamic_list::declared_column;
use crate::error::SqlError;
use crate::name::Name;
use crate::statement::{AlterView, CreateView, DropObjects, Hint, ViewChange};
use crate::{column_type, query};

/// What may follow CREATE or CREATE OR REPLACE, and whether the view is temporary.
const BEGINNINGS: [(&[&str], bool); 5] = [
    (&["VIEW"], false),
    (&["TEMPORARY", "VIEW"], true),
    (&["TEMP", "VIEW"], true),
    (&["LOCAL", "TEMPORARY", "VIEW"], true),
    (&["LOCAL", "TEMP", "VIEW"], true),
];

/// Reads `CREATE [OR REPLACE] VIEW`, if it stands here; a materialized view and the like are other statements.
pub(crate) fn create(cursor: &mut Cursor<'_>, hints: &[Hint]) -> Result<Option<CreateView>, SqlError> {
    let beginning = BEGINNINGS.iter().find(|(words, _)| {
        let (plain, replacing) = ([&["CREATE"], *words].concat(), [&["CREATE", "OR", "REPLACE"], *words].concat());
        cursor.at(&plain) || cursor.at(&replacing)
    });
    let Some((words, temporary)) = beginning else { return Ok(None) };
    let replaces = cursor.eat(&["CREATE", "OR", "REPLACE"]);
    cursor.eat(&["CREATE"]);
    cursor.eat(words);
    let temporary = *temporary;
    let start = cursor.index();
    let if_not_exists = cursor.eat(&["IF", "NOT", "EXISTS"]);
    if if_not_exists && replaces {
        return Err(SqlError::syntax("OR REPLACE and IF NOT EXISTS exclude each other", cursor.span_from(start)));
    }
    let name = cursor.table()?;
    let (columns, own) = match cursor.peek(0) {
        Token::LParen => columns(cursor)?,
        _ => (None, Vec::new()),
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
    Ok(Some(CreateView { temporary, replaces, if_not_exists, name, columns, own, query, text }))
}

/// Reads `ALTER VIEW v ADD ..` and `DROP ..`, if one stands here; other changes of a view are other statements.
pub(crate) fn alter(cursor: &mut Cursor<'_>) -> Result<Option<AlterView>, SqlError> {
    let verb = if *cursor.peek(3) == Token::Period { 5 } else { 3 };
    if !cursor.at(&["ALTER", "VIEW"]) || !["ADD", "DROP"].iter().any(|word| cursor.word_is(verb, word)) {
        return Ok(None);
    }
    cursor.eat(&["ALTER", "VIEW"]);
    let view = cursor.table()?;
    let change = if cursor.eat(&["ADD"]) {
        let if_not_exists = cursor.eat(&["IF", "NOT", "EXISTS"]);
        ViewChange::Add { if_not_exists, columns: cursor.list(own_column)? }
    } else {
        cursor.expect(&["DROP"])?;
        cursor.eat(&["COLUMN"]);
        let if_exists = cursor.eat(&["IF", "EXISTS"]);
        ViewChange::Drop { if_exists, columns: cursor.list(Cursor::column)? }
    };
    Ok(Some(AlterView { view, change }))
}

/// A column of a view's own.
fn own_column(cursor: &mut Cursor<'_>) -> Result<DynamicColumn, SqlError> {
    let column = declared_column(cursor)?;
    if ["PRIMARY", "NOT", "DEFAULT"].iter().any(|word| cursor.at(&[word])) {
        let what = "a rule for a column of a view's own";
        return Err(SqlError::not_supported(what, cursor.here()).with_help("tables have keys and rules"));
    }
    Ok(column)
}

/// Names for the columns of the query, and columns of the view's own.
type Columns = (Option<Vec<Name>>, Vec<DynamicColumn>);

/// The columns in brackets. Those with a type are the view's own.
fn columns(cursor: &mut Cursor<'_>) -> Result<Columns, SqlError> {
    let (mut names, mut own) = (Vec::new(), Vec::new());
    cursor.in_brackets(|cursor| {
        let after_name = if *cursor.peek(1) == Token::Period { 3 } else { 1 };
        if cursor.word(after_name).is_some_and(column_type::is_type_name) {
            own.push(own_column(cursor)?);
            return Ok(());
        }
        let column = cursor.column()?;
        let span = column.span();
        match (column.family, own.is_empty()) {
            (Some(_), _) => Err(SqlError::syntax(
                "a name for a column of the query has no family, and one of the view's own has a type",
                span,
            )),
            (None, false) => {
                Err(SqlError::syntax("columns of the view's own stand behind the names of the query's", span))
            }
            (None, true) => {
                names.push(column.name);
                Ok(())
            }
        }
    })?;
    Ok(((!names.is_empty()).then_some(names), own))
}

/// The place of the first parameter from token number `from` on.
fn parameter(cursor: &Cursor<'_>, from: usize) -> Option<Span> {
    let is_parameter = |index: &usize| matches!(cursor.token(*index).token, Token::Placeholder(_));
    (from..cursor.token_count()).find(is_parameter).map(|index| cursor.span_at(index))
}

/// Reads what follows `DROP TABLE` and `DROP VIEW`.
pub(crate) fn drop(cursor: &mut Cursor<'_>) -> Result<DropObjects, SqlError> {
    let if_exists = cursor.eat(&["IF", "EXISTS"]);
    let names = cursor.list(Cursor::table)?;
    let cascade = cursor.eat(&["CASCADE"]);
    if !cascade {
        cursor.eat(&["RESTRICT"]);
    }
    Ok(DropObjects { if_exists, names, cascade })
}
