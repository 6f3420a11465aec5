//! Prepared statements.

use std::sync::Arc;

use saltwing_types::SqlType;

use crate::calls::{call, call_anywhere};
use crate::description::Description;
use crate::execution::Prepared;
use crate::outcome::{ExecResult, RowsOutcome};
use crate::params::{IntoParams, Params};
use crate::parsed_statement::ParsedStatement;
use crate::query_run::Purpose;
use crate::response::Response;
use crate::rows::no_row;
use crate::session::Session;
use crate::statement_cache::CachedStatement;
use crate::{ArrowRows, Connection, Error, FromRow, Row, Rows, TypedRows, blocking};

impl Connection {
    /// Parses and checks a statement once, to run it often.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements), including a refusal by the guard.
    pub async fn prepare(&self, sql: &str) -> Result<Statement, Error> {
        self.prepare_typed(sql, &[]).await
    }

    /// As [`Connection::prepare`], with types for the parameters: see [`blocking::Connection::prepare_typed`].
    ///
    /// # Errors
    /// Those of the blocking method.
    pub async fn prepare_typed(&self, sql: &str, types: &[Option<SqlType>]) -> Result<Statement, Error> {
        let (sql, types) = (sql.to_owned(), types.to_vec());
        let statement = call_anywhere(self.session(), move |connection| connection.prepare_typed(&sql, &types)).await?;
        Ok(Statement { blocking: Arc::new(statement.on(&self.blocking)) })
    }

    /// Parses a statement, in the dialect of the connection. No table is looked up.
    ///
    /// # Errors
    /// A text that is not one statement.
    pub fn parse(&self, sql: &str) -> Result<ParsedStatement, Error> {
        ParsedStatement::of(self.session(), sql)
    }

    /// As [`Connection::run`], of a statement that was parsed.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements).
    pub async fn run_parsed(&self, statement: &ParsedStatement, params: impl IntoParams) -> Result<Response, Error> {
        let (session, params) = (self.session(), params.into_params());
        match statement.template_at_once(session, &params) {
            Some(rows) => Ok(Response::Rows(ArrowRows::new(rows))),
            None => run_statement(session, statement.statement(session)?, params).await,
        }
    }

    /// As [`Connection::prepare_typed`], of a statement that was parsed, and without a judgement of the guard: it judges each run. So a server
    /// describes statements that their client may never run.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements), but for refusals by the guard.
    pub async fn prepare_unjudged(
        &self,
        statement: &ParsedStatement,
        types: &[Option<SqlType>],
    ) -> Result<Statement, Error> {
        let session = self.session();
        let statement = statement.statement(session)?;
        let prepared = match session.has_description(&statement, types) {
            true => session.prepare_parsed(&statement, types, Purpose::Explain)?,
            false => {
                let types = types.to_vec();
                let prepare = move |connection: &blocking::Connection| {
                    connection.session.prepare_parsed(&statement, &types, Purpose::Explain)
                };
                call_anywhere(session, prepare).await?
            }
        };
        Ok(Statement::of(&prepared, self))
    }
}

/// A prepared statement.
#[derive(Clone)]
pub struct Statement {
    blocking: Arc<blocking::Statement>,
}

impl Statement {
    /// A statement that was prepared, on this connection.
    pub(crate) fn of(prepared: &Prepared, connection: &Connection) -> Self {
        Self { blocking: Arc::new(BlockingStatement { prepared: prepared.on(&connection.blocking.session) }) }
    }

    /// Runs the statement, and reads its rows, if it has any, to the end.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements).
    pub async fn execute(&self, params: impl IntoParams) -> Result<ExecResult, Error> {
        self.call(params, blocking::Statement::execute).await
    }

    /// Runs the statement, which must return rows.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements).
    pub async fn query(&self, params: impl IntoParams) -> Result<Rows, Error> {
        let params = params.into_params();
        match self.rows_at_once(&params)? {
            Some(rows) => Ok(Rows::new(rows)),
            None => self.call(params, blocking::Statement::query).await?.pooled(self.session().shared()),
        }
    }

    /// Runs the statement, which must return exactly one row, as a tuple or a [`Row`]: `query_one::<(i64, String)>(())`.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements); `no_row` and `several_rows`; as [`Row::get`](crate::Row::get).
    pub async fn query_one<R: FromRow>(&self, params: impl IntoParams) -> Result<R, Error> {
        self.query_opt(params).await?.ok_or_else(no_row)
    }

