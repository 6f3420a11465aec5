//! The transaction of a session, from BEGIN to COMMIT or ROLLBACK.
//!
//! ```text
//! BEGIN ──> active ──error──> failed ──ROLLBACK TO──> active
//!             │                  └─ ROLLBACK, COMMIT (an error) ──> none
//!             └─ COMMIT, ROLLBACK ──> none
//! ```
//! A statement of a transaction reads the transaction's snapshot with the writes of its earlier statements, and the catalog at the
//! beginning of the transaction. The end of the transaction ends its open row streams.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use saltwing_access::{CommitNo, Savepoint, ScanContext};
use saltwing_catalog::CatalogReader;
use saltwing_exec::OpenTransaction;
use saltwing_sql::Name;
use saltwing_types::ErrorCode;

use crate::Error;

/// A transaction that a session has open.
pub(crate) struct SessionTransaction {
    number: u64,
    pub(crate) is_read_only: bool,
    began: Instant,
    /// The catalog at the beginning of the transaction.
    pub(crate) catalog: Arc<dyn CatalogReader>,
    pub(crate) rows: OpenTransaction,
    /// Whether a statement runs in the transaction.
    is_busy: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    failure: Option<Failure>,
    /// Whether the transaction was open for too long.
    has_expired: bool,
    /// Whether the transaction's guard was dropped.
    is_given_up: bool,
    /// The oldest first. A name may occur twice: the newer savepoint hides the older one.
    savepoints: Vec<(Mark, Savepoint)>,
    /// The number of parts that have begun.
    parts: u64,
    /// Results that are still being read.
    streams: Vec<Weak<RowStream>>,
    /// The statement that began last.
    running: Option<ScanContext>,
    statements: u64,
    /// The number of rows that the statements have written, and of their encoded bytes.
    written: (usize, usize),
}

/// The identity of a savepoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// The name that a statement gave to the savepoint, in lower case.
    Name(String),
    /// The savepoint is the beginning of this part.
    Part(u64),
}

impl From<&Name> for Mark {
    fn from(name: &Name) -> Self {
        Self::Name(name.text.to_lowercase())
    }
}

/// The reason why a transaction takes no more statements.
#[derive(Clone)]
pub(crate) struct Failure {
    code: ErrorCode,
    pub(crate) text: String,
}

/// Whether a connection is in a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionState {
    /// Each statement is a transaction of its own.
    None,
    /// BEGIN has opened one.
    Open,
    /// A statement of it has failed: it takes no more statements before ROLLBACK.
    Failed,
}

/// The session's open transaction, if it has one.
#[derive(Clone, Default)]
pub(crate) struct TransactionSlot(Arc<Mutex<Option<Arc<SessionTransaction>>>>);

/// The open transactions of a database.
#[derive(Default)]
pub(crate) struct Transactions {
    last: AtomicU64,
    open: Mutex<Vec<Weak<SessionTransaction>>>,
}

/// A result that is read while its transaction is open.
pub(crate) struct RowStream {
    transaction: Weak<SessionTransaction>,
    context: ScanContext,
    has_ended: AtomicBool,
}

/// A statement's exclusive right to run in the transaction.
pub(crate) struct Claim<'a>(&'a SessionTransaction);

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        self.0.is_busy.store(false, SeqCst);
        // If the transaction was ended meanwhile, only this claim can release its snapshot: see `expire` and `give_up`.
        if self.0.is_over() {
            self.0.rows.rollback();
        }
    }
}

/// A transaction, or a part of one that can be rolled back alone.
#[derive(Clone, Debug)]
pub(crate) struct TransactionPart {
    /// The number of the transaction.
    number: u64,
    /// The savepoint at the beginning of the part; `None` for the whole transaction.
    mark: Option<Mark>,
}

impl TransactionPart {
    /// The whole transaction.
    pub(crate) fn whole(transaction: &SessionTransaction) -> Self {
        Self { number: transaction.number, mark: None }
    }

    /// The savepoint at the beginning of the part; `None` for a whole transaction.
    pub(crate) fn mark(&self) -> Option<&Mark> {
        self.mark.as_ref()
    }

