//! The connections that clients have open, by the ids that they have chosen.
//!
//! # Invariants
//! * A connection answers the requests of the client that opened it, and of no other: each one brings its name and password. Wrong ones are delayed as at the
//!   login, whoever's connection it is.
//! * One request of a connection runs at a time; those of different connections run side by side.
//! * An id that was removed from the list never names the same session again: a request that waited for it gets the error of a missing connection.

use std::collections::HashMap;
use std::collections::hash_map::Entry as MapEntry;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use saltwing_sessions::{Login, Phase, Protocol, Sessions};
use tokio::time::Instant;

use crate::authorization::{Credentials, is_same_client};
use crate::connection::Connection;
use crate::error::AvaticaError;
use crate::messages::OpenConnectionRequest;
use crate::wire::{Body, Request, Response, beginning};

/// How often connections and statements that are idle for too long are looked for.
pub(crate) const SWEEP_EVERY: Duration = Duration::from_secs(5);
/// The longest id of a connection; drivers send UUIDs.
const ID_BYTES_MAX: usize = 200;
/// The name of the owner of a database without users, if the client gives none.
const OWNER: &str = "owner";

/// The connections of a server.
pub(crate) struct Connections {
    sessions: Sessions,
    open: Mutex<HashMap<String, Arc<Entry>>>,
}

/// A connection in the list.
pub(crate) struct Entry {
    credentials: Option<Credentials>,
    /// `None` after its end.
    connection: tokio::sync::Mutex<Option<Connection>>,
}

#[cfg(test)]
impl Entry {
    /// Holds the connection, as a request does that runs.
    pub(crate) async fn lock_for_test(&self) -> tokio::sync::MutexGuard<'_, Option<Connection>> {
        self.connection.lock().await
    }
}

impl Connections {
    /// None yet.
    pub(crate) fn new(sessions: Sessions) -> Self {
        Self { sessions, open: Mutex::default() }
    }

    fn open_ones(&self) -> MutexGuard<'_, HashMap<String, Arc<Entry>>> {
        // Each change of the map is one call, so a panic of another thread leaves the map consistent.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers a request of a client with these credentials. Little of it is decoded before the credentials are known to be right.
    ///
    /// # Errors
    /// Those of the request.
    pub(crate) async fn answer(
        &self,
        peer: Option<SocketAddr>,
        credentials: Option<Credentials>,
        body: Body,
    ) -> Result<Response, AvaticaError> {
        if body.opens_connection() {
            let Request::OpenConnection(request) = body.request()? else {
                return Err(AvaticaError::Bug("a request that opens a connection is another one"));
            };
            self.open(peer, credentials, request).await?;
            return Ok(Response::OpenConnection);
        }
        let id = body.connection_id()?;
        let entry = self.open_ones().get(&id).cloned();
        let entry = match entry {
            Some(entry) if is_same_client(entry.credentials.as_ref(), credentials.as_ref()) => entry,
            Some(_) => {
                // One without a password guesses none.
                if let Some(given) = &credentials {
                    self.sessions.delay_wrong_password(Protocol::Avatica, peer, &given.user).await;
                }
                return Err(AvaticaError::Unauthorized);
            }
            None if credentials.is_none() && self.sessions.has_users()? => return Err(AvaticaError::Unauthorized),
            None if body.closes_connection() => return Ok(Response::CloseConnection),
            None => return Err(no_connection(&id)),
        };
        let request = body.request()?;
        let mut place = entry.connection.lock().await;
        let Some(connection) = place.as_mut() else { return Err(no_connection(&id)) };
        if matches!(request, Request::CloseConnection(_)) {
            self.remove(&id, &entry);
            *place = None;
            return Ok(Response::CloseConnection);
        }
        // Also before: a request that is given up does not come to its end.
        connection.touch();
        let answered = connection.answer(request).await;
        connection.touch();
        if *self.sessions.phase().borrow() != Phase::Serving {
            self.remove(&id, &entry);
            *place = None;
        }
        answered
    }

