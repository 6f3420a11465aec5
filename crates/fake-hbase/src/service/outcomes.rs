//! Outcomes of the actions of a Multi.

use bytes::Bytes;
use hbase_client::proto::{Action, RegionActionResult, ResultOrException, RowResult};

use crate::exception::Exception;

/// The outcome of an action that failed.
pub(crate) fn of_exception(index: u32, exception: &Exception) -> ResultOrException {
    ResultOrException { index: Some(index), exception: Some(exception.pair()), ..ResultOrException::default() }
}

/// The outcome of an action that was done.
pub(crate) fn of_result(index: u32, result: RowResult) -> ResultOrException {
    ResultOrException { index: Some(index), result: Some(result), ..ResultOrException::default() }
}

/// The row of an action.
pub(crate) fn row_of(action: &Action) -> Bytes {
    let of_get = action.get.as_ref().map(|get| get.row.clone());
    let of_mutation = || action.mutation.as_ref().and_then(|mutation| mutation.row.clone());
    let of_call = || action.service_call.as_ref().map(|call| call.row.clone());
    of_get.or_else(of_mutation).or_else(of_call).unwrap_or_default()
}

/// Turns the outcomes of each region that have no cells: those with cells stay in the order of the block.
pub(crate) fn turn(results: &mut [RegionActionResult]) {
    let has_cells = |outcome: &ResultOrException| {
        outcome.result.as_ref().is_some_and(|result| result.associated_cell_count.unwrap_or(0) > 0)
    };
    for result in results {
        let (with, mut without): (Vec<_>, Vec<_>) =
            std::mem::take(&mut result.result_or_exception).into_iter().partition(has_cells);
        without.reverse();
        without.extend(with);
        result.result_or_exception = without;
    }
}
