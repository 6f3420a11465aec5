//! The asynchronous connection.
//!
//! Statements run on the library's own threads, so a call never holds up the
//! caller's executor, whichever it is. Dropping a future, or a result, cancels.

use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;

use saltwing_types::SqlType;

use crate::attached::attach_text;
use crate::batch::{Batch, execute_batch};
use crate::blocking;
use crate::execution::Prepared;
use crate::outcome::{BatchSource, ExecResult, Outcome, RowsOutcome};
use crate::params::{IntoParams, Params};
use crate::pooled_rows::PooledRows;
use crate::progress::{CopyProgress, IndexProgress};
use crate::response::Response;
use crate::rows::no_row;
use crate::session::{InterruptHandle, Session};
use crate::statement::Description;
use crate::transaction_closure::check_outside;
use crate::{ArrowRows, Error, FromRow, Page, Rows, Settings, TypedRows};

/// A connection. Cheap to clone.
///
/// **Clones are the same connection**: they share its settings, its temporary tables, the values that it took last from sequences,
/// and the transaction that `BEGIN` opens, so that a statement of one clone joins the BEGIN of another. Its
/// [interrupt handle](Connection::interrupt_handle) stops all of them. For work that is independent use [`Database::connect`](crate::Database::connect),
/// which is cheap, too. [`Connection::begin`] and [`Connection::transaction`] open a transaction on a connection of its own; any number of them, from
/// any number of clones, may be open at once.
///
/// A connection may be used from several threads; only the statements of one `BEGIN` run one after the other.
#[derive(Clone)]
pub struct Connection {
    pub(crate) session: Session,
}

impl Connection {
    /// The same connection with calls that block.
    pub fn blocking(&self) -> blocking::Connection {
        blocking::Connection { session: self.session.clone() }
    }

    /// Runs one statement, and its rows to the end if it has any.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements).
    pub async fn execute(&self, sql: &str, params: impl IntoParams) -> Result<ExecResult, Error> {
        let (sql, params) = (sql.to_owned(), params.into_params());
        self.run_blocking(move |session| session.execute(&sql, params)).await
    }

    /// Runs all statements of a text, up to the first that fails.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements).
    pub async fn execute_batch(&self, sql: &str) -> Result<Vec<ExecResult>, Error> {
        let sql = sql.to_owned();
        self.run_blocking(move |session| execute_batch(session, &sql)).await
    }

    /// Runs a statement that gives rows.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements).
    pub async fn query(&self, sql: &str, params: impl IntoParams) -> Result<Rows, Error> {
        let (sql, params) = (sql.to_owned(), params.into_params());
        Ok(Rows::new(self.stream_blocking(move |session| session.query(&sql, params)).await?))
    }

    /// Runs it for its only row, as a tuple or a [`Row`](crate::Row): `query_one::<(i64, String)>(sql, params)`.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements); `no_row` and `several_rows`; as [`Row::get`](crate::Row::get).
    pub async fn query_one<R: FromRow>(&self, sql: &str, params: impl IntoParams) -> Result<R, Error> {
        self.query_opt(sql, params).await?.ok_or_else(no_row)
    }

    /// As `query_one`, where there may be no row.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements); `several_rows`; as [`Row::get`](crate::Row::get).
    pub async fn query_opt<R: FromRow>(&self, sql: &str, params: impl IntoParams) -> Result<Option<R>, Error> {
        self.query(sql, params).await?.only().await
    }

    /// Runs a statement that gives rows, each as an `R`: a tuple, or a struct that derives `FromRow`.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements).
    pub async fn query_as<R: FromRow>(&self, sql: &str, params: impl IntoParams) -> Result<TypedRows<R>, Error> {
        self.query(sql, params).await.map(TypedRows::new)
    }

    /// Runs a query for one page of its rows: those behind the page whose token this is, or the first ones. LIMIT is the size
    /// of the page.
    ///
    /// The query is one that `SELECT .. LIMIT n AFTER token` takes: rows of one table, in the order of its key. A page reads its own
    /// rows only, wherever it begins. There is no snapshot behind a token: a page has the rows as they are when it is
    /// read.
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
    /// [`ErrorCode::BadArgument`](crate::ErrorCode::BadArgument) for a text that is no token, and for the token of another query, of
    /// other values of its parameters, or of another definition of its table.
    pub async fn query_page<R: FromRow>(
        &self,
        sql: &str,
        params: impl IntoParams,
        token: Option<&str>,
    ) -> Result<Page<R>, Error> {
        let (sql, params, token) = (sql.to_owned(), params.into_params(), token.map(str::to_owned));
        let page = self.stream_blocking(move |session| session.query_page(&sql, params, token.as_deref())).await?;
        let (mut rows, mut page) = (Rows::new(page), Vec::new());
        while let Some(row) = rows.next().await? {
            page.push(R::from_row(&row)?);
        }
        Ok(Page::of(page, &rows))
    }

