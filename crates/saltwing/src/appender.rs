//! Appenders: many rows for one table.

use arrow::array::RecordBatch;
use saltwing_bind::OnConflict;

use crate::appending::{Appending, log};
use crate::block_on::block_on;
use crate::{Connection, Error, IntoParams, blocking};

/// Writes many rows into one table, in parts: the asynchronous form of [`blocking::Appender`], which has the details.
///
/// Dropping the appender passes the last rows to a thread of the library and does not wait for it: call [`Appender::close`].
pub struct Appender(Appending);

impl Connection {
    /// As [`blocking::Connection::appender`].
    ///
    /// # Errors
    /// Those of the blocking method.
    pub async fn appender(&self, table: &str) -> Result<Appender, Error> {
        self.appender_columns(table, &[] as &[&str]).await
    }

    /// As [`blocking::Connection::appender_columns`].
    ///
    /// # Errors
    /// Those of the blocking method.
    pub async fn appender_columns(&self, table: &str, columns: &[impl AsRef<str>]) -> Result<Appender, Error> {
        Appending::new(self.session(), table, columns).map(Appender)
    }
}

impl Appender {
    /// As [`blocking::Appender::on_conflict`].
    #[must_use]
    pub fn on_conflict(mut self, on_conflict: OnConflict) -> Self {
        self.0.set_on_conflict(on_conflict);
        self
    }

    /// Adds a row. If the future is dropped, the row may or may not be added.
    ///
    /// # Errors
    /// As [`blocking::Appender::append_row`].
    pub async fn append_row(&mut self, row: impl IntoParams) -> Result<(), Error> {
        self.0.append_row(row.into_params()).await
    }

    /// Adds the rows of a batch. If the future is dropped, only some of the rows may be added.
    ///
    /// # Errors
    /// As [`blocking::Appender::append_batch`].
    pub async fn append_batch(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        self.0.append_batch(batch).await
    }

    /// Writes the rows added so far; returns the number of all rows written.
    ///
    /// # Errors
    /// As [`blocking::Appender::flush`].
    pub async fn flush(&mut self) -> Result<u64, Error> {
        self.0.flush().await
    }

    /// Writes the last rows; returns the number of all rows written.
    ///
    /// # Errors
    /// As [`blocking::Appender::flush`].
    pub async fn close(mut self) -> Result<u64, Error> {
        self.flush().await
    }
}

/// Writes many rows into one table, in parts.
///
/// ```
/// # fn main() -> Result<(), saltwing::Error> {
/// let connection = saltwing::Database::memory()?.connect().blocking();
/// connection.execute("CREATE TABLE log (host VARCHAR, ts BIGINT, up BIGINT, CONSTRAINT pk PRIMARY KEY (host, ts))", ())?;
/// let mut appender = connection.appender("log")?;
/// for ts in 0..10_000 {
///     appender.append_row(("a", ts, 7))?;
/// }
/// assert_eq!(appender.close()?, 10_000);
/// # Ok(())
/// # }
/// ```
///
/// Rows may have any order; rows in the order of their keys are written faster. Each row replaces the row of its key, as an UPSERT does: see
/// [`Appender::on_conflict`]. Columns that the appender does not write keep their values, or get their DEFAULTs in a new row.
///
/// **Durability.** The rows become durable in parts of 5,000 rows or 16 MB (`SET autocommit_rows` changes the number of rows); each part
/// is written completely or not at all. A thread of the library writes a part while the next one is collected, so a call waits if the
/// previous part is not written yet, and memory holds two parts at most. Only [`Appender::flush`] and [`Appender::close`] confirm that all rows are
/// durable, as far as `SET durability` requests. Inside a transaction the rows belong to the transaction, and COMMIT makes them durable; an appender
/// belongs to the transaction in which it was made. An appender that was made before `BEGIN` accepts no rows until the transaction ends
/// (`active_transaction`).
///
/// **Errors.** A row that is refused when it is added is skipped, and the appender continues. An error of a part is returned by a later
/// call, and names the row: the rows before it are written, the row and later ones are not ([`Error::rows_committed`] counts), and the appender
/// accepts no more rows.
///
/// Dropping the appender flushes it, and only logs an error, so call [`Appender::close`].
pub struct BlockingAppender(Appending);

impl blocking::Connection {
    /// An appender for all columns of a table, in the order of the table.
    ///
    /// # Errors
    /// `no_such_table`; `read_only`. The name is written as in SQL: `t`, `s.t`, `"t"`.
    pub fn appender(&self, table: &str) -> Result<BlockingAppender, Error> {
        self.appender_columns(table, &[] as &[&str])
    }

    /// An appender for these columns, written as in SQL. Other columns get their DEFAULTs, or keep their values. A name followed by a type is a
    /// dynamic column: `["k", "extra VARCHAR"]`.
    ///
    /// # Errors
    /// As [`Connection::appender`](blocking::Connection::appender); `no_such_column`, `duplicate_column`.
    pub fn appender_columns(&self, table: &str, columns: &[impl AsRef<str>]) -> Result<BlockingAppender, Error> {
        Appending::new(&self.session, table, columns).map(BlockingAppender)
    }
}

impl BlockingAppender {
    /// Sets the treatment of a row whose key exists, in the table or in an earlier row. The default is `Replace`, the only one that looks no keys up.
    /// Call it before the first row.
    #[must_use]
    pub fn on_conflict(mut self, on_conflict: OnConflict) -> Self {
        self.0.set_on_conflict(on_conflict);
        self
    }

    /// Adds a row: a value for each column by position (a tuple, say), or by name (a struct that derives `IntoParams`). Values are converted
    /// as those of an UPSERT.
    ///
    /// # Errors
    /// `bad_parameter` for other columns, `type_mismatch`, `out_of_range`, `too_long`, `not_null` name the row by its number, from 1. Errors of an
    /// earlier part.
    pub fn append_row(&mut self, row: impl IntoParams) -> Result<(), Error> {
        block_on(self.0.append_row(row.into_params()))
    }

    /// Adds the rows of a batch, whose columns must have the names of the appender's columns, in any order.
    ///
    /// # Errors
    /// As [`Appender::append_row`](BlockingAppender::append_row); the rows before the refused one are added.
    pub fn append_batch(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        block_on(self.0.append_batch(batch))
    }

    /// Writes the rows added so far; returns the number of all rows written, without rows that were skipped because their keys
    /// existed.
    ///
    /// # Errors
    /// `bad_key`, `duplicate_key`, `no_such_table`; errors of the store.
    pub fn flush(&mut self) -> Result<u64, Error> {
        block_on(self.0.flush())
    }

    /// Writes the last rows; returns the number of all rows written.
    ///
    /// # Errors
    /// As [`Appender::flush`](BlockingAppender::flush).
    pub fn close(mut self) -> Result<u64, Error> {
        self.flush()
    }
}

impl Drop for BlockingAppender {
    fn drop(&mut self) {
        if !self.0.has_failed() {
            let _ = log(self.flush().map(drop));
        }
    }
}
