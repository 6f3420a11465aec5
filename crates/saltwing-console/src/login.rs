//! One login.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use saltwing::{Connection, TransactionState};
use saltwing_sessions::{Limits, Login as User, Session, Sessions};

use crate::error::ConsoleError;
use crate::run::Run;

/// A login that is not used for as long ends, unless the limits say otherwise.
const IDLE_MAX: Duration = Duration::from_secs(1800);

/// Rows that a COPY or the build of an index has written, and how many they will be, if that is known.
pub(crate) type Progress = Arc<Mutex<Option<(u64, Option<u64>)>>>;

/// A login of a browser: its session, and what it runs.
pub(crate) struct Login {
    pub(crate) session: Session,
    /// Reads the catalog, also while a statement of the session runs or its transaction has failed.
    pub(crate) catalog: Connection,
    pub(crate) sessions: Sessions,
    /// The last run.
    pub(crate) run: Mutex<Option<Arc<Run>>>,
    pub(crate) progress: Progress,
    used: Mutex<Instant>,
    /// Outside and inside a transaction.
    idle_max: (Duration, Duration),
}

impl Login {
    /// # Errors
    /// The user was dropped meanwhile.
    pub(crate) fn new(session: Session, sessions: &Sessions) -> Result<Self, ConsoleError> {
        let catalog = match session.login() {
            User::Owner { .. } => sessions.database().connect(),
            User::User(name) => sessions.database().connect_as(name)?,
        };
        let progress = Progress::default();
        report_to(&progress, session.connection());
        session.set_application("console");
        let idle_max = idle_max(sessions.limits());
        let (run, used) = (Mutex::default(), Mutex::new(Instant::now()));
        Ok(Self { session, catalog, sessions: sessions.clone(), run, progress, used, idle_max })
    }

    /// The name of its user.
    pub(crate) fn user(&self) -> &str {
        self.session.login().name()
    }

    /// Whether it is the owner's, who sees all sessions.
    pub(crate) fn is_owner(&self) -> bool {
        matches!(self.session.login(), User::Owner { .. })
    }

    /// Whether it may see what a user does.
    pub(crate) fn sees(&self, user: &str) -> bool {
        self.is_owner() || self.user().to_lowercase() == user.to_lowercase()
    }

    /// Notes a call.
    pub(crate) fn touch(&self) {
        *self.used.lock() = Instant::now();
    }

    /// Whether it was not used for so long that it ends.
    pub(crate) fn is_expired(&self, now: Instant) -> bool {
        let (outside, inside) = self.idle_max;
        let max = match self.session.connection().transaction_state() {
            TransactionState::None => outside,
            _ => inside,
        };
        now.saturating_duration_since(*self.used.lock()) >= max
    }

    /// Whether a statement of it runs.
    pub(crate) fn runs(&self) -> bool {
        self.run.lock().as_ref().is_some_and(|run| run.is_running())
    }
}

fn idle_max(limits: &Limits) -> (Duration, Duration) {
    let outside = limits.idle_timeout.unwrap_or(IDLE_MAX);
    (outside, limits.idle_in_transaction_timeout.map_or(outside, |inside| inside.min(outside)))
}

/// Notes the progress of the connection's COPY FROM and CREATE INDEX.
fn report_to(progress: &Progress, connection: &Connection) {
    let of_copy = progress.clone();
    connection.on_copy_progress(move |copy| *of_copy.lock() = Some((copy.rows, None)));
    let of_index = progress.clone();
    connection.on_index_progress(move |index| *of_index.lock() = Some((index.rows, Some(index.rows_estimated))));
}
