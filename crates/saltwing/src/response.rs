//! The results of statements of any kind.

use crate::ArrowRows;
use crate::outcome::{ExecResult, Outcome};

/// The result of a statement of any kind.
pub enum Response {
    /// No rows.
    Done(ExecResult),
    /// Rows.
    Rows(ArrowRows),
}

impl From<Outcome> for Response {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Done(result) => Self::Done(result),
            Outcome::Rows(rows) => Self::Rows(ArrowRows::new(rows)),
        }
    }
}
