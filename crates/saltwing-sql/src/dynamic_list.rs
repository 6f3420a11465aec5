//! Lists of dynamic columns after tables, in texts: found among the tokens, and made parts of the tables' names as
//! [`dynamic_column`](crate::dynamic_column) has them.

use std::ops::Range;

use sqlparser::ast::Ident;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Span as TokenSpan, Token, TokenWithSpan, Word};

use crate::column_type::{self, is_type_name};
use crate::cursor::Cursor;
use crate::dialect::SaltwingDialect;
use crate::dynamic_column::{DynamicColumn, LIST_QUOTE, list_name};
use crate::error::SqlError;
use crate::name::{Name, TableRef};
use crate::phoenix::Dialect;
use crate::{place, words};

/// Takes a table, and the dynamic columns that are declared after it.
pub(crate) fn table_with_list(cursor: &mut Cursor<'_>) -> Result<(TableRef, Vec<DynamicColumn>), SqlError> {
    let mut parts = vec![cursor.name("a table name")?];
    let mut columns = list(cursor)?;
    while columns.is_empty() && cursor.eat_symbol(&Token::Period) {
        parts.push(cursor.name_part("a table name")?);
        columns = list(cursor)?;
    }
    Ok((cursor.table_of(parts)?, columns))
}

/// Takes the list after a table's name, as [`rewrite`] has left it; none if there is no list.
fn list(cursor: &mut Cursor<'_>) -> Result<Vec<DynamicColumn>, SqlError> {
    let is_list = matches!(cursor.peek(1), Token::Word(word) if word.quote_style == Some(LIST_QUOTE));
    if *cursor.peek(0) != Token::Period || !is_list {
        return Ok(Vec::new());
    }
    cursor.skip();
    cursor.skip();
    cursor.in_brackets(|cursor| {
        let column = cursor.column()?;
        cursor.expect_symbol(&Token::DoubleColon)?;
        let ty = cursor.word(0).and_then(|ty| ty.parse().ok()).ok_or_else(|| cursor.expected("a type"))?;
        cursor.skip();
        Ok(DynamicColumn { column, ty })
    })
}

/// Takes a column with its type.
pub(crate) fn declared_column(cursor: &mut Cursor<'_>) -> Result<DynamicColumn, SqlError> {
    let column = cursor.column()?;
    let (ty, _) = column_type::parse(cursor, &column.to_string())?;
    Ok(DynamicColumn { column, ty })
}

/// The columns of a list in the source.
fn read(sql: &str, tokens: Vec<TokenWithSpan>, ranges: &[Range<usize>]) -> Result<Vec<DynamicColumn>, SqlError> {
    let dialect = SaltwingDialect::new(tokens.len());
    let mut cursor = Cursor::new(sql, tokens, ranges, (&dialect, Dialect::default()));
    let columns = cursor.in_brackets(declared_column)?;
    if cursor.is_at_end() { Ok(columns) } else { Err(cursor.expected("the end of the list")) }
}

/// A list as the tokens of a part of the table's name.
fn tokens_of(columns: &[DynamicColumn], span: TokenSpan) -> Vec<TokenWithSpan> {
    let symbol = |token| TokenWithSpan { token, span };
    let word = |value: String, quote_style, span| {
        let token = Token::Word(Word { value, quote_style, keyword: Keyword::NoKeyword });
        TokenWithSpan { token, span }
    };
    let name = |name: &Name| word(name.text.clone(), name.quoted.then_some('"'), place::token_span(name.span));
    let Ident { value, quote_style, .. } = list_name(span);
    let mut tokens = vec![symbol(Token::Period), word(value, quote_style, span), symbol(Token::LParen)];
    for (place, DynamicColumn { column, ty }) in columns.iter().enumerate() {
        tokens.extend((place > 0).then(|| symbol(Token::Comma)));
        tokens.extend(column.family.iter().flat_map(|family| [name(family), symbol(Token::Period)]));
        tokens.extend([name(&column.name), symbol(Token::DoubleColon), word(ty.to_string(), None, span)]);
    }
    tokens.push(symbol(Token::RParen));
    tokens
}

/// Makes each list after a table a part of the table's name.
///
/// # Errors
/// An unknown type; a list that does not end.
pub(crate) fn rewrite(
    sql: &str,
    tokens: &mut Vec<TokenWithSpan>,
    ranges: &mut Vec<Range<usize>>,
) -> Result<(), SqlError> {
    let may_have = |word: &Word| precedes_table(word) || is_keyword(word, Keyword::MERGE);
    if !tokens.iter().any(|token| matches!(&token.token, Token::Word(word) if may_have(word))) {
        return Ok(());
    }
    // EXPLAIN may stand before it.
    let is_copy = tokens.iter().take(2).any(|token| matches!(&token.token, Token::Word(word) if is_word(word, "COPY")));
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
                // A list of the columns to write follows the INTO of other statements.
                names_table = precedes_table(word) || merges && is_keyword(word, Keyword::INTO);
                if let Some(lists_tables) = lists_tables.last_mut()
                    && word.quote_style.is_none()
                {
                    *lists_tables = lists_tables_after(word.keyword, *lists_tables);
                }
            }
            _ => {}
        }
        // A file or STDIN follows the FROM of a COPY, and options follow it. Queries of a COPY are in brackets.
        let is_source = is_copy && lists_tables.len() == 1;
        if names_table
            && !is_source
            && let Some(list) = list_after(tokens, index + 1)
            && let (Some(listed), Some(places)) = (tokens.get(list.clone()), ranges.get(list.clone()))
            && let (Some(first), Some(last)) = (listed.first(), listed.last())
            && let (Some(start), Some(end)) = (places.first(), places.last())
        {
            let columns = read(sql, listed.to_vec(), places)?;
            let range = start.start..end.end;
            let part = tokens_of(&columns, first.span.union(&last.span));
            let places = std::iter::repeat_n(range.start..range.start, part.len() - 1).chain([range]);
            ranges.splice(list.clone(), places);
            tokens.splice(list, part);
        }
        index += 1;
    }
    Ok(())
}

fn is_word(word: &Word, text: &str) -> bool {
    word.quote_style.is_none() && word.value.eq_ignore_ascii_case(text)
}

fn is_keyword(word: &Word, keyword: Keyword) -> bool {
    word.quote_style.is_none() && word.keyword == keyword
}

/// Whether a table may follow a word.
fn precedes_table(word: &Word) -> bool {
    let keyword = if word.quote_style.is_none() { word.keyword } else { Keyword::NoKeyword };
    matches!(keyword, Keyword::FROM | Keyword::JOIN | Keyword::UPDATE | Keyword::USING)
}

/// Whether a comma after a word stands between tables, if one before the word did or not.
fn lists_tables_after(keyword: Keyword, before: bool) -> bool {
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
fn list_after(tokens: &[TokenWithSpan], mut at: usize) -> Option<Range<usize>> {
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
