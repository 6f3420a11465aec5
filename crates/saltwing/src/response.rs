//! The results of statements of any kind.

use std::sync::Arc;

use crate::outcome::{ExecResult, Outcome};
use crate::shared::Shared;
use crate::{ArrowRows, Error};

/// The result of a statement of any kind.
pub enum Response {
    /// No rows.
    Done(ExecResult),
    /// Rows.
    Rows(ArrowRows),
}

impl Response {
    /// As [`ArrowRows::pooled`].
    pub(crate) fn pooled(self, shared: &Arc<Shared>) -> Result<Self, Error> {
        match self {
            Self::Rows(rows) => rows.pooled(shared).map(Self::Rows),
            done => Ok(done),
        }
    }
}

impl From<Outcome> for Response {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Done(result) => Self::Done(result),
            Outcome::Rows(rows) => Self::Rows(ArrowRows::new(rows)),
        }
    }
}
