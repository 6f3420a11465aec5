//! Where the rows of a COPY FROM go.

use pgwire::error::ErrorInfo;
use saltwing::{Appender, Connection, Error, OnConflict, Params, Transaction, TransactionState, Value};

use super::columns::{Column, columns_of, read_columns};
use crate::copy::{CopyFrom, ReadColumn};
use crate::error_fields::error_info;

/// Rows that are decoded while the ones before are written.
const PART_ROWS_MAX: usize = 5000;
/// Bytes of their values after which a part ends even if it has fewer rows.
const PART_BYTES_MAX: usize = 4 << 20;
/// The approximate bytes of an encoded row in addition to its values.
const ROW_BYTES: usize = 24;
/// The approximate bytes of an encoded value in addition to its text.
const VALUE_BYTES: usize = 8;
/// Rows that are passed to the library before other tasks of the thread get their turn.
const ROWS_AT_ONCE: usize = 256;

/// Rows that are decoded together.
#[derive(Default)]
pub(super) struct Part {
    rows: Vec<Vec<Value>>,
    /// The line of each row.
    lines: Vec<u64>,
    bytes: usize,
}

impl Part {
    /// Adds the row of a line.
    pub(super) fn add(&mut self, row: Vec<Value>, line: u64) {
        let texts: usize = row.iter().map(Value::heap_bytes).sum();
        self.bytes = self.bytes.saturating_add(ROW_BYTES + VALUE_BYTES * row.len()).saturating_add(texts);
        self.rows.push(row);
        self.lines.push(line);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(super) fn is_full(&self) -> bool {
        self.rows.len() >= PART_ROWS_MAX || self.bytes >= PART_BYTES_MAX
    }
}

/// When the rows are committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Commits {
    /// With the client's transaction.
    WithClient,
    /// All together at the end; or each time that they have so many bytes.
    Together { bytes_max: usize },
    /// Each time that there are so many rows, as `autocommit_rows` says.
    InParts { rows: usize },
}

/// The table that a COPY FROM fills, while it does.
///
/// # All or nothing
/// In the client's transaction the rows are a part of it. Outside of one, a COPY is a transaction of its own, and after an error none of its rows stays.
/// There are two exceptions, in which an error tells how many rows stay:
/// 1. rows of more than half of `commit_bytes_max`, which is 128 MB unless a setting says otherwise: each time that they are so many, they are committed,
///    and a notice tells of it at the end. In BEGIN .. COMMIT a COPY beyond `commit_bytes_max` is refused instead;
/// 2. while `autocommit_rows` is set, the rows are committed in parts of so many.
pub(super) struct Loading {
    connection: Connection,
    table: String,
    columns: Vec<String>,
    on_conflict: OnConflict,
    commits: Commits,
    /// Opened by this COPY; inside of the client's transaction a part of that.
    transaction: Option<Transaction>,
    /// Writes in `transaction`. It is made anew in each.
    appender: Option<Appender>,
    /// The rows that the appender was given, and the lines of those that it has not confirmed.
    given: (u64, Vec<u64>),
    /// The approximate bytes of the rows in `transaction`.
    bytes: usize,
    /// Rows in transactions that are committed, and how many these were.
    committed: (u64, u64),
}

/// The end of a COPY FROM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Loaded {
    /// Rows written.
    pub(super) rows: u64,
    /// Transactions that were committed for them; 0 inside of the client's.
    pub(super) transactions: u64,
}

/// An error of rows that the library does not take.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub(super) struct LoadError {
    #[source]
    error: Box<Error>,
    /// The line of the row that it is about.
    line: Option<u64>,
}

impl From<Error> for LoadError {
    fn from(error: Error) -> Self {
        Self { error: Box::new(error), line: None }
    }
}

impl LoadError {
    /// The error for the client, with its place in the data for the table.
    pub(super) fn info(&self, table: &str) -> Box<ErrorInfo> {
        let mut info = error_info(&self.error, None);
        // The number of the row means nothing to the client, who knows its line.
        if let (Some((_, text)), Some(_)) = (numbered(&info.message), self.line) {
            info.message = text.to_owned();
        }
        let line = self.line.map(|line| format!(", line {line}")).unwrap_or_default();
        info.where_context = Some(format!("COPY {table}{line}"));
        info
    }
}

/// The number of the row in an error of an appender, from 1, and the rest of its text.
fn numbered(text: &str) -> Option<(u64, &str)> {
    let (number, text) = text.strip_prefix("row ")?.split_once(": ")?;
    Some((number.parse().ok()?, text))
}

impl Loading {
    /// Checks the table, its columns and the user's rights; gives the columns of the rows with their types.
    ///
    /// # Errors
    /// What of these is not there.
    pub(super) async fn open(connection: &Connection, copy: &CopyFrom) -> Result<(Self, Vec<ReadColumn>), Error> {
        let settings = connection.settings();
        let commits = match (connection.transaction_state(), settings.autocommit_rows) {
            (TransactionState::None, Some(rows)) => {
                Commits::InParts { rows: usize::try_from(rows.get()).unwrap_or(usize::MAX) }
            }
            (TransactionState::None, None) => Commits::Together { bytes_max: settings.commit_bytes_max / 2 },
            _ => Commits::WithClient,
        };
        let columns = columns_of(connection, &copy.table).await?;
        let declared: Vec<String> = columns.iter().map(|column: &Column| column.declared.clone()).collect();
        // New dynamic columns change the table, which a transaction cannot do. An appender checks the names and the rights as well.
        let table = &copy.table.sql;
        drop(connection.appender_columns(table, &declared).await?);
        let read = read_columns(connection, &copy.table, &columns).await?;
        let mut this = Self {
            connection: connection.clone(),
            table: table.clone(),
            columns: declared,
            on_conflict: copy.on_conflict,
            commits,
            transaction: None,
            appender: None,
            given: (0, Vec::new()),
            bytes: 0,
            committed: (0, 0),
        };
        this.begin().await?;
        Ok((this, read))
    }

