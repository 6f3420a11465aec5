//! One login.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use saltwing::TransactionState;
use saltwing_sessions::Limits;

use crate::console_session::ConsoleSession;
use crate::run::Run;

/// A login that is not used for as long ends, unless the limits say otherwise.
const IDLE_MAX: Duration = Duration::from_secs(1800);

/// A login of a browser: its session, and what it runs.
pub(crate) struct Login {
    pub(crate) session: Arc<ConsoleSession>,
    /// The last run.
    pub(crate) run: Mutex<Option<Arc<Run>>>,
    used: Mutex<Instant>,
    /// Outside and inside a transaction.
    idle_max: (Duration, Duration),
}

impl Login {
    /// Nothing runs yet.
    pub(crate) fn new(session: ConsoleSession, limits: &Limits) -> Self {
        let outside = limits.idle_timeout.unwrap_or(IDLE_MAX);
        let inside = limits.idle_in_transaction_timeout.map_or(outside, |inside| inside.min(outside));
        let (run, used) = (Mutex::default(), Mutex::new(Instant::now()));
        Self { session: Arc::new(session), run, used, idle_max: (outside, inside) }
    }

    /// Notes a call.
    pub(crate) fn touch(&self) {
        *self.used.lock() = Instant::now();
    }

    /// Whether nothing of it runs, and it was not used for so long that it ends.
    pub(crate) fn is_expired(&self, now: Instant) -> bool {
        let (outside, inside) = self.idle_max;
        let is_outside = self.session.connection().transaction_state() == TransactionState::None;
        let silent = now.saturating_duration_since(*self.used.lock());
        !self.runs() && silent >= if is_outside { outside } else { inside }
    }

    /// Whether a statement of it runs.
    pub(crate) fn runs(&self) -> bool {
        self.run.lock().as_ref().is_some_and(|run| run.is_running())
    }
}