    /// The transaction, if it is open and this part has not ended.
    pub(crate) fn current(&self, slot: &TransactionSlot) -> Option<Arc<SessionTransaction>> {
        let is_it = |open: &Arc<SessionTransaction>| {
            open.number == self.number && self.mark.as_ref().is_none_or(|mark| open.marked(mark).is_ok())
        };
        slot.current().filter(is_it)
    }
}

impl Failure {
    /// Whether only a new snapshot can resolve the failure.
    fn is_conflict(&self) -> bool {
        matches!(self.code, ErrorCode::Conflict | ErrorCode::SnapshotTooOld)
    }
}

impl TransactionSlot {
    /// Whether both are the same slot; the slots of a session's clones are.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    pub(crate) fn is_open(&self) -> bool {
        self.0.lock().is_some()
    }

    pub(crate) fn current(&self) -> Option<Arc<SessionTransaction>> {
        self.0.lock().clone()
    }

    /// Puts a transaction into the slot if it is free.
    pub(crate) fn open(&self, begin: impl FnOnce() -> Result<Arc<SessionTransaction>, Error>) -> Result<(), Error> {
        let mut slot = self.0.lock();
        if slot.is_some() {
            let text = "a transaction is open already";
            return Err(Error::new(ErrorCode::ActiveTransaction, text)
                .with_help(Some("COMMIT or ROLLBACK ends it; SAVEPOINT marks a part of it")));
        }
        *slot = Some(begin()?);
        Ok(())
    }

    /// Takes the transaction out of the slot and ends its open results. The transaction is neither committed nor rolled back yet.
    pub(crate) fn close(&self) {
        self.0.lock().take().iter().for_each(|transaction| transaction.end_streams());
    }

    /// Marks the open transaction, if there is one, as failed, because a statement failed before it ran.
    pub(crate) fn fail(&self, error: &Error) {
        self.current().iter().for_each(|transaction| transaction.fail(error));
    }

    pub(crate) fn state(&self) -> TransactionState {
        match self.current() {
            None => TransactionState::None,
            Some(transaction) if transaction.failure().is_some() => TransactionState::Failed,
            Some(_) => TransactionState::Open,
        }
    }

    /// The code of the error that made the transaction fail.
    pub(crate) fn failure(&self) -> Option<ErrorCode> {
        self.current()?.failure().map(|failure| failure.code)
    }
}

impl RowStream {
    /// Records an error of a later row.
    pub(crate) fn failed(&self, error: Error) -> Error {
        if self.has_ended.load(SeqCst) {
            let text = "the transaction in which these rows are read has ended";
            let expired = self.transaction.upgrade().filter(|transaction| transaction.has_expired());
            return match expired.and_then(|transaction| transaction.failure()) {
                Some(why) => Error::new(ErrorCode::NoTransaction, format!("{text}: {}", why.text)),
                None => Error::new(ErrorCode::NoTransaction, text)
                    .with_help(Some("read the rows to the end before COMMIT or ROLLBACK")),
            };
        }
        self.transaction.upgrade().iter().for_each(|transaction| transaction.fail(&error));
        error
    }
}

impl SessionTransaction {
    /// `catalog` was read after `rows` began, so it, or a later catalog, has the definitions of all these rows.
    pub(crate) fn new(number: u64, is_read_only: bool, rows: OpenTransaction, catalog: Arc<dyn CatalogReader>) -> Self {
        let (began, is_busy, state) = (Instant::now(), AtomicBool::new(false), Mutex::default());
        Self { number, is_read_only, began, catalog, rows, is_busy, state }
    }

    pub(crate) fn failure(&self) -> Option<Failure> {
        self.state.lock().failure.clone()
    }

