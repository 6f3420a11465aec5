//! Runs the statements of a session, each as a part of its transaction if one is open.

use std::io::{Read, Write};
use std::sync::Arc;

use saltwing_bind::{ParamValues, check_exact};
use saltwing_sql::statement::{After, AfterToken, Execute, QueryStatement};
use saltwing_sql::{Dialect, Statement};
use saltwing_types::{ErrorCode, SqlType, Value};

use crate::Error;
use crate::copy::{copy_from, copy_to};
use crate::description::Description;
use crate::outcome::{ExecResult, Outcome, RowsOutcome, not_run};
use crate::page::bad_token;
use crate::params::Params;
use crate::queries::{run_known_query, run_query};
use crate::query_run::{Purpose, executor};
use crate::rights::check_rights;
use crate::session::Session;
use crate::settings::ExecutorChoice;
use crate::statement::{HasKind, describe_statement, run_statement};
use crate::statement_cache::CachedStatement;
use crate::transaction::SessionTransaction;
use crate::transaction_statements::{begin_transaction, commit, roll_back};

impl Session {
    pub(crate) fn run(&self, sql: &str, params: Params) -> Result<Outcome, Error> {
        self.run_parsed(&self.cached(sql)?, params)
    }

    /// A statement of this session for another one.
    pub(crate) fn shared_with(&self, other: &Self, statement: &Arc<CachedStatement>) -> Arc<CachedStatement> {
        match self.shares_plans_with(other) {
            true => statement.clone(),
            // Plans are valid only for the definitions of one database, as one user sees them.
            false => Arc::new(statement.unplanned()),
        }
    }

    /// The statement of this text, to be run.
    pub(crate) fn cached(&self, sql: &str) -> Result<Arc<CachedStatement>, Error> {
        self.parsed(sql).inspect_err(|error| self.transaction.fail(error))
    }

    /// The statement of this text. An error does not fail the transaction.
    pub(crate) fn parsed(&self, sql: &str) -> Result<Arc<CachedStatement>, Error> {
        self.statements().get(sql, self.dialect(), is_kept)
    }

    /// Runs a statement, as a part of the transaction if one is open.
    pub(crate) fn run_here(
        &self,
        statement: &CachedStatement,
        run: impl FnOnce(&Self) -> Result<Outcome, Error>,
    ) -> Result<Outcome, Error> {
        let transaction = self.open_transaction().map_err(|error| error.in_sql(&statement.text))?;
        self.run_in(transaction, statement, run)
    }

    /// Runs a statement as a part of this transaction, or alone.
    pub(crate) fn run_in(
        &self,
        transaction: Option<Arc<SessionTransaction>>,
        statement: &CachedStatement,
        run: impl FnOnce(&Self) -> Result<Outcome, Error>,
    ) -> Result<Outcome, Error> {
        let run = |session: &Self| {
            check_rights(session, statement)?;
            run(session).inspect_err(|error| session.note_refusal(error, statement))
        };
        let _calls = self.enter_calls();
        traced(&statement.text, || match transaction {
            None => run(self),
            Some(transaction) => run_within(self, &transaction, &statement.parsed.statement, run),
        })
    }

    pub(crate) fn run_parsed(&self, statement: &Arc<CachedStatement>, params: Params) -> Result<Outcome, Error> {
        if let Statement::Execute(execute) = &statement.parsed.statement {
            let (called, values) = self.resolved(statement, execute)?;
            return self.run_parsed(&called, values);
        }
        self.run_as(statement, |session| session.run_cached(statement, params))
    }

    /// The statement that an EXECUTE calls, and the values of its parameters.
    ///
    /// # Errors
    /// As [`Session::called`]. They fail an open transaction.
    fn resolved(
        &self,
        statement: &CachedStatement,
        execute: &Execute,
    ) -> Result<(Arc<CachedStatement>, Params), Error> {
        let called = self.called(execute).map_err(|error| error.in_sql(&statement.text));
        called.inspect_err(|error| self.transaction.fail(error))
    }

    /// As [`Session::run_here`]; errors of later rows have their positions in the text, too.
    pub(crate) fn run_as(
        &self,
        statement: &CachedStatement,
        run: impl FnOnce(&Self) -> Result<Outcome, Error>,
    ) -> Result<Outcome, Error> {
        let mut outcome = self.run_here(statement, run)?;
        if let Outcome::Rows(RowsOutcome { running: Some(running), .. }) = &mut outcome {
            running.sql = Some(statement.text.clone());
        }
        Ok(outcome)
    }

