//! Increments and appends, each done once for a nonce.

use hbase_client::WireError;
use hbase_client::cell::{Cell, CellKind, CellParts, LATEST_TIMESTAMP};
use hbase_client::proto::MutationType;

use super::mutation_cells::Mutation;
use crate::exception::Exception;
use crate::name::RegionId;
use crate::server_id::ServerId;
use crate::state::State;

fn wrong(error: WireError) -> Exception {
    Exception::do_not_retry(error.to_string())
}

fn long(value: &[u8]) -> Result<i64, Exception> {
    let bytes = value.try_into();
    bytes
        .map(i64::from_be_bytes)
        .map_err(|_| Exception::do_not_retry(format!("Field is not a long, it's {} bytes wide", value.len())))
}

/// Changes the row and gives the new cells. A nonce that the server knows changes nothing and gives the cells of the first time.
///
/// Nonces are the server's: a region that moves leaves them, so a call that is sent again to the new place is done again. If a server
/// dies, those who take its regions get its nonces, because they stand in its log.
pub(crate) fn change(
    state: &mut State,
    server: ServerId,
    region: &RegionId,
    mutation: &Mutation,
    nonce_group: u64,
) -> Result<Vec<Cell>, Exception> {
    let nonce = mutation.nonce.map(|nonce| (nonce_group, nonce));
    if let Some(known) = nonce.and_then(|nonce| state.servers.get(server.0)?.nonces.get(&nonce)) {
        return Ok(known.clone());
    }
    let now = state.clock.tick();
    let table = state.table(&region.table)?;
    let row = table.row(&mutation.row);
    let mut cells = Vec::with_capacity(mutation.cells.len());
    for cell in &mutation.cells {
        let old = row.and_then(|row| row.cell(cell.family(), cell.qualifier()));
        let value = match mutation.kind {
            MutationType::Increment => {
                let before = old.map_or(Ok(0), |old| long(old.value()))?;
                before.wrapping_add(long(cell.value())?).to_be_bytes().to_vec()
            }
            _ => [old.map_or(&[][..], Cell::value), cell.value()].concat(),
        };
        let asked = Some(cell.timestamp()).filter(|time| *time != LATEST_TIMESTAMP).unwrap_or(now);
        let timestamp = asked.max(old.map_or(0, Cell::timestamp));
        let parts = CellParts { kind: CellKind::PUT, timestamp, value: &value, ..cell.parts() };
        cells.push(Cell::new(parts).map_err(wrong)?);
    }
    state.table_mut(&region.table)?.apply(&cells, now).map_err(wrong)?;
    if let Some(nonce) = nonce {
        state.server_mut(server)?.nonces.insert(nonce, cells.clone());
    }
    Ok(cells)
}