    /// Runs a statement that gives rows, as Arrow batches.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements).
    pub async fn query_arrow(&self, sql: &str, params: impl IntoParams) -> Result<ArrowRows, Error> {
        let (sql, params) = (sql.to_owned(), params.into_params());
        Ok(ArrowRows::new(self.stream_blocking(move |session| session.query(&sql, params)).await?))
    }

    /// Runs any statement: rows if it gives some.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements).
    pub async fn run(&self, sql: &str, params: impl IntoParams) -> Result<Response, Error> {
        let (sql, params) = (sql.to_owned(), params.into_params());
        self.respond(move |session| session.run(&sql, params)).await
    }

    /// Runs the statements of a text, each when its result is wanted: see [`blocking::Connection::run_batch`].
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
    /// As there.
    pub async fn run_batch(&self, sql: &str) -> Result<Responses, Error> {
        let sql = sql.to_owned();
        let batch = self.run_blocking(move |session| Batch::new(session, &sql)).await?;
        Ok(Responses { connection: self.clone(), batch: Some(batch) })
    }

    /// As [`blocking::Connection::attach`].
    ///
    /// # Errors
    /// As there.
    pub async fn attach(&self, path: impl AsRef<Path>, alias: &str) -> Result<(), Error> {
        let sql = attach_text(&self.session, path.as_ref(), alias)?;
        self.execute(&sql, ()).await.map(drop)
    }

    /// Runs a COPY FROM STDIN that loads the rows of `reader`, up to its end, on a thread of the library:
    /// see [`blocking::Connection::copy_from_reader`].
    ///
    /// # Errors
    /// As there.
    pub async fn copy_from_reader(
        &self,
        sql: &str,
        mut reader: impl Read + Send + 'static,
    ) -> Result<ExecResult, Error> {
        let sql = sql.to_owned();
        self.run_blocking(move |session| session.copy_from_reader(&sql, &mut reader)).await
    }

    /// Runs a COPY TO STDOUT that writes to `writer`, on a thread of the library: see
    /// [`blocking::Connection::copy_to_writer`].
    ///
    /// # Errors
    /// As there.
    pub async fn copy_to_writer(
        &self,
        sql: &str,
        params: impl IntoParams,
        mut writer: impl Write + Send + 'static,
    ) -> Result<ExecResult, Error> {
        let (sql, params) = (sql.to_owned(), params.into_params());
        self.run_blocking(move |session| session.copy_to_writer(&sql, params, &mut writer)).await
    }

    /// Checks a statement once, to run it often.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements), including a refusal by the guard.
    pub async fn prepare(&self, sql: &str) -> Result<Statement, Error> {
        let sql = sql.to_owned();
        let prepared = self.work_blocking(move |session| session.prepare(&sql, &[])).await?;
        Ok(Statement { connection: self.clone(), prepared: Arc::new(prepared) })
    }

    /// Checks a statement once, whose parameters have these types: see [`blocking::Connection::prepare_typed`].
    ///
    /// # Errors
    /// As there.
    pub async fn prepare_typed(&self, sql: &str, types: &[Option<SqlType>]) -> Result<Statement, Error> {
        let (sql, types) = (sql.to_owned(), types.to_vec());
        let prepared = self.work_blocking(move |session| session.prepare(&sql, &types)).await?;
        Ok(Statement { connection: self.clone(), prepared: Arc::new(prepared) })
    }

    /// Makes the statements that run on this connection stop, as [`InterruptHandle::interrupt`] does.
    pub fn cancel(&self) {
        self.interrupt_handle().interrupt();
    }

    /// What stops the statements of this connection and its clones from another thread: for Ctrl-C, or a request whose client is gone.
    ///
    /// ```
    /// # fn main() -> Result<(), saltwing::Error> {
    /// let connection = saltwing::Database::memory()?.connect().blocking();
    /// connection.execute("CREATE TABLE t (k BIGINT PRIMARY KEY)", ())?;
    /// let handle = connection.interrupt_handle();
    /// std::thread::spawn(move || handle.interrupt());
    /// // Stopped with `cancelled` if it runs at that moment, and else not at all.
    /// let read = connection.execute("SELECT k FROM t WHERE k > 0", ());
    /// assert!(read.is_ok() || read.is_err_and(|error| error.code() == saltwing::ErrorCode::Cancelled));
    /// # Ok(())
    /// # }
    /// ```
    pub fn interrupt_handle(&self) -> InterruptHandle {
        self.session.interrupt_handle()
    }