    fn run_cached(&self, statement: &Arc<CachedStatement>, params: Params) -> Result<Outcome, Error> {
        let parsed = &statement.parsed;
        self.check_names(statement)?;
        let values = Self::parameter_values(statement, params)?;
        let given = ParamValues { values: &values, types: &statement.types };
        let outcome = match &parsed.statement {
            Statement::Query(query) => run_known_query(self, query, given, statement).map(Outcome::Rows),
            other => run_statement(self, other, given, &statement.plans),
        };
        outcome.map_err(|error| match error.code() {
            ErrorCode::FullScanRefused if !values.is_empty() => self.refused_for_values(error, statement),
            _ => error,
        })
    }

    /// The values of a statement's parameters.
    ///
    /// # Errors
    /// Too few, too many or unknown parameters; a value that does not fit its type.
    pub(crate) fn parameter_values(statement: &CachedStatement, params: Params) -> Result<Vec<Value>, Error> {
        let parsed = &statement.parsed;
        let values = match &parsed.statement {
            // Without values, EXPLAIN shows the part of the plan that does not depend on them.
            Statement::Explain(explain) if !explain.analyze && params.is_empty() => Vec::new(),
            _ => params.values(&parsed.parameters, statement.parameter_count)?,
        };
        let values = if statement.dialect == Dialect::Phoenix { without_empty_texts(values) } else { values };
        statement.typed(values)
    }

    /// Adds help to a refusal of the guard if the statement is allowed with other values: the caller could not know of the refusal before.
    fn refused_for_values(&self, error: Error, statement: &CachedStatement) -> Error {
        if self.described(statement, Purpose::Judge).is_err() {
            return error;
        }
        error.with_more_help(
            "the statement is allowed for other values of its parameters: with these a condition is true of every row, as >= '' and \
             LIKE '%' are. Check such values before, or run another statement for them",
        )
    }

    /// Checks names that the statement's dialect takes in their exact case.
    pub(crate) fn check_names(&self, statement: &CachedStatement) -> Result<(), Error> {
        match &statement.parsed.exact {
            Some(names) => Ok(check_exact(names, &*self.catalog()?)?),
            None => Ok(()),
        }
    }

    pub(crate) fn execute(&self, sql: &str, params: Params) -> Result<ExecResult, Error> {
        drain(self.run(sql, params)?)
    }

    pub(crate) fn query(&self, sql: &str, params: Params) -> Result<RowsOutcome, Error> {
        self.query_parsed(&self.cached(sql)?, params)
    }

    fn query_parsed(&self, statement: &Arc<CachedStatement>, params: Params) -> Result<RowsOutcome, Error> {
        if let Statement::Execute(execute) = &statement.parsed.statement {
            let (called, values) = self.resolved(statement, execute)?;
            return self.query_parsed(&called, values);
        }
        let gives_rows = statement.parsed.statement.ask(|kind| kind.gives_rows());
        let checked = if gives_rows { Ok(()) } else { Err(no_rows().in_sql(&statement.text)) };
        checked.inspect_err(|error| self.transaction.fail(error))?;
        rows_of(self.run_parsed(statement, params)?)
    }

    /// Prepares a statement; `types` are the types of its parameters, where the caller gives them.
    pub(crate) fn prepare(&self, sql: &str, types: &[Option<SqlType>]) -> Result<Prepared, Error> {
        self.prepare_parsed(&self.parsed(sql)?, types, Purpose::Judge)
    }

    /// Prepares a statement that was parsed. The guard judges it if that is the purpose.
    pub(crate) fn prepare_parsed(
        &self,
        statement: &Arc<CachedStatement>,
        types: &[Option<SqlType>],
        purpose: Purpose,
    ) -> Result<Prepared, Error> {
        if let Statement::Execute(execute) = &statement.parsed.statement {
            let (called, _) = self.called(execute).map_err(|error| error.in_sql(&statement.text))?;
            let Prepared { description, .. } = self.prepare_parsed(&called, &called.types, purpose)?;
            let description = Arc::new(Description { parameters: Vec::new(), ..(*description).clone() });
            return Ok(Prepared { session: self.clone(), statement: statement.clone(), description });
        }
        let statement = statement.typed_as(types).map_err(|error| error.in_sql(&statement.text))?;
        self.check_bound()?;
        let _calls = self.enter_calls();
        let session = self.transaction.current().map(|transaction| self.within(&transaction));
        let describing = session.as_ref().unwrap_or(self);
        let checked = check_rights(describing, &statement).and_then(|()| describing.check_names(&statement));
        let described = checked.and_then(|()| describing.described(&statement, purpose));
        let description = described.map_err(|error| {
            self.note_refusal(&error, &statement);
            error.in_sql(&statement.text)
        })?;
        Ok(Prepared { session: self.clone(), statement, description })
    }

