//! A connection before its login.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use saltwing::{Connection, ErrorCode};

use crate::login::{Login, Protocol};
use crate::phase::Phase;
use crate::refusal::Refusal;
use crate::registry::Place;
use crate::session::Session;
use crate::shared::{Shared, secret};

/// A connection before its login.
pub struct Arrival {
    pub(crate) place: Place,
    pub(crate) protocol: Protocol,
    pub(crate) peer: Option<SocketAddr>,
}

impl Arrival {
    /// The client's address.
    pub fn peer(&self) -> Option<SocketAddr> {
        self.peer
    }

    /// Notes a wrong password, and gives the time to wait before the client is answered: it grows with the failures of its address.
    pub fn note_wrong_password(&self, user: &str) -> Duration {
        self.place.registry.note_wrong_password(self.protocol, self.peer, user)
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
            Arc::new(Shared::new(id, secret, &connection, self.protocol, self.peer, login.name(), registry.log.clone()))
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
