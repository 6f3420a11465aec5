//! A connection's state: settings, what runs, prepared statements.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use saltwing_access::{Budget, ScanContext, Snapshot};
use saltwing_bind::{check_exact, view_places};
use saltwing_catalog::CatalogReader;
use saltwing_exec::{CommitLimits, Writer};
use saltwing_planner::{Guard, HintVerb};
use saltwing_sql::statement::{Hint, QueryStatement, Set};
use saltwing_sql::{Dialect, Statement, StatementReader};
use saltwing_types::{ErrorCode, TableId, Value};

use crate::Error;
use crate::describe::describe_statement;
use crate::description::Description;
use crate::outcome::{ExecResult, Outcome, RowsOutcome, Stats, Warnings};
use crate::params::Params;
use crate::progress::ProgressReports;
use crate::run::{check_gives_rows, run_known_query, run_statement_of};
use crate::session_tables::SessionTables;
use crate::settings::{Setting, Settings};
use crate::shared::Shared;
use crate::statement_cache::{CachedStatement, StatementCache};
use crate::transaction::{SessionTransaction, TransactionPart, TransactionSlot};
use crate::transaction_closure::check_outside;
use crate::transaction_statements::run_within;

/// A connection's state, shared by its clones.
#[derive(Clone)]
pub(crate) struct Session {
    shared: Arc<Shared>,
    settings: Arc<Mutex<Settings>>,
    /// Where the context of the statement that runs is found, for cancel.
    slot: Arc<Slot>,
    /// Those of all sessions of the connection.
    slots: Slots,
    pub(crate) progress: Arc<ProgressReports>,
    pub(crate) transaction: TransactionSlot,
    pub(crate) current_values: CurrentValues,
    pub(crate) own: Arc<SessionTables>,
    /// The transaction that this session runs a statement of.
    within: Option<Arc<SessionTransaction>>,
    /// What the session is for, if it is for a transaction: after its end the session runs nothing.
    bound: Option<TransactionPart>,
}

/// The value of each sequence that a session took last.
pub(crate) type CurrentValues = Arc<Mutex<HashMap<TableId, i64>>>;

/// Where the statement that a session runs, or has run last, is found.
#[derive(Default)]
struct Slot {
    last: Mutex<LastStatement>,
    /// Whether the caller of this session's one statement is gone, perhaps before it began.
    abandoned: AtomicBool,
}

/// The last statement of a session.
#[derive(Default)]
struct LastStatement {
    /// The context of the last statement that has one: its rows may still be read.
    context: Option<ScanContext>,
    /// The reads of the last statement, if it was done at once: such a statement has no context.
    read_at_once: Option<Stats>,
}

/// Stops the statements of a connection and its clones, from any thread: see
/// [`Connection::interrupt_handle`](crate::Connection::interrupt_handle).
#[derive(Clone)]
pub struct InterruptHandle {
    slots: Slots,
}

impl InterruptHandle {
    /// Makes the statements that run now stop within a batch, with [`ErrorCode::Cancelled`]; rows of a result that are still to be
    /// read count as running. If nothing runs, nothing happens: a later statement is not stopped.
    pub fn interrupt(&self) {
        let slots: Vec<Arc<Slot>> = self.slots.0.lock().iter().filter_map(Weak::upgrade).collect();
        slots.iter().for_each(|slot| slot.cancel());
    }
}

/// The slots of a connection's sessions.
#[derive(Clone, Default)]
struct Slots(Arc<Mutex<Vec<Weak<Slot>>>>);

impl Slot {
    fn cancel(&self) {
        if let Some(context) = &self.last.lock().context {
            context.cancel();
        }
    }
}

impl Slots {
    /// A slot for another session.
    fn add(&self) -> Arc<Slot> {
        let slot = Arc::new(Slot::default());
        let mut slots = self.0.lock();
        slots.retain(|slot| slot.strong_count() > 0);
        slots.push(Arc::downgrade(&slot));
        slot
    }
}

