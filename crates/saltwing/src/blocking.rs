//! The API without async.
//!
//! Every call works on the caller's thread, or waits for a thread of the library. Inside
//! an async runtime, a call blocks the thread that it runs on, and never panics.

use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;

use crate::attached::attach_text;
use crate::batch::{Batch, execute_batch};
use crate::guard_refusals::guard_refusals;
use crate::key_heat::key_heat;
use crate::outcome::{ExecResult, RowsOutcome};
use crate::params::IntoParams;
use crate::progress::{CopyProgress, IndexProgress};
use crate::rows::no_row;
use crate::session::{InterruptHandle, Session};
use crate::shared::Shared;
use crate::{ArrowRows, Error, FromRow, GuardRefusal, HeatShape, KeyHeat, Page, Row, Settings, Stats};

pub use crate::appender::BlockingAppender as Appender;
pub use crate::prepared_statement::BlockingStatement as Statement;
pub use crate::response::Response;
pub use crate::transaction_guard::BlockingTransaction as Transaction;

/// A connection whose calls block. As with [`crate::Connection`], clones are the same connection, with its settings and its `BEGIN`.
#[derive(Clone)]
pub struct Connection {
    pub(crate) session: Session,
}

impl Connection {
    /// Runs one statement, and reads its rows, if it has any, to the end.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements).
    pub fn execute(&self, sql: &str, params: impl IntoParams) -> Result<ExecResult, Error> {
        self.session.execute(sql, params.into_params())
    }

    /// Runs all statements of a text, up to the first failure.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements).
    pub fn execute_batch(&self, sql: &str) -> Result<Vec<ExecResult>, Error> {
        execute_batch(&self.session, sql)
    }

    /// Runs a statement that returns rows.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements).
    pub fn query(&self, sql: &str, params: impl IntoParams) -> Result<Rows, Error> {
        Ok(Rows::new(self.session.query(sql, params.into_params())?))
    }

    /// Runs a statement that returns exactly one row, as a tuple or a [`Row`]: `query_one::<(i64, String)>(sql, params)`.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements); `no_row` and `several_rows`; as [`Row::get`](crate::Row::get).
    pub fn query_one<R: FromRow>(&self, sql: &str, params: impl IntoParams) -> Result<R, Error> {
        self.query_opt(sql, params)?.ok_or_else(no_row)
    }

    /// As `query_one`, but the statement may return no row.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements); `several_rows`; as [`Row::get`](crate::Row::get).
    pub fn query_opt<R: FromRow>(&self, sql: &str, params: impl IntoParams) -> Result<Option<R>, Error> {
        self.query(sql, params)?.only()
    }

    /// Runs a statement that returns rows, each as an `R`: a tuple, or a struct that derives `FromRow`.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements).
    pub fn query_as<R: FromRow>(&self, sql: &str, params: impl IntoParams) -> Result<TypedRows<R>, Error> {
        self.query(sql, params).map(TypedRows::new)
    }

    /// Runs a query for one page of its rows: see [`crate::Connection::query_page`].
    ///
    /// # Errors
    /// Those of the async method.
    pub fn query_page<R: FromRow>(
        &self,
        sql: &str,
        params: impl IntoParams,
        token: Option<&str>,
    ) -> Result<Page<R>, Error> {
        let mut rows = Rows::new(self.session.query_page(sql, params.into_params(), token)?);
        let page = rows.by_ref().map(|row| R::from_row(&row?)).collect::<Result<_, _>>()?;
        Ok(Page::of(page, &rows.0))
    }

