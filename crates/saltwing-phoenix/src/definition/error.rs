//! Why a definition cannot be read.

use saltwing_types::ErrorCode;

/// A table that this crate cannot read, and the reason: other tables are not touched by it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DefinitionError {
    /// Bytes that are no answer of the catalog's server.
    #[error("the answer of Phoenix's catalog is damaged: {0}")]
    Message(String),
    /// Something that this crate does not know, by name.
    #[error("{object}: {what}")]
    NotUnderstood {
        /// The table's, or the table's and the column's name.
        object: String,
        /// What is not understood.
        what: String,
    },
    /// The region that was asked has not the table's row of the catalog: it is to be looked up again.
    #[error("the region of Phoenix's catalog that was asked has no row of {table}")]
    WrongRegion {
        /// The table's name.
        table: String,
    },
}

impl DefinitionError {
    pub(super) fn damaged(error: prost::DecodeError) -> Self {
        Self::Message(error.to_string())
    }

    /// The stable code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Message(_) => ErrorCode::Corrupt,
            Self::NotUnderstood { .. } => ErrorCode::NotSupported,
            Self::WrongRegion { .. } => ErrorCode::Io,
        }
    }
}