/// All rows, and the catalog that is in force for them.
pub(crate) type Moment = (Arc<dyn Snapshot>, Arc<dyn CatalogReader>);

impl Session {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let settings = Settings::new(&shared.options);
        let slots = Slots::default();
        let slot = slots.add();
        Self {
            own: Arc::new(SessionTables::new(shared.clone())),
            shared,
            settings: Arc::new(Mutex::new(settings)),
            slot,
            slots,
            progress: Arc::default(),
            transaction: TransactionSlot::default(),
            current_values: CurrentValues::default(),
            within: None,
            bound: None,
        }
    }

    /// Another session of the same connection, for a transaction of its own: it has copies of the settings and of the values that
    /// sequences gave last.
    pub(crate) fn sibling(&self) -> Self {
        let settings = Arc::new(Mutex::new(self.settings()));
        let current_values = Arc::new(Mutex::new(self.current_values.lock().clone()));
        let (slot, transaction) = (self.slots.add(), TransactionSlot::default());
        Self { settings, slot, transaction, current_values, within: None, bound: None, ..self.clone() }
    }

    /// The same session for the statements of this transaction alone, or of a part of it.
    pub(crate) fn bound_to(&self, part: TransactionPart) -> Self {
        Self { bound: Some(part), ..self.clone() }
    }

    /// The transaction that a statement is a part of.
    ///
    /// # Errors
    /// As [`check_outside`] and [`Session::check_bound`].
    pub(crate) fn open_transaction(&self) -> Result<Option<Arc<SessionTransaction>>, Error> {
        check_outside(&self.transaction)?;
        self.check_bound()?;
        Ok(self.transaction.current())
    }

    /// # Errors
    /// [`ErrorCode::NoTransaction`] if the session is for a transaction that has ended.
    pub(crate) fn check_bound(&self) -> Result<(), Error> {
        if self.bound.as_ref().is_none_or(|part| part.current(&self.transaction).is_some()) {
            return Ok(());
        }
        let text = "the transaction has ended, and what was its connection runs no more statements";
        Err(Error::new(ErrorCode::NoTransaction, text).with_help(Some("begin another one")))
    }

    /// The same session for a statement of this transaction.
    pub(crate) fn within(&self, transaction: &Arc<SessionTransaction>) -> Self {
        Self { within: Some(transaction.clone()), ..self.clone() }
    }

    /// The definitions of the moment; inside a transaction, of its beginning. What the connection has of its own is among them.
    pub(crate) fn catalog(&self) -> Arc<dyn CatalogReader> {
        match &self.within {
            Some(transaction) => transaction.catalog.clone(),
            None if self.own.catalog.is_empty() => self.shared.catalog.snapshot(),
            None => self.own.catalog.snapshot(),
        }
    }

    /// The statements that are kept. Those of a connection with tables of its own have plans of their own.
    fn statements(&self) -> &StatementCache {
        match self.own.catalog.is_empty() {
            true => &self.shared.statements,
            false => &self.own.statements,
        }
    }

    /// All rows; inside a transaction, as it sees them.
    pub(crate) fn snapshot(&self) -> Result<Arc<dyn Snapshot>, Error> {
        Ok(match &self.within {
            Some(transaction) => transaction.rows.snapshot()?,
            None => self.shared.tables.snapshot()?,
        })
    }

    /// All rows and the catalog, of one moment. An index is complete in rows that are as new as the definition that says so, and is not
    /// in step with rows that are newer than the one that drops it.
    pub(crate) fn moment(&self) -> Result<Moment, Error> {
        loop {
            let catalog = self.catalog();
            let snapshot = self.snapshot()?;
            if self.catalog().version() == catalog.version() {
                return Ok((snapshot, catalog));
            }
        }
    }

    /// The time that `now()` is, in milliseconds since 1970; inside a transaction, of its beginning.
    pub(crate) fn now_ms(&self) -> i64 {
        let of_clock = || self.shared.options.clock.now_ms();
        self.within.as_ref().map_or_else(of_clock, |transaction| transaction.rows.now_ms())
    }

    pub(crate) fn is_within_transaction(&self) -> bool {
        self.within.is_some()
    }

    pub(crate) fn is_within_read_only(&self) -> bool {
        self.within.as_ref().is_some_and(|transaction| transaction.is_read_only)
    }

    pub(crate) fn writer(&self) -> Writer<'_> {
        let (durability, bytes_max, part_rows) =
            self.read_settings(|settings| (settings.durability, settings.commit_bytes_max, settings.autocommit_rows));
        let open = self.within.as_ref().map(|transaction| &transaction.rows);
        let limits = CommitLimits { bytes_max, part_rows, is_open: open.is_some() };
        Writer { store: &*self.shared.tables, durability, limits, memory: &self.shared.memory, open }
    }

    /// How many rows stay committed if a statement fails after it has written `written` rows: none inside a transaction.
    pub(crate) fn committed(&self, written: u64) -> u64 {
        if self.within.is_some() { 0 } else { written }
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// The same connection, with a running statement of its own: for cancel by future.
    pub(crate) fn fork(&self) -> Self {
        Self { slot: self.slots.add(), ..self.clone() }
    }

    /// The same connection with settings of its own.
    pub(crate) fn with_settings(&self, change: impl FnOnce(&mut Settings)) -> Self {
        let mut settings = self.settings();
        change(&mut settings);
        Self { settings: Arc::new(Mutex::new(settings)), ..self.fork() }
    }

    pub(crate) fn settings(&self) -> Settings {
        self.settings.lock().clone()
    }

    /// Reads some of the settings: a statement takes few of them, and copies of all would be a part of its time.
    pub(crate) fn read_settings<T>(&self, read: impl FnOnce(&Settings) -> T) -> T {
        read(&self.settings.lock())
    }

    /// Cancels the running statement of this session, and any that it still starts.
    pub(crate) fn abandon(&self) {
        self.slot.abandoned.store(true, SeqCst);
        self.slot.cancel();
    }

    /// What stops the statements of all sessions of the connection.
    pub(crate) fn interrupt_handle(&self) -> InterruptHandle {
        InterruptHandle { slots: self.slots.clone() }
    }

    /// The context of a statement that begins now.
    pub(crate) fn begin(&self) -> ScanContext {
        let budget = self.read_settings(|settings| {
            let Settings { rows_max, bytes_max, statement_timeout: time_max, .. } = *settings;
            Budget { rows_max, bytes_max, time_max }
        });
        let shared = &self.shared;
        let context = ScanContext::of_statement(budget, shared.options.threads, shared.memory.clone());
        *self.slot.last.lock() = LastStatement { context: Some(context.clone()), read_at_once: None };
        self.within.iter().for_each(|transaction| transaction.began(&context));
        if self.slot.abandoned.load(SeqCst) {
            context.cancel();
        }
        context
    }

    /// From how much on a statement that scans is noticed.
    pub(crate) fn warnings(&self) -> Warnings {
        self.read_settings(|settings| {
            let Settings { rows_warn: rows, bytes_warn: bytes, time_warn: time, .. } = *settings;
            Warnings { rows, bytes, time }
        })
    }

    /// The context of the statement that ran last.
    pub(crate) fn last_context(&self) -> Option<ScanContext> {
        self.slot.last.lock().context.clone()
    }

    /// The statement is done: these are its rows.
    pub(crate) fn read_at_once(&self, rows: RowsOutcome) -> RowsOutcome {
        self.slot.last.lock().read_at_once = Some(rows.read);
        rows
    }

    /// The reads of the statement that ran last.
    pub(crate) fn last_reads(&self) -> Stats {
        let LastStatement { context, read_at_once } = &*self.slot.last.lock();
        let of_context = || context.as_ref().map(|context| Stats::of(&context.counters));
        read_at_once.or_else(of_context).unwrap_or_default()
    }

    /// The overrides for a statement with these hints.
    pub(crate) fn guard(&self, hints: &[Hint]) -> Guard {
        let options = &self.shared.options;
        Guard {
            hints: hints.to_vec(),
            verb: HintVerb::default(),
            setting: self.read_settings(|settings| settings.full_scan),
            open_option: options.full_scan,
            forbid: options.forbid_full_scan,
            views: Vec::new(),
        }
    }

    /// The overrides for a query.
    pub(crate) fn guard_of(&self, query: &QueryStatement, catalog: &dyn CatalogReader) -> Guard {
        Guard { views: view_places(&query.query, catalog), ..self.guard(&query.hints) }
    }

    pub(crate) fn run(&self, sql: &str, params: Params) -> Result<Outcome, Error> {
        self.run_parsed(&self.cached(sql)?, params)
    }

    /// The language of its statements.
    pub(crate) fn dialect(&self) -> Dialect {
        self.read_settings(|settings| settings.dialect)
    }

    /// The statement of this text.
    pub(crate) fn cached(&self, sql: &str) -> Result<Arc<CachedStatement>, Error> {
        self.statements().get(sql, self.dialect()).inspect_err(|error| self.transaction.fail(error))
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

    /// Runs a statement as a part of this transaction, or by itself.
    pub(crate) fn run_in(
        &self,
        transaction: Option<Arc<SessionTransaction>>,
        statement: &CachedStatement,
        run: impl FnOnce(&Self) -> Result<Outcome, Error>,
    ) -> Result<Outcome, Error> {
        traced(&statement.text, || match transaction {
            None => run(self),
            Some(transaction) => run_within(self, &transaction, &statement.parsed.statement, run),
        })
    }

    fn run_parsed(&self, statement: &Arc<CachedStatement>, params: Params) -> Result<Outcome, Error> {
        self.run_as(statement, |session| session.run_cached(statement, params))
    }

    /// As [`Session::run_here`]; errors of later rows have their places in the text, too.
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
        let values = match &parsed.statement {
            // Explained as far as it is known without them.
            Statement::Explain(explain) if !explain.analyze && params.is_empty() => Vec::new(),
            _ => params.values(&parsed.parameters, statement.parameter_count)?,
        };
        let values = if statement.dialect == Dialect::Phoenix { without_empty_texts(values) } else { values };
        let outcome = match &parsed.statement {
            Statement::Query(query) => run_known_query(self, query, &values, statement).map(Outcome::Rows),
            other => run_statement_of(self, other, &values, Some(&statement.write)),
        };
        outcome.map_err(|error| match error.code() {
            ErrorCode::FullScanRefused if !values.is_empty() => self.refused_for_values(error, statement),
            _ => error,
        })
    }

    /// A refusal by the guard says so if the statement itself is allowed, so that its caller knew nothing before.
    fn refused_for_values(&self, error: Error, statement: &CachedStatement) -> Error {
        if describe_statement(self, &statement.parsed.statement, statement.parameter_count).is_err() {
            return error;
        }
        error.with_more_help(
            "the statement is allowed for other values of its parameters: with these a condition is true of every row, as >= '' and \
             LIKE '%' are. Check such values before, or run another statement for them",
        )
    }

    /// Names that are exact in the statement's language.
    pub(crate) fn check_names(&self, statement: &CachedStatement) -> Result<(), Error> {
        match &statement.parsed.exact {
            Some(names) => Ok(check_exact(names, &*self.catalog())?),
            None => Ok(()),
        }
    }

    pub(crate) fn execute(&self, sql: &str, params: Params) -> Result<ExecResult, Error> {
        drain(self.run(sql, params)?)
    }

    pub(crate) fn execute_batch(&self, sql: &str) -> Result<Vec<ExecResult>, Error> {
        let (text, mut reader): (Arc<str>, _) = (sql.into(), StatementReader::new(sql));
        let mut next = || {
            let dialect = self.dialect();
            let parsed = reader.next_in(dialect).map_err(|error| Error::from(error).in_sql(&text));
            let parsed = parsed.inspect_err(|error| self.transaction.fail(error))?;
            Ok::<_, Error>(parsed.map(|parsed| (parsed, dialect)))
        };
        let run = |(parsed, dialect)| {
            let statement = CachedStatement::new(parsed, &text, dialect);
            let statement = Arc::new(statement.inspect_err(|error| self.transaction.fail(error))?);
            drain(self.run_parsed(&statement, Params::Positional(Vec::new()))?)
        };
        if sql.to_ascii_lowercase().contains("dialect") {
            // `SET dialect` runs before the statement behind it is read, which is in another language.
            return std::iter::from_fn(|| next().transpose()).map(|parsed| run(parsed?)).collect();
        }
        let parsed: Vec<_> = std::iter::from_fn(|| next().transpose()).collect::<Result<_, _>>()?;
        parsed.into_iter().map(run).collect()
    }

    pub(crate) fn query(&self, sql: &str, params: Params) -> Result<RowsOutcome, Error> {
        self.query_parsed(&self.cached(sql)?, params)
    }

    fn query_parsed(&self, statement: &Arc<CachedStatement>, params: Params) -> Result<RowsOutcome, Error> {
        let checked =
            check_gives_rows(self, &statement.parsed.statement).map_err(|error| error.in_sql(&statement.text));
        checked.inspect_err(|error| self.transaction.fail(error))?;
        rows_of(self.run_parsed(statement, params)?)
    }

    pub(crate) fn prepare(&self, sql: &str) -> Result<Prepared, Error> {
        let statement = self.statements().get(sql, self.dialect())?;
        self.check_bound()?;
        let session = self.transaction.current().map(|transaction| self.within(&transaction));
        let describing = session.as_ref().unwrap_or(self);
        let checked = describing.check_names(&statement);
        let described = checked
            .and_then(|()| describe_statement(describing, &statement.parsed.statement, statement.parameter_count));
        let description = described.map_err(|error| error.in_sql(&statement.text))?;
        Ok(Prepared { session: self.clone(), statement, description: Arc::new(description) })
    }

    /// `SET name = value`.
    pub(crate) fn set(&self, set: &Set) -> Result<(), Error> {
        let setting = Setting::named(&set.name.text).map_err(|error| error.at(Some(set.name.span)))?;
        setting.set(set, &mut self.settings.lock(), &self.shared)
    }

    /// The value of a setting.
    pub(crate) fn setting(&self, setting: &Setting) -> String {
        setting.show(&mut self.settings.lock(), &self.shared)
    }
}