    /// # Errors
    /// [`ErrorCode::Locked`] while another statement runs in the transaction.
    pub(crate) fn claim(&self) -> Result<Claim<'_>, Error> {
        match self.is_busy.swap(true, SeqCst) {
            false => Ok(Claim(self)),
            true => Err(Error::new(ErrorCode::Locked, "the transaction runs another statement")
                .with_help(Some("run the statements of a transaction one after the other, or use another connection"))),
        }
    }

    pub(crate) fn fail(&self, error: &Error) {
        let failure = || Failure { code: error.code(), text: error.to_string() };
        self.state.lock().failure.get_or_insert_with(failure);
    }

    /// The error of a statement in a transaction that has failed.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let Some(failure) = self.failure() else { return Ok(()) };
        let text = format!("the transaction failed before, and takes no more statements: {}", failure.text);
        Err(Error::new(ErrorCode::FailedTransaction, text)
            .with_help(Some("ROLLBACK ends it; ROLLBACK TO a savepoint goes on from there")))
    }

    pub(crate) fn savepoint(&self, mark: Mark) -> Result<(), Error> {
        let savepoint = self.rows.savepoint()?;
        self.state.lock().savepoints.push((mark, savepoint));
        Ok(())
    }

    /// Goes back to a savepoint, which remains. A failed transaction continues from there.
    pub(crate) fn rollback_to(&self, mark: &Mark) -> Result<(), Error> {
        let (position, savepoint) = self.marked(mark)?;
        self.rows.rollback_to(savepoint)?;
        let mut state = self.state.lock();
        state.savepoints.truncate(position + 1);
        state.failure = None;
        Ok(())
    }

    pub(crate) fn release(&self, mark: &Mark) -> Result<(), Error> {
        let (position, savepoint) = self.marked(mark)?;
        self.rows.release(savepoint)?;
        self.state.lock().savepoints.truncate(position);
        Ok(())
    }

    /// The newest savepoint with this mark.
    fn marked(&self, mark: &Mark) -> Result<(usize, Savepoint), Error> {
        let state = self.state.lock();
        let found = state.savepoints.iter().enumerate().rev().find(|(_, (known, _))| known == mark);
        found.map(|(position, (_, savepoint))| (position, *savepoint)).ok_or_else(|| {
            let text = match mark {
                Mark::Name(name) => format!("the transaction has no savepoint {name}"),
                Mark::Part(_) => {
                    "the inner transaction ended before, with the savepoint that was set before it".to_owned()
                }
            };
            Error::new(ErrorCode::NoSuchSavepoint, text)
        })
    }

    /// Begins a part of the transaction, which can be rolled back alone.
    pub(crate) fn begin_part(&self) -> Result<TransactionPart, Error> {
        let _claim = self.claim()?;
        self.check()?;
        let mark = {
            let mut state = self.state.lock();
            state.parts += 1;
            Mark::Part(state.parts)
        };
        self.savepoint(mark.clone())?;
        Ok(TransactionPart { number: self.number, mark: Some(mark) })
    }

    /// Ends a part and keeps its writes, unless one of its statements failed.
    pub(crate) fn commit_part(&self, part: &Mark) -> Result<(), Error> {
        let _claim = self.claim()?;
        let Some(failure) = self.failure() else { return self.release(part) };
        self.discard_part(part)?;
        let text = format!("nothing of the inner transaction is kept, since it failed before: {}", failure.text);
        Err(Error::new(ErrorCode::FailedTransaction, text))
    }

    /// Discards the writes since the beginning of a part, and ends it.
    pub(crate) fn rollback_part(&self, part: &Mark) -> Result<(), Error> {
        let _claim = self.claim()?;
        self.discard_part(part)
    }

    /// Continues the transaction from the beginning of the part, unless the whole transaction must run again.
    fn discard_part(&self, part: &Mark) -> Result<(), Error> {
        if self.has_expired() || self.failure().is_some_and(|failure| failure.is_conflict()) {
            return Ok(());
        }
        self.rollback_to(part)?;
        self.release(part)
    }

    /// As [`SessionTransaction::rollback_part`], for a dropped guard. If a statement of the part still runs, its writes cannot be
    /// separated from the others: then the whole transaction fails.
    pub(crate) fn drop_part(&self, part: &Mark) {
        if let Err(error) = self.rollback_part(part) {
            self.cancel();
            let text = format!("an inner transaction was dropped, and could not be rolled back: {error}");
            self.fail(&Error::new(error.code(), text));
        }
    }

    /// Ends the results that are still being read.
    fn end_streams(&self) {
        for stream in self.state.lock().streams.drain(..).filter_map(|stream| stream.upgrade()) {
            stream.has_ended.store(true, SeqCst);
            stream.context.cancel();
        }
    }

    /// Records the end of a statement, and its result if rows of it are still to be read.
    pub(crate) fn ended(self: &Arc<Self>, rows: Option<&ScanContext>) -> Option<Arc<RowStream>> {
        let mut state = self.state.lock();
        state.statements += 1;
        state.written = self.rows.written().unwrap_or(state.written);
        let (transaction, context) = (Arc::downgrade(self), rows?.clone());
        let stream = Arc::new(RowStream { transaction, context, has_ended: AtomicBool::new(false) });
        state.streams.retain(|known| known.strong_count() > 0);
        state.streams.push(Arc::downgrade(&stream));
        Some(stream)
    }

    /// Records the beginning of a statement.
    pub(crate) fn began(&self, context: &ScanContext) {
        self.state.lock().running = Some(context.clone());
    }

    /// Cancels the running statement.
    pub(crate) fn cancel(&self) {
        let running = self.state.lock().running.take();
        running.iter().for_each(ScanContext::cancel);
    }

    /// Ends the transaction because it has been open for too long.
    pub(crate) fn expire(&self, limit: Duration) {
        let text = format!("it was open for longer than transaction_timeout = {} ms", limit.as_millis());
        {
            let mut state = self.state.lock();
            state.has_expired = true;
            state.failure = Some(Failure { code: ErrorCode::Timeout, text });
        }
        self.cancel();
        self.end_streams();
        // The drop of the claim rolls the transaction back; if a statement runs, the drop of that statement's claim does.
        drop(self.claim());
    }

    /// Rolls the transaction back for a dropped guard, without waiting for a running statement.
    pub(crate) fn give_up(&self) {
        self.state.lock().is_given_up = true;
        self.cancel();
        // As in `expire`.
        drop(self.claim());
    }

    /// The transaction's row of SHOW TRANSACTIONS.
    pub(crate) fn row(&self, newest: CommitNo) -> Vec<Option<String>> {
        let state = self.state.lock();
        let mode = if self.is_read_only { "read only" } else { "read write" };
        let shown = match (&state.failure, self.is_busy.load(SeqCst)) {
            (Some(_), _) => "failed",
            (None, true) => "running",
            (None, false) => "idle",
        };
        let numbers = [u128::from(state.statements), state.written.0 as u128, state.written.1 as u128];
        let texts =
            [self.number.to_string(), mode.to_owned(), shown.to_owned(), self.began.elapsed().as_millis().to_string()];
        let commits = newest.0.saturating_sub(self.rows.began_after().0).to_string();
        let pinned = self.rows.pinned_bytes().map(|bytes| bytes.to_string());
        let texts = texts.into_iter().chain(numbers.map(|number| number.to_string())).chain([commits]);
        texts.map(Some).chain([pinned]).collect()
    }

    pub(crate) fn has_expired(&self) -> bool {
        self.state.lock().has_expired
    }

    fn is_over(&self) -> bool {
        let state = self.state.lock();
        state.has_expired || state.is_given_up
    }
}

impl Transactions {
    /// The number of a new transaction.
    pub(crate) fn next_number(&self) -> u64 {
        self.last.fetch_add(1, SeqCst) + 1
    }

    /// The open transactions.
    pub(crate) fn open(&self) -> Vec<Arc<SessionTransaction>> {
        self.open.lock().iter().filter_map(Weak::upgrade).collect()
    }

    pub(crate) fn add(&self, transaction: &Arc<SessionTransaction>) {
        let mut open = self.open.lock();
        open.retain(|known| known.strong_count() > 0);
        open.push(Arc::downgrade(transaction));
    }
}
