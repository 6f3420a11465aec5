//! Which server has a region.

use bytes::Bytes;

use crate::exception::Exception;
use crate::name::{META, RegionId};
use crate::server_id::ServerId;
use crate::state::{Region, State, Status, write_location};

/// The region that has a row: the one that is in service, or will be.
pub(crate) fn region_of(state: &State, table: &str, row: &[u8]) -> Result<RegionId, Exception> {
    state.table(table)?;
    let regions = state.live_regions(table);
    let found = regions.into_iter().find(|region| region.contains(row));
    found.ok_or_else(|| Exception::do_not_retry(format!("no region of {table} has {}", row.escape_ascii())))
}

/// The region that has a row, if a server that lives has it open: only such regions split and merge.
pub(crate) fn open_region_of(state: &State, table: &str, row: &[u8]) -> Result<RegionId, Exception> {
    let region = region_of(state, table, row)?;
    let is_open = |is: &Region| match is.status {
        Status::Open(server) => state.servers.get(server.0).is_some_and(|server| server.is_alive()),
        _ => false,
    };
    if state.regions.get(&region.name()).is_some_and(is_open) {
        return Ok(region);
    }
    Err(Exception::not_serving_region(&region.name().escape_ascii().to_string()))
}

/// The server that a new region goes to: one that lives, each in its turn.
pub(crate) fn any_server(state: &mut State) -> Result<ServerId, Exception> {
    let alive: Vec<usize> = (0..state.servers.len()).filter(|at| state.servers[*at].is_alive()).collect();
    if alive.is_empty() {
        return Err(Exception::new("HBaseIOException", "no region server lives"));
    }
    let turn = state.next_number() as usize % alive.len();
    Ok(ServerId(alive[turn]))
}

/// Opens a region at a server and writes that to the catalog.
pub(crate) fn open(state: &mut State, region: &RegionId, server: ServerId) -> Result<(), Exception> {
    open_unseen(state, region, server)?;
    tell_catalog(state, region)
}

fn open_unseen(state: &mut State, region: &RegionId, server: ServerId) -> Result<u64, Exception> {
    let name = region.name();
    state.open_region(&name, server).ok_or_else(|| Exception::not_serving_region(&name.escape_ascii().to_string()))
}

/// Writes to the catalog where a region is.
pub(crate) fn tell_catalog(state: &mut State, region: &RegionId) -> Result<(), Exception> {
    let is = state.regions.get(&region.name());
    let Some((server, seq)) = is.and_then(|region| Some((region.server()?, region.opened_at))) else { return Ok(()) };
    if region.table == META {
        return Ok(());
    }
    write_location(state, region, server, seq).map_err(|error| Exception::io(error.to_string()))
}

/// Lets a region leave its server for another one. There it opens at once, or after [`finish_opening`].
pub(crate) fn move_region(state: &mut State, region: &RegionId, to: ServerId, at_once: bool) -> Result<(), Exception> {
    if !state.servers.get(to.0).is_some_and(|server| server.is_alive()) {
        return Err(Exception::new("HBaseIOException", "the region's new server does not live"));
    }
    let name: Bytes = region.name();
    let from = state.regions.get(&name).and_then(|region| region.server());
    open_unseen(state, region, to)?;
    let Some(is) = state.regions.get_mut(&name) else { return Ok(()) };
    if let Some(from) = from.filter(|from| *from != to) {
        is.left.insert(from, (to, is.opened_at));
    }
    if !at_once {
        is.status = Status::Opening(to);
    }
    Ok(())
}

/// Closes a region that is open; the catalog goes on naming its server.
pub(crate) fn close_region(state: &mut State, table: &str, row: &[u8]) -> Result<RegionId, Exception> {
    let region = open_region_of(state, table, row)?;
    if let Some(is) = state.regions.get_mut(&region.name()) {
        is.status = Status::Closed;
        is.left.clear();
    }
    Ok(region)
}

/// Opens closed regions at a server that lives: all at the same one.
pub(crate) fn open_regions(state: &mut State, regions: &[RegionId]) -> Result<(), Exception> {
    let server = any_server(state)?;
    regions.iter().try_for_each(|region| open(state, region, server))
}

/// Opens the regions that are about to be open, and tells the catalog.
pub(crate) fn finish_opening(state: &mut State) -> Result<(), Exception> {
    let opening = state.regions.values().filter_map(|region| match region.status {
        Status::Opening(server) => Some((region.id.clone(), server)),
        _ => None,
    });
    for (region, server) in opening.collect::<Vec<_>>() {
        open(state, &region, server)?;
    }
    Ok(())
}
