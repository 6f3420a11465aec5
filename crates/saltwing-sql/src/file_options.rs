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
    let mut index = 0;
    while index < tokens.len() {
        unwrap_reader(tokens, ranges, index)?;
        if matches!(tokens.get(index).map(|it| &it.token), Some(Token::SingleQuotedString(_))) {
            let (end, options) = options_at(sql, tokens, ranges, index + 1)?;
            if let Some(TokenWithSpan { token: Token::SingleQuotedString(name), .. }) = tokens.get_mut(index) {
                name.push_str(&options);
            }
            tokens.drain(index + 1..end);
            ranges.drain(index + 1..end);
        }
        index += 1;
    }
    Ok(())
}

/// Functions of other databases that read a file.
const READERS: [&str; 7] =
    ["read_csv", "read_csv_auto", "read_json", "read_json_auto", "read_ndjson", "read_parquet", "parquet_scan"];

/// Writes the call of such a function with one text as the file itself; with more it says how a file is read.
fn unwrap_reader(tokens: &mut Vec<TokenWithSpan>, ranges: &mut Vec<Range<usize>>, from: usize) -> Result<(), SqlError> {
    let token = |at: usize| tokens.get(at).map(|it| &it.token);
    let (Some(Token::Word(before)), Some(Token::Word(name)), Some(Token::LParen)) =
        (token(from), token(from + 1), token(from + 2))
    else {
        return Ok(());
    };
    let reader = name.value.clone();
    let is_reader = READERS.iter().any(|reader| name.value.eq_ignore_ascii_case(reader));
    if !is_reader || !matches!(before.keyword, Keyword::FROM | Keyword::JOIN) {
        return Ok(());
    }
    if let (Some(Token::TripleSingleQuotedString(path)), Some(Token::RParen)) = (token(from + 3), token(from + 4)) {
        // As the lexer marks the name of a file.
        let file = Token::SingleQuotedString(path.clone());
        if let Some(path) = tokens.get_mut(from + 3) {
            path.token = file;
        }
        for place in [from + 4, from + 2, from + 1] {
            tokens.remove(place);
            ranges.remove(place);
        }
        return Ok(());
    }
    let span = tokens.get(from + 1).and_then(|it| place::span_of(it.span)).unwrap_or_else(place::origin);
    let text = format!("options of {} stand behind the file", reader);
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
