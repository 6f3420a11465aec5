//! Serves connections, each to its end.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use saltwing_pg_catalog::PgCatalog;
use saltwing_sessions::{Phase, Sessions};
use tokio::net::TcpStream;
use tokio::sync::watch;

use crate::tls::TlsConfig;
use crate::{login, session};

/// How long a session has for its farewell after its statement was cancelled at the end of the process.
const FAREWELL: Duration = Duration::from_millis(700);

/// The Postgres protocol over the sessions of a process. Cheap to clone.
#[derive(Clone)]
pub struct Postgres {
    sessions: Sessions,
    catalog: Arc<PgCatalog>,
    tls: Option<TlsConfig>,
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
