//! Servers that die.

use super::assignment::{any_server, open};
use crate::exception::Exception;
use crate::name::{META, RegionId};
use crate::server_id::ServerId;
use crate::state::State;

/// Ends a server: its sockets are cut, its scanners are gone. The catalog goes on naming it.
pub(crate) fn kill(state: &mut State, server: ServerId) -> Result<(), Exception> {
    let server = state.server_mut(server)?;
    server.lives.send_replace(false);
    server.scanners.clear();
    server.closed_scanners.clear();
    Ok(())
}

/// Opens the regions of dead servers at live ones, the catalog first, and hands their nonces on: they stand in their logs.
pub(crate) fn recover(state: &mut State) -> Result<(), Exception> {
    let is_dead = |state: &State, server: ServerId| !state.servers.get(server.0).is_some_and(|is| is.is_alive());
    let lost = state.regions.values().filter(|region| region.server().is_some_and(|server| is_dead(state, server)));
    let mut lost: Vec<RegionId> = lost.map(|region| region.id.clone()).collect();
    lost.sort_by_key(|region| region.table != META);
    for region in lost {
        let server = any_server(state)?;
        open(state, &region, server)?;
    }
    let dead = state.servers.iter_mut().filter(|server| !server.is_alive());
    let nonces: Vec<_> = dead.flat_map(|server| std::mem::take(&mut server.nonces)).collect();
    for server in state.servers.iter_mut().filter(|server| server.is_alive()) {
        server.nonces.extend(nonces.iter().cloned());
    }
    Ok(())
}