    /// Runs a statement that returns rows, as Arrow batches: see [`ArrowRows::next_blocking`].
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements).
    pub fn query_arrow(&self, sql: &str, params: impl IntoParams) -> Result<ArrowRows, Error> {
        Ok(ArrowRows::new(self.session.query(sql, params.into_params())?))
    }

    /// Runs any statement; the response has rows if the statement returns rows.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements).
    pub fn run(&self, sql: &str, params: impl IntoParams) -> Result<Response, Error> {
        self.session.run(sql, params.into_params()).and_then(Response::try_from)
    }

    /// Runs the statements of a text, each when the caller takes its result, and returns the results in order. No statement runs after a failure.
    ///
    /// ```
    /// # fn main() -> Result<(), saltwing::Error> {
    /// use saltwing::blocking::Response;
    ///
    /// let connection = saltwing::Database::memory()?.connect().blocking();
    /// let text = "CREATE TABLE t (k BIGINT PRIMARY KEY); UPSERT INTO t VALUES (1), (2); SELECT k FROM t WHERE k > 0";
    /// let mut read = 0;
    /// for response in connection.run_batch(text)? {
    ///     if let Response::Rows(rows) = response? {
    ///         read += rows.into_reader().map(|batch| batch.map_or(0, |batch| batch.num_rows())).sum::<usize>();
    ///     }
    /// }
    /// assert_eq!(read, 2);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Errors of parsing, before any statement runs. The text after a `SET dialect` is parsed only after that statement has run.
    pub fn run_batch(&self, sql: &str) -> Result<Responses, Error> {
        Ok(Responses { session: self.session.clone(), batch: Batch::new(&self.session, sql)? })
    }

    /// Attaches the database in a directory, for reading, as `ATTACH 'path' AS alias` does: queries of this connection read its table `t` as
    /// `alias.t`.
    ///
    /// ```
    /// # fn main() -> Result<(), saltwing::Error> {
    /// # let folder = std::env::temp_dir().join(format!("saltwing-attach-{}", std::process::id()));
    /// # let path = folder.join("old.db");
    /// # std::fs::create_dir_all(&folder).expect("a folder");
    /// let old = saltwing::Database::open(&path)?;
    /// old.connect().blocking().execute("CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR)", ())?;
    /// old.connect().blocking().execute("UPSERT INTO t VALUES (1, 'one')", ())?;
    /// drop(old);
    /// let connection = saltwing::Database::memory()?.connect().blocking();
    /// connection.attach(&path, "old")?;
    /// assert_eq!(connection.query_one::<(String,)>("SELECT v FROM old.t WHERE k = 1", ())?.0, "one");
    /// # drop(connection);
    /// # let _ = std::fs::remove_dir_all(&folder);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Errors of opening the database for reading, such as `locked` while another process has it open for writing; `duplicate_schema` for an
    /// alias that is the name of a schema.
    pub fn attach(&self, path: impl AsRef<Path>, alias: &str) -> Result<(), Error> {
        self.execute(&attach_text(&self.session, path.as_ref(), alias)?, ()).map(drop)
    }

    /// Runs a COPY FROM STDIN that loads the rows of `reader`, up to its end.
    ///
    /// ```
    /// # fn main() -> Result<(), saltwing::Error> {
    /// let connection = saltwing::Database::memory()?.connect().blocking();
    /// connection.execute("CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR)", ())?;
    /// let loaded = connection.copy_from_reader("COPY t FROM STDIN", "1,one\n2,two\n".as_bytes())?;
    /// assert_eq!(loaded.rows_affected, 2);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// A statement can be cancelled only between reads, so a reader that may wait long for bytes should return now and then: a read that ends
    /// with [`WouldBlock`](std::io::ErrorKind::WouldBlock) or [`TimedOut`](std::io::ErrorKind::TimedOut), as reads of a socket with
    /// a timeout do, is tried again unless the statement was stopped.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements); [`ErrorCode::BadArgument`](crate::ErrorCode::BadArgument) for another statement.
    pub fn copy_from_reader(&self, sql: &str, mut reader: impl Read) -> Result<ExecResult, Error> {
        self.session.copy_from_reader(sql, &mut reader)
    }

    /// Runs a COPY TO STDOUT that writes to `writer`.
    ///
    /// ```
    /// # fn main() -> Result<(), saltwing::Error> {
    /// let connection = saltwing::Database::memory()?.connect().blocking();
    /// let mut text = Vec::new();
    /// connection.execute("CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR)", ())?;
    /// connection.execute("UPSERT INTO t VALUES (1, 'one')", ())?;
    /// connection.copy_to_writer("COPY t TO STDOUT WITH (HEADER)", (), &mut text)?;
    /// assert_eq!(text, b"k,v\n1,one\n");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements); [`ErrorCode::BadArgument`](crate::ErrorCode::BadArgument) for another statement.
    pub fn copy_to_writer(
        &self,
        sql: &str,
        params: impl IntoParams,
        mut writer: impl Write,
    ) -> Result<ExecResult, Error> {
        self.session.copy_to_writer(sql, params.into_params(), &mut writer)
    }

    /// The reads of the running or last statement of this connection so far, callable from any thread. The scans of a
    /// relational query are counted only by its [`Rows`].
    pub fn stats(&self) -> Stats {
        self.session.last_reads()
    }

    /// As [`crate::Connection::cancel`].
    pub fn cancel(&self) {
        self.interrupt_handle().interrupt();
    }

    /// As [`crate::Connection::interrupt_handle`].
    pub fn interrupt_handle(&self) -> InterruptHandle {
        self.session.interrupt_handle()
    }

    /// How often the keys of a table or an index were read and written lately, as a picture: spans of keys down, slots of time across.
    /// `relation` is a name as in a statement: `t`, `schema.t`, the name of an index, `t.i` or `schema.t.i`.
    ///
    /// The counts are estimates from samples, kept in memory since the opening of the database: times are known to a second for the last
    /// minute, and to ten minutes for the last day.
    ///
    /// # Errors
    /// [`ErrorCode::NoSuchTable`](crate::ErrorCode::NoSuchTable); [`ErrorCode::InsufficientPrivilege`](crate::ErrorCode::InsufficientPrivilege)
    /// without SELECT on the table; [`ErrorCode::BadArgument`](crate::ErrorCode::BadArgument) for a shape without rows, columns or seconds, or beyond its limits;
    /// [`ErrorCode::NotSupported`](crate::ErrorCode::NotSupported) over a store that does not count.
    pub fn key_heat(&self, relation: &str, shape: HeatShape) -> Result<KeyHeat, Error> {
        key_heat(&self.session, relation, shape)
    }

    /// What the guard refused lately in this database, the most frequent first, with what would allow each; for a user, only statements over
    /// tables on which the user has SELECT. At most 200 shapes of statements are kept, without their literals and parameters.
    ///
    /// The fixes are computed by this call, which reads up to a thousand rows for each index.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn guard_refusals(&self) -> Result<Vec<GuardRefusal>, Error> {
        guard_refusals(&self.session)
    }

    /// As [`crate::Connection::settings`].
    pub fn settings(&self) -> Settings {
        self.session.settings()
    }

    /// As [`crate::Connection::with_settings`].
    #[must_use]
    pub fn with_settings(&self, change: impl FnOnce(&mut Settings)) -> Self {
        Self { session: self.session.with_settings(change) }
    }

    /// As [`crate::Connection::on_copy_progress`].
    pub fn on_copy_progress(&self, report: impl Fn(CopyProgress) + Send + Sync + 'static) {
        self.session.progress.on_copy(report);
    }

    /// As [`crate::Connection::on_index_progress`].
    pub fn on_index_progress(&self, report: impl Fn(IndexProgress) + Send + Sync + 'static) {
        self.session.progress.on_index(report);
    }
}

