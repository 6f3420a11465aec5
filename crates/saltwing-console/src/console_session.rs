//! The session of a login.

use std::sync::Arc;

use parking_lot::Mutex;
use saltwing::Connection;
use saltwing_sessions::{Login as User, Session, Sessions};

use crate::error::ConsoleError;

/// Rows that a COPY or the build of an index has written, and how many they will be, if that is known.
type Progress = Arc<Mutex<Option<(u64, Option<u64>)>>>;

/// The session of a login, with what its statements report.
pub(crate) struct ConsoleSession {
    session: Session,
    sessions: Sessions,
    /// Reads the catalog, also while a statement of the session runs or its transaction has failed.
    pub(crate) catalog: Connection,
    pub(crate) progress: Progress,
}

impl ConsoleSession {
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
        Ok(Self { session, sessions: sessions.clone(), catalog, progress })
    }

    /// The session among those of all protocols.
    pub(crate) fn session(&self) -> &Session {
        &self.session
    }

    /// The connection of its statements.
    pub(crate) fn connection(&self) -> &Connection {
        self.session.connection()
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

    /// Rows that its running statement has scanned so far, if that is known.
    pub(crate) fn rows_scanned(&self) -> Option<u64> {
        self.session.info().statement?.rows_scanned
    }

    /// Cancels its statement, if one runs.
    pub(crate) fn cancel(&self) {
        self.sessions.cancel(self.session.id());
    }
}

/// Notes the progress of the connection's COPY FROM and CREATE INDEX.
fn report_to(progress: &Progress, connection: &Connection) {
    let of_copy = progress.clone();
    connection.on_copy_progress(move |copy| *of_copy.lock() = Some((copy.rows, None)));
    let of_index = progress.clone();
    connection.on_index_progress(move |index| *of_index.lock() = Some((index.rows, Some(index.rows_estimated))));
}
