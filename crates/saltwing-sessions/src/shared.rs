//! The state of one session that other tasks see, and its running statement.

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use metrics::{Counter, Histogram};
use parking_lot::Mutex;
use saltwing::syntax::without_passwords;
use saltwing::{Connection, InterruptHandle};
use tokio_util::sync::CancellationToken;

use crate::login::Protocol;
use crate::refusal::Refusal;
use crate::session_info::{SessionInfo, StatementInfo};
use crate::statement_log::{EndedStatement, StatementLog};

/// A longer text is cut before it is kept, so that the log of statements takes bounded memory.
const TEXT_KEPT_MAX: usize = 16 << 10;
/// The characters of a statement that the log and the list show.
const TEXT_SHOWN_MAX: usize = 2000;

/// 32 random bytes.
pub(crate) fn secret() -> Result<[u8; 32], Refusal> {
    let mut secret = [0; 32];
    getrandom::fill(&mut secret).map_err(|error| {
        tracing::error!(target: "saltwing::server", %error, "the system gives no random bytes");
        Refusal::ShuttingDown
    })?;
    Ok(secret)
}

/// What is known of a session outside its task.
pub(crate) struct Shared {
    pub(crate) id: u32,
    pub(crate) secret: [u8; 32],
    pub(crate) interrupt: InterruptHandle,
    pub(crate) protocol: Protocol,
    pub(crate) peer: Option<SocketAddr>,
    pub(crate) user: Arc<str>,
    pub(crate) log: Arc<StatementLog>,
    pub(crate) since: SystemTime,
    pub(crate) state: Mutex<State>,
    metrics: StatementMetrics,
}

/// The metrics of statements of one protocol. To find them by name takes longer than to add to them.
struct StatementMetrics {
    done: Counter,
    failed: Counter,
    seconds: Histogram,
}

impl StatementMetrics {
    fn new(protocol: Protocol) -> Self {
        let count = |outcome: &'static str| metrics::counter!("saltwing_server_statements_total", "protocol" => protocol.as_str(), "outcome" => outcome);
        let seconds = metrics::histogram!("saltwing_server_statement_seconds", "protocol" => protocol.as_str());
        Self { done: count("ok"), failed: count("error"), seconds }
    }

    /// Counts a statement.
    fn note(&self, took: Duration, is_done: bool) {
        let count = if is_done { &self.done } else { &self.failed };
        count.increment(1);
        self.seconds.record(took.as_secs_f64());
    }
}

#[derive(Default)]
pub(crate) struct State {
    application: String,
    /// Of the statement that runs.
    running: Option<CancellationToken>,
    statement: Option<LastStatement>,
    /// Tells the rows that the statement which runs has scanned, once its result has begun.
    progress: Option<Arc<dyn Fn() -> u64 + Send + Sync>>,
}

pub(crate) struct LastStatement {
    text: Arc<str>,
    began: Instant,
    took: Option<Duration>,
}

impl Shared {
    pub(crate) fn new(
        id: u32,
        secret: [u8; 32],
        connection: &Connection,
        protocol: Protocol,
        peer: Option<SocketAddr>,
        user: &str,
        log: Arc<StatementLog>,
    ) -> Self {
        let (interrupt, user, since) = (connection.interrupt_handle(), user.into(), SystemTime::now());
        let (state, metrics) = (Mutex::default(), StatementMetrics::new(protocol));
        Self { id, secret, interrupt, protocol, peer, user, log, since, state, metrics }
    }

    pub(crate) fn id(&self) -> u32 {
        self.id
    }

    /// Compares in a time that does not depend on the bytes.
    pub(crate) fn has_secret(&self, secret: &[u8]) -> bool {
        // Clients of protocol 3.0 know the first four bytes.
        let own = match secret.len() {
            4 | 32 => self.secret.get(..secret.len()).unwrap_or(&self.secret),
            _ => return false,
        };
        own.iter().zip(secret).fold(0, |difference, (own, other)| difference | (own ^ other)) == 0
    }

    pub(crate) fn cancel(&self) {
        let token = self.state.lock().running.clone();
        if let Some(token) = token {
            token.cancel();
            self.interrupt.interrupt();
        }
    }

    pub(crate) fn info(&self) -> SessionInfo {
        // A call of the library is known by the handle, a result by its own function.
        let in_call = self.interrupt.rows_scanned();
        let state = self.state.lock();
        let statement = state.statement.as_ref().map(|statement| StatementInfo {
            text: shown(&statement.text),
            is_running: statement.took.is_none(),
            elapsed: statement.took.unwrap_or_else(|| statement.began.elapsed()),
            rows_scanned: state
                .progress
                .as_ref()
                .map(|progress| progress())
                .or(in_call)
                .filter(|_| statement.took.is_none()),
        });
        SessionInfo {
            id: self.id,
            protocol: self.protocol,
            peer: self.peer,
            user: self.user.to_string(),
            application: state.application.clone(),
            since: self.since,
            statement,
        }
    }

