//! A connection's state: settings, what runs, prepared statements.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use saltwing_access::{Budget, Durability, ScanContext};
use saltwing_bind::access::{Guard, HintVerb};
use saltwing_plan::Policy;
use saltwing_sql::statement::{Hint, OptionValue, Set};
use saltwing_sql::{Statement, parse};
use saltwing_types::{ErrorCode, parse_bytes};

use crate::builder::COMMIT_BYTES_TOP;
use crate::copy::CopyProgress;
use crate::outcome::{ExecResult, Outcome, RowsOutcome, Warnings};
use crate::params::Params;
use crate::statement_cache::CachedStatement;
use crate::{Database, Error};

/// Which executor runs queries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExecutorChoice {
    /// The direct path where it can, else the relational engine.
    #[default]
    Auto,
    /// The direct path only: what it cannot run is 0A000.
    Direct,
    /// The relational engine only.
    DataFusion,
}

/// Settings of a connection; `SET name = value` changes them.
#[derive(Clone, Debug)]
pub struct Settings {
    /// `full_scan`: 'allow', 'warn' or 'error'; `None` leaves it to table and database.
    pub full_scan: Option<Policy>,
    /// `statement_timeout`: '5s', '200ms' or milliseconds; 0 is none.
    pub statement_timeout: Option<Duration>,
    /// `rows_max`: most rows that a statement may scan; 0 is no limit.
    pub rows_max: Option<u64>,
    /// `bytes_max`: most stored bytes that a statement may scan; 0 is no limit.
    pub bytes_max: Option<u64>,
    /// `rows_warn`: rows scanned from which a statement is noticed; 0 is never.
    pub rows_warn: Option<u64>,
    /// `bytes_warn`: stored bytes scanned from which a statement is noticed; 0 is never.
    pub bytes_warn: Option<u64>,
    /// `time_warn`: '5s', '200ms' or milliseconds from which a statement is noticed; 0 is never.
    pub time_warn: Option<Duration>,
    /// `recursion_rounds_max`: most rounds of the recursive queries of a statement; 0 is no limit.
    pub recursion_rounds_max: Option<u64>,
    /// `recursion_rows_max`: most rows that these rounds make; 0 is no limit.
    pub recursion_rows_max: Option<u64>,
    /// `durability`: 'synced' or 'buffered'.
    pub durability: Durability,
    /// `commit_bytes_max`: most bytes of encoded rows that one commit may hold.
    pub commit_bytes_max: usize,
    /// `autocommit_rows`: UPSERT SELECT, INSERT SELECT, DELETE and COPY commit after so many rows; 0 is never: each of
    /// these statements is one commit, and COPY one of some thousand rows at a time.
    pub autocommit_rows: Option<NonZeroU64>,
    /// `executor`: 'auto', 'direct' or 'datafusion'.
    pub executor: ExecutorChoice,
}

impl Settings {
    /// Whether reading one row meets no limit and is never noticed.
    pub(crate) fn allows_unmetered_get(&self) -> bool {
        let Self { bytes_max, rows_warn, bytes_warn, time_warn, .. } = self;
        bytes_max.is_none() && bytes_warn.is_none() && time_warn.is_none() && rows_warn.is_none_or(|rows| rows > 1)
    }
}

/// Rows scanned from which a statement is noticed unless said otherwise.
const ROWS_WARN: u64 = 10_000_000;

/// Rounds of a statement's recursive queries unless said otherwise: some seconds.
const RECURSION_ROUNDS_MAX: u64 = 100_000;
/// Rows that these make unless said otherwise.
const RECURSION_ROWS_MAX: u64 = 10_000_000;

/// The settings by name, with what they take.
const NAMES: [(&str, &str); 13] = [
    ("full_scan", "'allow', 'warn' or 'error'"),
    ("statement_timeout", "'5s', '200ms' or milliseconds"),
    ("rows_max", "a number of rows, 0 for no limit"),
    ("bytes_max", "a number of bytes, 0 for no limit"),
    ("rows_warn", "a number of rows, 0 for never"),
    ("bytes_warn", "a number of bytes, 0 for never"),
    ("time_warn", "'5s', '200ms' or milliseconds, 0 for never"),
    ("recursion_rounds_max", "a number of rounds, 0 for no limit"),
    ("recursion_rows_max", "a number of rows, 0 for no limit"),
    ("durability", "'synced' or 'buffered'"),
    ("commit_bytes_max", "a number of bytes, 1 to 1000000000"),
    ("autocommit_rows", "a number of rows, 0 for never"),
    ("executor", "'auto', 'direct' or 'datafusion'"),
];

