//! The limits of a server.

use std::time::Duration;

/// The limits of the sessions of a process. `None` is no limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections at once, those that have not logged in yet among them. A refusal has SQLSTATE 53300.
    pub connections_max: usize,
    /// Connections of one user at once. The owner of a database without users counts as one.
    pub connections_per_user_max: usize,
    /// How long a connection may take to log in.
    pub login_timeout: Duration,
    /// How long a session may wait for its next statement outside a transaction. Then it ends with 57P05.
    pub idle_timeout: Option<Duration>,
    /// How long a session may wait for its next statement inside a transaction. Then it ends with 25P03.
    pub idle_in_transaction_timeout: Option<Duration>,
    /// The first value of the setting `transaction_timeout` of each session.
    pub transaction_timeout: Option<Duration>,
    /// The first value of the setting `statement_timeout` of each session.
    pub statement_timeout: Option<Duration>,
    /// How long a client may read nothing of an answer that waits for it. Then its connection ends.
    pub send_timeout: Option<Duration>,
    /// The bytes of one message of a client. A longer one ends the connection before it is read.
    pub message_bytes_max: usize,
    /// The prepared statements that a session has at once. A refusal has SQLSTATE 53400.
    pub prepared_statements_max: usize,
    /// The open cursors and portals that a session has at once. A refusal has SQLSTATE 53400.
    pub cursors_max: usize,
    /// A statement that takes as long is logged.
    pub slow_statement: Option<Duration>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections_max: 500,
            connections_per_user_max: 500,
            login_timeout: Duration::from_secs(30),
            idle_timeout: None,
            idle_in_transaction_timeout: Some(Duration::from_secs(600)),
            transaction_timeout: None,
            statement_timeout: None,
            send_timeout: Some(Duration::from_secs(600)),
            // A statement's text may have 16 MB, and its parameters as much again.
            message_bytes_max: 64 << 20,
            prepared_statements_max: 1000,
            cursors_max: 100,
            slow_statement: Some(Duration::from_secs(1)),
        }
    }
}