    /// As `query_one`, but the statement may return no row.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements); `several_rows`; as [`Row::get`](crate::Row::get).
    pub async fn query_opt<R: FromRow>(&self, params: impl IntoParams) -> Result<Option<R>, Error> {
        let params = params.into_params();
        match self.rows_at_once(&params)? {
            Some(rows) => Rows::new(rows).only(),
            None => {
                let row = self.call(params, blocking::Statement::query_opt::<Row>).await?;
                row.map(|row| row.to()).transpose()
            }
        }
    }

    /// Runs the statement for its rows, each as an `R`: a tuple, or a struct that derives `FromRow`.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements).
    pub async fn query_as<R: FromRow>(&self, params: impl IntoParams) -> Result<TypedRows<R>, Error> {
        self.query(params).await.map(TypedRows::new)
    }

    /// Runs a statement of any kind; the response has rows if the statement returns rows.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements).
    pub async fn run(&self, params: impl IntoParams) -> Result<Response, Error> {
        run_statement(self.session(), self.blocking.prepared.for_session(self.session()), params.into_params()).await
    }

    /// Runs the statement for its rows, as Arrow batches.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements).
    pub async fn query_arrow(&self, params: impl IntoParams) -> Result<ArrowRows, Error> {
        let params = params.into_params();
        match self.rows_at_once(&params)? {
            Some(rows) => Ok(ArrowRows::new(rows)),
            None => self.call(params, blocking::Statement::query_arrow).await?.pooled(self.session().shared()),
        }
    }

    /// As [`Statement::run`], on another connection: `statement.on(connection).run(params)`.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements).
    pub async fn run_on(&self, connection: &Connection, params: impl IntoParams) -> Result<Response, Error> {
        let session = connection.session();
        run_statement(session, self.blocking.prepared.for_session(session), params.into_params()).await
    }

    fn session(&self) -> &Session {
        self.blocking.prepared.session()
    }

    /// The rows of a query that reads little, read on this thread; `None` if a thread of the library must run the statement.
    fn rows_at_once(&self, params: &Params) -> Result<Option<RowsOutcome>, Error> {
        self.blocking.prepared.query_at_once(params)
    }

    /// Runs a blocking call that takes the parameters.
    async fn call<T: Send + 'static>(
        &self,
        params: impl IntoParams,
        run: impl FnOnce(&blocking::Statement, Params) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let (statement, params) = (self.blocking.clone(), params.into_params());
        call(self.session(), move |connection| run(&statement.on(connection), params)).await
    }

    /// The same statement on another connection, such as a [`Transaction`](crate::Transaction). Without this call, a statement runs on the connection
    /// that prepared it, and in the transaction that `BEGIN` has opened there, but not in a [`Transaction`](crate::Transaction), which is a
    /// connection of its own.
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
        Self { blocking: Arc::new(self.blocking.on(&connection.blocking)) }
    }

    /// The number of parameters.
    pub fn parameter_count(&self) -> usize {
        self.blocking.parameter_count()
    }

    /// The parameters and columns of the statement at the time of its preparation.
    pub fn description(&self) -> &Description {
        self.blocking.description()
    }
}

/// Runs a statement: on the caller's thread if it is a query that reads little, and otherwise on a thread of the library.
async fn run_statement(session: &Session, statement: Arc<CachedStatement>, params: Params) -> Result<Response, Error> {
    if let Some(rows) = session.query_at_once(&statement, &params)? {
        return Ok(Response::Rows(ArrowRows::new(rows)));
    }
    let run = move |connection: &blocking::Connection| {
        connection.session.run_parsed(&statement, params).and_then(Response::try_from)
    };
    call(session, run).await?.pooled(session.shared())
}

impl blocking::Connection {
    /// Parses and checks a statement once, to run it often.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements), including a refusal by the guard.
    pub fn prepare(&self, sql: &str) -> Result<BlockingStatement, Error> {
        self.prepare_typed(sql, &[])
    }

