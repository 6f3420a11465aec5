//! Messages of the server that several places send.

use pgwire::error::ErrorInfo;
use pgwire::messages::PgWireBackendMessage as Message;
use pgwire::messages::response::CommandComplete;

use crate::error_fields::fields;

/// An error after which the session goes on.
pub(crate) fn error(sqlstate: &str, text: impl Into<String>) -> Box<ErrorInfo> {
    fields("ERROR", sqlstate, text.into())
}

/// An error with which the session ends.
pub(crate) fn fatal(sqlstate: &str, text: impl Into<String>) -> Box<ErrorInfo> {
    fields("FATAL", sqlstate, text.into())
}

/// The message of an error.
pub(crate) fn error_response(info: Box<ErrorInfo>) -> Message {
    Message::ErrorResponse((*info).into())
}

/// A notice of this severity: `NOTICE`, `WARNING`.
pub(crate) fn notice(severity: &str, sqlstate: &str, text: impl Into<String>) -> Message {
    Message::NoticeResponse((*fields(severity, sqlstate, text.into())).into())
}

/// The end of a statement.
pub(crate) fn complete(tag: impl Into<String>) -> Message {
    Message::CommandComplete(CommandComplete::new(tag.into()))
}
