//! What a cell cannot hold, and bytes that no cell of its type has.

use saltwing_rowkey::{BadBytes, KeyValueError};
use saltwing_types::{ErrorCode, SqlType};

/// A type whose values Phoenix does not keep in cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Phoenix has no cells of type {0}")]
pub struct CellTypeError(pub SqlType);

/// A value that a cell of its column's type cannot hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CellValueError {
    /// A number or an instant outside the range of the type.
    #[error("{value} is out of range for {ty}: {limit}")]
    OutOfRange {
        /// The value as text.
        value: String,
        /// The column's type.
        ty: SqlType,
        /// The range of the type.
        limit: String,
    },
    /// An element that Phoenix would read as another one.
    #[error("an element of {ty}: {reason}")]
    Element {
        /// The array's type.
        ty: SqlType,
        /// The reason.
        reason: &'static str,
    },
    /// Any other value that does not fit the type.
    #[error("{0}")]
    Value(KeyValueError),
}

impl CellValueError {
    /// The stable code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::OutOfRange { .. } => ErrorCode::OutOfRange,
            Self::Element { .. } => ErrorCode::BadArgument,
            Self::Value(error) => error.code(),
        }
    }
}

/// The limits of a type are the same in keys and in cells; only the words "in a key" are wrong here.
impl From<KeyValueError> for CellValueError {
    fn from(error: KeyValueError) -> Self {
        match error {
            KeyValueError::OutOfRange { value, ty, limit } => Self::OutOfRange { value, ty, limit },
            other => Self::Value(other),
        }
    }
}

/// Bytes of a cell that are no value of their type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadCell {
    /// Bytes that stand for no value of the type.
    #[error("{0}")]
    Value(BadBytes),
    /// Bytes that are no text.
    #[error("text that is not UTF-8")]
    Text,
    /// Bytes that are no array.
    #[error("not the bytes of an array")]
    Array,
}

impl From<BadBytes> for BadCell {
    fn from(error: BadBytes) -> Self {
        Self::Value(error)
    }
}
