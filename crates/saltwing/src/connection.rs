//! The asynchronous connection.
//!
//! Statements run on the library's own threads, so a call never blocks the
//! caller's executor, but for queries of the embedded storage that read little
//! (`at_once.rs`). Dropping a future or a result cancels its statement.

use std::io::{Read, Write};
use std::path::Path;

use crate::batch::Batch;
use crate::blocking;
use crate::calls::call;
use crate::outcome::{ExecResult, RowsOutcome};
use crate::params::{IntoParams, Params};
use crate::parsed_statement::ParsedStatement;
use crate::progress::{CopyProgress, IndexProgress};
use crate::response::Response;
use crate::rows::no_row;
use crate::session::{InterruptHandle, Session};
use crate::transaction_closure::check_outside;
use crate::tries::is_short;
use crate::{ArrowRows, Error, FromRow, GuardRefusal, HeatShape, KeyHeat, Page, Row, Rows, Settings, TypedRows};

/// A connection. Cheap to clone.
///
/// **Clones are the same connection**: they share its settings, its temporary tables, the last values that it took from sequences,
/// and the transaction that `BEGIN` opens, so a statement of one clone joins the BEGIN of another. The
/// [interrupt handle](Connection::interrupt_handle) stops the statements of all clones. For independent work use
/// [`Database::connect`](crate::Database::connect), which is cheap, too. [`Connection::begin`] and [`Connection::transaction`] open a
/// transaction on a connection of its own; any number of such transactions, from any number of clones, may be open at once.
///
/// A connection may be used from several threads at once; only the statements of one `BEGIN` run one after the other.
#[derive(Clone)]
pub struct Connection {
    pub(crate) blocking: blocking::Connection,
}

impl Connection {
    /// The same connection with calls that block.
    pub fn blocking(&self) -> blocking::Connection {
        self.blocking.clone()
    }

    /// Runs one statement, and reads its rows, if it has any, to the end.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements).
    pub async fn execute(&self, sql: &str, params: impl IntoParams) -> Result<ExecResult, Error> {
        self.call(sql, params, blocking::Connection::execute).await
    }

    /// Runs all statements of a text, up to the first failure.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements).
    pub async fn execute_batch(&self, sql: &str) -> Result<Vec<ExecResult>, Error> {
        let sql = sql.to_owned();
        call(self.session(), move |connection| connection.execute_batch(&sql)).await
    }

    /// Runs a statement that returns rows.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements).
    pub async fn query(&self, sql: &str, params: impl IntoParams) -> Result<Rows, Error> {
        let params = params.into_params();
        match self.rows_at_once(sql, &params)? {
            Some(rows) => Ok(Rows::new(rows)),
            None => self.call(sql, params, blocking::Connection::query).await?.pooled(self.session().shared()),
        }
    }

    /// Runs a statement that returns exactly one row, as a tuple or a [`Row`](crate::Row): `query_one::<(i64, String)>(sql, params)`.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements); `no_row` and `several_rows`; as [`Row::get`](crate::Row::get).
    pub async fn query_one<R: FromRow>(&self, sql: &str, params: impl IntoParams) -> Result<R, Error> {
        self.query_opt(sql, params).await?.ok_or_else(no_row)
    }

    /// As `query_one`, but the statement may return no row.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements); `several_rows`; as [`Row::get`](crate::Row::get).
    pub async fn query_opt<R: FromRow>(&self, sql: &str, params: impl IntoParams) -> Result<Option<R>, Error> {
        let params = params.into_params();
        match self.rows_at_once(sql, &params)? {
            Some(rows) => Rows::new(rows).only(),
            None => {
                let row = self.call(sql, params, blocking::Connection::query_opt::<Row>).await?;
                row.map(|row| row.to()).transpose()
            }
        }
    }

    /// Runs a statement that returns rows, each as an `R`: a tuple, or a struct that derives `FromRow`.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements).
    pub async fn query_as<R: FromRow>(&self, sql: &str, params: impl IntoParams) -> Result<TypedRows<R>, Error> {
        self.query(sql, params).await.map(TypedRows::new)
    }

