//! COPY, in and out.
//!
//! ```text
//! COPY table [(column [type], ..)] FROM 'file' | STDIN  [options]
//! COPY table [(column [type], ..)] TO 'file' | STDOUT   [options]
//! COPY (query) TO 'file' | STDOUT                [options]
//! ```
//! Options are `[WITH] (HEADER [bool], DELIMITER 'c', QUOTE 'c', ESCAPE 'c', NULL 'text',
//! FORMAT csv|json|arrow|arrow_stream|parquet, COMPRESSION none|gzip|zstd|lz4|snappy, ON_ERROR abort|skip, ON_CONFLICT replace|error|ignore)`; brackets, `=` and
//! commas may be left out, and `ON ERROR` and `ON CONFLICT` may be two words. `SPECIAL [bool]` lets the file be a pipe or a device;
//! `OVERWRITE [bool]` lets COPY TO replace a file.

use sqlparser::tokenizer::Token;

use crate::cursor::Cursor;
use crate::dml::columns_or_dynamic;
use crate::error::SqlError;
use crate::query;
use crate::statement::{
    CopyCompression, CopyFormat, CopyFrom, CopyOptions, CopySource, CopyTarget, CopyTo, Hint, OnConflict, OnError,
    Statement,
};

const OPTIONS: [&str; 11] = [
    "FORMAT",
    "COMPRESSION",
    "HEADER",
    "DELIMITER",
    "QUOTE",
    "ESCAPE",
    "NULL",
    "ON_ERROR",
    "ON_CONFLICT",
    "OVERWRITE",
    "SPECIAL",
];

/// Reads what follows COPY, which is token number `start`.
pub(crate) fn parse(cursor: &mut Cursor<'_>, start: usize, hints: Vec<Hint>) -> Result<Statement, SqlError> {
    let source = match *cursor.peek(0) == Token::LParen {
        true => CopySource::Query(query::in_brackets(cursor, hints)?),
        false => {
            let table = cursor.existing_table()?;
            let (columns, dynamic) = match *cursor.peek(0) == Token::LParen {
                true => {
                    let (columns, dynamic) = columns_or_dynamic(cursor)?;
                    (Some(columns), dynamic)
                }
                false => (None, Vec::new()),
            };
            CopySource::Table { table, columns, dynamic }
        }
    };
    let from = cursor.at(&["FROM"]);
    if !from && !cursor.at(&["TO"]) {
        return Err(cursor.expected_word(&["FROM", "TO"]));
    }
    let verb = cursor.here();
    cursor.skip();
    let target = target(cursor, from)?;
    let options = options(cursor)?;
    let span = cursor.span_from(start);
    if from && options.overwrite.is_some() {
        return Err(SqlError::syntax("OVERWRITE is an option of COPY TO", verb));
    }
    match (from, source) {
        (true, CopySource::Table { table, columns, dynamic }) => {
            Ok(Statement::CopyFrom(CopyFrom { table, columns, dynamic, source: target, options, span }))
        }
        (true, CopySource::Query(_)) => Err(SqlError::syntax("a query can be copied TO a file, not FROM one", verb)),
        (false, source) => Ok(Statement::CopyTo(CopyTo { source, target, options, span })),
    }
}

fn target(cursor: &mut Cursor<'_>, from: bool) -> Result<CopyTarget, SqlError> {
    let standard = if from { "STDIN" } else { "STDOUT" };
    if cursor.eat(&[standard]) {
        return Ok(CopyTarget::Standard);
    }
    if cursor.at(&["PROGRAM"]) {
        return Err(SqlError::not_supported("COPY with a PROGRAM", cursor.here()));
    }
    let at = cursor.here();
    let path = cursor.string(&format!("a file name in '' or {standard}"))?;
    match path.is_empty() {
        true => Err(SqlError::syntax("the file name is empty", at)),
        false => Ok(CopyTarget::File(path)),
    }
}

