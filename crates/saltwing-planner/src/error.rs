//! Errors of planning.

use saltwing_plan::PlanError;
use saltwing_types::{ErrorCode, Span, ValueError};

use crate::refused::RefusedScans;

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlannerError {
    /// Conditions that cannot be planned.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A condition that the typing rules refuse.
    #[error(transparent)]
    Value(#[from] ValueError),
    /// Full scans that the guard refuses.
    #[error("{}", .0.message())]
    FullScanRefused(Box<RefusedScans>),
}

/// The result of planning.
pub type Result<T> = std::result::Result<T, PlannerError>;

impl PlannerError {
    /// The stable code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Plan(error) => error.code(),
            Self::Value(error) => error.code(),
            Self::FullScanRefused(_) => ErrorCode::FullScanRefused,
        }
    }

    /// The full scans that the guard refuses, if that is the error.
    pub fn refused(&self) -> Option<&RefusedScans> {
        if let Self::FullScanRefused(refused) = self { Some(refused) } else { None }
    }

    /// The place in the statement.
    pub fn span(&self) -> Option<Span> {
        self.refused()?.span()
    }

    /// Advice for the user.
    pub fn help(&self) -> Option<String> {
        Some(self.refused()?.help())
    }
}

impl From<RefusedScans> for PlannerError {
    fn from(refused: RefusedScans) -> Self {
        Self::FullScanRefused(Box::new(refused))
    }
}
