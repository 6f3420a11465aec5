//! The text of statements, for tools around the database: highlighters, completers, shells.
//!
//! Nothing here runs a statement or knows a table.

use saltwing_sql::{Statement, parse_one_in};

use crate::{Dialect, Error};

pub use saltwing_sql::{Lexeme, Parameter, STATEMENT_BYTES_MAX, lexemes, lexemes_in, quote_name, without_passwords};

/// The stream of its caller that a COPY reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyStream {
    /// COPY FROM STDIN: see [`Connection::copy_from_reader`](crate::Connection::copy_from_reader).
    Stdin,
    /// COPY TO STDOUT: see [`Connection::copy_to_writer`](crate::Connection::copy_to_writer).
    Stdout,
}

/// The stream that a statement reads or writes; `None` of a COPY of a file, of other statements, and of a text that cannot be parsed.
///
/// ```
/// use saltwing::Dialect;
/// use saltwing::syntax::{CopyStream, copy_stream};
///
/// assert_eq!(copy_stream("COPY t FROM STDIN", Dialect::Saltwing), Some(CopyStream::Stdin));
/// assert_eq!(copy_stream("COPY t TO 'rows.csv'", Dialect::Saltwing), None);
/// ```
pub fn copy_stream(sql: &str, dialect: Dialect) -> Option<CopyStream> {
    match parse_one_in(sql, dialect).ok()?.statement {
        Statement::CopyFrom(copy) => copy.path().is_none().then_some(CopyStream::Stdin),
        Statement::CopyTo(copy) => copy.path().is_none().then_some(CopyStream::Stdout),
        _ => None,
    }
}

/// The parameters of a statement, each as often as it stands in the text, in the order of the text.
///
/// # Errors
/// A text that is not one statement.
pub fn parameters(sql: &str, dialect: Dialect) -> Result<Vec<Parameter>, Error> {
    Ok(parse_one_in(sql, dialect)?.parameters)
}
