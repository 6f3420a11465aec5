//! CREATE TABLE whose columns and rows come from a query.
//!
//! ```text
//! CREATE [[LOCAL] TEMPORARY | IMMUTABLE] TABLE [IF NOT EXISTS] [schema.]table [(column, .. [,] [PRIMARY KEY (column, ..)])]
//!     [PRIMARY KEY (column, ..)] [[WITH] option = value [,] ..] AS query
//! ```

use sqlparser::tokenizer::Token;

use crate::create_table::{key_constraint, primary_key, table_options};
use crate::cursor::Cursor;
use crate::error::SqlError;
use crate::query;
use crate::statement::{CreateTable, CreateTableAs, Hint};

/// Whether AS stands outside all brackets: so it does in front of a query, and nowhere else in a CREATE TABLE.
pub(crate) fn has_query(cursor: &Cursor<'_>) -> bool {
    let mut depth = 0_usize;
    (cursor.index()..cursor.token_count()).any(|index| match &cursor.token(index).token {
        Token::LParen => {
            depth += 1;
            false
        }
        Token::RParen => {
            depth = depth.saturating_sub(1);
            false
        }
        Token::Word(word) => depth == 0 && word.quote_style.is_none() && word.value.eq_ignore_ascii_case("AS"),
        _ => false,
    })
}

/// Reads what follows the name of the table.
pub(crate) fn parse(
    cursor: &mut Cursor<'_>,
    mut table: CreateTable,
    hints: Vec<Hint>,
) -> Result<CreateTableAs, SqlError> {
    let mut names = Vec::new();
    if *cursor.peek(0) == Token::LParen {
        cursor.in_brackets(|cursor| {
            match key_constraint(cursor) {
                Some(_) => key(cursor, &mut table)?,
                None => names.push(cursor.name("a column name")?),
            }
            match cursor.peek(0) {
                Token::Comma | Token::RParen => Ok(()),
                _ => Err(cursor.expected("\",\" or \")\"").with_help("the types come from the query")),
            }
        })?;
    }
    if key_constraint(cursor).is_some() {
        key(cursor, &mut table)?;
    }
    (table.options, table.split_on) = table_options(cursor, table.temporary)?;
    cursor.expect(&["AS"])?;
    Ok(CreateTableAs { table, names, query: query::statement(cursor, hints)? })
}

fn key(cursor: &mut Cursor<'_>, table: &mut CreateTable) -> Result<(), SqlError> {
    let start = cursor.index();
    let words_before = key_constraint(cursor).unwrap_or(0);
    let key = primary_key(cursor, words_before)?;
    match table.primary_key.replace(key) {
        None => Ok(()),
        Some(_) => Err(SqlError::invalid("the table has two primary keys", cursor.span_from(start))),
    }
}