    /// Begins the transaction of the next rows.
    async fn begin(&mut self) -> Result<(), Error> {
        let transaction = match self.commits {
            Commits::InParts { .. } => None,
            Commits::WithClient | Commits::Together { .. } => Some(self.connection.begin().await?),
        };
        let connection = transaction.as_deref().unwrap_or(&self.connection);
        let appender = connection.appender_columns(&self.table, &self.columns).await?;
        (self.transaction, self.appender) = (transaction, Some(appender.on_conflict(self.on_conflict)));
        self.given = (0, Vec::new());
        Ok(())
    }

    /// Writes a part. After an error only [`Loading::discard`] may be called.
    pub(super) async fn write(mut self, part: Part) -> (Self, Result<(), LoadError>) {
        let written = self.write_part(part).await;
        (self, written)
    }

    async fn write_part(&mut self, part: Part) -> Result<(), LoadError> {
        if self.appender.is_none() {
            self.begin().await?;
        }
        for (index, (row, line)) in part.rows.into_iter().zip(part.lines).enumerate() {
            self.append(row, line).await?;
            if index % ROWS_AT_ONCE == ROWS_AT_ONCE - 1 {
                tokio::task::yield_now().await;
            }
        }
        self.bytes = self.bytes.saturating_add(part.bytes);
        match self.commits {
            // The appender commits by itself.
            Commits::InParts { .. } => Ok(()),
            Commits::WithClient => self.flush().await,
            Commits::Together { bytes_max } => {
                self.flush().await?;
                if self.bytes >= bytes_max { Ok(self.commit().await?) } else { Ok(()) }
            }
        }
    }

    /// Passes a row to the library.
    async fn append(&mut self, row: Vec<Value>, line: u64) -> Result<(), LoadError> {
        let Some(appender) = &mut self.appender else { return Ok(()) };
        self.given.0 = self.given.0.saturating_add(1);
        self.given.1.push(line);
        let appended = appender.append_row(Params::Positional(row)).await;
        appended.map_err(|error| self.failed(error))?;
        match self.commits {
            Commits::InParts { rows } if self.given.1.len() >= rows => self.flush().await,
            _ => Ok(()),
        }
    }

    /// Waits until the library has written the rows so far.
    async fn flush(&mut self) -> Result<(), LoadError> {
        let Some(appender) = &mut self.appender else { return Ok(()) };
        let flushed = appender.flush().await;
        flushed.map_err(|error| self.failed(error))?;
        self.given.1.clear();
        Ok(())
    }

    /// An error of the appender, with the line of its row.
    fn failed(&self, error: Error) -> LoadError {
        let (given, lines) = &self.given;
        let confirmed = given.saturating_sub(lines.len() as u64);
        let place = numbered(&error.to_string()).and_then(|(row, _)| row.checked_sub(confirmed)?.checked_sub(1));
        let line = place.and_then(|place| lines.get(usize::try_from(place).ok()?).copied());
        LoadError { error: Box::new(error), line }
    }

    /// Commits the rows so far.
    async fn commit(&mut self) -> Result<(), Error> {
        let rows = match self.appender.take() {
            Some(appender) => appender.close().await?,
            None => 0,
        };
        let is_own = self.commits != Commits::WithClient;
        if let Some(transaction) = self.transaction.take() {
            transaction.commit().await?;
        }
        self.bytes = 0;
        self.committed = (self.committed.0.saturating_add(rows), self.committed.1.saturating_add(u64::from(is_own)));
        Ok(())
    }

    /// Commits the last rows.
    ///
    /// # Errors
    /// Those of the last rows and of the commit.
    pub(super) async fn finish(&mut self) -> Result<Loaded, LoadError> {
        self.flush().await?;
        if self.appender.is_some() {
            self.commit().await?;
        }
        let (rows, transactions) = self.committed;
        Ok(Loaded { rows, transactions })
    }

    /// Gives up the rows that are not committed; gives how many rows stay.
    pub(super) async fn discard(mut self) -> u64 {
        if let Some(transaction) = self.transaction.take()
            && let Err(error) = transaction.rollback().await
        {
            // The transaction is over: by its timeout, or since the client's is.
            tracing::debug!(target: "saltwing::postgres", %error, "the transaction of a COPY was not rolled back");
        }
        if let Some(mut appender) = self.appender.take() {
            // Of a transaction that is over, the appender forgets its rows. Without one it commits those before the error.
            let flushed = appender.flush().await;
            if matches!(self.commits, Commits::InParts { .. }) {
                let rows = flushed.unwrap_or_else(|error| error.rows_committed());
                self.committed.0 = self.committed.0.saturating_add(rows);
            }
        }
        self.committed.0
    }
}
