//! The sessions of a process.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use saltwing::{Connection, Database, Error, ErrorCode};
use tokio::sync::watch;

use crate::failed_logins::FailedLogins;
use crate::limits::Limits;
use crate::login::{Login, Protocol};
use crate::phase::Phase;
use crate::refusal::Refusal;
use crate::registry::{Place, Registry};
use crate::session::Session;
use crate::shared::{SessionInfo, Shared, secret, shown};
use crate::statement_log::EndedStatement;

/// The sessions of a process over one database. Cheap to clone.
#[derive(Clone)]
pub struct Sessions(pub(crate) Arc<Registry>);

impl Sessions {
    /// No sessions yet.
    pub fn new(database: Database, limits: Limits) -> Self {
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
            log: Arc::default(),
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

/// A connection before its login.
pub struct Arrival {
    place: Place,
    protocol: Protocol,
    peer: Option<SocketAddr>,
}

impl Arrival {
    /// The client's address.
    pub fn peer(&self) -> Option<SocketAddr> {
        self.peer
    }

    /// Notes a wrong password, and gives the time to wait before the client is answered: it grows with the failures of its address.
    pub fn note_wrong_password(&self, user: &str) -> Duration {
        metrics::counter!("saltwing_server_failed_logins_total", "protocol" => self.protocol.as_str()).increment(1);
        let delay =
            self.peer.map_or(Duration::ZERO, |peer| self.place.registry.failed_logins.note(peer.ip(), Instant::now()));
        let peer = self.peer.map(tracing::field::display);
        tracing::warn!(target: "saltwing::server", protocol = self.protocol.as_str(), peer, user, ?delay, "wrong password");
        delay
    }

    /// Checks a name and a password that the client sent as they are, and waits as [`Arrival::note_wrong_password`] says if they are wrong. A database without users
    /// takes every name.
    ///
    /// # Errors
    /// [`Refusal::WrongPassword`]; [`Refusal::Database`].
    pub async fn check_password(&self, user: &str, password: &str) -> Result<Login, Refusal> {
        let database = self.place.registry.database.clone();
        let (name, password) = (user.to_owned(), password.to_owned());
        let checked = tokio::task::spawn_blocking(move || {
            if !database.has_users()? {
                return Ok(Login::Owner { name });
            }
            database.authenticate(&name, &password).map(|_| Login::User(name))
        });
        let checked = checked.await.map_err(|error| {
            tracing::error!(target: "saltwing::server", %error, "the check of a password did not end");
            Refusal::ShuttingDown
        })?;
        match checked {
            Ok(login) => Ok(login),
            Err(error) if error.code() == ErrorCode::InvalidPassword => {
                tokio::time::sleep(self.note_wrong_password(user)).await;
                Err(Refusal::WrongPassword { user: user.to_owned() })
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The session of a client whose login is right.
    ///
    /// # Errors
    /// [`Refusal::TooManyOfUser`]; [`Refusal::NoPassword`]; [`Refusal::ShuttingDown`]; [`Refusal::Database`], among others if the user was dropped meanwhile.
    pub fn log_in(self, login: Login) -> Result<Session, Refusal> {
        let registry = self.place.registry.clone();
        if *registry.phase.borrow() != Phase::Serving {
            return Err(Refusal::ShuttingDown);
        }
        // The first user may have come since the client was taken for the owner.
        let is_owner = matches!(login, Login::Owner { .. });
        if is_owner && (registry.requires_users.load(SeqCst) || registry.database.has_users()?) {
            return Err(Refusal::NoPassword);
        }
        let user_place = registry.user_place(login.name())?;
        let connection = self.connection(&login)?;
        if let Some(peer) = self.peer {
            registry.failed_logins.forget(peer.ip());
        }
        let secret = secret()?;
        let shared = registry.enlist(|id| {
            Arc::new(Shared::new(
                id,
                secret,
                &connection,
                self.protocol,
                self.peer,
                login.name(),
                registry.limits.slow_statement,
                registry.log.clone(),
            ))
        });
        // A phase that came meanwhile has not seen this session.
        if *registry.phase.borrow() == Phase::Cancelling {
            registry.remove(shared.id());
            return Err(Refusal::ShuttingDown);
        }
        Ok(Session::new(registry, shared, connection, login, self.place, user_place))
    }

    fn connection(&self, login: &Login) -> Result<Connection, Refusal> {
        let registry = &self.place.registry;
        let connection = match login {
            Login::Owner { .. } => registry.database.connect(),
            Login::User(name) => registry.database.connect_as(name)?,
        };
        Ok(connection.with_settings(|settings| {
            settings.statement_timeout = registry.limits.statement_timeout;
            settings.transaction_timeout = registry.limits.transaction_timeout;
        }))
    }
}