/// The values of a statement in Phoenix's language.
fn without_empty_texts(mut values: Vec<Value>) -> Vec<Value> {
    values.iter_mut().filter(|value| value.as_text() == Some("")).for_each(|value| *value = Value::Null);
    values
}

/// Runs a statement, within a span of its own if somebody wants to see it. An error gets its place in the text.
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
    }
}

pub(crate) fn rows_of(outcome: Outcome) -> Result<RowsOutcome, Error> {
    match outcome {
        Outcome::Rows(rows) => Ok(rows),
        Outcome::Done(_) => Err(no_rows()),
    }
}

/// The error of a statement that gives no rows where rows are asked for.
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
        let statement = match Arc::ptr_eq(&self.session.shared, &session.shared) {
            true => self.statement.clone(),
            // Its plans are those of the definitions of its database.
            false => Arc::new(self.statement.unplanned()),
        };
        Self { session: session.clone(), statement, description: self.description.clone() }
    }

    pub(crate) fn execute(&self, params: Params) -> Result<ExecResult, Error> {
        drain(self.session.run_parsed(&self.statement, params)?)
    }

    pub(crate) fn query(&self, params: Params) -> Result<RowsOutcome, Error> {
        self.session.query_parsed(&self.statement, params)
    }

    pub(crate) fn parameter_count(&self) -> usize {
        self.statement.parameter_count
    }

    pub(crate) fn description(&self) -> &Description {
        &self.description
    }
}
