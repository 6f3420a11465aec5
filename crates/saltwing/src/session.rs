//! A connection's state: settings, the running statement, the transaction.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use saltwing_access::{Budget, ScanContext, Snapshot, StatementMemory, Threads};
use saltwing_bind::{StatementQuery, canonical_hints, view_places};
use saltwing_catalog::{CatalogReader, CatalogStore, VisibleCatalog};
use saltwing_exec::{CommitLimits, Writer};
use saltwing_planner::{Guard, HintVerb};
use saltwing_sql::Dialect;
use saltwing_sql::statement::{Hint, Set};
use saltwing_types::interrupt::Entered;
use saltwing_types::{ErrorCode, ObjectId};

use crate::Error;
use crate::named_statements::NamedStatements;
use crate::outcome::{RowsOutcome, Stats, Warnings};
use crate::progress::ProgressReports;
use crate::session_tables::SessionTables;
use crate::session_user::SessionUser;
use crate::settings::{Setting, Settings};
use crate::shared::Shared;
use crate::statement_cache::StatementCache;
use crate::transaction::{SessionTransaction, TransactionPart, TransactionSlot};
use crate::transaction_closure::check_outside;
use crate::tries::TRY_BUDGET;

/// A connection's state, shared by its clones.
#[derive(Clone)]
pub(crate) struct Session {
    shared: Arc<Shared>,
    settings: Arc<Mutex<Settings>>,
    /// The context of the running statement, for cancel.
    slot: Arc<Slot>,
    /// The slots of all sessions of the connection.
    slots: Slots,
    pub(crate) progress: Arc<ProgressReports>,
    pub(crate) transaction: TransactionSlot,
    pub(crate) current_values: CurrentValues,
    pub(crate) own: Arc<SessionTables>,
    pub(crate) named: Arc<NamedStatements>,
    /// The user of the session; `None` is the owner of the database.
    user: Option<Arc<SessionUser>>,
    /// The transaction whose statement this session runs.
    within: Option<Arc<SessionTransaction>>,
    /// The transaction, or part of one, that the session is bound to: after its end the session runs nothing.
    bound: Option<TransactionPart>,
}

/// The last value that a session took from each sequence.
pub(crate) type CurrentValues = Arc<Mutex<HashMap<ObjectId, i64>>>;

/// The running or last statement of a session.
#[derive(Default)]
struct Slot {
    last: Mutex<LastStatement>,
    /// Whether the caller of this session's only statement is gone, perhaps before the statement began.
    abandoned: AtomicBool,
}

/// The last statement of a session.
#[derive(Default)]
struct LastStatement {
    /// The context of the whole statement that runs, if its calls wait for servers. The parts of it have contexts of their own.
    whole: Option<ScanContext>,
    /// The context of the last statement that has one. Rows of that statement may still be read.
    context: Option<ScanContext>,
    /// The reads of the last statement, if it ended at once: such a statement has no context.
    read_at_once: Option<Stats>,
}

/// Stops the statements of a connection and its clones, from any thread: see
/// [`Connection::interrupt_handle`](crate::Connection::interrupt_handle).
#[derive(Clone)]
pub struct InterruptHandle {
    slots: Slots,
}

impl InterruptHandle {
    /// Stops the statements that run now within a batch, with [`ErrorCode::Cancelled`]; a statement whose rows are still being read
    /// counts as running. If no statement runs, nothing happens: a later statement is not stopped.
    pub fn interrupt(&self) {
        let slots: Vec<Arc<Slot>> = self.slots.0.lock().iter().filter_map(Weak::upgrade).collect();
        slots.iter().for_each(|slot| slot.cancel());
    }

    /// The rows that the statement which runs has scanned so far; of the last one if none runs. `None` if no statement has scanned rows in parts yet: a lookup of one
    /// row does not.
    pub fn rows_scanned(&self) -> Option<u64> {
        let slots: Vec<Arc<Slot>> = self.slots.0.lock().iter().filter_map(Weak::upgrade).collect();
        let contexts = slots.iter().filter_map(|slot| slot.last.lock().context.clone());
        contexts.min_by_key(ScanContext::elapsed).map(|context| context.rows_scanned())
    }
}

/// The slots of a connection's sessions.
#[derive(Clone, Default)]
struct Slots(Arc<Mutex<Vec<Weak<Slot>>>>);

impl Slot {
    fn cancel(&self) {
        let LastStatement { whole, context, .. } = &*self.last.lock();
        whole.iter().chain(context).for_each(ScanContext::cancel);
    }
}

/// The thread works for a statement whose calls wait for servers.
#[must_use = "the statement is left when this is dropped"]
pub(crate) struct EnteredCalls {
    slot: Arc<Slot>,
    /// The statement that this one is a part of.
    outer: Option<ScanContext>,
    _entered: Entered,
}

