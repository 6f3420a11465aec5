//! The settings that the session acts on.

use std::time::Duration;

use super::session::PostgresSettings;
use super::value::MessageLevel;

impl PostgresSettings {
    /// Whether a statement must not write: in a transaction that is read only, and outside of one if
    /// `default_transaction_read_only` is on. A statement that writes ends with 25006 then.
    pub(crate) fn is_read_only(&self) -> bool {
        self.characteristics().is_read_only
    }

    /// The time that the next statement may take; `None` is no limit.
    pub(crate) fn statement_timeout(&self) -> Option<Duration> {
        self.current.statement_timeout.limit()
    }

    /// How long the session may wait for its next statement, inside of the open transaction or outside of one; `None` is no limit.
    pub(crate) fn idle_timeout(&self) -> Option<Duration> {
        match self.transaction {
            Some(_) => self.current.idle_in_transaction_session_timeout.limit(),
            None => self.current.idle_session_timeout.limit(),
        }
    }

    /// Whether the client gets a message of a level. It gets every error.
    pub(crate) fn sends(&self, level: MessageLevel) -> bool {
        level == MessageLevel::Error || self.current.client_min_messages.includes(level)
    }
}
