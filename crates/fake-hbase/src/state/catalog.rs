//! What is written to `hbase:meta`.

use hbase_client::WireError;
use hbase_client::proto::{RegionInfo, TableState, TableStateKind};
use prost::Message;

use crate::name::{META, RegionId};
use crate::server_id::ServerId;
use crate::state::cluster_state::State;

/// The bytes of a region as the catalog has them.
fn region_info(info: &RegionInfo) -> Vec<u8> {
    let mut bytes = b"PBUF".to_vec();
    bytes.extend_from_slice(&info.encode_to_vec());
    bytes
}

fn set(state: &mut State, row: &[u8], column: (&str, &str), value: &[u8]) -> Result<(), WireError> {
    let now = state.clock.tick();
    match state.tables.get_mut(META) {
        Some(meta) => meta.set(row, column, value, now),
        None => Ok(()),
    }
}

/// Writes a region that has no server yet.
pub(crate) fn write_region(state: &mut State, id: &RegionId) -> Result<(), WireError> {
    set(state, &id.name(), ("info", "regioninfo"), &region_info(&id.info()))?;
    set(state, &id.name(), ("info", "state"), b"CLOSED")
}

/// Writes where a region is open now.
pub(crate) fn write_location(state: &mut State, id: &RegionId, server: ServerId, seq: u64) -> Result<(), WireError> {
    let Some(is) = state.servers.get(server.0) else { return Ok(()) };
    let (address, text, start_code) = (is.address(), is.text(), is.start_code());
    let row = id.name();
    set(state, &row, ("info", "server"), address.as_bytes())?;
    set(state, &row, ("info", "serverstartcode"), &start_code.to_be_bytes())?;
    set(state, &row, ("info", "seqnumDuringOpen"), &seq.to_be_bytes())?;
    set(state, &row, ("info", "sn"), text.as_bytes())?;
    set(state, &row, ("info", "state"), b"OPEN")
}

/// Writes a parent that has split, which keeps its server, and its daughters, which have none yet.
pub(crate) fn write_daughters(
    state: &mut State,
    parent: &RegionId,
    daughters: [&RegionId; 2],
) -> Result<(), WireError> {
    let info = RegionInfo { offline: Some(true), split: Some(true), ..parent.info() };
    let row = parent.name();
    set(state, &row, ("info", "regioninfo"), &region_info(&info))?;
    set(state, &row, ("info", "state"), b"SPLIT")?;
    for (daughter, qualifier) in daughters.into_iter().zip(["splitA", "splitB"]) {
        set(state, &row, ("info", qualifier), &region_info(&daughter.info()))?;
        write_region(state, daughter)?;
        set(state, &daughter.name(), ("info", "seqnumDuringOpen"), &1_u64.to_be_bytes())?;
    }
    Ok(())
}

/// Writes a region that two were merged to; it is not open, and has their server nevertheless.
pub(crate) fn write_merged(
    state: &mut State,
    merged: &RegionId,
    parents: [&RegionId; 2],
    server: Option<ServerId>,
) -> Result<(), WireError> {
    write_region(state, merged)?;
    for (parent, qualifier) in parents.into_iter().zip(["merge0000", "merge0001"]) {
        set(state, &merged.name(), ("info", qualifier), &region_info(&parent.info()))?;
    }
    if let Some(server) = server {
        write_location(state, merged, server, 1)?;
    }
    set(state, &merged.name(), ("info", "state"), b"CLOSED")
}

/// Takes the row of a region away.
pub(crate) fn forget_region(state: &mut State, id: &RegionId) {
    if let Some(meta) = state.tables.get_mut(META) {
        meta.forget(&id.name());
    }
}

/// Writes whether a table can be read; `None` takes the row away.
pub(crate) fn write_table_state(state: &mut State, table: &str, kind: Option<TableStateKind>) -> Result<(), WireError> {
    match kind {
        Some(kind) => {
            let value = TableState { state: kind as i32 }.encode_to_vec();
            set(state, table.as_bytes(), ("table", "state"), &value)
        }
        None => {
            if let Some(meta) = state.tables.get_mut(META) {
                meta.forget(table.as_bytes());
            }
            Ok(())
        }
    }
}