impl Drop for EnteredCalls {
    fn drop(&mut self) {
        self.slot.last.lock().whole = self.outer.take();
    }
}

impl Slots {
    /// A slot for a new session.
    fn add(&self) -> Arc<Slot> {
        let slot = Arc::new(Slot::default());
        let mut slots = self.0.lock();
        slots.retain(|slot| slot.strong_count() > 0);
        slots.push(Arc::downgrade(&slot));
        slot
    }
}

/// A snapshot of all rows, and the catalog that is valid for them.
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
            named: Arc::default(),
            user: None,
            within: None,
            bound: None,
        }
    }

    /// A session of a user.
    pub(crate) fn of_user(shared: Arc<Shared>, user: Arc<SessionUser>) -> Self {
        Self { user: Some(user), ..Self::new(shared) }
    }

    /// The user of the session; `None` is the owner of the database.
    pub(crate) fn user(&self) -> Option<&Arc<SessionUser>> {
        self.user.as_ref()
    }

    /// Another session of the same connection, for a transaction of its own, with copies of the settings and of the last values of sequences.
    pub(crate) fn sibling(&self) -> Self {
        let settings = Arc::new(Mutex::new(self.settings()));
        let current_values = Arc::new(Mutex::new(self.current_values.lock().clone()));
        let (slot, transaction) = (self.slots.add(), TransactionSlot::default());
        Self { settings, slot, transaction, current_values, within: None, bound: None, ..self.clone() }
    }

    /// The same session for the statements of one transaction, or part of one, alone.
    pub(crate) fn bound_to(&self, part: TransactionPart) -> Self {
        Self { bound: Some(part), ..self.clone() }
    }

    /// The transaction to which a statement of this session belongs.
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

    /// The current catalog; inside a transaction, the catalog at its beginning. It includes the connection's own tables. Its lists have
    /// only the objects that the user of the session sees.
    pub(crate) fn catalog(&self) -> Result<Arc<dyn CatalogReader>, Error> {
        let whole = self.whole_catalog()?;
        Ok(match &self.user {
            None => whole,
            Some(user) => Arc::new(VisibleCatalog::new(whole, &user.name, user.id)),
        })
    }

    /// The same catalog with complete lists, for checks of objects that the user may not see.
    pub(crate) fn whole_catalog(&self) -> Result<Arc<dyn CatalogReader>, Error> {
        Ok(match &self.within {
            Some(transaction) => transaction.catalog.clone(),
            None if self.own.catalog.is_empty() => self.shared.catalog.snapshot()?,
            None => self.own.catalog.snapshot()?,
        })
    }

    /// The version of the current catalog.
    pub(crate) fn catalog_version(&self) -> u64 {
        match &self.within {
            Some(transaction) => transaction.catalog.version(),
            None => self.own.catalog.version(),
        }
    }

    /// The cached statements. A connection with tables of its own has a cache of its own, and so has each user.
    pub(crate) fn statements(&self) -> &StatementCache {
        match &self.user {
            _ if !self.own.catalog.is_empty() => &self.own.statements,
            None => &self.shared.statements,
            Some(user) => &user.statements,
        }
    }

    /// Whether a statement cached for this session may be used by another one.
    pub(crate) fn shares_plans_with(&self, other: &Self) -> bool {
        let id = |session: &Self| session.user.as_ref().map(|user| user.id);
        Arc::ptr_eq(&self.shared, &other.shared) && id(self) == id(other)
    }

    /// A snapshot of all rows; inside a transaction, the transaction's view.
    pub(crate) fn snapshot(&self) -> Result<Arc<dyn Snapshot>, Error> {
        Ok(match &self.within {
            Some(transaction) => transaction.rows.snapshot()?,
            None => self.shared.tables.snapshot()?,
        })
    }

    /// A snapshot of all rows and a catalog that fits it: not newer than the rows, because an index is complete only in rows as new as the
    /// definition that marks it complete; not older, because an index is not updated for rows newer than the change that drops it.
    pub(crate) fn moment(&self) -> Result<Moment, Error> {
        loop {
            let catalog = self.catalog()?;
            let snapshot = self.snapshot()?;
            if self.catalog_version() == catalog.version() {
                return Ok((snapshot, catalog));
            }
        }
    }

    /// The time of `now()`, in milliseconds since 1970; inside a transaction, the time of its beginning.
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

    /// # Errors
    /// [`ErrorCode::ReadOnly`].
    pub(crate) fn writable(&self) -> Result<(), Error> {
        match self.shared.options.readonly {
            true => Err(Error::new(ErrorCode::ReadOnly, "the database is open for reading only")),
            false => Ok(()),
        }
    }

    /// The number of rows that stay committed if a statement fails after it has written `written` rows: 0 inside a transaction.
    pub(crate) fn committed(&self, written: u64) -> u64 {
        if self.within.is_some() { 0 } else { written }
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// A session of the same connection with a slot of its own, so that dropping a future cancels only its own statement.
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

    /// Reads some of the settings. A statement needs few of them; a copy of all would take a noticeable part of its time.
    pub(crate) fn read_settings<T>(&self, read: impl FnOnce(&Settings) -> T) -> T {
        read(&self.settings.lock())
    }

    /// Cancels the running statement of this session, and any statement that it still starts.
    pub(crate) fn abandon(&self) {
        self.slot.abandoned.store(true, SeqCst);
        self.slot.cancel();
    }

    /// A handle that stops the statements of all sessions of the connection.
    pub(crate) fn interrupt_handle(&self) -> InterruptHandle {
        InterruptHandle { slots: self.slots.clone() }
    }

    /// A context for a statement that begins now.
    pub(crate) fn begin(&self) -> ScanContext {
        let (budget, memory_max) = self.budget();
        self.begin_within(budget, memory_max, self.shared.options.threads)
    }

    /// A context for a [try](crate::at_once) of a statement.
    pub(crate) fn begin_try(&self) -> ScanContext {
        let (budget, memory_max) = self.budget();
        self.begin_within(budget.or_less(TRY_BUDGET), memory_max, Threads::ONE)
    }

    /// The limits that the settings give a statement, and the most bytes of its memory.
    fn budget(&self) -> (Budget, usize) {
        self.read_settings(|settings| {
            let Settings { rows_max, bytes_max, statement_timeout: time_max, statement_memory_limit, .. } = *settings;
            (Budget { rows_max, bytes_max, time_max }, statement_memory_limit)
        })
    }

    fn begin_within(&self, budget: Budget, memory_max: usize, threads: Threads) -> ScanContext {
        let shared = &self.shared;
        let memory = StatementMemory::new(shared.memory.clone(), memory_max);
        let context = ScanContext::of_statement(budget, threads, memory);
        {
            let mut last = self.slot.last.lock();
            (last.context, last.read_at_once) = (Some(context.clone()), None);
        }
        self.within.iter().for_each(|transaction| transaction.began(&context));
        if self.slot.abandoned.load(SeqCst) {
            context.cancel();
        }
        context
    }

    /// Makes a statement that begins now that of the thread, if its calls wait for servers: reads by key, commits and definitions have no
    /// context of their own, and end with this one. The calls of the embedded storage do not wait.
    pub(crate) fn enter_calls(&self) -> Option<EnteredCalls> {
        if self.shared.storage.is_some() {
            return None;
        }
        let (budget, memory_max) = self.budget();
        let memory = StatementMemory::new(self.shared.memory.clone(), memory_max);
        let context = ScanContext::of_statement(budget, Threads::ONE, memory);
        let outer = self.slot.last.lock().whole.replace(context.clone());
        if self.slot.abandoned.load(SeqCst) {
            context.cancel();
        }
        Some(EnteredCalls { slot: self.slot.clone(), outer, _entered: context.enter() })
    }

    /// The amounts of scanned rows, bytes and time from which a statement gets a notice.
    pub(crate) fn warnings(&self) -> Warnings {
        self.read_settings(|settings| {
            let Settings { rows_warn: rows, bytes_warn: bytes, time_warn: time, .. } = *settings;
            Warnings { rows, bytes, time }
        })
    }

    /// The context of the last statement.
    pub(crate) fn last_context(&self) -> Option<ScanContext> {
        self.slot.last.lock().context.clone()
    }

    /// Records the reads of a statement that ended at once, and returns its rows.
    pub(crate) fn read_at_once(&self, rows: RowsOutcome) -> RowsOutcome {
        self.slot.last.lock().read_at_once = Some(rows.read);
        rows
    }

    /// The reads of the last statement.
    pub(crate) fn last_reads(&self) -> Stats {
        let LastStatement { context, read_at_once, .. } = &*self.slot.last.lock();
        let of_context = || context.as_ref().map(|context| Stats::of(&context.counters));
        read_at_once.or_else(of_context).unwrap_or_default()
    }

    /// The guard for a statement with these hints.
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

    /// The guard for a query.
    pub(crate) fn guard_of(&self, query: StatementQuery<'_>, catalog: &dyn CatalogReader) -> Result<Guard, Error> {
        let hints = canonical_hints(query.hints(), catalog)?;
        Ok(Guard { views: view_places(query, catalog)?, ..self.guard(&hints) })
    }

    /// The dialect of the session's statements.
    pub(crate) fn dialect(&self) -> Dialect {
        self.read_settings(|settings| settings.dialect)
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
