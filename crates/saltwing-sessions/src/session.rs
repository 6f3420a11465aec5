//! One session.

use std::sync::Arc;

use saltwing::Connection;

use crate::login::Login;
use crate::registry::{Place, Registry, UserPlace};
use crate::session_info::SessionInfo;
use crate::shared::{RunningStatement, Shared};

/// A session after its login. Dropping it rolls back its open transaction and gives its place back.
pub struct Session {
    registry: Arc<Registry>,
    shared: Arc<Shared>,
    connection: Connection,
    login: Login,
    _places: (Place, UserPlace),
}

impl Session {
    pub(crate) fn new(
        registry: Arc<Registry>,
        shared: Arc<Shared>,
        connection: Connection,
        login: Login,
        place: Place,
        user_place: UserPlace,
    ) -> Self {
        let (protocol, peer) = (shared.protocol.as_str(), shared.peer.map(tracing::field::display));
        tracing::info!(target: "saltwing::server", session = shared.id, protocol, peer, user = &*shared.user, "session begins");
        metrics::gauge!("saltwing_server_sessions", "protocol" => protocol).increment(1.0);
        Self { registry, shared, connection, login, _places: (place, user_place) }
    }

    /// Its number, from 1 to 2^31-1: a client knows it as the number of the process.
    pub fn id(&self) -> u32 {
        self.shared.id
    }

    /// The secret with which its client may cancel from another connection. Clients of the protocol 3.0 get the first 4 bytes.
    pub fn secret(&self) -> &[u8; 32] {
        &self.shared.secret
    }

    /// The library's connection.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Its user.
    pub fn login(&self) -> &Login {
        &self.login
    }

    /// The session as lists show it.
    pub fn info(&self) -> SessionInfo {
        self.shared.info()
    }

    /// The name that the client gives itself, for lists and the log.
    pub fn set_application(&self, name: &str) {
        self.shared.set_application(name);
    }

    /// Begins a statement: from now on a cancellation stops it, and lists show its text.
    pub fn begin(&self, text: impl Into<Arc<str>>) -> RunningStatement {
        self.shared.begin(text.into())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.shared.interrupt.interrupt();
        self.registry.remove(self.shared.id);
        let protocol = self.shared.protocol.as_str();
        metrics::gauge!("saltwing_server_sessions", "protocol" => protocol).decrement(1.0);
        let seconds = self.shared.since.elapsed().unwrap_or_default().as_secs_f64();
        tracing::info!(target: "saltwing::server", session = self.shared.id, protocol, user = &*self.shared.user, seconds, "session ends");
    }
}