/// The setting that is not a connection's, but the database's.
const MEMORY_LIMIT: (&str, &str) = ("memory_limit", "a number of bytes, such as '512MB'");

fn takes((name, values): (&str, &str)) -> Error {
    Error::new(ErrorCode::BadArgument, format!("{name} takes {values}"))
}

/// A connection's state, shared by its clones.
#[derive(Clone)]
pub(crate) struct Session {
    database: Database,
    settings: Arc<Mutex<Settings>>,
    /// Where the context of the statement that runs is found, for cancel.
    slot: Arc<Slot>,
    /// Those of all sessions of the connection.
    slots: Slots,
    progress: Arc<Mutex<Option<ProgressReport>>>,
}

/// Where the statement that a session runs, or has run last, is found.
#[derive(Default)]
struct Slot {
    context: Mutex<Option<ScanContext>>,
    /// Whoever wanted the one statement of this session is gone, perhaps before it began.
    abandoned: AtomicBool,
}

/// The slots of a connection's sessions.
#[derive(Clone, Default)]
struct Slots(Arc<Mutex<Vec<Weak<Slot>>>>);

impl Slot {
    fn cancel(&self) {
        if let Some(context) = self.context.lock().as_ref() {
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

pub(crate) type ProgressReport = Box<dyn Fn(CopyProgress) + Send + Sync>;

impl Session {
    pub(crate) fn new(database: Database) -> Self {
        let settings = Settings {
            full_scan: None,
            statement_timeout: None,
            rows_max: None,
            bytes_max: None,
            rows_warn: Some(ROWS_WARN),
            bytes_warn: None,
            time_warn: None,
            recursion_rounds_max: Some(RECURSION_ROUNDS_MAX),
            recursion_rows_max: Some(RECURSION_ROWS_MAX),
            durability: database.shared.options.durability,
            commit_bytes_max: database.shared.options.commit_bytes_max,
            autocommit_rows: None,
            executor: ExecutorChoice::Auto,
        };
        let slots = Slots::default();
        let slot = slots.add();
        Self { database, settings: Arc::new(Mutex::new(settings)), slot, slots, progress: Arc::default() }
    }

    pub(crate) fn database(&self) -> &Database {
        &self.database
    }

    /// The same connection, with a running statement of its own: for cancel by future.
    pub(crate) fn fork(&self) -> Self {
        Self { slot: self.slots.add(), ..self.clone() }
    }

    pub(crate) fn settings(&self) -> Settings {
        self.settings.lock().clone()
    }

    /// Cancels what this session runs, and whatever it still begins.
    pub(crate) fn abandon(&self) {
        self.slot.abandoned.store(true, SeqCst);
        self.slot.cancel();
    }

    /// Cancels what any session of the connection runs.
    pub(crate) fn cancel_all(&self) {
        let slots: Vec<Arc<Slot>> = self.slots.0.lock().iter().filter_map(Weak::upgrade).collect();
        slots.iter().for_each(|slot| slot.cancel());
    }

    pub(crate) fn on_copy_progress(&self, report: ProgressReport) {
        *self.progress.lock() = Some(report);
    }

    pub(crate) fn report_progress(&self, progress: CopyProgress) {
        if let Some(report) = self.progress.lock().as_ref() {
            report(progress);
        }
    }

    /// The context of a statement that begins now.
    pub(crate) fn begin(&self) -> ScanContext {
        let settings = self.settings();
        let budget =
            Budget { rows_max: settings.rows_max, bytes_max: settings.bytes_max, time_max: settings.statement_timeout };
        let shared = &self.database.shared;
        let context = ScanContext::of_statement(budget, shared.options.threads, shared.memory.clone());
        *self.slot.context.lock() = Some(context.clone());
        if self.slot.abandoned.load(SeqCst) {
            context.cancel();
        }
        context
    }

    /// From how much on a statement that scans is noticed.
    pub(crate) fn warnings(&self) -> Warnings {
        let Settings { rows_warn: rows, bytes_warn: bytes, time_warn: time, .. } = self.settings();
        Warnings { rows, bytes, time }
    }

    /// The context of the statement that ran last.
    pub(crate) fn last_context(&self) -> Option<ScanContext> {
        self.slot.context.lock().clone()
    }

    /// What may override a refusal of a statement with these hints.
    pub(crate) fn guard(&self, hints: &[Hint]) -> Guard {
        let options = &self.database.shared.options;
        Guard {
            hints: hints.to_vec(),
            verb: HintVerb::default(),
            setting: self.settings().full_scan,
            open_option: options.full_scan,
            forbid: options.forbid_full_scan,
        }
    }

    pub(crate) fn run(&self, sql: &str, params: Params) -> Result<Outcome, Error> {
        self.run_parsed(&*self.database.shared.statements.get(sql)?, params)
    }

    fn run_parsed(&self, statement: &CachedStatement, params: Params) -> Result<Outcome, Error> {
        let mut outcome = self.run_cached(statement, params).map_err(|error| error.in_sql(&statement.text))?;
        if let Outcome::Rows(RowsOutcome { running: Some(running), .. }) = &mut outcome {
            running.sql = Some(statement.text.clone());
        }
        Ok(outcome)
    }

    fn run_cached(&self, statement: &CachedStatement, params: Params) -> Result<Outcome, Error> {
        let parsed = &statement.parsed;
        let values = match &parsed.statement {
            // Explained as far as it is known without them.
            Statement::Explain(explain) if !explain.analyze && params.is_empty() => Vec::new(),
            _ => params.values(&parsed.parameters, statement.parameter_count)?,
        };
        match &parsed.statement {
            Statement::Query(query) => self.run_known_query(query, &values, statement).map(Outcome::Rows),
            other => self.run_statement(other, &values),
        }
    }

    pub(crate) fn execute(&self, sql: &str, params: Params) -> Result<ExecResult, Error> {
        drain(self.run(sql, params)?)
    }

    pub(crate) fn execute_batch(&self, sql: &str) -> Result<Vec<ExecResult>, Error> {
        let none = || Params::Positional(Vec::new());
        let text: Arc<str> = sql.into();
        let parsed = parse(sql).map_err(|error| Error::from(error).in_sql(&text))?;
        let statements = parsed.into_iter().map(|parsed| CachedStatement::new(parsed, &text));
        statements.map(|statement| drain(self.run_parsed(&statement?, none())?)).collect()
    }

    pub(crate) fn query(&self, sql: &str, params: Params) -> Result<RowsOutcome, Error> {
        rows_of(self.run(sql, params)?)
    }

    pub(crate) fn prepare(&self, sql: &str) -> Result<Prepared, Error> {
        let statement = self.database.shared.statements.get(sql)?;
        self.check(&statement.parsed.statement).map_err(|error| error.in_sql(&statement.text))?;
        Ok(Prepared { session: self.clone(), statement })
    }

    /// `SET name = value`.
    pub(crate) fn set(&self, set: &Set) -> Result<(), Error> {
        let name = set.name.text.to_lowercase();
        if name == MEMORY_LIMIT.0 {
            return self.set_memory_limit(set);
        }
        let Some(known) = NAMES.iter().find(|(known, _)| *known == name) else {
            return Err(self.no_setting(&set.name.text).at(Some(set.name.span)));
        };
        let mut settings = self.settings.lock();
        let default = Self::new(self.database.clone()).settings();
        let changed = match &set.value {
            None => {
                default_of(&name, &mut settings, default);
                Some(())
            }
            Some(value) => change(&name, &mut settings, &value_text(value)),
        };
        changed.ok_or_else(|| takes(*known).at(Some(set.value_span)))
    }

    /// `SET memory_limit`, which is the whole database's.
    fn set_memory_limit(&self, set: &Set) -> Result<(), Error> {
        let at = |error: Error| error.at(Some(set.value_span));
        let shared = &self.database.shared;
        let most = shared.options.memory_limit;
        let bytes = match &set.value {
            None => most,
            Some(value) => {
                let bytes = parse_bytes(&value_text(value)).and_then(|bytes| usize::try_from(bytes).ok());
                let bytes = bytes.filter(|bytes| *bytes > 0);
                bytes.ok_or_else(|| at(takes(MEMORY_LIMIT)))?
            }
        };
        if bytes > most {
            let text = format!("{} is at most {most} bytes, with which the database was opened", MEMORY_LIMIT.0);
            return Err(at(Error::new(ErrorCode::BadArgument, text)));
        }
        shared.memory.set_limit(bytes);
        Ok(())
    }

    /// Names and values of one setting, or of all.
    pub(crate) fn show(&self, name: Option<&str>) -> Result<Vec<(&'static str, String)>, Error> {
        let settings = self.settings();
        let memory_limit = (MEMORY_LIMIT.0, self.database.shared.memory.limit().to_string());
        let all = NAMES.iter().map(|(name, _)| (*name, shown(name, &settings))).chain([memory_limit]);
        match name {
            None => Ok(all.collect()),
            Some(wanted) => {
                let found: Vec<_> = all.filter(|(name, _)| name.eq_ignore_ascii_case(wanted)).collect();
                if found.is_empty() { Err(self.no_setting(wanted)) } else { Ok(found) }
            }
        }
    }

    fn no_setting(&self, name: &str) -> Error {
        let names = || NAMES.iter().chain([&MEMORY_LIMIT]).map(|(name, _)| *name);
        let near = saltwing_types::suggest(name, names());
        let all = names().collect::<Vec<_>>().join(", ");
        let help = near.map_or_else(|| format!("there are {all}"), |near| format!("did you mean {near}?"));
        Error::new(ErrorCode::BadArgument, format!("there is no setting {name}")).with_help(Some(help))
    }
}

fn value_text(value: &OptionValue) -> String {
    match value {
        OptionValue::Number(text) | OptionValue::Text(text) | OptionValue::Word(text) => text.to_lowercase(),
        OptionValue::Bool(b) => b.to_string(),
        OptionValue::Names(_) => String::new(),
    }
}

/// Changes a setting; `None` when it does not take the value.
fn change(name: &str, settings: &mut Settings, value: &str) -> Option<()> {
    let limit = |value: &str| value.parse::<u64>().ok().map(|n| (n > 0).then_some(n));
    match name {
        "full_scan" => settings.full_scan = Some(Guard::policy(value)?),
        "statement_timeout" => settings.statement_timeout = duration(value)?,
        "rows_max" => settings.rows_max = limit(value)?,
        "bytes_max" => settings.bytes_max = limit(value)?,
        "rows_warn" => settings.rows_warn = limit(value)?,
        "bytes_warn" => settings.bytes_warn = limit(value)?,
        "time_warn" => settings.time_warn = duration(value)?,
        "commit_bytes_max" => {
            settings.commit_bytes_max = value.parse().ok().filter(|bytes| (1..=COMMIT_BYTES_TOP).contains(bytes))?;
        }
        "autocommit_rows" => settings.autocommit_rows = NonZeroU64::new(value.parse().ok()?),
        "recursion_rounds_max" => settings.recursion_rounds_max = limit(value)?,
        "recursion_rows_max" => settings.recursion_rows_max = limit(value)?,
        "durability" => {
            settings.durability = match value {
                "synced" => Durability::Synced,
                "buffered" => Durability::Buffered,
                _ => return None,
            }
        }
        _ => {
            settings.executor = match value {
                "auto" => ExecutorChoice::Auto,
                "direct" => ExecutorChoice::Direct,
                "datafusion" => ExecutorChoice::DataFusion,
                _ => return None,
            }
        }
    }
    Some(())
}

fn default_of(name: &str, settings: &mut Settings, default: Settings) {
    match name {
        "full_scan" => settings.full_scan = default.full_scan,
        "statement_timeout" => settings.statement_timeout = default.statement_timeout,
        "rows_max" => settings.rows_max = default.rows_max,
        "bytes_max" => settings.bytes_max = default.bytes_max,
        "rows_warn" => settings.rows_warn = default.rows_warn,
        "bytes_warn" => settings.bytes_warn = default.bytes_warn,
        "time_warn" => settings.time_warn = default.time_warn,
        "recursion_rounds_max" => settings.recursion_rounds_max = default.recursion_rounds_max,
        "recursion_rows_max" => settings.recursion_rows_max = default.recursion_rows_max,
        "durability" => settings.durability = default.durability,
        "commit_bytes_max" => settings.commit_bytes_max = default.commit_bytes_max,
        "autocommit_rows" => settings.autocommit_rows = default.autocommit_rows,
        _ => settings.executor = default.executor,
    }
}

/// `5s`, `200ms`, `2min`, or milliseconds; 0 is none.
fn duration(text: &str) -> Option<Option<Duration>> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let unit_ms = match unit.trim() {
        "" | "ms" => 1,
        "s" => 1000,
        "min" => 60_000,
        _ => return None,
    };
    let ms = number.parse::<u64>().ok()?.checked_mul(unit_ms)?;
    Some((ms > 0).then(|| Duration::from_millis(ms)))
}

fn shown(name: &str, settings: &Settings) -> String {
    let limit = |n: Option<u64>| n.unwrap_or(0).to_string();
    let millis = |time: Option<Duration>| format!("{}ms", time.map_or(0, |d| d.as_millis()));
    match name {
        "full_scan" => match settings.full_scan {
            None => "default",
            Some(Policy::Allow) => "allow",
            Some(Policy::Warn) => "warn",
            Some(Policy::Error) => "error",
        }
        .into(),
        "statement_timeout" => millis(settings.statement_timeout),
        "rows_max" => limit(settings.rows_max),
        "bytes_max" => limit(settings.bytes_max),
        "rows_warn" => limit(settings.rows_warn),
        "bytes_warn" => limit(settings.bytes_warn),
        "time_warn" => millis(settings.time_warn),
        "commit_bytes_max" => settings.commit_bytes_max.to_string(),
        "autocommit_rows" => limit(settings.autocommit_rows.map(NonZeroU64::get)),
        "recursion_rounds_max" => limit(settings.recursion_rounds_max),
        "recursion_rows_max" => limit(settings.recursion_rows_max),
        "durability" => if settings.durability == Durability::Synced { "synced" } else { "buffered" }.into(),
        _ => match settings.executor {
            ExecutorChoice::Auto => "auto",
            ExecutorChoice::Direct => "direct",
            ExecutorChoice::DataFusion => "datafusion",
        }
        .into(),
    }
}

fn drain(outcome: Outcome) -> Result<ExecResult, Error> {
    match outcome {
        Outcome::Done(result) => Ok(result),
        Outcome::Rows(rows) => Ok(ExecResult { rows_affected: 0, notices: rows.read_all()? }),
    }
}

fn rows_of(outcome: Outcome) -> Result<RowsOutcome, Error> {
    match outcome {
        Outcome::Rows(rows) => Ok(rows),
        Outcome::Done(_) => {
            Err(Error::new(ErrorCode::Syntax, "the statement gives no rows").with_help(Some("use execute")))
        }
    }
}

/// A statement that was parsed and checked.
pub(crate) struct Prepared {
    session: Session,
    statement: Arc<CachedStatement>,
}

impl Prepared {
    /// The same statement on another session of the connection.
    pub(crate) fn on(&self, session: &Session) -> Self {
        Self { session: session.clone(), statement: self.statement.clone() }
    }

    pub(crate) fn execute(&self, params: Params) -> Result<ExecResult, Error> {
        drain(self.session.run_parsed(&self.statement, params)?)
    }

    pub(crate) fn query(&self, params: Params) -> Result<RowsOutcome, Error> {
        rows_of(self.session.run_parsed(&self.statement, params)?)
    }

    pub(crate) fn parameter_count(&self) -> usize {
        self.statement.parameter_count
    }
}
