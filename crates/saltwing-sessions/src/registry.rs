//! The counted places and the list of the sessions of a process.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use saltwing::Database;
use tokio::sync::watch;

use crate::failed_logins::FailedLogins;
use crate::limits::Limits;
use crate::login::Protocol;
use crate::phase::Phase;
use crate::refusal::Refusal;
use crate::shared::Shared;
use crate::statement_log::StatementLog;

/// The state that all sessions of a process share.
pub(crate) struct Registry {
    pub(crate) database: Database,
    pub(crate) limits: Limits,
    pub(crate) phase: watch::Sender<Phase>,
    pub(crate) connections: AtomicUsize,
    /// Those after the login, by number.
    pub(crate) sessions: Mutex<HashMap<u32, Weak<Shared>>>,
    pub(crate) of_users: Mutex<HashMap<String, usize>>,
    pub(crate) next_id: AtomicU32,
    pub(crate) failed_logins: FailedLogins,
    pub(crate) requires_users: AtomicBool,
    pub(crate) log: Arc<StatementLog>,
}

/// A counted connection; dropping it gives the place back.
pub(crate) struct Place {
    pub(crate) registry: Arc<Registry>,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.registry.connections.fetch_sub(1, SeqCst);
    }
}

/// A counted connection of a user; dropping it gives the place back.
pub(crate) struct UserPlace {
    pub(crate) registry: Arc<Registry>,
    pub(crate) user: String,
}

impl Drop for UserPlace {
    fn drop(&mut self) {
        let mut of_users = self.registry.of_users.lock();
        if let Some(count) = of_users.get_mut(&self.user) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                of_users.remove(&self.user);
            }
        }
    }
}

impl Registry {
    pub(crate) fn user_place(self: &Arc<Self>, user: &str) -> Result<UserPlace, Refusal> {
        let key = user.to_lowercase();
        let max = self.limits.connections_per_user_max;
        let mut of_users = self.of_users.lock();
        let count = of_users.entry(key.clone()).or_insert(0);
        if *count >= max {
            return Err(Refusal::TooManyOfUser { user: user.to_owned(), max });
        }
        *count += 1;
        Ok(UserPlace { registry: self.clone(), user: key })
    }

    /// Notes a wrong password of a client, and gives the time to wait before it is answered: it grows with the failures of its address.
    pub(crate) fn note_wrong_password(&self, protocol: Protocol, peer: Option<SocketAddr>, user: &str) -> Duration {
        metrics::counter!("saltwing_server_failed_logins_total", "protocol" => protocol.as_str()).increment(1);
        let delay = peer.map_or(Duration::ZERO, |peer| self.failed_logins.note(peer.ip(), Instant::now()));
        let peer = peer.map(tracing::field::display);
        tracing::warn!(target: "saltwing::server", protocol = protocol.as_str(), peer, user, ?delay, "wrong password");
        delay
    }

    /// Lists a session under a number that no other one has.
    pub(crate) fn enlist(&self, make: impl FnOnce(u32) -> Arc<Shared>) -> Arc<Shared> {
        let mut sessions = self.sessions.lock();
        let id = loop {
            // Clients read it as a signed number; 0 means none.
            let id = self.next_id.fetch_add(1, SeqCst) & 0x7fff_ffff;
            if id != 0 && !sessions.contains_key(&id) {
                break id;
            }
        };
        let session = make(id);
        sessions.insert(id, Arc::downgrade(&session));
        session
    }

    pub(crate) fn remove(&self, id: u32) {
        self.sessions.lock().remove(&id);
    }
}