    /// This connection with other settings: a timeout or a budget for some of its statements. From then on, each has settings of its own;
    /// they have the open transaction in common, and one's interrupt stops the statements of both.
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
        Self { session: self.session.with_settings(change) }
    }

    /// Calls `report` as a COPY FROM on this connection goes on.
    pub fn on_copy_progress(&self, report: impl Fn(CopyProgress) + Send + Sync + 'static) {
        self.session.progress.on_copy(report);
    }

    /// Calls `report` as a CREATE INDEX or an ALTER INDEX REBUILD on this connection goes on, after each commit of entries. One in
    /// the background, by ASYNC, reports nothing.
    pub fn on_index_progress(&self, report: impl Fn(IndexProgress) + Send + Sync + 'static) {
        self.session.progress.on_index(report);
    }

    /// The settings as they are.
    pub fn settings(&self) -> Settings {
        self.session.settings()
    }

    /// Runs statements on a thread of the library; cancels them when the future is dropped.
    pub(crate) async fn run_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Session) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        // The caller's thread knows it, and the library's does not.
        check_outside(&self.session.transaction)?;
        self.work_blocking(work).await
    }

    async fn work_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Session) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let session = self.session.fork();
        let cancel = CancelOnDrop(Some(session.clone()));
        let (sender, receiver) = async_channel::bounded(1);
        session.shared().pools.spawn_blocking({
            let session = session.clone();
            move || {
                // A receiver that is gone has cancelled.
                let _ = sender.send_blocking(work(&session));
            }
        })?;
        let result = receiver.recv().await;
        cancel.disarm();
        result.unwrap_or_else(|_| {
            Err(crate::error::Error::new(saltwing_types::ErrorCode::Cancelled, "the database is closing"))
        })
    }

    /// As `run_blocking`, with the batches read on the library's threads, too.
    async fn stream_blocking(
        &self,
        work: impl FnOnce(&Session) -> Result<RowsOutcome, Error> + Send + 'static,
    ) -> Result<RowsOutcome, Error> {
        self.pooled(self.run_blocking(work).await?)
    }

    /// A statement of any kind, on a thread of the library.
    async fn respond(
        &self,
        work: impl FnOnce(&Session) -> Result<Outcome, Error> + Send + 'static,
    ) -> Result<Response, Error> {
        self.response(self.run_blocking(work).await?)
    }

    /// The result of a statement, whose batches the library's threads read if it gives rows.
    fn response(&self, outcome: Outcome) -> Result<Response, Error> {
        Ok(Response::from(match outcome {
            Outcome::Rows(rows) => Outcome::Rows(self.pooled(rows)?),
            done => done,
        }))
    }

    /// The next statement of a batch, and the batch after it.
    async fn run_next(&self, mut batch: Batch) -> Result<(Option<Batch>, Option<Response>), Error> {
        let run = move |session: &Session| Ok((batch.next(session)?, batch));
        let (outcome, batch) = self.run_blocking(run).await?;
        let response = outcome.map(|outcome| self.response(outcome)).transpose()?;
        Ok((response.is_some().then_some(batch), response))
    }

    /// The same rows, whose batches the library's threads read.
    fn pooled(&self, outcome: RowsOutcome) -> Result<RowsOutcome, Error> {
        if !outcome.source.reads() {
            return Ok(outcome);
        }
        let context = outcome.running.as_ref().map(|running| running.context.clone());
        let (mut source, columns) = (outcome.source, outcome.columns.clone());
        let next = Box::new(move || source.next_blocking(&columns));
        let rows = PooledRows::start(self.session.shared(), next, context)?;
        Ok(RowsOutcome { source: BatchSource::Pooled(Box::new(rows)), ..outcome })
    }
}

/// Cancels a session's statement, unless it has ended.
struct CancelOnDrop(Option<Session>);

impl CancelOnDrop {
    fn disarm(mut self) {
        self.0 = None;
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let Some(session) = &self.0 {
            session.abandon();
        }
    }
}

