//! Messages of the server that several places send.

use pgwire::error::ErrorInfo;
use pgwire::messages::PgWireBackendMessage as Message;
use pgwire::messages::response::CommandComplete;

/// An error after which the session goes on.
pub(crate) fn error(sqlstate: &str, text: impl Into<String>) -> ErrorInfo {
    ErrorInfo::new("ERROR".to_owned(), sqlstate.to_owned(), text.into())
}

/// An error with which the session ends.
pub(crate) fn fatal(sqlstate: &str, text: impl Into<String>) -> ErrorInfo {
    ErrorInfo::new("FATAL".to_owned(), sqlstate.to_owned(), text.into())
}

/// The message of an error.
pub(crate) fn error_response(info: ErrorInfo) -> Message {
    Message::ErrorResponse(info.into())
}

/// A notice of this severity: `NOTICE`, `WARNING`.
pub(crate) fn notice(severity: &str, sqlstate: &str, text: impl Into<String>) -> Message {
    let info = ErrorInfo::new(severity.to_owned(), sqlstate.to_owned(), text.into());
    Message::NoticeResponse(info.into())
}

/// The end of a statement.
pub(crate) fn complete(tag: impl Into<String>) -> Message {
    Message::CommandComplete(CommandComplete::new(tag.into()))
}