fn options(cursor: &mut Cursor<'_>) -> Result<CopyOptions, SqlError> {
    let start = cursor.index();
    let mut options = CopyOptions::default();
    // Brackets may come first, and words of Phoenix's kind after them.
    cursor.eat(&["WITH"]);
    if cursor.eat_symbol(&Token::LParen) {
        loop {
            option(cursor, &mut options)?;
            if !cursor.eat_symbol(&Token::Comma) {
                break;
            }
        }
        if !cursor.eat_symbol(&Token::RParen) {
            return Err(cursor.expected("\",\" or \")\""));
        }
    }
    while !cursor.is_at_end() {
        option(cursor, &mut options)?;
        cursor.eat_symbol(&Token::Comma);
    }
    let (delimiter, quote) = (options.delimiter.unwrap_or(','), options.quote.unwrap_or('"'));
    if delimiter == quote {
        return Err(SqlError::syntax(format!("DELIMITER and QUOTE are both '{quote}'"), cursor.span_from(start)));
    }
    // What stands for NULL is written as it is, and would be read as something else.
    if let Some(null) = options.null.as_ref().filter(|null| null.contains([delimiter, quote, '\n', '\r'])) {
        let text = format!("NULL '{null}' holds the delimiter, the quote or the end of a line");
        return Err(SqlError::syntax(text, cursor.span_from(start)));
    }
    Ok(options)
}

/// Reads the options of a file in the place of a table, to the end of the tokens. `[WITH] (option, ..)` says how it is written.
pub(crate) fn file_options(cursor: &mut Cursor<'_>) -> Result<CopyOptions, SqlError> {
    let start = cursor.index();
    let options = options(cursor)?;
    let CopyOptions { on_error, on_conflict, overwrite, special, .. } = &options;
    let of_copy = [
        ("ON_ERROR", on_error.is_some()),
        ("ON_CONFLICT", on_conflict.is_some()),
        ("OVERWRITE", overwrite.is_some()),
        ("SPECIAL", special.is_some()),
    ];
    match of_copy.iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => {
            let error = SqlError::syntax(format!("{option} is an option of COPY alone"), cursor.span_from(start));
            Err(error.with_help("a file takes FORMAT, COMPRESSION, HEADER, DELIMITER, QUOTE, ESCAPE and NULL"))
        }
        None => Ok(options),
    }
}

fn option(cursor: &mut Cursor<'_>, options: &mut CopyOptions) -> Result<(), SqlError> {
    let start = cursor.index();
    let Some(mut word) = cursor.word(0).map(str::to_uppercase) else {
        return Err(cursor.expected("an option of COPY"));
    };
    cursor.skip();
    if word != "ON" {
        cursor.eat_symbol(&Token::Eq);
    } else if cursor.eat(&["CONFLICT"]) {
        word.push_str(" CONFLICT");
    } else {
        cursor.expect(&["ERROR"])?;
        word.push_str(" ERROR");
    }
    match word.as_str() {
        "FORMAT" => {
            let at = cursor.here();
            let format = text_or_word(cursor, "a format")?;
            let known = match format.to_lowercase().as_str() {
                "csv" => CopyFormat::Csv,
                "json" | "jsonl" | "ndjson" => CopyFormat::Json,
                "arrow" | "ipc" | "feather" => CopyFormat::Arrow,
                "arrow_stream" | "arrows" => CopyFormat::ArrowStream,
                "parquet" => CopyFormat::Parquet,
                _ => {
                    return Err(SqlError::not_supported(format!("COPY with the format {format}"), at)
                        .with_help("the formats are csv, json, arrow, arrow_stream and parquet"));
                }
            };
            set(&mut options.format, known, cursor, start, &word)
        }
        "COMPRESSION" => set(&mut options.compression, compression(cursor)?, cursor, start, &word),
        // PostgreSQL's old form: WITH CSV HEADER.
        "CSV" => set(&mut options.format, CopyFormat::Csv, cursor, start, "FORMAT"),
        "HEADER" => set(&mut options.header, switch(cursor), cursor, start, &word),
        "OVERWRITE" => set(&mut options.overwrite, switch(cursor), cursor, start, &word),
        "SPECIAL" => set(&mut options.special, switch(cursor), cursor, start, &word),
        "DELIMITER" => set(&mut options.delimiter, character(cursor, "the delimiter")?, cursor, start, &word),
        "QUOTE" => set(&mut options.quote, character(cursor, "the quote")?, cursor, start, &word),
        "ESCAPE" => set(&mut options.escape, character(cursor, "the escape")?, cursor, start, &word),
        "NULL" => set(&mut options.null, cursor.string("a text in ''")?, cursor, start, &word),
        "ON_ERROR" | "ON ERROR" => set(&mut options.on_error, on_error(cursor)?, cursor, start, &word),
        "ON_CONFLICT" | "ON CONFLICT" => set(&mut options.on_conflict, on_conflict(cursor)?, cursor, start, &word),
        _ => {
            let error = SqlError::syntax(format!("{word} is no option of COPY"), cursor.span_at(start));
            Err(match saltwing_types::suggest(&word, OPTIONS) {
                Some(meant) => error.with_help(format!("did you mean {meant}?")),
                None => error.with_help(format!("the options are {}", OPTIONS.join(", "))),
            })
        }
    }
}