    /// Runs a query for one page of its rows: the rows after the page that returned the token, or the first rows. LIMIT is the size
    /// of the page.
    ///
    /// The query must be one that `SELECT .. LIMIT n AFTER token` supports: rows of one table, in the order of its key. A page reads only
    /// its own rows, wherever it begins. A token holds no snapshot: each page has the rows at the time when it is read.
    ///
    /// ```
    /// # fn main() -> Result<(), saltwing::Error> {
    /// let connection = saltwing::Database::memory()?.connect().blocking();
    /// connection.execute("CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR)", ())?;
    /// connection.execute("UPSERT INTO t VALUES (1, 'one'), (2, 'two'), (3, 'three')", ())?;
    /// let sql = "SELECT k, v FROM t WHERE k > ? ORDER BY k LIMIT 2";
    /// let first = connection.query_page::<(i64, String)>(sql, (0,), None)?;
    /// assert_eq!(first.rows, [(1, "one".to_owned()), (2, "two".to_owned())]);
    /// let second = connection.query_page::<(i64, String)>(sql, (0,), first.next.as_deref())?;
    /// assert_eq!(second.rows, [(3, "three".to_owned())]);
    /// assert_eq!((second.next, second.stats.keys_read), (None, 1));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements); [`ErrorCode::NotSupported`](crate::ErrorCode::NotSupported) for a query of another kind;
    /// [`ErrorCode::BadArgument`](crate::ErrorCode::BadArgument) for a text that is not a token, and for a token of another query, of
    /// other parameter values, or of another definition of the table.
    pub async fn query_page<R: FromRow>(
        &self,
        sql: &str,
        params: impl IntoParams,
        token: Option<&str>,
    ) -> Result<Page<R>, Error> {
        let (sql, params, token) = (sql.to_owned(), params.into_params(), token.map(str::to_owned));
        call(self.session(), move |connection| connection.query_page(&sql, params, token.as_deref())).await?.typed()
    }

    /// Runs a statement that returns rows, as Arrow batches.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements).
    pub async fn query_arrow(&self, sql: &str, params: impl IntoParams) -> Result<ArrowRows, Error> {
        let params = params.into_params();
        match self.rows_at_once(sql, &params)? {
            Some(rows) => Ok(ArrowRows::new(rows)),
            None => self.call(sql, params, blocking::Connection::query_arrow).await?.pooled(self.session().shared()),
        }
    }

    /// Runs any statement; the response has rows if the statement returns rows.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements).
    pub async fn run(&self, sql: &str, params: impl IntoParams) -> Result<Response, Error> {
        let params = params.into_params();
        match self.rows_at_once(sql, &params)? {
            Some(rows) => Ok(Response::Rows(ArrowRows::new(rows))),
            None => self.call(sql, params, blocking::Connection::run).await?.pooled(self.session().shared()),
        }
    }

    /// Runs the statements of a text, each when the caller takes its result: see [`blocking::Connection::run_batch`].
    ///
    /// ```
    /// # fn main() -> Result<(), saltwing::Error> {
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    /// # runtime.block_on(async {
    /// use saltwing::Response;
    ///
    /// let connection = saltwing::Database::memory()?.connect();
    /// let text = "CREATE TABLE t (k BIGINT PRIMARY KEY); UPSERT INTO t VALUES (1), (2); SELECT k FROM t WHERE k > 0";
    /// let (mut responses, mut written, mut read) = (connection.run_batch(text).await?, 0, 0);
    /// while let Some(response) = responses.next().await? {
    ///     match response {
    ///         Response::Done(result) => written += result.rows_affected,
    ///         Response::Rows(mut rows) => {
    ///             while let Some(batch) = rows.next().await? {
    ///                 read += batch.num_rows();
    ///             }
    ///         }
    ///     }
    /// }
    /// assert_eq!((written, read), (2, 2));
    /// # Ok(())
    /// # })
    /// # }
    /// ```
    ///
    /// # Errors
    /// Those of the blocking method.
    pub async fn run_batch(&self, sql: &str) -> Result<Responses, Error> {
        let sql = sql.to_owned();
        let batch = call(self.session(), move |connection| Batch::new(&connection.session, &sql)).await?;
        Ok(Responses { connection: self.clone(), batch: Some(batch) })
    }

    /// As [`blocking::Connection::attach`].
    ///
    /// # Errors
    /// Those of the blocking method.
    pub async fn attach(&self, path: impl AsRef<Path>, alias: &str) -> Result<(), Error> {
        let (path, alias) = (path.as_ref().to_owned(), alias.to_owned());
        call(self.session(), move |connection| connection.attach(path, &alias)).await
    }

    /// Runs a COPY FROM STDIN that loads the rows of `reader`, up to its end, on a thread of the library:
    /// see [`blocking::Connection::copy_from_reader`].
    ///
    /// # Errors
    /// Those of the blocking method.
    pub async fn copy_from_reader(&self, sql: &str, reader: impl Read + Send + 'static) -> Result<ExecResult, Error> {
        let sql = sql.to_owned();
        call(self.session(), move |connection| connection.copy_from_reader(&sql, reader)).await
    }

    /// Runs a COPY TO STDOUT that writes to `writer`, on a thread of the library: see
    /// [`blocking::Connection::copy_to_writer`].
    ///
    /// # Errors
    /// Those of the blocking method.
    pub async fn copy_to_writer(
        &self,
        sql: &str,
        params: impl IntoParams,
        writer: impl Write + Send + 'static,
    ) -> Result<ExecResult, Error> {
        self.call(sql, params, |connection, sql, params| connection.copy_to_writer(sql, params, writer)).await
    }

    /// Stops the statements that run on this connection, from any thread, as [`InterruptHandle::interrupt`] does.
    pub fn cancel(&self) {
        self.blocking.cancel();
    }

