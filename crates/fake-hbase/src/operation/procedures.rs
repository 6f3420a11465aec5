//! Procedures of the master: submitted, then done.

use super::assignment::open_regions;
use super::merges::begin_merge;
use super::splits::begin_split;
use super::tables::{create_table, delete_table, disable_table, enable_table};
use crate::exception::Exception;
use crate::name::table_text;
use crate::state::{Procedure, State, Work};
use hbase_client::proto::TableStateKind;

/// Submits a procedure; the result is its id. What is wrong at once is said at once.
pub(crate) fn submit(state: &mut State, work: Work, nonce: Option<(u64, u64)>) -> Result<u64, Exception> {
    let known = state.procedures.iter().find(|(_, procedure)| nonce.is_some() && procedure.nonce == nonce);
    if let Some((id, _)) = known {
        return Ok(*id);
    }
    check(state, &work)?;
    let id = state.next_number();
    let polls = state.options.procedure_polls;
    state.procedures.insert(id, Procedure { nonce, polls, work: Some(work), failure: None });
    Ok(id)
}

fn check(state: &State, work: &Work) -> Result<(), Exception> {
    let is = |name: &str, kind: TableStateKind, otherwise: &str| {
        if state.table(name)?.state == kind { Ok(()) } else { Err(Exception::fatal(otherwise, name)) }
    };
    match work {
        Work::Create(schema, _) => {
            let name = schema.table_name.as_ref().map(table_text).unwrap_or_default();
            if state.tables.contains_key(&name) { Err(Exception::fatal("TableExistsException", name)) } else { Ok(()) }
        }
        Work::AddFamily(name, family) => match state.table(name)?.has_family(&family.name) {
            false => Ok(()),
            true => Err(Exception::fatal("InvalidFamilyOperationException", "the family is there")),
        },
        Work::Disable(name) | Work::Split(name, _) | Work::Merge(name, _) => {
            is(name, TableStateKind::Enabled, "TableNotEnabledException")
        }
        Work::Enable(name) | Work::Delete(name) => is(name, TableStateKind::Disabled, "TableNotDisabledException"),
    }
}

/// Polls a procedure: `None` if there is none; false while it runs. After several polls its work is done.
pub(crate) fn poll(state: &mut State, id: u64) -> Option<bool> {
    let procedure = state.procedures.get_mut(&id)?;
    if procedure.polls > 0 {
        procedure.polls -= 1;
        return Some(false);
    }
    finish(state, id);
    Some(true)
}

/// Does the work of all procedures now.
pub(crate) fn finish_all(state: &mut State) {
    for id in state.procedures.keys().copied().collect::<Vec<_>>() {
        finish(state, id);
        if let Some(procedure) = state.procedures.get_mut(&id) {
            procedure.polls = 0;
        }
    }
}

fn finish(state: &mut State, id: u64) {
    let Some(work) = state.procedures.get_mut(&id).and_then(|procedure| procedure.work.take()) else { return };
    let done = match work {
        Work::Create(schema, keys) => create_table(state, schema, &keys),
        Work::Disable(name) => disable_table(state, &name),
        Work::Enable(name) => enable_table(state, &name),
        Work::Delete(name) => delete_table(state, &name),
        Work::AddFamily(name, family) => state.table_mut(&name).map(|table| table.schema.column_families.push(family)),
        Work::Split(table, key) => {
            begin_split(state, &table, &key).and_then(|[_, first, second]| open_regions(state, &[first, second]))
        }
        Work::Merge(table, row) => begin_merge(state, &table, &row).and_then(|merged| open_regions(state, &[merged])),
    };
    if let Some(procedure) = state.procedures.get_mut(&id) {
        procedure.failure = done.err();
    }
}
