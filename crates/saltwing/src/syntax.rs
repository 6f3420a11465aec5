//! The text of statements, for tools around the database: highlighters, completers, shells.
//!
//! Nothing here runs a statement or knows a table.

use saltwing_sql::{Statement, parse_one_in};

use crate::statement::{HasKind, InTransaction};
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

/// The effect of a statement on stored data, as its kind tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatementEffect {
    /// It writes nothing that a transaction could not take back: queries, settings, transaction control.
    None,
    /// It writes rows. It may run in a transaction, unless that is read only.
    Writes,
    /// It changes definitions, files or stored blocks at once. It is refused in a transaction.
    Immediate,
}

/// What the text of a statement tells without a table or a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatementProperties {
    /// What the statement does, in the words of PostgreSQL's command tags: `SELECT`, `INSERT`, `CREATE TABLE`.
    pub tag: &'static str,
    /// Whether it gives rows.
    pub gives_rows: bool,
    /// Its effect.
    pub effect: StatementEffect,
    /// The stream that a COPY reads or writes; `None` of a COPY of a file, and of other statements.
    pub copy_stream: Option<CopyStream>,
}

/// The properties of a statement.
///
/// ```
/// use saltwing::Dialect;
/// use saltwing::syntax::{StatementEffect, properties};
///
/// let found = properties("UPSERT INTO t VALUES (1)", Dialect::Saltwing)?;
/// assert_eq!((found.tag, found.gives_rows, found.effect), ("UPSERT", false, StatementEffect::Writes));
/// assert_eq!(properties("DROP TABLE t", Dialect::Saltwing)?.effect, StatementEffect::Immediate);
/// # Ok::<(), saltwing::Error>(())
/// ```
///
/// # Errors
/// A text that is not one statement.
pub fn properties(sql: &str, dialect: Dialect) -> Result<StatementProperties, Error> {
    Ok(properties_of(&parse_one_in(sql, dialect)?.statement))
}

/// The properties of a statement that was parsed.
pub(crate) fn properties_of(statement: &Statement) -> StatementProperties {
    let copy_stream = match statement {
        Statement::CopyFrom(copy) => copy.path().is_none().then_some(CopyStream::Stdin),
        Statement::CopyTo(copy) => copy.path().is_none().then_some(CopyStream::Stdout),
        _ => None,
    };
    statement.ask(|kind| {
        let effect = match kind.in_transaction() {
            InTransaction::Allowed => StatementEffect::None,
            InTransaction::Writes => StatementEffect::Writes,
            InTransaction::Refused { .. } => StatementEffect::Immediate,
        };
        StatementProperties { tag: kind.tag(), gives_rows: kind.gives_rows(), effect, copy_stream }
    })
}

/// The stream that a statement reads or writes; `None` of a COPY of a file, of other statements, and of a text that cannot be parsed.
///
/// ```
/// use saltwing::Dialect;
/// use saltwing::syntax::{CopyStream, copy_stream};
///
/// assert_eq!(copy_stream("COPY t FROM STDIN", Dialect::Saltwing), Some(CopyStream::Stdin));
/// assert_eq!(copy_stream("COPY t FROM STDIN (FORMAT json)", Dialect::Saltwing), Some(CopyStream::Stdin));
/// assert_eq!(copy_stream("COPY t TO 'rows.csv'", Dialect::Saltwing), None);
/// ```
pub fn copy_stream(sql: &str, dialect: Dialect) -> Option<CopyStream> {
    properties(sql, dialect).ok()?.copy_stream
}

/// The parameters of a statement, each as often as it stands in the text, in the order of the text.
///
/// # Errors
/// A text that is not one statement.
pub fn parameters(sql: &str, dialect: Dialect) -> Result<Vec<Parameter>, Error> {
    Ok(parse_one_in(sql, dialect)?.parameters)
}
