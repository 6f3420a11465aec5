//! The service `MasterService`.

use bytes::Bytes;
use hbase_client::proto::{
    AddColumnRequest, AddColumnResponse, CreateTableRequest, CreateTableResponse, DeleteTableRequest,
    DeleteTableResponse, DisableTableRequest, DisableTableResponse, EnableTableRequest, EnableTableResponse,
    ForeignExceptionMessage, GenericExceptionMessage, GetProcedureResultRequest, GetProcedureResultResponse,
    GetTableDescriptorsRequest, GetTableDescriptorsResponse, GetTableNamesRequest, GetTableNamesResponse,
    GetTableStateRequest, GetTableStateResponse, MergeTableRegionsRequest, MergeTableRegionsResponse,
    MoveRegionRequest, MoveRegionResponse, ProcedureState, RegionSpecifier, SetBalancerRunningRequest,
    SetBalancerRunningResponse, SplitTableRegionRequest, SplitTableRegionResponse, TableName, TableState,
};
use prost::Message;

use super::reply::Reply;
use crate::exception::Exception;
use crate::name::{META, RegionId, table_name, table_text};
use crate::operation::{any_server, move_region, poll, submit, tell_catalog};
use crate::server_id::ServerId;
use crate::state::{State, Work};

fn decode<M: Message + Default>(message: Bytes) -> Result<M, Exception> {
    M::decode(message).map_err(|error| Exception::do_not_retry(format!("InvalidProtocolBufferException: {error}")))
}

/// Group and nonce; 0 is none.
fn nonce(group: Option<u64>, nonce: Option<u64>) -> Option<(u64, u64)> {
    nonce.filter(|nonce| *nonce != 0).map(|nonce| (group.unwrap_or(0), nonce))
}

/// Carries a method out.
///
/// # Errors
/// `UnknownProtocolException` for other methods than these.
pub(crate) fn answer(state: &mut State, method: &str, message: Bytes) -> Result<Reply, Exception> {
    match method {
        "CreateTable" => {
            let asked: CreateTableRequest = decode(message)?;
            let work = Work::Create(asked.table_schema, asked.split_keys);
            let proc_id = Some(submit(state, work, nonce(asked.nonce_group, asked.nonce))?);
            Ok(Reply::of(&CreateTableResponse { proc_id }))
        }
        "AddColumn" => {
            let asked: AddColumnRequest = decode(message)?;
            let work = Work::AddFamily(table_text(&asked.table_name), asked.column_families);
            let proc_id = Some(submit(state, work, nonce(asked.nonce_group, asked.nonce))?);
            Ok(Reply::of(&AddColumnResponse { proc_id }))
        }
        "DisableTable" => {
            let asked: DisableTableRequest = decode(message)?;
            let work = Work::Disable(table_text(&asked.table_name));
            let proc_id = Some(submit(state, work, nonce(asked.nonce_group, asked.nonce))?);
            Ok(Reply::of(&DisableTableResponse { proc_id }))
        }
        "EnableTable" => {
            let asked: EnableTableRequest = decode(message)?;
            let work = Work::Enable(table_text(&asked.table_name));
            let proc_id = Some(submit(state, work, nonce(asked.nonce_group, asked.nonce))?);
            Ok(Reply::of(&EnableTableResponse { proc_id }))
        }
        "DeleteTable" => {
            let asked: DeleteTableRequest = decode(message)?;
            let work = Work::Delete(table_text(&asked.table_name));
            let proc_id = Some(submit(state, work, nonce(asked.nonce_group, asked.nonce))?);
            Ok(Reply::of(&DeleteTableResponse { proc_id }))
        }
        "SplitRegion" => split(state, &decode(message)?),
        "MergeTableRegions" => merge(state, &decode(message)?),
        "MoveRegion" => move_to(state, &decode(message)?),
        "SetBalancerRunning" => {
            // Nothing moves by itself.
            decode::<SetBalancerRunningRequest>(message)?;
            Ok(Reply::of(&SetBalancerRunningResponse { prev_balance_value: Some(false) }))
        }
        "getProcedureResult" => procedure_result(state, &decode(message)?),
        "GetTableDescriptors" => descriptors(state, &decode(message)?),
        "GetTableNames" => names(state, &decode(message)?),
        "GetTableState" => {
            let asked: GetTableStateRequest = decode(message)?;
            let kind = state.table(&table_text(&asked.table_name))?.state;
            Ok(Reply::of(&GetTableStateResponse { table_state: TableState { state: kind as i32 } }))
        }
        _ => Err(Exception::fatal("exceptions.UnknownProtocolException", format!("MasterService.{method}"))),
    }
}

