//! The Postgres wire protocol over Saltwing's library.
//!
//! [`Postgres::serve`] serves one connection from its first byte to its last. A session is one task: it reads a message, runs what the message wants by the
//! library's asynchronous calls, and streams the answer. While a statement runs, the task reads ahead from the socket, so that it notices a client that goes.
//!
//! | module | has |
//! |---|---|
//! | `wire` | bytes: the transport, messages of clients, limits of their size, whether the client is still there |
//! | `login` | TLS, the version of the protocol, SCRAM, cancellation requests |
//! | `session` | the simple and the extended protocol, portals and cursors, transactions, COPY |
//! | `session_statement`, `settings` | statements that the session answers itself, and the parameters of PostgreSQL |
//! | `copy` | COPY statements, and the formats of their rows |
//! | `values` | types and values in their text and binary forms |
//! | `error_fields`, `messages` | errors and other messages of the server |
//!
//! pgwire has the messages of the server and the server's side of SCRAM. Its session loop is not used (decision 36).
//!
//! # Invariants
//! * Nothing that a client sends panics or allocates more than the limits allow: lengths and counts are checked before memory is taken.
//! * A result is in memory as a few batches at most, however slowly its client reads.
//! * A statement that was cancelled tells its outcome if it writes: a commit is never reported as an error.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic))]

mod copy;
mod error_fields;
mod login;
mod messages;
mod ready;
mod session;
mod session_statement;
mod settings;
mod values;
mod wire;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use saltwing_pg_catalog::PgCatalog;
use saltwing_sessions::{Phase, Sessions};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio_rustls::rustls::ServerConfig;

/// How long a session has for its farewell after its statement was cancelled at the end of the process.
const FAREWELL: Duration = Duration::from_millis(700);

/// The Postgres protocol over the sessions of a process. Cheap to clone.
#[derive(Clone)]
pub struct Postgres {
    sessions: Sessions,
    catalog: Arc<PgCatalog>,
    tls: Option<TlsConfig>,
}

/// TLS of the connections.
#[derive(Clone)]
pub struct TlsConfig {
    /// The certificate and its key. New connections take the present value.
    pub current: watch::Receiver<Arc<ServerConfig>>,
    /// Whether a connection without TLS is refused.
    pub is_required: bool,
}

impl Postgres {
    /// The protocol over these sessions.
    pub fn new(sessions: Sessions, tls: Option<TlsConfig>) -> Self {
        let catalog = Arc::new(PgCatalog::new(sessions.database()));
        Self { sessions, catalog, tls }
    }

    /// Serves a connection until it ends: because the client closes it, is refused or idle for too long, or because the process ends.
    pub async fn serve(&self, stream: TcpStream, peer: SocketAddr) {
        let session = async {
            if let Some(logged_in) = login::log_in(&self.sessions, self.tls.as_ref(), stream, peer).await {
                session::serve(&self.sessions, self.catalog.clone(), logged_in).await;
            }
        };
        tokio::select! {
            biased;
            () = session => {}
            // A client that does not read its last messages is not waited for.
            () = end_of_farewell(self.sessions.phase()) => {}
        }
    }
}

/// Ends when the process cannot wait for its sessions any longer.
async fn end_of_farewell(mut phase: watch::Receiver<Phase>) {
    // The sender lives as long as the sessions.
    let _ = phase.wait_for(|phase| *phase == Phase::Cancelling).await;
    tokio::time::sleep(FAREWELL).await;
}
