//! The statements of clients: which part of the server runs each, and its properties before it runs.

use std::sync::Arc;
use std::time::SystemTime;

use pgwire::error::ErrorInfo;
use saltwing::syntax::{CopyStream, Lexeme, StatementEffect, StatementProperties, lexemes_in};
use saltwing::{Connection, Dialect, ParsedStatement, SqlType};
use saltwing_pg_catalog::{CatalogQuery, PgCatalog};

use super::failures::{placed, syntax_failure};
use super::row_stream::{ColumnForm, ColumnForms};
use super::statement_text::StatementText;
use crate::copy::CopyStatement;
use crate::error_fields::value_error_info;
use crate::session_statement::{Declare, SessionStatement, parse};
use crate::values::{formats, parameter_type};

/// A statement by the part of the server that runs it.
pub(super) enum Kind {
    /// Blanks and comments.
    Empty,
    /// The session answers it.
    Own(SessionStatement),
    /// A query for the catalog of PostgreSQL.
    Catalog,
    /// A COPY of a stream, in a format of PostgreSQL or of the library.
    Copy(CopyStatement, CopyStream),
    /// The library runs it.
    Library(ParsedStatement),
}

impl Kind {
    /// The kind of a statement that a connection is to run.
    ///
    /// # Errors
    /// A text that is no statement.
    pub(super) fn of(
        statement: &StatementText,
        connection: &Connection,
        catalog: &PgCatalog,
    ) -> Result<Self, Box<ErrorInfo>> {
        let (text, dialect) = (&statement.text, connection.settings().dialect);
        if is_blank(text, dialect) {
            return Ok(Self::Empty);
        }
        if let Some(own) = parse(text, dialect).map_err(|failed| syntax_failure(&failed, statement))? {
            return Ok(Self::Own(own));
        }
        if catalog.concerns(text) {
            return Ok(Self::Catalog);
        }
        if let Some((copy, stream)) = CopyStatement::parse(text, dialect).map_err(|info| placed(info, statement))? {
            return Ok(Self::Copy(copy, stream));
        }
        let parsed = connection.parse(text).map_err(|error| statement.failed(&error))?;
        match parsed.properties().copy_stream {
            Some(stream) => Ok(Self::Copy(CopyStatement::of_library(), stream)),
            None => Ok(Self::Library(parsed)),
        }
    }

    /// Whether several statements of one message may run in one transaction with it.
    pub(super) fn fits_implicit_transaction(&self) -> bool {
        match self {
            Self::Empty | Self::Catalog | Self::Copy(..) => true,
            Self::Own(own) => !matches!(
                own,
                SessionStatement::Begin { .. }
                    | SessionStatement::Commit
                    | SessionStatement::Rollback
                    | SessionStatement::Discard(_)
            ),
            Self::Library(parsed) => parsed.properties().effect != StatementEffect::Immediate,
        }
    }
}

/// Whether a text has no statement: nothing but blanks, comments and semicolons.
fn is_blank(text: &str, dialect: Dialect) -> bool {
    lexemes_in(text, dialect).all(|(lexeme, place)| {
        matches!(lexeme, Lexeme::Blank | Lexeme::Comment | Lexeme::Hint) || text.get(place) == Some(";")
    })
}

/// A statement that Parse has prepared.
pub(super) struct Prepared {
    pub(super) statement: StatementText,
    pub(super) kind: PreparedKind,
    /// Its parameters, with the types that Describe shows.
    pub(super) parameters: Vec<Parameter>,
}

/// A prepared statement of the session, which has a name or is the unnamed one.
pub(super) struct Named {
    pub(super) prepared: Arc<Prepared>,
    /// Its text, as the client sent it: that of PREPARE, if `is_from_sql`.
    pub(super) text: Arc<str>,
    pub(super) prepared_at: SystemTime,
    /// Whether PREPARE made it, and not Parse.
    pub(super) is_from_sql: bool,
}

impl Named {
    /// A statement of a Parse.
    pub(super) fn parsed(prepared: Prepared) -> Self {
        let (text, prepared_at) = (prepared.statement.text.clone(), SystemTime::now());
        Self { prepared: Arc::new(prepared), text, prepared_at, is_from_sql: false }
    }
}

/// A parameter of a prepared statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parameter {
    /// The type in the message to the client.
    pub(super) oid: u32,
    /// The type that the statement wants, as far as it is known.
    pub(super) ty: Option<SqlType>,
}

/// What Parse has found out.
pub(super) enum PreparedKind {
    Empty,
    Own(SessionStatement),
    /// DECLARE, and the query of the cursor, whose parameters are those of the statement.
    Cursor(Declare, Arc<Prepared>),
    Copy(CopyStatement, CopyStream),
    /// The library prepared it, on the connection of the session or on one to the relations of PostgreSQL's catalog.
    Library {
        properties: StatementProperties,
        statement: saltwing::Statement,
        /// The columns of its rows in text form; `None` if it gives none, or if only a run tells them.
        columns: Option<ColumnForms>,
        /// What the query was before its translation, if it is one for the catalog.
        catalog: Option<Box<CatalogQuery>>,
    },
}

impl Prepared {
    /// The name of a statement that the session answers itself.
    pub(super) fn own_tag(&self) -> Option<&'static str> {
        match &self.kind {
            PreparedKind::Own(own) => Some(own.tag()),
            PreparedKind::Cursor(..) => Some("DECLARE CURSOR"),
            PreparedKind::Empty | PreparedKind::Copy(..) | PreparedKind::Library { .. } => None,
        }
    }

    /// The columns that a run of the library gives, in text form, as far as they are known.
    pub(super) fn columns(&self) -> Option<&ColumnForms> {
        match &self.kind {
            PreparedKind::Library { columns, .. } => columns.as_ref(),
            PreparedKind::Empty | PreparedKind::Copy(..) | PreparedKind::Own(_) | PreparedKind::Cursor(..) => None,
        }
    }

    /// The parameters of a statement, of which the client has stated the types `stated`.
    ///
    /// # Errors
    /// A type that the server does not have.
    pub(super) fn stated_types(stated: &[u32]) -> Result<Vec<Option<SqlType>>, Box<ErrorInfo>> {
        let known = |oid: &u32| parameter_type(*oid).map_err(|failed| value_error_info(&failed));
        stated.iter().map(known).collect()
    }

    /// The columns in the formats that a client wants.
    ///
    /// # Errors
    /// Another number of formats than columns.
    pub(super) fn in_formats(columns: &ColumnForms, codes: &[i16]) -> Result<ColumnForms, Box<ErrorInfo>> {
        let formats = formats(codes, columns.len()).map_err(|error| value_error_info(&error))?;
        if columns.iter().map(|column| column.format).eq(formats.iter().copied()) {
            return Ok(columns.clone());
        }
        Ok(columns.iter().zip(formats).map(|(column, format)| ColumnForm { format, ..column.clone() }).collect())
    }
}
