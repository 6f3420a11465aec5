//! A run: the statements of one text, in a task of their own, of which calls ask how far it is.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::console_session::ConsoleSession;
use crate::run_state::RunState;

/// A run of which no call has asked for as long is cancelled: the browser is gone.
const POLL_MAX: Duration = Duration::from_secs(10);
/// Rows that are left are closed if no call asks for them: they keep old rows on the disk.
const OPEN_MAX: Duration = Duration::from_secs(300);

/// The statements of one text.
pub(crate) struct Run {
    pub(crate) id: u64,
    pub(crate) rows_max: usize,
    began: Instant,
    is_cancelled: AtomicBool,
    ended: Notify,
    asked: Mutex<Instant>,
    pub(crate) state: Mutex<RunState>,
}

impl Run {
    /// Nothing of it has run yet.
    pub(crate) fn new(id: u64, rows_max: usize) -> Self {
        let (began, state, ended) = (Instant::now(), Mutex::default(), Notify::new());
        Self { id, rows_max, began, is_cancelled: AtomicBool::new(false), ended, asked: Mutex::new(began), state }
    }

    /// Notes that a call asks for it.
    pub(crate) fn touch(&self) {
        *self.asked.lock() = Instant::now();
    }

    /// Whether no further statement of it begins.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(SeqCst)
    }

    /// Notes that all statements have ended.
    pub(crate) fn end(&self) {
        self.state.lock().is_ended = true;
        self.touch();
        self.ended.notify_waiters();
    }

    /// Whether a statement of it runs.
    pub(crate) fn is_running(&self) -> bool {
        !self.state.lock().is_ended
    }

    /// Stops the statement that runs, and begins no further one.
    pub(crate) fn cancel(&self, session: &ConsoleSession) {
        if self.is_running() {
            self.is_cancelled.store(true, SeqCst);
            session.cancel();
        }
    }

    /// Gives up the rows that are left.
    pub(crate) fn close(&self) {
        let open = std::mem::take(&mut self.state.lock().open);
        drop(open);
    }

    /// Cancels it, or closes its rows, if no call has asked for too long.
    pub(crate) fn sweep(&self, session: &ConsoleSession, now: Instant) {
        let silent = now.saturating_duration_since(*self.asked.lock());
        if self.is_running() && silent >= POLL_MAX {
            tracing::info!(target: "saltwing::console", session = session.session().id(), "nobody asks for a statement, which is cancelled");
            self.cancel(session);
        } else if silent >= OPEN_MAX {
            self.close();
        }
    }

    /// How far it is; takes the results if it has ended.
    pub(crate) fn described(&self, session: &ConsoleSession) -> Value {
        let mut state = self.state.lock();
        let mut value = json!({ "run": self.id, "place": state.place, "count": state.count, "elapsed_ms": self.began.elapsed().as_millis() as u64 });
        let Some(fields) = value.as_object_mut() else { return value };
        if state.is_ended {
            fields.insert("results".to_owned(), std::mem::take(&mut state.results).into());
        } else {
            let (written, total) = session.progress.lock().map_or((None, None), |(rows, total)| (Some(rows), total));
            fields.insert("rows_scanned".to_owned(), json!(session.rows_scanned()));
            fields.insert("rows_written".to_owned(), json!(written));
            fields.insert("rows_total".to_owned(), json!(total));
        }
        value
    }

    /// Waits for the end, but no longer than this.
    pub(crate) async fn wait(&self, most: Duration) {
        let ended = self.ended.notified();
        if self.is_running() {
            // The time is up, which is no failure.
            let _: Result<(), tokio::time::error::Elapsed> = tokio::time::timeout(most, ended).await;
        }
        *self.asked.lock() = Instant::now();
    }
}
