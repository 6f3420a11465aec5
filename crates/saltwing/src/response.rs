//! The results of statements of any kind.

use std::sync::Arc;

use crate::outcome::{ExecResult, Outcome, not_run};
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

impl TryFrom<Outcome> for Response {
    type Error = Error;

    fn try_from(outcome: Outcome) -> Result<Self, Error> {
        match outcome {
            Outcome::Done(result) => Ok(Self::Done(result)),
            Outcome::Rows(rows) => Ok(Self::Rows(ArrowRows::new(rows))),
            Outcome::NeedsThread => Err(not_run()),
        }
    }
}