    /// The name that the client gives itself, for lists and the log.
    pub(crate) fn set_application(&self, name: &str) {
        name.clone_into(&mut self.state.lock().application);
    }

    /// Begins a statement: from now on a cancellation stops it, and lists show its text.
    pub(crate) fn begin(self: &Arc<Self>, text: Arc<str>) -> RunningStatement {
        let (token, began) = (CancellationToken::new(), Instant::now());
        let mut state = self.state.lock();
        state.running = Some(token.clone());
        state.progress = None;
        state.statement = Some(LastStatement { text: text.clone(), began, took: None });
        drop(state);
        RunningStatement { shared: self.clone(), token, text, began, rows: 0, sqlstate: None }
    }
}

/// The beginning of a statement's text, without passwords.
pub(crate) fn shown(text: &str) -> String {
    let text = without_passwords(text).unwrap_or_else(|| text.to_owned());
    match text.char_indices().nth(TEXT_SHOWN_MAX) {
        Some((end, _)) => format!("{}..", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

/// A statement that runs, from its text to its last row. Dropping it ends it: it is counted, and logged if it was slow.
pub struct RunningStatement {
    shared: Arc<Shared>,
    token: CancellationToken,
    text: Arc<str>,
    began: Instant,
    rows: u64,
    sqlstate: Option<String>,
}

impl RunningStatement {
    /// Ends when the statement is cancelled; never, if it is not.
    pub async fn cancelled(&self) {
        self.token.cancelled().await;
    }

    /// Waits for a call of the library that runs it. If the statement is cancelled, the call is interrupted, and still tells its outcome: a write may have been committed.
    pub async fn outcome<T>(&self, call: impl Future<Output = T>) -> T {
        let mut call = pin!(call);
        tokio::select! {
            biased;
            value = &mut call => return value,
            () = self.cancelled() => {}
        }
        loop {
            // An interrupt that came before the library had begun the statement stopped nothing.
            self.cancel();
            tokio::select! {
                biased;
                value = &mut call => return value,
                () = tokio::time::sleep(Duration::from_millis(10)) => {}
            }
        }
    }

    /// Whether it was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.token.is_cancelled()
    }

    /// Cancels it, as a client does that is gone.
    pub fn cancel(&self) {
        self.shared.cancel();
    }

    /// Lets lists tell how many rows its result has scanned, by [`ArrowRows::progress`](saltwing::ArrowRows::progress).
    pub fn report_progress(&self, progress: impl Fn() -> u64 + Send + Sync + 'static) {
        self.shared.state.lock().progress = Some(Arc::new(progress));
    }

    /// Counts rows that the client got, or that the statement wrote.
    pub fn add_rows(&mut self, rows: u64) {
        self.rows = self.rows.saturating_add(rows);
    }

    /// Notes that it failed.
    pub fn fail(&mut self, sqlstate: &str) {
        self.sqlstate = Some(sqlstate.to_owned());
    }

    fn ended(&self, took: Duration) -> EndedStatement {
        let is_kept = self.text.len() <= TEXT_KEPT_MAX;
        EndedStatement {
            session: self.shared.id,
            protocol: self.shared.protocol,
            user: self.shared.user.clone(),
            text: if is_kept { self.text.clone() } else { shown(&self.text).into() },
            ended: SystemTime::now(),
            took,
            rows: self.rows,
            sqlstate: self.sqlstate.clone(),
        }
    }
}

impl Drop for RunningStatement {
    fn drop(&mut self) {
        let took = self.began.elapsed();
        let mut state = self.shared.state.lock();
        state.running = None;
        state.progress = None;
        if let Some(statement) = &mut state.statement {
            statement.took = Some(took);
        }
        drop(state);
        self.shared.metrics.note(took, self.sqlstate.is_none());
        self.shared.log.note(self.ended(took));
        if self.shared.log.is_slow(took) {
            let (session, user, rows) = (self.shared.id, &*self.shared.user, self.rows);
            let protocol = self.shared.protocol.as_str();
            let (seconds, sql, sqlstate) = (took.as_secs_f64(), shown(&self.text), self.sqlstate.as_deref());
            tracing::warn!(target: "saltwing::server", session, protocol, user, seconds, rows, sqlstate, sql, "slow statement");
        }
    }
}
