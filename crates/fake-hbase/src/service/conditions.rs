//! What must hold of a row to be written.

use hbase_client::proto::{CompareType, Condition, Get};

use super::get::cells_of;
use super::regions::check_row;
use crate::exception::Exception;
use crate::filter::{Comparator, holds};
use crate::name::RegionId;
use crate::state::State;

/// Whether the condition holds. Of its comparator only the value counts, which is compared as a whole, whatever the class. Its relation is that of its value to the cell's, in this order. A condition with an empty value holds for
/// a cell that is absent or empty; a condition with a value never holds for an absent cell, not even `NOT_EQUAL`.
pub(crate) fn condition_holds(state: &State, region: &RegionId, condition: &Condition) -> Result<bool, Exception> {
    check_row(region, &condition.row, "doCheckAndRowMutate")?;
    let mut get = Get { row: condition.row.clone(), time_range: condition.time_range.clone(), ..Get::default() };
    if let Some(filter) = &condition.filter {
        get.filter = Some(filter.clone());
        return Ok(!cells_of(state, region, get)?.is_empty());
    }
    let qualifier = condition.qualifier.clone().unwrap_or_default();
    let family = condition.family.clone().unwrap_or_default();
    get.column = vec![hbase_client::proto::Column { family, qualifier: vec![qualifier] }];
    let relation = condition.compare_type.and_then(|kind| CompareType::try_from(kind).ok());
    let relation = relation.ok_or_else(|| Exception::do_not_retry("a condition without a relation"))?;
    let comparator = condition.comparator.as_ref().map(Comparator::decode).transpose()?;
    let comparator = comparator.ok_or_else(|| Exception::do_not_retry("a condition without a comparator"))?;
    let cells = cells_of(state, region, get)?;
    Ok(match (cells.first(), comparator.is_null()) {
        (None, true) => relation != CompareType::NotEqual,
        (Some(cell), true) => cell.value().is_empty() == (relation != CompareType::NotEqual),
        (None, false) => false,
        (Some(cell), false) => holds(relation, comparator.value().cmp(cell.value())),
    })
}

/// The time of the cell that a condition looks at, or 0: a write with a condition is not older.
pub(crate) fn condition_time(state: &State, region: &RegionId, condition: &Condition) -> u64 {
    let row = state.table(&region.table).ok().and_then(|table| table.row(&condition.row));
    let (family, qualifier) = (condition.family.as_deref(), condition.qualifier.as_deref());
    let cell = row.and_then(|row| row.cell(family.unwrap_or_default(), qualifier.unwrap_or_default()));
    cell.map_or(0, hbase_client::cell::Cell::timestamp)
}

/// Refuses a condition on another row than the one that is written.
pub(crate) fn check_same_row(condition: &Condition, row: &[u8]) -> Result<(), Exception> {
    if condition.row == row {
        return Ok(());
    }
    let text = format!(
        "The row of the action <{}> doesn't match the original one <{}>",
        row.escape_ascii(),
        condition.row.escape_ascii()
    );
    Err(Exception::do_not_retry(text))
}
