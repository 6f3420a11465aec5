//! Dynamic columns behind a table: `FROM t (extra VARCHAR, f.n INTEGER)`.
//!
//! The tree has no place for the list. So it is the last part of the table's name there, in quotes, brackets included:
//! `t."(extra VARCHAR, f.n INTEGER)"`, which may also be written so.

use std::fmt;
use std::ops::Range;

use saltwing_types::{Span, SqlType};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Location, Token, TokenWithSpan, Word};

use crate::column_type::{self, is_type_name};
use crate::cursor::Cursor;
use crate::dialect::SaltwingDialect;
use crate::error::SqlError;
use crate::lexer::{self, Lexed};
use crate::name::ColumnName;
use crate::phoenix::Dialect;
use crate::{place, words};

/// A column that a statement declares for rows of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct DynamicColumn {
    /// Its name, with a family if it was given one.
    pub column: ColumnName,
    /// Its type.
    pub ty: SqlType,
}

impl fmt::Display for DynamicColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.column, self.ty)
    }
}

/// Reads a list with its brackets, all of which stands at `span`.
///
/// # Errors
/// A type that is none; a text that is no list.
pub fn dynamic_columns(list: &str, span: Span) -> Result<Vec<DynamicColumn>, SqlError> {
    let Lexed { mut tokens, ranges, .. } = lexer::lex(list, 0, Location::new(1, 1), Dialect::default())?;
    tokens.iter_mut().for_each(|token| token.span = place::token_span(span));
    columns(list, tokens, &ranges)
}

fn columns(sql: &str, tokens: Vec<TokenWithSpan>, ranges: &[Range<usize>]) -> Result<Vec<DynamicColumn>, SqlError> {
    let dialect = SaltwingDialect::new(tokens.len());
    let mut cursor = Cursor::new(sql, tokens, ranges, (&dialect, Dialect::default()));
    let columns = cursor.in_brackets(|cursor| {
        let column = cursor.column()?;
        let (ty, _) = column_type::parse(cursor, &column.to_string())?;
        Ok(DynamicColumn { column, ty })
    })?;
    if cursor.is_at_end() { Ok(columns) } else { Err(cursor.expected("the end of the list")) }
}

/// Makes each list behind a table a part of the table's name.
///
/// # Errors
/// As [`dynamic_columns`].
pub(crate) fn rewrite(
    sql: &str,
    tokens: &mut Vec<TokenWithSpan>,
    ranges: &mut Vec<Range<usize>>,
) -> Result<(), SqlError> {
    let may_have = |word: &Word| precedes_table(word) || is_keyword(word, Keyword::MERGE);
    if !tokens.iter().any(|token| matches!(&token.token, Token::Word(word) if may_have(word))) {
        return Ok(());
    }
    // For each open bracket, whether tables may follow a comma.
    let (mut lists_tables, mut index, mut merges) = (vec![false], 0, false);
    while index < tokens.len() {
        let mut names_table = false;
        match tokens.get(index).map(|token| &token.token) {
            Some(Token::LParen) => lists_tables.push(false),
            Some(Token::RParen) if lists_tables.len() > 1 => drop(lists_tables.pop()),
            Some(Token::Comma) => names_table = lists_tables.last() == Some(&true),
            Some(Token::Word(word)) => {
                merges |= is_keyword(word, Keyword::MERGE);
                // Behind the INTO of other statements stands a list of the columns that they write.
                names_table = precedes_table(word) || merges && is_keyword(word, Keyword::INTO);
                if let Some(lists_tables) = lists_tables.last_mut()
                    && word.quote_style.is_none()
                {
                    *lists_tables = lists_tables_behind(word.keyword, *lists_tables);
                }
            }
            _ => {}
        }
        if names_table
            && let Some(list) = list_behind(tokens, index + 1)
            && let (Some(listed), Some(places)) = (tokens.get(list.clone()), ranges.get(list.clone()))
            && let (Some(first), Some(last)) = (listed.first(), listed.last())
            && let (Some(start), Some(end)) = (places.first(), places.last())
        {
            columns(sql, listed.to_vec(), places)?;
            let (span, range) = (first.span.union(&last.span), start.start..end.end);
            let value = sql.get(range.clone()).unwrap_or_default().to_owned();
            let name = Word { value, quote_style: Some('"'), keyword: Keyword::NoKeyword };
            let words = [Token::Period, Token::Word(name)].map(|token| TokenWithSpan { token, span });
            tokens.splice(list.clone(), words);
            ranges.splice(list, [range.start..range.start, range]);
        }
        index += 1;
    }
    Ok(())
}

fn is_keyword(word: &Word, keyword: Keyword) -> bool {
    word.quote_style.is_none() && word.keyword == keyword
}

/// Whether a table may follow a word.
fn precedes_table(word: &Word) -> bool {
    let keyword = if word.quote_style.is_none() { word.keyword } else { Keyword::NoKeyword };
    matches!(keyword, Keyword::FROM | Keyword::JOIN | Keyword::UPDATE | Keyword::USING)
}

/// Whether a comma behind a word stands between tables, if before it one did or not.
fn lists_tables_behind(keyword: Keyword, before: bool) -> bool {
    use Keyword::{
        EXCEPT, FETCH, FROM, GROUP, HAVING, INTERSECT, LIMIT, OFFSET, ORDER, RETURNING, SELECT, UNION, USING, WHERE,
        WINDOW,
    };
    match keyword {
        FROM | USING => true,
        EXCEPT | FETCH | GROUP | HAVING | INTERSECT | LIMIT | OFFSET | ORDER | RETURNING | SELECT | UNION | WHERE
        | WINDOW => false,
        _ => before,
    }
}

/// Where the list of a table stands whose name begins at `at`: `name [. name] (column type`.
fn list_behind(tokens: &[TokenWithSpan], mut at: usize) -> Option<Range<usize>> {
    let token = |at: usize| tokens.get(at).map(|token| &token.token);
    let word = |at: usize| match token(at) {
        Some(Token::Word(word)) => Some(word),
        _ => None,
    };
    let may_be_name = |word: &Word| word.quote_style.is_some() || !words::is_reserved(word.keyword);
    word(at).filter(|name| may_be_name(name))?;
    while token(at + 1) == Some(&Token::Period) {
        at += 2;
        word(at)?;
    }
    let open = at + 1;
    let mut column = open + 1;
    if token(open) != Some(&Token::LParen) || !word(column).is_some_and(may_be_name) {
        return None;
    }
    while token(column + 1) == Some(&Token::Period) {
        column += 2;
    }
    // An argument of a table function is no two names in a row.
    word(column + 1).filter(|ty| ty.quote_style.is_none() && is_type_name(&ty.value))?;
    let mut depth = 0usize;
    for (close, token) in tokens.iter().enumerate().skip(open) {
        match token.token {
            Token::LParen => depth += 1,
            Token::RParen if depth == 1 => return Some(open..close + 1),
            Token::RParen => depth -= 1,
            _ => {}
        }
    }
    None
}
