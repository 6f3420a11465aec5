//! A cluster: started and configured.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use hbase_client::proto::ServerName;
use parking_lot::MutexGuard;
use tokio::runtime::Handle;

use crate::exception::Exception;
use crate::listener::{Shared, bind, listen};
use crate::operation::move_meta;
use crate::server_id::ServerId;
use crate::state::{Server, State};

/// A cluster, which ends when it is dropped. Its methods change it at once and do not wait; they may be called from any thread.
///
/// Methods that fail give the exception that a real master would give for the same request.
#[derive(Debug)]
pub struct Cluster {
    pub(super) shared: Arc<Shared>,
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let state = self.state();
        for process in state.servers.iter().chain([&state.master]) {
            process.lives.send_replace(false);
        }
    }
}

impl Cluster {
    /// Starts a master and `region_servers` region servers on loopback sockets. The first server has `hbase:meta`.
    ///
    /// # Errors
    /// Those of sockets.
    ///
    /// # Panics
    /// Outside of a runtime of tokio, as all that needs one.
    pub fn start(region_servers: usize) -> io::Result<Self> {
        let (listener, port) = bind(0)?;
        let master = Server::new(port, 1);
        let lives = master.lives.subscribe();
        let shared = Arc::new(Shared::new(State::new(master), Handle::current()));
        listen(&shared, None, listener, lives);
        let cluster = Self { shared };
        for _ in 0..region_servers {
            cluster.start_server()?;
        }
        if region_servers > 0 {
            move_meta(&mut cluster.state(), ServerId(0)).map_err(|error| io::Error::other(error.to_string()))?;
        }
        Ok(cluster)
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state()
    }

    /// Starts one more region server.
    ///
    /// # Errors
    /// Those of sockets.
    pub fn start_server(&self) -> io::Result<ServerId> {
        self.start_server_at(0)
    }

    pub(super) fn start_server_at(&self, port: u16) -> io::Result<ServerId> {
        let (listener, port) = bind(port)?;
        let mut state = self.state();
        let start_code = 1_700_000_000_000 + state.next_number();
        let server = Server::new(port, start_code);
        let lives = server.lives.subscribe();
        let id = ServerId(state.servers.len());
        state.servers.push(server);
        drop(state);
        listen(&self.shared, Some(id), listener, lives);
        Ok(id)
    }

    /// `host:port` of the master.
    pub fn master(&self) -> String {
        self.state().master.address()
    }

    /// `host:port` of a region server; it stays after its death.
    ///
    /// # Errors
    /// `RegionServerStoppedException` if there was never such a server.
    pub fn address(&self, server: ServerId) -> Result<String, Exception> {
        Ok(self.state().server_mut(server)?.address())
    }

    /// Host, port and start code of a region server.
    ///
    /// # Errors
    /// As [`Cluster::address`].
    pub fn server_name(&self, server: ServerId) -> Result<ServerName, Exception> {
        Ok(self.state().server_mut(server)?.name.clone())
    }

    /// The region servers that live.
    pub fn servers(&self) -> Vec<ServerId> {
        let state = self.state();
        (0..state.servers.len()).map(ServerId).filter(|id| state.servers[id.0].is_alive()).collect()
    }

    /// How long an idle scanner lives; 60 s at the start.
    pub fn set_lease(&self, lease: Duration) {
        self.state().options.lease = lease;
    }

    /// Ends the leases of all scanners now.
    pub fn end_leases(&self) {
        for server in &mut self.state().servers {
            server.scanners.clear();
        }
    }

    /// The number of scanners that clients hold.
    pub fn open_scanners(&self) -> usize {
        self.state().servers.iter().map(|server| server.scanners.len()).sum()
    }

    /// The most bytes of cells in an answer of Scan, whatever the client asks for; 100 MiB at the start. An answer of Multi that has
    /// more gives exceptions for the rest of its actions.
    pub fn set_scan_bytes_max(&self, bytes: u64) {
        self.state().options.scan_bytes_max = bytes;
    }

    /// How long each call takes; nothing at the start. With a latency calls run side by side.
    pub fn set_latency(&self, latency: Duration) {
        self.state().options.latency = latency;
    }

    /// The most calls that a region server has in hand: those beyond get `CallQueueTooBigException`. It needs a latency to matter.
    pub fn set_queue_max(&self, calls: usize) {
        self.state().options.queue_max = calls;
    }

    /// How often a procedure of the master is said to run before it does its work and is said to be finished; once at the start.
    pub fn set_procedure_polls(&self, polls: u32) {
        self.state().options.procedure_polls = polls;
    }
}