    /// Whether [`Session::prepare_parsed`] finds the description of a statement that was prepared before, unjudged.
    pub(crate) fn has_description(&self, statement: &Arc<CachedStatement>, types: &[Option<SqlType>]) -> bool {
        let session = self.transaction.current().map(|transaction| self.within(&transaction));
        let version = session.as_ref().unwrap_or(self).catalog_version();
        let typed = statement.known_as(types);
        executor(self) == ExecutorChoice::Auto
            && typed.is_some_and(|typed| typed.plans.of(version).description.get().is_some())
    }

    /// The description of a statement. One that does not depend on the guard is kept.
    fn described(&self, statement: &CachedStatement, purpose: Purpose) -> Result<Arc<Description>, Error> {
        let describe = || {
            let parameters = (statement.parameter_count, &*statement.types);
            describe_statement(self, &statement.parsed.statement, parameters, purpose).map(Arc::new)
        };
        if purpose != Purpose::Explain || executor(self) != ExecutorChoice::Auto {
            return describe();
        }
        let version = self.catalog_version();
        let plans = statement.plans.of(version);
        if let Some(known) = plans.description.get() {
            return Ok(known.clone());
        }
        let description = describe()?;
        // The definitions may have changed meanwhile.
        if self.catalog_version() != version {
            return Ok(description);
        }
        Ok(plans.description.get_or_init(|| description).clone())
    }

    /// Runs a query for the page that follows the one of the token.
    pub(crate) fn query_page(&self, sql: &str, params: Params, token: Option<&str>) -> Result<RowsOutcome, Error> {
        let known = self.cached(sql)?;
        let parsed = &known.parsed;
        let outcome = self.run_as(&known, |session| {
            let query = match &parsed.statement {
                Statement::Query(query) if query.after.is_none() => query,
                Statement::Query(_) => {
                    return Err(bad_token("the statement has AFTER already, and a page has one token", None));
                }
                _ => return Err(Error::new(ErrorCode::Syntax, "the statement gives no pages, only a query does")),
            };
            let token = token.map_or(AfterToken::None, |token| AfterToken::Text(token.to_owned()));
            let after = Some(After { token, span: query.span });
            let values = params.values(&parsed.parameters, known.parameter_count)?;
            run_query(session, &QueryStatement { after, ..query.clone() }, ParamValues::untyped(&values))
                .map(Outcome::Rows)
        })?;
        rows_of(outcome)
    }

    /// Runs a COPY FROM STDIN.
    pub(crate) fn copy_from_reader(&self, sql: &str, reader: &mut dyn Read) -> Result<ExecResult, Error> {
        let statement = self.cached(sql)?;
        drain(self.run_here(&statement, |session| match &statement.parsed.statement {
            Statement::CopyFrom(copy) if copy.path().is_none() => {
                copy_from(session, copy, Some(reader)).map(Outcome::Done)
            }
            _ => Err(Error::new(ErrorCode::BadArgument, "a reader is for COPY .. FROM STDIN alone")),
        })?)
    }

    /// Runs a COPY TO STDOUT.
    pub(crate) fn copy_to_writer(
        &self,
        sql: &str,
        params: Params,
        writer: &mut dyn Write,
    ) -> Result<ExecResult, Error> {
        let statement = self.cached(sql)?;
        drain(self.run_here(&statement, |session| {
            let values = params.values(&statement.parsed.parameters, statement.parameter_count)?;
            match &statement.parsed.statement {
                Statement::CopyTo(copy) if copy.path().is_none() => {
                    copy_to(session, copy, ParamValues::untyped(&values), Some(writer)).map(Outcome::Done)
                }
                _ => Err(Error::new(ErrorCode::BadArgument, "a writer is for COPY .. TO STDOUT alone")),
            }
        })?)
    }
}

/// Whether a statement is cached with its plan.
fn is_kept(statement: &Statement) -> bool {
    statement.ask(|kind| kind.is_kept())
}

