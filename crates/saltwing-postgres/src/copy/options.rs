//! The options of a COPY, in the new form `WITH (FORMAT csv, HEADER)` and the old one `WITH CSV HEADER`.

use pgwire::error::ErrorInfo;
use saltwing::OnConflict;
use saltwing::syntax::Lexeme;

use super::format::{CopyFormat, Forced, Header};
use super::option_rules::{Direction, Options};
use crate::messages::error;
use crate::settings::shortened;
use crate::tokens::{TokenError, Tokens};

/// The formats of the library that PostgreSQL does not have.
const LIBRARY_FORMATS: [&str; 9] =
    ["json", "jsonl", "ndjson", "arrow", "ipc", "feather", "arrow_stream", "arrows", "parquet"];
/// Those of them that are no text.
const LIBRARY_BINARY_FORMATS: [&str; 6] = ["arrow", "ipc", "feather", "arrow_stream", "arrows", "parquet"];

/// The format and the treatment of existing keys that the options choose; `None` if the library reads or writes the rows.
///
/// # Errors
/// Options that PostgreSQL refuses, with its codes; options of the library with formats that do not have them.
pub(super) fn options(
    tokens: &mut Tokens<'_>,
    direction: Direction,
) -> Result<Option<(CopyFormat, OnConflict)>, Box<ErrorInfo>> {
    if library_format(tokens).is_some() {
        return Ok(None);
    }
    let options = read(tokens)?;
    match options.format.as_deref().unwrap_or("text") {
        "csv" if options.of_library.is_some() => Ok(None),
        format => {
            if let Some(option) = options.of_library {
                let mut info = error("0A000", format!("the format {format} has no option {option}"));
                info.hint = Some("WITH (FORMAT csv, ..) and the formats of the library have it".to_owned());
                return Err(info);
            }
            options.chosen(direction).map(Some)
        }
    }
}

/// Whether a COPY that the library reads or writes has bytes that are no text.
pub(super) fn is_binary_in_library(tokens: &mut Tokens<'_>) -> bool {
    let is_compressed = (0..).map_while(|ahead| tokens.peek(ahead)).any(|(kind, word)| {
        kind == Lexeme::Word && ["gzip", "gz", "zstd", "zst"].contains(&word.to_ascii_lowercase().as_str())
    });
    is_compressed || library_format(tokens).is_some_and(|format| LIBRARY_BINARY_FORMATS.contains(&format.as_str()))
}

/// The format of the library that the options name.
fn library_format(tokens: &mut Tokens<'_>) -> Option<String> {
    let mut ahead = 0;
    while let Some((kind, word)) = tokens.peek(ahead) {
        ahead += 1;
        if kind != Lexeme::Word || !word.eq_ignore_ascii_case("FORMAT") {
            continue;
        }
        let is_equals = tokens.peek(ahead) == Some((Lexeme::Symbol, "="));
        let format = match tokens.peek(ahead + usize::from(is_equals))? {
            (Lexeme::Word | Lexeme::QuotedName | Lexeme::Text, format) => format.trim_matches(['"', '\'']),
            _ => continue,
        };
        let format = format.to_ascii_lowercase();
        if LIBRARY_FORMATS.contains(&format.as_str()) {
            return Some(format);
        }
    }
    None
}

fn read(tokens: &mut Tokens<'_>) -> Result<Options, Box<ErrorInfo>> {
    let mut options = Options::default();
    tokens.eat(&["WITH"]);
    if tokens.eat_symbol("(") {
        while !tokens.eat_symbol(")") {
            option(tokens, &mut options)?;
            if !tokens.eat_symbol(",") && !tokens.at_symbol(")") {
                return Err(unexpected(tokens));
            }
        }
    }
    while !tokens.is_at_end() {
        option(tokens, &mut options)?;
        tokens.eat_symbol(",");
    }
    Ok(options)
}

fn option(tokens: &mut Tokens<'_>, options: &mut Options) -> Result<(), Box<ErrorInfo>> {
    let word = match tokens.peek(0) {
        Some((Lexeme::Word, word)) => word.to_ascii_uppercase(),
        _ => return Err(unexpected(tokens)),
    };
    if word == "WHERE" {
        return Err(error("0A000", "COPY .. WHERE is not supported"));
    }
    if ["USING", "FORCE", "ON"].contains(&word.as_str()) {
        return option_of_words(tokens, options);
    }
    let unknown = unexpected(tokens);
    tokens.skip();
    tokens.eat_symbol("=");
    match word.as_str() {
        "FORMAT" => {
            let format = word_or_string(tokens)?.to_ascii_lowercase();
            set(&mut options.format, format)
        }
        "CSV" | "BINARY" => set(&mut options.format, word.to_ascii_lowercase()),
        "DELIMITER" | "DELIMITERS" => set(&mut options.delimiter, string(tokens)?),
        "NULL" => set(&mut options.null, string(tokens)?),
        "QUOTE" => set(&mut options.quote, string(tokens)?),
        "ESCAPE" => set(&mut options.escape, string(tokens)?),
        "ENCODING" => set(&mut options.encoding, word_or_string(tokens)?),
        "HEADER" if tokens.eat(&["MATCH"]) => set(&mut options.header, Header::Matching),
        "HEADER" => {
            let header = if switch(tokens)? { Header::Present } else { Header::Absent };
            set(&mut options.header, header)
        }
        "FREEZE" => {
            let freeze = switch(tokens)?;
            set(&mut options.freeze, freeze)
        }
        "FORCE_QUOTE" => set(&mut options.force_quote, columns(tokens)?),
        "FORCE_NOT_NULL" => set(&mut options.force_not_null, columns(tokens)?),
        "FORCE_NULL" => set(&mut options.force_null, columns(tokens)?),
        "ON_CONFLICT" => set(&mut options.on_conflict, on_conflict(tokens)?),
        "ON_ERROR" => on_error(tokens, options),
        "COMPRESSION" if tokens.eat(&["NONE"]) => Ok(()),
        "COMPRESSION" => {
            word_or_string(tokens)?;
            options.of_library = Some(word);
            Ok(())
        }
        _ => Err(unknown),
    }
}

