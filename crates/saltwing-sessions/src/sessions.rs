//! The sessions of a process.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use saltwing::{Database, Error};
use tokio::sync::watch;

use crate::arrival::Arrival;
use crate::failed_logins::FailedLogins;
use crate::limits::Limits;
use crate::login::Protocol;
use crate::phase::Phase;
use crate::refusal::Refusal;
use crate::registry::{Place, Registry};
use crate::session_info::SessionInfo;
use crate::shared::{Shared, shown};
use crate::statement_log::{EndedStatement, StatementLog};

/// The sessions of a process over one database. Cheap to clone.
#[derive(Clone)]
pub struct Sessions(pub(crate) Arc<Registry>);

impl Sessions {
    /// No sessions yet.
    pub fn new(database: Database, limits: Limits) -> Self {
        let log = Arc::new(StatementLog::new(limits.slow_statement));
        Self(Arc::new(Registry {
            database,
            limits,
            phase: watch::Sender::new(Phase::Serving),
            connections: AtomicUsize::new(0),
            sessions: Mutex::default(),
            of_users: Mutex::default(),
            next_id: AtomicU32::new(1),
            failed_logins: FailedLogins::default(),
            requires_users: AtomicBool::new(false),
            log,
        }))
    }

    /// The database.
    pub fn database(&self) -> &Database {
        &self.0.database
    }

    /// The limits.
    pub fn limits(&self) -> &Limits {
        &self.0.limits
    }

    /// The phase, and its changes.
    pub fn phase(&self) -> watch::Receiver<Phase> {
        self.0.phase.subscribe()
    }

    /// The connections that are open, those before the login among them.
    pub fn connections(&self) -> usize {
        self.0.connections.load(SeqCst)
    }

    /// A place for a connection that has come in.
    ///
    /// # Errors
    /// [`Refusal::TooManyConnections`], [`Refusal::ShuttingDown`].
    pub fn arrive(&self, protocol: Protocol, peer: Option<SocketAddr>) -> Result<Arrival, Refusal> {
        if *self.0.phase.borrow() != Phase::Serving {
            return Err(Refusal::ShuttingDown);
        }
        let max = self.0.limits.connections_max;
        let counted = self.0.connections.fetch_update(SeqCst, SeqCst, |open| (open < max).then_some(open + 1));
        let labels = [("protocol", protocol.as_str())];
        metrics::counter!("saltwing_server_connections_total", &labels).increment(1);
        if counted.is_err() {
            metrics::counter!("saltwing_server_connections_refused_total", &labels).increment(1);
            tracing::warn!(target: "saltwing::server", protocol = protocol.as_str(), max, "connection refused: too many");
            return Err(Refusal::TooManyConnections { max });
        }
        let place = Place { registry: self.0.clone() };
        Ok(Arrival { place, protocol, peer })
    }

    /// Whether clients must log in as users: the database has some.
    ///
    /// # Errors
    /// The catalog's.
    pub fn has_users(&self) -> Result<bool, Error> {
        self.0.database.has_users()
    }

    /// Notes a wrong password that a client sent after its login, as a client of HTTP does with each request, and waits as
    /// [`Arrival::note_wrong_password`] says.
    pub async fn delay_wrong_password(&self, protocol: Protocol, peer: Option<SocketAddr>, user: &str) {
        let delay = self.0.note_wrong_password(protocol, peer, user);
        // A timer of no time lets other tasks run first.
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
    }

    /// Lets in users alone from now on. Without it, dropping the last user would make every client the owner, also clients of other machines.
    pub fn require_users(&self) {
        self.0.requires_users.store(true, SeqCst);
    }

    /// The sessions after their login, in the order of their numbers.
    pub fn list(&self) -> Vec<SessionInfo> {
        let sessions: Vec<Arc<Shared>> = self.0.sessions.lock().values().filter_map(Weak::upgrade).collect();
        let mut list: Vec<SessionInfo> = sessions.iter().map(|session| session.info()).collect();
        list.sort_unstable_by_key(|info| info.id);
        list
    }

    /// The statements that ended last, the newest first: at most 250.
    pub fn recent_statements(&self) -> Vec<EndedStatement> {
        without_passwords(self.0.log.recent())
    }

    /// The last statements that took [`Limits::slow_statement`] or more, the newest first: at most 250.
    pub fn slow_statements(&self) -> Vec<EndedStatement> {
        without_passwords(self.0.log.slow())
    }

    /// Cancels the statement that a session runs, whoever wants it. Gives whether there is such a session.
    pub fn cancel(&self, id: u32) -> bool {
        let session = self.0.sessions.lock().get(&id).and_then(Weak::upgrade);
        session.inspect(|session| session.cancel()).is_some()
    }

    /// Cancels the statement that a session runs, for a client that knows the session's secret. A wrong secret does nothing.
    pub fn cancel_with_secret(&self, id: u32, secret: &[u8]) {
        let session = self.0.sessions.lock().get(&id).and_then(Weak::upgrade);
        match session.filter(|session| session.has_secret(secret)) {
            Some(session) => session.cancel(),
            None => {
                tracing::warn!(target: "saltwing::server", session = id, "a cancellation without the session's secret")
            }
        }
    }

    /// Goes to the next phase. An earlier phase than the present one changes nothing.
    pub fn enter(&self, phase: Phase) {
        let is_new = self.0.phase.send_if_modified(|present| {
            let is_later = phase > *present;
            if is_later {
                *present = phase;
            }
            is_later
        });
        if is_new && phase == Phase::Cancelling {
            let sessions: Vec<Arc<Shared>> = self.0.sessions.lock().values().filter_map(Weak::upgrade).collect();
            sessions.iter().for_each(|session| session.cancel());
        }
    }

    /// Ends all sessions: those that wait for a statement at once, the others after `grace` at the latest. Gives whether all have ended
    /// within another second after that.
    pub async fn stop(&self, grace: Duration) -> bool {
        self.enter(Phase::Draining);
        if self.wait_for_end(grace).await {
            return true;
        }
        tracing::warn!(target: "saltwing::server", sessions = self.connections(), "statements still run and are cancelled");
        self.enter(Phase::Cancelling);
        self.wait_for_end(Duration::from_secs(1)).await
    }

    async fn wait_for_end(&self, most: Duration) -> bool {
        let deadline = Instant::now() + most;
        while self.connections() > 0 {
            if Instant::now() >= deadline {
                return false;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        true
    }
}

/// The statements as lists show them.
fn without_passwords(mut statements: Vec<EndedStatement>) -> Vec<EndedStatement> {
    statements.iter_mut().for_each(|statement| statement.text = shown(&statement.text).into());
    statements
}