    /// A handle that stops the statements of this connection and its clones from another thread: for Ctrl-C, or a request whose client is gone.
    ///
    /// ```
    /// # fn main() -> Result<(), saltwing::Error> {
    /// let connection = saltwing::Database::memory()?.connect().blocking();
    /// connection.execute("CREATE TABLE t (k BIGINT PRIMARY KEY)", ())?;
    /// let handle = connection.interrupt_handle();
    /// std::thread::spawn(move || handle.interrupt());
    /// // Stopped with `cancelled` if it runs at that time, and otherwise not at all.
    /// let read = connection.execute("SELECT k FROM t WHERE k > 0", ());
    /// assert!(read.is_ok() || read.is_err_and(|error| error.code() == saltwing::ErrorCode::Cancelled));
    /// # Ok(())
    /// # }
    /// ```
    pub fn interrupt_handle(&self) -> InterruptHandle {
        self.blocking.interrupt_handle()
    }

    /// This connection with other settings: a timeout or a budget for some statements. From then on, each of the two has settings of its
    /// own. They share the open transaction, and an interrupt of one stops the statements of both.
    ///
    /// ```
    /// # fn main() -> Result<(), saltwing::Error> {
    /// use std::time::Duration;
    ///
    /// let connection = saltwing::Database::memory()?.connect().blocking();
    /// connection.execute("CREATE TABLE t (k BIGINT PRIMARY KEY)", ())?;
    /// let limited = connection.with_settings(|settings| {
    ///     settings.statement_timeout = Some(Duration::from_secs(5));
    ///     settings.rows_max = Some(10_000);
    /// });
    /// limited.execute("SELECT k FROM t WHERE k > 0", ())?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_settings(&self, change: impl FnOnce(&mut Settings)) -> Self {
        Self { blocking: self.blocking.with_settings(change) }
    }

    /// Calls `report` with the progress of each COPY FROM on this connection.
    pub fn on_copy_progress(&self, report: impl Fn(CopyProgress) + Send + Sync + 'static) {
        self.blocking.on_copy_progress(report);
    }

    /// Calls `report` with the progress of each CREATE INDEX and ALTER INDEX REBUILD on this connection, after each commit of entries. A
    /// background build (ASYNC) reports nothing.
    pub fn on_index_progress(&self, report: impl Fn(IndexProgress) + Send + Sync + 'static) {
        self.blocking.on_index_progress(report);
    }

    /// How often the keys of a table or an index were read and written lately: see [`blocking::Connection::key_heat`]. It waits for nothing.
    ///
    /// # Errors
    /// Those of the blocking method.
    pub fn key_heat(&self, relation: &str, shape: HeatShape) -> Result<KeyHeat, Error> {
        self.blocking.key_heat(relation, shape)
    }

    /// What the guard refused lately: see [`blocking::Connection::guard_refusals`], which blocks for some milliseconds.
    ///
    /// # Errors
    /// Those of the blocking method.
    pub fn guard_refusals(&self) -> Result<Vec<GuardRefusal>, Error> {
        self.blocking.guard_refusals()
    }

    /// A copy of the current settings.
    pub fn settings(&self) -> Settings {
        self.blocking.settings()
    }

    pub(crate) fn session(&self) -> &Session {
        &self.blocking.session
    }

    /// The rows of a query with a short text that reads little, read on this thread; `None` if a thread of the library must run the statement.
    fn rows_at_once(&self, sql: &str, params: &Params) -> Result<Option<RowsOutcome>, Error> {
        if !is_short(sql) {
            return Ok(None);
        }
        let session = self.session();
        check_outside(&session.transaction)?;
        let parsed = ParsedStatement::of(session, sql).inspect_err(|error| session.transaction.fail(error))?;
        parsed.rows_at_once(session, params)
    }

    /// Runs a blocking call that takes a statement's text and parameters.
    async fn call<T: Send + 'static>(
        &self,
        sql: &str,
        params: impl IntoParams,
        run: impl FnOnce(&blocking::Connection, &str, Params) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let (sql, params) = (sql.to_owned(), params.into_params());
        call(self.session(), move |connection| run(connection, &sql, params)).await
    }
}

/// The results of the statements of a text: see [`Connection::run_batch`](crate::Connection::run_batch).
pub struct Responses {
    connection: Connection,
    /// `None` while a statement runs, and after the future of a running statement was dropped.
    batch: Option<Batch>,
}

impl Responses {
    /// Runs the next statement; `None` after the last one, and after a failure. If the future is dropped, its statement is cancelled,
    /// and the rest of the text does not run.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements).
    pub async fn next(&mut self) -> Result<Option<Response>, Error> {
        let Some(mut batch) = self.batch.take() else { return Ok(None) };
        let session = self.connection.session();
        let run = move |connection: &blocking::Connection| Ok((batch.next(&connection.session)?, batch));
        let (Some(outcome), batch) = call(session, run).await? else { return Ok(None) };
        let response = Response::try_from(outcome)?.pooled(session.shared())?;
        self.batch = Some(batch);
        Ok(Some(response))
    }
}
