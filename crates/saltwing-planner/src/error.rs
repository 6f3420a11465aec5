//! Errors of planning.

use saltwing_plan::PlanError;
use saltwing_types::{ErrorCode, Span, ValueError, suggest};

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
    /// A hint names an index that its table does not have.
    #[error("the hint INDEX names {index}, and {table} has no index of this name")]
    NoSuchIndex {
        /// The table.
        table: String,
        /// The index.
        index: String,
        /// The indexes of the table.
        known: Vec<String>,
        /// The place of the name.
        span: Span,
    },
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
            Self::NoSuchIndex { .. } => ErrorCode::Syntax,
            Self::FullScanRefused(_) => ErrorCode::FullScanRefused,
        }
    }

    /// The full scans that the guard refuses, if that is the error.
    pub fn refused(&self) -> Option<&RefusedScans> {
        if let Self::FullScanRefused(refused) = self { Some(refused) } else { None }
    }

    /// The place in the statement.
    pub fn span(&self) -> Option<Span> {
        match self {
            Self::NoSuchIndex { span, .. } => Some(*span),
            _ => self.refused()?.span(),
        }
    }

    /// Advice for the user.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::NoSuchIndex { index, known, .. } => {
                suggest(index, known.iter().map(String::as_str)).map(|near| format!("did you mean {near}?"))
            }
            _ => Some(self.refused()?.help()),
        }
    }
}

impl From<RefusedScans> for PlannerError {
    fn from(refused: RefusedScans) -> Self {
        Self::FullScanRefused(Box::new(refused))
    }
}
