//! The logins by their tokens.
//!
//! # Invariants
//! * A token names one login until it ends, and none after that.
//! * A login ends if it is not used for too long, or if the server is about to end and nothing of it runs.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use saltwing_sessions::{Login as User, Phase, Protocol, Refusal, Sessions};

use crate::console_session::ConsoleSession;
use crate::error::ConsoleError;
use crate::login::Login;
use crate::token::Token;

/// The most logins at once. A group of people needs fewer, and a script that sends no cookies cannot take all connections.
pub(crate) const LOGINS_MAX: usize = 64;
/// The longest name of a user, and the longest password.
const CREDENTIAL_BYTES_MAX: usize = 1000;
/// The time between two sweeps, which end idle logins and the runs of browsers that have gone.
pub(crate) const SWEEP_EVERY: Duration = Duration::from_secs(1);
/// The name of the owner of a database without users.
const OWNER: &str = "owner";

/// The logins of a server.
pub(crate) struct Logins {
    sessions: Sessions,
    open: Mutex<HashMap<Token, Arc<Login>>>,
}

impl Logins {
    /// None yet.
    pub(crate) fn new(sessions: Sessions) -> Self {
        Self { sessions, open: Mutex::default() }
    }

    /// The sessions of the process.
    pub(crate) fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    /// The login of a token.
    pub(crate) fn login(&self, token: &Token) -> Option<Arc<Login>> {
        self.open.lock().get(token).cloned().inspect(|login| login.touch())
    }

    /// A new login: of the owner if the database has no users, otherwise of a user with this name and password.
    ///
    /// # Errors
    /// [`ConsoleError::NoLogin`] without a name; [`ConsoleError::TooManyLogins`]; [`ConsoleError::Refusal`].
    pub(crate) async fn log_in(
        &self,
        peer: Option<SocketAddr>,
        credentials: Option<(&str, &str)>,
    ) -> Result<(Token, Arc<Login>), ConsoleError> {
        let arrival = self.sessions.arrive(Protocol::Http, peer)?;
        self.check_room()?;
        let user = match credentials {
            Some((user, password)) if user.len().max(password.len()) > CREDENTIAL_BYTES_MAX => {
                return Err(Refusal::WrongPassword { user: user.chars().take(40).collect() }.into());
            }
            Some((user, password)) => arrival.check_password(user, password).await?,
            None if self.sessions.has_users()? => return Err(ConsoleError::NoLogin),
            None => User::Owner { name: OWNER.to_owned() },
        };
        let session = ConsoleSession::new(arrival.log_in(user)?, &self.sessions)?;
        let login = Arc::new(Login::new(session, self.sessions.limits()));
        let token = Token::random()?;
        self.check_room()?;
        self.open.lock().insert(token.clone(), login.clone());
        Ok((token, login))
    }

    fn check_room(&self) -> Result<(), ConsoleError> {
        match self.open.lock().len() < LOGINS_MAX {
            true => Ok(()),
            false => Err(ConsoleError::TooManyLogins { max: LOGINS_MAX }),
        }
    }

    /// Ends a login, and cancels what it runs.
    pub(crate) fn log_out(&self, token: &Token) {
        let login = self.open.lock().remove(token);
        if let Some(login) = login {
            end(&login);
        }
    }

    /// Ends logins, cancels runs, and closes results that nobody asks for.
    pub(crate) fn sweep(&self, phase: Phase, now: Instant) {
        let ended: Vec<Arc<Login>> = {
            let mut open = self.open.lock();
            let is_over = |login: &Login| login.is_expired(now) || (phase != Phase::Serving && !login.runs());
            let tokens: Vec<Token> =
                open.iter().filter(|(_, login)| is_over(login)).map(|(token, _)| token.clone()).collect();
            tokens.iter().filter_map(|token| open.remove(token)).collect()
        };
        ended.iter().for_each(|login| end(login));
        let open: Vec<Arc<Login>> = self.open.lock().values().cloned().collect();
        for login in open {
            let run = login.run.lock().clone();
            if let Some(run) = run {
                run.sweep(&login.session, now);
            }
        }
    }
}

/// Cancels what a login runs and closes its results. Its session ends with the last call that uses it.
fn end(login: &Login) {
    let run = login.run.lock().take();
    if let Some(run) = run {
        run.cancel(&login.session);
        run.close();
    }
}
