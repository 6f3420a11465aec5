//! Tables: created, taken out of service and back, deleted.

use bytes::Bytes;
use hbase_client::proto::{TableSchema, TableStateKind};

use super::assignment::{any_server, open};
use crate::exception::Exception;
use crate::name::{META, META_REGION, RegionId, table_text};
use crate::server_id::ServerId;
use crate::state::{Region, State, Status, Table, forget_region, write_region, write_table_state};

fn io(error: hbase_client::WireError) -> Exception {
    Exception::io(error.to_string())
}

/// Creates a table with a region before each split key and one after the last, each at the next server.
pub(crate) fn create_table(state: &mut State, schema: TableSchema, split_keys: &[Bytes]) -> Result<(), Exception> {
    let name = schema.table_name.as_ref().map(table_text).unwrap_or_default();
    if name.is_empty() {
        return Err(Exception::do_not_retry("a table without a name"));
    }
    if state.tables.contains_key(&name) {
        return Err(Exception::fatal("TableExistsException", name));
    }
    if schema.column_families.is_empty() {
        return Err(Exception::do_not_retry("Table should have at least one column family."));
    }
    let mut splits = split_keys.to_vec();
    splits.sort();
    splits.dedup();
    if splits.len() != split_keys.len() || splits.first().is_some_and(Bytes::is_empty) {
        return Err(Exception::do_not_retry("split keys are empty or not all different"));
    }
    state.tables.insert(name.clone(), Table::new(schema, false));
    write_table_state(state, &name, Some(TableStateKind::Enabled)).map_err(io)?;
    let number = state.next_region_number();
    let starts = std::iter::once(Bytes::new()).chain(splits.iter().cloned());
    let ends = splits.iter().cloned().chain(std::iter::once(Bytes::new()));
    for (start, end) in starts.zip(ends) {
        let id = RegionId { table: name.clone(), start, end, number };
        state.regions.insert(id.name(), Region::new(id.clone()));
        write_region(state, &id).map_err(io)?;
        let server = any_server(state)?;
        open(state, &id, server)?;
    }
    Ok(())
}

fn set_state(state: &mut State, name: &str, kind: TableStateKind) -> Result<(), Exception> {
    state.table_mut(name)?.state = kind;
    write_table_state(state, name, Some(kind)).map_err(io)
}

/// Takes a table out of service. Where its regions were stays in the catalog.
pub(crate) fn disable_table(state: &mut State, name: &str) -> Result<(), Exception> {
    if state.table(name)?.state != TableStateKind::Enabled {
        return Err(Exception::fatal("TableNotEnabledException", name));
    }
    for region in state.regions.values_mut().filter(|region| region.id.table == name) {
        region.status = Status::Closed;
        region.left.clear();
    }
    set_state(state, name, TableStateKind::Disabled)
}

/// Brings a table back into service.
pub(crate) fn enable_table(state: &mut State, name: &str) -> Result<(), Exception> {
    if state.table(name)?.state != TableStateKind::Disabled {
        return Err(Exception::fatal("TableNotDisabledException", name));
    }
    let is_closed = |region: &&Region| region.id.table == name && !region.is_split;
    let regions: Vec<RegionId> = state.regions.values().filter(is_closed).map(|region| region.id.clone()).collect();
    for region in regions {
        let server = any_server(state)?;
        open(state, &region, server)?;
    }
    set_state(state, name, TableStateKind::Enabled)
}

/// Deletes a table that is out of service.
pub(crate) fn delete_table(state: &mut State, name: &str) -> Result<(), Exception> {
    if state.table(name)?.state != TableStateKind::Disabled {
        return Err(Exception::fatal("TableNotDisabledException", name));
    }
    let regions: Vec<RegionId> =
        state.regions.values().filter(|region| region.id.table == name).map(|region| region.id.clone()).collect();
    for region in regions {
        forget_region(state, &region);
        state.regions.remove(&region.name());
    }
    state.tables.remove(name);
    write_table_state(state, name, None).map_err(io)
}

/// Opens the catalog at a server.
pub(crate) fn move_meta(state: &mut State, server: ServerId) -> Result<(), Exception> {
    debug_assert!(state.tables.contains_key(META));
    state.open_region(&Bytes::from_static(META_REGION), server);
    Ok(())
}
