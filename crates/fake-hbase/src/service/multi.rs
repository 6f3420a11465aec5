//! Multi: actions on several regions.

use hbase_client::cell::Cell;
use hbase_client::frame::CellBlock;
use hbase_client::proto::{
    Action, CoprocessorServiceResult, MultiRequest, MultiResponse, MutationType, NameBytesPair, RegionAction,
    RegionActionResult, ResultOrException, RowResult,
};

use super::conditions::{check_same_row, condition_holds, condition_time};
use super::exec::run;
use super::get::get_result;
use super::mutate::{apply, check, check_sizes};
use super::mutation_cells::{Mutation, skip_cells};
use super::outcomes::{of_exception, of_result, row_of, turn};
use super::reply::{CellForm, Reply, row_result};
use crate::exception::Exception;
use crate::fault::Fault;
use crate::name::RegionId;
use crate::server_id::ServerId;
use crate::state::State;

/// What actions share.
struct Batch<'s> {
    state: &'s mut State,
    server: ServerId,
    nonce_group: u64,
    fault: Option<&'s Fault>,
    form: CellForm,
    /// Cells of the request that have not been taken, and those of the answer.
    block: CellBlock,
    cells: Vec<Cell>,
}

impl Batch<'_> {
    fn region_action(&mut self, actions: &RegionAction) -> Result<RegionActionResult, Exception> {
        let region = self.state.region(self.server, &actions.region).map(|region| region.id.clone());
        let asked = match self.fault {
            Some(Fault::RegionOfRow(row, exception)) if actions.action.iter().any(|is| row_of(is) == row) => {
                Err(exception.clone())
            }
            _ => Ok(()),
        };
        let failed = |exception: Exception| RegionActionResult {
            exception: Some(exception.pair()),
            ..RegionActionResult::default()
        };
        let region = match asked.and(region) {
            Ok(region) => region,
            Err(exception) => {
                for action in &actions.action {
                    self.skip(action)?;
                }
                return Ok(failed(exception));
            }
        };
        if actions.condition.is_some() || actions.atomic == Some(true) {
            return Ok(self.at_once(&region, actions)?.unwrap_or_else(failed));
        }
        self.one_by_one(&region, actions)
    }

    fn skip(&mut self, action: &Action) -> Result<(), Exception> {
        action.mutation.as_ref().map_or(Ok(()), |mutation| skip_cells(mutation, &mut self.block))
    }

    /// All mutations or none; the inner error is the region's.
    fn at_once(
        &mut self,
        region: &RegionId,
        actions: &RegionAction,
    ) -> Result<Result<RegionActionResult, Exception>, Exception> {
        let mut mutations = Vec::with_capacity(actions.action.len());
        for action in &actions.action {
            let Some(message) = &action.mutation else {
                return Ok(Err(Exception::do_not_retry("Atomic put and/or delete only, not a Get")));
            };
            let mutation = Mutation::decode(message, &mut self.block)?;
            mutations.push(mutation.with_families(self.state.table(&region.table)?, message.timestamp)?);
        }
        Ok(self.apply_all(region, actions, &mutations))
    }

    fn apply_all(
        &mut self,
        region: &RegionId,
        actions: &RegionAction,
        mutations: &[Mutation],
    ) -> Result<RegionActionResult, Exception> {
        // Results of such actions are numbered by their place.
        let mut at_least = 0;
        let indexes = 0..mutations.len() as u32;
        if let Some(condition) = &actions.condition {
            for mutation in mutations {
                check_same_row(condition, &mutation.row)?;
            }
            if !condition_holds(self.state, region, condition)? {
                let result_or_exception = indexes.map(|index| of_result(index, RowResult::default())).collect();
                return Ok(RegionActionResult { result_or_exception, processed: Some(false), exception: None });
            }
            at_least = condition_time(self.state, region, condition);
        }
        for mutation in mutations {
            check_sizes(mutation)?;
            check(self.state, region, mutation)?;
            if let Some(Fault::Action(row, exception)) = self.fault
                && *row == mutation.row
            {
                return Err(exception.clone());
            }
        }
        let mut changed = Vec::new();
        for mutation in mutations {
            let cells = apply(self.state, self.server, region, mutation, self.nonce_group, at_least)?;
            changed.extend(cells.unwrap_or_default());
        }
        // New cells of increments lie in the message of the first outcome, whatever the connection says.
        let mut result_or_exception: Vec<_> = indexes.map(|index| of_result(index, RowResult::default())).collect();
        if let Some(first) = result_or_exception.first_mut().filter(|_| !changed.is_empty()) {
            first.result = Some(row_result(changed, false, &mut self.cells));
        }
        Ok(RegionActionResult { result_or_exception, processed: Some(true), exception: None })
    }

    /// Gets, increments and coprocessors are answered as they come; puts and deletes are collected, and done in the order of their rows
    /// before the next increment or at the end.
    fn one_by_one(&mut self, region: &RegionId, actions: &RegionAction) -> Result<RegionActionResult, Exception> {
        let mut results = Vec::with_capacity(actions.action.len());
        let mut collected = Vec::new();
        for action in &actions.action {
            let index = action.index.unwrap_or(0);
            if self.is_too_large() {
                self.skip(action)?;
                results.push(of_exception(index, &Exception::multi_action_result_too_large()));
                continue;
            }
            if let Some(Fault::Action(row, exception)) = self.fault
                && *row == row_of(action)
            {
                self.skip(action)?;
                results.push(of_exception(index, exception));
                continue;
            }
            match &action.mutation {
                None => results.push(self.read(region, action, index)),
                Some(message) => {
                    let mutation = Mutation::decode(message, &mut self.block)?;
                    let table = self.state.table(&region.table)?;
                    let mutation = mutation.with_families(table, message.timestamp)?;
                    if matches!(mutation.kind, MutationType::Put | MutationType::Delete) {
                        collected.push((index, mutation));
                    } else {
                        self.write(region, &mut collected, &mut results);
                        self.write(region, &mut vec![(index, mutation)], &mut results);
                    }
                }
            }
        }
        self.write(region, &mut collected, &mut results);
        Ok(RegionActionResult { result_or_exception: results, ..RegionActionResult::default() })
    }

    /// Whether the answer has so many bytes that the other actions are to be sent again; only clients of version 1.2 are told.
    fn is_too_large(&self) -> bool {
        let bytes: usize = self.cells.iter().map(|cell| cell.key_value().len()).sum();
        self.form.gets_in_blocks && bytes as u64 > self.state.options.scan_bytes_max
    }

    fn read(&mut self, region: &RegionId, action: &Action, index: u32) -> ResultOrException {
        let result = match (&action.get, &action.service_call) {
            (Some(get), _) => get_result(self.state, region, get.clone(), self.form.in_blocks, &mut self.cells)
                .map(|result| of_result(index, result)),
            (None, Some(call)) => run(self.state, region, call).map(|value| {
                let value = NameBytesPair { name: call.method_name.clone(), value: Some(value) };
                let service_result = Some(CoprocessorServiceResult { value: Some(value) });
                ResultOrException { index: Some(index), service_result, ..ResultOrException::default() }
            }),
            (None, None) => Err(Exception::new("HBaseIOException", "Unexpected Action type")),
        };
        result.unwrap_or_else(|exception| of_exception(index, &exception))
    }

    fn write(&mut self, region: &RegionId, mutations: &mut Vec<(u32, Mutation)>, results: &mut Vec<ResultOrException>) {
        let too_large = mutations.iter().find_map(|(_, mutation)| check_sizes(mutation).err());
        mutations.sort_by(|(_, one), (_, other)| one.row.cmp(&other.row));
        for (index, mutation) in mutations.drain(..) {
            let done = too_large
                .clone()
                .map_or(Ok(()), Err)
                .and_then(|()| check(self.state, region, &mutation))
                .and_then(|()| apply(self.state, self.server, region, &mutation, self.nonce_group, 0));
            results.push(match done {
                Ok(changed) => {
                    let changed = changed.map(|changed| row_result(changed, self.form.in_blocks, &mut self.cells));
                    of_result(index, changed.unwrap_or_default())
                }
                Err(exception) => of_exception(index, &exception),
            });
        }
    }
}

pub(crate) fn multi(
    state: &mut State,
    server: ServerId,
    request: &MultiRequest,
    block: CellBlock,
    fault: Option<&Fault>,
    form: CellForm,
) -> Result<Reply, Exception> {
    let nonce_group = request.nonce_group.unwrap_or(0);
    let mut batch = Batch { state, server, nonce_group, fault, form, block, cells: Vec::new() };
    let mut results = Vec::with_capacity(request.region_action.len());
    for actions in &request.region_action {
        results.push(batch.region_action(actions)?);
    }
    let cells = batch.cells;
    if fault == Some(&Fault::TurnedResults) {
        turn(&mut results);
    }
    let reply = Reply::of(&MultiResponse { region_action_result: results });
    Ok(Reply { cells, ..reply })
}