    /// Parses and checks a statement once. `types` are the types of its parameters, in order; for `None`, and for parameters after the end of the
    /// list, the statement determines the type. Values are cast to the types of their parameters, and the columns of the result have the same types
    /// in all runs.
    ///
    /// ```
    /// # fn main() -> Result<(), saltwing::Error> {
    /// use saltwing::SqlType;
    ///
    /// let connection = saltwing::Database::memory()?.connect().blocking();
    /// let statement = connection.prepare_typed("SELECT ? AS a, ? AS b", &[Some(SqlType::Integer), Some(SqlType::Date)])?;
    /// let columns = statement.description().columns.clone().expect("a query has columns");
    /// assert_eq!([columns[0].ty, columns[1].ty], [SqlType::Integer, SqlType::Date]);
    /// let mut rows = statement.query(("7", "2024-05-01"))?;
    /// assert_eq!(rows.columns()[0].ty, SqlType::Integer);
    /// assert_eq!(rows.next().expect("a row")?.get::<i64>("a")?, 7);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Connection::prepare`](blocking::Connection::prepare); more types than parameters.
    pub fn prepare_typed(&self, sql: &str, types: &[Option<SqlType>]) -> Result<BlockingStatement, Error> {
        Ok(BlockingStatement { prepared: self.session.prepare(sql, types)? })
    }
}

/// A prepared statement whose calls block.
pub struct BlockingStatement {
    prepared: Prepared,
}

impl BlockingStatement {
    /// Runs the statement, and reads its rows, if it has any, to the end.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements).
    pub fn execute(&self, params: impl IntoParams) -> Result<ExecResult, Error> {
        self.prepared.execute(params.into_params())
    }

    /// Runs the statement, which must return rows.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements).
    pub fn query(&self, params: impl IntoParams) -> Result<blocking::Rows, Error> {
        Ok(blocking::Rows::new(self.prepared.query(params.into_params())?))
    }

    /// Runs the statement, which must return exactly one row, as a tuple or a [`Row`]: `query_one::<(i64, String)>(())`.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements); `no_row` and `several_rows`; as [`Row::get`](crate::Row::get).
    pub fn query_one<R: FromRow>(&self, params: impl IntoParams) -> Result<R, Error> {
        self.query_opt(params)?.ok_or_else(no_row)
    }

    /// As `query_one`, but the statement may return no row.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements); `several_rows`; as [`Row::get`](crate::Row::get).
    pub fn query_opt<R: FromRow>(&self, params: impl IntoParams) -> Result<Option<R>, Error> {
        self.query(params)?.only()
    }

    /// Runs the statement for its rows, each as an `R`: a tuple, or a struct that derives `FromRow`.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements).
    pub fn query_as<R: FromRow>(&self, params: impl IntoParams) -> Result<blocking::TypedRows<R>, Error> {
        self.query(params).map(blocking::TypedRows::new)
    }

    /// Runs a statement of any kind; the response has rows if the statement returns rows.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements).
    pub fn run(&self, params: impl IntoParams) -> Result<Response, Error> {
        self.prepared.run(params.into_params()).and_then(Response::try_from)
    }

    /// Runs the statement for its rows, as Arrow batches: see [`ArrowRows::next_blocking`].
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements).
    pub fn query_arrow(&self, params: impl IntoParams) -> Result<ArrowRows, Error> {
        Ok(ArrowRows::new(self.prepared.query(params.into_params())?))
    }

    /// The same statement on another connection, such as a [`Transaction`](blocking::Transaction): see [`Statement::on`].
    ///
    /// ```
    /// # fn main() -> Result<(), saltwing::Error> {
    /// let connection = saltwing::Database::memory()?.connect().blocking();
    /// connection.execute("CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR)", ())?;
    /// let insert = connection.prepare("INSERT INTO t VALUES (?, ?)")?;
    /// let transaction = connection.begin()?;
    /// insert.on(&transaction).execute((1, "one"))?;
    /// transaction.rollback()?;
    /// assert_eq!(connection.query_one::<(i64,)>("SELECT count(*) FROM t WHERE k > 0", ())?, (0,));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn on(&self, connection: &blocking::Connection) -> Self {
        Self { prepared: self.prepared.on(&connection.session) }
    }

    /// The number of parameters.
    pub fn parameter_count(&self) -> usize {
        self.prepared.parameter_count()
    }

    /// The parameters and columns of the statement at the time of its preparation.
    pub fn description(&self) -> &Description {
        self.prepared.description()
    }
}
