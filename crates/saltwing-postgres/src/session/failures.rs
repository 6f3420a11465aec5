//! Errors of statements that several places give.

use pgwire::error::ErrorInfo;

use super::end::Failure;
use super::statement_text::StatementText;
use crate::messages::error;
use crate::session_statement::SessionSyntaxError;
use crate::settings::SettingError;

/// The error of a statement in a failed transaction.
pub(super) fn failed_block() -> Failure {
    let text = "current transaction is aborted, commands ignored until end of transaction block";
    error("25P02", text).into()
}

/// The error of a statement that was cancelled while its rows were sent.
pub(super) fn cancelled() -> Box<ErrorInfo> {
    error("57014", "canceling statement due to user request")
}

/// An error at a position of a statement, in characters from 1.
pub(super) fn at(mut info: Box<ErrorInfo>, position: usize, statement: &StatementText) -> Box<ErrorInfo> {
    let before = usize::try_from(statement.offset).unwrap_or_default();
    info.position = Some(position.saturating_add(before).to_string());
    info
}

/// An error whose position is one of the statement: moved to its place in the message.
pub(super) fn placed(info: Box<ErrorInfo>, statement: &StatementText) -> Box<ErrorInfo> {
    match info.position.as_ref().and_then(|position| position.parse().ok()) {
        Some(position) => at(info, position, statement),
        None => info,
    }
}

/// The error of a text that is no statement of the session.
pub(super) fn syntax_failure(failed: &SessionSyntaxError, statement: &StatementText) -> Box<ErrorInfo> {
    let mut info = error(failed.sqlstate(), failed.to_string());
    info.hint = failed.help().map(str::to_owned);
    at(info, failed.position(), statement)
}

/// The error of a setting.
pub(super) fn setting_error(failed: &SettingError) -> Box<ErrorInfo> {
    let mut info = error(failed.sqlstate(), failed.to_string());
    info.hint = failed.help();
    info
}