/// A prepared statement.
#[derive(Clone)]
pub struct Statement {
    connection: Connection,
    prepared: Arc<Prepared>,
}

impl Statement {
    /// Runs it.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements).
    pub async fn execute(&self, params: impl IntoParams) -> Result<ExecResult, Error> {
        let (prepared, params) = (self.prepared.clone(), params.into_params());
        self.connection.run_blocking(move |session| prepared.on(session).execute(params)).await
    }

    /// Runs it for its rows.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements).
    pub async fn query(&self, params: impl IntoParams) -> Result<Rows, Error> {
        Ok(Rows::new(self.outcome(params.into_params()).await?))
    }

    /// Runs it for its only row, as a tuple or a [`Row`](crate::Row): `query_one::<(i64, String)>(())`.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements); `no_row` and `several_rows`; as [`Row::get`](crate::Row::get).
    pub async fn query_one<R: FromRow>(&self, params: impl IntoParams) -> Result<R, Error> {
        self.query_opt(params).await?.ok_or_else(no_row)
    }

    /// As `query_one`, where there may be no row.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements); `several_rows`; as [`Row::get`](crate::Row::get).
    pub async fn query_opt<R: FromRow>(&self, params: impl IntoParams) -> Result<Option<R>, Error> {
        self.query(params).await?.only().await
    }

    /// Runs it for its rows, each as an `R`: a tuple, or a struct that derives `FromRow`.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements).
    pub async fn query_as<R: FromRow>(&self, params: impl IntoParams) -> Result<TypedRows<R>, Error> {
        self.query(params).await.map(TypedRows::new)
    }

    /// Runs it, whatever it is: rows if it gives some.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements).
    pub async fn run(&self, params: impl IntoParams) -> Result<Response, Error> {
        let (prepared, params) = (self.prepared.clone(), params.into_params());
        self.connection.respond(move |session| prepared.on(session).run(params)).await
    }

    /// Runs it for its rows, as Arrow batches.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements).
    pub async fn query_arrow(&self, params: impl IntoParams) -> Result<ArrowRows, Error> {
        Ok(ArrowRows::new(self.outcome(params.into_params()).await?))
    }

    async fn outcome(&self, params: Params) -> Result<RowsOutcome, Error> {
        let prepared = self.prepared.clone();
        self.connection.stream_blocking(move |session| prepared.on(session).query(params)).await
    }

    /// The same statement on another connection, such as a [`Transaction`](crate::Transaction). A statement runs on the connection that prepared it, and in
    /// the transaction that this has open by `BEGIN`; it is no part of a transaction that is a connection of its own.
    ///
    /// Cheap. The statement keeps its text and its plans; names, settings and temporary tables are those of the other connection.
    ///
    /// ```
    /// # fn main() -> Result<(), saltwing::Error> {
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    /// # runtime.block_on(async {
    /// let connection = saltwing::Database::memory()?.connect();
    /// connection.execute("CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR)", ()).await?;
    /// let insert = connection.prepare("INSERT INTO t VALUES (?, ?)").await?;
    /// let transaction = connection.begin().await?;
    /// insert.on(&transaction).execute((1, "one")).await?;
    /// transaction.rollback().await?;
    /// let (count,): (i64,) = connection.query_one("SELECT count(*) FROM t WHERE k > 0", ()).await?;
    /// assert_eq!(count, 0);
    /// # Ok(())
    /// # })
    /// # }
    /// ```
    #[must_use]
    pub fn on(&self, connection: &Connection) -> Self {
        Self { connection: connection.clone(), prepared: self.prepared.clone() }
    }

    /// How many parameters it has.
    pub fn parameter_count(&self) -> usize {
        self.prepared.parameter_count()
    }

    /// Its parameters and columns at the time of its preparation.
    pub fn description(&self) -> &Description {
        self.prepared.description()
    }
}

/// The results of the statements of a text: see [`Connection::run_batch`](crate::Connection::run_batch).
pub struct Responses {
    connection: Connection,
    /// `None` while a statement runs, and after a future that ran one was dropped.
    batch: Option<Batch>,
}

impl Responses {
    /// Runs the next statement; `None` after the last one, and after one that failed. If the future is dropped, its statement is cancelled,
    /// and the rest of the text does not run.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements).
    pub async fn next(&mut self) -> Result<Option<Response>, Error> {
        let Some(batch) = self.batch.take() else { return Ok(None) };
        let (batch, response) = self.connection.run_next(batch).await?;
        self.batch = batch;
        Ok(response)
    }
}