/// An option whose name has several words.
fn option_of_words(tokens: &mut Tokens<'_>, options: &mut Options) -> Result<(), Box<ErrorInfo>> {
    if tokens.eat(&["USING", "DELIMITERS"]) {
        set(&mut options.delimiter, string(tokens)?)
    } else if tokens.eat(&["FORCE", "QUOTE"]) {
        set(&mut options.force_quote, columns(tokens)?)
    } else if tokens.eat(&["FORCE", "NOT", "NULL"]) {
        set(&mut options.force_not_null, columns(tokens)?)
    } else if tokens.eat(&["FORCE", "NULL"]) {
        set(&mut options.force_null, columns(tokens)?)
    } else if tokens.eat(&["ON", "CONFLICT"]) {
        set(&mut options.on_conflict, on_conflict(tokens)?)
    } else if tokens.eat(&["ON", "ERROR"]) {
        on_error(tokens, options)
    } else {
        Err(unexpected(tokens))
    }
}

fn set<T>(slot: &mut Option<T>, value: T) -> Result<(), Box<ErrorInfo>> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(error("42601", "conflicting or redundant options")),
    }
}

fn string(tokens: &mut Tokens<'_>) -> Result<String, Box<ErrorInfo>> {
    tokens.eat(&["AS"]);
    match tokens
        .eat_string()
        .map_err(|failed| at(error(TokenError::SQLSTATE, failed.to_string()), failed.position()))?
    {
        Some(string) => Ok(string.text),
        None => Err(unexpected(tokens)),
    }
}

fn word_or_string(tokens: &mut Tokens<'_>) -> Result<String, Box<ErrorInfo>> {
    match tokens.eat_name() {
        Some(word) => Ok(word),
        None => string(tokens),
    }
}

/// The value of a switch: an option without a value is on.
fn switch(tokens: &mut Tokens<'_>) -> Result<bool, Box<ErrorInfo>> {
    if tokens.at(&["ON", "CONFLICT"]) || tokens.at(&["ON", "ERROR"]) {
        return Ok(true);
    }
    let position = tokens.position();
    let value = match tokens.peek(0) {
        Some((Lexeme::Word | Lexeme::Number, value)) => value.to_ascii_lowercase(),
        Some((Lexeme::Text, value)) => value.trim_matches('\'').to_ascii_lowercase(),
        _ => return Ok(true),
    };
    let value = match value.as_str() {
        "true" | "on" | "1" => true,
        "false" | "off" | "0" => false,
        // A word is the next option.
        _ if matches!(tokens.peek(0), Some((Lexeme::Word, _))) => return Ok(true),
        _ => {
            let text = format!("an option of COPY requires a Boolean value, not {value}");
            return Err(at(error("42601", text), position));
        }
    };
    tokens.skip();
    Ok(value)
}

/// `*`, or names of columns, with or without brackets around them.
fn columns(tokens: &mut Tokens<'_>) -> Result<Forced, Box<ErrorInfo>> {
    if tokens.eat_symbol("*") {
        return Ok(Forced::All);
    }
    let in_brackets = tokens.eat_symbol("(");
    let mut names = Vec::new();
    loop {
        match tokens.eat_name() {
            Some(name) => names.push(name),
            None => return Err(unexpected(tokens)),
        }
        if !tokens.eat_symbol(",") {
            break;
        }
    }
    if in_brackets && !tokens.eat_symbol(")") {
        return Err(unexpected(tokens));
    }
    Ok(Forced::Columns(names))
}

fn on_conflict(tokens: &mut Tokens<'_>) -> Result<OnConflict, Box<ErrorInfo>> {
    let unknown = unexpected(tokens);
    match word_or_string(tokens)?.to_ascii_uppercase().as_str() {
        "REPLACE" => Ok(OnConflict::Replace),
        "ERROR" => Ok(OnConflict::Error),
        "IGNORE" => Ok(OnConflict::Ignore),
        _ => Err(unknown),
    }
}

fn on_error(tokens: &mut Tokens<'_>, options: &mut Options) -> Result<(), Box<ErrorInfo>> {
    let unknown = unexpected(tokens);
    let skips = match word_or_string(tokens)?.to_ascii_uppercase().as_str() {
        "ABORT" | "STOP" => false,
        "SKIP" | "IGNORE" => true,
        _ => return Err(unknown),
    };
    if skips {
        options.of_library = Some("ON_ERROR SKIP".to_owned());
    }
    set(&mut options.on_error, skips)
}

/// The error of the next word, in whose place something else must stand, in PostgreSQL's words.
pub(super) fn unexpected(tokens: &mut Tokens<'_>) -> Box<ErrorInfo> {
    let text = match tokens.peek(0) {
        None => "syntax error at end of input".to_owned(),
        Some((_, found)) => format!("syntax error at or near \"{}\"", shortened(found)),
    };
    let position = tokens.position();
    at(error(TokenError::SQLSTATE, text), position)
}

/// An error at a position of the statement, in characters from 1.
fn at(mut info: Box<ErrorInfo>, position: usize) -> Box<ErrorInfo> {
    info.position = Some(position.to_string());
    info
}
