//! A COPY of a stream, as it was written.
//!
//! ```text
//! COPY [BINARY] table [(column [type], ..)] FROM STDIN  [options]
//! COPY [BINARY] table [(column [type], ..)] TO STDOUT   [options]
//! COPY (query) TO STDOUT                                [options]
//! ```
//! Names stay texts here: the library looks them up.

use pgwire::error::ErrorInfo;
use saltwing::syntax::{CopyStream, Lexeme};
use saltwing::{Dialect, OnConflict};

use super::format::CopyFormat;
use super::option_rules::Direction;
use super::options::{is_binary_in_library, options, unexpected};
use crate::messages::error;
use crate::tokens::Tokens;

/// A COPY FROM STDIN or TO STDOUT.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CopyStatement {
    pub(crate) kind: CopyKind,
}

/// Who reads or writes the rows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum CopyKind {
    /// The library, in a format of its own.
    Library,
    /// The session reads them in a format of PostgreSQL.
    From(CopyFrom),
    /// The session writes them in a format of PostgreSQL.
    To(CopyTo),
}

/// `COPY t FROM STDIN` in a format of PostgreSQL.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CopyFrom {
    /// The table.
    pub(crate) table: CopyTable,
    /// The format.
    pub(crate) format: CopyFormat,
    /// What to do with a row whose key is there.
    pub(crate) on_conflict: OnConflict,
}

/// `COPY t TO STDOUT`, `COPY (query) TO STDOUT` in a format of PostgreSQL.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CopyTo {
    /// The source of the rows.
    pub(crate) source: CopySource,
    /// The format.
    pub(crate) format: CopyFormat,
}

/// The source of a COPY TO.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum CopySource {
    /// A table.
    Table(CopyTable),
    /// A query.
    Query {
        /// Its text.
        sql: String,
        /// The characters of the statement before it.
        offset: u32,
    },
}

/// A table and its columns, as a COPY names them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CopyTable {
    /// The name as it was written.
    pub(crate) sql: String,
    /// The parts of the name without quotes: of the schema, if there is one, and of the table.
    pub(crate) parts: Vec<String>,
    /// The columns; `None` is all of them.
    pub(crate) columns: Option<Vec<CopyColumn>>,
}

/// A column in the list of a COPY.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CopyColumn {
    /// The name as it was written.
    pub(crate) sql: String,
    /// The last part of the name, without quotes.
    pub(crate) name: String,
    /// The type of a dynamic column.
    pub(crate) ty: Option<String>,
}

impl CopyColumn {
    /// The column as lists of the library have it: with the type of a dynamic column.
    pub(crate) fn declared(&self) -> String {
        match &self.ty {
            Some(ty) => format!("{} {ty}", self.sql),
            None => self.sql.clone(),
        }
    }
}

impl CopyStatement {
    /// Reads a statement. `None`: it is no COPY of a stream in a format of PostgreSQL, and the library's parser decides.
    ///
    /// # Errors
    /// A COPY of a stream whose options PostgreSQL refuses, or that has more after them.
    pub(crate) fn parse(text: &str, dialect: Dialect) -> Result<Option<(Self, CopyStream)>, Box<ErrorInfo>> {
        let mut tokens = Tokens::new(text, dialect);
        if !tokens.eat(&["COPY"]) {
            return Ok(None);
        }
        // PostgreSQL's oldest form, unless a table has this name.
        let is_name = tokens.at(&["BINARY", "FROM"])
            || tokens.at(&["BINARY", "TO"])
            || matches!(tokens.peek(1), Some((Lexeme::Symbol, _)));
        let is_binary = !is_name && tokens.eat(&["BINARY"]);
        let Some(source) = source(&mut tokens, text) else { return Ok(None) };
        let (direction, stream) = match () {
            () if tokens.eat(&["FROM", "STDIN"]) => (Direction::From, CopyStream::Stdin),
            () if tokens.eat(&["TO", "STDOUT"]) => (Direction::To, CopyStream::Stdout),
            () => return Ok(None),
        };
        let Some((format, on_conflict)) = options(&mut tokens, direction)? else { return Ok(None) };
        let format = if is_binary { as_binary(&format)? } else { format };
        while tokens.eat_symbol(";") {}
        if tokens.peek(0).is_some() {
            return Err(unexpected(&mut tokens));
        }
        let kind = match (direction, source) {
            (Direction::From, CopySource::Table(table)) => CopyKind::From(CopyFrom { table, format, on_conflict }),
            // The library's parser reports the error.
            (Direction::From, CopySource::Query { .. }) => return Ok(None),
            (Direction::To, source) => CopyKind::To(CopyTo { source, format }),
        };
        Ok(Some((Self { kind }, stream)))
    }

