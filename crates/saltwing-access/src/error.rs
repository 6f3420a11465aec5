//! Errors between rows and stores.

use saltwing_rowkey::RowKeyError;
use saltwing_types::{ErrorCode, Interrupted, SqlType, StorageError, Value, ValueError, text};

use crate::memory_scope::MemoryScope;

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// The storage below failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// A row has no key, or stored bytes are no key.
    #[error(transparent)]
    RowKey(#[from] RowKeyError),
    /// A condition could not be computed, or a value could not be put out.
    #[error("{}{source}", .column.as_ref().map(|c| format!("{c}: ")).unwrap_or_default())]
    Value {
        /// `table.column`, where it is known.
        column: Option<String>,
        /// The reason.
        source: ValueError,
    },
    /// NULL in a NOT NULL column.
    #[error("{table}.{column} is NOT NULL, and the row has no value for it")]
    NotNull {
        /// Table.
        table: String,
        /// Column.
        column: String,
    },
    /// A value that the stored form cannot hold.
    #[error("{table}.{column}: a value of {bytes} bytes is above the limit of {limit}")]
    ValueTooLarge {
        /// Table.
        table: String,
        /// Column.
        column: String,
        /// Its size.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// Another transaction wrote one of the keys first.
    #[error("another transaction wrote the row ({key}) of {table} first")]
    Conflict {
        /// Table.
        table: String,
        /// The values of its key as SQL text.
        key: String,
    },
    /// Rows that must be written as a whole or not at all, on a store that writes each row by itself.
    #[error("{what} writes several rows together, and {store} writes each row by itself")]
    NotAtomic {
        /// The store's name.
        store: &'static str,
        /// What writes them, with its article.
        what: &'static str,
    },
    /// A commit of a store that writes each row by itself, of which a part was written.
    #[error("of {} rows, {written} are written{}{}: {first}", .written + .refused + .unknown,
        counted(*.refused, "not written"), counted(*.unknown, "written or not, which is unknown"))]
    PartlyWritten {
        /// Rows that are written, and stay.
        written: u64,
        /// Rows that are not written.
        refused: u64,
        /// Rows whose outcome is unknown: they were sent, and no answer came.
        unknown: u64,
        /// The first error of a row.
        first: Box<TableError>,
    },
    /// A change of some columns, for a store that writes rows whole: a broken invariant of ours.
    #[error("{store} writes rows whole, and a change has some of its columns")]
    WritesWholeRows {
        /// The store's name.
        store: &'static str,
    },
    /// A table was altered under a statement.
    #[error("the definition of {table} was changed while the statement ran")]
    DefinitionChanged {
        /// Table.
        table: String,
    },
    /// The history against which the transaction must be checked was discarded.
    #[error("the transaction is too old: the record of what was written since it began is gone")]
    SnapshotTooOld,
    /// A budget is used up.
    #[error("{what}: {used} is above the limit of {limit}")]
    BudgetExceeded {
        /// Which one: rows scanned, bytes scanned.
        what: &'static str,
        /// The amount used.
        used: u64,
        /// The limit.
        limit: u64,
    },
    /// The statement, or all that run, would use more memory than they may.
    #[error("the statement needs {wanted} bytes of memory, and {scope} {used} of the {limit} that {} allows", scope.setting())]
    OutOfMemory {
        /// How much more.
        wanted: usize,
        /// The bytes in use.
        used: usize,
        /// The limit.
        limit: usize,
        /// Whose limit.
        scope: MemoryScope,
    },
    /// The statement's time is over.
    #[error("the statement took longer than its limit of {limit_ms} ms")]
    Timeout {
        /// The limit.
        limit_ms: u64,
    },
    /// The statement was cancelled.
    #[error("the statement was cancelled")]
    Cancelled,
    /// The statement had to stop while it waited for a server.
    #[error("{interrupted}, and waited for an answer of {server}")]
    StoppedWaiting {
        /// The server.
        server: String,
        /// Why it had to stop.
        interrupted: Interrupted,
    },
    /// Stored bytes that are no row.
    #[error("{table}: the stored row {key} is damaged: {what}")]
    Corrupt {
        /// Table.
        table: String,
        /// Row key in hex.
        key: String,
        /// The mismatch.
        what: &'static str,
    },
    /// A block that cannot be read.
    #[error("block {block} of {table} is damaged: {what}")]
    CorruptBlock {
        /// Table: its name, or its number where its definition is not open.
        table: String,
        /// Block.
        block: u64,
        /// The mismatch.
        what: &'static str,
    },
    /// Stored bytes that hold the layout together, and do not.
    #[error("the stored tables are damaged: {0} cannot be read")]
    CorruptLayout(&'static str),
    /// The store was written by a release that kept rows in another way.
    #[error("the database was written by another release, which kept rows in another way: load it anew")]
    OtherLayout,
    /// Arrow refused a batch: a broken invariant of ours.
    #[error("a batch could not be built")]
    Batch(#[from] arrow::error::ArrowError),
    /// A savepoint that its transaction does not have: a broken invariant of ours.
    #[error("the transaction has no savepoint {0}")]
    NoSavepoint(usize),
    /// The past of a table that keeps no versions.
    #[error("{table} keeps no older versions of its rows")]
    NoVersions {
        /// Table.
        table: String,
    },
    /// An instant for which the table's versions are gone.
    #[error("the versions of {table} do not reach back to {}{}", instant(*.at_ms),
        .first_ms.map_or_else(|| " for every row".to_owned(), |ms| format!(", but to {}", instant(ms))))]
    BeyondVersions {
        /// Table.
        table: String,
        /// The instant, in milliseconds since 1970.
        at_ms: i64,
        /// The first known instant; `None` if some rows have changed too often since.
        first_ms: Option<i64>,
    },
    /// An instant in the future.
    #[error("{} is in the future: it is {}", instant(*.at_ms), instant(*.now_ms))]
    FutureTime {
        /// Table.
        table: String,
        /// The instant, in milliseconds since 1970.
        at_ms: i64,
        /// Now, likewise.
        now_ms: i64,
    },
    /// A table that is not registered.
    #[error("table number {0} is not open")]
    NoSuchTable(u32),
}

