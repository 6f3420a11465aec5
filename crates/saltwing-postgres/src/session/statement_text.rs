//! The text of one statement, with its place in the message.

use std::sync::Arc;

use pgwire::error::ErrorInfo;
use saltwing::Error;

use crate::error_fields::{error_info, position_in};
use crate::tokens::Body;

/// A statement of a client's message.
#[derive(Clone, Debug)]
pub(super) struct StatementText {
    pub(super) text: Arc<str>,
    /// The characters of the message before it.
    pub(super) offset: u32,
}

impl StatementText {
    /// An error of the statement, with its position in the message.
    pub(super) fn failed(&self, error: &Error) -> Box<ErrorInfo> {
        error_info(error, error.span().and_then(|span| position_in(&self.text, span, self.offset)))
    }

    /// A statement that is a part of this one.
    pub(super) fn part(&self, body: &Body) -> Self {
        let before = u32::try_from(body.offset).unwrap_or(u32::MAX);
        Self { text: body.sql.as_str().into(), offset: self.offset.saturating_add(before) }
    }
}