fn region(state: &State, specifier: &RegionSpecifier) -> Result<RegionId, Exception> {
    let found = state.find_region(specifier).map(|region| region.id.clone());
    found.ok_or_else(|| Exception::fatal("UnknownRegionException", specifier.value.escape_ascii().to_string()))
}

fn split(state: &mut State, asked: &SplitTableRegionRequest) -> Result<Reply, Exception> {
    let table = table_text(&asked.region_info.table_name);
    let key = asked.split_row.clone().unwrap_or_default();
    if key.is_empty() {
        return Err(Exception::do_not_retry("a split without a row needs sizes of files, which there are none"));
    }
    let proc_id = Some(submit(state, Work::Split(table, key), nonce(asked.nonce_group, asked.nonce))?);
    Ok(Reply::of(&SplitTableRegionResponse { proc_id }))
}

fn merge(state: &mut State, asked: &MergeTableRegionsRequest) -> Result<Reply, Exception> {
    let mut regions = asked.region.iter().map(|specifier| region(state, specifier)).collect::<Result<Vec<_>, _>>()?;
    regions.sort_by(|one, other| one.start.cmp(&other.start));
    let [first, second] = &regions[..] else { return Err(Exception::do_not_retry("two regions are merged at once")) };
    if first.table != second.table || first.end != second.start || first.end.is_empty() {
        return Err(Exception::fatal("exceptions.MergeRegionException", "the regions are not beside each other"));
    }
    let work = Work::Merge(first.table.clone(), first.start.clone());
    let proc_id = Some(submit(state, work, nonce(asked.nonce_group, asked.nonce))?);
    Ok(Reply::of(&MergeTableRegionsResponse { proc_id }))
}

/// Moves a region before it answers, as masters do.
fn move_to(state: &mut State, asked: &MoveRegionRequest) -> Result<Reply, Exception> {
    let region = region(state, &asked.region)?;
    let to = match &asked.dest_server_name {
        None => any_server(state)?,
        Some(name) => {
            let at = state.servers.iter().position(|server| server.name == *name);
            ServerId(at.ok_or_else(|| Exception::new("HBaseIOException", "there is no such server"))?)
        }
    };
    move_region(state, &region, to, true)?;
    tell_catalog(state, &region)?;
    Ok(Reply::of(&MoveRegionResponse {}))
}

fn procedure_result(state: &mut State, asked: &GetProcedureResultRequest) -> Result<Reply, Exception> {
    let kind = match poll(state, asked.proc_id) {
        None => ProcedureState::NotFound,
        Some(false) => ProcedureState::Running,
        Some(true) => ProcedureState::Finished,
    };
    let failure = state.procedures.get(&asked.proc_id).and_then(|procedure| procedure.failure.clone());
    let exception = failure.map(|failure| ForeignExceptionMessage {
        source: Some("pv2-1".to_owned()),
        generic_exception: Some(GenericExceptionMessage {
            class_name: Some(failure.class),
            message: Some(failure.text),
            ..GenericExceptionMessage::default()
        }),
    });
    Ok(Reply::of(&GetProcedureResultResponse {
        state: kind as i32,
        exception,
        ..GetProcedureResultResponse::default()
    }))
}

/// Tables that are not there are left out.
fn descriptors(state: &State, asked: &GetTableDescriptorsRequest) -> Result<Reply, Exception> {
    let mut names: Vec<String> = asked.table_names.iter().map(table_text).collect();
    if names.is_empty() {
        names = chosen(state, &asked.regex, asked.include_sys_tables, &asked.namespace)?;
    }
    let schemas = names.iter().filter_map(|name| state.tables.get(name)).map(|table| table.schema.clone());
    Ok(Reply::of(&GetTableDescriptorsResponse { table_schema: schemas.collect() }))
}

fn names(state: &State, asked: &GetTableNamesRequest) -> Result<Reply, Exception> {
    let names = chosen(state, &asked.regex, asked.include_sys_tables, &asked.namespace)?;
    let table_names: Vec<TableName> = names.iter().map(|name| table_name(name)).collect();
    Ok(Reply::of(&GetTableNamesResponse { table_names }))
}

/// The names of tables that a request chooses; of patterns only that of all names is known.
fn chosen(
    state: &State,
    pattern: &Option<String>,
    with_system: Option<bool>,
    namespace: &Option<String>,
) -> Result<Vec<String>, Exception> {
    if pattern.as_deref().is_some_and(|pattern| pattern != ".*") {
        return Err(Exception::do_not_retry("patterns of names are not known here"));
    }
    let is_chosen = |name: &&String| {
        let of = table_name(name).namespace;
        (name.as_str() != META || with_system == Some(true))
            && namespace.as_ref().is_none_or(|namespace| namespace.as_bytes() == of)
    };
    Ok(state.tables.keys().filter(is_chosen).cloned().collect())
}
