//! What can go wrong.

use crate::address::{Address, AddressError};
use crate::server_error::{Reaction, ServerError};
use crate::wire_error::WireError;

/// Why a call failed.
///
/// The errors of a call that changes something are found in an [`Outcome`](crate::Outcome), which says whether the change may have
/// been made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A server can't be reached; nothing was sent.
    #[error("no connection to {server}: {reason}")]
    Connect {
        /// The server.
        server: Address,
        /// What the operating system says.
        reason: String,
    },
    /// A connection ended before the answer came.
    #[error("the connection to {server} ended {}: {reason}", if *sent { "before the answer came" } else { "before the call was sent" })]
    Disconnected {
        /// The server.
        server: Address,
        /// Whether the call may have reached the server.
        sent: bool,
        /// Why it ended.
        reason: String,
    },
    /// No answer came before the deadline.
    #[error("{method} of {server} had no answer at its deadline{}", if *sent { "" } else { ", and was not sent" })]
    NoAnswer {
        /// The server.
        server: Address,
        /// The method that was called.
        method: &'static str,
        /// Whether the call may have reached the server.
        sent: bool,
    },
    /// The deadline came while the client waited for another try. The last failure tells why, and names the server.
    #[error("the deadline came after {tries} tries; the last one: {last}")]
    Deadline {
        /// How often it was tried.
        tries: u32,
        /// The last failure.
        last: Box<Error>,
    },
    /// The retries of the context are used up.
    #[error("gave up after {tries} tries; the last one: {last}")]
    RetriesUsedUp {
        /// How often it was tried.
        tries: u32,
        /// The last failure.
        last: Box<Error>,
    },
    /// A server answered with an exception.
    #[error(transparent)]
    Server(ServerError),
    /// A server's answer is not what the protocol says.
    #[error("the answer of {server} to {method} is damaged: {source}")]
    Answer {
        /// The server.
        server: Address,
        /// The method that was called.
        method: &'static str,
        /// What is wrong with it.
        source: WireError,
    },
    /// An answer lacks something, or has what was not asked for.
    #[error("the answer of {server} to {method} is wrong: {reason}")]
    WrongAnswer {
        /// The server.
        server: Address,
        /// The method that was called.
        method: &'static str,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// What was asked for can't be sent: a row key is too long, say.
    #[error(transparent)]
    Request(#[from] WireError),
    /// A text is no address.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// A name is no table's name.
    #[error("\"{name}\" is no name of a table: a name has letters, digits, '_', '-' and '.', after NAMESPACE: perhaps")]
    TableName {
        /// The name.
        name: String,
    },
    /// There is no such table: `hbase:meta` has no row of it.
    #[error(
        "there is no table {table}; names are case-sensitive, and begin with NAMESPACE: if it is not the default one"
    )]
    TableNotFound {
        /// The table.
        table: String,
    },
    /// The table is disabled.
    #[error("the table {table} is not enabled; Admin::enable_table enables it")]
    TableNotEnabled {
        /// The table.
        table: String,
    },
    /// No region that is in service has the row at the moment, as in the middle of a split.
    #[error("no region of {table} that is in service has the row {row}")]
    NoRegion {
        /// The table.
        table: String,
        /// The row key, escaped.
        row: String,
    },
    /// The registry does not say where the cluster is.
    #[error("the registry {registry} does not tell of {wanted}: {reason}")]
    Registry {
        /// The servers of the registry.
        registry: String,
        /// What was asked for.
        wanted: &'static str,
        /// Why there is no answer.
        reason: String,
    },
    /// A scan got rows that are not after each other: going on would lose rows or give them twice.
    #[error("a scan of {table} got rows out of order from {server}")]
    RowsOutOfOrder {
        /// The table.
        table: String,
        /// The server.
        server: Address,
    },
    /// A row is larger than the limit of the scan.
    #[error("a row of {table} has more than {row_bytes_max} bytes")]
    RowTooLarge {
        /// The table.
        table: String,
        /// The limit.
        row_bytes_max: usize,
    },
    /// A procedure of the master failed.
    #[error("the procedure {procedure_id} failed: {reason}")]
    Procedure {
        /// The procedure's id.
        procedure_id: u64,
        /// The master's words.
        reason: String,
    },
    /// A request breaks a rule of this client.
    #[error("{reason}")]
    Unsupported {
        /// The rule.
        reason: &'static str,
    },
    /// A task of the client ended unexpectedly.
    #[error("a task of the client ended: {reason}")]
    Task {
        /// Why.
        reason: String,
    },
}

impl Error {
    /// The same with the table that the call was for.
    pub(crate) fn of_table(mut self, table: &impl ToString) -> Self {
        if let Self::Server(error) = &mut self {
            error.table = Some(table.to_string());
        }
        self
    }

    /// Whether a change whose call failed so may have been made nevertheless.
    pub fn may_be_applied(&self) -> bool {
        match self {
            Self::Disconnected { sent, .. } | Self::NoAnswer { sent, .. } => *sent,
            Self::Server(error) => error.may_be_applied(),
            Self::Answer { .. } | Self::WrongAnswer { .. } | Self::Task { .. } => true,
            Self::Deadline { last, .. } | Self::RetriesUsedUp { last, .. } => last.may_be_applied(),
            _ => false,
        }
    }

    /// What the failure asks of the client.
    pub fn reaction(&self) -> Reaction {
        match self {
            Self::Server(error) => error.reaction(),
            Self::Connect { .. } | Self::Disconnected { .. } | Self::NoAnswer { .. } => Reaction::Reconnect,
            Self::NoRegion { .. } => Reaction::LookUpAgain,
            Self::Registry { .. } => Reaction::TryAgain,
            _ => Reaction::Final,
        }
    }

    /// The server that the failure is about.
    pub fn server(&self) -> Option<&Address> {
        match self {
            Self::Connect { server, .. }
            | Self::Disconnected { server, .. }
            | Self::NoAnswer { server, .. }
            | Self::Answer { server, .. }
            | Self::WrongAnswer { server, .. }
            | Self::RowsOutOfOrder { server, .. } => Some(server),
            Self::Server(error) => Some(&error.server),
            Self::Deadline { last, .. } | Self::RetriesUsedUp { last, .. } => last.server(),
            _ => None,
        }
    }

    /// The exception of the server, if one answered.
    pub fn server_error(&self) -> Option<&ServerError> {
        match self {
            Self::Server(error) => Some(error),
            Self::Deadline { last, .. } | Self::RetriesUsedUp { last, .. } => last.server_error(),
            _ => None,
        }
    }
}