/// The value of a switch: an option without a value is on.
fn switch(cursor: &mut Cursor<'_>) -> bool {
    let value = match cursor.word(0).map(str::to_uppercase).as_deref() {
        Some("TRUE" | "ON") if !cursor.at(&["ON", "ERROR"]) && !cursor.at(&["ON", "CONFLICT"]) => true,
        Some("FALSE" | "OFF") => false,
        _ => return true,
    };
    cursor.skip();
    value
}

/// Notes the value of the option that begins at token number `start`.
fn set<T>(slot: &mut Option<T>, value: T, cursor: &Cursor<'_>, start: usize, what: &str) -> Result<(), SqlError> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(SqlError::syntax(format!("{what} is said twice"), cursor.span_from(start))),
    }
}

fn text_or_word(cursor: &mut Cursor<'_>, what: &str) -> Result<String, SqlError> {
    match cursor.word(0).map(str::to_owned) {
        Some(word) => {
            cursor.skip();
            Ok(word)
        }
        None => cursor.string(what),
    }
}

fn compression(cursor: &mut Cursor<'_>) -> Result<CopyCompression, SqlError> {
    let error = cursor.expected_word(&["NONE", "GZIP", "ZSTD", "LZ4", "SNAPPY"]);
    match text_or_word(cursor, "NONE, GZIP, ZSTD, LZ4 or SNAPPY")?.to_uppercase().as_str() {
        "NONE" => Ok(CopyCompression::None),
        "GZIP" | "GZ" => Ok(CopyCompression::Gzip),
        "ZSTD" | "ZST" => Ok(CopyCompression::Zstd),
        "LZ4" => Ok(CopyCompression::Lz4),
        "SNAPPY" => Ok(CopyCompression::Snappy),
        _ => Err(error),
    }
}

fn on_error(cursor: &mut Cursor<'_>) -> Result<OnError, SqlError> {
    let error = cursor.expected_word(&["ABORT", "SKIP"]);
    match text_or_word(cursor, "ABORT or SKIP")?.to_uppercase().as_str() {
        "ABORT" | "STOP" => Ok(OnError::Abort),
        "SKIP" | "IGNORE" => Ok(OnError::Skip),
        _ => Err(error),
    }
}

fn on_conflict(cursor: &mut Cursor<'_>) -> Result<OnConflict, SqlError> {
    let error = cursor.expected_word(&["REPLACE", "ERROR", "IGNORE"]);
    match text_or_word(cursor, "REPLACE, ERROR or IGNORE")?.to_uppercase().as_str() {
        "REPLACE" => Ok(OnConflict::Replace),
        "ERROR" => Ok(OnConflict::Error),
        "IGNORE" => Ok(OnConflict::Ignore),
        _ => Err(error),
    }
}

/// A string of one ASCII character; `'\t'` is the tab, as in PostgreSQL's scripts.
fn character(cursor: &mut Cursor<'_>, what: &str) -> Result<char, SqlError> {
    let at = cursor.here();
    let text = cursor.string(&format!("{what} in ''"))?;
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        _ if text == "\\t" => Ok('\t'),
        (Some(c), None) if c.is_ascii() && c != '\n' && c != '\r' => Ok(c),
        _ => Err(SqlError::syntax(format!("{what} has to be one ASCII character"), at)),
    }
}
