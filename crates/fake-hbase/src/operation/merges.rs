//! Merges of regions.

use super::assignment::open_region_of;
use crate::exception::Exception;
use crate::name::RegionId;
use crate::state::{Region, State, forget_region, write_merged};

/// The middle of a merge: the region of the row and the one after it are gone from the catalog, and the new one is there with the
/// server of the first, which does not have it open.
pub(crate) fn begin_merge(state: &mut State, table: &str, key: &[u8]) -> Result<RegionId, Exception> {
    let first = open_region_of(state, table, key)?;
    if first.end.is_empty() {
        return Err(Exception::do_not_retry("the last region has none after it to be merged with"));
    }
    let second = open_region_of(state, table, &first.end)?;
    let number = state.next_region_number();
    let merged = RegionId { end: second.end.clone(), number, ..first.clone() };
    let server = state.regions.get(&first.name()).and_then(|region| region.server());
    for parent in [&first, &second] {
        forget_region(state, parent);
        state.regions.remove(&parent.name());
    }
    state.regions.insert(merged.name(), Region::new(merged.clone()));
    write_merged(state, &merged, [&first, &second], server).map_err(|error| Exception::io(error.to_string()))?;
    Ok(merged)
}