impl From<Interrupted> for TableError {
    fn from(interrupted: Interrupted) -> Self {
        match interrupted {
            Interrupted::Timeout { limit_ms } => Self::Timeout { limit_ms },
            _ => Self::Cancelled,
        }
    }
}

impl TableError {
    /// The stable code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Storage(error) => error.cause.code(),
            Self::RowKey(error) => error.code(),
            Self::Value { source, .. } => source.code(),
            Self::NotNull { .. } => ErrorCode::NotNull,
            Self::ValueTooLarge { .. } => ErrorCode::TooLong,
            Self::Conflict { .. } | Self::DefinitionChanged { .. } => ErrorCode::Conflict,
            Self::SnapshotTooOld => ErrorCode::SnapshotTooOld,
            Self::BudgetExceeded { .. } => ErrorCode::BudgetExceeded,
            Self::OutOfMemory { .. } => ErrorCode::OutOfMemory,
            Self::Timeout { .. } => ErrorCode::Timeout,
            Self::Cancelled => ErrorCode::Cancelled,
            Self::StoppedWaiting { interrupted, .. } => interrupted.code(),
            Self::Corrupt { .. } | Self::CorruptBlock { .. } | Self::CorruptLayout(_) => ErrorCode::Corrupt,
            Self::OtherLayout | Self::NotAtomic { .. } => ErrorCode::NotSupported,
            Self::PartlyWritten { unknown: 1.., .. } => ErrorCode::CommitUnknown,
            Self::PartlyWritten { first, .. } => first.code(),
            Self::NoVersions { .. } | Self::BeyondVersions { .. } | Self::FutureTime { .. } => ErrorCode::BadArgument,
            Self::Batch(_) | Self::NoSuchTable(_) | Self::NoSavepoint(_) | Self::WritesWholeRows { .. } => {
                ErrorCode::Bug
            }
        }
    }

    /// How many rows a commit with this error has written nevertheless.
    pub fn rows_written(&self) -> u64 {
        match self {
            Self::PartlyWritten { written, .. } => *written,
            _ => 0,
        }
    }
}

/// `, 3 are not written`; nothing for 0.
fn counted(rows: u64, what: &str) -> String {
    match rows {
        0 => String::new(),
        1 => format!(", 1 is {what}"),
        _ => format!(", {rows} are {what}"),
    }
}

/// Milliseconds since 1970 as an instant.
fn instant(ms: i64) -> String {
    text::format(&Value::Date(ms), SqlType::Date).unwrap_or_else(|| ms.to_string())
}

impl From<ValueError> for TableError {
    fn from(source: ValueError) -> Self {
        Self::Value { column: None, source }
    }
}