    /// Opens a connection after the check of its user's password.
    async fn open(
        &self,
        peer: Option<SocketAddr>,
        credentials: Option<Credentials>,
        request: OpenConnectionRequest,
    ) -> Result<(), AvaticaError> {
        let OpenConnectionRequest { connection_id: id, info } = request;
        if id.is_empty() || id.len() > ID_BYTES_MAX {
            return Err(AvaticaError::BadConnectionId { bytes: id.len(), max: ID_BYTES_MAX });
        }
        check_info(&info)?;
        let arrival = self.sessions.arrive(Protocol::Avatica, peer)?;
        let login = match &credentials {
            Some(given) => arrival.check_password(&given.user, &given.password).await?,
            None if self.sessions.has_users()? => return Err(AvaticaError::Unauthorized),
            None => Login::Owner { name: info.get("user").map_or(OWNER, |user| user).to_owned() },
        };
        if self.open_ones().contains_key(&id) {
            return Err(AvaticaError::ConnectionExists { id });
        }
        let session = arrival.log_in(login)?;
        let connection = Connection::new(id.clone(), session, self.sessions.limits());
        let entry = Entry { credentials, connection: tokio::sync::Mutex::new(Some(connection)) };
        match self.open_ones().entry(id) {
            // Another request was faster; the session ends.
            MapEntry::Occupied(other) => Err(AvaticaError::ConnectionExists { id: other.key().clone() }),
            MapEntry::Vacant(place) => {
                place.insert(Arc::new(entry));
                Ok(())
            }
        }
        // The phase may have changed since the login: the next sweep ends the session then.
    }

    /// Takes this entry, and no later one of the same id, out of the list.
    fn remove(&self, id: &str, entry: &Arc<Entry>) {
        let mut open = self.open_ones();
        if open.get(id).is_some_and(|listed| Arc::ptr_eq(listed, entry)) {
            open.remove(id);
        }
    }

    /// Ends connections that no request uses: those that are idle for too long, or all of them if the server is about to end. Closes idle
    /// statements of the others.
    pub(crate) fn sweep(&self, phase: Phase, now: Instant) {
        let entries: Vec<(String, Arc<Entry>)> =
            self.open_ones().iter().map(|(id, entry)| (id.clone(), entry.clone())).collect();
        for (id, entry) in entries {
            // A connection that is locked is not idle.
            let Ok(mut place) = entry.connection.try_lock() else { continue };
            match place.as_mut() {
                Some(connection) if phase == Phase::Serving && !connection.is_expired(now) => {
                    connection.statements.expire(now)
                }
                _ => {
                    self.remove(&id, &entry);
                    *place = None;
                    if phase == Phase::Serving {
                        tracing::info!(target: "saltwing::avatica", connection = id, "an idle connection is closed");
                    }
                }
            }
        }
    }

    #[cfg(test)]
    pub(crate) fn entry(&self, id: &str) -> Option<Arc<Entry>> {
        self.open_ones().get(id).cloned()
    }

    /// The limits and the phase.
    pub(crate) fn sessions(&self) -> &Sessions {
        &self.sessions
    }
}

/// Properties of Phoenix's connections that change which rows statements read or write. They are refused, others have no effect.
const REFUSED: [(&str, &str, &str); 3] = [
    ("schema", "a schema of the connection", "write the schema before the name, as in s.t"),
    ("TenantId", "a tenant of the connection", "make the tenant a leading key column"),
    ("CurrentSCN", "a time of the connection", "FROM t AS OF TIMESTAMP '..' reads older rows"),
];

/// # Errors
/// [`AvaticaError::Unsupported`].
fn check_info(info: &HashMap<String, String>) -> Result<(), AvaticaError> {
    let is_given = |name: &str| info.iter().any(|(key, value)| key.eq_ignore_ascii_case(name) && !value.is_empty());
    match REFUSED.iter().find(|(name, ..)| is_given(name)) {
        Some((_, feature, help)) => Err(AvaticaError::Unsupported { feature, help }),
        None => Ok(()),
    }
}

fn no_connection(id: &str) -> AvaticaError {
    AvaticaError::NoSuchConnection { id: beginning(id, ID_BYTES_MAX) }
}
