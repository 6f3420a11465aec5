//! Servers that die and come back.

use std::io;

use super::handle::Cluster;
use crate::exception::Exception;
use crate::name::META_REGION;
use crate::operation::{kill, move_meta, recover};
use crate::server_id::ServerId;

impl Cluster {
    /// Kills a region server: its sockets are cut, and nobody listens at its address. `hbase:meta` goes on naming it; its regions
    /// are open elsewhere after [`Cluster::recover`].
    ///
    /// # Errors
    /// `RegionServerStoppedException` if there was never such a server.
    pub fn kill(&self, server: ServerId) -> Result<(), Exception> {
        kill(&mut self.state(), server)
    }

    /// Cuts the connections of a server that goes on: calls in flight have no answers, and new connections are welcome.
    ///
    /// # Errors
    /// As [`Cluster::kill`].
    pub fn cut_connections(&self, server: ServerId) -> Result<(), Exception> {
        self.state().server_mut(server)?.cuts.send_replace(());
        Ok(())
    }

    /// Opens the regions of dead servers elsewhere, with all their rows.
    ///
    /// # Errors
    /// `HBaseIOException` if no server lives.
    pub fn recover(&self) -> Result<(), Exception> {
        recover(&mut self.state())
    }

    /// Starts a region server at the address of a dead one. It is a new server, with another start code and without regions.
    ///
    /// # Errors
    /// Those of sockets: the old listener may need a moment to end.
    pub fn restart(&self, dead: ServerId) -> io::Result<ServerId> {
        let port = self.state().server_mut(dead).map_err(|error| io::Error::other(error.to_string()))?.port();
        self.start_server_at(port)
    }

    /// Kills the master: its sockets are cut, and the region servers know of none.
    pub fn kill_master(&self) {
        self.state().master.lives.send_replace(false);
    }

    /// Moves `hbase:meta` to a server; its old place answers that it moved.
    ///
    /// # Errors
    /// `RegionServerStoppedException` if there was never such a server.
    pub fn move_meta(&self, to: ServerId) -> Result<(), Exception> {
        let mut state = self.state();
        state.server_mut(to)?;
        let from = state.regions.get(META_REGION).and_then(|region| region.server());
        move_meta(&mut state, to)?;
        if let (Some(from), Some(meta)) = (from, state.regions.get_mut(META_REGION)) {
            meta.left.insert(from, (to, meta.opened_at));
        }
        Ok(())
    }
}