/// The results of the statements of a text, in order: see [`Connection::run_batch`].
pub struct Responses {
    session: Session,
    batch: Batch,
}

impl Iterator for Responses {
    type Item = Result<Response, Error>;

    /// Runs the next statement.
    fn next(&mut self) -> Option<Self::Item> {
        Some(self.batch.next(&self.session).transpose()?.and_then(Response::try_from))
    }
}

/// An iterator over the rows of a result.
pub struct Rows(crate::Rows);

impl Rows {
    pub(crate) fn new(outcome: RowsOutcome) -> Self {
        Self(crate::Rows::new(outcome))
    }

    /// As [`crate::Rows::only`].
    pub(crate) fn only<R: FromRow>(self) -> Result<Option<R>, Error> {
        self.0.only()
    }

    /// As [`ArrowRows::pooled`].
    pub(crate) fn pooled(self, shared: &Arc<Shared>) -> Result<crate::Rows, Error> {
        self.0.pooled(shared)
    }

    /// The columns.
    pub fn columns(&self) -> &[crate::ResultColumn] {
        self.0.columns()
    }

    /// Notices for the user.
    pub fn notices(&self) -> &[String] {
        self.0.notices()
    }

    /// The reads so far.
    pub fn stats(&self) -> Stats {
        self.0.stats()
    }

    /// As [`ArrowRows::next_page`].
    pub fn next_page(&self) -> Option<String> {
        self.0.next_page()
    }

    /// Rows that the statement has written or deleted; a RETURNING returns some of them. 0 for a query.
    pub fn rows_affected(&self) -> u64 {
        self.0.rows_affected()
    }
}

/// An iterator over the rows of a result, each as an `R`.
pub struct TypedRows<R>(crate::TypedRows<R>);

impl<R: FromRow> TypedRows<R> {
    pub(crate) fn new(rows: Rows) -> Self {
        Self(crate::TypedRows::new(rows.0))
    }
}

impl<R: FromRow> Iterator for TypedRows<R> {
    type Item = Result<R, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next_blocking().transpose()
    }
}

impl Iterator for Rows {
    type Item = Result<Row, Error>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.0.next_blocking().transpose()
    }
}
