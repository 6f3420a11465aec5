//! Errors of rows and definitions.

use saltwing_rowkey::RowKeyError;
use saltwing_types::ErrorCode;
use saltwing_types::text::hex;

use crate::{BadCell, CellTypeError, CellValueError};

/// Most bytes that a message shows in hex.
const SHOWN_BYTES_MAX: usize = 32;

/// An error of a table's format, its rows or its definition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PhoenixError {
    /// A row key that cannot be written, or is no key of the table.
    #[error(transparent)]
    Key(#[from] RowKeyError),
    /// A value that its column's cell cannot hold.
    #[error("column {column}: {error}")]
    Value {
        /// The column's name.
        column: String,
        /// The reason; part of the text, so not a source.
        error: CellValueError,
    },
    /// NULL in a column that is NOT NULL.
    #[error("column {column} is NOT NULL")]
    NotNull {
        /// The column's name.
        column: String,
    },
    /// Not one value for each value column.
    #[error("{given} values for {expected} value columns")]
    ValueCount {
        /// Values given.
        given: usize,
        /// Value columns.
        expected: usize,
    },
    /// Several columns in one cell that need more than its offsets reach.
    #[error("the columns of family {family} need a cell of 2 GiB or more")]
    TooLarge {
        /// The family.
        family: String,
    },
    /// A cell with bytes that are no value of its column.
    #[error("column {column}: {error}, in cell {cell} of row {key}")]
    Corrupt {
        /// The column's name.
        column: String,
        /// The reason.
        error: BadCell,
        /// The cell's bytes in hex, shortened.
        cell: String,
        /// The row key in hex, shortened.
        key: String,
    },
    /// A cell of several columns that is none.
    #[error("family {family}: {reason}, in cell {cell} of row {key}")]
    CorruptFamily {
        /// The family.
        family: String,
        /// The reason.
        reason: &'static str,
        /// The cell's bytes in hex, shortened.
        cell: String,
        /// The row key in hex, shortened.
        key: String,
    },
    /// A row of the catalog that is damaged.
    #[error("{table} in Phoenix's catalog: {reason}")]
    CorruptCatalog {
        /// The table's name.
        table: String,
        /// The reason.
        reason: String,
    },
    /// Something that the region servers cannot compute, or compute otherwise than SQL does: the client has to.
    #[error("the region servers do not compute {what}")]
    NotPushed {
        /// What it is.
        what: String,
    },
    /// An index that the region servers are not asked to keep: its table cannot be written.
    #[error("index {index} is not kept by writes of this client: {reason}")]
    IndexNotKept {
        /// The index's name.
        index: String,
        /// The reason.
        reason: String,
    },
    /// A cell that has no results of the scan's aggregates.
    #[error("not the results of the aggregates: cell {cell}")]
    CorruptAggregates {
        /// The cell's bytes in hex, shortened.
        cell: String,
    },
    /// A column of a type that has no cells.
    #[error("column {column}: {error}")]
    ColumnType {
        /// The column's name.
        column: String,
        /// The reason.
        error: CellTypeError,
    },
    /// A format that contradicts itself.
    #[error("{0}")]
    Format(String),
}

impl PhoenixError {
    /// The stable code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Key(error) => error.code(),
            Self::Value { error, .. } => error.code(),
            Self::NotNull { .. } => ErrorCode::NotNull,
            Self::ValueCount { .. } => ErrorCode::Bug,
            Self::TooLarge { .. } => ErrorCode::TooLong,
            Self::Corrupt { .. }
            | Self::CorruptFamily { .. }
            | Self::CorruptCatalog { .. }
            | Self::CorruptAggregates { .. } => ErrorCode::Corrupt,
            Self::NotPushed { .. } | Self::IndexNotKept { .. } => ErrorCode::NotSupported,
            Self::ColumnType { .. } | Self::Format(_) => ErrorCode::InvalidDefinition,
        }
    }
}

/// Hex of `bytes`, cut with a note of their number.
pub(crate) fn shown_bytes(bytes: &[u8]) -> String {
    match bytes.get(..SHOWN_BYTES_MAX) {
        Some(head) if bytes.len() > SHOWN_BYTES_MAX => format!("{}.. ({} bytes)", hex(head), bytes.len()),
        _ => hex(bytes),
    }
}
