//! Errors of the execution of bound statements.

use saltwing_access::{MemoryScope, TableError};
use saltwing_types::{ErrorCode, ValueError};

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExecError {
    /// Reading or writing rows.
    #[error(transparent)]
    Table(#[from] TableError),
    /// A broken invariant.
    #[error("{0}")]
    Bug(&'static str),
    /// Computing a value.
    #[error("{}{source}", .column.as_ref().map(|c| format!("{c}: ")).unwrap_or_default())]
    Value {
        /// `table.column`, or the label of a result column.
        column: Option<String>,
        /// The error.
        source: ValueError,
    },
    /// INSERT of a key that is there.
    #[error("{table} has a row with the key ({key}) already")]
    DuplicateKey {
        /// Table.
        table: String,
        /// The name of the key's constraint, if it was given one.
        constraint: Option<String>,
        /// Its values as SQL text.
        key: String,
    },
    /// Two rows with one value of a unique index.
    #[error("the rows ({}) and ({}) have one value of the unique index {index}: {value}", .keys[0], .keys[1])]
    NotUnique {
        /// The table.
        table: String,
        /// The index.
        index: String,
        /// The values of its parts as SQL text.
        value: String,
        /// The keys of the rows as SQL text.
        keys: [String; 2],
    },
    /// A row that is there, of a table whose rows are written once.
    #[error("the row ({key}) of {table} is there: a table with IMMUTABLE_ROWS and indexes lets no row be overwritten")]
    Immutable {
        /// Table.
        table: String,
        /// Its key's values as SQL text.
        key: String,
    },
    /// A row that a CHECK constraint does not take.
    #[error("row ({key}) of {table} breaks its CHECK constraint {constraint}")]
    Check {
        /// Table.
        table: String,
        /// The constraint.
        constraint: String,
        /// The values of the row's key as SQL text.
        key: String,
    },
    /// A row that an index has no entry for.
    #[error("index {index} has no key for {}: {source}", .row.as_ref().map_or_else(|| "the row".into(), |row| format!("row ({row})")))]
    Entry {
        /// The index.
        index: String,
        /// The values of the row's key as SQL text, if the row is there already.
        row: Option<String>,
        /// The error.
        source: TableError,
    },
    /// A row that a statement would change in two ways.
    #[error("the row ({key}) of {table} matches several rows, and would be changed twice")]
    ChangedTwice {
        /// Table.
        table: String,
        /// Its key's values as SQL text.
        key: String,
    },
    /// More bytes of rows than one commit may hold.
    #[error("one commit would hold {rows} rows of {bytes} bytes and more, above commit_bytes_max = {limit}")]
    TooLarge {
        /// Encoded bytes of the rows so far.
        bytes: usize,
        /// The limit.
        limit: usize,
        /// The rows so far.
        rows: u64,
        /// Whether they are of several statements.
        is_open: bool,
    },
    /// The transaction that the statement is a part of has ended.
    #[error("the transaction has ended")]
    Ended,
    /// More memory for groups than a statement may take.
    #[error("the statement's groups need {bytes} bytes of memory, and {scope} {used} of the {limit} that {} allows", scope.setting())]
    OutOfMemory {
        /// The bytes that the groups need, at least.
        bytes: usize,
        /// The bytes in use, including this statement's.
        used: usize,
        /// The limit.
        limit: usize,
        /// Whose limit.
        scope: MemoryScope,
    },
    /// Still in conflict after all retries.
    #[error("other transactions kept writing the same rows: gave up after {0} tries")]
    Contended(u32),
}

impl ExecError {
    /// With the label of the result column whose value failed.
    pub(crate) fn of_column(self, label: &str) -> Self {
        match self {
            Self::Value { column: None, source } => Self::Value { column: Some(label.to_owned()), source },
            other => other,
        }
    }

    /// The stable code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Bug(_) => ErrorCode::Bug,
            Self::Table(error) => error.code(),
            Self::Value { source, .. } => source.code(),
            Self::DuplicateKey { .. } | Self::NotUnique { .. } | Self::Immutable { .. } => ErrorCode::DuplicateKey,
            Self::Check { .. } => ErrorCode::Check,
            Self::Entry { source, .. } => match source.code() {
                ErrorCode::Bug => ErrorCode::Bug,
                _ => ErrorCode::BadKey,
            },
            Self::ChangedTwice { .. } => ErrorCode::SeveralRows,
            Self::TooLarge { .. } => ErrorCode::StatementTooLarge,
            Self::OutOfMemory { .. } => ErrorCode::OutOfMemory,
            Self::Contended(_) => ErrorCode::Conflict,
            Self::Ended => ErrorCode::NoTransaction,
        }
    }

    /// Advice for the user.
    pub fn help(&self) -> Option<&'static str> {
        match self {
            Self::DuplicateKey { .. } => Some("UPSERT replaces a row that is there"),
            Self::ChangedTwice { .. } => Some("join with a query that gives one row for each key: GROUP BY, DISTINCT"),
            Self::TooLarge { is_open: true, .. } => {
                Some("a transaction is one commit: COMMIT more often, or raise the limit: SET commit_bytes_max")
            }
            Self::TooLarge { .. } => Some(
                "SET autocommit_rows = 100000 commits UPSERT SELECT, INSERT SELECT, UPDATE of no key column and DELETE in parts of so \
                 many rows; or raise the limit: SET commit_bytes_max; or write in several statements",
            ),
            Self::OutOfMemory { scope: MemoryScope::Statements, .. } => Some(
                "group by the first key columns: groups then come one by one; or open the database with a larger memory_limit",
            ),
            Self::OutOfMemory { scope: MemoryScope::Statement, .. } => Some(
                "group by the first key columns: groups then come one by one; or raise the limit: SET statement_memory_limit, up to that with \
                 which the database was opened",
            ),
            Self::Contended(_) => Some("send the statement again"),
            _ => None,
        }
    }
}

impl From<ValueError> for ExecError {
    fn from(source: ValueError) -> Self {
        Self::Value { column: None, source }
    }
}

impl From<arrow::error::ArrowError> for ExecError {
    fn from(error: arrow::error::ArrowError) -> Self {
        TableError::from(error).into()
    }
}
