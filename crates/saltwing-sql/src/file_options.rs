//! The options of files in the place of tables: `FROM 'f.csv' WITH (HEADER, NULL 'NA')`.
//!
//! The options of a file travel in its name, after a zero byte, which no path has: so the tree needs no place for them, and a query that
//! names one file twice with different options names two tables.

use std::ops::Range;

use saltwing_types::Span;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Location, Token, TokenWithSpan};

use crate::copy;
use crate::cursor::Cursor;
use crate::dialect::SaltwingDialect;
use crate::error::SqlError;
use crate::file_name::is_path;
use crate::left_out::LeftOut;
use crate::lexer::{self, Lexed};
use crate::phoenix::Dialect;
use crate::place;
use crate::statement::{CopyOptions, FileRef};

/// What stands between the path of a file and its options.
const BETWEEN: char = '\0';

/// The path of a file that a query or DESCRIBE names, perhaps a pattern of paths, and its options.
///
/// # Errors
/// Options that a file does not have.
pub fn file_parts(name: &str) -> Result<(&str, CopyOptions), SqlError> {
    let Some((path, options)) = name.split_once(BETWEEN) else { return Ok((name, CopyOptions::default())) };
    let Lexed { tokens, ranges, .. } = lexer::lex(options, 0, Location::new(1, 1), Dialect::default())?;
    Ok((path, parsed(options, tokens, &ranges)?))
}

/// Moves the options that follow the names of files into these names.
pub(crate) fn rewrite(
    sql: &str,
    tokens: &mut Vec<TokenWithSpan>,
    ranges: &mut Vec<Range<usize>>,
) -> Result<(), SqlError> {
    let (mut left_out, mut index) = (LeftOut::default(), 0);
    while index < tokens.len() {
        let file = match call_of_reader(tokens, index)? {
            // The path inside the brackets is the file, as the lexer marks its name.
            Some(path) => {
                left_out.add(index..index + 2);
                left_out.add(index + 3..index + 4);
                set_token(tokens, index + 2, Token::SingleQuotedString(path));
                Some((index + 2, index + 4))
            }
            None if matches!(tokens.get(index).map(|it| &it.token), Some(Token::SingleQuotedString(_))) => {
                Some((index, index + 1))
            }
            None => None,
        };
        let Some((name, after)) = file else {
            index += 1;
            continue;
        };
        let (end, options) = options_at(sql, tokens, ranges, after)?;
        if let Some(TokenWithSpan { token: Token::SingleQuotedString(name), .. }) = tokens.get_mut(name) {
            name.push_str(&options);
        }
        left_out.add(after..end);
        index = end;
    }
    left_out.apply(tokens, ranges);
    Ok(())
}

fn set_token(tokens: &mut [TokenWithSpan], place: usize, token: Token) {
    if let Some(old) = tokens.get_mut(place) {
        old.token = token;
    }
}

/// Functions of other databases that read a file.
const READERS: [&str; 7] =
    ["read_csv", "read_csv_auto", "read_json", "read_json_auto", "read_ndjson", "read_parquet", "parquet_scan"];

/// The path in the call of such a function with one text, `name('path')`, after FROM or JOIN; with more it says how a file is read.
fn call_of_reader(tokens: &[TokenWithSpan], at: usize) -> Result<Option<String>, SqlError> {
    let token = |at: usize| tokens.get(at).map(|it| &it.token);
    let before = at.checked_sub(1).and_then(token);
    let (Some(Token::Word(before)), Some(Token::Word(name)), Some(Token::LParen)) = (before, token(at), token(at + 1))
    else {
        return Ok(None);
    };
    let is_reader = READERS.iter().any(|reader| name.value.eq_ignore_ascii_case(reader));
    if !is_reader || !matches!(before.keyword, Keyword::FROM | Keyword::JOIN) {
        return Ok(None);
    }
    if let (Some(Token::TripleSingleQuotedString(path)), Some(Token::RParen)) = (token(at + 2), token(at + 3)) {
        return Ok(Some(path.clone()));
    }
    let span = tokens.get(at).and_then(|it| place::span_of(it.span)).unwrap_or_else(place::origin);
    let text = format!("options of {} stand after the file", name.value);
    Err(SqlError::syntax(text, span).with_help("FROM 'file.csv' WITH (HEADER, NULL 'NA')"))
}

/// Where the options end that begin at a token, and their text; nothing if there are none.
fn options_at(
    sql: &str,
    tokens: &[TokenWithSpan],
    ranges: &[Range<usize>],
    start: usize,
) -> Result<(usize, String), SqlError> {
    let token = |at: usize| tokens.get(at).map(|it| &it.token);
    let is_with = matches!(token(start), Some(Token::Word(word)) if word.keyword == Keyword::WITH);
    if !is_with || token(start + 1) != Some(&Token::LParen) {
        return Ok((start, String::new()));
    }
    // Options have no brackets inside.
    let end = (start + 2..tokens.len()).find(|&at| token(at) == Some(&Token::RParen)).map_or(tokens.len(), |at| at + 1);
    let written = tokens.get(start..end).zip(ranges.get(start..end));
    let (tokens, ranges) = written.unwrap_or_default();
    parsed(sql, tokens.to_vec(), ranges)?;
    let bytes = ranges.first().zip(ranges.last()).map(|(first, last)| first.start..last.end);
    let text = bytes.and_then(|bytes| sql.get(bytes)).unwrap_or_default();
    Ok((end, format!("{BETWEEN}{text}")))
}

/// Reads the options of a file, which are all tokens.
fn parsed(sql: &str, tokens: Vec<TokenWithSpan>, ranges: &[Range<usize>]) -> Result<CopyOptions, SqlError> {
    let dialect = SaltwingDialect::new(tokens.len());
    let mut cursor = Cursor::new(sql, tokens, ranges, (&dialect, Dialect::default()));
    copy::file_options(&mut cursor)
}

/// Reads the file after DESCRIBE, if there is one.
pub(crate) fn described(cursor: &mut Cursor<'_>) -> Result<Option<FileRef>, SqlError> {
    let start = cursor.index();
    let path = match cursor.peek(0) {
        Token::TripleSingleQuotedString(text) if is_path(text) => text.clone(),
        _ => return Ok(None),
    };
    cursor.skip();
    let options = cursor.index();
    copy::file_options(cursor)?;
    let name = match cursor.index() > options {
        true => format!("{path}{BETWEEN}{}", cursor.text_from(options)),
        false => path,
    };
    let span: Span = cursor.span_from(start);
    Ok(Some(FileRef { name, span }))
}
