//! Why a statement failed.

use saltwing::ErrorCode;

/// Why a statement failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failed {
    #[error("the statement was cancelled")]
    Cancelled,
    #[error(transparent)]
    Database(#[from] saltwing::Error),
}

impl Failed {
    /// Five characters.
    pub(crate) fn sqlstate(&self) -> &'static str {
        match self {
            Self::Cancelled => ErrorCode::Cancelled.sqlstate(),
            Self::Database(error) => error.sqlstate(),
        }
    }
}
