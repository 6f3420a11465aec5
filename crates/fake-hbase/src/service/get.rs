//! Get.

use hbase_client::cell::Cell;
use hbase_client::proto::{Get, GetRequest, GetResponse, RowResult};

use super::regions::{check_families, check_row, check_row_length};
use super::reply::{CellForm, Reply, row_result};
use crate::columns::Columns;
use crate::exception::Exception;
use crate::filter::Filter;
use crate::name::RegionId;
use crate::scanner::filtered;
use crate::server_id::ServerId;
use crate::state::State;

/// The cells of a row that a get reads.
pub(crate) fn cells_of(state: &State, region: &RegionId, get: Get) -> Result<Vec<Cell>, Exception> {
    check_row_length(&get.row)?;
    check_row(region, &get.row, "Get")?;
    let table = state.table(&region.table)?;
    let columns = Columns::new(get.column, get.time_range, get.cf_time_range);
    check_families(table, &region.table, columns.families())?;
    let mut filter = get.filter.as_ref().map(Filter::decode).transpose()?;
    let cells = table.row(&get.row).map(|row| columns.cells(row)).unwrap_or_default();
    match &mut filter {
        None => Ok(cells),
        Some(filter) => filtered(filter, &get.row, cells, false).map_err(|error| Exception::io(error.to_string())),
    }
}

/// The result of a get; its cells are appended to the block.
pub(crate) fn get_result(
    state: &State,
    region: &RegionId,
    get: Get,
    in_block: bool,
    block: &mut Vec<Cell>,
) -> Result<RowResult, Exception> {
    if get.closest_row_before == Some(true) {
        return Err(Exception::fatal("exceptions.UnknownProtocolException", "getClosestRowBefore is gone"));
    }
    let existence_only = get.existence_only == Some(true);
    let cells = cells_of(state, region, get)?;
    if existence_only {
        return Ok(RowResult { exists: Some(!cells.is_empty()), stale: Some(false), ..RowResult::default() });
    }
    Ok(row_result(cells, in_block, block))
}

pub(crate) fn get(state: &State, server: ServerId, request: GetRequest, form: CellForm) -> Result<Reply, Exception> {
    let region = state.region(server, &request.region)?.id.clone();
    let mut cells = Vec::new();
    let in_block = form.in_blocks && form.gets_in_blocks;
    let result = get_result(state, &region, request.get, in_block, &mut cells)?;
    let reply = Reply::of(&GetResponse { result: Some(result) });
    Ok(Reply { cells, ..reply })
}
