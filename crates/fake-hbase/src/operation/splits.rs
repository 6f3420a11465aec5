//! Splits of regions.

use bytes::Bytes;

use super::assignment::{close_region, region_of};
use crate::exception::Exception;
use crate::name::RegionId;
use crate::state::{Region, State, forget_region, write_daughters};

/// The middle of a split: the parent is closed, offline in the catalog and keeps its server there; its daughters are in the catalog,
/// without servers. The result is the parent and its daughters.
pub(crate) fn begin_split(state: &mut State, table: &str, key: &[u8]) -> Result<[RegionId; 3], Exception> {
    if key.is_empty() || region_of(state, table, key)?.start == key {
        return Err(Exception::do_not_retry("a region can't be split at its start"));
    }
    let parent = close_region(state, table, key)?;
    let number = state.next_region_number();
    let key = Bytes::copy_from_slice(key);
    let first = RegionId { end: key.clone(), number, ..parent.clone() };
    let second = RegionId { start: key, number, ..parent.clone() };
    if let Some(is) = state.regions.get_mut(&parent.name()) {
        is.is_split = true;
    }
    for daughter in [&first, &second] {
        state.regions.insert(daughter.name(), Region::new(daughter.clone()));
    }
    write_daughters(state, &parent, [&first, &second]).map_err(|error| Exception::io(error.to_string()))?;
    Ok([parent, first, second])
}

/// Takes the parents of a table's splits out of the catalog.
pub(crate) fn clean_catalog(state: &mut State, table: &str) {
    let is_parent = |region: &&Region| region.id.table == table && region.is_split;
    let parents: Vec<RegionId> = state.regions.values().filter(is_parent).map(|region| region.id.clone()).collect();
    for parent in parents {
        forget_region(state, &parent);
        state.regions.remove(&parent.name());
    }
}
