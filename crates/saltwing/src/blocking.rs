//! The same without async.
//!
//! Every call works on the caller's thread, or waits for the library's own; inside
//! an async runtime it holds up the thread it is called on, and never panics.

use std::sync::atomic::Ordering::Relaxed;

use crate::copy::CopyProgress;
use crate::outcome::{ExecResult, Outcome};
use crate::params::IntoParams;
use crate::rows::{no_row, only_row};
use crate::session::{Prepared, Session};
use crate::{ArrowRows, Error, FromRow, Row, Stats};

/// A connection whose calls block.
#[derive(Clone)]
pub struct Connection {
    pub(crate) session: Session,
}

impl Connection {
    /// Runs one statement, and its rows to the end if it has any.
    ///
    /// # Errors
    /// What the statement failed with.
    pub fn execute(&self, sql: &str, params: impl IntoParams) -> Result<ExecResult, Error> {
        self.session.execute(sql, params.into_params())
    }

    /// Runs all statements of a text, up to the first that fails.
    ///
    /// # Errors
    /// What a statement failed with.
    pub fn execute_batch(&self, sql: &str) -> Result<Vec<ExecResult>, Error> {
        self.session.execute_batch(sql)
    }

    /// Runs a statement that gives rows.
    ///
    /// # Errors
    /// What the statement failed with.
    pub fn query(&self, sql: &str, params: impl IntoParams) -> Result<Rows, Error> {
        let outcome = self.session.query(sql, params.into_params())?;
        Ok(Rows(crate::Rows::new(outcome)))
    }

    /// Runs it for its only row, as a tuple or a [`Row`]: `query_one::<(i64, String)>(sql, params)`.
    ///
    /// # Errors
    /// What it failed with; `no_row` and `several_rows`; as [`Row::get`](crate::Row::get).
    pub fn query_one<R: FromRow>(&self, sql: &str, params: impl IntoParams) -> Result<R, Error> {
        self.query_opt(sql, params)?.ok_or_else(no_row)
    }

    /// As `query_one`, where there may be no row.
    ///
    /// # Errors
    /// What it failed with; `several_rows`; as [`Row::get`](crate::Row::get).
    pub fn query_opt<R: FromRow>(&self, sql: &str, params: impl IntoParams) -> Result<Option<R>, Error> {
        let mut rows = self.query(sql, params)?;
        only_row(|| rows.next().transpose())
    }

    /// Runs a statement that gives rows, as Arrow batches: see [`ArrowRows::next_blocking`].
    ///
    /// # Errors
    /// What the statement failed with.
    pub fn query_arrow(&self, sql: &str, params: impl IntoParams) -> Result<ArrowRows, Error> {
        Ok(ArrowRows::new(self.session.query(sql, params.into_params())?))
    }

    /// Runs any statement: rows if it gives some.
    ///
    /// # Errors
    /// What the statement failed with.
    pub fn run(&self, sql: &str, params: impl IntoParams) -> Result<Response, Error> {
        Ok(match self.session.run(sql, params.into_params())? {
            Outcome::Done(result) => Response::Done(result),
            Outcome::Rows(rows) => Response::Rows(ArrowRows::new(rows)),
        })
    }

    /// Checks a statement once, to run it often.
    ///
    /// # Errors
    /// What is wrong with it, a refusal by the guard included.
    pub fn prepare(&self, sql: &str) -> Result<Statement, Error> {
        Ok(Statement { prepared: self.session.prepare(sql)? })
    }

    /// What the statement that this connection runs, or has run last, has read so far, from any thread. A relational
    /// query's scans are counted with its [`Rows`] alone.
    pub fn stats(&self) -> Stats {
        let Some(context) = self.session.last_context() else { return Stats::default() };
        let counters = &context.counters;
        Stats {
            keys_read: counters.keys_read.load(Relaxed),
            seeks: counters.seeks.load(Relaxed),
            buckets: counters.buckets_touched(),
        }
    }

    /// Makes the statement that runs on this connection stop, from another thread.
    pub fn cancel(&self) {
        self.session.cancel_all();
    }

    /// Calls `report` as a COPY FROM on this connection goes on.
    pub fn on_copy_progress(&self, report: impl Fn(CopyProgress) + Send + Sync + 'static) {
        self.session.on_copy_progress(Box::new(report));
    }
}

/// What a statement of any kind gave.
pub enum Response {
    /// No rows.
    Done(ExecResult),
    /// Rows.
    Rows(ArrowRows),
}

/// A prepared statement whose calls block.
pub struct Statement {
    prepared: Prepared,
}

impl Statement {
    /// Runs it.
    ///
    /// # Errors
    /// What it failed with.
    pub fn execute(&self, params: impl IntoParams) -> Result<ExecResult, Error> {
        self.prepared.execute(params.into_params())
    }

    /// Runs it for its rows.
    ///
    /// # Errors
    /// What it failed with.
    pub fn query(&self, params: impl IntoParams) -> Result<Rows, Error> {
        Ok(Rows(crate::Rows::new(self.prepared.query(params.into_params())?)))
    }

    /// Runs it for its only row, as a tuple or a [`Row`]: `query_one::<(i64, String)>(())`.
    ///
    /// # Errors
    /// What it failed with; `no_row` and `several_rows`; as [`Row::get`](crate::Row::get).
    pub fn query_one<R: FromRow>(&self, params: impl IntoParams) -> Result<R, Error> {
        self.query_opt(params)?.ok_or_else(no_row)
    }

    /// As `query_one`, where there may be no row.
    ///
    /// # Errors
    /// What it failed with; `several_rows`; as [`Row::get`](crate::Row::get).
    pub fn query_opt<R: FromRow>(&self, params: impl IntoParams) -> Result<Option<R>, Error> {
        let mut rows = self.query(params)?;
        only_row(|| rows.next().transpose())
    }

    /// Runs it for its rows, as Arrow batches: see [`ArrowRows::next_blocking`].
    ///
    /// # Errors
    /// What it failed with.
    pub fn query_arrow(&self, params: impl IntoParams) -> Result<ArrowRows, Error> {
        Ok(ArrowRows::new(self.prepared.query(params.into_params())?))
    }

    /// How many parameters it has.
    pub fn parameter_count(&self) -> usize {
        self.prepared.parameter_count()
    }
}

/// The rows of a result: an iterator.
pub struct Rows(crate::Rows);

impl Rows {
    /// The columns.
    pub fn columns(&self) -> &[crate::ResultColumn] {
        self.0.columns()
    }

    /// What the user should know.
    pub fn notices(&self) -> &[String] {
        self.0.notices()
    }

    /// What was read so far.
    pub fn stats(&self) -> Stats {
        self.0.stats()
    }
}

impl Iterator for Rows {
    type Item = Result<Row, Error>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.0.next_blocking().transpose()
    }
}