    /// A statement whose text goes to the library as it is.
    pub(crate) fn of_library() -> Self {
        Self { kind: CopyKind::Library }
    }
}

/// Whether the rows of a COPY that the library reads or writes are bytes that are no text.
pub(crate) fn has_binary_rows(text: &str, dialect: Dialect) -> bool {
    let mut tokens = Tokens::new(text, dialect);
    tokens.eat(&["COPY"]) && is_binary_in_library(&mut tokens)
}

/// The binary format in place of the default one.
fn as_binary(format: &CopyFormat) -> Result<CopyFormat, Box<ErrorInfo>> {
    match format {
        CopyFormat::Text(format) if *format == Default::default() => Ok(CopyFormat::Binary),
        _ => Err(error("42601", "conflicting or redundant options")),
    }
}

/// What stands before FROM or TO; `None` if it cannot be read.
fn source(tokens: &mut Tokens<'_>, text: &str) -> Option<CopySource> {
    if tokens.eat_symbol("(") {
        return query(tokens, text);
    }
    let (sql, parts) = name(tokens)?;
    let columns = if tokens.eat_symbol("(") { Some(columns(tokens)?) } else { None };
    Some(CopySource::Table(CopyTable { sql, parts, columns }))
}

/// A query, and the bracket after it.
fn query(tokens: &mut Tokens<'_>, text: &str) -> Option<CopySource> {
    let (start, mut depth) = (tokens.start(), 0_usize);
    loop {
        match tokens.peek(0)? {
            (Lexeme::Symbol, "(") => depth = depth.checked_add(1)?,
            (Lexeme::Symbol, ")") if depth == 0 => break,
            (Lexeme::Symbol, ")") => depth = depth.checked_sub(1)?,
            (Lexeme::Unterminated(_), _) => return None,
            _ => {}
        }
        tokens.skip();
    }
    // Hints are in the text between the tokens.
    let sql = text.get(start..tokens.start())?.trim_end();
    tokens.skip();
    let offset = u32::try_from(text.get(..start)?.chars().count()).ok()?;
    (!sql.is_empty()).then(|| CopySource::Query { sql: sql.to_owned(), offset })
}

/// A name of one or more parts: its text, and the parts.
fn name(tokens: &mut Tokens<'_>) -> Option<(String, Vec<String>)> {
    let start = tokens.start();
    let mut parts = vec![tokens.eat_name()?];
    while tokens.eat_symbol(".") {
        parts.push(tokens.eat_name()?);
    }
    Some((tokens.text_from(start).to_owned(), parts))
}

/// A list of columns, and the bracket after it.
fn columns(tokens: &mut Tokens<'_>) -> Option<Vec<CopyColumn>> {
    let mut columns = Vec::new();
    loop {
        let (sql, parts) = name(tokens)?;
        let name = parts.into_iter().next_back()?;
        columns.push(CopyColumn { sql, name, ty: column_type(tokens)? });
        if tokens.eat_symbol(")") {
            return Some(columns);
        }
        if !tokens.eat_symbol(",") {
            return None;
        }
    }
}

/// The type after the name of a dynamic column: `VARCHAR`, `DECIMAL(10, 2)`, `INTEGER ARRAY[3]`. The inner `None` if there is none.
fn column_type(tokens: &mut Tokens<'_>) -> Option<Option<String>> {
    let (start, mut depth) = (tokens.start(), 0_usize);
    loop {
        match tokens.peek(0)? {
            (Lexeme::Symbol, "," | ")") if depth == 0 => break,
            (Lexeme::Symbol, "(" | "[") => depth = depth.checked_add(1)?,
            (Lexeme::Symbol, ")" | "]") => depth = depth.checked_sub(1)?,
            (Lexeme::Word | Lexeme::Number, _) | (Lexeme::Symbol, ",") => {}
            _ => return None,
        }
        tokens.skip();
    }
    let has_type = tokens.start() > start;
    Some(has_type.then(|| tokens.text_from(start).to_owned()))
}

#[cfg(test)]
mod tests;
