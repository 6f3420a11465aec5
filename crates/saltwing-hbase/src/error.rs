//! Errors of this crate, and their causes for the border.

use hbase_client::Error as CallError;
use saltwing_access::{StorageCause, StorageError, TableError};
use saltwing_phoenix::{DefinitionError, PhoenixError};
use saltwing_types::ErrorCode;

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HbaseError {
    /// A text that names no cluster.
    #[error("{address} names no cluster: {reason}")]
    Address {
        /// The text.
        address: String,
        /// The reason.
        reason: String,
    },
    /// The threads that wait for servers could not be started.
    #[error("the threads that wait for servers cannot be started: {0}")]
    Threads(#[source] std::io::Error),
    /// A cluster without Phoenix's catalog.
    #[error(
        "the cluster {cluster} has no table SYSTEM.CATALOG: no client of Phoenix has ever connected to it, or another node of ZooKeeper is meant"
    )]
    NoPhoenix {
        /// The cluster.
        cluster: String,
    },
    /// A call of a server failed.
    #[error(transparent)]
    Call(#[from] CallError),
    /// A server gave no answer, and the client did not notice.
    #[error("{server} gave no answer within {ms} ms")]
    NoAnswer {
        /// The server.
        server: String,
        /// How long it was waited for.
        ms: u128,
    },
    /// Stored bytes that are no row of the table.
    #[error("{table}: {error}")]
    Row {
        /// The table.
        table: String,
        /// The reason; part of the text, so not a source.
        error: PhoenixError,
    },
    /// A table that Phoenix's catalog does not tell, or not in a form that is understood.
    #[error(transparent)]
    Definition(#[from] DefinitionError),
    /// A value that the cells of its column cannot hold.
    #[error("{table}: {error}")]
    Value {
        /// The table.
        table: String,
        /// The reason; part of the text, so not a source.
        error: PhoenixError,
    },
    /// A row that is written by a view and would not be one of its rows.
    #[error("{view}.{column} has one value in all rows of the view, and the row has another one")]
    NotOfView {
        /// The view.
        view: String,
        /// The column.
        column: String,
    },
    /// A table that is read and not written.
    #[error("{table} is not written from here: {reason}; write it with Phoenix")]
    NotWritten {
        /// The table.
        table: String,
        /// The reason.
        reason: String,
    },
    /// Servers gave rows of a table where its coprocessors should have given aggregates.
    #[error("the region servers of {table} have no coprocessors of Phoenix that add up rows")]
    NotComputed {
        /// The table.
        table: String,
    },
    /// Results of a coprocessor that are none.
    #[error("{table}: the region servers gave {reason}")]
    Aggregate {
        /// The table.
        table: String,
        /// What they gave.
        reason: &'static str,
    },
    /// A definition that Phoenix's catalog cannot have, or a change that is made with Phoenix alone.
    #[error("{object} cannot be so on a cluster: {reason}")]
    NotDefined {
        /// The table.
        object: String,
        /// The reason, with what to use instead.
        reason: String,
    },
    /// An HBase table that is not in Phoenix's catalog has the name of a new table.
    #[error(
        "HBase has a table {table} that Phoenix's catalog does not know, and {reason}; delete it with HBase's shell, or map it with CREATE VIEW in Phoenix"
    )]
    TableInTheWay {
        /// The HBase table.
        table: String,
        /// Why it is not taken.
        reason: String,
    },
    /// A table that is not dropped because views are over it.
    #[error("{table} is not dropped: views use it; DROP TABLE {table} CASCADE drops them, too")]
    UsedByViews {
        /// The table.
        table: String,
    },
    /// Something that this store does not do; the text says what to use instead.
    #[error("{0}")]
    NotSupported(&'static str),
}

impl HbaseError {
    /// The server that the error is about, if it names one.
    pub(crate) fn server(&self) -> Option<String> {
        match self {
            Self::Call(error) => error.server().map(ToString::to_string),
            Self::NoAnswer { server, .. } => Some(server.clone()),
            _ => None,
        }
    }

    /// Its cause, for statements.
    pub fn cause(&self) -> StorageCause {
        match self {
            Self::Address { .. } | Self::Threads(_) | Self::NoPhoenix { .. } => StorageCause::Io,
            Self::NoAnswer { .. } | Self::Definition(DefinitionError::WrongRegion { .. }) => StorageCause::Unavailable,
            Self::Call(error) => cause_of_call(error),
            Self::Row { error, .. } => match error.code() {
                ErrorCode::NotSupported => StorageCause::NotSupported,
                _ => StorageCause::Corrupt,
            },
            Self::Definition(DefinitionError::NotUnderstood { .. })
            | Self::Value { .. }
            | Self::NotOfView { .. }
            | Self::NotWritten { .. }
            | Self::NotComputed { .. }
            | Self::NotDefined { .. }
            | Self::UsedByViews { .. }
            | Self::TableInTheWay { .. }
            | Self::NotSupported(_) => StorageCause::NotSupported,
            Self::Definition(_) | Self::Aggregate { .. } => StorageCause::Corrupt,
        }
    }
}

fn cause_of_call(error: &CallError) -> StorageCause {
    match error {
        CallError::Connect { .. }
        | CallError::Disconnected { .. }
        | CallError::NoAnswer { .. }
        | CallError::Deadline { .. }
        | CallError::RetriesUsedUp { .. }
        | CallError::NoRegion { .. }
        | CallError::Registry { .. } => StorageCause::Unavailable,
        CallError::Request(_) => StorageCause::BadKey,
        CallError::Unsupported { .. } => StorageCause::NotSupported,
        // What a server refuses for good, damaged answers, and tables that are not there.
        _ => StorageCause::Io,
    }
}

impl From<HbaseError> for TableError {
    fn from(error: HbaseError) -> Self {
        StorageError::new(error.cause(), error).into()
    }
}