/// Runs a statement in the session's transaction.
fn run_within(
    session: &Session,
    transaction: &Arc<SessionTransaction>,
    statement: &Statement,
    run: impl FnOnce(&Session) -> Result<Outcome, Error>,
) -> Result<Outcome, Error> {
    let done = |result: Result<(), Error>| result.map(|()| Outcome::Done(ExecResult::default()));
    if matches!(statement, Statement::Rollback) {
        // ROLLBACK does not wait for a running statement, but ends it.
        roll_back(session, transaction);
        return done(Ok(()));
    }
    let _claim = transaction.claim()?;
    let result = match statement {
        // BEGIN is refused, and the transaction continues.
        Statement::Begin { read_only } => return done(begin_transaction(session, *read_only)),
        Statement::Commit => return done(commit(session, transaction)),
        Statement::RollbackTo(name) => done(transaction.rollback_to(&name.into()).map_err(|e| e.at(Some(name.span)))),
        other => {
            transaction.check()?;
            other.ask(|kind| kind.in_transaction()).check(transaction.is_read_only).and_then(|()| match other {
                Statement::Savepoint(name) => done(transaction.savepoint(name.into())),
                Statement::ReleaseSavepoint(name) => {
                    done(transaction.release(&name.into()).map_err(|e| e.at(Some(name.span))))
                }
                _ => run(&session.within(transaction)),
            })
        }
    };
    if transaction.has_expired() {
        transaction.check()?;
    }
    let mut outcome = result.inspect_err(|error| transaction.fail(error))?;
    match &mut outcome {
        Outcome::Rows(RowsOutcome { running: Some(running), .. }) => {
            running.stream = transaction.ended(Some(&running.context));
        }
        Outcome::Rows(rows) if rows.source.reads() => {
            debug_assert!(false, "rows that are still to be read have no running part");
            return Err(Error::new(ErrorCode::Bug, "an error of these rows would not fail the transaction"));
        }
        // The statement has not run yet.
        Outcome::NeedsThread => {}
        Outcome::Rows(_) | Outcome::Done(_) => drop(transaction.ended(None)),
    }
    Ok(outcome)
}

/// The values of a statement in Phoenix's dialect, where the empty text is NULL.
fn without_empty_texts(mut values: Vec<Value>) -> Vec<Value> {
    values.iter_mut().filter(|value| value.as_text() == Some("")).for_each(|value| *value = Value::Null);
    values
}

/// Runs a statement, within a tracing span if a subscriber wants one. Adds the statement's text to an error.
fn traced<T>(sql: &Arc<str>, run: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    if !tracing::enabled!(target: "saltwing::statement", tracing::Level::DEBUG) {
        return run().map_err(|error| error.in_sql(sql));
    }
    let _span = tracing::debug_span!(target: "saltwing::statement", "statement", sql = &**sql).entered();
    run().map_err(|error| {
        let error = error.in_sql(sql);
        tracing::debug!(target: "saltwing::statement", code = error.code().as_str(), %error, "the statement failed");
        error
    })
}

pub(crate) fn drain(outcome: Outcome) -> Result<ExecResult, Error> {
    match outcome {
        Outcome::Done(result) => Ok(result),
        Outcome::Rows(rows) => rows.read_all(),
        Outcome::NeedsThread => Err(not_run()),
    }
}

pub(crate) fn rows_of(outcome: Outcome) -> Result<RowsOutcome, Error> {
    match outcome {
        Outcome::Rows(rows) => Ok(rows),
        Outcome::Done(_) => Err(no_rows()),
        Outcome::NeedsThread => Err(not_run()),
    }
}

/// The error of a statement without rows whose caller expects rows.
pub(crate) fn no_rows() -> Error {
    Error::new(ErrorCode::Syntax, "the statement gives no rows").with_help(Some("use execute"))
}

/// A statement that was parsed and checked.
pub(crate) struct Prepared {
    session: Session,
    statement: Arc<CachedStatement>,
    description: Arc<Description>,
}

impl Prepared {
    /// The same statement on another session.
    pub(crate) fn on(&self, session: &Session) -> Self {
        let statement = self.for_session(session);
        Self { session: session.clone(), statement, description: self.description.clone() }
    }

    /// As [`Session::shared_with`].
    pub(crate) fn for_session(&self, session: &Session) -> Arc<CachedStatement> {
        self.session.shared_with(session, &self.statement)
    }

    pub(crate) fn session(&self) -> &Session {
        &self.session
    }

    pub(crate) fn execute(&self, params: Params) -> Result<ExecResult, Error> {
        drain(self.session.run_parsed(&self.statement, params)?)
    }

    pub(crate) fn query(&self, params: Params) -> Result<RowsOutcome, Error> {
        self.session.query_parsed(&self.statement, params)
    }

    pub(crate) fn run(&self, params: Params) -> Result<Outcome, Error> {
        self.session.run_parsed(&self.statement, params)
    }

    /// As [`Session::query_at_once`].
    pub(crate) fn query_at_once(&self, params: &Params) -> Result<Option<RowsOutcome>, Error> {
        self.session.query_at_once(&self.statement, params)
    }

    pub(crate) fn parameter_count(&self) -> usize {
        self.statement.parameter_count
    }

    pub(crate) fn description(&self) -> &Description {
        &self.description
    }
}
