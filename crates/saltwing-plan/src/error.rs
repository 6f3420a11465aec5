//! Errors of planning.

use saltwing_rowkey::RowKeyError;
use saltwing_types::{ErrorCode, Interrupted, SqlType};

/// Why there is no plan. A refusal of the guard is no error here: it is part of the
/// plan, [`crate::Verdict`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// A request without a candidate key.
    #[error("a table access needs at least one key to choose from")]
    NoCandidate,
    /// An index keeps a column in a type that not all its values have a form in.
    #[error("a {ty} value has no form in a key column of type {key_ty}")]
    NoKeyForm {
        /// The table column's type.
        ty: SqlType,
        /// The key column's type.
        key_ty: SqlType,
    },
    /// The statement must stop.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
    /// A value that the key's codec does not take: a broken invariant.
    #[error(transparent)]
    Key(#[from] RowKeyError),
}

impl PlanError {
    /// The stable code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::NoCandidate | Self::NoKeyForm { .. } => ErrorCode::Bug,
            Self::Interrupted(interrupted) => interrupted.code(),
            Self::Key(error) => error.code(),
        }
    }
}
