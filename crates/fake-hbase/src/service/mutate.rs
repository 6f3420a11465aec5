//! Mutate: one mutation of one row.

use hbase_client::cell::Cell;
use hbase_client::frame::CellBlock;
use hbase_client::proto::{MutateRequest, MutateResponse, MutationType};

use super::conditions::{check_same_row, condition_holds, condition_time};
use super::increment::change;
use super::mutation_cells::Mutation;
use super::regions::check_families;
use super::reply::{CellForm, Reply, row_result};
use crate::exception::Exception;
use crate::name::RegionId;
use crate::server_id::ServerId;
use crate::state::State;

/// Refuses rows outside of the region and families that the table does not have.
pub(crate) fn check(state: &State, region: &RegionId, mutation: &Mutation) -> Result<(), Exception> {
    let table = state.table(&region.table)?;
    let families: Vec<_> = mutation.cells.iter().map(|cell| bytes::Bytes::copy_from_slice(cell.family())).collect();
    check_families(table, &region.table, &families)?;
    if region.contains(&mutation.row) {
        return Ok(());
    }
    let text = format!(
        "Requested row out of range for batchMutate on HRegion {}, row='{}'",
        region.name().escape_ascii(),
        mutation.row.escape_ascii()
    );
    Err(Exception::failed_sanity_check(text))
}

/// The most bytes of a cell.
const CELL_BYTES_MAX: usize = 10 << 20;

/// Refuses cells that are too large. One of them refuses all puts and deletes beside it.
pub(crate) fn check_sizes(mutation: &Mutation) -> Result<(), Exception> {
    let size = |cell: &Cell| 4 + cell.key_value().len();
    match mutation.cells.iter().map(size).find(|bytes| *bytes > CELL_BYTES_MAX) {
        Some(bytes) => {
            let text = format!("Cell with size {bytes} exceeds limit of {CELL_BYTES_MAX} bytes");
            Err(Exception::do_not_retry(text))
        }
        None => Ok(()),
    }
}

/// Applies a mutation that was checked; increments and appends give their new cells. A put has the time `at_least`, if the clock is
/// behind it.
pub(crate) fn apply(
    state: &mut State,
    server: ServerId,
    region: &RegionId,
    mutation: &Mutation,
    nonce_group: u64,
    at_least: u64,
) -> Result<Option<Vec<Cell>>, Exception> {
    match mutation.kind {
        MutationType::Increment | MutationType::Append => {
            change(state, server, region, mutation, nonce_group).map(Some)
        }
        MutationType::Put | MutationType::Delete => {
            let now = state.clock.tick().max(at_least);
            let table = state.table_mut(&region.table)?;
            table.apply(&mutation.cells, now).map_err(|error| Exception::do_not_retry(error.to_string()))?;
            Ok(None)
        }
    }
}

pub(crate) fn mutate(
    state: &mut State,
    server: ServerId,
    request: &MutateRequest,
    mut block: CellBlock,
    form: CellForm,
) -> Result<Reply, Exception> {
    let region = state.region(server, &request.region)?.id.clone();
    let mutation = Mutation::decode(&request.mutation, &mut block)?;
    let mutation = mutation.with_families(state.table(&region.table)?, request.mutation.timestamp)?;
    check_sizes(&mutation)?;
    let mut at_least = 0;
    if let Some(condition) = &request.condition {
        check_same_row(condition, &mutation.row)?;
        if !condition_holds(state, &region, condition)? {
            return Ok(Reply::of(&MutateResponse { processed: Some(false), result: None }));
        }
        at_least = condition_time(state, &region, condition);
    }
    check(state, &region, &mutation)?;
    let changed = apply(state, server, &region, &mutation, request.nonce_group.unwrap_or(0), at_least)?;
    let mut cells = Vec::new();
    // Increments and appends say nothing about being processed, unless they have a condition.
    let processed = (changed.is_none() || request.condition.is_some()).then_some(true);
    let result = changed.map(|changed| row_result(changed, form.in_blocks, &mut cells));
    let reply = Reply::of(&MutateResponse { result, processed });
    Ok(Reply { cells, ..reply })
}
